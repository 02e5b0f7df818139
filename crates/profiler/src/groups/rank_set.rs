//! A set of ranks.
//!
//! Responsible for: comparing sets, and formatting them as start, stride and size. Ranks are unique and
//! ordered.

use serde::{Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// Ranks in order, without duplicates. Copies share their ranks, and comparison of such copies is immediate:
/// every rank of a large job lists the same sets.
#[derive(Clone, Debug, Default, Eq)]
pub struct RankSet(Arc<[u32]>);

impl PartialEq for RankSet {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl PartialOrd for RankSet {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RankSet {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) { Ordering::Equal } else { self.0.cmp(&other.0) }
    }
}

impl RankSet {
    /// The set of these ranks.
    pub fn new(ranks: &[u32]) -> Self {
        let mut ranks = ranks.to_vec();
        ranks.sort_unstable();
        ranks.dedup();
        Self(ranks.into())
    }

    /// `size` ranks from `start`, `stride` apart.
    pub fn range(start: u32, stride: u32, size: u32) -> Self {
        Self((0..size).map(|k| start + k * stride).collect())
    }

    /// Number of entries.
    pub fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// Tests whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranks in order.
    pub fn ranks(&self) -> &[u32] {
        &self.0
    }

    /// Tests whether the set contains a rank.
    pub fn contains(&self, rank: u32) -> bool {
        self.0.binary_search(&rank).is_ok()
    }

    /// Distance between neighbours if it is constant; 1 for a single rank.
    pub fn stride(&self) -> Option<u32> {
        let mut gaps = self.0.windows(2).map(|pair| pair[1] - pair[0]);
        let Some(first) = gaps.next() else { return Some(1) };
        gaps.all(|gap| gap == first).then_some(first)
    }
}

impl RankSet {
    /// The set for a sentence: `rank 3`, `ranks 0-7`, `ranks 1-61 (every 4th)`.
    pub fn words(&self) -> String {
        let nth = |n: u32| match (n % 10, n % 100) {
            (1, rest) if rest != 11 => "st",
            (2, rest) if rest != 12 => "nd",
            (3, rest) if rest != 13 => "rd",
            _ => "th",
        };
        match (self.0.as_ref(), self.stride()) {
            ([one], _) => format!("rank {one}"),
            ([first, _, .., last], Some(stride)) if self.0.len() > 2 && stride > 1 => {
                format!("ranks {first}-{last} (every {stride}{})", nth(stride))
            }
            _ => format!("ranks {self}"),
        }
    }
}

impl fmt::Display for RankSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let few = |ranks: &[u32]| ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        match (self.0.as_ref(), self.stride()) {
            ([], _) => f.write_str("none"),
            (ranks @ ([_] | [_, _]), _) => f.write_str(&few(ranks)),
            ([first, .., last], Some(1)) => write!(f, "{first}-{last}"),
            ([first, .., last], Some(stride)) => write!(f, "{first}-{last}:{stride}"),
            (ranks, None) if ranks.len() <= 8 => f.write_str(&few(ranks)),
            (ranks, None) => write!(f, "{},... ({} ranks)", few(&ranks[..6]), ranks.len()),
        }
    }
}

impl Serialize for RankSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for RankSet {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RankSet".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <Vec<u32>>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_written_as_people_write_them() {
        for (ranks, text, stride) in [
            (vec![3, 1], "1,3", Some(2)),
            (vec![0, 1, 2, 3], "0-3", Some(1)),
            (vec![8, 0, 4, 4], "0-8:4", Some(4)),
            (vec![0, 1, 5], "0,1,5", None),
            (vec![7], "7", Some(1)),
        ] {
            let set = RankSet::new(&ranks);
            assert_eq!((set.to_string().as_str(), set.stride()), (text, stride));
        }
        let words = |ranks: &[u32]| RankSet::new(ranks).words();
        assert_eq!(words(&[1, 5, 9, 13]), "ranks 1-13 (every 4th)");
        assert_eq!(words(&[0, 2, 4]), "ranks 0-4 (every 2nd)");
        assert_eq!(words(&[1, 3]), "ranks 1,3");
        assert_eq!(words(&[0, 1, 2]), "ranks 0-2");
        assert_eq!(words(&[7]), "rank 7");
    }
}
