//! How far long work is, and whether it is still wanted: a bar and Ctrl-C for people, a watch for whoever asks through the server.
//!
//! Responsible for: showing a bar only to people, only after a moment; one handler of Ctrl-C in the program. Refuses to slow work down.

mod bar;

use bar::Bar;
use railwright_server::Watch;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};

/// How far a piece of work is.
pub(crate) struct Progress {
    bar: Option<Bar>,
    watch: Option<Arc<Watch>>,
    reached: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// A bar of so many units after a template of indicatif's, and what a watch reads beside the numbers.
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

    /// So many units more are done.
    pub(crate) fn advance(&self, units: u64) {
        self.advance_to(units, || None);
    }

    /// The same, with words about it for whoever looks.
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

    /// A step was found that takes so many seconds; the shortest is told.
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

    /// So many units of so many are done.
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

    /// A stream that tells what was read of it.
    pub(crate) fn watch<R: Read>(&self, stream: R) -> Watched<'_, R> {
        Watched { stream, progress: self }
    }
}

/// A stream that is watched.
pub(crate) struct Watched<'a, R> {
    stream: R,
    progress: &'a Progress,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}

/// Work of a core crate that is watched: what it tells moves a bar, and what it hears is whether to go on.
pub(crate) struct Watching {
    pub(super) progress: Progress,
    pub(super) stop: Stop,
}

impl Watching {
    /// So many units of so many are done.
    pub(crate) fn tell(&self, done: usize, total: usize) -> ControlFlow<()> {
        self.progress.reach(done as u64, total as u64);
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Whether it was stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_said()
    }

    /// The work has ended.
    pub(crate) fn finish(&self) {
        self.progress.finish();
    }
}

/// Whether work is no longer wanted.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// Ctrl-C says so.
    Signal,
    /// Whoever asked says so.
    Asked(Arc<Watch>),
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static LISTENS: Once = Once::new();

/// What Ctrl-C does; it says whether it was done before.
type Act = Box<dyn Fn() -> bool + Send>;

/// Nothing to do: the program ends.
static ACT: Mutex<Option<Act>> = Mutex::new(None);

/// From now on Ctrl-C, even where nothing listens to it, leaves no half-written file.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn end_tidily() {
    LISTENS.call_once(|| {
        // Without a handler Ctrl-C ends the program at once, which is no worse.
        let _ = ctrlc::set_handler(move || {
            let act = ACT.lock().unwrap_or_else(PoisonError::into_inner);
            if act.as_ref().is_none_or(|act| act()) {
                // Who asks twice does not want to wait for the answer.
                crate::exit::at_once(crate::exit::INTERRUPTED);
            }
        });
    });
}

/// There is no Ctrl-C in a browser, and no file that is half written.
#[cfg(target_family = "wasm")]
pub(crate) fn end_tidily() {}

impl Stop {
    /// Listens to Ctrl-C from now on.
    pub(super) fn signal() -> Self {
        Self::on_signal(|| INTERRUPTED.swap(true, Ordering::SeqCst));
        Self::Signal
    }

    /// Does something at Ctrl-C; what is done says whether it was done before.
    pub(crate) fn on_signal(act: impl Fn() -> bool + Send + 'static) {
        ACT.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| Box::new(act));
        end_tidily();
    }

    /// Whether it was said.
    pub(crate) fn is_said(&self) -> bool {
        match self {
            Self::Signal => INTERRUPTED.load(Ordering::SeqCst),
            Self::Asked(watch) => watch.is_stopped(),
        }
    }
}
