//! Progress: on a terminal a bar with the time left, elsewhere a line per minute.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use sylvan_base::Progress;

/// Seconds between two lines where there is no terminal, unless SYLVAN_PROGRESS says otherwise.
const BETWEEN: f64 = 60.0;

/// Shows the progress of each stage.
#[derive(Debug, Default)]
pub(crate) struct Terminal {
    bar: Mutex<Option<ProgressBar>>,
    /// Where there is no terminal.
    lines: Mutex<Option<Lines>>,
}

/// Progress as lines of a log.
#[derive(Debug)]
struct Lines {
    stage: String,
    total: Option<u64>,
    since: Instant,
    every: Duration,
    next: Duration,
}

impl Lines {
    fn new(stage: &str, total: Option<u64>) -> Self {
        let asked = std::env::var("SYLVAN_PROGRESS").ok().and_then(|text| text.parse().ok());
        let every = Duration::try_from_secs_f64(asked.unwrap_or(BETWEEN)).unwrap_or(Duration::MAX);
        Self { stage: stage.to_string(), total, since: Instant::now(), every, next: every }
    }

    /// The line that is due after so much time, if any is.
    fn due(&mut self, done: u64, gone: Duration) -> Option<String> {
        if gone < self.next {
            return None;
        }
        self.next = gone.saturating_add(self.every);
        let seconds = gone.as_secs_f64();
        let (stage, gone) = (&self.stage, span(seconds));
        let part = self.total.filter(|&total| total > 0).map(|total| (total, done as f64 / total as f64));
        Some(match part {
            Some((total, part)) if part > 0.0 => {
                let left = span(seconds * (1.0 - part).max(0.0) / part);
                format!(
                    "  {stage}: {done} of {total} ({:.0} %), {gone} gone, about {left} left",
                    100.0 * part
                )
            }
            _ => format!("  {stage}: {done}, {gone} gone"),
        })
    }
}

/// A length of time for people.
fn span(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

#[allow(clippy::print_stderr)]
fn say(line: &str) {
    eprintln!("{line}");
}

impl Terminal {
    fn with_bar(&self, use_bar: impl FnOnce(&mut Option<ProgressBar>)) {
        // A panic elsewhere must not turn into a second one here.
        use_bar(&mut self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }

    fn with_lines(&self, use_lines: impl FnOnce(&mut Option<Lines>)) {
        use_lines(&mut self.lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }
}

impl Progress for Terminal {
    fn begin(&self, stage: &str, total: Option<u64>) {
        if !std::io::stderr().is_terminal() {
            return self.with_lines(|slot| *slot = Some(Lines::new(stage, total)));
        }
        let bar = match total {
            Some(total) => ProgressBar::new(total).with_style(style(
                "{msg:<28} {wide_bar} {human_pos}/{human_len}  {elapsed} gone, {eta} left",
            )),
            None => ProgressBar::new_spinner().with_style(style("{msg:<28} {human_pos}  {elapsed} gone")),
        };
        bar.set_message(stage.to_string());
        bar.enable_steady_tick(Duration::from_millis(200));
        self.with_bar(|slot| *slot = Some(bar));
    }

    fn at(&self, done: u64) {
        self.with_lines(|slot| {
            if let Some(line) = slot.as_mut().and_then(|lines| lines.due(done, lines.since.elapsed())) {
                say(&line);
            }
        });
        self.with_bar(|slot| {
            if let Some(bar) = slot {
                bar.set_position(done);
            }
        });
    }

    fn end(&self) {
        self.with_lines(|slot| *slot = None);
        self.with_bar(|slot| {
            if let Some(bar) = slot.take() {
                bar.finish_and_clear();
            }
        });
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_gets_a_line_per_minute_with_the_time_left() {
        let mut lines = Lines {
            every: Duration::from_secs(60),
            next: Duration::from_secs(60),
            ..Lines::new("links", Some(400))
        };
        assert_eq!(lines.due(10, Duration::from_secs(59)), None);
        assert_eq!(
            lines.due(100, Duration::from_secs(60)).as_deref(),
            Some("  links: 100 of 400 (25 %), 60 s gone, about 3 min left")
        );
        assert_eq!(lines.due(110, Duration::from_secs(100)), None);
        lines.total = None;
        assert_eq!(lines.due(300, Duration::from_secs(7200)).as_deref(), Some("  links: 300, 2.0 h gone"));
    }
}
