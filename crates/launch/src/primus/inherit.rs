//! Files of Primus that a configuration builds on: the module's settings and the model's, each with the files that it extends.
//!
//! Responsible for: opening these files in the given repository and merging their keys, with their lines. Returns the reason if one cannot
//! be read: the keys that it may set stay open.

use crate::Context;
use crate::context::Sources;
use crate::document::{self, Data, Document, Entry};
use railwright_spec::problem::Problem;
use std::collections::BTreeMap;

/// Files that one configuration leads to at most.
const MOST_FILES: usize = 40;
/// Files that extend one another at most.
const DEEPEST: usize = 8;

/// Keys of further files by path, later files over earlier ones.
#[derive(Debug, Default)]
pub(super) struct Inherited {
    pub(super) entries: BTreeMap<String, Entry>,
    pub(super) sources: Sources,
    /// The first file that cannot be read, and why.
    pub(super) missing: Option<(String, String)>,
}

impl Inherited {
    pub(super) fn new(text: &str, file: &str) -> Self {
        let mut inherited = Self::default();
        inherited.sources.add(file, text);
        inherited
    }

    /// Adds the keys of a file, those of the files that it extends first.
    pub(super) fn add(&mut self, path: &str, from: &str, context: &Context<'_>) -> Result<(), Problem> {
        self.add_at(path, from, context, 0)
    }

    fn add_at(&mut self, path: &str, from: &str, context: &Context<'_>, depth: usize) -> Result<(), Problem> {
        if depth > DEEPEST || self.sources.count() > MOST_FILES {
            self.missing.get_or_insert((path.to_owned(), "too many files extend one another".to_owned()));
            return Ok(());
        }
        let (name, text) = match context.open(path, from) {
            Ok(opened) => opened,
            Err(why) => {
                self.missing.get_or_insert((path.to_owned(), why));
                return Ok(());
            }
        };
        let document = document::yaml(&text, &name)?;
        let base = self.sources.add(&name, &text);
        for parent in parents(&document) {
            self.add_at(&parent, &name, context, depth + 1)?;
        }
        for mut entry in document.entries {
            if entry.path.split('.').next() == Some("extends") {
                continue;
            }
            if entry.spot.line > 0 {
                entry.spot.line += base - 1;
            }
            self.put(entry);
        }
        Ok(())
    }

    /// Sets a key over those of files.
    pub(super) fn put(&mut self, entry: Entry) {
        let below = format!("{}.", entry.path);
        // A value replaces a table, and a table a value.
        self.entries.retain(|known, _| !known.starts_with(&below));
        for (at, _) in entry.path.match_indices('.') {
            self.entries.remove(&entry.path[..at]);
        }
        self.entries.insert(entry.path.clone(), entry);
    }
}

fn parents(document: &Document) -> Vec<String> {
    match document.get("extends").map(|entry| &entry.data) {
        Some(Data::Text(path)) => vec![path.clone()],
        Some(list @ Data::List(_)) => list.names(),
        _ => Vec::new(),
    }
}
