//! Flight records: dumps of PyTorch's flight recorder for a hung job, one file per rank.
//!
//! Responsible for: the columns of a dump that a verdict needs, read from JSON ([`json`]) or from a pickle
//! ([`pickle`], by a reader without execution). Damage loses the damaged part, truncation the part after it,
//! and the report of the record lists both. For the verdict see [`crate::hang`].

pub mod entry;
pub mod json;
pub mod pickle;

#[cfg(test)]
mod tests;

pub use entry::{Entry, FlightRecord, Frame, Group, Status};

use crate::trace::ReadReport;
use railwright_spec::problem::Problem;
use serde_json::Value;

/// Content of a file, and its losses.
struct Content {
    /// All but the entries.
    value: Value,
    /// The entries; `None` without a list.
    entries: Option<Entries>,
    report: ReadReport,
}

/// Entries read one by one: a large dump never exists as one tree of values.
#[derive(Default)]
struct Entries {
    /// Readable entries.
    read: Vec<Entry>,
    /// Number of entries in the file.
    seen: u64,
}

impl Entries {
    fn take(&mut self, value: &Value) {
        self.seen += 1;
        self.read.extend(entry::entry(value));
    }

    /// Takes the entries out of a dump that was read as one value.
    fn out_of(value: &mut Value) -> Option<Self> {
        let Value::Array(list) = value.get_mut("entries")?.take() else { return None };
        let mut entries = Self::default();
        for value in list {
            entries.take(&value);
        }
        Some(entries)
    }
}

/// Tests whether bytes look like a dump.
pub fn matches(head: &[u8]) -> bool {
    pickle::matches(head) || json::matches(head)
}

/// Reads a dump. It does not contain its rank: that is the last number in `label`, as the recorder names its
/// files.
pub fn read(label: &str, bytes: &[u8]) -> Result<FlightRecord, Problem> {
    let content = if pickle::matches(bytes) { pickle::content(label, bytes)? } else { json::content(bytes) };
    entry::record(label, content, bytes.len())
}
