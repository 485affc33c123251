//! What can be checked before any long work: settings, files, languages, room on the disk.

use std::path::Path;

use sylvan_align::{Heuristic, Preset};
use sylvan_base::{Fault, InputError};
use sylvan_eval::Tokenizer;
use sylvan_parse::structured::Perceptron;
use sylvan_parse::{Kind, Parser};
use sylvan_rules::extract::{GapReordering, OrientationModel};
use sylvan_rules::{Formalism, Smoothing};
use sylvan_store::{TextReader, is_same_file};
use sylvan_text::{Lang, language};
use sylvan_trees::Direction;
use sylvan_tune::Mixture;

use crate::config::Config;
use crate::room::{Rules, Sizes, room};
use sylvan_decode::{Error, Result, Unseen};

/// Settings, parsed.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) preset: Preset,
    /// One set of links for each; at least one.
    pub(crate) heuristics: Vec<Heuristic>,
    pub(crate) smoothing: Smoothing,
    pub(crate) binarize: Option<Direction>,
    pub(crate) metric: Mixture,
    /// What rules are learnt.
    pub(crate) formalism: Formalism,
    /// How orders of phrases are learnt.
    pub(crate) orientation: Option<OrientationModel>,
    /// How orders of rules with gaps are learnt.
    pub(crate) reordering: Option<GapReordering>,
    /// What becomes of words that no rule translates.
    pub(crate) unseen: Unseen,
    /// What the structured language model is, if there is one.
    pub(crate) structured: StructuredKind,
    /// How weights are found.
    pub(crate) tuner: Tuner,
    /// How many of the last training pairs are held out.
    pub(crate) holdout: u64,
    /// How many pairs before those are taken to tune on, if no text for that was given.
    pub(crate) dev: u64,
}

/// What a structured language model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StructuredKind {
    /// Probabilities, learnt from the parses of the target text.
    Generative,
    /// The scores of a parser.
    Perceptron,
}

impl StructuredKind {
    /// As settings name it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Generative => "generative",
            Self::Perceptron => "perceptron",
        }
    }
}

/// How weights are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tuner {
    /// Line searches on lists.
    Mert,
    /// Line searches on forests.
    ForestMert,
    /// Margins on lists.
    Mira,
}

impl Settings {
    /// The least count of rules that are kept. Most rules with gaps are seen once, within a long phrase pair. Of a large
    /// text they would fill a disk, and their loss costs little.
    pub(crate) fn least_count(&self, config: &Config, pairs: u64) -> f64 {
        let gaps = matches!(self.formalism, Formalism::Hiero | Formalism::LrHiero);
        let many = gaps && pairs >= 100_000;
        config.min_count.unwrap_or(if many { 0.2 } else { 0.0 })
    }
}

impl Tuner {
    /// As settings name it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Mert => "mert",
            Self::ForestMert => "forest-mert",
            Self::Mira => "mira",
        }
    }
}

/// Of fewer pairs none are held out without being asked for.
const FEW_PAIRS: u64 = 1_000;
/// One in so many pairs is held out, or tuned on.
const SHARE: u64 = 20;
/// More are not needed to measure or to tune.
const MOST_KEPT_OUT: u64 = 500;

fn holdout_of(lines: u64) -> u64 {
    if lines < FEW_PAIRS { 0 } else { dev_of(lines) }
}

fn dev_of(lines: u64) -> u64 {
    (lines / SHARE).clamp(1, MOST_KEPT_OUT)
}

/// A smaller tuning text is too small to tell weights apart.
const SMALL_DEV: u64 = 100;

/// Checks everything that can be checked quickly.
pub(crate) fn check(config: &Config, say: &mut dyn FnMut(&str)) -> Result<Settings> {
    let mut settings = settings(config)?;
    needed(config)?;
    nothing_lost(config)?;
    for lang in [&config.source_lang, &config.target_lang] {
        if !config.tokenized && language(lang) == Ok(Lang::Other) {
            say(&format!(
                "note: {lang} has no rules of its own for splitting text into words; general ones are used"
            ));
        }
    }
    let (lines, source_bytes) = count_lines(&config.source)?;
    let (targets, target_bytes) = count_lines(&config.target)?;
    equal((&config.source, lines), (&config.target, targets))?;
    let given = !config.dev_source.as_os_str().is_empty();
    let (dev, dev_bytes) = if given {
        count_lines(&config.dev_source)?
    } else {
        // About its share of the training text.
        (dev_of(lines), source_bytes / lines.max(1) * dev_of(lines))
    };
    if given {
        equal((&config.dev_source, dev), (&config.dev_target, count_lines(&config.dev_target)?.0))?;
    }
    if given && dev == 0 {
        return Err(Error::setting(shown(&config.dev_source), "no lines", "a text to tune on")
            .advise("a few hundred sentences that are not part of the training text will do"));
    }
    let beside = [
        (&config.trees, (&config.source, lines)),
        (&config.align, (&config.source, lines)),
        (&config.dev_trees, (&config.dev_source, dev)),
    ];
    for (path, (text, wanted)) in beside {
        if let Some(path) = path {
            equal((path, count_lines(path)?.0), (text, wanted))?;
        }
    }
    settings.holdout = config.holdout.unwrap_or_else(|| holdout_of(lines));
    settings.dev = if given { 0 } else { dev };
    let kept_out = settings.holdout + settings.dev;
    if lines == 0 {
        return Err(Error::setting(shown(&config.source), "no lines", "a text to learn from"));
    }
    if lines <= kept_out {
        return Err(Error::setting(
            shown(&config.source),
            format!("{lines} lines"),
            format!("more than the {kept_out} that are kept out of training"),
        ));
    }
    if dev < SMALL_DEV {
        say(&format!("note: {dev} sentences are few to tune on; {SMALL_DEV} to 2,000 are usual"));
    }
    if !given {
        say(&format!("note: no --dev-source, so {dev} pairs of the training text are kept to tune on"));
    }
    match (config.holdout, settings.holdout) {
        (None, 0) => say(&format!(
            "note: {lines} pairs are few, so none are held out: the scores will be those of the text that was tuned on, \
             and flatter; --holdout N measures on N others"
        )),
        (None, held) => {
            say(&format!(
                "note: the last {held} pairs are not trained on but measured on; --holdout 0 trains on all"
            ));
        }
        _ => {}
    }
    if let Some(path) = &config.treebank {
        sylvan_parse::treebank::format_of(path)?;
    }
    if let Some(path) = &config.parser {
        let parser = Parser::open(path)?;
        if parser.kind() != Kind::Constituency {
            let found = format!("a {} model", parser.kind().name());
            return Err(Error::setting(shown(path), found, "a constituency parser")
                .advise("train one with `sylvan parser train --kind constituency`"));
        }
    }
    if let Some(path) = &config.structured_lm {
        let parser = Parser::open(path)?;
        let found = format!("a {} parser", parser.kind().name());
        if parser.kind() != Kind::Dependency {
            return Err(Error::setting(shown(path), found, "a dependency parser of the target language")
                .advise("train one with `sylvan parser train --kind dependency`"));
        }
        if settings.structured == StructuredKind::Perceptron && Perceptron::new(parser).is_none() {
            let found = format!("{found} that looks further than one word ahead");
            return Err(Error::setting(shown(path), found, "one that works word by word").advise(
                "train it with --window 0 --lookahead 0 --tags-alone, or use --structured-kind generative",
            ));
        }
    }
    for path in &config.lm_text {
        TextReader::open(path)?;
    }
    let treebank = match &config.treebank {
        Some(path) => count_lines(path)?.1,
        None => 0,
    };
    let parser = match &config.parser {
        Some(path) => std::fs::metadata(path).map_err(InputError::io(path, "read"))?.len(),
        None => 0,
    };
    let mut lm_text = 0;
    for path in &config.lm_text {
        lm_text += count_lines(path)?.1;
    }
    let pruned = settings.least_count(config, lines) > 0.0;
    let kind = match settings.formalism {
        Formalism::Tree => Rules::Trees { compose: u64::from(config.compose.clamp(1, 10)) },
        Formalism::Phrase => Rules::Phrases,
        _ => Rules::Gaps { pruned },
    };
    // Cleaning may leave fewer pairs; this is known before anything takes long.
    can_set_aside(config.tune_more as u64, lines.saturating_sub(settings.holdout + settings.dev))?;
    let aside = (source_bytes / lines.max(1)).saturating_mul(config.tune_more as u64);
    let sizes = Sizes {
        kind,
        texts: source_bytes + target_bytes,
        dev: dev_bytes + aside,
        treebank,
        parser,
        lm_text,
        more_sets: settings.heuristics.len() as u64 - 1,
        learns_twice: config.tune_more > 0,
    };
    if config.kind.is_empty() && settings.formalism == Formalism::Hiero {
        say(
            "note: no treebank, parser or trees, so rules with gaps are learnt from the text alone (--kind hiero); they \
             translate a little better than phrase pairs (--kind phrase), which are faster",
        );
    }
    room(config, &sizes, say)?;
    Ok(settings)
}

/// At most one of so many pairs is set aside to tune on, or rules would be others.
const LEFT: u64 = 4;

/// Whether so many of the training pairs can be set aside.
pub(crate) fn can_set_aside(count: u64, pairs: u64) -> Result<()> {
    if count.saturating_mul(LEFT) > pairs {
        let expected = format!("at most a quarter of the training text, which has {pairs} pairs");
        return Err(Error::setting("tune-more", count.to_string(), expected));
    }
    Ok(())
}

/// What was asked for, or what the files are good for.
fn formalism(config: &Config) -> Result<Formalism> {
    let syntax = config.trees.is_some() || config.parser.is_some() || config.treebank.is_some();
    match config.kind.as_str() {
        "tree" => Ok(Formalism::Tree),
        "" if syntax => Ok(Formalism::Tree),
        kind @ ("hiero" | "phrase" | "lr-hiero") if syntax => {
            let found = format!("trees, a parser or a treebank with kind {kind}");
            Err(Error::setting("kind", found, "one or the other")
                .advise("such rules are learnt from text alone"))
        }
        "hiero" | "" => Ok(Formalism::Hiero),
        "phrase" => Ok(Formalism::Phrase),
        "lr-hiero" => Ok(Formalism::LrHiero),
        other => Err(Error::setting("kind", format!("{other:?}"), "tree, hiero, phrase or lr-hiero")),
    }
}

fn settings(config: &Config) -> Result<Settings> {
    let wrong =
        |what: &str, found: &str, expected: &str| Error::setting(what, format!("{found:?}"), expected);
    let orientation = match config.orientation.as_str() {
        "word" => Some(OrientationModel::Word),
        "phrase" => Some(OrientationModel::Phrase),
        "hier" => Some(OrientationModel::Hier),
        "recent" => Some(OrientationModel::Recent),
        "none" => None,
        other => return Err(wrong("orientation", other, "word, phrase, hier, recent or none")),
    };
    let reordering = match config.reordering.as_str() {
        "lrm" => Some(GapReordering::Lrm),
        "nvlrm" => Some(GapReordering::Nvlrm),
        "none" => None,
        other => return Err(wrong("reordering", other, "lrm, nvlrm or none")),
    };
    let formalism = formalism(config)?;
    let smoothing = match config.smoothing.as_str() {
        // Most rules with gaps are seen once, and discounting them pays.
        "" if matches!(formalism, Formalism::Hiero | Formalism::LrHiero) => Smoothing::GoodTuring,
        "none" | "" => Smoothing::None,
        "good-turing" => Smoothing::GoodTuring,
        "kneser-ney" => Smoothing::KneserNey,
        other => return Err(wrong("smoothing", other, "none, good-turing or kneser-ney")),
    };
    let binarize = match config.binarize.as_str() {
        "none" => None,
        "left" => Some(Direction::Left),
        "right" => Some(Direction::Right),
        other => return Err(wrong("binarize", other, "none, left or right")),
    };
    let tuner = match config.tuner.as_str() {
        // Without syntax line searches lose their way: weights far off promise much on the lists, and nothing else.
        "" if formalism != Formalism::Tree => Tuner::Mira,
        "mert" | "" => Tuner::Mert,
        "forest-mert" => Tuner::ForestMert,
        "mira" => Tuner::Mira,
        other => return Err(wrong("tuner", other, "mert, forest-mert or mira")),
    };
    let structured = match config.structured_kind.as_str() {
        "generative" => StructuredKind::Generative,
        "perceptron" => StructuredKind::Perceptron,
        other => return Err(wrong("structured-kind", other, "generative or perceptron")),
    };
    let Ok(unseen) = config.unseen.parse::<Unseen>() else {
        return Err(wrong("unseen", &config.unseen, "related or copied"));
    };
    if config.neural_width == 0 || config.neural_width > 4096 || !config.neural_width.is_multiple_of(4) {
        let found = config.neural_width.to_string();
        return Err(wrong("neural-width", &found, "a multiple of 4, at most 4096"));
    }
    let preset = config.align_preset.parse::<Preset>();
    let heuristics =
        config.symmetrize.split(',').map(str::parse::<Heuristic>).collect::<std::result::Result<_, _>>();
    let metric = Mixture::parse(&config.metric, Tokenizer::None);
    if config.lm_classes > sylvan_lm::classes::MOST as usize {
        let expected = format!("at most {} classes; 0 for none", sylvan_lm::classes::MOST);
        return Err(Error::setting("lm-classes", config.lm_classes.to_string(), expected));
    }
    if !(1..=sylvan_lm::MAX_ORDER).contains(&config.lm_order) {
        let expected = format!("1 to {}", sylvan_lm::MAX_ORDER);
        return Err(Error::setting("lm-order", config.lm_order.to_string(), expected));
    }
    for (what, value) in [
        ("rounds", config.rounds),
        ("beam", config.beam),
        ("parser-epochs", config.parser_epochs),
        ("parser-beam", config.parser_beam),
        ("compose", config.compose as usize),
    ] {
        if value == 0 {
            return Err(Error::setting(what, "0", "at least 1"));
        }
    }
    if let Some(count) = config.min_count.filter(|count| !(0.0..f64::INFINITY).contains(count)) {
        return Err(Error::setting("min-count", count.to_string(), "0 or more"));
    }
    if config.nbest < 2 {
        return Err(Error::setting("nbest", config.nbest.to_string(), "at least 2"));
    }
    Ok(Settings {
        preset: preset.map_err(|_| wrong("align-preset", &config.align_preset, "fast, default or best"))?,
        heuristics: heuristics
            .map_err(|fault: Fault| Error::setting("symmetrize", fault.found, fault.expected))?,
        smoothing,
        orientation,
        reordering,
        binarize,
        metric: metric.map_err(|fault| Error::setting("metric", fault.found, fault.expected))?,
        formalism,
        unseen,
        structured,
        tuner,
        holdout: 0,
        dev: 0,
    })
}

/// Where trees come from, for those who have none.
const TREES: &str = "rules are learnt from trees of the source text: train a parser from any treebank with --treebank \
                     (CoNLL-U as universaldependencies.org has it for over a hundred languages, or Penn brackets), give a \
                     parser with --parser, or give trees with --trees and --dev-trees";

/// Checks that everything needed is given, and nothing twice. All that is missing is named at once.
fn needed(config: &Config) -> Result<()> {
    let is_empty = |path: &Path| path.as_os_str().is_empty();
    let mut missing = Vec::new();
    for (name, path) in [("source", &config.source), ("target", &config.target), ("out", &config.out)] {
        if is_empty(path) {
            missing.push(format!("--{name}"));
        }
    }
    for (name, lang) in [("source-lang", &config.source_lang), ("target-lang", &config.target_lang)] {
        if lang.is_empty() {
            missing.push(format!("--{name}"));
            continue;
        }
        let fault = |fault: Fault| Error::setting(name, fault.found, fault.expected).advise(&fault.advice);
        language(lang).map_err(fault)?;
    }
    let no_trees = formalism(config)? == Formalism::Tree
        && config.trees.is_none()
        && config.parser.is_none()
        && config.treebank.is_none();
    if no_trees {
        missing.push("--treebank, --parser or --trees".to_string());
    }
    if !missing.is_empty() {
        let advice = if no_trees { TREES } else { "see `sylvan train --help`" };
        let expected = "them on the command line or in the configuration";
        return Err(
            Error::setting("settings", format!("no {}", missing.join(", no ")), expected).advise(advice)
        );
    }
    let missing_half = is_empty(&config.dev_source) != is_empty(&config.dev_target);
    if missing_half {
        return Err(Error::setting("dev", "one side of the tuning text", "--dev-source and --dev-target")
            .advise("or neither: then a part of the training text is kept to tune on"));
    }
    if config.dev_trees.is_some() && is_empty(&config.dev_source) {
        return Err(Error::setting(
            "dev-trees",
            "trees of no text",
            "--dev-source and --dev-target with them",
        ));
    }
    if config.parser.is_some() && config.treebank.is_some() {
        return Err(Error::setting("parser", "a parser and a treebank", "one of them"));
    }
    if config.dev_trees.is_some() && formalism(config)? != Formalism::Tree {
        return Err(Error::setting(
            "dev-trees",
            "trees of the tuning text alone",
            "trees of both texts, or none",
        ));
    }
    let can_parse = config.parser.is_some() || config.treebank.is_some();
    // A tuning text that is part of the training text brings its trees along.
    let dev_has_trees =
        config.dev_trees.is_some() || (is_empty(&config.dev_source) && config.trees.is_some());
    if config.trees.is_some() != dev_has_trees && !can_parse {
        return Err(Error::setting("dev-trees", "trees of one text only", "--trees and --dev-trees")
            .advise("or a parser for the other"));
    }
    if (config.trees.is_some() || config.align.is_some()) && !config.tokenized {
        return Err(Error::setting("tokenized", "trees or links of raw text", "--tokenized")
            .advise("trees and links are about words, so the words must be given too"));
    }
    Ok(())
}

/// No input may be written over: by the model, or by a file of the work folder.
fn nothing_lost(config: &Config) -> Result<()> {
    let work = config.work_folder();
    for path in config.inputs() {
        if is_same_file(path, &config.out) {
            return Err(Error::setting("out", shown(&config.out), "a file that is not read")
                .advise("this is an input of the same run, which would be lost; choose another name"));
        }
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        if folder.is_some() && folder == work.canonicalize().ok() {
            return Err(Error::setting(shown(path), "a file in the work folder", "inputs elsewhere")
                .advise("what is in that folder is written anew; copy the file, or choose another --out"));
        }
    }
    Ok(())
}

/// The number of lines of a text, and its bytes when it is not compressed.
fn count_lines(path: &Path) -> Result<(u64, u64)> {
    let mut reader = TextReader::open(path)?.tolerant();
    let mut bytes = 0;
    while let Some(line) = reader.next_line()? {
        bytes += line.len() as u64 + 1;
    }
    Ok((reader.line_number(), bytes))
}

fn equal(a: (&Path, u64), b: (&Path, u64)) -> Result<()> {
    if a.1 == b.1 {
        return Ok(());
    }
    let found = format!("{} lines", a.1);
    Err(Error::setting(shown(a.0), found, format!("{} lines as in {}", b.1, b.0.display()))
        .advise("look for a line that is missing or split in two"))
}

pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}
