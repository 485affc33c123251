//! `sylvan train`: from parallel text to one model file.

use std::path::PathBuf;

use clap::Args;
use sylvan::{Config, Outcome, train};

use super::grammar::parse_size;
use crate::outputs::OutPath;
use crate::progress::Terminal;
use crate::threads::Threads;

/// Trains a model from parallel text.
///
/// One command does everything: it splits the text into words, checks it, parses the source side, links
/// words, learns rules and a language model, tunes the weights, measures, and writes one file for
/// `sylvan translate`. Inputs are checked before long work begins. Intermediate results are kept in
/// MODEL.work: an interrupted run continues where it was, and a run with other settings redoes what depends
/// on them. Neither interruptions, nor threads, nor memory change the model.
///
/// A report is left in MODEL.work: report.html, and the same as report.md.
#[derive(Debug, Args)]
#[command(
    override_usage = "sylvan train --source FILE --target FILE --source-lang L --target-lang L --treebank FILE --out MODEL [OPTIONS]\n       \
    sylvan train CONFIG.toml [OPTIONS]"
)]
#[command(after_help = "Examples:\n  \
    sylvan train --source train.en --target train.de --dev-source dev.en --dev-target dev.de \\\n    \
    --source-lang en --target-lang de --treebank en.mrg --out ende.sylvan\n  \
    sylvan train --tokenized --source train.en --target train.ja --trees train.en.tree --dev-source dev.en \\\n    \
    --dev-target dev.ja --dev-trees dev.en.tree --source-lang en --target-lang ja --holdout 1000 --out enja.sylvan\n  \
    sylvan train enja.toml\n\nTrees: rules are learnt from trees of the source language. A parser is trained from any treebank of it \
    (--treebank; CoNLL-U treebanks of over a hundred languages are at universaldependencies.org), or given (--parser, made by \
    `sylvan parser train`); or the trees are given (--trees, --dev-trees).\n\nA configuration file has the same names: source = \"train.en\", tokenized = true, .. \
    Options on the command line win over it.")]
pub(crate) struct Train {
    /// A configuration file (TOML); its paths are relative to it.
    #[arg(value_name = "CONFIG.toml")]
    config: Option<PathBuf>,
    /// Source text, one sentence per line [required].
    #[arg(long, value_name = "FILE", help_heading = "Texts")]
    source: Option<PathBuf>,
    /// Its translation, line by line [required].
    #[arg(long, value_name = "FILE", help_heading = "Texts")]
    target: Option<PathBuf>,
    /// Source text to tune on [default: one in twenty pairs of the training text, at most 500].
    #[arg(long, value_name = "FILE", help_heading = "Texts")]
    dev_source: Option<PathBuf>,
    /// Its translation.
    #[arg(long, value_name = "FILE", help_heading = "Texts")]
    dev_target: Option<PathBuf>,
    /// The source language [required]: en, de, fr, cs, zh, ja or any other two-letter code.
    #[arg(long, value_name = "L", help_heading = "Texts")]
    source_lang: Option<String>,
    /// The target language [required].
    #[arg(long, value_name = "L", help_heading = "Texts")]
    target_lang: Option<String>,
    /// Texts are already tokenised, and translations are to be.
    #[arg(long, help_heading = "Texts")]
    tokenized: bool,
    /// Do not train on the last N pairs, but measure on them at the end [default: one in twenty, at most 500; 0 of fewer
    /// than 1,000 pairs].
    #[arg(long, value_name = "N", help_heading = "Texts")]
    holdout: Option<u64>,
    /// More target text for the language model, tokenised; repeat the option for several files.
    #[arg(long, value_name = "FILE", help_heading = "Texts")]
    lm_text: Vec<PathBuf>,
    /// A licence of the data, recorded in the model; repeat the option for several.
    #[arg(long, value_name = "TEXT", help_heading = "Texts")]
    licence: Vec<String>,
    /// Do not keep the training text in the model: it is smaller, and `sylvan explain` shows no training lines.
    #[arg(long, help_heading = "Texts")]
    no_lines: bool,
    /// What rules are learnt: tree, or from the texts alone hiero (rules with gaps), lr-hiero (rules with gaps that
    /// translate from left to right) or phrase (phrase pairs that are put in any order) [default: tree if there are trees or a way to make them, else hiero].
    #[arg(long, value_name = "KIND", help_heading = "Syntax and links")]
    kind: Option<String>,
    /// Trees to train a parser from, for rules with syntax: Penn brackets, CoNLL-U (any language of
    /// universaldependencies.org) or Egret forests.
    #[arg(long, value_name = "FILE", help_heading = "Syntax and links")]
    treebank: Option<PathBuf>,
    /// A constituency parser, made by `sylvan parser train`.
    #[arg(long, value_name = "MODEL", help_heading = "Syntax and links")]
    parser: Option<PathBuf>,
    /// Trees of the source text; with a parser as well, that is for translating.
    #[arg(long, value_name = "FILE", help_heading = "Syntax and links")]
    trees: Option<PathBuf>,
    /// Trees of the source text to tune on.
    #[arg(long, value_name = "FILE", help_heading = "Syntax and links")]
    dev_trees: Option<PathBuf>,
    /// Word links of the training text: 0-0 1-2, from 0.
    #[arg(long, value_name = "FILE", help_heading = "Syntax and links")]
    align: Option<PathBuf>,
    /// A dependency parser of the target language, made by `sylvan parser train`: translations are also scored by the
    /// dependency trees of their words.
    #[arg(long, value_name = "PARSER", help_heading = "Syntax and links")]
    structured_lm: Option<PathBuf>,
    /// With --structured-lm: generative (probabilities, learnt from the parser's trees of the target text) or perceptron
    /// (the parser's own scores; it must look at most one word ahead) [default: generative].
    #[arg(long, value_name = "KIND", help_heading = "Syntax and links")]
    structured_kind: Option<String>,
    /// Train a network as well, which reads the whole source sentence and scores whole translations. It takes by far the
    /// most time of all stages: an hour or two for 50,000 short sentences.
    #[arg(long, help_heading = "Syntax and links")]
    neural: bool,
    /// With --neural: passes through the text, at most; by default as many as show it two million pairs, 10 to 200.
    #[arg(long, value_name = "N", help_heading = "Syntax and links")]
    neural_epochs: Option<u32>,
    /// With --neural: numbers between its layers; half as many take about a third of the time [default: 256].
    #[arg(long, value_name = "N", help_heading = "Syntax and links")]
    neural_width: Option<usize>,
    /// What becomes of words that no rule translates: related (translated as words like them and as their parts are, or
    /// copied) or copied [default: related].
    #[arg(long, value_name = "NAME", help_heading = "Methods")]
    unseen: Option<String>,
    /// Where the model goes [required].
    #[arg(long, value_name = "MODEL")]
    out: Option<OutPath>,
    #[command(flatten)]
    threads: Threads,
    /// Memory for sorting, such as 512M or 2G [default: 1G].
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<usize>,
    /// How much time alignment takes: fast, default or best [default: best].
    #[arg(long, value_name = "PRESET", help_heading = "Methods")]
    align_preset: Option<String>,
    /// How both directions of links become one: see `sylvan align train --help`. Several ways between commas make as many
    /// sets of links, and rules are learnt from each [default: mean].
    #[arg(long, value_name = "HEURISTIC", help_heading = "Methods")]
    symmetrize: Option<String>,
    /// At most this many minimal rules per rule [default: 6].
    #[arg(long, value_name = "N", help_heading = "Methods")]
    compose: Option<u32>,
    /// Smoothing of rule probabilities: none, good-turing or kneser-ney [default: none; good-turing for rules with
    /// gaps].
    #[arg(long, value_name = "NAME", help_heading = "Methods")]
    smoothing: Option<String>,
    /// Leave out rules seen less often; counts of rules with gaps are shares, below 1 for those of long phrases [default:
    /// 0; 0.2 for rules with gaps from 100,000 pairs].
    #[arg(long, value_name = "COUNT", help_heading = "Methods")]
    min_count: Option<f64>,
    /// Kind phrase: what counts as a neighbour when orders are learnt: word, phrase, hier, recent or none [default: hier].
    #[arg(long, value_name = "MODEL", help_heading = "Methods")]
    orientation: Option<String>,
    /// Kind lr-hiero: what the order of rules is learnt with: lrm (seen against the span translated most recently), nvlrm
    /// (against the rule before) or none [default: lrm].
    #[arg(long, value_name = "MODEL", help_heading = "Methods")]
    reordering: Option<String>,
    /// Whether rules have features that mark rare and lexical ones: true or false [default: true].
    #[arg(long, value_name = "BOOL", help_heading = "Methods")]
    evidence: Option<bool>,
    /// Binarisation of trees: none, left or right [default: right].
    #[arg(long, value_name = "SIDE", help_heading = "Methods")]
    binarize: Option<String>,
    /// The length of the language model's longest n-grams [default: 5].
    #[arg(long, value_name = "N", help_heading = "Methods")]
    lm_order: Option<usize>,
    /// A second language model, of N classes of words that stand in the same places; 0 for none [default: 0].
    #[arg(long, value_name = "N", help_heading = "Methods")]
    lm_classes: Option<usize>,
    /// What tuning optimises: bleu, ter, chrf, ribes or a mixture such as bleu:2,ribes:1 [default: bleu].
    #[arg(long, value_name = "METRIC", help_heading = "Methods")]
    metric: Option<String>,
    /// How weights are tuned: mert, forest-mert or mira (see `sylvan tune --help`) [default: mert for kind tree, else mira].
    #[arg(long, value_name = "NAME", help_heading = "Methods")]
    tuner: Option<String>,
    /// At most this many rounds of tuning [default: 10].
    #[arg(long, value_name = "N", help_heading = "Methods")]
    rounds: Option<usize>,
    /// Translations per sentence and round of tuning [default: 100].
    #[arg(long, value_name = "K", help_heading = "Methods")]
    nbest: Option<usize>,
    /// Tune on N more pairs, spread over the training text, with rules and n-gram models learnt without them; those of the
    /// model are learnt from all pairs. Tuning takes longer, and weights fit the text better [default: 0].
    #[arg(long, value_name = "N", help_heading = "Methods")]
    tune_more: Option<usize>,
    /// How wide the search of tuning and measuring is [default: 500].
    #[arg(long, value_name = "N", help_heading = "Methods")]
    beam: Option<usize>,
    /// States that the parser keeps per step; fewer are faster [default: 16].
    #[arg(long, value_name = "N", help_heading = "Methods")]
    parser_beam: Option<usize>,
    /// At most this many passes of parser training [default: 6].
    #[arg(long, value_name = "N", help_heading = "Methods")]
    parser_epochs: Option<usize>,
    /// The seed of random numbers [default: 1].
    #[arg(long, value_name = "S", help_heading = "Methods")]
    seed: Option<u64>,
}

impl Train {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let config = self.config()?;
        let progress = Terminal::default();
        crate::interrupt::advise(format!(
            "run the same command again to go on; what is done is kept in {}",
            config.work_folder().display()
        ));
        let Outcome { verdict, work, .. } = train(&config, &progress, &mut say)?;
        verdict.iter().for_each(|line| say(line));
        say(&format!("{} is ready; work files are in {}", config.out.display(), work.display()));
        Ok(())
    }

    /// The file's settings, overridden by those of the command line.
    fn config(self) -> anyhow::Result<Config> {
        let mut config = self.config.as_deref().map(Config::open).transpose()?.unwrap_or_default();
        macro_rules! over {
            ($($name:ident),*) => { $(if let Some(value) = self.$name { config.$name = value.into(); })* };
        }
        over!(
            source,
            target,
            dev_source,
            dev_target,
            source_lang,
            target_lang,
            kind,
            out,
            memory,
            align_preset,
            symmetrize,
            compose,
            smoothing,
            orientation,
            reordering,
            structured_kind,
            evidence,
            binarize,
            lm_order,
            lm_classes,
            metric,
            tuner,
            rounds,
            nbest,
            tune_more,
            beam,
            parser_beam,
            parser_epochs,
            seed,
            unseen,
            neural_width
        );
        macro_rules! over_optional {
            ($($name:ident),*) => { $(config.$name = self.$name.or(config.$name);)* };
        }
        over_optional!(
            treebank,
            parser,
            trees,
            dev_trees,
            align,
            structured_lm,
            holdout,
            min_count,
            neural_epochs
        );
        config.threads = self.threads.asked().unwrap_or(config.threads);
        config.tokenized |= self.tokenized;
        config.neural |= self.neural;
        config.lines &= !self.no_lines;
        config.lm_text.extend(self.lm_text);
        config.licence.extend(self.licence);
        Ok(config)
    }
}

/// Progress goes to standard error.
#[allow(clippy::print_stderr)]
fn say(line: &str) {
    eprintln!("{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the help says is what happens.
    #[test]
    fn the_help_tells_the_defaults_of_training() {
        let command = Train::augment_args(clap::Command::new("train"));
        let config = serde_json::to_value(Config::default()).unwrap();
        let mut told = 0;
        for arg in command.get_arguments() {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let Some((_, shown)) = help.rsplit_once("[default: ") else { continue };
            let shown = shown.trim_end_matches(['.', ']']);
            let value = &config[arg.get_long().unwrap_or_default()];
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            match arg.get_long() {
                Some("memory") => assert_eq!(parse_size(shown).unwrap().to_string(), value),
                Some("holdout" | "dev-source" | "kind" | "tuner" | "smoothing" | "min-count") => continue,
                _ => assert_eq!(shown, value, "{:?}", arg.get_long()),
            }
            told += 1;
        }
        assert_eq!(told, 21);
    }
}
