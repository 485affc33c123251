//! Ctrl-C and requests to end: what is half-written goes, and the user is told how to go on.

use std::sync::{Mutex, PoisonError};

/// What to tell the user, besides that it ended.
static ADVICE: Mutex<String> = Mutex::new(String::new());

/// The exit code of programs that Ctrl-C ended, as shells have it.
const INTERRUPTED: i32 = 130;

/// From now on the program cleans up when it is told to stop.
pub(crate) fn clean_up_when_told_to_stop() {
    // Where no signals can be caught, the system ends the program as it always does.
    let _ = ctrlc::set_handler(|| {
        sylvan_store::remove_unfinished();
        say();
        std::process::exit(INTERRUPTED);
    });
}

/// How to go on after an interruption of this command.
pub(crate) fn advise(text: String) {
    *ADVICE.lock().unwrap_or_else(PoisonError::into_inner) = text;
}

#[allow(clippy::print_stderr)]
fn say() {
    let advice = ADVICE.lock().unwrap_or_else(PoisonError::into_inner);
    if advice.is_empty() {
        eprintln!("interrupted");
    } else {
        eprintln!("interrupted; {advice}");
    }
}
