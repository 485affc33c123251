//! The curve of a run, read as a reader would: points against the labelled lines behind them.

use sylvan_testkit::cases;
use sylvan_tune::{MertConfig, Method, Round, curve};

/// The numbers of an attribute, wherever it occurs in a text.
fn numbers(text: &str, attribute: &str) -> Vec<f64> {
    let before = format!(" {attribute}=\"");
    let found = text.split(&before).skip(1);
    found.map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect()
}

/// What stands between the tags of each text with an anchor.
fn labels<'p>(picture: &'p str, anchor: &str) -> Vec<(f64, f64, &'p str)> {
    let texts =
        picture.split("<text ").skip(1).filter(|text| text.contains(&format!("text-anchor=\"{anchor}\"")));
    let one = |text: &'p str| {
        let head = format!(" {}", text.split('>').next().unwrap());
        let label = text.split('>').nth(1).unwrap().split('<').next().unwrap();
        (numbers(&head, "x")[0], numbers(&head, "y")[0], label)
    };
    texts.map(one).collect()
}

fn points(picture: &str, line: usize) -> Vec<(f64, f64)> {
    let list = picture.split("points=\"").nth(1 + line).unwrap().split('"').next().unwrap();
    let pair = |pair: &str| {
        let (x, y) = pair.split_once(',').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    list.split(' ').filter(|pair| !pair.is_empty()).map(pair).collect()
}

fn rounds(scores: &[f64], promised: impl Fn(f64) -> f64) -> Vec<Round> {
    let mut best = f64::NEG_INFINITY;
    let one = |(index, &score): (usize, &f64)| {
        let better = score > best;
        best = best.max(score);
        Round {
            number: index + 1,
            score,
            promised: (index > 0).then(|| promised(score)),
            new: 1,
            pool: 1,
            best: better,
            weights: Vec::new(),
        }
    };
    scores.iter().enumerate().map(one).collect()
}

/// Checks a picture of rounds with at least two different values.
fn check(all: &[Round]) {
    let picture = curve(all, "BLEU <none> & more");
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    assert!(picture.contains("BLEU &lt;none&gt; &amp; more per round"));
    assert!(picture.contains("viewBox=\"0 0 640 320\""));
    // Labels stand beside their lines; lines go from side to side at even steps of 1, 2 or 5 times a power of ten.
    let (ys, lines) = (labels(&picture, "end"), numbers(&picture, "y1"));
    assert_eq!(lines, numbers(&picture, "y2"));
    assert!(
        numbers(&picture, "x1").iter().all(|&x| x == 56.0)
            && numbers(&picture, "x2").iter().all(|&x| x == 624.0)
    );
    assert!((2..=7).contains(&ys.len()), "{picture}");
    let values: Vec<f64> = ys.iter().map(|(_, _, label)| label.parse().unwrap()).collect();
    let step = values[1] - values[0];
    let digit = step / 10f64.powf((step * 1.0001).log10().floor());
    assert!([1.0, 2.0, 5.0].iter().any(|wanted| (digit - wanted).abs() < 1e-6), "{values:?}");
    for (index, ((x, y, _), line)) in ys.iter().zip(&lines).enumerate() {
        assert!((x - 50.0).abs() < 0.01 && (y - line - 4.0).abs() < 0.11, "{picture}");
        assert!((values[index] - values[0] - step * index as f64).abs() < 1e-6 * step, "{values:?}");
    }
    // The lowest line is at the bottom, the highest at the top, and nothing lies beyond them.
    let (low, high) = (values[0], values[values.len() - 1]);
    assert_eq!((lines[0], lines[lines.len() - 1]), (280.0, 36.0));
    let read = |y: f64| low + (280.0 - y) / (280.0 - 36.0) * (high - low);
    let near = |y: f64, value: f64| (read(y) - value).abs() <= 0.06 / 244.0 * (high - low);
    let seen = || all.iter().flat_map(|round| [Some(round.score), round.promised]).flatten();
    let (least, most) = (seen().fold(f64::INFINITY, f64::min), seen().fold(f64::NEG_INFINITY, f64::max));
    assert!(
        low <= least + 1e-9 && least < low + step + 1e-9 && most <= high + 1e-9 && high < most + step + 1e-9
    );
    // Rounds are spread evenly; each has its number below, or every second one, and so on.
    let last = all.len().max(2) as f64;
    let x = |number: usize| 56.0 + (number as f64 - 1.0) * 568.0 / (last - 1.0);
    let every = all.len().div_ceil(16);
    let below = labels(&picture, "middle");
    assert_eq!(below.len(), all.len().div_ceil(every));
    for (index, (at, y, label)) in below.iter().enumerate() {
        let number = 1 + index * every;
        assert!(*label == number.to_string() && (at - x(number)).abs() < 0.06 && *y == 298.0, "{picture}");
    }
    // Dashed: promised; solid: decoded.
    let promised: Vec<&Round> = all.iter().filter(|round| round.promised.is_some()).collect();
    assert_eq!((points(&picture, 0).len(), points(&picture, 1).len()), (promised.len(), all.len()));
    for ((at, y), round) in points(&picture, 0).into_iter().zip(promised) {
        assert!((at - x(round.number)).abs() < 0.06 && near(y, round.promised.unwrap()), "{picture}");
    }
    for ((at, y), round) in points(&picture, 1).into_iter().zip(all) {
        assert!((at - x(round.number)).abs() < 0.06 && near(y, round.score), "{picture}");
    }
    // The last of the best rounds has a mark, and the title names it.
    let best = all.iter().rev().find(|round| round.best).unwrap();
    assert!((numbers(&picture, "cx")[0] - x(best.number)).abs() < 0.06);
    assert!(near(numbers(&picture, "cy")[0], best.score));
    assert!(picture.contains(&format!("best: {:.2} in round {}<", best.score, best.number)), "{picture}");
}

#[test]
fn points_of_a_curve_read_against_its_lines_are_the_scores() {
    check(&rounds(&[10.0, 14.0, 12.0], |score| score + 1.0));
    check(&rounds(&[34.35, 33.06, 38.59, 38.78, 39.02], |score| score + 0.5));
    check(&rounds(&[0.5, 0.25], |score| score - 0.01));
    let mut rng = sylvan_base::Rng::new(1);
    for _ in 0..cases(300, 3000) {
        let (low, wide) = (100.0 * rng.unit(), 10f64.powf(3.0 * rng.unit() - 1.5));
        let count = 2 + rng.below(40);
        let scores: Vec<f64> = (0..count).map(|_| low + wide * rng.unit()).collect();
        check(&rounds(&scores, |score| score + 0.1 * wide));
    }
}

#[test]
fn lines_are_at_round_numbers() {
    let shown = |scores: &[f64]| {
        let picture = curve(&rounds(scores, |score| score), "BLEU");
        labels(&picture, "end")
            .into_iter()
            .map(|(_, _, label)| label.to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(shown(&[20.0, 24.0]), "20 21 22 23 24");
    assert_eq!(shown(&[20.0, 24.4]), "20 22 24 26");
    assert_eq!(shown(&[0.0, 0.1]), "0.00 0.05 0.10");
    assert_eq!(shown(&[]), "0.0 0.5 1.0", "a run that never began");
    assert_eq!(shown(&[30.0, 30.0]).split(' ').count(), 2, "equal scores: the line and one more");
}

#[test]
fn curves_of_one_round_and_of_equal_scores_have_a_scale_too() {
    for all in [rounds(&[12.5], |score| score), rounds(&[12.5, 12.5, 12.5], |score| score)] {
        let picture = curve(&all, "BLEU");
        let ys: Vec<f64> = points(&picture, 1).iter().map(|(_, y)| *y).collect();
        assert!(ys.iter().all(|y| (36.0..=280.0).contains(y)), "{picture}");
        assert!(labels(&picture, "end").len() > 1, "{picture}");
    }
    let nothing = curve(&[], "BLEU");
    assert!(
        nothing.ends_with("</svg>\n") && !nothing.contains("NaN") && !nothing.contains("best:"),
        "{nothing}"
    );
    let tuned = crate::rounds::toy(&Method::Mert(MertConfig::default()), 3);
    check(&tuned.rounds);
}
