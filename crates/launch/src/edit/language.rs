//! Common parts of edits for every kind of file.
//!
//! Responsible for: settings as texts, targets, and the operations that a kind of file provides. Edits
//! nothing.

use railwright_spec::run::Run;
use std::collections::BTreeMap;

/// A framework's settings as in a file: the name in the framework's words, the values as texts.
pub(crate) type Settings = BTreeMap<String, Vec<String>>;

/// A setting and its target value; `None` to remove it.
pub(crate) type Target = (String, Option<Vec<String>>);

/// A change of one part of a text. A file may have thousands of possible edits, so none of them is a text of
/// its own before it is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Splice {
    from: usize,
    to: usize,
    with: String,
}

impl Splice {
    /// Replaces the bytes `from..to`.
    pub(crate) fn new(from: usize, to: usize, with: impl Into<String>) -> Self {
        Self { from, to, with: with.into() }
    }

    /// The changed text.
    pub(crate) fn applied(&self, text: &str) -> String {
        [&text[..self.from], &self.with, &text[self.to..]].concat()
    }
}

/// Conversion of a kind of file to settings, and the edits that may change a setting.
pub(crate) trait Language {
    /// All settings of a text; `None` if it cannot be read.
    fn settings(&self, text: &str) -> Option<Settings>;
    /// Changes after which a text may contain the target setting, the most natural edit first.
    fn candidates(&self, text: &str, target: &Target, now: &Settings) -> Vec<Splice>;
    /// The setting as a user of the framework writes it.
    fn spelled(&self, name: &str) -> String;
    /// Reason why the framework does not support a plan.
    fn refusal(&self, _to: &Run) -> Option<String> {
        None
    }
    /// The settings to change for a plan; `thorough` also sets those that an absent word should have settled.
    fn targets(&self, from: &Run, to: &Run, now: &Settings, thorough: bool) -> Vec<Target>;
}
