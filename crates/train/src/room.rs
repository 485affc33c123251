//! Whether there is room on disk and in memory for what is to come.

use std::path::Path;

use crate::config::Config;
use sylvan_decode::{Error, Result};

/// How much text there is, in bytes that are not compressed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sizes {
    /// What is learnt of them.
    pub(crate) kind: Rules,
    /// Both sides of the training text.
    pub(crate) texts: u64,
    /// The source side of the text to tune on.
    pub(crate) dev: u64,
    pub(crate) treebank: u64,
    /// The parser that is given.
    pub(crate) parser: u64,
    /// More text for the language model.
    pub(crate) lm_text: u64,
    /// Sets of links besides the first. Each adds about half as many rules as that gives.
    pub(crate) more_sets: u64,
    /// Whether rules are learnt a second time, without pairs to tune on.
    pub(crate) learns_twice: bool,
}

/// What decides how large rules are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rules {
    /// Rules of so many minimal ones.
    Trees {
        compose: u64,
    },
    /// Rules with gaps; whether rare ones are left out.
    Gaps {
        pruned: bool,
    },
    Phrases,
}

impl Default for Rules {
    fn default() -> Self {
        Self::Trees { compose: 6 }
    }
}

impl Sizes {
    /// The most memory that any stage takes. Factors are above those of all trainings that were measured
    /// (docs/notes/training.md); `sorting` is what rules and language models may sort in.
    fn memory(&self, sorting: u64) -> u64 {
        const BASE: u64 = 160 << 20;
        // The more trees there are, the fewer features are new.
        let (few, more) = (self.treebank.min(1 << 20), self.treebank.saturating_sub(1 << 20));
        let parser = 900 * few + 450 * more;
        let models = (self.texts + self.lm_text).saturating_mul(40).min(sorting);
        let sorted = |per_byte: u64| (per_byte * self.texts).min(sorting + sorting / 4 + 8 * self.texts);
        // The whole model is mapped while it is tuned and measured, and each tuning sentence keeps its candidates.
        let (rules, tuning) = match self.kind {
            Rules::Trees { compose } => {
                (40 * compose * self.texts, 24 * compose * self.texts + 300 * self.dev)
            }
            Rules::Gaps { pruned } => {
                (sorted(800), self.texts * if pruned { 22 } else { 155 } + 5_000 * self.dev)
            }
            Rules::Phrases => (sorted(100), 26 * self.texts + 5_000 * self.dev),
        };
        let (rules, tuning) = (self.of_all_sets(rules), self.of_all_sets(tuning));
        let tuning = tuning + 2 * self.parser + 16 * self.treebank;
        BASE + parser.max(rules).max(models).max(tuning)
    }

    /// What one set of links takes, for all of them.
    fn of_all_sets(&self, one: u64) -> u64 {
        one + one / 2 * self.more_sets
    }

    /// The disk that work files and scratch files take. Rules with gaps are sorted before rare ones are left out.
    fn disk(&self) -> u64 {
        let per_byte = match self.kind {
            Rules::Trees { compose } => 15 * compose,
            Rules::Gaps { .. } => 450,
            Rules::Phrases => 70,
        };
        let times = if self.learns_twice { 2 } else { 1 };
        times * self.of_all_sets(per_byte * self.texts) + (64 << 20)
    }
}

/// Checks that there is room on disk and in memory (both grow with the texts and with the size of rules; the
/// factors were measured) and a folder for the model.
pub(crate) fn room(config: &Config, sizes: &Sizes, say: &mut dyn FnMut(&str)) -> Result<()> {
    let folder =
        config.out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Error::setting(folder.display().to_string(), "no such folder", "a folder for the model"));
    }
    if config.out.is_dir() {
        return Err(Error::setting(
            config.out.display().to_string(),
            "a folder",
            "the name of a file for the model",
        ));
    }
    let (wanted, memory) = (sizes.disk(), sizes.memory(config.memory as u64));
    let less = match sizes.kind {
        Rules::Trees { .. } => "a lower --compose",
        _ => "a lower --memory",
    };
    match free_space(folder) {
        Some(free) if free < wanted => {
            let (found, wanted) = (format!("{} MB free", free >> 20), format!("about {} MB", wanted >> 20));
            Err(Error::setting(folder.display().to_string(), found, wanted)
                .advise("make room, or put --out elsewhere"))
        }
        free => {
            let free = free.map_or(String::new(), |free| format!(" of {} MB free", free >> 20));
            say(&format!("about {} MB of disk{free} will be used for work", wanted >> 20));
            match free_memory() {
                Some(free) if free < memory => say(&format!(
                    "warning: about {} MB of memory may be needed, and {} MB are free; {less} needs less",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_rules_want_more_room() {
        let one = Sizes { texts: 4 << 20, ..Sizes::default() };
        let (two, twice) = (Sizes { more_sets: 1, ..one }, Sizes { learns_twice: true, ..one });
        assert!(two.disk() > one.disk() && two.memory(1 << 30) > one.memory(1 << 30));
        assert!(twice.disk() > two.disk() && twice.memory(1 << 30) == one.memory(1 << 30));
    }

    /// Peaks of stages that were measured with two threads (docs/notes/training.md).
    #[test]
    fn the_bound_on_memory_is_above_all_that_was_measured() {
        let treebank = |treebank| Sizes { treebank, ..Sizes::default() };
        let multi30k = Sizes { texts: 3_982_268, dev: 71_300, ..Sizes::default() };
        let europarl = Sizes { texts: 60_338_682, dev: 156_459, ..Sizes::default() };
        let measured = [
            ("parser, 1,000 trees of GUM", treebank(392_824), 315_772 << 10),
            ("parser, 3,000 trees of GUM", treebank(749_998), 579_260 << 10),
            ("parser, GUM", treebank(2_771_470), 1_402_696 << 10),
            ("rules, en-de", Sizes { texts: 3_911_636, ..Sizes::default() }, 818_892_800),
            ("rules, en-ja", Sizes { texts: 4_485_803, ..Sizes::default() }, 764_170_240),
            ("gaps, de-en", Sizes { kind: Rules::Gaps { pruned: false }, ..multi30k }, 1257 << 20),
            ("phrases, de-en", Sizes { kind: Rules::Phrases, ..multi30k }, 358_804 << 10),
            ("phrases, Europarl", Sizes { kind: Rules::Phrases, ..europarl }, 2080 << 20),
        ];
        for (what, sizes, peak) in measured {
            let bound = sizes.memory(1 << 30);
            assert!(bound > peak && bound < 2 * peak, "{what}: {bound} for {peak}");
        }
    }
}
