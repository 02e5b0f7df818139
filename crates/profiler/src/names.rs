//! Names of kernels, operators and annotations, each kept once.
//!
//! Responsible for: interning at the speed of reading. Refuses to mean anything by a name.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// A name, by its place in [`Names`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

/// The names of one trace, in the order in which they were first seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    names: IndexSet<Box<str>, FxBuildHasher>,
}

impl Names {
    /// The name's place, new or known.
    pub fn intern(&mut self, name: &str) -> NameId {
        if let Some(known) = self.names.get_index_of(name) {
            return NameId(known as u32);
        }
        NameId(self.names.insert_full(name.into()).0 as u32)
    }

    /// The place of a name that is there.
    pub fn find(&self, name: &str) -> Option<NameId> {
        self.names.get_index_of(name).map(|at| NameId(at as u32))
    }

    /// The name at a place; empty when there is none.
    pub fn get(&self, id: NameId) -> &str {
        self.names.get_index(id.0 as usize).map_or("", |name| &**name)
    }

    /// All names in the order of their places.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once() {
        let mut names = Names::default();
        let a = names.intern("aten::mm");
        let b = names.intern("aten::add");
        assert_eq!(names.intern("aten::mm"), a);
        assert_ne!(a, b);
        assert_eq!((names.get(b), names.len(), names.find("aten::mul")), ("aten::add", 2, None));
        assert_eq!(names.get(NameId(9)), "");
    }
}
