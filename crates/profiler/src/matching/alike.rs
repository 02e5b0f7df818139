//! The shortest of equal collectives.
//!
//! Responsible for: the shortest part of any rank by group, operation and size, with the number of parts. It
//! estimates the transfer if the last rank is unknown. Excludes parts without a recorded size.

use super::{Matching, Part, PartRef};
use railwright_step::CollectiveKind;
use std::collections::BTreeMap;

/// Group, operation and size.
type Kind = (Option<u32>, Option<CollectiveKind>, u64);

/// Minimum number of equal parts, so that the shortest one hardly waited.
const FEWEST: u32 = 3;

/// By kind: the shortest part in nanoseconds, and the number of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alike(BTreeMap<Kind, (i64, u32)>);

fn kind(part: &Part) -> Option<Kind> {
    Some((part.group.map(|group| group.0), part.operation, part.bytes?))
}

impl Alike {
    /// Shortest parts of a job.
    pub fn of(matching: &Matching) -> Self {
        let mut shortest: BTreeMap<Kind, (i64, u32)> = BTreeMap::new();
        for part in matching.parts.iter().flatten() {
            let Some(kind) = kind(part) else { continue };
            let entry = shortest.entry(kind).or_insert((i64::MAX, 0));
            *entry = (entry.0.min(part.duration()), entry.1.saturating_add(1));
        }
        Self(shortest)
    }

    /// The shortest part of the same kind in nanoseconds; `None` if its size is unknown.
    pub fn shortest(&self, part: &Part) -> Option<i64> {
        self.0.get(&kind(part)?).map(|entry| entry.0)
    }

    /// The shortest part as an estimate of the transfer, in nanoseconds. `None` with too few parts, and for
    /// copies, which wait for no rank.
    pub fn transfer(&self, matching: &Matching, at: PartRef) -> Option<i64> {
        let part = matching.part(at);
        let (shortest, count) = *self.0.get(&kind(part)?)?;
        (count >= FEWEST && part.operation != Some(CollectiveKind::Copy)).then_some(shortest)
    }
}
