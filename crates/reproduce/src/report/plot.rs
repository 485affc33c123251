//! Plots as SVG: axes with names and units, a legend, lines, dots, bands where runs are random. Readable on light and dark
//! backgrounds.

use sylvan_decode::explain::escaped;

/// An axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    /// What is measured, with its unit.
    pub(crate) name: &'static str,
    /// Whether equal steps are equal ratios.
    pub(crate) log: bool,
}

impl Axis {
    pub(crate) const fn linear(name: &'static str) -> Self {
        Self { name, log: false }
    }

    pub(crate) const fn log(name: &'static str) -> Self {
        Self { name, log: true }
    }

    fn place(self, value: f64) -> f64 {
        if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value }
    }
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Points that follow each other.
    Line,
    /// Points for themselves.
    Dots,
}

/// What belongs together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    /// Where runs lie: the lowest and the highest at each point, if there are several.
    pub(crate) band: Vec<(f64, f64)>,
    pub(crate) style: Style,
    /// Which colour: that of its place in the plot, unless a report with several plots knows better.
    pub(crate) colour: Option<usize>,
}

impl Series {
    pub(crate) fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, band: Vec::new(), style: Style::Line, colour: None }
    }

    pub(crate) fn dots(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { style: Style::Dots, ..Self::line(name, points) }
    }
}

/// A plot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plot {
    /// Its name in files.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

const WIDTH: f64 = 720.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const INNER: f64 = 300.0;
/// Below the axis: its numbers and its name.
const UNDER: f64 = 46.0;
/// A line of the legend.
const ROW: f64 = 18.0;

/// Told apart by those who see no red or green, too.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#7f7f7f", "#9467bd"];
const DASHES: [&str; 3] = ["", "6 3", "2 3"];

/// Where values lie on the page.
struct Scale {
    axis: Axis,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    fn of(axis: Axis, values: impl Iterator<Item = f64>, (from, to): (f64, f64)) -> Self {
        let (low, high) = values
            .map(|value| axis.place(value))
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low.is_finite() { (low, high) } else { (0.0, 1.0) };
        let room = if high > low { 0.04 * (high - low) } else { 0.5 };
        Self { axis, low: low - room, high: high + room, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (self.axis.place(value) - self.low) / (self.high - self.low);
        self.from + share * (self.to - self.from)
    }

    /// Round numbers along the axis.
    fn ticks(&self) -> Vec<f64> {
        if self.axis.log {
            let decades = self.low.floor() as i32..=self.high.ceil() as i32;
            let factors: &[f64] = if self.high - self.low > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
            let all = decades.flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
            return all.filter(|value| (self.low..=self.high).contains(&value.log10())).collect();
        }
        let step = round_step((self.high - self.low) / 6.0);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|count| count as f64 * step).collect()
    }

    /// A tick in as few digits as tell it from its neighbours.
    fn shown(&self, value: f64) -> String {
        if self.axis.log {
            return format!("{value}");
        }
        let step = round_step((self.high - self.low) / 6.0);
        let digits = (-step.log10().floor()).max(0.0) as usize;
        format!("{value:.digits$}")
    }
}

/// A round number not below `least`: 1, 2 or 5 times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

impl Plot {
    /// An SVG document.
    pub(crate) fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let bands = self.series.iter().flat_map(|series| &series.band).flat_map(|&(low, high)| [low, high]);
        let x = Scale::of(self.x, points().map(|point| point.0), (LEFT, WIDTH - RIGHT));
        let y = Scale::of(self.y, points().map(|point| point.1).chain(bands), (TOP + INNER, TOP));
        let bottom = TOP + INNER;
        let height = bottom + UNDER + ROW * self.series.len().div_ceil(2) as f64 + 6.0;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
             font-size=\"12\" role=\"img\">\n<title>{title}</title>\n<style>text{{fill:#333}}.g{{stroke:#8885}}\
             .a{{stroke:#888}}@media (prefers-color-scheme:dark){{text{{fill:#ddd}}}}</style>\n\
             <text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">{title}</text>\n",
            title = escaped(&self.title)
        );
        for value in y.ticks() {
            let at = y.at(value);
            out.push_str(&format!(
                "<line class=\"g\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/><text x=\"{:.1}\" \
                 y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                WIDTH - RIGHT,
                LEFT - 6.0,
                at + 4.0,
                y.shown(value)
            ));
        }
        for value in x.ticks() {
            let at = x.at(value);
            out.push_str(&format!(
                "<line class=\"g\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/><text x=\"{at:.1}\" \
                 y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
                bottom + 16.0,
                x.shown(value)
            ));
        }
        out.push_str(&format!(
            "<path class=\"a\" fill=\"none\" d=\"M{LEFT} {TOP}V{bottom}H{:.1}\"/>\n<text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{}{}</text>\n<text transform=\"translate(14 {:.1}) rotate(-90)\" \
             text-anchor=\"middle\">{}{}</text>\n",
            WIDTH - RIGHT,
            f64::midpoint(LEFT, WIDTH - RIGHT),
            bottom + 34.0,
            escaped(self.x.name),
            log_scale(self.x),
            f64::midpoint(TOP, bottom),
            escaped(self.y.name),
            log_scale(self.y),
        ));
        for (index, series) in self.series.iter().enumerate() {
            let colour = series.colour.unwrap_or(index);
            self.draw(&mut out, series, colour, (&x, &y));
            let (column, row) = (index % 2, index / 2);
            let left = LEFT + column as f64 * (WIDTH - LEFT - RIGHT) / 2.0;
            let line = bottom + UNDER + ROW * row as f64 + 8.0;
            out.push_str(&mark(series.style, colour, left, line - 4.0));
            out.push_str(&format!(
                "<text x=\"{:.1}\" y=\"{line:.1}\">{}</text>\n",
                left + 34.0,
                escaped(&series.name)
            ));
        }
        out + "</svg>\n"
    }

    fn draw(&self, out: &mut String, series: &Series, index: usize, (x, y): (&Scale, &Scale)) {
        let colour = COLOURS[index % COLOURS.len()];
        if series.band.len() == series.points.len() && !series.band.is_empty() {
            let point = |at: f64, value: f64| format!("{:.1},{:.1}", x.at(at), y.at(value));
            let xs = series.points.iter().map(|point| point.0);
            let low = xs.clone().zip(&series.band).map(|(at, band)| point(at, band.0));
            let high = xs.zip(&series.band).rev().map(|(at, band)| point(at, band.1));
            let all: Vec<String> = low.chain(high).collect();
            out.push_str(&format!(
                "<polygon fill=\"{colour}\" fill-opacity=\"0.18\" points=\"{}\"/>\n",
                all.join(" ")
            ));
        }
        if series.style == Style::Line {
            let points: Vec<String> =
                series.points.iter().map(|&(a, b)| format!("{:.1},{:.1}", x.at(a), y.at(b))).collect();
            out.push_str(&format!(
                "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{}\" points=\"{}\"/>\n",
                DASHES[index / COLOURS.len() % DASHES.len()],
                points.join(" ")
            ));
        }
        let (radius, opacity) = match series.style {
            Style::Line => (3.0, 1.0),
            Style::Dots => (2.2, 0.5),
        };
        for &(a, b) in &series.points {
            out.push_str(&format!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\" fill=\"{colour}\" fill-opacity=\"{opacity}\"/>\n",
                x.at(a),
                y.at(b)
            ));
        }
    }
}

fn log_scale(axis: Axis) -> &'static str {
    if axis.log { " (log scale)" } else { "" }
}

/// The sign of a series in the legend.
fn mark(style: Style, index: usize, left: f64, line: f64) -> String {
    let colour = COLOURS[index % COLOURS.len()];
    let middle = left + 14.0;
    let dot = format!("<circle cx=\"{middle:.1}\" cy=\"{line:.1}\" r=\"3\" fill=\"{colour}\"/>");
    match style {
        Style::Dots => dot,
        Style::Line => format!(
            "<line x1=\"{left:.1}\" x2=\"{:.1}\" y1=\"{line:.1}\" y2=\"{line:.1}\" stroke=\"{colour}\" \
             stroke-width=\"2\" stroke-dasharray=\"{}\"/>{dot}",
            left + 28.0,
            DASHES[index / COLOURS.len() % DASHES.len()]
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let scale = |axis, low: f64, high: f64| Scale::of(axis, [low, high].into_iter(), (0.0, 100.0));
        let linear = scale(Axis::linear("x"), 0.0, 10.0);
        assert_eq!(linear.ticks(), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert!(linear.at(0.0) > 0.0 && linear.at(10.0) < 100.0 && (linear.at(5.0) - 50.0).abs() < 1e-9);
        let small = scale(Axis::linear("x"), -18.31, -18.22);
        assert!(small.ticks().len() >= 4, "{:?}", small.ticks());
        assert_eq!(small.shown(small.ticks()[0]), "-18.30");
        let log = scale(Axis::log("x"), 1.0, 100.0);
        assert_eq!(log.ticks(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert!((log.at(10.0) - 50.0).abs() < 1e-9);
        // One point, or none, is no division by zero.
        assert!(scale(Axis::linear("x"), 3.0, 3.0).at(3.0).is_finite());
        assert!(Scale::of(Axis::log("x"), std::iter::empty(), (0.0, 1.0)).at(1.0).is_finite());
    }

    #[test]
    fn a_plot_names_its_axes_and_its_series() {
        let plot = Plot {
            name: "p".into(),
            title: "A < B".into(),
            x: Axis::log("beam"),
            y: Axis::linear("model score, nats"),
            series: vec![
                Series {
                    band: vec![(0.0, 2.0), (1.0, 3.0)],
                    ..Series::line("one", vec![(1.0, 1.0), (10.0, 2.0)])
                },
                Series::dots("two", vec![(2.0, 1.5)]),
            ],
        };
        let svg = plot.svg();
        for part in ["A &lt; B", "beam (log scale)", "model score, nats<", ">one<", ">two<", "<polygon"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(svg.matches("<polyline").count(), 1);
        // Two points, one dot, two signs of the legend.
        assert_eq!(svg.matches("<circle").count(), 5);
    }
}
