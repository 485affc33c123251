//! What can be checked before any long work: settings, files, languages, room on the disk.

use std::path::Path;

use sylvan_align::{Heuristic, Preset};
use sylvan_base::{Fault, InputError};
use sylvan_eval::Tokenizer;
use sylvan_parse::{Kind, Parser};
use sylvan_rules::Smoothing;
use sylvan_store::TextReader;
use sylvan_text::{Lang, language};
use sylvan_trees::Direction;
use sylvan_tune::Mixture;

use crate::config::Config;
use sylvan_decode::{Error, Result};

/// Settings, parsed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) preset: Preset,
    pub(crate) heuristic: Heuristic,
    pub(crate) smoothing: Smoothing,
    pub(crate) binarize: Option<Direction>,
    pub(crate) metric: Mixture,
    /// Whether weights are tuned on forests.
    pub(crate) forests: bool,
}

/// A smaller tuning text is too small to tell weights apart.
const SMALL_DEV: u64 = 100;

/// Checks everything that can be checked quickly.
pub(crate) fn check(config: &Config, say: &mut dyn FnMut(&str)) -> Result<Settings> {
    let settings = settings(config)?;
    needed(config)?;
    for lang in [&config.source_lang, &config.target_lang] {
        if !config.tokenized && language(lang) == Ok(Lang::Other) {
            say(&format!(
                "note: {lang} has no rules of its own for splitting text into words; general ones are used"
            ));
        }
    }
    let (dev, dev_target) = (count_lines(&config.dev_source)?, count_lines(&config.dev_target)?);
    equal((&config.dev_source, dev), (&config.dev_target, dev_target))?;
    if dev == 0 {
        return Err(Error::setting(shown(&config.dev_source), "no lines", "a text to tune on")
            .advise("a few hundred sentences that are not part of the training text will do"));
    }
    if dev < SMALL_DEV {
        say(&format!("note: {dev} sentences are few to tune on; {SMALL_DEV} to 2,000 are usual"));
    }
    let (lines, targets) = (count_lines(&config.source)?, count_lines(&config.target)?);
    equal((&config.source, lines), (&config.target, targets))?;
    let beside = [
        (&config.trees, (&config.source, lines)),
        (&config.align, (&config.source, lines)),
        (&config.dev_trees, (&config.dev_source, dev)),
    ];
    for (path, (text, wanted)) in beside {
        if let Some(path) = path {
            equal((path, count_lines(path)?), (text, wanted))?;
        }
    }
    if lines <= config.holdout {
        return Err(Error::setting(
            shown(&config.source),
            format!("{lines} lines"),
            format!("more than the {} that are held out", config.holdout),
        ));
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
    for path in &config.lm_text {
        TextReader::open(path)?;
    }
    room(config, say)?;
    Ok(settings)
}

fn settings(config: &Config) -> Result<Settings> {
    let wrong =
        |what: &str, found: &str, expected: &str| Error::setting(what, format!("{found:?}"), expected);
    let smoothing = match config.smoothing.as_str() {
        "none" => Smoothing::None,
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
    let forests = match config.tuner.as_str() {
        "mert" => false,
        "forest-mert" => true,
        other => return Err(wrong("tuner", other, "mert or forest-mert")),
    };
    let preset = config.align_preset.parse::<Preset>();
    let heuristic = config.symmetrize.parse::<Heuristic>();
    let metric = Mixture::parse(&config.metric, Tokenizer::None);
    if !(1..=sylvan_lm::MAX_ORDER).contains(&config.lm_order) {
        let expected = format!("1 to {}", sylvan_lm::MAX_ORDER);
        return Err(Error::setting("lm-order", config.lm_order.to_string(), expected));
    }
    for (what, value) in
        [("rounds", config.rounds), ("beam", config.beam), ("parser-epochs", config.parser_epochs)]
    {
        if value == 0 {
            return Err(Error::setting(what, "0", "at least 1"));
        }
    }
    if config.nbest < 2 {
        return Err(Error::setting("nbest", config.nbest.to_string(), "at least 2"));
    }
    Ok(Settings {
        preset: preset.map_err(|_| wrong("align-preset", &config.align_preset, "fast, default or best"))?,
        heuristic: heuristic.map_err(|error| Error::setting("symmetrize", error, "a heuristic"))?,
        smoothing,
        binarize,
        metric: metric.map_err(|fault| Error::setting("metric", fault.found, fault.expected))?,
        forests,
    })
}

/// Checks that everything needed is given, and nothing twice.
fn needed(config: &Config) -> Result<()> {
    let files = [
        ("source", &config.source),
        ("target", &config.target),
        ("dev-source", &config.dev_source),
        ("dev-target", &config.dev_target),
        ("out", &config.out),
    ];
    for (name, path) in files {
        if path.as_os_str().is_empty() {
            return Err(Error::setting(name, "nothing", "a file").advise("see `sylvan train --help`"));
        }
    }
    for (name, lang) in [("source-lang", &config.source_lang), ("target-lang", &config.target_lang)] {
        if lang.is_empty() {
            return Err(Error::setting(name, "nothing", "a two-letter code such as en"));
        }
        let fault = |fault: Fault| Error::setting(name, fault.found, fault.expected).advise(&fault.advice);
        language(lang).map_err(fault)?;
    }
    if config.trees.is_none() && config.parser.is_none() && config.treebank.is_none() {
        return Err(Error::setting("trees", "no trees and no parser", "--treebank, --parser or --trees")
            .advise("rules are learnt from trees of the source text"));
    }
    if config.parser.is_some() && config.treebank.is_some() {
        return Err(Error::setting("parser", "a parser and a treebank", "one of them"));
    }
    let can_parse = config.parser.is_some() || config.treebank.is_some();
    if config.trees.is_some() != config.dev_trees.is_some() && !can_parse {
        return Err(Error::setting("dev-trees", "trees of one text only", "--trees and --dev-trees")
            .advise("or a parser for the other"));
    }
    if (config.trees.is_some() || config.align.is_some()) && !config.tokenized {
        return Err(Error::setting("tokenized", "trees or links of raw text", "--tokenized")
            .advise("trees and links are about words, so the words must be given too"));
    }
    Ok(())
}

/// The number of lines of a text.
fn count_lines(path: &Path) -> Result<u64> {
    let mut reader = TextReader::open(path)?.tolerant();
    while reader.next_line()?.is_some() {}
    Ok(reader.line_number())
}

fn equal(a: (&Path, u64), b: (&Path, u64)) -> Result<()> {
    if a.1 == b.1 {
        return Ok(());
    }
    let found = format!("{} lines", a.1);
    Err(Error::setting(shown(a.0), found, format!("{} lines as in {}", b.1, b.0.display()))
        .advise("look for a line that is missing or split in two"))
}

/// Checks that there is room on disk and in memory (both grow with the texts and with the size of rules; the
/// factors were measured) and a folder for the model.
fn room(config: &Config, say: &mut dyn FnMut(&str)) -> Result<()> {
    let size = |path: &Path| std::fs::metadata(path).map(|meta| meta.len());
    let mut texts = 0;
    for path in [&config.source, &config.target] {
        texts += size(path).map_err(InputError::io(path, "read"))?;
    }
    let folder =
        config.out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Error::setting(shown(folder), "no such folder", "a folder for the model"));
    }
    let size_of_rules = u64::from(config.compose.clamp(1, 10));
    let wanted = 15 * size_of_rules * texts + (64 << 20);
    let memory = 25 * size_of_rules * texts + (100 << 20);
    match free_space(folder) {
        Some(free) if free < wanted => {
            let (found, wanted) = (format!("{} MB free", free >> 20), format!("about {} MB", wanted >> 20));
            Err(Error::setting(shown(folder), found, wanted).advise("make room, or put --out elsewhere"))
        }
        free => {
            let free = free.map_or(String::new(), |free| format!(" of {} MB free", free >> 20));
            say(&format!("about {} MB of disk{free} will be used for work", wanted >> 20));
            match free_memory() {
                Some(free) if free < memory => say(&format!(
                    "warning: about {} MB of memory may be needed, and {} MB are free; a lower --compose needs less",
                    memory >> 20,
                    free >> 20
                )),
                _ => say(&format!("at most about {} MB of memory", memory >> 20)),
            }
            Ok(())
        }
    }
}

/// Free bytes of memory, where the system says.
fn free_memory() -> Option<u64> {
    let all = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = all.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// Free bytes on a folder's disk, where the system says.
#[cfg(unix)]
fn free_space(folder: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(not(unix))]
fn free_space(_: &Path) -> Option<u64> {
    None
}

pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}
