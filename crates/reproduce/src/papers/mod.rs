//! The papers, one file each.

mod additions;
mod cross;
mod curve;
mod feng_2012;
mod gesmundo_2011;
mod huang_mi_2010;
mod networks;
mod rows;
mod siahbani_2017;
mod yu_2014;

use sylvan_decode::{Error, Result};

use crate::corpora::Corpus;
use crate::lab::Lab;
use crate::report::Report;

/// A paper that can be run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paper {
    /// Incremental decoding: Huang & Mi 2010.
    HuangMi2010,
    /// Prediction with viable prefixes: Feng, Liu, Liu & Cohn 2012.
    Feng2012,
    /// A structured language model inside the decoder: Yu, Mi, Huang & Liu 2014.
    StructuredLm,
    /// Undirected decoding: Gesmundo & Henderson 2011.
    Undirected,
    /// Left-to-right Hiero with a reordering model: Siahbani & Sarkar 2017.
    LrHiero,
    /// No paper: every search on every forest.
    Cross,
    /// No paper: words never seen, word classes, consensus.
    Additions,
    /// No paper: networks.
    Networks,
    /// No paper: how much text, with a network and without.
    Curve,
}

impl Paper {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::HuangMi2010,
        Self::Feng2012,
        Self::StructuredLm,
        Self::Undirected,
        Self::LrHiero,
        Self::Cross,
        Self::Additions,
        Self::Networks,
        Self::Curve,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::HuangMi2010 => huang_mi_2010::NAME,
            Self::Feng2012 => feng_2012::NAME,
            Self::StructuredLm => yu_2014::NAME,
            Self::Undirected => gesmundo_2011::NAME,
            Self::LrHiero => siahbani_2017::NAME,
            Self::Cross => cross::NAME,
            Self::Additions => additions::ADDITIONS.name,
            Self::Networks => networks::NETWORKS.name,
            Self::Curve => curve::NAME,
        }
    }

    /// The corpora that it is run on.
    fn corpora(self) -> &'static [Corpus] {
        match self {
            Self::HuangMi2010 | Self::Feng2012 => &[Corpus::EnJa, Corpus::ZhEn],
            Self::StructuredLm => &[Corpus::ZhEn, Corpus::DeEn, Corpus::FrEn],
            Self::Undirected | Self::LrHiero => &[Corpus::ZhEn, Corpus::DeEn, Corpus::CsEn, Corpus::Europarl],
            Self::Cross => &[Corpus::EnJa, Corpus::ZhEn, Corpus::DeEn],
            Self::Additions | Self::Networks => &[Corpus::EnJa, Corpus::EnDe, Corpus::DeEn],
            Self::Curve => &[Corpus::EnJa, Corpus::DeEn],
        }
    }

    /// The names of the corpora that it is run on.
    pub fn corpus_names(self) -> impl Iterator<Item = &'static str> {
        self.corpora().iter().map(|corpus| corpus.name())
    }

    /// What its reports may be called: on all of its corpora, or on some of them.
    pub(crate) fn report_names(self) -> Vec<String> {
        let mut names = vec![self.name().to_string()];
        let corpora: Vec<&str> = self.corpus_names().collect();
        for some in 1..(1_usize << corpora.len()) - 1 {
            let chosen = corpora.iter().enumerate().filter(|(at, _)| some >> at & 1 == 1);
            names.push(chosen.fold(self.name().to_string(), |name, (_, corpus)| format!("{name}-{corpus}")));
        }
        names
    }

    /// Those of its corpora that were asked for; all if none was.
    fn wanted(self, names: &[String]) -> Result<Vec<Corpus>> {
        let known = |name: &&String| !self.corpus_names().any(|known| known == name.as_str());
        if let Some(other) = names.iter().find(known) {
            let expected = self.corpus_names().collect::<Vec<_>>().join(", ");
            return Err(Error::setting(format!("a corpus of {}", self.name()), other, expected));
        }
        let is_wanted = |corpus: &Corpus| names.is_empty() || names.iter().any(|name| name == corpus.name());
        Ok(self.corpora().iter().copied().filter(is_wanted).collect())
    }

    /// On the built-in corpus, or on corpora with these names, or on all.
    pub(crate) fn run(self, lab: &Lab<'_>, names: &[String]) -> Result<Report> {
        let corpora = if lab.data.is_none() { vec![Corpus::Sample] } else { self.wanted(names)? };
        lab.fingerprint.set(0);
        let mut report = match self {
            Self::HuangMi2010 => huang_mi_2010::run(lab, &corpora),
            Self::Feng2012 => feng_2012::run(lab, &corpora),
            Self::StructuredLm => yu_2014::run(lab, &corpora),
            Self::Undirected => gesmundo_2011::run(lab, &corpora),
            Self::LrHiero => siahbani_2017::run(lab, &corpora),
            Self::Cross => cross::run(lab, &corpora),
            Self::Additions => additions::ADDITIONS.run(lab, &corpora),
            Self::Networks => networks::NETWORKS.run(lab, &corpora),
            Self::Curve => curve::run(lab, &corpora),
        }?;
        if lab.data.is_some() && corpora.len() < self.corpora().len() {
            report.limit_to(&corpora.iter().map(|corpus| corpus.name()).collect::<Vec<_>>());
        }
        report.fingerprint = lab.fingerprint.get();
        Ok(report)
    }
}

/// What was found on each corpus, in one cell.
fn joined(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpora::SampleSizes;
    use crate::report::Verdict;
    use std::path::Path;
    use sylvan_base::Silent;

    fn lab(folder: &Path, train: usize, threads: usize) -> Lab<'static> {
        let sizes = SampleSizes { train, dev: train / 20, test: train / 20 };
        Lab { sizes, ..Lab::new(None, folder.join("work"), threads, &Silent, &|_| {}) }
    }

    /// A paper on a corpus so small that little can be claimed: all of its figures are there and are numbers, and so are the
    /// claims that hold even here.
    fn smoke(paper: Paper, train: usize, holds: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let lab = lab(folder.path(), train, 2);
        let report = paper.run(&lab, &[]).unwrap();
        for item in holds {
            let claim = report.claims.iter().find(|claim| claim.claim.contains(item));
            let claim = claim.unwrap_or_else(|| panic!("no claim about {item}"));
            assert_eq!(claim.verdict, Verdict::Held, "{}: {}", claim.claim, claim.found);
        }
        report.write(folder.path()).unwrap();
        let text = std::fs::read_to_string(folder.path().join(format!("{}.md", paper.name()))).unwrap();
        assert!(!text.contains("NaN"), "{text}");
        // What was made is read again, and says the same.
        let again = paper.run(&lab, &[]).unwrap();
        assert!(report == again, "not the same the second time");
    }

    #[test]
    fn what_is_found_does_not_depend_on_threads_or_on_earlier_runs() {
        let found = |threads| {
            let folder = tempfile::tempdir().unwrap();
            Paper::Feng2012.run(&lab(folder.path(), 400, threads), &[]).unwrap().fingerprint
        };
        assert_eq!(found(1), found(3));
    }

    #[test]
    fn weights_of_an_earlier_run_are_taken_and_give_the_same() {
        let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let one = lab(first.path(), 120, 2);
        let found = Paper::Cross.run(&one, &[]).unwrap();
        let known = one.used.borrow().clone();
        assert!(known.len() > 20, "{}", known.len());
        let two = Lab {
            given: known.clone(),
            say: &|line| assert!(!line.starts_with("tuning"), "{line}"),
            ..lab(second.path(), 120, 1)
        };
        assert_eq!(Paper::Cross.run(&two, &[]).unwrap().fingerprint, found.fingerprint);
        assert_eq!(*two.used.borrow(), known);
        // Others are taken as well, and give something else.
        let other = known.into_iter().map(|(key, mut tuned)| {
            tuned.values.iter_mut().for_each(|value| value.push('9'));
            (key, tuned)
        });
        let third = tempfile::tempdir().unwrap();
        let three = Lab { given: other.collect(), ..lab(third.path(), 120, 2) };
        assert_ne!(Paper::Cross.run(&three, &[]).unwrap().fingerprint, found.fingerprint);
    }

    #[test]
    fn corpora_are_those_that_were_asked_for() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(Paper::Cross.wanted(&[]).unwrap(), [Corpus::EnJa, Corpus::ZhEn, Corpus::DeEn]);
        // In the paper's order.
        let some = Paper::Cross.wanted(&names(&["deen", "enja"])).unwrap();
        assert_eq!(some, [Corpus::EnJa, Corpus::DeEn]);
        let error = Paper::Cross.wanted(&names(&["deen", "fren"])).unwrap_err().to_string();
        assert!(error.contains("fren") && error.contains("enja, zhen, deen"), "{error}");
    }

    #[test]
    fn a_report_on_some_corpora_is_called_after_them() {
        let names = Paper::Cross.report_names();
        let expected = ["cross", "cross-enja", "cross-zhen", "cross-enja-zhen", "cross-deen"];
        assert_eq!((&names[..5], names.len()), (&expected.map(String::from)[..], 7));
        assert_eq!(Paper::Undirected.report_names().len(), 15);
    }

    #[test]
    fn huang_mi_2010_on_a_small_corpus() {
        smoke(Paper::HuangMi2010, 400, &["grows with the logarithm"]);
    }

    #[test]
    fn feng_2012_on_a_small_corpus() {
        smoke(Paper::Feng2012, 400, &["future cost is essential"]);
    }

    #[test]
    fn structured_lm_on_a_small_corpus() {
        smoke(Paper::StructuredLm, 120, &[]);
    }

    #[test]
    fn undirected_on_a_small_corpus() {
        smoke(Paper::Undirected, 400, &["scoring all combinations"]);
    }

    #[test]
    fn cross_on_a_small_corpus() {
        smoke(Paper::Cross, 120, &[]);
    }

    #[test]
    fn additions_on_a_small_corpus() {
        smoke(Paper::Additions, 120, &[]);
    }

    #[test]
    fn networks_on_a_small_corpus() {
        smoke(Paper::Networks, 120, &[]);
    }

    #[test]
    fn curve_on_a_small_corpus() {
        smoke(Paper::Curve, 160, &[]);
    }

    #[test]
    fn lr_hiero_on_a_small_corpus() {
        smoke(Paper::LrHiero, 400, &["two times fewer calls", "less of a surprise"]);
    }
}
