//! `sylvan demo`: the whole pipeline, from a built-in corpus to scored translations, without data or network.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use sylvan::{
    Config, Details, Model, Request, Search, SearchName, Translated, train, translate_lines, workers,
};
use sylvan_base::{HashSet, InputError, Result};
use sylvan_eval::{Bleu, Tokenizer};
use sylvan_sample::{Config as SampleConfig, Sampler, Workspace};
use sylvan_store::{Output, Unfinished, read_lines};

use crate::progress::Terminal;
use crate::threads::Threads;

/// Runs the whole pipeline on the built-in corpus: parse, align, learn, tune, translate, score, explain.
///
/// The corpus is made on the spot by a synchronous grammar (see `sylvan sample`): a treebank to train the parser from,
/// parallel text to learn from, text to tune on, and test sentences that do not occur in training. Everything else
/// is what `sylvan train` and `sylvan translate` do. The oracle knows every choice that can be predicted from the
/// source; what it misses is chance.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan demo --out demo-output")]
pub(crate) struct Demo {
    /// Keep corpus, model, translations and their derivations in this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How many sentence pairs to learn from.
    #[arg(long, value_name = "N", default_value_t = 70_000, value_parser = clap::value_parser!(u64).range(100..))]
    pairs: u64,
    /// How many sentences to translate.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    test: u64,
    /// Which corpus.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: Threads,
}

/// Huang & Mi's sentence, as the sample grammar writes it.
const BUSH: &str = "布什 与 沙龙 举行 了 会谈 。";
/// Wide enough that all searches come near the best score that the model has.
const BEAM: usize = 100;

/// A folder that is removed when the demo ends, unless the user named it.
struct Folder {
    path: PathBuf,
    temporary: bool,
    /// Also if the demo is interrupted.
    _unfinished: Option<Unfinished>,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.temporary {
            // Nothing can be done about a failure here.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

impl Demo {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let folder = match &self.out {
            Some(path) => Folder { path: path.clone(), temporary: false, _unfinished: None },
            None => {
                let name = format!("sylvan-demo-{}", std::process::id());
                let path = std::env::temp_dir().join(name);
                Folder { _unfinished: Some(Unfinished::new(&path)), path, temporary: true }
            }
        };
        let path = folder.path.as_path();
        std::fs::create_dir_all(path).map_err(InputError::io(path, "create"))?;
        let mut out = Output::create(Path::new("-"))?;
        let started = Instant::now();
        self.write_corpus(path)?;
        let config = self.config(path);
        // What will be gone in a minute is not worth naming.
        let mut say = |line: &str| {
            if !folder.temporary || !line.starts_with("report: ") {
                say(line);
            }
        };
        train(&config, &Terminal::default(), &mut say)?;
        out.line(&format!(
            "trained on {} sentence pairs and a treebank of {} trees in {:.0} s",
            self.pairs,
            self.treebank(),
            started.elapsed().as_secs_f64()
        ))?;
        let model = Arc::new(Model::open(&config.out)?);
        let mut workers = workers(&model, self.threads.count());
        let [source, reference, oracle] =
            ["test.zh", "test.en", "oracle.en"].map(|name| read_lines(&path.join(name)));
        let (source, references, oracle) = (source?, vec![reference?], oracle?);
        out.line(&format!("\n{} unseen test sentences, parsed and translated, beam {BEAM}:", source.len()))?;
        let bleu = Bleu { tokenizer: Tokenizer::None, ..Bleu::default() };
        let mut shown: Vec<Translated> = Vec::new();
        for name in [SearchName::Cube, SearchName::Prediction, SearchName::Incremental] {
            let started = Instant::now();
            let translated = translate_lines(&mut workers, &source, "test.zh", 1, &request(name));
            let translated: Vec<Translated> = translated.into_iter().collect::<sylvan::Result<_>>()?;
            let time = started.elapsed().as_secs_f64() * 1000.0 / source.len() as f64;
            let score = bleu.corpus(&texts(&translated), &references)?.score;
            out.line(&format!("  {:<14} BLEU {score:5.1}   {time:.2} ms per sentence", name.as_str()))?;
            if shown.is_empty() {
                shown = translated;
            }
        }
        let score = bleu.corpus(&oracle, &references)?.score;
        out.line(&format!("  {:<14} BLEU {score:5.1}   (knows every predictable choice)", "oracle"))?;
        out.line("\nsome translations:")?;
        for (index, line) in shown.iter().enumerate().take(5) {
            out.line(&format!("  source     {}", source[index]))?;
            out.line(&format!("  sylvan     {}", line.text()))?;
            out.line(&format!("  reference  {}\n", references[0][index]))?;
        }
        let bush = workers[0].translate(BUSH, &request(SearchName::Incremental))?;
        if let Some(best) = bush.best.first() {
            out.line(&format!("why? {BUSH}\n{}", best.rules))?;
            out.line(&format!("=> {}   (model score {:.3})", best.text, best.score))?;
        }
        if !folder.temporary {
            write(&path.join("output.en"), texts(&shown).into_iter())?;
            let derivations = shown.iter().map(|line| line.best.first());
            let derivations = derivations.map(|best| best.map_or(String::new(), |best| best.rules.clone()));
            write(&path.join("output.derivations"), derivations)?;
            out.line(&format!(
                "\nwritten to {}; try: sylvan translate --model {} < {}",
                path.display(),
                config.out.display(),
                path.join("test.zh").display()
            ))?;
        }
        Ok(out.finish()?)
    }

    fn config(&self, folder: &Path) -> Config {
        let mut config = Config::default();
        config.source = folder.join("train.zh");
        config.target = folder.join("train.en");
        config.dev_source = folder.join("dev.zh");
        config.dev_target = folder.join("dev.en");
        config.source_lang = "zh".into();
        config.target_lang = "en".into();
        // The generator writes words.
        config.tokenized = true;
        // There is a test set besides.
        config.holdout = Some(0);
        config.treebank = Some(folder.join("treebank.zh"));
        config.out = folder.join("demo.sylvan");
        config.threads = self.threads.count();
        config.align_preset = "default".into();
        // Sample sentences are short and their grammar is small: a little of everything is enough.
        config.parser_epochs = 2;
        config.rounds = 10;
        config.parser_beam = 4;
        config.beam = BEAM;
        config.lm_order = 4;
        config.compose = 8;
        config.seed = self.seed;
        config
    }

    /// Trees for the parser.
    fn treebank(&self) -> u64 {
        (self.pairs / 20).clamp(600, 3000)
    }

    /// Sentences to tune on.
    fn dev(&self) -> u64 {
        (self.pairs / 100).clamp(60, 400)
    }

    /// Writes the corpus: treebank, training text, tuning text, and test sentences that training does not have.
    fn write_corpus(&self, folder: &Path) -> anyhow::Result<()> {
        let sampler = Sampler::new(SampleConfig { seed: self.seed, ..SampleConfig::default() })?;
        let mut workspace = Workspace::new();
        let names =
            ["treebank.zh", "train.zh", "train.en", "dev.zh", "dev.en", "test.zh", "test.en", "oracle.en"];
        let [mut bank, mut zh, mut en, mut dev_zh, mut dev_en, mut test_zh, mut test_en, mut oracle] = {
            let open = names.map(|name| Output::create(&folder.join(name)));
            let [a, b, c, d, e, f, g, h] = open;
            [a?, b?, c?, d?, e?, f?, g?, h?]
        };
        let mut seen = HashSet::default();
        for index in 0..self.pairs {
            let mut pair = sampler.pair(index, &mut workspace);
            if index < self.treebank() {
                bank.line(&pair.source_tree())?;
            }
            let source = pair.source();
            zh.line(&source)?;
            en.line(&pair.target())?;
            seen.insert(source);
        }
        // Weights are for unseen sentences, so tuning must not see training sentences either.
        let (mut dev, mut test) = (self.dev(), self.test);
        // A closed grammar could run out of sentences with odd settings: try a bounded number of candidates.
        for index in (self.pairs..).take(20 * (dev + test) as usize + 1000) {
            let mut pair = sampler.pair(index, &mut workspace);
            let source = pair.source();
            if dev + test == 0 || !seen.insert(source.clone()) {
                continue;
            }
            if dev > 0 {
                dev_zh.line(&source)?;
                dev_en.line(&pair.target())?;
                dev -= 1;
            } else {
                test_zh.line(&source)?;
                test_en.line(&pair.target())?;
                oracle.line(&pair.oracle())?;
                test -= 1;
            }
        }
        for file in [bank, zh, en, dev_zh, dev_en, test_zh, test_en, oracle] {
            file.finish()?;
        }
        Ok(())
    }
}

fn request(search: SearchName) -> Request {
    let mut request = Request::default();
    request.search = Some(Search::named(search).with_beam(BEAM));
    request.details = Details::all();
    request
}

fn texts(lines: &[Translated]) -> Vec<String> {
    lines.iter().map(|line| line.text().to_string()).collect()
}

fn write(path: &Path, lines: impl Iterator<Item = String>) -> Result<()> {
    let mut file = Output::create(path)?;
    for line in lines {
        file.line(&line)?;
    }
    file.finish()
}

/// Training progress goes to standard error.
#[allow(clippy::print_stderr)]
fn say(line: &str) {
    eprintln!("{line}");
}
