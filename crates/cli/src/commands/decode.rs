//! `sylvan decode`: trees into translations, with any search.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use sylvan::decode::features::show_values;
use sylvan::decode::{Decoded, Derived, List, Sentence, TargetText, With, forest_json};
use sylvan::{Corrections, Glossary, Input, Model, Search, Stop, Worker, workers};
use sylvan_base::limits::SENTENCE_WORDS;
use sylvan_base::{Fault, Progress, parallel};
use sylvan_rules::Weights;
use sylvan_search::{Counters, TraceItem};
use sylvan_store::{Output, TextReader};
use sylvan_trees::EgretReader;

use super::model_options::{warn_of_untranslated, with_besides};
use super::searching::Searching;
use crate::bad_lines::{BadLines, Strictness};
use crate::outputs::OutPath;
use crate::progress::Terminal;
use crate::threads::Threads;

/// Translates trees (Penn brackets, one per line), packed forests or text with a rule table, language models and weights.
///
/// Trees are prepared like those that the rules were learnt from; the table says how. An empty line, or an
/// empty parse, gives an empty line. The output is the same with any number of threads.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan decode --grammar enja.rules --lm ja.lm --weights weights --search prediction \
    --beam 100 --scores out.scores < dev.en.tree > dev.ja\n\n\
    With --nbest K each line is: number ||| words ||| features ||| score"
)]
pub(crate) struct Decode {
    /// The rule table, made by `sylvan grammar`.
    #[arg(long, value_name = "RULES")]
    grammar: PathBuf,
    /// A language model, ARPA or compiled; repeat the option for several (weights lm0, lm1, ..).
    #[arg(long, value_name = "LM", required = true)]
    lm: Vec<PathBuf>,
    /// A structured language model, made by `sylvan lm structured`, or a dependency parser that looks at most one word ahead (weight
    /// slm).
    #[arg(long, value_name = "FILE")]
    structured_lm: Option<PathBuf>,
    /// A network, made by `sylvan neural train`, that scores whole translations (weight neural).
    #[arg(long, value_name = "FILE")]
    neural: Option<PathBuf>,
    /// The weights: name=value, one per line.
    #[arg(long, value_name = "FILE")]
    weights: PathBuf,
    #[command(flatten)]
    searching: Searching,
    /// The best K translations of each sentence, in the format of Moses.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    nbest: Option<u32>,
    /// With --nbest: translations with the same words count as one.
    #[arg(long)]
    distinct: bool,
    /// With --nbest: list the sparse features too: target words tw.W, linked words wp.S~T, orders of variables ro.L.2-1.
    #[arg(long)]
    sparse: bool,
    #[command(flatten)]
    strictness: Strictness,
    #[command(flatten)]
    threads: Threads,
    /// Show the search on standard error, step by step (left-to-right searches): bin, stack, score, estimate.
    #[arg(long)]
    trace: bool,
    /// Write the model score of each best translation, one per line; 0 for an empty one.
    #[arg(long, value_name = "FILE")]
    scores: Option<OutPath>,
    /// Write the rules of each best translation, indented by depth, sentences separated by empty lines.
    #[arg(long, value_name = "FILE")]
    derivations: Option<OutPath>,
    /// Write the translation forest of each sentence, one JSON object per line; null for an empty sentence.
    #[arg(long, value_name = "FILE")]
    forests: Option<OutPath>,
    /// Drop rules from the forest whose best use is estimated to be this much worse than the best
    /// translation.
    #[arg(long, value_name = "NATS")]
    forest_margin: Option<f64>,
    /// Write what the searches cost, as one JSON object.
    #[arg(long, value_name = "FILE.json")]
    stats: Option<OutPath>,
    /// Write what each sentence cost, one per line: number, source words, milliseconds, model score, items, LM
    /// queries; separated by tabs, with a heading.
    #[arg(long, value_name = "FILE.tsv")]
    times: Option<OutPath>,
    /// What the input holds: a tree per line, or packed forests in the format of Egret.
    #[arg(long, value_enum, default_value = "tree")]
    input: InputKind,
    /// Terms: source words, a tab, target words; one per line. Source words alone are not translated.
    #[arg(long, value_name = "FILE")]
    glossary: Option<PathBuf>,
    /// Corrections of the rule table, one per line: add RULE, forbid RULE, boost X RULE; @N before it for line N alone.
    #[arg(long, value_name = "FILE")]
    overlay: Option<PathBuf>,
    /// The trees, forests or text; - for standard input.
    #[arg(value_name = "INPUT", default_value = "-")]
    trees: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum InputKind {
    /// One tree per line, in brackets; an empty line stays one.
    Tree,
    /// One sentence per line, words between spaces, for rules that need no trees.
    Text,
    /// Packed forests, as `sylvan parser parse --format forest` writes them; the weight `parse` weighs their scores.
    Forest,
}

/// Where sentences come from.
enum Sentences {
    Lines(TextReader, Input),
    Forests(EgretReader),
}

impl Sentences {
    fn open(path: &Path, kind: InputKind) -> anyhow::Result<Self> {
        Ok(match kind {
            InputKind::Tree => Self::Lines(TextReader::open(path)?, Input::Tree),
            InputKind::Text => Self::Lines(TextReader::open(path)?.tolerant(), Input::Text),
            InputKind::Forest => Self::Forests(EgretReader::open(path)?),
        })
    }

    /// The next sentence; `Some(None)` if it has nothing to translate.
    fn next(&mut self, worker: &mut Worker, with: With<'_>) -> anyhow::Result<Option<Option<Sentence>>> {
        Ok(match self {
            Self::Lines(reader, input) => {
                let Some(line) = reader.next_line()? else { return Ok(None) };
                let sentence = worker.read(line, *input, with);
                let at = reader.line_number();
                Some(sentence.map_err(|unread| unread.at(reader.name(), at))?)
            }
            Self::Forests(reader) => {
                let mut ended = false;
                let sentence = worker.read_forest(with, |vocab| {
                    let forest = reader.next_forest(vocab)?;
                    ended = forest.is_none();
                    let forest = forest.flatten();
                    let words = forest.as_ref().map_or(0, |forest| forest.words().len());
                    if words > SENTENCE_WORDS {
                        let expected = format!("a sentence of at most {SENTENCE_WORDS}");
                        let fault = Fault::new(0, format!("{words} words"), expected);
                        return Err(fault.at(reader.name(), reader.line_number()));
                    }
                    Ok::<_, sylvan_base::InputError>(forest)
                })?;
                (!ended).then_some(sentence)
            }
        })
    }
}

/// Sentences read at a time: enough to keep threads busy, few enough that output comes soon.
const CHUNK: usize = 512;

/// One sentence's answer, ready to be written.
#[derive(Debug, Default)]
struct Answer {
    lines: String,
    score: Option<f64>,
    derivation: String,
    forest: String,
    trace: Vec<String>,
    source_words: usize,
    counters: Counters,
    gap: Option<f64>,
    cut_short: bool,
    seconds: f64,
}

/// What all sentences cost.
#[derive(Debug, Default)]
struct Totals {
    sentences: u64,
    empty: u64,
    cut_short: u64,
    terms: u64,
    terms_missed: u64,
    proven: u64,
    gaps: f64,
    score: f64,
    counters: Counters,
    seconds: f64,
}

/// What all sentences are translated with.
struct Setting {
    search: Search,
    glossary: Option<Glossary>,
    corrections: Option<Corrections>,
}

impl Setting {
    fn with(&self) -> With<'_> {
        With { glossary: self.glossary.as_ref(), corrections: self.corrections.as_ref(), ..With::default() }
    }
}

impl Decode {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.forest_margin.is_none_or(|margin| margin >= 0.0),
            "--forest-margin: expected 0 or more; 10 is careful, 3 is bold"
        );
        self.searching.check_named()?;
        let weights = Weights::read(&mut TextReader::open(&self.weights)?)?;
        let (model, converted) = Model::open_parts(&self.grammar, &self.lm, &weights)?;
        let model = with_besides(model, self.structured_lm.as_deref(), self.neural.as_deref())?;
        let model = self.searching.applied(model);
        let search = self.searching.search(&model)?;
        if converted {
            say(&format!("{}: another toolkit's names; used as {}", self.weights.display(), {
                let shown: Vec<String> = model.weights().iter().map(|(n, v)| format!("{n}={v:.6}")).collect();
                shown.join(" ")
            }));
        }
        let open = |path: &Option<PathBuf>| path.as_deref().map(TextReader::open).transpose();
        let glossary = open(&self.glossary)?.map(|mut reader| Glossary::read(&mut reader)).transpose()?;
        if let (Some(path), Some(glossary)) = (&self.glossary, &glossary) {
            warn_of_untranslated(path, glossary);
        }
        let corrections = open(&self.overlay)?.map(|mut reader| Corrections::read(&model, &mut reader));
        let corrections = corrections.transpose()?;
        corrections.iter().flat_map(Corrections::missing).for_each(|line| say(line));
        let setting = Setting { search, glossary, corrections };
        let mut workers = workers(&Arc::new(model), self.threads.count());
        let mut reader = Sentences::open(&self.trees, self.input)?;
        let mut out = Output::create(Path::new("-"))?;
        let open = |path: &Option<OutPath>| path.as_deref().map(Output::create).transpose();
        let (mut scores, mut derivations) = (open(&self.scores)?, open(&self.derivations)?);
        let (mut forests, mut times) = (open(&self.forests)?, open(&self.times)?);
        if let Some(times) = &mut times {
            times.line("number\twords\tmilliseconds\tscore\titems\tlm_queries")?;
        }
        let mut totals = Totals::default();
        let (mut bad, mut ended) = (BadLines::new(self.strictness), None);
        let started = Instant::now();
        let terminal = Terminal::default();
        terminal.begin("translating", None);
        loop {
            let mut sentences: Vec<Option<Sentence>> = Vec::new();
            while sentences.len() < CHUNK && ended.is_none() {
                let mut sentence = match reader.next(&mut workers[0], setting.with()) {
                    Ok(Some(sentence)) => sentence,
                    Ok(None) => break,
                    // Of a list of forests nobody knows where the next one begins.
                    Err(error) if self.input == InputKind::Forest => return Err(error),
                    Err(error) => {
                        // What came before is written first.
                        ended = bad.report(error).err();
                        if ended.is_some() {
                            break;
                        }
                        None
                    }
                };
                if let Some(sentence) = &mut sentence {
                    sentence.number = Some(totals.sentences + sentences.len() as u64 + 1);
                }
                sentences.push(sentence);
            }
            if sentences.is_empty() {
                ended.map_or(Ok(()), Err)?;
                break;
            }
            let first = totals.sentences;
            let answers = parallel::map_with(&mut workers, &sentences, |worker, index, sentence| {
                self.answer(worker, &setting, sentence.as_ref(), first + index as u64)
            });
            for sentence in sentences.iter().flatten() {
                totals.terms += sentence.terms.len() as u64;
                totals.terms_missed += sentence.missed.len() as u64;
            }
            for answer in answers {
                totals.add(&answer);
                terminal.at(totals.sentences);
                answer.trace.iter().for_each(|line| say(line));
                if answer.cut_short {
                    say(&format!(
                        "sentence {}: the work limit was reached; the translation is a best effort",
                        totals.sentences
                    ));
                }
                out.write(answer.lines.as_bytes())?;
                if let Some(scores) = &mut scores {
                    scores
                        .line(&answer.score.map_or_else(|| "0".to_string(), |score| format!("{score:.6}")))?;
                }
                if let Some(derivations) = &mut derivations {
                    derivations.line(&answer.derivation)?;
                }
                if let Some(forests) = &mut forests {
                    forests.line(&answer.forest)?;
                }
                if let Some(times) = &mut times {
                    times.line(&answer.cost(totals.sentences))?;
                }
            }
        }
        terminal.end();
        bad.sum_up(totals.sentences);
        out.finish()?;
        scores.map(Output::finish).transpose()?;
        derivations.map(Output::finish).transpose()?;
        forests.map(Output::finish).transpose()?;
        times.map(Output::finish).transpose()?;
        if let Some(path) = &self.stats {
            let mut file = Output::create(path)?;
            file.line(&totals.json(&self, search, started.elapsed().as_secs_f64()).to_string())?;
            file.finish()?;
        }
        Ok(())
    }

    fn answer(
        &self,
        worker: &mut Worker,
        setting: &Setting,
        sentence: Option<&Sentence>,
        number: u64,
    ) -> Answer {
        let Some(sentence) = sentence else {
            // An empty line stays one; in a list it has no lines.
            let lines = if self.nbest.is_some() { String::new() } else { "\n".to_string() };
            return Answer { lines, forest: "null".to_string(), ..Answer::default() };
        };
        let (search, with) = (setting.search, setting.with());
        let list = List { best: self.nbest.unwrap_or(1) as usize, distinct: self.distinct };
        let started = Instant::now();
        let mut forest = worker.forest(sentence, with);
        if let Some(margin) = self.forest_margin {
            forest = worker.prune(&forest, margin);
        }
        let decoded = worker.decode_forest(sentence, with, forest, search, list, &Stop::NEVER);
        let seconds = started.elapsed().as_secs_f64();
        let mut trace = Vec::new();
        if self.trace {
            trace.push(format!("# sentence {number}"));
            let items = worker.trace(sentence, &decoded.forest, search);
            trace.extend(items.iter().filter(|item| item.kept).map(TraceItem::line));
        }
        let best = decoded.hypotheses.first();
        let derived = best.map(|best| worker.derived(sentence, with, &decoded.forest, &best.derivation));
        Answer {
            lines: self.lines(worker, with, sentence, &decoded, number),
            score: best.map(|best| best.score),
            derivation: derived
                .as_ref()
                .filter(|_| self.derivations.is_some())
                .map_or(String::new(), Derived::show),
            forest: derived
                .as_ref()
                .filter(|_| self.forests.is_some())
                .map_or(String::new(), |derived| forest_json(derived).to_string()),
            trace,
            source_words: sentence.words.len(),
            counters: decoded.counters,
            gap: decoded.gap,
            cut_short: decoded.cut_short && decoded.gap.is_none(),
            seconds,
        }
    }

    fn lines(
        &self,
        worker: &Worker,
        with: With<'_>,
        sentence: &Sentence,
        decoded: &Decoded,
        number: u64,
    ) -> String {
        let mut lines = String::new();
        if self.nbest.is_none() {
            if let Some(best) = decoded.hypotheses.first() {
                let derived = worker.derived(sentence, with, &decoded.forest, &best.derivation);
                lines.push_str(&derived.compose(TargetText::words()).text);
            }
            lines.push('\n');
            return lines;
        }
        for hypothesis in &decoded.hypotheses {
            let derived = worker.derived(sentence, with, &decoded.forest, &hypothesis.derivation);
            let words = derived.compose(TargetText::words()).text;
            let mut features = derived.features();
            if self.sparse {
                features.extend(derived.sparse_features());
            }
            let features = show_values(&features);
            lines.push_str(&format!("{number} ||| {words} ||| {features} ||| {:.6}\n", hypothesis.score));
        }
        lines
    }
}

impl Answer {
    /// What the sentence cost, as a line of `--times`.
    fn cost(&self, number: u64) -> String {
        let Counters { items, lm_queries, .. } = self.counters;
        let (milliseconds, score) = (self.seconds * 1000.0, self.score.unwrap_or(0.0));
        format!("{number}\t{}\t{milliseconds:.4}\t{score:.6}\t{items}\t{lm_queries}", self.source_words)
    }
}

impl Totals {
    fn add(&mut self, answer: &Answer) {
        self.sentences += 1;
        self.empty += u64::from(answer.score.is_none());
        self.cut_short += u64::from(answer.cut_short);
        self.proven += u64::from(answer.gap == Some(0.0));
        self.gaps += answer.gap.unwrap_or(0.0);
        self.score += answer.score.unwrap_or(0.0);
        self.counters += answer.counters;
        self.seconds += answer.seconds;
    }

    fn json(&self, command: &Decode, search: Search, wall: f64) -> serde_json::Value {
        let translated = (self.sentences - self.empty).max(1) as f64;
        let mut value = serde_json::json!({
            "sentences": self.sentences,
            "empty": self.empty,
            "beam": search.beam().0,
            "threads": command.threads.count(),
            "score": self.score / translated,
            "cut_short": self.cut_short,
            "items": self.counters.items,
            "recombined": self.counters.recombined,
            "pruned": self.counters.pruned,
            "lm_queries": self.counters.lm_queries,
            "future_edges": self.counters.future_edges,
            "search_seconds": self.seconds,
            "milliseconds_per_sentence": self.seconds * 1000.0 / translated,
            "wall_seconds": wall,
        });
        if command.glossary.is_some() {
            value["terms"] = self.terms.into();
            value["terms_missed"] = self.terms_missed.into();
        }
        if command.searching.is_exact() {
            value["proven"] = self.proven.into();
            value["gap"] = (self.gaps / translated).into();
        }
        value
    }
}

#[allow(clippy::print_stderr)]
fn say(line: &str) {
    eprintln!("{line}");
}
