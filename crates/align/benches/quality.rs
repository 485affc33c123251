//! Error and time of all presets, and of the peers if they are there:
//! `SYLVAN_DATA=... cargo bench -p sylvan-align --bench quality -- [SET...] [SYSTEM...]`.
//!
//! Each hand-aligned set stands at the head of background text (jaen: enja, zhen: zhen, enfr and encs: Multi30k,
//! tokenised here), all in lower case. With SYLVAN_FAST_ALIGN (a folder with `fast_align` and `atools`) and
//! SYLVAN_EFLOMAL (the program `eflomal-align`) the peers run on the same text in the same run. Everything runs on
//! one thread; times are wall clock from files to links of both directions and their symmetrisation. SYLVAN_TEXTS
//! names a folder to keep the texts and all links in.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // Figures are what a bench is for.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use sylvan_align::{
    Aligner, Bitext, EmModel, Evaluation, Heuristic, Memory, Method, Portion, Posteriors, Preset, ReadConfig,
};
use sylvan_base::{InputError, Silent};
use sylvan_corpus::{Alignment, Base};
use sylvan_store::TextReader;

fn lines(path: &Path) -> Vec<String> {
    let mut reader = TextReader::open(path).unwrap().tolerant();
    let mut lines = Vec::new();
    while let Some(line) = reader.next_line().unwrap() {
        lines.push(line.to_string());
    }
    lines
}

/// Punctuation apart, numbers whole; English clitics go with their apostrophe, others keep it in front.
fn tokenize(line: &str, english: bool) -> String {
    let all: Vec<char> = line.chars().collect();
    let digit = |at: Option<usize>| at.and_then(|at| all.get(at)).is_some_and(char::is_ascii_digit);
    let letter = |at: usize| all.get(at).is_some_and(|c| c.is_alphanumeric());
    let mut out = String::new();
    for (at, &c) in all.iter().enumerate() {
        let inside = digit(at.checked_sub(1)) && digit(Some(at + 1));
        match c {
            '.' | ',' if !inside => out.extend([' ', c, ' ']),
            '\'' | '’' if at > 0 && letter(at - 1) && letter(at + 1) => {
                let rest: String = all[at + 1..].iter().take_while(|c| c.is_alphanumeric()).collect();
                let clitic = ["s", "re", "ve", "d", "m", "ll", "t"].contains(&rest.to_lowercase().as_str());
                match (english, clitic) {
                    (true, true) => out.extend([' ', c]),
                    (true, false) => out.push(c),
                    (false, _) => out.extend([c, ' ']),
                }
            }
            _ if c.is_alphanumeric() || c.is_whitespace() || "'’.,-".contains(c) => out.push(c),
            _ => out.extend([' ', c, ' ']),
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Source, target: hand-aligned lines first.
fn text(data: &Path, set: &str) -> (Vec<String>, Vec<String>) {
    let tokenized = |name: &str, english: bool| -> Vec<String> {
        lines(&data.join(name)).iter().map(|line| tokenize(line, english)).collect()
    };
    let (more_source, more_target) = match set {
        "jaen" => (lines(&data.join("enja/train.ja")), lines(&data.join("enja/train.en"))),
        "zhen" => (lines(&data.join("zhen/train.zh.seg")), tokenized("zhen/train.en", true)),
        "enfr" => (tokenized("multi30k/train.en", true), tokenized("multi30k/train.fr", false)),
        _ => (tokenized("multi30k/train.en", true), tokenized("multi30k/train.cs", false)),
    };
    let (mut source, mut target) = (Vec::new(), Vec::new());
    for line in lines(&data.join(format!("align/{set}.src-tgt"))) {
        let (a, b) = line.split_once(" ||| ").unwrap();
        source.push(a.trim().to_lowercase());
        target.push(b.trim().to_lowercase());
    }
    source.extend(more_source.iter().map(|line| line.trim().to_lowercase()));
    target.extend(more_target.iter().map(|line| line.trim().to_lowercase()));
    (source, target)
}

const SETS: [&str; 4] = ["jaen", "zhen", "enfr", "encs"];
const HEURISTICS: [&str; 9] = [
    "intersection",
    "grow-diag",
    "grow-diag-final-and",
    "itg",
    "posterior:0.3",
    "posterior:0.4",
    "posterior:0.5",
    "mean:0.4",
    "mean:0.5",
];

fn row(name: &str, seconds: f64, errors: &[Option<f64>]) {
    let best = errors.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let cells: Vec<String> =
        errors.iter().map(|error| error.map_or(String::new(), |error| format!("{error:.2}"))).collect();
    println!("| {name} | {seconds:.2} | {best:.2} | {} |", cells.join(" | "));
}

fn error(gold: &[Alignment], links: impl Iterator<Item = Alignment>) -> f64 {
    let mut evaluation = Evaluation::default();
    for (gold, links) in gold.iter().zip(links) {
        evaluation.add(gold, &links);
    }
    assert_eq!(evaluation.pairs, gold.len() as u64, "a tool gave too few lines");
    100.0 * evaluation.aer()
}

fn ours(name: &str, gold: &[Alignment], source: &Path, target: &Path, method: impl Fn(usize) -> Method) {
    let start = Instant::now();
    let bitext = Bitext::open(source, target, ReadConfig::default(), Memory::default(), &Silent).unwrap();
    let aligner = Aligner::train(&bitext, &method(bitext.len()), 1, &Silent, &mut |_| {}).unwrap();
    let mut links = Vec::new();
    let make = |_: &Portion<'_>, _: usize, matrix: &Posteriors| {
        Alignment::new(matrix.links(Heuristic::GrowDiag), Vec::new())
    };
    aligner
        .for_each(make, |_, _, one| {
            links.push(one.to_string());
            Ok::<(), InputError>(())
        })
        .unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let matrices: Vec<Posteriors> = (0..gold.len()).map(|pair| aligner.posteriors(pair).unwrap()).collect();
    let errors = HEURISTICS.map(|heuristic| {
        let heuristic: Heuristic = heuristic.parse().unwrap();
        let links = matrices.iter().map(|matrix| Alignment::new(matrix.links(heuristic), Vec::new()));
        Some(error(gold, links))
    });
    row(name, seconds, &errors);
}

fn run(program: &Path, arguments: &[&str], output: Option<&Path>) {
    let mut command = Command::new(program);
    command.args(arguments).env("OMP_NUM_THREADS", "1").stderr(std::process::Stdio::null());
    if let Some(output) = output {
        command.stdout(std::fs::File::create(output).unwrap());
    }
    assert!(command.status().unwrap().success(), "{} failed", program.display());
}

fn peer(name: &str, gold: &[Alignment], dir: &Path, tools: &Path, align: impl Fn(&Path, &Path)) {
    let (forward, reverse) = (dir.join(format!("{name}.f")), dir.join(format!("{name}.r")));
    let start = Instant::now();
    align(&forward, &reverse);
    let mut seconds = start.elapsed().as_secs_f64();
    let errors = HEURISTICS.map(|heuristic| {
        if heuristic == "itg" || heuristic.contains(':') {
            return None;
        }
        let theirs = if heuristic == "intersection" { "intersect" } else { heuristic };
        let out = dir.join(format!("{name}.{theirs}"));
        let start = Instant::now();
        let files = ["-c", theirs, "-i", forward.to_str().unwrap(), "-j", reverse.to_str().unwrap()];
        run(&tools.join("atools"), &files, Some(&out));
        if heuristic == "grow-diag" {
            seconds += start.elapsed().as_secs_f64();
        }
        let links = lines(&out).into_iter().map(|line| Alignment::parse(&line, Base::Zero).unwrap());
        Some(error(gold, links))
    });
    row(name, seconds, &errors);
}

fn main() {
    let Some(data) = sylvan_testkit::data("align") else { return };
    let data = data.parent().unwrap().to_path_buf();
    let names: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let (mut sets, systems): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| SETS.contains(&name.as_str()));
    if sets.is_empty() {
        sets = SETS.map(String::from).to_vec();
    }
    let wanted = |name: &str| systems.is_empty() || systems.iter().any(|system| system == name);
    let temporary = tempfile::tempdir().unwrap();
    let dir = std::env::var_os("SYLVAN_TEXTS").map_or(temporary.path().to_path_buf(), PathBuf::from);
    for set in &sets {
        let gold: Vec<Alignment> = lines(&data.join(format!("align/{set}.gold")))
            .iter()
            .map(|line| Alignment::parse(line, Base::One).unwrap())
            .collect();
        let (source, target) = text(&data, set);
        let dir = dir.join(set);
        std::fs::create_dir_all(&dir).unwrap();
        let files = ["source", "target", "both"].map(|name| dir.join(name));
        let both: Vec<String> = source.iter().zip(&target).map(|(a, b)| format!("{a} ||| {b}")).collect();
        for (path, text) in files.iter().zip([&source, &target, &both]) {
            std::fs::write(path, text.join("\n") + "\n").unwrap();
        }
        let [source, target, both] = &files;
        println!("\n{set}, AER in percent\n\n| | seconds | best | {} |", HEURISTICS.join(" | "));
        println!("|---|---|---|{}", "---|".repeat(HEURISTICS.len()));
        let both = both.to_str().unwrap();
        let tools = std::env::var_os("SYLVAN_FAST_ALIGN").map(PathBuf::from);
        if let Some(tools) = tools.as_ref().filter(|_| wanted("fast_align")) {
            peer("fast_align", &gold, &dir, tools, |forward, reverse| {
                let program = tools.join("fast_align");
                run(&program, &["-i", both, "-d", "-o", "-v"], Some(forward));
                run(&program, &["-i", both, "-d", "-o", "-v", "-r"], Some(reverse));
            });
        }
        for preset in Preset::ALL {
            for seed in 1..=3 {
                if wanted(&preset.to_string()) && (seed == 1 || preset == Preset::Best) {
                    let name = format!("{preset}, seed {seed}");
                    ours(&name, &gold, source, target, |pairs| preset.method(pairs, seed));
                }
            }
        }
        for model in [EmModel::Ibm1, EmModel::Diagonal, EmModel::Hmm] {
            if wanted(model.name()) {
                ours(model.name(), &gold, source, target, |_| Method::em(model));
            }
        }
        let eflomal = std::env::var_os("SYLVAN_EFLOMAL").map(PathBuf::from);
        if let (Some(eflomal), Some(tools), true) = (&eflomal, &tools, wanted("eflomal")) {
            for number in 1..=3 {
                peer(&format!("eflomal {number}"), &gold, &dir, tools, |forward, reverse| {
                    let (forward, reverse) = (forward.to_str().unwrap(), reverse.to_str().unwrap());
                    run(eflomal, &["-i", both, "-m", "3", "-f", forward, "-r", reverse], None);
                });
            }
        }
    }
}
