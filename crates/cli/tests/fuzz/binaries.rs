//! Readers of containers: files of every kind and version, with lies in every section.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sylvan::decode::file::ModelFile;
use sylvan::{Input, Model, Request, Worker};
use sylvan_align::{Aligner, Bitext, Preset, ReadConfig};
use sylvan_base::{Silent, Symbol, Vocab};
use sylvan_lm::{CompileConfig, Joiner, LayoutKind, Lm, WordId};
use sylvan_parse::{Parser, Workspace};
use sylvan_rules::apply::{Applier, DefaultRules};
use sylvan_rules::formats::{TextFormat, export};
use sylvan_rules::{Grammar, Weights};
use sylvan_store::{FrozenVocab, Lines, Output, TextReader};

use crate::engine::Target;
use crate::texts::kept;

type Said = Result<String, Box<dyn std::error::Error>>;

/// A target that gets each input as a file.
fn target(
    name: &'static str,
    scratch: &Path,
    files: &[PathBuf],
    run: impl Fn(&Path, &Path) -> Said + 'static,
) -> Target {
    let folder = scratch.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let mut number = 0u64;
    let run = move |input: &[u8]| {
        // A new name each time: some file systems wait for the disk when a file is written over.
        number += 1;
        let path = folder.join(format!("{number}"));
        std::fs::write(&path, input).unwrap();
        let guard = Remove(&path);
        let said = run(&path, &folder.join("out"))
            .map_err(|error| error.to_string().replace(&number.to_string(), ""));
        drop(guard);
        said
    };
    let seeds = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    Target { name, binary: true, turn_in: 8, seeds, run: Box::new(run) }
}

/// Removes a file, after a panic as well.
struct Remove<'p>(&'p Path);

impl Drop for Remove<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.0);
    }
}

fn files(folder: &str, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| kept(folder).join(name)).collect()
}

pub(crate) fn targets(scratch: &Path) -> Vec<Target> {
    let models = files("sylvan/tests/formats", &["model-v1-raw.sylvan", "model-v1.sylvan"]);
    let aligners =
        ["align-ibm1-v1.align", "align-diagonal-v1.align", "align-hmm-v1.align", "align-fertility-v1.align"];
    let parsers = [
        "constituency-v3.parser",
        "constituency-v4.parser",
        "dependency-v3.parser",
        "dependency-paper-v3.parser",
        "tagger-v3.parser",
        "tagger-v4.parser",
    ];
    vec![
        target("vocab", scratch, &files("store/tests/formats", &["vocab-v1.bin"]), vocab),
        target("lines", scratch, &files("store/tests/formats", &["lines-v1.bin"]), lines),
        target(
            "rules",
            scratch,
            &files("rules/tests/formats", &["rules-v1.rules", "rules-exact-v1.rules", "rules-v2.rules"]),
            rules,
        ),
        target("lm", scratch, &language_models(scratch), lm),
        target("parser", scratch, &files("parse/tests/formats", &parsers), parser),
        target("align", scratch, &files("align/tests/formats", &aligners), align),
        Target { turn_in: 32, ..target("model", scratch, &models, model) },
    ]
}

/// Kept ones, and all layouts.
fn language_models(scratch: &Path) -> Vec<PathBuf> {
    let mut all = files("lm/tests/data", &["tiny_hash_v1.lm", "tiny_trie_v1.lm", "tiny_trie_v2.lm"]);
    let lm = Lm::read_arpa(&mut TextReader::open(&kept("lm/tests/data/lm_tiny.arpa")).unwrap()).unwrap();
    for (number, layout) in [LayoutKind::Hash, LayoutKind::Trie, LayoutKind::Trie].into_iter().enumerate() {
        let quantize = (number == 2).then_some(4);
        let path = scratch.join(format!("lm{number}"));
        lm.compile(&path, CompileConfig { layout, quantize, bounds: number < 2 }).unwrap();
        all.push(path);
    }
    all
}

fn vocab(path: &Path, _: &Path) -> Said {
    let vocab = FrozenVocab::open(path)?;
    let known = (0..20).filter(|&id| vocab.text(Symbol(id)).is_some()).count();
    vocab.verify()?;
    Ok(format!("{known} {:?}", vocab.get("cat")))
}

fn lines(path: &Path, _: &Path) -> Said {
    let lines = Lines::open(path)?;
    for line in [0, 1, 255, 256, 599, u64::MAX] {
        lines.get(line)?;
    }
    lines.each(|_| Ok::<(), sylvan_base::InputError>(()))?;
    lines.verify()?;
    Ok(String::new())
}

fn rules(path: &Path, out: &Path) -> Said {
    let grammar = Grammar::open(path)?;
    let mut vocab = grammar.vocab();
    let mut text = Output::create(out)?;
    export(&grammar, &vocab, TextFormat::Travatar, &mut text)?;
    let weights = Weights::of([("p_ef", 1.0), ("lex_ef", 0.5)]);
    let line = "(IP (NP (PN 他)) (VP (VV 看) (AS 了) (NP (NN 选举) (NN 猫))) (PU 。))";
    let tree = sylvan_trees::penn::parse_line(line, Default::default(), &mut vocab)?.ok_or("no tree")?;
    Applier::new(&grammar, &weights, DefaultRules::Missing).forest(&tree, &vocab);
    grammar.verify()?;
    Ok(String::new())
}

fn lm(path: &Path, _: &Path) -> Said {
    let lm = Lm::open(path)?;
    let mut words = ["a", "b", "<s>", "</s>", "zzz"].map(|word| lm.word(word)).to_vec();
    words.push(WordId(u32::MAX));
    let mut joiner = Joiner::new(&lm);
    let mut state = lm.begin();
    for &word in &words {
        state = lm.score(&state, word).1;
        lm.text(word);
        let (score, piece) = lm.piece(&[word, words[0]]);
        joiner.piece(&piece, score);
        lm.upper_bound(&[words[1], word]);
    }
    lm.end(&state);
    lm.arpa_text();
    lm.info();
    lm.verify()?;
    Ok(format!("{}", lm.order()))
}

fn parser(path: &Path, _: &Path) -> Said {
    let parser = Parser::open(path)?;
    let mut workspace = Workspace::new();
    let words = ["a", "man", "(", "sees", ")", "dogs", "."];
    parser.tag(&words, &mut workspace);
    parser.constituents(&words, 4, 2, &mut Vocab::new(), &mut workspace);
    parser.dependencies(&words, 4, None, &mut workspace);
    Ok(format!("{:?}", parser.kind()))
}

fn align(path: &Path, out: &Path) -> Said {
    let model = sylvan_align::Model::open(path)?;
    let mut bitext = Bitext::default();
    let _ = bitext.push("下个月 我 叔叔 和 杰克", "next month my uncle and Jack", ReadConfig::default());
    let aligner = Aligner::apply(&bitext, &model, &Preset::Default.method(8, 1), 1, &Silent)?;
    aligner.posteriors(0)?;
    model.translation("我", "my");
    model.save(out)?;
    Ok(format!("{:?}", model.kind()))
}

fn model(path: &Path, _: &Path) -> Said {
    let file = ModelFile::open(path)?;
    if let Some(lines) = file.training_lines()? {
        for number in [1, 2, lines.len(), u64::MAX] {
            lines.get(number)?;
            lines.kept(number)?;
        }
    }
    let mut worker = Worker::new(Arc::new(Model::open(path)?));
    let mut request = Request::default();
    for (line, input) in [
        ("The dog (bold) sees Anna.", Input::Text),
        ("下个月 我 会 见 我 的 邻居 。", Input::Text),
        ("(IP (NP (PN 他)) (VP (VV 看) (NP (NN 猫))) (PU 。))", Input::Tree),
    ] {
        request.input = input;
        worker.translate(line, &request)?;
    }
    Ok(String::new())
}
