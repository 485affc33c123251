//! Translating with a model file: lines of text (or trees) in, translations with all that is known about them out.
//!
//! ```text
//! line --tokenise, truecase, parse--> tree --Decoder--> hypotheses --detokenise--> text
//! ```

use std::path::Path;

use sylvan_base::{Fault, Result, Vocab, parallel};
use sylvan_parse::{Parser, Workspace as Parsing};
use sylvan_search::Beam;
use sylvan_store::TextReader;
use sylvan_text::{Protect, Tokenizer};

use crate::decoder::{Algorithm, Decoded, Decoder, DecoderError, Glossary, Ready, Sentence, Wish, Workspace};
use crate::model::{ModelFile, TrainingLines};
use crate::sides::{SourceText, TargetText, tokenizer};
use crate::train::learn::penn_line;

/// What lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Input {
    /// Text, raw or tokenised as the model has it.
    #[default]
    Text,
    /// Trees in Penn brackets.
    Tree,
}

/// What is wanted of each line.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// What lines are.
    pub input: Input,
    /// How to search.
    pub algorithm: Algorithm,
    /// How many translations; they differ in their words.
    pub best: usize,
    /// Whether features and links are wanted.
    pub details: bool,
    /// How many threads; results do not depend on it.
    pub threads: usize,
}

impl Default for Request {
    /// The best translation of text, as `sylvan translate` makes it, on one thread.
    fn default() -> Self {
        let algorithm = Algorithm::Refine(Beam(500));
        Self { input: Input::Text, algorithm, best: 1, details: false, threads: 1 }
    }
}

/// One translation of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct TranslatedText {
    /// As people write it.
    pub text: String,
    /// Its words.
    pub words: Vec<String>,
    /// The model score.
    pub score: f64,
    /// Names and values of features, if wanted; weights times values is the score.
    pub features: Vec<(String, f64)>,
    /// Source word and target word, counted from 0, if wanted.
    pub links: Vec<(u32, u32)>,
    /// The rules, one per line, indented by depth, if wanted.
    pub derivation: String,
}

/// What became of a line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TranslatedLine {
    /// Its words, as the model sees them.
    pub source: Vec<String>,
    /// Best first; none for a line without words.
    pub best: Vec<TranslatedText>,
    /// Source words of terms that overlap others and were translated freely, as places counted from 0.
    pub missed_terms: Vec<(u32, u32)>,
}

/// Why there is no translator.
#[derive(Debug, thiserror::Error)]
pub enum TranslateError {
    /// A file, or a line of the input.
    #[error(transparent)]
    Input(#[from] sylvan_base::InputError),
    /// The decoder.
    #[error(transparent)]
    Decoder(#[from] DecoderError),
    /// A pattern.
    #[error("{0}")]
    Pattern(Fault),
    /// Text is given to a model without a parser.
    #[error(
        "found a model without a parser, expected trees; give them with --input tree, or train with a parser"
    )]
    NoParser,
}

/// A model, open and ready.
#[derive(Debug)]
pub struct TextTranslator {
    pub(crate) decoder: Decoder,
    parser: Option<Parser>,
    /// States that the parser keeps per step, as in training.
    parser_beam: usize,
    source: SourceText,
    pub(crate) target: TargetText,
    keep: Protect,
    pub(crate) terms: Glossary,
    /// How terms of a glossary are cut: source and target.
    pub(crate) term_tokenizers: Option<[Tokenizer; 2]>,
    /// The training text, for explanations.
    pub(crate) lines: Option<TrainingLines>,
    /// Codes of the source and the target language.
    pub(crate) languages: [String; 2],
}

/// What opening a model is told.
#[derive(Debug, Clone, Default)]
pub struct OpenConfig {
    /// Regular expressions: what they match is neither cut nor translated.
    pub keep: Vec<String>,
    /// Whether corrections beside the model (MODEL.overlay) are left aside.
    pub no_overlay: bool,
}

impl TextTranslator {
    /// Opens a model as it is, without corrections; what `keep` matches is neither cut nor translated. See
    /// [`open_with`](Self::open_with).
    pub fn open(path: &Path, keep: &[String]) -> std::result::Result<Self, TranslateError> {
        let model = ModelFile::open(path)?;
        let keep = Protect::new(keep).map_err(TranslateError::Pattern)?;
        let manifest = model.manifest();
        let term_tokenizers = (!manifest.tokenized).then(|| {
            [&manifest.source_lang, &manifest.target_lang]
                .map(|lang| tokenizer(lang, None, Protect::default()))
        });
        Ok(Self {
            decoder: model.decoder()?,
            parser: model.parser()?,
            parser_beam: manifest.parser_beam(),
            source: model.source_text(keep.clone())?,
            target: model.target_text(),
            keep,
            terms: Glossary::default(),
            term_tokenizers,
            lines: model.training_lines()?,
            languages: [manifest.source_lang.clone(), manifest.target_lang.clone()],
        })
    }

    /// Lets translations be words separated by spaces, whatever the model's language.
    pub fn leave_tokens(&mut self) {
        self.target = TargetText::words();
    }

    /// Reads terms that must be used: source words, a tab, target words; source words alone are kept as they are.
    pub fn read_glossary(&mut self, path: &Path) -> Result<()> {
        let mut reader = TextReader::open(path)?;
        while let Some(line) = reader.next_line()? {
            if line.trim().is_empty() {
                continue;
            }
            let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
            let (source, target) = match *columns {
                [source] if !source.is_empty() => (source, source),
                [source, target] if !source.is_empty() && !target.is_empty() => (source, target),
                _ => {
                    let fault = Fault::new(1, format!("{line:?}"), "source words, a tab, target words")
                        .advise("one term per line; source words alone are kept as they are");
                    return Err(reader.locate(fault));
                }
            };
            self.add_term(source, target);
        }
        Ok(())
    }

    /// Adds a term that must be used: text of the source language and of the target language. A term that is there
    /// already gets one more translation, and the search chooses.
    pub fn add_term(&mut self, source: &str, target: &str) {
        let cut = |side: usize, text: &str| match &self.term_tokenizers {
            Some(tokenizers) => {
                let tokens = tokenizers[side].tokenize(text);
                tokens.iter().map(|token| token.text(text)).collect::<Vec<_>>().join(" ")
            }
            None => text.to_string(),
        };
        let (plain, target) = (cut(0, source), cut(1, target));
        // A term may stand first in a sentence, where its case is another one.
        let cased = self.source.words(source).join(" ");
        self.terms.add(&plain, &target, self.decoder.vocab_mut());
        if cased != plain {
            self.terms.add(&cased, &target, self.decoder.vocab_mut());
        }
    }

    /// Translates one line of text as usual.
    pub fn line(&mut self, line: &str) -> std::result::Result<String, TranslateError> {
        let best = self.nbest(line, 1)?;
        Ok(best.into_iter().next().map_or(String::new(), |best| best.text))
    }

    /// The best `count` translations of one line of text, with features, links and rules; none for a line without
    /// words.
    pub fn nbest(
        &mut self,
        line: &str,
        count: usize,
    ) -> std::result::Result<Vec<TranslatedText>, TranslateError> {
        let request = Request { best: count.max(1), details: true, ..Request::default() };
        let translated = self.translate(&[line.to_string()], "the line", 1, &request)?;
        Ok(translated.into_iter().next().map_or(Vec::new(), |line| line.best))
    }

    /// Translates lines; results are in their order. Faults of trees name `first` plus the line's index.
    pub fn translate(
        &mut self,
        lines: &[String],
        name: &str,
        first: u64,
        request: &Request,
    ) -> std::result::Result<Vec<TranslatedLine>, TranslateError> {
        let (prepared, sentences) = self.read(lines, name, first, request)?;
        let ready = self.decoder.ready();
        let vocab = self.decoder.vocab();
        let wish = Wish { best: request.best.max(1), distinct: true };
        let found =
            parallel::map(&sentences, request.threads, Workspace::default, |workspace, _, sentence| {
                let sentence = sentence.as_ref()?;
                let decoded = ready.decode(sentence, request.algorithm, wish, workspace);
                Some(self.texts(&ready, vocab, sentence, &decoded, request.details))
            });
        let mut translated = Vec::with_capacity(lines.len());
        for (((_, words), sentence), best) in prepared.into_iter().zip(&sentences).zip(found) {
            let missed = sentence.iter().flat_map(|sentence| &sentence.missed);
            translated.push(TranslatedLine {
                source: words,
                best: best.unwrap_or_default(),
                missed_terms: missed.map(|term| (term.span.start, term.span.end)).collect(),
            });
        }
        Ok(translated)
    }

    /// The tree and the words of each line, and the sentence that is ready to be translated.
    #[allow(clippy::type_complexity)]
    pub(crate) fn read(
        &mut self,
        lines: &[String],
        name: &str,
        first: u64,
        request: &Request,
    ) -> std::result::Result<(Vec<(String, Vec<String>)>, Vec<Option<Sentence>>), TranslateError> {
        let prepared = self.prepare(lines, request)?;
        self.protect(lines, request.input);
        let mut sentences = Vec::with_capacity(lines.len());
        for (index, (tree, _)) in prepared.iter().enumerate() {
            let sentence = self.decoder.read_tree(tree);
            sentences.push(sentence.map_err(|fault| fault.at(name, first + index as u64))?);
        }
        Ok((prepared, sentences))
    }

    /// The tree and the words of each line.
    fn prepare(
        &self,
        lines: &[String],
        request: &Request,
    ) -> std::result::Result<Vec<(String, Vec<String>)>, TranslateError> {
        if request.input == Input::Tree {
            // The words are the leaves, which stand before closing brackets.
            let words = |line: &str| {
                let leaves = line.split_whitespace().filter(|piece| !piece.starts_with('('));
                let leaves = leaves.map(|piece| piece.trim_end_matches(')').to_string());
                leaves.filter(|word| !word.is_empty()).collect()
            };
            return Ok(lines.iter().map(|line| (line.clone(), words(line))).collect());
        }
        let Some(parser) = &self.parser else { return Err(TranslateError::NoParser) };
        Ok(parallel::map(lines, request.threads, Parsing::new, |workspace, _, line| {
            let words = self.source.words(line);
            let plain: Vec<&str> = words.iter().map(String::as_str).collect();
            let tree = if plain.is_empty() {
                String::new()
            } else {
                penn_line(parser, self.parser_beam, &plain, workspace)
            };
            (tree, words)
        }))
    }

    /// Addresses and what the user wants to keep go through as they are: they become terms.
    fn protect(&mut self, lines: &[String], input: Input) {
        let mut terms = self.terms.clone();
        if input == Input::Text {
            for line in lines {
                for (start, end) in self.keep.find(line) {
                    let words: Vec<&str> = line[start..end].split_whitespace().collect();
                    let kept = words.join(" ");
                    // As the first word of a sentence it may have been given another case.
                    if let Some(truecaser) = &self.source.truecaser {
                        let cased = truecaser.apply(&words).join(" ");
                        terms.add(&cased, &kept, self.decoder.vocab_mut());
                    }
                    terms.add(&kept, &kept, self.decoder.vocab_mut());
                }
            }
        }
        self.decoder.set_glossary(terms);
    }

    fn texts(
        &self,
        ready: &Ready<'_>,
        vocab: &Vocab,
        sentence: &Sentence,
        decoded: &Decoded,
        details: bool,
    ) -> Vec<TranslatedText> {
        let texts = decoded.hypotheses.iter().map(|hypothesis| {
            let words: Vec<&str> = hypothesis.words.iter().map(|&word| vocab.text(word)).collect();
            let (mut features, mut links, mut derivation) = (Vec::new(), Vec::new(), String::new());
            if details {
                features = ready.features(sentence, &decoded.forest, &hypothesis.derivation).0;
                links = ready.links(sentence, &decoded.forest, &hypothesis.derivation);
                derivation = ready.show(sentence, &decoded.forest, &hypothesis.derivation);
            }
            TranslatedText {
                text: self.target.text(&words),
                words: words.into_iter().map(str::to_string).collect(),
                score: hypothesis.score,
                features,
                links,
                derivation,
            }
        });
        texts.collect()
    }
}
