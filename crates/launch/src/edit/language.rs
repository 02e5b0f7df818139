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

/// Conversion of a kind of file to settings, and the edits that may change a setting.
pub(crate) trait Language {
    /// All settings of a text; `None` if it cannot be read.
    fn settings(&self, text: &str) -> Option<Settings>;
    /// Texts that may contain the target setting, the most natural edit first.
    fn candidates(&self, text: &str, target: &Target, now: &Settings) -> Vec<String>;
    /// The setting as a user of the framework writes it.
    fn spelled(&self, name: &str) -> String;
    /// Reason why the framework does not support a plan.
    fn refusal(&self, _to: &Run) -> Option<String> {
        None
    }
    /// The settings to change for a plan; `thorough` also sets those that an absent word should have settled.
    fn targets(&self, from: &Run, to: &Run, now: &Settings, thorough: bool) -> Vec<Target>;
}
