//! The bar while traces are read: bytes from the disk, rate, time left.
//!
//! Responsible for: showing it only to people, only after a moment. Refuses to slow reading down.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Nobody wants to see a bar for less.
const PATIENCE: Duration = Duration::from_millis(300);

/// The bar.
pub(super) struct Progress {
    bar: ProgressBar,
    begin: Instant,
    wanted: bool,
    shown: AtomicBool,
}

impl Progress {
    pub(super) fn new(wanted: bool, bytes: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::hidden());
        if let Ok(style) =
            ProgressStyle::with_template("reading {bar:30} {percent}% {decimal_bytes_per_sec}, {eta} left")
        {
            bar.set_style(style);
        }
        Self { bar, begin: Instant::now(), wanted, shown: AtomicBool::new(false) }
    }

    fn advance(&self, bytes: u64) {
        if !self.wanted {
            return;
        }
        self.bar.inc(bytes);
        if self.begin.elapsed() >= PATIENCE && !self.shown.swap(true, Ordering::SeqCst) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// A stream that tells the bar what was read of it.
    pub(super) fn watch<R: Read>(&self, stream: R) -> Watched<'_, R> {
        Watched { stream, progress: self }
    }
}

/// A stream that is watched.
pub(super) struct Watched<'a, R> {
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
