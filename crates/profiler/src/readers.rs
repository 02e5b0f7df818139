//! From the bytes of a file to what was recorded.
//!
//! Responsible for: taking compressions off ([`inflate()`], [`open`]), telling formats apart by content ([`detect`]), and the list of readers; each format is a module of its
//! own. Refuses paths and names of files: content decides. A damaged event costs that event, a damaged file what comes after the damage, and
//! [`crate::trace::ReadReport`] says both.

mod inflate;
mod kineto;
mod megascan;
mod objects;
mod primus;

pub use inflate::{inflate, open};

use crate::{RankTrace, passes::Passes};
use railwright_spec::problem::Problem;
use std::io::Read;

/// What one file holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Recording {
    /// The trace of one rank.
    Rank(Box<RankTrace>),
    /// Passes of a pipeline, operator by operator, of one rank or of many.
    Passes(Passes),
}

/// What to keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Keep functions of Python, which can be most of a trace.
    pub python: bool,
}

/// A reader of one format.
pub trait Reader: Sync {
    /// The format's name, as `railwright` prints it.
    fn name(&self) -> &'static str;

    /// Whether bytes (inflated; at least the first 64 KiB, or all) look like this format.
    fn matches(&self, head: &[u8]) -> bool;

    /// Reads a whole inflated file. `label` is what errors call it.
    fn read(&self, label: &str, bytes: &[u8], keep: Keep) -> Result<Vec<Recording>, Problem>;

    /// The same from a stream of inflated bytes; readers of large files hold only a window of it.
    fn read_stream(&self, label: &str, source: &mut dyn Read, keep: Keep) -> Result<Vec<Recording>, Problem> {
        let mut bytes = Vec::new();
        source
            .read_to_end(&mut bytes)
            .map_err(|e| Problem::new(format!("it could not be read: {e}")).in_file(label))?;
        self.read(label, &bytes, keep)
    }
}

/// All readers, in the order in which they are asked.
pub fn all() -> &'static [&'static dyn Reader] {
    // The most particular first: the tables of pipeline tracers are events of the Chrome format too.
    &[&primus::PrimusRank, &primus::PrimusConfig, &megascan::MegaScan, &kineto::Kineto]
}

/// The reader of bytes, if one knows them.
pub fn detect(head: &[u8]) -> Option<&'static dyn Reader> {
    all().iter().copied().find(|reader| reader.matches(head))
}
