//! Progress and cancellation, between worker and client.

use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

/// Progress of work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Units done.
    pub done: u64,
    /// Total units as currently known; 0 if unknown.
    pub total: u64,
    /// Current activity, for display.
    pub message: String,
    /// Best result so far, as JSON of the work's kind; `None` if there is none.
    pub best: Option<Value>,
}

/// Progress and cancellation of one piece of work.
#[derive(Debug)]
pub struct Watch {
    stop: AtomicBool,
    progress: watch::Sender<Progress>,
    /// Called at every change, if no other thread can follow.
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
    /// A watch that reports progress to a function, on the working thread.
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

    /// True if the work is cancelled.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Cancels the work.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    /// Receiver of the progress.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn follow(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }
}
