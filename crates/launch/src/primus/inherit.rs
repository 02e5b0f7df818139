//! Files of Primus that a configuration builds on: the module's settings and the model's, each with the files
//! that it extends.
//!
//! Responsible for: opening these files in the given repository and merging their keys, with their lines.
//! Returns the reason if one cannot be read: the keys that it may set stay open.

use crate::Context;
use crate::context::Sources;
use crate::document::{self, Data, Document, Entry};
use railwright_spec::problem::Problem;
use std::collections::{BTreeMap, BTreeSet};

/// Files that one configuration leads to at most.
const MOST_FILES: usize = 40;
/// Folder of the files of models.
const OF_MODELS: &str = "configs/models/";
/// Files that extend one another at most.
const DEEPEST: usize = 8;

/// Keys of further files by path, later files over earlier ones.
#[derive(Debug, Default)]
pub(super) struct Inherited {
    pub(super) entries: BTreeMap<String, Entry>,
    pub(super) sources: Sources,
    /// The first file that cannot be read, and why.
    pub(super) missing: Option<(String, String)>,
    /// Files below which there is none: they list every argument of the framework with its default.
    roots: BTreeSet<String>,
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
            self.missing
                .get_or_insert((path.to_owned(), "too many files inherit from each other".to_owned()));
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
        let parents = parents(&document);
        if parents.is_empty() && depth > 0 {
            self.roots.insert(name.clone());
        }
        for parent in parents {
            self.add_at(&parent, &name, context, depth + 1)?;
        }
        for mut entry in document.entries {
            if entry.path.split('.').next().is_some_and(|section| PARENTS.contains(&section)) {
                continue;
            }
            if entry.spot.line > 0 {
                entry.spot.line += base - 1;
            }
            self.put(entry);
        }
        Ok(())
    }

    /// Tests whether a line is one of a model's file, except the list of all arguments at its root.
    pub(super) fn is_of_model(&self, line: Option<usize>) -> bool {
        let file = line.and_then(|line| self.sources.place(line).0);
        file.is_some_and(|file| file.contains(OF_MODELS) && !self.roots.contains(&file))
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

/// Keys with the files below a file, the lowest first: `extends`, and `bases` over `includes` in the versions
/// of 2025 (`primus/core/utils/yaml_utils.py`).
const PARENTS: [&str; 3] = ["includes", "bases", "extends"];

/// The files below a file, from the lowest. Of several `bases` the first has priority; of several files to
/// extend the last.
fn parents(document: &Document) -> Vec<String> {
    let mut found = Vec::new();
    for key in PARENTS {
        let mut own = match document.get(key).map(|entry| &entry.data) {
            Some(Data::Text(path)) => vec![path.clone()],
            Some(list @ Data::List(_)) => list.names(),
            _ => continue,
        };
        if key != "extends" {
            own.reverse();
        }
        found.append(&mut own);
    }
    found
}
