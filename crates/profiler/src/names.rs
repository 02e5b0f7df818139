//! Names of kernels, operators and annotations, each stored once.
//!
//! Responsible for: interning at the speed of reading. Does not interpret names.

use indexmap::{Equivalent, IndexSet};
use rustc_hash::FxBuildHasher;
use std::hash::{Hash, Hasher};

/// Bytes of a possible name: looked up without UTF-8 validation.
struct Raw<'a>(&'a [u8]);

impl Hash for Raw<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Same hash as that of `str`.
        state.write(self.0);
        state.write_u8(0xff);
    }
}

impl Equivalent<Box<str>> for Raw<'_> {
    fn equivalent(&self, key: &Box<str>) -> bool {
        self.0 == key.as_bytes()
    }
}

/// A name, by its index in [`Names`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

/// Names of one trace, in the order of first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    names: IndexSet<Box<str>, FxBuildHasher>,
}

impl Names {
    /// Index of a name; adds it if it is new.
    pub fn intern(&mut self, name: &str) -> NameId {
        if let Some(known) = self.names.get_index_of(name) {
            return NameId(known as u32);
        }
        NameId(self.names.insert_full(name.into()).0 as u32)
    }

    /// Index of a known name.
    pub fn find(&self, name: &str) -> Option<NameId> {
        self.names.get_index_of(name).map(|at| NameId(at as u32))
    }

    /// Index of a known name by its bytes, which may be invalid UTF-8.
    pub fn find_bytes(&self, name: &[u8]) -> Option<NameId> {
        self.names.get_index_of(&Raw(name)).map(|at| NameId(at as u32))
    }

    /// Name at an index; empty if out of range.
    pub fn get(&self, id: NameId) -> &str {
        self.names.get_index(id.0 as usize).map_or("", |name| &**name)
    }

    /// All names in index order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Tests whether there are no names.
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
        assert_eq!((names.find_bytes(b"aten::add"), names.find_bytes(b"aten\xff")), (Some(b), None));
    }
}
