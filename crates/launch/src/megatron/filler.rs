//! Arguments on their way into a draft.

use super::arguments::Arguments;
use crate::{Draft, RemarkKind};
use railwright_spec::run::Field;

/// Fills a draft from arguments.
pub(crate) struct Filler<'a> {
    pub(crate) arguments: &'a Arguments,
    pub(crate) draft: &'a mut Draft,
}

impl Filler<'_> {
    /// A whole number of a field.
    pub(crate) fn count(&mut self, name: &str) -> Option<u64> {
        self.arguments.count(name, self.draft)
    }

    /// Sets a key because of a field, given or not.
    pub(crate) fn set<T: Field>(&mut self, key: &str, value: &T, name: &str) {
        let (source, line) = self.arguments.origin(name);
        self.draft.set(key, value, &source, line);
    }

    /// Sets a key to the whole number of a field, if present.
    pub(crate) fn copy(&mut self, name: &str, key: &str) -> Option<u64> {
        let value = self.count(name)?;
        self.set(key, &value, name);
        Some(value)
    }

    /// Adds a remark on a field.
    pub(crate) fn remark(&mut self, kind: RemarkKind, name: &str, message: impl Into<String>) {
        let (source, line) = self.arguments.origin(name);
        self.draft.remark(kind, &source, line, message);
    }
}
