//! The corpora that papers are run on again, prepared alike: words with spaces between them, in lower case where the
//! language has it (segmented Chinese stays as it is), with a text to tune on and a text that nothing was tuned on.

use std::path::{Path, PathBuf};

use sylvan_base::{HashSet, InputError};
use sylvan_decode::{Error, Result};
use sylvan_sample::{Config as SampleConfig, Sampler, Workspace};
use sylvan_store::{Output, read_lines};
use sylvan_text::{Tokenizer, language};

/// A corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Corpus {
    /// Made by the built-in grammar: Chinese to English.
    Sample,
    /// Everyday sentences, English to Japanese, with trees.
    EnJa,
    /// Captions, Chinese to English, with trees.
    ZhEn,
    /// Captions, German to English.
    DeEn,
    /// Captions, English to German.
    EnDe,
    /// Captions, Czech to English.
    CsEn,
    /// Captions, French to English.
    FrEn,
    /// Debates, German to English: long sentences.
    Europarl,
}

/// How many pairs of the debates are learnt from: a quarter of them, for the sake of time.
const EUROPARL_PAIRS: usize = 50_000;
/// How many are tuned on. Like those to report on they are from the end of the training files: of the other files a
/// quarter is English on both sides, and more is neither German nor English.
const EUROPARL_DEV: usize = 300;
/// The last pairs of a training text, where a corpus has no text to report on.
const HELD_OUT: usize = 1000;

/// What is learnt from, tuned on and reported on. The last lines of the training files are those to report on.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) train: [PathBuf; 2],
    pub(crate) dev: [PathBuf; 2],
    /// Trees of the two source texts.
    pub(crate) trees: Option<[PathBuf; 2]>,
    /// Or a treebank to learn a parser from.
    pub(crate) treebank: Option<PathBuf>,
    /// A dependency treebank of the target language, in lower case.
    pub(crate) target_treebank: Option<PathBuf>,
    pub(crate) languages: [&'static str; 2],
    pub(crate) held_out: usize,
}

impl Prepared {
    /// How many pairs are learnt from.
    pub(crate) fn pairs(&self) -> Result<usize> {
        Ok(read_lines(&self.train[0])?.len().saturating_sub(self.held_out))
    }

    /// The same with the first pairs alone to learn from; written to a folder.
    pub(crate) fn first(mut self, pairs: usize, folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(InputError::io(folder, "create"))?;
        let trees = self.trees.iter_mut().map(|[trees, _]| trees);
        for path in self.train.iter_mut().chain(trees) {
            let lines = read_lines(path)?;
            let to_report_on = lines.len().saturating_sub(self.held_out);
            let name = path.file_name().unwrap_or_default();
            let to = folder.join(name);
            let kept = lines.iter().enumerate().filter(|(at, _)| *at < pairs || *at >= to_report_on);
            write(&to, kept.map(|(_, line)| line.clone()))?;
            *path = to;
        }
        Ok(self)
    }
}

impl Corpus {
    /// Its name in files and tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::EnJa => "enja",
            Self::ZhEn => "zhen",
            Self::DeEn => "deen",
            Self::EnDe => "ende",
            Self::CsEn => "csen",
            Self::FrEn => "fren",
            Self::Europarl => "europarl",
        }
    }

    /// What readers are told.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Sample => "sample, zh-en",
            Self::EnJa => "Tanaka, en-ja",
            Self::ZhEn => "3AM, zh-en",
            Self::DeEn => "Multi30k, de-en",
            Self::EnDe => "Multi30k, en-de",
            Self::CsEn => "Multi30k, cs-en",
            Self::FrEn => "Multi30k, fr-en",
            Self::Europarl => "Europarl, de-en",
        }
    }

    /// Writes the texts to a folder.
    pub(crate) fn prepare(self, data: Option<&Path>, sizes: SampleSizes, folder: &Path) -> Result<Prepared> {
        std::fs::create_dir_all(folder).map_err(InputError::io(folder, "create"))?;
        let file = |name: &str| folder.join(name);
        let mut prepared = Prepared {
            train: [file("train.source"), file("train.target")],
            dev: [file("dev.source"), file("dev.target")],
            trees: self.has_trees().then(|| [file("train.trees"), file("dev.trees")]),
            treebank: self.treebank(data)?,
            target_treebank: self.target_treebank(data, folder)?,
            languages: self.languages(),
            held_out: 0,
        };
        prepared.held_out = match self {
            Self::Sample => write_sample(sizes, &prepared)?,
            _ => self.write_texts(self.folder(data)?.as_path(), &prepared)?,
        };
        Ok(prepared)
    }

    fn languages(self) -> [&'static str; 2] {
        match self {
            Self::Sample | Self::ZhEn => ["zh", "en"],
            Self::EnJa => ["en", "ja"],
            Self::DeEn | Self::Europarl => ["de", "en"],
            Self::EnDe => ["en", "de"],
            Self::CsEn => ["cs", "en"],
            Self::FrEn => ["fr", "en"],
        }
    }

    /// Whether trees come with it.
    pub(crate) fn has_trees(self) -> bool {
        matches!(self, Self::Sample | Self::EnJa | Self::ZhEn)
    }

    fn folder(self, data: Option<&Path>) -> Result<PathBuf> {
        let name = match self {
            Self::Sample | Self::EnJa => "enja",
            Self::ZhEn => "zhen",
            Self::DeEn | Self::EnDe | Self::CsEn | Self::FrEn => "multi30k",
            Self::Europarl => "europarl",
        };
        let data = data.ok_or_else(|| {
            Error::setting("--data", "nothing", "the folder of the corpora")
                .advise("give --data DIR, or --sample for the built-in corpus")
        })?;
        Ok(data.join(name))
    }

    fn treebank(self, data: Option<&Path>) -> Result<Option<PathBuf>> {
        match self {
            Self::Sample | Self::EnJa | Self::ZhEn => Ok(None),
            _ => {
                let folder = self.folder(data)?;
                let bank = match self.languages()[0] {
                    "en" => "gum".to_string(),
                    language => format!("ud/{language}"),
                };
                Ok(folder.parent().map(|data| data.join(bank).join("train.conllu")))
            }
        }
    }

    /// The treebank of English, its words in lower case like the texts.
    fn target_treebank(self, data: Option<&Path>, folder: &Path) -> Result<Option<PathBuf>> {
        let to = folder.join("target.conllu");
        match self {
            Self::Sample => return Ok(Some(to)),
            Self::EnJa | Self::EnDe => return Ok(None),
            _ => {}
        }
        let from = self.folder(data)?;
        let from = from.parent().unwrap_or(Path::new("")).join("gum").join("train.conllu");
        let lines = read_lines(&from)?;
        let lower = |line: &String| {
            let mut fields: Vec<String> = line.split('\t').map(str::to_string).collect();
            if !line.starts_with('#') && fields.len() > 1 {
                fields[1] = fields[1].to_lowercase();
            }
            fields.join("\t")
        };
        write(&to, lines.iter().map(lower))?;
        Ok(Some(to))
    }

    /// Returns how many of the last training pairs are to be reported on.
    fn write_texts(self, from: &Path, to: &Prepared) -> Result<usize> {
        let [source, target] = self.languages();
        let train = |ending: &str| read_lines(&from.join(format!("train.{ending}")));
        match self {
            Self::Sample => Ok(0),
            Self::EnJa | Self::ZhEn => {
                let (words, dev) = if self == Self::EnJa { ("en", "dev") } else { ("zh.seg", "val") };
                let tokens = |lines: Vec<String>| match self {
                    Self::EnJa => Ok(lines),
                    _ => tokenised(&lines, target),
                };
                let of_dev = |ending: &str| read_lines(&from.join(format!("{dev}.{ending}")));
                let tree = format!("{source}.tree");
                write(&to.train[0], train(words)?.into_iter())?;
                write(&to.train[1], tokens(train(target)?)?.into_iter())?;
                write(&to.dev[0], of_dev(words)?.into_iter())?;
                write(&to.dev[1], tokens(of_dev(target)?)?.into_iter())?;
                if let Some([trees, dev_trees]) = &to.trees {
                    write(trees, train(&tree)?.into_iter())?;
                    write(dev_trees, of_dev(&tree)?.into_iter())?;
                }
                Ok(HELD_OUT)
            }
            Self::DeEn | Self::EnDe | Self::CsEn | Self::FrEn => {
                let mut held_out = 0;
                for (place, language) in [source, target].into_iter().enumerate() {
                    let read = |part: &str| read_lines(&from.join(format!("{part}.{language}")));
                    let mut lines = train(language)?;
                    let tests = read("test_2016_flickr")?;
                    held_out = tests.len();
                    lines.extend(tests);
                    write(&to.train[place], tokenised(&lines, language)?.into_iter())?;
                    write(&to.dev[place], tokenised(&read("val")?, language)?.into_iter())?;
                }
                Ok(held_out)
            }
            Self::Europarl => {
                for (place, language) in [source, target].into_iter().enumerate() {
                    let mut lines = train(language)?;
                    let tests = lines.split_off(lines.len().saturating_sub(HELD_OUT));
                    let dev = lines.split_off(lines.len().saturating_sub(EUROPARL_DEV));
                    lines.truncate(EUROPARL_PAIRS);
                    lines.extend(tests);
                    write(&to.train[place], tokenised(&lines, language)?.into_iter())?;
                    write(&to.dev[place], tokenised(&dev, language)?.into_iter())?;
                }
                Ok(HELD_OUT)
            }
        }
    }
}

/// Words in lower case.
fn tokenised(lines: &[String], code: &str) -> Result<Vec<String>> {
    let tokenizer = Tokenizer::new(language(code).map_err(Error::Pattern)?);
    let words = |line: &String| {
        let tokens = tokenizer.tokenize(line);
        let words: Vec<&str> = tokens.iter().map(|token| token.text(line)).collect();
        words.join(" ").to_lowercase()
    };
    Ok(lines.iter().map(words).collect())
}

/// How large the built-in corpus is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SampleSizes {
    pub(crate) train: usize,
    pub(crate) dev: usize,
    pub(crate) test: usize,
}

impl SampleSizes {
    pub(crate) const USUAL: Self = Self { train: 4000, dev: 100, test: 100 };
}

/// Sentences to tune and report on do not occur in the training text.
fn write_sample(sizes: SampleSizes, to: &Prepared) -> Result<usize> {
    let sampler = Sampler::new(SampleConfig::default())
        .map_err(|error| Error::setting("the sample", error.to_string(), "a corpus"))?;
    let mut workspace = Workspace::new();
    let mut seen = HashSet::default();
    let [mut train, mut dev, mut test] = [(); 3].map(|()| [(); 3].map(|()| Vec::new()));
    let mut conllu = Vec::new();
    for index in 0.. {
        let mut pair = sampler.pair(index, &mut workspace);
        let lines = [pair.source(), pair.target(), pair.source_tree()];
        let known = !seen.insert(lines[0].clone());
        let part = match () {
            () if train[0].len() < sizes.train => {
                conllu.push(pair.conllu());
                &mut train
            }
            () if known => continue,
            () if dev[0].len() < sizes.dev => &mut dev,
            () if test[0].len() < sizes.test => &mut test,
            () => break,
        };
        part.iter_mut().zip(lines).for_each(|(file, line)| file.push(line));
    }
    train.iter_mut().zip(test).for_each(|(file, lines)| file.extend(lines));
    let trees = to.trees.iter().flatten().cloned();
    let files = [&to.train[0], &to.train[1], &to.dev[0], &to.dev[1]].into_iter().cloned().chain(trees);
    let [source, target, tree] = train;
    let [dev_source, dev_target, dev_tree] = dev;
    let texts = [source, target, dev_source, dev_target, tree, dev_tree];
    for (file, text) in files.zip(texts) {
        write(&file, text.into_iter())?;
    }
    if let Some(path) = &to.target_treebank {
        write(path, conllu.into_iter())?;
    }
    Ok(sizes.test)
}

fn write(path: &Path, lines: impl Iterator<Item = String>) -> Result<()> {
    let mut file = Output::create(path)?;
    for line in lines {
        file.line(&line)?;
    }
    Ok(file.finish()?)
}
