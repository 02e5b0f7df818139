//! Interned names of spans.
//!
//! Responsible for: interning. Names carry no meaning: see [`crate::Phase`], [`crate::Activity`] and
//! [`crate::OperatorFamily`].

use std::collections::BTreeMap;

/// A name: index into [`Names`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// Names of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    names: Vec<String>,
    known: BTreeMap<String, u32>,
}

impl Names {
    /// Index of a name, which is added if new.
    pub fn intern(&mut self, name: &str) -> NameId {
        if let Some(&known) = self.known.get(name) {
            return NameId(known);
        }
        let id = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.known.insert(name.to_owned(), id);
        NameId(id)
    }

    /// Name at an index; empty if there is none.
    pub fn get(&self, id: NameId) -> &str {
        self.names.get(id.0 as usize).map_or("", String::as_str)
    }

    /// All names in the order of their indices.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True if there are no names.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
