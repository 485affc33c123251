//! The curve of a tuning run as a picture (SVG), readable on light and dark backgrounds.

use crate::tuning::Round;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 40.0;

/// The score of each round, and what the optimiser had promised, as an SVG document.
pub fn curve(rounds: &[Round], metric: &str) -> String {
    let values = || rounds.iter().flat_map(|round| [Some(round.score), round.promised]).flatten();
    let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let (low, high) = if low.is_finite() { (low, high) } else { (0.0, 1.0) };
    let step = tick((high - low).max(1e-6) / 4.0);
    let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
    let high = if high > low { high } else { low + step };
    let last = rounds.len().max(2) as f64;
    let x = |number: f64| LEFT + (number - 1.0) / (last - 1.0) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<style>text{{fill:#444}}.grid{{stroke:#8884}}@media (prefers-color-scheme:dark)\
         {{text{{fill:#ccc}}}}</style>\n"
    );
    let mut value = low;
    while value <= high + step / 2.0 {
        let at = y(value);
        out.push_str(&format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
            WIDTH - RIGHT,
            LEFT - 6.0,
            at + 4.0,
            shown(value, step),
        ));
        value += step;
    }
    let every = rounds.len().div_ceil(16).max(1);
    for round in rounds.iter().filter(|round| (round.number - 1).is_multiple_of(every)) {
        out.push_str(&format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            x(round.number as f64),
            HEIGHT - BOTTOM + 18.0,
            round.number
        ));
    }
    let line = |points: Vec<(f64, f64)>, style: &str| {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        format!("<polyline fill=\"none\" {style} points=\"{}\"/>\n", points.join(" "))
    };
    let promised = rounds.iter().filter_map(|round| Some((x(round.number as f64), y(round.promised?))));
    out.push_str(&line(promised.collect(), "stroke=\"#c77\" stroke-width=\"1.5\" stroke-dasharray=\"5 4\""));
    let decoded = rounds.iter().map(|round| (x(round.number as f64), y(round.score)));
    out.push_str(&line(decoded.collect(), "stroke=\"#37a\" stroke-width=\"2\""));
    if let Some(best) = rounds.iter().rev().find(|round| round.best) {
        let (at, high) = (x(best.number as f64), y(best.score));
        out.push_str(&format!("<circle cx=\"{at:.1}\" cy=\"{high:.1}\" r=\"4\" fill=\"#37a\"/>\n"));
    }
    let best = rounds
        .iter()
        .rev()
        .find(|round| round.best)
        .map_or(String::new(), |round| format!("best: {:.2} in round {}", round.score, round.number));
    out.push_str(&format!(
        "<text x=\"{LEFT}\" y=\"20\">{} per round (solid: decoded, dashed: promised by the optimiser); {best}</text>\n\
         </svg>\n",
        escape(metric)
    ));
    out
}

/// A round number not below `least`: 1, 2 or 5 times a power of ten.
fn tick(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|tick| *tick >= least)
        .unwrap_or(power)
}

fn shown(value: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).max(0.0) as usize;
    format!("{value:.digits$}")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
