//! Positions of groups in the list of a trace, by name and ranks.
//!
//! Responsible for: finding one of fifty thousand groups without a linear search. Does not contain groups:
//! the owner reports every change.

use crate::trace::RankGroup;
use std::collections::{BTreeMap, BTreeSet};

/// Positions by search key; of several, the first counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    names: BTreeMap<String, BTreeSet<u32>>,
    ranks: BTreeMap<Vec<u32>, BTreeSet<u32>>,
    both: BTreeMap<(String, Option<Vec<u32>>), BTreeSet<u32>>,
}

impl Places {
    /// Adds a group at an index.
    pub(super) fn add(&mut self, at: u32, group: &RankGroup) {
        self.names.entry(group.name.clone()).or_default().insert(at);
        if let Some(ranks) = &group.ranks {
            self.ranks.entry(ranks.clone()).or_default().insert(at);
        }
        self.both.entry((group.name.clone(), group.ranks.clone())).or_default().insert(at);
    }

    /// Removes a group at an index.
    pub(super) fn forget(&mut self, at: u32, group: &RankGroup) {
        if let Some(places) = self.names.get_mut(&group.name) {
            places.remove(&at);
        }
        if let Some(places) = group.ranks.as_ref().and_then(|ranks| self.ranks.get_mut(ranks)) {
            places.remove(&at);
        }
        if let Some(places) = self.both.get_mut(&(group.name.clone(), group.ranks.clone())) {
            places.remove(&at);
        }
    }

    /// Index of the first group with a name.
    pub(super) fn named(&self, name: &str) -> Option<u32> {
        self.names.get(name)?.first().copied()
    }

    /// Index of the first group with a name and these ranks; with the name alone if either side lacks the
    /// ranks. Groups without a name are found by ranks.
    pub(super) fn of(&self, name: &str, ranks: Option<&Vec<u32>>) -> Option<u32> {
        let Some(ranks) = ranks else { return self.named(name) };
        if name.is_empty() {
            return self.ranks.get(ranks)?.first().copied();
        }
        let first = |ranks| self.both.get(&(name.to_owned(), ranks))?.first().copied();
        first(Some(ranks.clone())).into_iter().chain(first(None)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn group() -> impl Strategy<Value = RankGroup> {
        let ranks = prop::option::of(prop::collection::vec(0_u32..3, 1..3));
        (prop::sample::select(vec!["", "0", "1", "2"]), ranks).prop_map(|(name, ranks)| RankGroup {
            name: name.to_owned(),
            ranks,
            ..RankGroup::default()
        })
    }

    proptest! {
        #[test]
        fn a_place_is_what_going_through_all_finds(groups in prop::collection::vec(group(), 0..12), changed in group(), wanted in group()) {
            let mut groups = groups;
            let mut places = Places::default();
            for (at, group) in (0..).zip(&groups) {
                places.add(at, group);
            }
            if groups.len() > 1 {
                places.forget(1, &groups[1]);
                groups[1] = changed;
                places.add(1, &groups[1]);
            }
            let RankGroup { name, ranks, .. } = &wanted;
            let agrees = |group: &RankGroup| ranks.is_none() || group.ranks.is_none() || &group.ranks == ranks;
            let same = |group: &RankGroup| agrees(group) && if name.is_empty() && ranks.is_some() { &group.ranks == ranks } else { &group.name == name };
            prop_assert_eq!(places.of(name, ranks.as_ref()).map(|at| at as usize), groups.iter().position(same));
        }
    }
}
