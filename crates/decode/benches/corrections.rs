//! What corrections are worth and what they cost.
//!
//! `cargo bench -p sylvan-decode --bench corrections -- links MODEL SOURCE TARGET GOLD`: links of pairs against others of
//! the same words (`0-0 1-2`, one line per pair).
//!
//! `.. -- simulate MODEL SOURCE TARGET [settings ..]`: somebody corrects one sentence after the other into its reference;
//! each is translated before its own correction is known. Settings are rows of `name=value` joined by commas, such as
//! `rules=20,boost=1`; `exact` learns nothing but the sentences.
//!
//! `.. -- speed MODEL SOURCE TARGET`: what one more correction costs, the more there are, in milliseconds of the
//! processor (of the clock where the system does not tell).
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use sylvan_decode::corrections::{Correction, Corrections, Pair};
use sylvan_decode::{Input, Learning, Model, Request, Worker};
use sylvan_eval::{Bleu, Tokenizer};
use sylvan_store::read_lines;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [what, model, source, target, more @ ..] = arguments.as_slice() else {
        println!("skipped: give links, simulate or speed, a model, and two texts");
        return;
    };
    let model = Arc::new(Model::open(Path::new(model)).unwrap());
    let lines = |path: &String| read_lines(Path::new(path)).unwrap();
    let pairs: Vec<(String, String)> = lines(source).into_iter().zip(lines(target)).collect();
    match what.as_str() {
        "links" => links(&model, &pairs, &lines(&more[0])),
        "simulate" => simulate(&model, &pairs, more),
        "speed" => speed(&model, &pairs),
        other => println!("skipped: {other} is none of links, simulate, speed"),
    }
}

fn links(model: &Arc<Model>, pairs: &[(String, String)], gold: &[String]) {
    let mut worker = Worker::new(Arc::clone(model));
    let (mut same, mut ours, mut theirs, mut exact) = (0, 0, 0, 0);
    for ((source, target), gold) in pairs.iter().zip(gold) {
        let learned = worker.learn((source, target), Input::Text, None, &Learning::exact()).unwrap();
        let found: BTreeSet<(u32, u32)> = learned.links.into_iter().collect();
        let link = |text: &str| -> Option<(u32, u32)> {
            let (source, target) = text.split_once('-')?;
            Some((source.parse().ok()?, target.parse().ok()?))
        };
        let gold: BTreeSet<(u32, u32)> = gold.split(' ').filter_map(link).collect();
        same += found.intersection(&gold).count();
        (ours, theirs) = (ours + found.len(), theirs + gold.len());
        exact += usize::from(found == gold);
    }
    let share = |of: usize| 100.0 * same as f64 / of.max(1) as f64;
    let (precision, recall) = (share(ours), share(theirs));
    let f1 = 2.0 * precision * recall / (precision + recall);
    println!("| pairs | precision | recall | F1 | alike |\n|---|---|---|---|---|");
    println!("| {} | {precision:.1} | {recall:.1} | {f1:.1} | {exact} |", pairs.len());
}

fn request(corrections: Option<&Arc<Corrections>>) -> Request {
    let mut request = Request::default();
    request.corrections = corrections.cloned();
    request
}

/// Sets what `name=value` says.
fn set(learning: &mut Learning, setting: &str) {
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    let number = || value.parse::<f64>().unwrap();
    match name {
        "exact" => *learning = Learning::exact(),
        "rules" => learning.rules = number() as usize,
        "news" => learning.news = value == "true",
        "composed" => learning.composed = number() as u32,
        "words" => learning.words = number() as u32,
        "span" => learning.span = number() as u32,
        "variables" => learning.variables = number() as u32,
        "count" => learning.count = number(),
        "others" => learning.others = number(),
        "word" => learning.word = number(),
        "boost" => learning.boost = number() as f32,
        "default" => {}
        other => panic!("{other} is no setting"),
    }
}

/// A log entry.
fn entry(source: &str, target: &str, lines: &[String]) -> String {
    let about = Pair::new("2026-01-01T00:00:00Z", "bench", source, target).about();
    Correction { about, lines: lines.to_vec() }.text()
}

fn simulate(model: &Arc<Model>, pairs: &[(String, String)], settings: &[String]) {
    let mut worker = Worker::new(Arc::clone(model));
    let said: Vec<String> = pairs
        .iter()
        .map(|(source, _)| worker.translate(source, &request(None)).unwrap().text().to_string())
        .collect();
    let tokenizer = if model.target_text().detokenizer.is_some() { Tokenizer::V13a } else { Tokenizer::None };
    let bleu = Bleu { tokenizer, ..Bleu::default() };
    let references: Vec<Vec<&str>> = vec![pairs.iter().map(|(_, target)| target.as_str()).collect()];
    let score = |lines: &[String], from: usize| {
        let references = [references[0][from..].to_vec()];
        bleu.corpus(&lines[from..], &references).unwrap().score
    };
    let sentence = |line: &String, at: usize| bleu.sentence(line, &[references[0][at]]).unwrap().score;
    let half = pairs.len() / 2;
    println!("| learnt | BLEU | BLEU, second half | changed | better | worse | rules each | not as given |");
    println!("|---|---|---|---|---|---|---|---|");
    println!("| nothing | {:.2} | {:.2} | | | | | |", score(&said, 0), score(&said, half));
    for setting in settings {
        let mut learning = Learning::default();
        setting.split(',').for_each(|part| set(&mut learning, part));
        let mut corrections: Option<Arc<Corrections>> = None;
        let (mut lines, mut rules, mut lost) = (Vec::new(), 0, 0);
        for (source, target) in pairs {
            let now = worker.translate(source, &request(corrections.as_ref())).unwrap();
            lines.push(now.text().to_string());
            let learned =
                worker.learn((source, target), Input::Text, corrections.as_deref(), &learning).unwrap();
            rules += learned.rules.len();
            let more = entry(source, target, &learned.lines);
            let next = match &corrections {
                Some(known) => known.and(model, &more).unwrap(),
                None => Corrections::from_lines(model, &[more]).unwrap(),
            };
            corrections = Some(Arc::new(next));
        }
        for (source, target) in pairs {
            let now = worker.translate(source, &request(corrections.as_ref())).unwrap();
            // The last correction of a sentence counts.
            let last = pairs.iter().rfind(|(other, _)| other == source).map(|(_, last)| last.trim());
            lost += usize::from(last.is_some_and(|last| last != now.text()) && target.trim() != now.text());
        }
        let changed: Vec<usize> = (0..lines.len()).filter(|&at| lines[at] != said[at]).collect();
        let gains = |at: &&usize| sentence(&lines[**at], **at) - sentence(&said[**at], **at);
        let better = changed.iter().filter(|at| gains(at) > 1e-9).count();
        let worse = changed.iter().filter(|at| gains(at) < -1e-9).count();
        println!(
            "| {setting} | {:.2} | {:.2} | {} | {better} | {worse} | {:.1} | {lost} |",
            score(&lines, 0),
            score(&lines, half),
            changed.len(),
            rules as f64 / pairs.len() as f64,
        );
    }
}

/// Milliseconds that this thread has had a processor.
fn now() -> f64 {
    static STARTED: OnceLock<Instant> = OnceLock::new();
    let stated = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = stated.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let clock = || STARTED.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e9;
    nanoseconds.unwrap_or_else(clock) / 1e6
}

/// The middle and the worst of some times.
fn middle(times: &mut [f64]) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() - 1])
}

fn speed(model: &Arc<Model>, pairs: &[(String, String)]) {
    let mut worker = Worker::new(Arc::clone(model));
    let learning = Learning::default();
    let mut corrections: Option<Arc<Corrections>> = None;
    let (mut learn, mut read, mut translate) = (Vec::new(), Vec::new(), Vec::new());
    println!(
        "| corrections | lines | parts | learn | worst | count | worst | translate | worst | all again |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut text = String::new();
    let timed = |times: &mut Vec<f64>, started: f64| times.push(now() - started);
    for (number, (source, target)) in pairs.iter().enumerate() {
        let started = now();
        let learned = worker.learn((source, target), Input::Text, corrections.as_deref(), &learning).unwrap();
        timed(&mut learn, started);
        let more = entry(source, target, &learned.lines);
        text += &more;
        let started = now();
        let next = match &corrections {
            Some(known) => known.and(model, &more).unwrap(),
            None => Corrections::from_lines(model, &[more]).unwrap(),
        };
        corrections = Some(Arc::new(next));
        timed(&mut read, started);
        let other = &pairs[(number + 1) % pairs.len()].0;
        let started = now();
        worker.translate(other, &request(corrections.as_ref())).unwrap();
        timed(&mut translate, started);
        if [1, 10, 100, 300, 1_000, 3_000, 10_000].contains(&(number + 1)) || number + 1 == pairs.len() {
            let started = now();
            let whole = Corrections::from_lines(model, &[text.clone()]).unwrap();
            let again = now() - started;
            drop(whole);
            let parts = corrections.as_ref().map_or(0, |known| known.part_count());
            let [(a, b), (c, d), (e, f)] = [&mut learn, &mut read, &mut translate].map(|times| middle(times));
            println!(
                "| {} | {} | {parts} | {a:.1} | {b:.1} | {c:.1} | {d:.1} | {e:.1} | {f:.1} | {again:.1} |",
                number + 1,
                text.lines().count(),
            );
            [&mut learn, &mut read, &mut translate].into_iter().for_each(Vec::clear);
        }
    }
}
