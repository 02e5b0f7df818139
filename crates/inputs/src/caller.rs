//! The caller of a reader: it receives notes and progress, and may cancel the work.

use railwright_spec::problem::{Problem, Warning};
use std::io::{self, Read};

/// Receiver of notes and progress.
pub trait Caller: Sync {
    /// Receives a note in addition to the result.
    fn note(&self, message: &str);

    /// Receives warnings about the result.
    fn warnings(&self, warnings: &[Warning]);

    /// Tests whether the result is no longer wanted.
    fn is_quiet(&self) -> bool;

    /// The same as an error.
    fn wanted(&self) -> Result<(), Problem>;

    /// Begins work of `total` units: a template of a bar, and a word for the work.
    fn progress(&self, template: &str, doing: &str, total: u64) -> Box<dyn Progress + '_>;
}

/// Progress of one task.
pub trait Progress: Sync {
    /// Adds completed units, with a message.
    fn advance_to(&self, units: u64, words: &dyn Fn() -> Option<String>);

    /// The work is done.
    fn finish(&self);
}

/// A stream that reports consumed bytes.
pub(crate) struct Watched<'a, R> {
    pub(crate) stream: R,
    pub(crate) progress: &'a dyn Progress,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.progress.advance_to(count as u64, &|| None);
        Ok(count)
    }
}

/// A caller without interest in notes and progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Caller for Silent {
    fn note(&self, _: &str) {}

    fn warnings(&self, _: &[Warning]) {}

    fn is_quiet(&self) -> bool {
        false
    }

    fn wanted(&self) -> Result<(), Problem> {
        Ok(())
    }

    fn progress(&self, _: &str, _: &str, _: u64) -> Box<dyn Progress + '_> {
        Box::new(Self)
    }
}

impl Progress for Silent {
    fn advance_to(&self, _: u64, _: &dyn Fn() -> Option<String>) {}

    fn finish(&self) {}
}
