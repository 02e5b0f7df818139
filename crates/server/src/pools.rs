//! Separate concurrency limits for quick and long questions.
//!
//! Responsible for: limits of running, waiting and abandoned questions of each kind, so that long questions
//! do not block quick ones. The desk decides the kind of a question.

use crate::Settings;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// Limits of one kind of question.
#[derive(Debug)]
pub(crate) struct WorkerPool {
    /// Permits to run.
    turns: Semaphore,
    /// Permits of threads: running questions, and abandoned ones whose work continues.
    threads: Arc<Semaphore>,
    waiting: AtomicUsize,
    may_wait: usize,
}

/// Limits of both kinds.
#[derive(Debug)]
pub(crate) struct WorkerPools {
    /// Questions of interactive controls.
    pub(crate) quick: WorkerPool,
    /// Questions that may take seconds or more.
    pub(crate) long: WorkerPool,
}

/// A permit of a question. The first part is released when the response is sent or the client disconnects,
/// the second when its work ends.
pub(crate) struct Turn<'a> {
    pub(crate) _turn: SemaphorePermit<'a>,
    pub(crate) thread: OwnedSemaphorePermit,
}

impl WorkerPools {
    pub(crate) fn new(settings: &Settings) -> Self {
        let pool = |at_once: usize| WorkerPool {
            turns: Semaphore::new(at_once),
            threads: Arc::new(Semaphore::new(at_once + settings.given_up)),
            waiting: AtomicUsize::new(0),
            may_wait: settings.waiting,
        };
        Self { quick: pool(settings.questions), long: pool(settings.long_questions) }
    }
}

impl WorkerPool {
    /// Waits for a permit; `None` if too many questions wait, or too many abandoned ones still run.
    pub(crate) async fn turn(&self) -> Option<Turn<'_>> {
        let waiting = Waiting::new(self)?;
        let turn = self.turns.acquire().await.ok()?;
        let thread = Arc::clone(&self.threads).try_acquire_owned().ok()?;
        drop(waiting);
        Some(Turn { _turn: turn, thread })
    }
}

/// Counts a waiting question until it is dropped.
struct Waiting<'a>(&'a WorkerPool);

impl<'a> Waiting<'a> {
    fn new(pool: &'a WorkerPool) -> Option<Self> {
        let before = pool.waiting.fetch_add(1, Ordering::SeqCst);
        let one = Self(pool);
        (before < pool.may_wait).then_some(one)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}
