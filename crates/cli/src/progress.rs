//! Progress on a terminal: a bar with the time left, and silence when standard error is not a terminal.

use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use sylvan_base::Progress;

/// Draws the progress of each stage.
#[derive(Debug, Default)]
pub(crate) struct Terminal {
    bar: Mutex<Option<ProgressBar>>,
}

impl Terminal {
    fn with_bar(&self, use_bar: impl FnOnce(&mut Option<ProgressBar>)) {
        // A panic elsewhere must not turn into a second one here.
        use_bar(&mut self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }
}

impl Progress for Terminal {
    fn begin(&self, stage: &str, total: Option<u64>) {
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
        self.with_bar(|slot| {
            if let Some(bar) = slot {
                bar.set_position(done);
            }
        });
    }

    fn end(&self) {
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
