//! Readers of text.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use sylvan::{Config, CorrectionLog, Glossary};
use sylvan_align::{Heuristic, symmetrize};
use sylvan_base::Vocab;
use sylvan_corpus::{Alignment, Base};
use sylvan_lm::{Joiner, Lm};
use sylvan_rules::formats::{RuleReader, TextFormat};
use sylvan_rules::{Grammar, Overlay, Rule, Weights};
use sylvan_store::TextReader;
use sylvan_text::Truecaser;
use sylvan_trees::conllu::Columns;
use sylvan_trees::penn::Layout;
use sylvan_trees::{CleanUp, ConlluReader, Direction, EgretReader, PennOptions, PennReader, binarise};

use crate::engine::Target;

pub(crate) fn reader(input: &[u8]) -> TextReader {
    TextReader::from_reader("input", Cursor::new(input.to_vec()))
}

fn target(
    name: &'static str,
    seeds: &[&str],
    mut run: impl FnMut(&[u8]) -> sylvan_base::Result<String> + 'static,
) -> Target {
    Target {
        name,
        binary: false,
        turn_in: 1,
        seeds: seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect(),
        run: Box::new(move |input| run(input).map_err(|error| error.to_string())),
    }
}

/// How many there are, roughly: what tells one outcome from another.
fn about(count: usize) -> u32 {
    usize::BITS - count.leading_zeros()
}

const PENN: &str = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .))
( (S (NP-SBJ-1 (-NONE- *)) (VP (TO to) (VP (VB go) (NP=2 (-LRB- -LRB-) (NNP 新华社) (-RRB- -RRB-))))) )
(())
(ROOT (NP a (B b) c))
";
const CONLLU: &str = "# sent_id = 1
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_
2\tle\tle\tDET\t_\tNumber=Sing\t3\tdet\t_\t_
3\tchat\tchat\tNOUN\t_\t_\t0\troot\t_\tX=é
3.1\tx\t_\t_\t_\t_\t_\t_\t_\t_
4\t!\t!\tPUNCT\t_\t_\t3\tpunct\t_\t_

";
const EGRET: &str = "sentence 1 :
a 新 c
A[0,0] => a ||| -0.5
B[1,1] => 新 ||| -1e-06
X[0,1] => A[0,0] B[1,1]  ||| -2
X#2[0,1] => X[0,1] ||| -3
S[0,2] => X#2[0,1] c ||| -0.25
S[0,2] => a B[1,1] c ||| -4

sentence 2 :
b b


";
const ARPA: &str = "\\data\\
ngram 1=4
ngram 2=3
ngram 3=1

\\1-grams:
-1.2\t<unk>
-99\t<s>\t-0.3
-0.8\t</s>
-0.5\ta\t-0.25

\\2-grams:
-0.4\t<s> a\t-0.1
-0.2\ta a
-0.3\ta </s>

\\3-grams:
-0.1\t<s> a </s>

\\end\\
";
const RULES: [(&str, TextFormat, &str); 4] = [
    (
        "travatar",
        TextFormat::Travatar,
        "VP ( VB ( \"show\" ) x0:NP ) ||| x0 \"を\" \"見せ\" ||| egfp=-2.48 fgep=-1.09 p=1 w=2 ||| 1 12 3 ||| 0-1\nS' ( x0:NP VP ( MD ( \"can\" ) x1:VP ) ) ||| x0:NP x1:VP \"b\" @ S ||| egfp=0\n",
    ),
    (
        "moses",
        TextFormat::Moses,
        "[VP [VB show] [NP]] ||| [X][X] を 見せ [X] ||| 0.1 1 ||| 0-2 1-0 ||| 3 12 1 ||| |||\na [B][X] [A] ||| [B][X] c&amp; [X] ||| 1 2.718 ||| 1-0\n",
    ),
    (
        "cdec",
        TextFormat::Cdec,
        "# a comment\n(VP (VB show) [NP]) ||| [1] を 見せ ||| p_ef=-2.48 p_fe=-1.09 ||| 0-2\n",
    ),
    ("joshua", TextFormat::Joshua, "[VP] ||| show [NP,1] ||| [NP,1] を 見せ ||| p_ef=-2.48 0.5 ||| 0-2\n"),
];
const CONFIG: &str = "source = \"train.en\"\ntarget = \"train.de\"\nsource-lang = \"en\"\nlm-text = [\"a\", \"b\"]\nbeam = 500\ntokenized = true\n";

pub(crate) fn kept(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

pub(crate) fn targets(scratch: &Path) -> Vec<Target> {
    let mut targets = vec![
        target("penn", &[PENN], |input| penn(input, Layout::OnePerLine)),
        target("penn-lines", &[PENN], |input| penn(input, Layout::ManyLines)),
        target("conllu", &[CONLLU], conllu),
        target("egret", &[EGRET], egret),
        target("arpa", &[ARPA], arpa),
        target("links", &["0-0 1-2 3p3\n\n10-4 4-10 0-0\n"], links),
        target("glossary", &["the cat\t猫\nIBM\tIBM\n# no\n"], |input| {
            Ok(format!("{}", about(Glossary::read(&mut reader(input))?.len())))
        }),
        target("weights", &["lm=0.5\nwords = -1e-3 # a comment\n"], |input| {
            Ok(format!("{}", about(Weights::read(&mut reader(input))?.iter().count())))
        }),
        target("truecaser", &["the\nIBM\niPhone\nÉtat\n"], |input| {
            let words = Truecaser::read(&mut reader(input))?.apply(&["The", "IBM", "étaT"]);
            Ok(format!("{}", about(words.concat().len())))
        }),
        target(
            "rule",
            &["VP(PP(P(yu) x1:NP) x2:VP) -> x2 with x1\n\"a b\"(x1:\"c\\\"\" d) -> \"x1\" x1\n"],
            rule,
        ),
        target("config", &[CONFIG], |input| {
            let text = String::from_utf8_lossy(input);
            let config = Config::parse(&text, Path::new("c.toml"))?;
            Ok(format!("{}", about(config.beam)))
        }),
        compressed(scratch),
        overlay(),
        corrections(scratch),
    ];
    targets
        .extend(RULES.map(|(name, format, seed)| target(name, &[seed], move |input| rules(input, format))));
    targets
}

/// All items of a reader up to the first error, which is not the end of what readers must bear: they go on.
fn each<T>(
    mut next: impl FnMut() -> sylvan_base::Result<Option<T>>,
    mut use_it: impl FnMut(T),
) -> sylvan_base::Result<String> {
    let (mut count, mut first) = (0, None);
    for _ in 0..100 {
        match next() {
            Ok(Some(item)) => {
                use_it(item);
                count += 1;
            }
            Ok(None) => break,
            Err(error) => {
                first.get_or_insert(error);
            }
        }
    }
    first.map_or(Ok(format!("{}", about(count))), Err)
}

fn penn(input: &[u8], layout: Layout) -> sylvan_base::Result<String> {
    let options = PennOptions { layout, clean_up: CleanUp::standard(), ..PennOptions::as_is() };
    let mut reader = PennReader::new(reader(input), options);
    let (mut vocab, mut other) = (Vocab::new(), Vocab::new());
    each(
        || reader.next_tree(&mut vocab),
        |tree| {
            if let Some(tree) = tree {
                let tree = tree.map_symbols(|_| other.intern("x"));
                binarise(&tree, Direction::Right, &mut other);
                tree.to_penn(&other);
            }
        },
    )
}

fn conllu(input: &[u8]) -> sylvan_base::Result<String> {
    let mut reader = ConlluReader::new(reader(input), Columns::default());
    let mut vocab = Vocab::new();
    each(
        || reader.next_tree(&mut vocab),
        |tree| {
            if let Some(tree) = tree {
                sylvan_trees::projective(&tree);
            }
        },
    )
}

fn egret(input: &[u8]) -> sylvan_base::Result<String> {
    let mut reader = EgretReader::new(reader(input));
    let mut vocab = Vocab::new();
    each(
        || reader.next_forest(&mut vocab),
        |forest| {
            if let Some(forest) = forest {
                forest.best();
                forest.trees(3);
            }
        },
    )
}

fn arpa(input: &[u8]) -> sylvan_base::Result<String> {
    let lm = Lm::read_arpa(&mut reader(input))?;
    let words = ["<s>", "a", "zzz", "</s>"].map(|word| lm.word(word));
    lm.sentence(&words);
    let mut joiner = Joiner::new(&lm);
    let (score, piece) = lm.piece(&words);
    joiner.piece(&piece, score);
    Ok(format!("{} {}", lm.order(), about(lm.vocab_len())))
}

fn links(input: &[u8]) -> sylvan_base::Result<String> {
    let mut reader = reader(input);
    let (mut count, mut before) = (0, Alignment::default());
    while let Some(line) = reader.next_line()? {
        let links = Alignment::parse(line, Base::Zero).map_err(|fault| reader.locate(fault))?;
        for heuristic in [Heuristic::GrowDiagFinal, Heuristic::Union] {
            count += symmetrize(before.sure(), links.sure(), heuristic).len();
        }
        before = links;
    }
    Ok(format!("{}", about(count)))
}

fn rule(input: &[u8]) -> sylvan_base::Result<String> {
    let mut reader = reader(input);
    let (mut vocab, mut nodes) = (Vocab::new(), 0);
    while let Some(line) = reader.next_line()? {
        let rule = Rule::parse(line, &mut vocab);
        nodes += rule.map_err(|fault| reader.locate(fault))?.nodes();
    }
    Ok(format!("{}", about(nodes as usize)))
}

fn rules(input: &[u8], format: TextFormat) -> sylvan_base::Result<String> {
    let (mut vocab, mut rules, mut reader) = (Vocab::new(), RuleReader::new(format), reader(input));
    let mut count = 0;
    while let Some(rule) = rules.next_rule(&mut reader, &mut vocab)? {
        rule.rule.show(&vocab);
        count += 1;
    }
    Ok(format!("{} {}", about(count), about(rules.names().len())))
}

/// Plain, gzip and zstd files.
fn compressed(scratch: &Path) -> Target {
    let path = scratch.join("text");
    let mut files = Vec::new();
    for name in ["a.txt", "a.gz", "a.zst"] {
        let path = scratch.join(name);
        let mut out = sylvan_store::Output::create(&path).unwrap();
        (0..50).for_each(|line| out.line(&format!("line {line} 新")).unwrap());
        out.finish().unwrap();
        files.push(std::fs::read(path).unwrap());
    }
    let run = move |input: &[u8]| {
        std::fs::write(&path, input).unwrap();
        let mut reader = TextReader::open(&path)?;
        while reader.next_line()?.is_some() {}
        Ok(format!("{}", about(reader.line_number() as usize)))
    };
    Target { seeds: files, turn_in: 8, ..target("compressed", &[], run) }
}

fn overlay() -> Target {
    let table = Grammar::open(&kept("rules/tests/formats/rules-v2.rules")).unwrap();
    let seed = "# one\nadd PN(他) -> him ||| p_ef=-0.5 boost=2\nforbid PN(他) -> he\nforbid PN(他) -> *\n@3 boost 1.5 PN(他) -> he\n";
    target("overlay", &[seed], move |input| {
        let (overlay, missing) = Overlay::read(&mut reader(input), &table, &mut table.vocab())?;
        Ok(format!(
            "{} {}",
            about(overlay.added(0).map_or(0, sylvan_rules::Grammar::len)),
            about(missing.len())
        ))
    })
}

fn corrections(scratch: &Path) -> Target {
    let model = scratch.join("model");
    let log = sylvan::decode::corrections::overlay_path(&model);
    let seed = "forbid A(b) -> c\n#: add\nadd A(b) -> c\n#: boost --by 3\nboost 3 A(b) -> c\n";
    let run = move |input: &[u8]| {
        std::fs::write(&log, input).unwrap();
        let mut log = CorrectionLog::open(&model)?;
        let count = log.corrections().len();
        // Each of them writes the file.
        for _ in 0..3 {
            log.undo()?;
        }
        Ok(format!("{}", about(count)))
    };
    Target { turn_in: 8, ..target("corrections", &[seed], run) }
}
