//! A text after its edit.
//!
//! Responsible for: the value, with its changes, and the comment that keeps a software generation. Does not
//! edit.

use crate::annotation;
use serde::Serialize;

/// A text after its edit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Edited {
    /// The whole text.
    pub text: String,
    /// Changed settings, in the framework's words.
    pub changes: Vec<Change>,
}

/// One setting that an edit changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The setting, in the framework's words: `--tensor-model-parallel-size`,
    /// `parallelism.tensor_parallel_degree`.
    pub name: String,
    /// Value in the file; `None` if the setting is absent.
    pub before: Option<String>,
    /// New value; `None` if the setting is removed.
    pub after: Option<String>,
}

impl Edited {
    /// The edit with a comment that keeps a software generation, for changes that remove the evidence for it.
    #[must_use]
    pub fn keeping_software(&self, id: &str) -> Self {
        let (name, value) = annotation::of_software(id);
        let mut changes = self.changes.clone();
        changes.push(Change { name, before: None, after: Some(value) });
        Self { text: annotation::with_software(&self.text, id), changes }
    }
}
