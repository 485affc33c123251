//! Damaged copies of every kind of binary file: what comes out is what the whole file gives, or an error; never a
//! panic, and never something else. The kept files of all versions are damaged, and new ones of every layout.
//!
//! Text files (weights, overlays, truecasers outside of a model) are made to be read and changed by people. They
//! have no checksums, and a changed letter in them is another letter.
#![allow(clippy::unwrap_used)]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sylvan::decode::file::{ModelFile, prune};
use sylvan::{Input, Model, Request, Worker};
use sylvan_align::{Aligner, Bitext, Heuristic, Preset, ReadConfig};
use sylvan_base::{Rng, Silent, Symbol, Vocab};
use sylvan_lm::{CompileConfig, LayoutKind, Lm};
use sylvan_neural::{NeuralModel, Reader};
use sylvan_parse::structured::{Keep, Parses, StructuredLm};
use sylvan_parse::{Parser, Workspace};
use sylvan_rules::formats::{TextFormat, export};
use sylvan_rules::{Filter, Grammar};
use sylvan_store::{FrozenVocab, Lines, Output, TextReader};

type Said = Result<String, Box<dyn std::error::Error>>;

fn kept(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Damages a file and compares what is said of each copy. `said` gets the copy and a place for outputs.
#[track_caller]
fn check(name: &str, good: &[u8], said: impl Fn(&Path, &Path) -> Said) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let path = dir.path().join("good");
    std::fs::write(&path, good).unwrap();
    let expected = said(&path, &out).unwrap();
    let mut rng = Rng::new(good.len() as u64);
    let (mut refused, mut same) = (0, 0);
    for copy in 0..sylvan_testkit::cases(60, 5_000) {
        let (bad, what) = sylvan_testkit::damage(good, &mut rng);
        // A new name each time: some file systems wait for the disk when a file is written over.
        let path = dir.path().join(format!("copy{copy}"));
        std::fs::write(&path, &bad).unwrap();
        let result = catch_unwind(AssertUnwindSafe(|| said(&path, &out)));
        std::fs::remove_file(&path).unwrap();
        match result.unwrap_or_else(|_| panic!("{name}: panic with {what}")) {
            Ok(text) => {
                assert!(text == expected, "{name}: another output with {what}");
                same += 1;
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    // Said directly: the test harness hides what passing tests print.
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "damaged {name}: {refused} refused, {same} the same, 0 otherwise");
    assert!(refused > 0);
}

fn check_kept(path: &str, said: impl Fn(&Path, &Path) -> Said) {
    check(path, &std::fs::read(kept(path)).unwrap(), said);
}

/// Translations of text and trees, the training text, and a smaller model.
fn model(text: &'static str, trees: Option<&'static str>) -> impl Fn(&Path, &Path) -> Said {
    let read = |path: &str| std::fs::read_to_string(kept(path)).unwrap();
    let (text, trees) = (read(text), trees.map(read));
    move |path, out| {
        let mut said = String::new();
        let file = ModelFile::open(path)?;
        if let Some(lines) = file.training_lines()? {
            for number in 1..=lines.len() {
                said += &format!("{:?}\n", lines.get(number)?);
            }
        }
        let model = Arc::new(Model::open(path)?);
        let mut worker = Worker::new(model);
        let mut inputs = vec![(&text, Input::Text)];
        inputs.extend(trees.as_ref().map(|trees| (trees, Input::Tree)));
        for (lines, input) in inputs {
            let mut request = Request::default();
            request.input = input;
            for line in lines.lines() {
                said += worker.translate(line, &request)?.text();
                said.push('\n');
            }
        }
        // The larger model loses some of its rules; the small one is copied.
        let size = std::fs::metadata(path).map(|meta| meta.len())?;
        let size = if size > 100_000 { size * 98 / 100 } else { size + 8192 };
        let pruned = prune(path, out, size, true)?;
        said += &format!("{pruned:?} {:x}", sylvan_base::hash::content_hash(&std::fs::read(out)?));
        Ok(said)
    }
}

#[test]
fn models() {
    let folder = "sylvan/tests/formats";
    check_kept(
        "sylvan/tests/formats/model-v1.sylvan",
        model("sylvan/tests/formats/model-v1.text", Some("sylvan/tests/formats/model-v1.trees")),
    );
    let raw = format!("{folder}/model-v1-raw.sylvan");
    check_kept(&raw, model("sylvan/tests/formats/model-v1-raw.text", None));
}

#[test]
fn rule_tables() {
    for file in ["rules-v1", "rules-exact-v1", "rules-v2"] {
        check_kept(&format!("rules/tests/formats/{file}.rules"), |path, out| {
            let grammar = Grammar::open(path)?;
            let mut text = Output::create(out)?;
            export(&grammar, &grammar.vocab(), TextFormat::Travatar, &mut text)?;
            text.finish()?;
            let mut said = std::fs::read_to_string(out)?;
            grammar.write_filtered(out, &Filter::of_rules(vec![true; grammar.len()]))?;
            said += &format!("{:x}", sylvan_base::hash::content_hash(&std::fs::read(out)?));
            for id in grammar.rules() {
                said += &format!("{:?}", grammar.notes(id));
            }
            Ok(said)
        });
    }
}

#[test]
fn language_models() {
    let said = |path: &Path, _: &Path| -> Said {
        let lm = Lm::open(path)?;
        let scores = lm.sentence(&["a", "b", "zzz"].map(|word| lm.word(word)));
        Ok(format!("{scores:?} {:?} {}", lm.info(), lm.arpa_text()))
    };
    for file in ["tiny_hash_v1", "tiny_trie_v1", "tiny_trie_v2"] {
        check_kept(&format!("lm/tests/data/{file}.lm"), said);
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lm");
    let arpa = std::fs::read_to_string(kept("lm/tests/data/lm_tiny.arpa")).unwrap();
    let lm = Lm::read_arpa(&mut TextReader::from_text("arpa", arpa)).unwrap();
    for layout in [LayoutKind::Hash, LayoutKind::Trie] {
        for (quantize, bounds) in [(None, true), (Some(4), false)] {
            lm.compile(&path, CompileConfig { layout, quantize, bounds }).unwrap();
            check(&format!("lm {layout:?} {quantize:?}"), &std::fs::read(&path).unwrap(), said);
        }
    }
}

#[test]
fn parsers() {
    let files = [
        "constituency-v3",
        "constituency-v4",
        "dependency-v3",
        "dependency-paper-v3",
        "tagger-v3",
        "tagger-v4",
    ];
    for file in files {
        check_kept(&format!("parse/tests/formats/{file}.parser"), |path, _| {
            let parser = Parser::open(path)?;
            let mut workspace = Workspace::new();
            let mut said = format!("{:?} {:?}", parser.kind(), parser.conventions());
            for line in ["a cat sees dogs .", "the man ( left ) sleeps ."] {
                let words: Vec<&str> = line.split(' ').collect();
                let mut vocab = Vocab::new();
                said += &format!("{:?}", parser.tag(&words, &mut workspace));
                for parsed in parser.constituents(&words, 16, 1, &mut vocab, &mut workspace) {
                    said += &format!("{} {}", parsed.tree.to_penn(&vocab), parsed.score);
                }
                said += &format!("{:?}", parser.dependencies(&words, 16, None, &mut workspace));
            }
            Ok(said)
        });
    }
}

#[test]
fn structured_language_models() {
    let said = |path: &Path, _: &Path| {
        let StructuredLm::Generative(model) = StructuredLm::open(path)? else { return Ok("a parser".into()) };
        let mut parses = Parses::new(&*model);
        let mut said = format!("{:?} {:?}", model.notes(), model.tags());
        for line in ["a cat sees dogs .", "the man sleeps .", "unheard-of"] {
            let read: Vec<_> = line.split(' ').map(|word| parses.read(word)).collect();
            said += &format!("{:?}", parses.parse(&read, Keep::ENOUGH));
        }
        Ok(said)
    };
    check_kept("parse/tests/formats/generative-v1.slm", said);
}

#[test]
fn networks() {
    check_kept("neural/tests/formats/backwards-v1.neural", |path, _| {
        let model = NeuralModel::open(path)?;
        let mut said = format!("{:?} {:?}", model.size(), model.parts().collect::<Vec<_>>());
        let reader = Arc::new(Reader::new(Arc::new(model)));
        for line in ["uno duo tres", "quattuor", "unheard of"] {
            said += &format!("{:?} {}", reader.score(line, "duo uno"), reader.translate(line, 2));
        }
        Ok(said)
    });
}

#[test]
fn alignment_models() {
    for file in ["align-ibm1-v1", "align-diagonal-v1", "align-hmm-v1", "align-fertility-v1"] {
        check_kept(&format!("align/tests/formats/{file}.align"), |path, out| {
            let model = sylvan_align::Model::open(path)?;
            let mut bitext = Bitext::default();
            bitext
                .push("下个月 我 叔叔 和 杰克", "next month my uncle and Jack", ReadConfig::default())
                .unwrap();
            let aligner = Aligner::apply(&bitext, &model, &Preset::Default.method(8, 1), 1, &Silent)?;
            let links = aligner.posteriors(0)?.links(Heuristic::Mean(0.4));
            model.save(out)?;
            Ok(format!("{links:?} {:x}", sylvan_base::hash::content_hash(&std::fs::read(out)?)))
        });
    }
}

#[test]
fn vocabularies_and_lines() {
    check_kept("store/tests/formats/vocab-v1.bin", |path, _| {
        let vocab = FrozenVocab::open(path)?;
        let texts = (0..vocab.len() as u32).map(|id| vocab.text(Symbol(id)).unwrap_or("?").to_string());
        Ok(texts.collect::<Vec<_>>().join("|") + &format!("{:?}", vocab.get("cat")))
    });
    check_kept("store/tests/formats/lines-v1.bin", |path, _| {
        let lines = Lines::open(path)?;
        let mut said = format!("{:?}", lines.get(300)?);
        lines.each(|line| {
            said += line;
            Ok::<(), sylvan_base::InputError>(())
        })?;
        Ok(said)
    });
}

/// The commands themselves, on a few copies each: an exit code, a message, no output that differs.
#[test]
fn commands_refuse_damaged_files() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let file = |name: &str, path: &str| std::fs::copy(kept(path), dir.join(name)).unwrap();
    file("rules", "rules/tests/formats/rules-v2.rules");
    file("lm", "lm/tests/data/tiny_trie_v2.lm");
    file("parser", "parse/tests/formats/constituency-v4.parser");
    file("align", "align/tests/formats/align-hmm-v1.align");
    file("slm", "parse/tests/formats/generative-v1.slm");
    file("neural", "neural/tests/formats/backwards-v1.neural");
    file("model", "sylvan/tests/formats/model-v1.sylvan");
    std::fs::write(dir.join("text"), "我 是 猫\n").unwrap();
    std::fs::write(dir.join("weights"), "lm=1\n").unwrap();
    std::fs::write(dir.join("trees"), "(S (NN 猫))\n").unwrap();
    let commands: [(&str, &[&str]); 21] = [
        ("rules", &["grammar", "export", "--format", "travatar", "rules"]),
        ("rules", &["grammar", "filter", "--trees", "trees", "--out", "out", "rules"]),
        ("rules", &["grammar", "info", "rules"]),
        ("rules", &["grammar", "show", "--source", "他", "rules"]),
        ("rules", &["grammar", "verify", "rules"]),
        ("rules", &["decode", "--grammar", "rules", "--lm", "lm", "--weights", "weights", "trees"]),
        ("lm", &["lm", "query", "--lm", "lm", "text"]),
        ("lm", &["lm", "info", "lm"]),
        ("lm", &["lm", "verify", "lm"]),
        ("slm", &["lm", "query", "--lm", "slm", "text"]),
        (
            "slm",
            &[
                "decode",
                "--grammar",
                "rules",
                "--lm",
                "lm",
                "--structured-lm",
                "slm",
                "--weights",
                "weights",
                "trees",
            ],
        ),
        ("neural", &["neural", "info", "neural"]),
        ("neural", &["neural", "translate", "--model", "neural", "text"]),
        ("neural", &["neural", "score", "--model", "neural", "--source", "text", "--target", "text"]),
        ("parser", &["parser", "info", "parser"]),
        ("parser", &["parser", "parse", "--model", "parser", "text"]),
        (
            "align",
            &["align", "apply", "--model", "align", "--source", "text", "--target", "text", "--out", "-"],
        ),
        ("model", &["translate", "--model", "model", "text"]),
        ("model", &["explain", "--model", "model", "text"]),
        ("model", &["model", "prune", "--size", "140K", "--out", "out", "model"]),
        ("model", &["model", "verify", "model"]),
    ];
    for (file, arguments) in commands {
        let whole = std::fs::read(dir.join(file)).unwrap();
        let output = common::run_in(dir, arguments, "");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        // In the middle of the largest section; every other section is covered above.
        let mut bad = whole.clone();
        let number = |row: &[u8], at: usize| u64::from_le_bytes(row[at..at + 8].try_into().unwrap()) as usize;
        let rows = whole[64..sylvan_testkit::payload(&whole).start].chunks(32);
        let (length, start) = rows.map(|row| (number(row, 16), number(row, 8))).max().unwrap();
        bad[start + length / 2] ^= 8;
        std::fs::write(dir.join(file), &bad).unwrap();
        let output = common::run_in(dir, arguments, "");
        std::fs::write(dir.join(file), &whole).unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(told.contains(&format!("{file}: found changed bytes")), "{arguments:?}: {told}");
    }
}
