//! The threads that translate and explain: a fixed number of them, and a bounded queue of sentences.
//!
//! ```text
//! request --submit--> its sentences --one of each request in turn--> threads --> Ticket (a future)
//! ```
//!
//! Requests take turns, so that a book does not keep a word waiting, and of the queue's room a request takes a share at most,
//! so that a book does not send everybody else away either. A request whose client has gone is dropped, and so is what waits
//! of it. More than the queue holds is refused at once.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use sylvan::{Alternatives, Error, Explanation, Model, Request, Translated, Worker};
use tokio::sync::oneshot;

/// What is to be done with sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Work {
    Translate,
    Explain,
    Alternatives(Part),
}

/// A part of a sentence whose translations are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its words: the first, and one past the last.
    pub(crate) span: [u32; 2],
    /// The label of its constituent, if several have these words.
    pub(crate) label: Option<String>,
    /// How many translations.
    pub(crate) most: usize,
}

/// What came of a sentence.
#[derive(Debug, Clone)]
pub(crate) enum Made {
    Translated(Box<Translated>),
    /// Nothing if it has no words.
    Explained(Option<Arc<Explanation>>),
    /// The same.
    Alternatives(Option<Arc<Alternatives>>),
}

/// What came of a sentence, if anything did.
pub(crate) type Outcome = Result<Made, Failure>;

/// Why a sentence was not translated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Something is wrong with it.
    Bad(String),
    /// The client has gone, or time was up.
    Cancelled,
    /// Something is wrong here.
    Internal,
}

/// The queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Busy;

/// A model that is served. Workers hold the model itself, so this is what tells whether anybody else still wants it.
#[derive(Debug)]
pub(crate) struct Served(pub(crate) Arc<Model>);

/// The sentences of one request.
struct Task {
    model: Arc<Served>,
    work: Work,
    request: Request,
    lines: Vec<String>,
    cancelled: Arc<AtomicBool>,
    /// What is known so far, how many are missing, and who waits for it.
    done: Mutex<Done>,
}

struct Done {
    outcomes: Vec<Option<Outcome>>,
    missing: usize,
    wanted: Option<oneshot::Sender<Vec<Outcome>>>,
}

#[derive(Default)]
struct Queue {
    /// Requests with sentences that nobody has taken yet, and which is the next.
    turns: VecDeque<(Arc<Task>, usize)>,
    /// Sentences, and how many of them count against the room.
    waiting: usize,
    counted: usize,
    closed: bool,
}

impl Queue {
    /// So many sentences of a request are now so many fewer.
    fn taken(&mut self, before: usize, after: usize, share: usize) {
        self.waiting -= before - after;
        self.counted -= before.min(share) - after.min(share);
    }
}

struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
    most: usize,
    /// How many sentences of one request count: its body is here anyway.
    share: usize,
    /// Sentences that something came of.
    made: AtomicU64,
}

/// Whoever panics while holding a lock leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// See the module.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool of {} threads", self.threads.len())
    }
}

/// Sentences that are being translated. Dropping it cancels them.
#[derive(Debug)]
pub(crate) struct Ticket {
    shared: Weak<Shared>,
    cancelled: Arc<AtomicBool>,
    done: Option<oneshot::Receiver<Vec<Outcome>>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a queue of at most {}", self.most)
    }
}

impl Ticket {
    /// Waits for all of them.
    pub(crate) async fn outcomes(mut self) -> Vec<Outcome> {
        match self.done.take() {
            Some(done) => done.await.unwrap_or_default(),
            None => Vec::new(),
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        let Some(shared) = self.shared.upgrade() else { return };
        let mut queue = lock(&shared.queue);
        let is_mine = |(task, _): &(Arc<Task>, usize)| Arc::ptr_eq(&task.cancelled, &self.cancelled);
        if let Some(place) = queue.turns.iter().position(is_mine)
            && let Some((task, next)) = queue.turns.remove(place)
        {
            queue.taken(task.lines.len() - next, 0, shared.share);
        }
    }
}

/// So many large requests fit into the queue.
const SHARES: usize = 16;

impl Pool {
    /// Starts threads; at most `most` sentences wait.
    pub(crate) fn new(threads: usize, most: usize) -> Self {
        let share = (most / SHARES).max(1);
        let queue = Mutex::default();
        let shared = Arc::new(Shared { queue, wake: Condvar::new(), most, share, made: AtomicU64::new(0) });
        let threads = (0..threads.max(1)).map(|_| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || work(&shared))
        });
        Self { threads: threads.collect(), shared }
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.threads.len()
    }

    /// How many sentences wait.
    pub(crate) fn waiting(&self) -> usize {
        lock(&self.shared.queue).waiting
    }

    /// How many sentences something came of so far.
    pub(crate) fn made(&self) -> u64 {
        self.shared.made.load(Ordering::Relaxed)
    }

    /// Queues the lines of a request. An empty queue takes any number of them, and one with room for a request's share takes
    /// the whole request.
    pub(crate) fn submit(
        &self,
        model: &Arc<Served>,
        work: Work,
        request: Request,
        lines: Vec<String>,
    ) -> Result<Ticket, Busy> {
        let cancelled = Arc::new(AtomicBool::new(false));
        let (sender, receiver) = oneshot::channel();
        let mut request = request;
        request.stop.cancel = Some(Arc::clone(&cancelled));
        let count = lines.len();
        let done = Done { outcomes: vec![None; count], missing: count, wanted: Some(sender) };
        let shared = Arc::downgrade(&self.shared);
        let ticket = Ticket { shared, cancelled: Arc::clone(&cancelled), done: Some(receiver) };
        let task = Task { model: Arc::clone(model), work, request, lines, cancelled, done: Mutex::new(done) };
        let mut queue = lock(&self.shared.queue);
        if count == 0 {
            lock(&task.done).wanted.take().map(|wanted| wanted.send(Vec::new()));
            return Ok(ticket);
        }
        let counts = count.min(self.shared.share);
        if queue.counted > 0 && queue.counted + counts > self.shared.most {
            return Err(Busy);
        }
        queue.waiting += count;
        queue.counted += counts;
        queue.turns.push_back((Arc::new(task), 0));
        drop(queue);
        self.shared.wake.notify_all();
        Ok(ticket)
    }
}

impl Drop for Pool {
    /// Nobody waits any more: threads end after the sentence that they are at.
    fn drop(&mut self) {
        let mut queue = lock(&self.shared.queue);
        queue.closed = true;
        queue.turns.clear();
        (queue.waiting, queue.counted) = (0, 0);
        drop(queue);
        self.shared.wake.notify_all();
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// How long a thread without work waits before it looks whether its models are still served.
const IDLE: Duration = Duration::from_millis(500);

/// Takes the next sentence of the request whose turn it is; `idle` is called now and then while there is none.
fn next(shared: &Shared, mut idle: impl FnMut()) -> Option<(Arc<Task>, usize)> {
    let mut queue = lock(&shared.queue);
    loop {
        if let Some((task, line)) = queue.turns.pop_front() {
            let left = task.lines.len() - line;
            queue.taken(left, left - 1, shared.share);
            if line + 1 < task.lines.len() {
                queue.turns.push_back((Arc::clone(&task), line + 1));
            }
            return Some((task, line));
        }
        if queue.closed {
            return None;
        }
        let (woken, waited) = shared.wake.wait_timeout(queue, IDLE).unwrap_or_else(PoisonError::into_inner);
        queue = woken;
        if waited.timed_out() {
            // A model may take a while to go.
            drop(queue);
            idle();
            queue = lock(&shared.queue);
        }
    }
}

/// What a thread does.
fn work(shared: &Shared) {
    // One for each model that is in use.
    let mut workers: Vec<(Weak<Served>, Worker)> = Vec::new();
    while let Some((task, line)) = next(shared, || forget(&mut workers)) {
        let outcome = match task.cancelled.load(Ordering::Relaxed) {
            true => Err(Failure::Cancelled),
            false => catch_unwind(AssertUnwindSafe(|| make(&mut workers, &task, &task.lines[line])))
                .unwrap_or_else(|_| {
                    // Its memory may be in any state.
                    workers.clear();
                    Err(Failure::Internal)
                }),
        };
        shared.made.fetch_add(u64::from(outcome.is_ok()), Ordering::Relaxed);
        let mut done = lock(&task.done);
        done.outcomes[line] = Some(outcome);
        done.missing -= 1;
        if done.missing == 0
            && let Some(wanted) = done.wanted.take()
        {
            let outcomes = std::mem::take(&mut done.outcomes);
            // Nobody may be waiting any more.
            let _ = wanted.send(outcomes.into_iter().flatten().collect());
        }
    }
}

/// Models that are no longer served go.
fn forget(workers: &mut Vec<(Weak<Served>, Worker)>) {
    workers.retain(|(model, _)| model.strong_count() > 0);
}

fn make(workers: &mut Vec<(Weak<Served>, Worker)>, task: &Task, line: &str) -> Outcome {
    let is_of = |model: &Weak<Served>| std::ptr::eq(model.as_ptr(), Arc::as_ptr(&task.model));
    let place = workers.iter().position(|(model, _)| is_of(model)).unwrap_or_else(|| {
        forget(workers);
        workers.push((Arc::downgrade(&task.model), Worker::new(Arc::clone(&task.model.0))));
        workers.len() - 1
    });
    let worker = &mut workers[place].1;
    let made = match &task.work {
        Work::Translate => worker.translate(line, &task.request).map(|made| Made::Translated(Box::new(made))),
        Work::Explain => {
            worker.explain(line, &task.request).map(|found| Made::Explained(found.map(Arc::new)))
        }
        Work::Alternatives(Part { span, label, most }) => worker
            .alternatives(line, *span, label.as_deref(), *most, &task.request)
            .map(|found| Made::Alternatives(found.map(Arc::new))),
    };
    made.map_err(|error| match error {
        Error::Cancelled => Failure::Cancelled,
        other => Failure::Bad(other.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_model_that_is_no_longer_served_is_let_go() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sylvan/tests/formats/model-v1.sylvan");
        let served = || Arc::new(Served(Arc::new(Model::open(&path).expect("a model"))));
        let pool = Pool::new(3, 1000);
        let translate = |model: &Arc<Served>| {
            let lines = vec!["我 会 见 你 。".to_string(); 60];
            let ticket = pool.submit(model, Work::Translate, Request::default(), lines).expect("room");
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
            assert_eq!(runtime.block_on(ticket.outcomes()).len(), 60);
        };
        let old = served();
        translate(&old);
        let model = Arc::downgrade(&old.0);
        drop(old);
        // Nothing else is asked for: threads without work let it go by themselves.
        for _ in 0..1000 {
            if model.upgrade().is_none() {
                return;
            }
            std::thread::sleep(IDLE);
        }
        panic!("somebody still has the old model");
    }
}
