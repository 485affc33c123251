//! Work that takes long: without the interpreter's lock, with messages on the way, and ended by Ctrl-C.
//!
//! The work runs on a thread of its own; the caller's waits for messages and the end, and lets Python look at its signals in
//! between. When one of them raises, the work is told to stop. What knows how to stop does so; everything else is ended at
//! its next sign of progress, by unwinding.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Once};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sylvan_base::Progress;

use crate::errors::Refused;

/// How long a signal may wait.
const LOOK: Duration = Duration::from_millis(50);

thread_local! {
    /// On a thread that works: set when the work is no longer wanted.
    static OVER: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// What unwinds when work is to stop.
struct Stopped;

/// Keeps work that is no longer wanted from complaining. When threads that it started unwind, it ends with a panic of its own,
/// which is as little news as theirs.
pub(crate) fn end_silently() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            let is_over = |over: &RefCell<Option<Arc<AtomicBool>>>| {
                over.borrow().as_ref().is_some_and(|over| over.load(Ordering::Relaxed))
            };
            if !OVER.try_with(is_over).unwrap_or(false) {
                usual(panic);
            }
        }));
    });
}

enum News<T> {
    Line(String),
    Done(Option<Result<T, Refused>>),
}

/// What work reports to.
pub(crate) struct Reporter<'r> {
    stop: Arc<AtomicBool>,
    line: &'r (dyn Fn(String) + Sync),
}

impl Reporter<'_> {
    /// Set when the work is no longer wanted.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Says something; does not return if the work is no longer wanted.
    pub(crate) fn say(&self, line: &str) {
        self.look();
        (self.line)(line.to_string());
    }

    /// Whether the work is no longer wanted: for threads of its own, which must not unwind.
    pub(crate) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Does not return if the work is no longer wanted.
    pub(crate) fn look(&self) {
        if self.is_over() {
            // Not a panic: nobody is to be told.
            resume_unwind(Box::new(Stopped));
        }
    }
}

impl Progress for Reporter<'_> {
    fn begin(&self, stage: &str, _total: Option<u64>) {
        self.say(stage);
    }

    fn at(&self, _done: u64) {
        self.look();
    }

    fn end(&self) {
        self.look();
    }
}

/// Runs work; `hear` gets what it says, with the interpreter's lock.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    hear: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Reporter<'_>) -> Result<T, Refused> + Send,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, mut receiver) = channel::<News<T>>();
    let hears = hear.is_some();
    std::thread::scope(|scope| {
        let told = Arc::clone(&stop);
        let lines: Sender<News<T>> = sender.clone();
        let worker = move || {
            OVER.set(Some(Arc::clone(&told)));
            let lines = std::sync::Mutex::new(lines);
            let line = |line: String| {
                if hears && let Ok(lines) = lines.lock() {
                    let _ = lines.send(News::Line(line));
                }
            };
            let reporter = Reporter { stop: told, line: &line };
            // Whatever unwinds, the caller is waiting.
            let done = catch_unwind(AssertUnwindSafe(|| work(&reporter))).ok();
            let _ = sender.send(News::Done(done));
        };
        if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, worker) {
            return Err(PyRuntimeError::new_err(format!("no thread to work on: {error}")));
        }
        let mut raised = None;
        loop {
            // Nobody else has the receiver: it goes into the part that does without the lock, and comes back.
            let news;
            (news, receiver) = py.detach(move || (receiver.recv_timeout(LOOK), receiver));
            if raised.is_none()
                && let Err(error) = py.check_signals()
            {
                stop.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
            match news {
                Ok(News::Line(line)) => {
                    if let (Some(hear), None) = (hear, &raised)
                        && let Err(error) = hear.call1((line,))
                    {
                        stop.store(true, Ordering::Relaxed);
                        raised = Some(error);
                    }
                }
                Ok(News::Done(done)) => {
                    return match (raised, done) {
                        (Some(error), _) => Err(error),
                        (None, Some(result)) => Ok(result?),
                        (None, None) => Err(unexpected()),
                    };
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(raised.unwrap_or_else(unexpected)),
            }
        }
    })
}

fn unexpected() -> PyErr {
    PyRuntimeError::new_err("sylvan: an unexpected error; please report it with what led to it")
}

/// How many threads: all that there are if nothing is said.
pub(crate) fn threads(wanted: Option<usize>) -> usize {
    match wanted {
        Some(count) if count > 0 => count.min(1024),
        _ => std::thread::available_parallelism().map_or(1, usize::from),
    }
}
