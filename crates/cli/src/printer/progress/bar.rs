//! The bar of long work at a terminal.
//!
//! Responsible for: a bar after a delay, so that short work stays silent. A browser has no terminal: there is
//! no bar.

#[cfg(not(target_family = "wasm"))]
pub(super) use terminal::Bar;

#[cfg(target_family = "wasm")]
pub(super) use none::Bar;

#[cfg(not(target_family = "wasm"))]
mod terminal {
    use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    /// Shorter work has no bar.
    const PATIENCE: Duration = Duration::from_millis(300);

    /// A bar that is hidden at first.
    pub(in super::super) struct Bar {
        drawn: ProgressBar,
        begin: Instant,
        shown: AtomicBool,
    }

    impl Bar {
        /// A bar with a number of units and an indicatif template.
        #[expect(clippy::unnecessary_wraps, reason = "other targets have no bar")]
        pub(in super::super) fn new(template: &str, total: u64) -> Option<Self> {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            Some(Self { drawn: bar, begin: Instant::now(), shown: AtomicBool::new(false) })
        }

        /// Adds completed units, with a message.
        pub(in super::super) fn advance(&self, units: u64, words: impl Fn() -> Option<String>) {
            self.drawn.inc(units);
            if self.begin.elapsed() < PATIENCE {
                return;
            }
            if let Some(words) = words() {
                self.drawn.set_message(words);
            }
            if !self.shown.swap(true, Ordering::SeqCst) {
                self.drawn.set_draw_target(ProgressDrawTarget::stderr());
            }
        }

        /// Sets the total number of units.
        pub(in super::super) fn set_total(&self, total: u64) {
            self.drawn.set_length(total);
        }

        /// The work is done.
        pub(in super::super) fn finish(&self) {
            self.drawn.finish_and_clear();
        }
    }
}

#[cfg(target_family = "wasm")]
mod none {
    /// No bar.
    pub(in super::super) enum Bar {}

    impl Bar {
        /// Always `None`.
        pub(in super::super) fn new(_: &str, _: u64) -> Option<Self> {
            None
        }

        pub(in super::super) fn advance(&self, _: u64, _: impl Fn() -> Option<String>) {
            match *self {}
        }

        pub(in super::super) fn set_total(&self, _: u64) {
            match *self {}
        }

        pub(in super::super) fn finish(&self) {
            match *self {}
        }
    }
}
