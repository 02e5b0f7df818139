//! Between who works and who waits: how far the work is, and whether it is still wanted.

use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

/// How far a piece of work is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Units done.
    pub done: u64,
    /// Units in all, as far as is known now; 0 if it is not.
    pub total: u64,
    /// What is being done, for people.
    pub message: String,
    /// The best result so far, in the form of the work.
    pub best: Option<Value>,
}

/// One piece of work, seen from both sides.
#[derive(Debug)]
pub struct Watch {
    stop: AtomicBool,
    progress: watch::Sender<Progress>,
    /// Called at every change, where no other thread can follow.
    listener: Option<fn(&Progress)>,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            stop: AtomicBool::new(false),
            progress: watch::Sender::new(Progress::default()),
            listener: None,
        }
    }
}

impl Watch {
    /// A watch whose progress goes to a function, on the thread that works.
    pub fn reported_to(listener: fn(&Progress)) -> Self {
        Self { listener: Some(listener), ..Self::default() }
    }

    /// Reports progress. Cheap; only the latest report is visible.
    pub fn report(&self, change: impl FnOnce(&mut Progress)) {
        self.progress.send_modify(change);
        if let Some(listener) = self.listener {
            listener(&self.progress.borrow());
        }
    }

    /// Whether the work is no longer wanted.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Cancels the work.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    /// Follows the progress.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn follow(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }
}
