//! Flight records: what PyTorch's flight recorder dumps when a job hangs, one file for each rank.
//!
//! Responsible for: the columns of a dump that a verdict needs, read from JSON ([`json`]) or from a pickle ([`pickle`], by a reader that runs nothing).
//! Refuses to judge; [`crate::hang`] does.

pub mod entry;
pub mod json;
pub mod pickle;

pub use entry::{Entry, FlightRecord, Frame, Group, Status};

use railwright_spec::problem::Problem;

/// Whether bytes look like a dump.
pub fn matches(head: &[u8]) -> bool {
    pickle::matches(head) || json::matches(head)
}

/// Reads a dump. The rank is not written in it: it is the last number in `label`, as the recorder names its files.
pub fn read(label: &str, bytes: &[u8]) -> Result<FlightRecord, Problem> {
    let value =
        if pickle::matches(bytes) { pickle::value(label, bytes)? } else { json::value(label, bytes)? };
    entry::record(label, &value)
}
