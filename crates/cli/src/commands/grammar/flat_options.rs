//! Options of rules that are learnt from links alone: phrase pairs and Hiero rules.

use clap::Args;
use sylvan_rules::extract::{
    Boundary, FlatRules, GapReordering, HieroConfig, LeftToRight, OrientationModel, PhraseConfig,
};
use sylvan_rules::{Formalism, MapSmoothing, OrientationSmoothing};

/// The kind of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// Tree-to-string rules.
    Tree,
    /// Hiero rules: phrases with up to two variables, without syntax.
    Hiero,
    /// Phrase pairs with orientations.
    Phrase,
    /// Hiero rules that translate from left to right: target words come before variables.
    LrHiero,
}

impl From<Kind> for Formalism {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Tree => Self::Tree,
            Kind::Hiero => Self::Hiero,
            Kind::Phrase => Self::Phrase,
            Kind::LrHiero => Self::LrHiero,
        }
    }
}

/// Refuses options that a kind of rules does not have; each with whether it was given.
pub(crate) fn refuse(kind: Kind, given: &[(&str, bool)]) -> anyhow::Result<()> {
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => anyhow::bail!(
            "{option} cannot be used with --kind {}; leave it out, or choose another kind",
            Formalism::from(kind).as_str()
        ),
    }
}

/// Which flat rules are learnt.
#[derive(Debug, Args)]
pub(crate) struct FlatOptions {
    /// Hiero: the limits of another extractor; single limits can still be changed.
    #[arg(long, value_enum, value_name = "EXTRACTOR", help_heading = "Phrases")]
    like: Option<Extractor>,
    /// Phrase pairs have at most this many source words; Hiero rules are made of them [default: 10, phrases 7].
    #[arg(long, value_name = "N", help_heading = "Phrases", value_parser = clap::value_parser!(u32).range(1..))]
    max_span: Option<u32>,
    /// Phrase pairs have at most this many target words [default: as --max-span].
    #[arg(long, value_name = "N", help_heading = "Phrases", value_parser = clap::value_parser!(u32).range(1..))]
    max_target_span: Option<u32>,
    /// Whether phrases may begin or end with words that have no link [default: loose].
    #[arg(long, value_enum, value_name = "ENDS", help_heading = "Phrases")]
    boundary: Option<Ends>,
    /// Hiero: at most this many words and variables on the source side [default: 5].
    #[arg(long, value_name = "N", help_heading = "Phrases", value_parser = clap::value_parser!(u32).range(1..))]
    max_symbols: Option<u32>,
    /// Hiero: at most this many words and variables on the target side [default: any number].
    #[arg(long, value_name = "N", help_heading = "Phrases", value_parser = clap::value_parser!(u32).range(1..))]
    max_target_symbols: Option<u32>,
    /// Hiero: a variable is put in place of at least this many source words [default: 2].
    #[arg(long, value_name = "N", help_heading = "Phrases", value_parser = clap::value_parser!(u32).range(1..))]
    min_gap: Option<u32>,
    /// Hiero: a variable is put in place of at least this many target words [default: 1].
    #[arg(long, value_name = "N", help_heading = "Phrases", value_parser = clap::value_parser!(u32).range(1..))]
    min_target_gap: Option<u32>,
    /// Hiero: variables may stand next to each other on the source side.
    #[arg(long, help_heading = "Phrases")]
    adjacent: bool,
    /// Hiero: only rules whose target words come before all variables, as left-to-right Hiero has them.
    #[arg(long, help_heading = "Phrases")]
    words_first: bool,
    /// Hiero: also learn rules none of whose words are linked.
    #[arg(long, help_heading = "Phrases")]
    unlinked: bool,
    /// Hiero: count each rule once wherever it stands, instead of sharing out a count of one among the rules made of
    /// one phrase pair.
    #[arg(long, help_heading = "Phrases")]
    whole_counts: bool,
    /// Hiero: count at most this many occurrences of each source side, chosen at random; 0 counts all [default: 0].
    #[arg(long, value_name = "N", help_heading = "Phrases")]
    samples: Option<u32>,
    /// Phrases: what counts as a neighbour when orientations are counted [default: word].
    #[arg(long, value_enum, value_name = "MODEL", help_heading = "Phrases")]
    orientation: Option<Neighbours>,
    /// Phrases: this much is added to the count of each orientation [default: 0.5].
    #[arg(long, value_name = "X", help_heading = "Phrases", value_parser = parse_constant)]
    orientation_smoothing: Option<f64>,
    /// Phrases: of what is added, orientations that are frequent in the whole text get more.
    #[arg(long, help_heading = "Phrases")]
    orientation_global: bool,
    /// Left to right: learn orientations of rules, for this reordering model [default: none].
    #[arg(long, value_enum, value_name = "MODEL", help_heading = "Phrases")]
    reordering: Option<Reordering>,
    /// Left to right: how much the orientations of all rules weigh against those of one [default: 30].
    #[arg(long, value_name = "X", help_heading = "Phrases", value_parser = parse_constant)]
    reordering_prior: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Reordering {
    /// None.
    None,
    /// Seen against the span translated most recently (Siahbani & Sarkar 2017).
    Lrm,
    /// Seen against the rule before, and counted late (Nguyen & Vogel 2013).
    Nvlrm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Extractor {
    /// Chiang (2007): phrases begin and end with linked words and have any number of target words.
    Chiang,
    /// Moses: as here.
    Moses,
    /// cdec: phrases of 15 words that begin and end with linked words, variables for single words too, 300 occurrences of each source side, whole counts.
    Cdec,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Ends {
    /// They may not.
    Tight,
    /// They may.
    Loose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Neighbours {
    /// A linked word.
    Word,
    /// A linked word or a phrase pair of the same limits.
    Phrase,
    /// A linked word or a phrase pair of any length.
    Hier,
    /// The same; the decoder looks at the span translated most recently instead of blocks.
    Recent,
    /// No orientations.
    None,
}

impl FlatOptions {
    /// Each option, and whether it was given, that only Hiero rules have.
    fn hiero_only(&self) -> [(&'static str, bool); 10] {
        [
            ("--like", self.like.is_some()),
            ("--max-symbols", self.max_symbols.is_some()),
            ("--max-target-symbols", self.max_target_symbols.is_some()),
            ("--min-gap", self.min_gap.is_some()),
            ("--min-target-gap", self.min_target_gap.is_some()),
            ("--adjacent", self.adjacent),
            ("--words-first", self.words_first),
            ("--unlinked", self.unlinked),
            ("--whole-counts", self.whole_counts),
            ("--samples", self.samples.is_some()),
        ]
    }

    /// That only rules have that translate from left to right.
    fn left_to_right_only(&self) -> [(&'static str, bool); 2] {
        [("--reordering", self.reordering.is_some()), ("--reordering-prior", self.reordering_prior.is_some())]
    }

    /// That only phrase pairs have.
    fn phrase_only(&self) -> [(&'static str, bool); 3] {
        [
            ("--orientation", self.orientation.is_some()),
            ("--orientation-smoothing", self.orientation_smoothing.is_some()),
            ("--orientation-global", self.orientation_global),
        ]
    }

    /// Refuses what rules of trees do not have.
    pub(crate) fn refuse_for_trees(&self) -> anyhow::Result<()> {
        let both = [
            ("--max-span", self.max_span.is_some()),
            ("--max-target-span", self.max_target_span.is_some()),
            ("--boundary", self.boundary.is_some()),
        ];
        refuse(
            Kind::Tree,
            &[&both[..], &self.hiero_only()[..], &self.phrase_only()[..], &self.left_to_right_only()[..]]
                .concat(),
        )
    }

    fn boundary(&self) -> Option<Boundary> {
        self.boundary.map(|ends| match ends {
            Ends::Tight => Boundary::Tight,
            Ends::Loose => Boundary::Loose,
        })
    }

    /// Phrase pairs.
    pub(crate) fn phrase(&self) -> anyhow::Result<FlatRules> {
        refuse(Kind::Phrase, &[&self.hiero_only()[..], &self.left_to_right_only()[..]].concat())?;
        let base = PhraseConfig::default();
        let length = self.max_span.unwrap_or(base.length);
        let orientation = match self.orientation {
            None => base.orientation,
            Some(Neighbours::Word) => Some(OrientationModel::Word),
            Some(Neighbours::Phrase) => Some(OrientationModel::Phrase),
            Some(Neighbours::Hier) => Some(OrientationModel::Hier),
            Some(Neighbours::Recent) => Some(OrientationModel::Recent),
            Some(Neighbours::None) => None,
        };
        if orientation.is_none() {
            let given = &self.phrase_only()[1..];
            if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
                anyhow::bail!("{option} says how orientations are smoothed, and --orientation none has none");
            }
        }
        Ok(FlatRules::Phrase(PhraseConfig {
            length,
            target_length: self.max_target_span.unwrap_or(length),
            boundary: self.boundary().unwrap_or(base.boundary),
            orientation,
        }))
    }

    /// Hiero rules.
    pub(crate) fn hiero(&self, kind: Kind, variables: Option<u32>) -> anyhow::Result<FlatRules> {
        refuse(kind, &self.phrase_only())?;
        if kind != Kind::LrHiero {
            refuse(kind, &self.left_to_right_only())?;
        }
        let base = match self.like {
            None if kind == Kind::LrHiero => HieroConfig::left_to_right(),
            None => HieroConfig::default(),
            Some(Extractor::Chiang) => HieroConfig::chiang(),
            Some(Extractor::Moses) => HieroConfig::moses(),
            Some(Extractor::Cdec) => HieroConfig::cdec(),
        };
        let config = HieroConfig {
            span: self.max_span.unwrap_or(base.span),
            // One limit serves both sides unless the two are told apart.
            target_span: self.max_target_span.or(self.max_span).unwrap_or(base.target_span),
            symbols: self.max_symbols.unwrap_or(base.symbols),
            target_symbols: self.max_target_symbols.unwrap_or(base.target_symbols),
            variables: variables.unwrap_or(base.variables),
            gap: self.min_gap.unwrap_or(base.gap),
            target_gap: self.min_target_gap.unwrap_or(base.target_gap),
            adjacent: self.adjacent || base.adjacent,
            words_first: self.words_first || base.words_first,
            unlinked: self.unlinked || base.unlinked,
            boundary: self.boundary().unwrap_or(base.boundary),
            whole_counts: self.whole_counts || base.whole_counts,
            samples: self.samples.unwrap_or(base.samples),
        };
        if kind != Kind::LrHiero {
            return Ok(FlatRules::Hiero(config));
        }
        let reordering = match self.reordering {
            None | Some(Reordering::None) => None,
            Some(Reordering::Lrm) => Some(GapReordering::Lrm),
            Some(Reordering::Nvlrm) => Some(GapReordering::Nvlrm),
        };
        anyhow::ensure!(
            reordering.is_some() || self.reordering_prior.is_none(),
            "--reordering-prior says how orientations are smoothed, and there are none without --reordering lrm or nvlrm"
        );
        Ok(FlatRules::LeftToRight(LeftToRight { rules: config, reordering }))
    }

    /// Smoothing of the orientations of rules with gaps.
    pub(crate) fn map_smoothing(&self) -> MapSmoothing {
        self.reordering_prior.map_or_else(MapSmoothing::default, MapSmoothing::of)
    }

    pub(crate) fn smoothing(&self) -> OrientationSmoothing {
        let base = OrientationSmoothing::default();
        OrientationSmoothing {
            constant: self.orientation_smoothing.unwrap_or(base.constant),
            global: self.orientation_global,
        }
    }
}

fn parse_constant(text: &str) -> Result<f64, String> {
    let constant = text.parse::<f64>().ok().filter(|constant| constant.is_finite() && *constant >= 0.0);
    constant.ok_or_else(|| "expected a number from 0 up".to_string())
}
