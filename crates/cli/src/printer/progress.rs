//! Progress and cancellation of long work: a bar and Ctrl-C on a terminal, a watch for clients of the server.
//!
//! Responsible for: a bar on terminals only, after a delay; one Ctrl-C handler of the program. Must not slow
//! work down.

mod bar;

use bar::Bar;
use railwright_commands::Work;
use railwright_server::Watch;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};

/// Progress of a task.
pub(crate) struct Progress {
    bar: Option<Bar>,
    watch: Option<Arc<Watch>>,
    reached: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// A bar with a number of units and an indicatif template, and the message of a watch.
    pub(super) fn new(
        template: &str,
        doing: &str,
        total: u64,
        wanted: bool,
        watch: Option<Arc<Watch>>,
    ) -> Self {
        if let Some(watch) = &watch {
            watch.report(|progress| {
                progress.done = 0;
                progress.total = total;
                doing.clone_into(&mut progress.message);
                progress.best = None;
            });
        }
        let bar = if wanted { Bar::new(template, total) } else { None };
        Self { bar, watch, reached: AtomicU64::new(0), total: AtomicU64::new(total) }
    }

    /// Adds completed units.
    pub(crate) fn advance(&self, units: u64) {
        self.advance_to(units, || None);
    }

    /// The same, with a message.
    pub(crate) fn advance_to(&self, units: u64, words: impl Fn() -> Option<String>) {
        if let Some(watch) = &self.watch {
            watch.report(|progress| {
                progress.done += units;
                if let Some(words) = words() {
                    progress.message = words;
                }
            });
        }
        if let Some(bar) = &self.bar {
            bar.advance(units, words);
        }
    }

    /// Reports a found step time in seconds; the shortest is shown.
    pub(crate) fn found(&self, step_time: f64) {
        if let Some(watch) = &self.watch {
            watch.report(|progress| {
                let best = progress.best.as_ref().and_then(|best| best["step_time"].as_f64());
                if best.is_none_or(|best| step_time < best) {
                    progress.best = Some(serde_json::json!({ "step_time": step_time }));
                }
            });
        }
    }

    /// Sets completed and total units.
    pub(crate) fn reach(&self, done: u64, total: u64) {
        let before = self.reached.swap(done, Ordering::SeqCst);
        if self.total.swap(total, Ordering::SeqCst) != total {
            if let Some(bar) = &self.bar {
                bar.set_total(total);
            }
            if let Some(watch) = &self.watch {
                watch.report(|progress| progress.total = total);
            }
        }
        self.advance(done.saturating_sub(before));
    }

    /// The work is done.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish();
        }
    }
}

impl crate::input::Progress for Progress {
    fn advance_to(&self, units: u64, words: &dyn Fn() -> Option<String>) {
        Progress::advance_to(self, units, words);
    }

    fn finish(&self) {
        Progress::finish(self);
    }
}

/// Adapts progress callbacks of a core crate; returns cancellation.
pub(crate) struct Watching {
    pub(super) progress: Progress,
    pub(super) stop: Stop,
}

impl Work for Watching {
    fn advance(&self, done: usize, total: usize) -> ControlFlow<()> {
        self.progress.reach(done as u64, total as u64);
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_given()
    }

    fn finish(&self) {
        self.progress.finish();
    }
}

/// Source of cancellation.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// Cancelled by Ctrl-C.
    Signal,
    /// Cancelled by the client.
    Asked(Arc<Watch>),
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static LISTENS: Once = Once::new();

/// The Ctrl-C action; returns whether it ran before.
type Act = Box<dyn Fn() -> bool + Send>;

/// Action on Ctrl-C; by default the program ends.
static ACT: Mutex<Option<Act>> = Mutex::new(None);

/// Makes Ctrl-C remove partial files from now on, even without another handler.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn end_tidily() {
    LISTENS.call_once(|| {
        // Without a handler Ctrl-C ends the program immediately, which is acceptable.
        let _ = ctrlc::set_handler(move || {
            let act = ACT.lock().unwrap_or_else(PoisonError::into_inner);
            if act.as_ref().is_none_or(|act| act()) {
                // A second Ctrl-C ends the program immediately.
                crate::exit::at_once(crate::exit::INTERRUPTED);
            }
        });
    });
}

/// There is no Ctrl-C in a browser, and no file that is half written.
#[cfg(target_family = "wasm")]
pub(crate) fn end_tidily() {}

impl Stop {
    /// Installs the Ctrl-C handler.
    pub(super) fn signal() -> Self {
        Self::on_signal(|| INTERRUPTED.swap(true, Ordering::SeqCst));
        Self::Signal
    }

    /// Sets the Ctrl-C action, which returns whether it ran before.
    pub(crate) fn on_signal(act: impl Fn() -> bool + Send + 'static) {
        ACT.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| Box::new(act));
        end_tidily();
    }

    /// Tests whether cancellation was requested.
    pub(crate) fn is_given(&self) -> bool {
        match self {
            Self::Signal => INTERRUPTED.load(Ordering::SeqCst),
            Self::Asked(watch) => watch.is_stopped(),
        }
    }
}
