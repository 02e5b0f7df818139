//! Names of spans, each kept once.
//!
//! Responsible for: interning. Refuses to mean anything by a name; [`crate::Phase`], [`crate::Activity`] and
//! [`crate::OperatorFamily`] do.

use std::collections::BTreeMap;

/// A name, by its place in [`Names`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// The names of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    names: Vec<String>,
    known: BTreeMap<String, u32>,
}

impl Names {
    /// The name's place, new or known.
    pub fn intern(&mut self, name: &str) -> NameId {
        if let Some(&known) = self.known.get(name) {
            return NameId(known);
        }
        let id = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.known.insert(name.to_owned(), id);
        NameId(id)
    }

    /// The name at a place; empty when there is none.
    pub fn get(&self, id: NameId) -> &str {
        self.names.get(id.0 as usize).map_or("", String::as_str)
    }

    /// All names in the order of their places.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
