//! Word translation probabilities from links (Koehn, Och & Marcu 2003): w(e|f) = links(f,e) / links(f), where a
//! word without a link is linked to NULL.

use sylvan_base::{Fault, HashMap, Result, Symbol, Vocab};
use sylvan_corpus::Link;
use sylvan_store::TextReader;

use crate::{Source, TargetSide, WordLink};

/// Link counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lexicon {
    pairs: HashMap<(u32, u32), u64>,
    sources: HashMap<u32, u64>,
    targets: HashMap<u32, u64>,
}

/// Stands for the missing other end.
const NULL: u32 = u32::MAX;

impl Lexicon {
    /// Counts the links of a sentence pair, each once.
    pub(crate) fn add(&mut self, source: &[Symbol], target: &[Symbol], links: &[Link]) {
        let mut sorted = links.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let mut linked = (vec![false; source.len()], vec![false; target.len()]);
        for link in sorted {
            let (s, t) = (link.source as usize, link.target as usize);
            if let (Some(f), Some(e)) = (source.get(s), target.get(t)) {
                self.count(f.0, e.0, 1);
                (linked.0[s], linked.1[t]) = (true, true);
            }
        }
        source.iter().zip(linked.0).filter(|(_, linked)| !linked).for_each(|(f, _)| self.count(f.0, NULL, 1));
        target.iter().zip(linked.1).filter(|(_, linked)| !linked).for_each(|(e, _)| self.count(NULL, e.0, 1));
    }

    fn count(&mut self, source: u32, target: u32, times: u64) {
        *self.pairs.entry((source, target)).or_default() += times;
        *self.sources.entry(source).or_default() += times;
        *self.targets.entry(target).or_default() += times;
    }

    /// Takes over the counts of another part of the corpus.
    pub(crate) fn merge(&mut self, other: Self) {
        if self.pairs.is_empty() {
            *self = other;
            return;
        }
        #[allow(clippy::iter_over_hash_type)] // Sums do not depend on the order.
        for ((source, target), times) in other.pairs {
            self.count(source, target, times);
        }
    }

    /// Link counts as lines, sorted.
    pub(crate) fn lines(&self, vocab: &Vocab) -> Vec<String> {
        let text = |id: u32| if id == NULL { "NULL" } else { vocab.text(Symbol(id)) };
        let line = |(&(f, e), times): (&(u32, u32), &u64)| format!("{} {} {times}", text(f), text(e));
        let mut lines: Vec<String> = self.pairs.iter().map(line).collect();
        lines.sort_unstable();
        lines
    }

    /// Reads what [`lines`](Self::lines) gave.
    pub(crate) fn read(reader: &mut TextReader, vocab: &mut Vocab) -> Result<Self> {
        let mut lexicon = Self::default();
        while let Some(line) = reader.next_line()? {
            let mut fields = line.split(' ');
            let (f, e, times) = (fields.next(), fields.next(), fields.next());
            let times = times.filter(|_| fields.next().is_none()).and_then(|text| text.parse::<u64>().ok());
            let (Some(f), Some(e), Some(times)) = (f, e, times) else {
                let found = format!("{line:?}");
                return Err(reader.locate(Fault::new(
                    0,
                    found,
                    "source target count, with NULL for no word",
                )));
            };
            let mut id = |text: &str| if text == "NULL" { NULL } else { vocab.intern(text).0 };
            let (f, e) = (id(f), id(e));
            lexicon.count(f, e, times);
        }
        Ok(lexicon)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    fn pair(&self, source: u32, target: u32) -> f64 {
        self.pairs.get(&(source, target)).copied().unwrap_or(0) as f64
    }

    /// ln lex(target | source) and ln lex(source | target) of a rule.
    pub(crate) fn weights(
        &self,
        source: &[Source],
        target: &[TargetSide],
        links: &[WordLink],
        work: &mut LexWork,
    ) -> (f32, f32) {
        work.source.clear();
        work.source.extend(source.iter().filter_map(|token| match token {
            Source::Word(word) => Some(word.0),
            _ => None,
        }));
        work.target.clear();
        work.target.extend(target.iter().filter_map(|token| match token {
            TargetSide::Word(word) => Some(word.0),
            TargetSide::Var(_) => None,
        }));
        let LexWork { source, target, sums } = work;
        // Means of probabilities, one side after the other.
        let mut side = |length: usize,
                        which: &dyn Fn(&WordLink) -> u32,
                        probability: &dyn Fn(&WordLink) -> f64,
                        alone: &dyn Fn(usize) -> f64| {
            sums.clear();
            sums.resize(length, (0.0, 0u32));
            for link in links {
                if let Some(sum) = sums.get_mut(which(link) as usize) {
                    *sum = (sum.0 + probability(link), sum.1 + 1);
                }
            }
            let each = sums.iter().enumerate().map(|(index, &(sum, count))| {
                let mean = if count == 0 { alone(index) } else { sum / f64::from(count) };
                if mean > 0.0 { libm::log(mean) } else { FLOOR }
            });
            each.sum::<f64>() as f32
        };
        let word = |words: &[u32], index: u32| words.get(index as usize).copied().unwrap_or(NULL);
        let given_source = |f: u32, e: u32| self.pair(f, e) / self.sources.get(&f).map_or(1.0, |&n| n as f64);
        let given_target = |f: u32, e: u32| self.pair(f, e) / self.targets.get(&e).map_or(1.0, |&n| n as f64);
        let ef = side(
            target.len(),
            &|link| link.1,
            &|link| given_source(word(source, link.0), word(target, link.1)),
            &|index| given_source(NULL, target[index]),
        );
        let fe = side(
            source.len(),
            &|link| link.0,
            &|link| given_target(word(source, link.0), word(target, link.1)),
            &|index| given_target(source[index], NULL),
        );
        (ef, fe)
    }
}

/// For words that were never linked: ln of about 2e-9, as in other toolkits.
const FLOOR: f64 = -20.0;

/// Memory to reuse.
#[derive(Debug, Default)]
pub(crate) struct LexWork {
    source: Vec<u32>,
    target: Vec<u32>,
    sums: Vec<(f64, u32)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ne_parle_pas() {
        // One pair, "ne parle pas" / "do not speak", with not linked to ne and pas and do to nothing... as the
        // example has it: ne-not, parle-speak, pas-not, and do with both halves of the negation.
        let mut vocab = Vocab::new();
        let f = vocab.intern_words("ne parle pas");
        let e = vocab.intern_words("not speak");
        let links = [Link::new(0, 0), Link::new(1, 1), Link::new(2, 0)];
        let mut lexicon = Lexicon::default();
        lexicon.add(&f, &e, &links);
        let source: Vec<Source> = f.iter().map(|&word| Source::Word(word)).collect();
        let target: Vec<TargetSide> = e.iter().map(|&word| TargetSide::Word(word)).collect();
        let (ef, fe) = lexicon.weights(&source, &target, &[(0, 0), (1, 1), (2, 0)], &mut LexWork::default());
        assert!((f64::from(ef).exp() - 1.0).abs() < 1e-6, "each source word has one translation");
        assert!((f64::from(fe).exp() - 0.25).abs() < 1e-6, "half of not is ne, half is pas");
    }

    #[test]
    fn words_without_links_go_with_null() {
        let mut vocab = Vocab::new();
        let (f, e) = (vocab.intern_words("a b"), vocab.intern_words("x y y"));
        let mut lexicon = Lexicon::default();
        lexicon.add(&f, &e, &[Link::new(0, 0), Link::new(0, 1), Link::new(0, 1)]);
        // a: x and y once each; b: NULL; NULL: the second y.
        let source = [Source::Word(f[0]), Source::Word(f[1])];
        let target = [TargetSide::Word(e[0]), TargetSide::Var(0), TargetSide::Word(e[1])];
        let (ef, fe) = lexicon.weights(&source, &target, &[(0, 0)], &mut LexWork::default());
        // x from a 1/2; y from NULL 1/1.  a from x 1/1; b from NULL 1/1.
        assert!((f64::from(ef).exp() - 0.5).abs() < 1e-6);
        assert!((f64::from(fe).exp() - 1.0).abs() < 1e-6);
    }
}
