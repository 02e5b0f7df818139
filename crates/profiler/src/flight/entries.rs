//! Entries of dumps, of one format.

use super::entry;
use super::entry::Entry;
use crate::trace::ReadReport;
use serde_json::Value;

/// Content of a file, and its losses.
pub(super) struct Content {
    /// All but the entries.
    pub(super) value: Value,
    /// The entries; `None` without a list.
    pub(super) entries: Option<Entries>,
    pub(super) report: ReadReport,
}

/// Entries read one by one: a large dump never exists as one tree of values.
#[derive(Default)]
pub(super) struct Entries {
    /// Readable entries.
    pub(super) read: Vec<Entry>,
    /// Number of entries in the file.
    pub(super) seen: u64,
}

impl Entries {
    pub(super) fn take(&mut self, value: &Value) {
        self.seen += 1;
        self.read.extend(entry::entry(value));
    }

    /// Takes the entries out of a dump that was read as one value.
    pub(super) fn out_of(value: &mut Value) -> Option<Self> {
        let Value::Array(list) = value.get_mut("entries")?.take() else { return None };
        let mut entries = Self::default();
        for value in list {
            entries.take(&value);
        }
        Some(entries)
    }
}
