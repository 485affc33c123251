//! A generative model from text: its parses are what is learnt from.

use sylvan_base::limits::SENTENCE_WORDS;
use sylvan_base::{Progress, parallel};

use super::{Generative, GenerativeEstimator};
use crate::model::{Kind, Parser};
use crate::parse::Workspace;

/// Sentences that are parsed at a time.
const CHUNK: usize = 4096;

/// How to learn.
#[derive(Debug, Clone, Copy)]
pub struct FromText {
    /// States that the parser keeps per step.
    pub beam: usize,
    /// How many parts of speech a word may have.
    pub tags: usize,
    /// Threads. The result does not depend on them.
    pub threads: usize,
}

impl Default for FromText {
    fn default() -> Self {
        Self { beam: 8, tags: 1, threads: 1 }
    }
}

impl FromText {
    /// Parses lines of words and learns from the trees. `None` if the parser makes no dependencies.
    pub fn learn(&self, parser: &Parser, lines: &[String], progress: &dyn Progress) -> Option<Generative> {
        if parser.kind() != Kind::Dependency {
            return None;
        }
        let mut estimator = GenerativeEstimator::new(parser.tags(), self.tags);
        progress.begin("parsing the text", Some(lines.len() as u64));
        let mut done = 0;
        for chunk in lines.chunks(CHUNK) {
            let parsed = parallel::map(chunk, self.threads, Workspace::new, |workspace, _, line| {
                let words: Vec<&str> = line.split_ascii_whitespace().take(SENTENCE_WORDS).collect();
                parser.dependencies(&words, self.beam, None, workspace)
            });
            for (line, parsed) in chunk.iter().zip(parsed) {
                if let Some(parsed) = parsed {
                    let words: Vec<&str> = line.split_ascii_whitespace().take(SENTENCE_WORDS).collect();
                    estimator.add(&words, &parsed.tags, &parsed.heads);
                }
            }
            done += chunk.len() as u64;
            progress.at(done);
        }
        progress.end();
        Some(estimator.finish(Vec::new()))
    }
}
