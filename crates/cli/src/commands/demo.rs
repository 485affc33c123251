//! `sylvan demo`: the whole line, from a built-in corpus to scored translations, without any data or network.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use sylvan::{Model, Search, Trainer, TrainerConfig, Translator};
use sylvan_base::{HashSet, InputError, Progress, Result};
use sylvan_corpus::{Alignment, Base};
use sylvan_eval::{Bleu, Tokenizer};
use sylvan_sample::{Config, Sampler, Workspace};
use sylvan_search::{Beam, Cube, Future, Prediction};
use sylvan_store::Output;

use crate::progress::Terminal;

/// Runs the whole pipeline on the built-in corpus: learn, translate, score, explain.
///
/// The corpus is made on the spot by a synchronous grammar (see `sylvan sample`). Test sentences do not occur in
/// training. The oracle knows every choice that can be predicted from the source; what it misses is chance.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan demo --out demo-output")]
pub(crate) struct Demo {
    /// Also write the test set, the translations and their derivations to this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How many sentence pairs to learn from.
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pairs: u64,
    /// How many sentences to translate.
    #[arg(long, value_name = "N", default_value_t = 500)]
    test: usize,
    /// Which corpus.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// Huang & Mi's sentence, as the sample grammar writes it.
const BUSH: &str =
    "(IP (NP (NR 布什)) (VP (PP (P 与) (NP (NR 沙龙))) (VP (VV 举行) (AS 了) (NP (NN 会谈)))) (PU 。))";

/// Wide enough that both searches come near the best score that the model has.
const BEAM: Beam = Beam(100);

struct TestPair {
    tree: String,
    source: String,
    reference: String,
    oracle: String,
}

impl Demo {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        anyhow::ensure!(self.pairs > 0 && self.test > 0, "--pairs and --test: expected at least 1");
        let progress = Terminal::default();
        let mut out = Output::create(Path::new("-"))?;
        let started = Instant::now();
        let sampler = Sampler::new(Config { seed: self.seed, ..Config::default() })?;
        let (mut model, seen) = self.learn(&sampler, &progress)?;
        out.line(&format!(
            "learnt {} rules and a {}-gram model from {} sentence pairs in {:.1} s",
            model.grammar.len(),
            model.lm.order(),
            self.pairs,
            started.elapsed().as_secs_f64()
        ))?;
        let tests = self.unseen(&sampler, &seen);
        let trees = tests
            .iter()
            .map(|pair| {
                model.read_tree(&pair.tree).map(|tree| tree.expect("the generator makes no empty trees"))
            })
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|fault| fault.at("sample corpus", 0))?;
        let bush = model.read_tree(BUSH).map_err(|fault| fault.at("demo sentence", 1))?.expect("a tree");
        let translator = Translator::new(&model);

        out.line(&format!("\n{} unseen test sentences, beam {}:", tests.len(), BEAM.0))?;
        let references = vec![tests.iter().map(|pair| pair.reference.as_str()).collect::<Vec<_>>()];
        let bleu = Bleu { tokenizer: Tokenizer::None, ..Bleu::default() };
        let mut translations = Vec::new();
        for (name, search) in [
            ("cube pruning", Search::CubePruning(Cube::new(BEAM))),
            ("prediction", Search::Prediction(BEAM.into(), Prediction::default())),
            ("incremental", Search::Incremental(BEAM.into(), Future::Inside)),
        ] {
            progress.begin(name, Some(trees.len() as u64));
            let started = Instant::now();
            let (mut queries, mut model_score) = (0, 0.0);
            translations.clear();
            for (index, tree) in trees.iter().enumerate() {
                let found = translator.translate(tree, search);
                queries += found.counters.lm_queries;
                model_score += found.score;
                translations.push(found);
                progress.at(index as u64 + 1);
            }
            let per_sentence = 1.0 / trees.len() as f64;
            let time = started.elapsed().as_secs_f64() * per_sentence * 1000.0;
            progress.end();
            let texts: Vec<String> = translations.iter().map(|found| found.text(&model.vocab)).collect();
            let score = bleu.corpus(&texts, &references)?.score;
            let (queries, model_score) = (queries as f64 * per_sentence, model_score * per_sentence);
            out.line(&format!(
                "  {name:<14} BLEU {score:5.1}   model score {model_score:.3}   {time:.2} ms and {queries:.0} \
                 language-model look-ups per sentence"
            ))?;
        }
        let oracle: Vec<&str> = tests.iter().map(|pair| pair.oracle.as_str()).collect();
        let score = bleu.corpus(&oracle, &references)?.score;
        out.line(&format!(
            "  {:<14} BLEU {score:5.1}   (an oracle that knows every predictable choice)",
            "oracle"
        ))?;

        out.line("\nsome translations:")?;
        for (pair, found) in tests.iter().zip(&translations).take(5) {
            out.line(&format!("  source     {}", pair.source))?;
            out.line(&format!("  sylvan     {}", found.text(&model.vocab)))?;
            out.line(&format!("  reference  {}\n", pair.reference))?;
        }
        let found = translator.translate(&bush, Search::default());
        out.line(&format!("why? {}\n{}", model.vocab.join(bush.words()), translator.show(&found)))?;
        out.line(&format!("=> {}   (model score {:.3})", found.text(&model.vocab), found.score))?;
        if let Some(folder) = &self.out {
            std::fs::create_dir_all(folder).map_err(InputError::io(folder, "create"))?;
            write(&folder.join("test.zh"), tests.iter().map(|pair| pair.source.clone()))?;
            write(&folder.join("test.tree"), tests.iter().map(|pair| pair.tree.clone()))?;
            write(&folder.join("test.en"), tests.iter().map(|pair| pair.reference.clone()))?;
            write(&folder.join("oracle.en"), tests.iter().map(|pair| pair.oracle.clone()))?;
            write(&folder.join("output.en"), translations.iter().map(|found| found.text(&model.vocab)))?;
            write(
                &folder.join("output.derivations"),
                translations.iter().map(|found| translator.show(found)),
            )?;
            out.line(&format!("\nwritten to {}", folder.display()))?;
        }
        Ok(out.finish()?)
    }

    /// Learns from the first pairs; also returns their sources.
    fn learn(&self, sampler: &Sampler, progress: &dyn Progress) -> anyhow::Result<(Model, HashSet<String>)> {
        let mut trainer = Trainer::new(TrainerConfig::default())?;
        let mut seen = HashSet::default();
        let mut workspace = Workspace::new();
        progress.begin("learning", Some(self.pairs));
        for index in 0..self.pairs {
            let mut pair = sampler.pair(index, &mut workspace);
            let links = Alignment::parse(&pair.alignment(), Base::Zero)
                .map_err(|fault| fault.at("sample corpus", index + 1))?;
            trainer.add(&pair.source_tree(), &pair.target(), links.sure())?;
            seen.insert(pair.source());
            if index % 256 == 0 {
                progress.at(index);
            }
        }
        progress.end();
        Ok((trainer.finish()?, seen))
    }

    /// The pairs after the training pairs whose source was not seen.
    fn unseen(&self, sampler: &Sampler, seen: &HashSet<String>) -> Vec<TestPair> {
        let mut tests = Vec::new();
        let mut workspace = Workspace::new();
        // A closed grammar could run dry for odd settings: look at a bounded number of candidates.
        for index in self.pairs..self.pairs + 20 * self.test as u64 + 1000 {
            let mut pair = sampler.pair(index, &mut workspace);
            let source = pair.source();
            if !seen.contains(&source) {
                tests.push(TestPair {
                    tree: pair.source_tree(),
                    source,
                    reference: pair.target(),
                    oracle: pair.oracle(),
                });
                if tests.len() == self.test {
                    break;
                }
            }
        }
        tests
    }
}

fn write(path: &Path, lines: impl Iterator<Item = String>) -> Result<()> {
    let mut file = Output::create(path)?;
    for line in lines {
        file.line(&line)?;
    }
    file.finish()
}
