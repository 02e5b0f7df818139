//! Results by name, computed once for all ranks: thousands of ranks have the same names.
//!
//! Responsible for: concurrent lookup and storage. A memo does not affect equality: two tables with equal
//! rows are equal.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::sync::{Arc, PoisonError, RwLock};

/// Maximum number of cached names: more are computed again.
const MOST: usize = 1 << 16;

/// Values by name. A clone shares them, so it must belong to the same rows.
#[derive(Clone, Debug)]
pub(crate) struct Memo<T>(Arc<RwLock<IndexMap<Box<str>, T, FxBuildHasher>>>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> PartialEq for Memo<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Memo<T> {}

impl<T: Copy> Memo<T> {
    /// The cached value of a name, otherwise the result of `find`.
    pub(crate) fn get(&self, name: &str, find: impl FnOnce() -> T) -> T {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).copied();
        if let Some(known) = known {
            return known;
        }
        let found = find();
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST {
            all.insert(name.into(), found);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_once_and_clones_share_it() {
        let memo = Memo::default();
        let mut asked = 0;
        for _ in 0..3 {
            let value = memo.clone().get("ncclDevKernel", || {
                asked += 1;
                7
            });
            assert_eq!(value, 7);
        }
        assert_eq!((asked, memo.get("other", || 8)), (1, 8));
        assert_eq!(memo, Memo::default(), "it is not part of a table");
    }
}
