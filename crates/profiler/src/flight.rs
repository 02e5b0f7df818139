//! Flight records: dumps of PyTorch's flight recorder for a hung job, one file per rank.
//!
//! Responsible for: the columns of a dump that a verdict needs, read from JSON ([`json`]) or from a pickle
//! ([`pickle`], by a reader without execution). Damage loses the damaged part, truncation the part after it,
//! and the report of the record lists both. For the verdict see [`crate::hang`].

mod entries;
pub mod entry;
pub mod json;
pub mod pickle;

mod record;
#[cfg(test)]
mod tests;

pub use entry::{Entry, Frame, Group, Status};
pub use record::FlightRecord;

use railwright_spec::problem::Problem;

/// Tests whether bytes look like a dump.
pub fn matches(head: &[u8]) -> bool {
    pickle::matches(head) || json::matches(head)
}

/// Reads a dump. It does not contain its rank: that is the last number in `label`, as the recorder names its
/// files.
pub fn read(label: &str, bytes: &[u8]) -> Result<FlightRecord, Problem> {
    let content = if pickle::matches(bytes) { pickle::content(label, bytes)? } else { json::content(bytes) };
    record::record(label, content, bytes.len())
}
