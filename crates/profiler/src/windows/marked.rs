//! Steps of a rank by its host's annotations.

use super::number::step_number;
use crate::RankTrace;
use crate::trace::HostKind;
use std::collections::BTreeSet;

/// Steps from the host: number, start, end, in order.
pub(crate) fn host_steps(trace: &RankTrace) -> Vec<(u64, i64, i64)> {
    let mut known: Vec<Option<Option<u64>>> = vec![None; trace.names.len()];
    let mut steps: Vec<(u64, i64, i64)> = Vec::new();
    let mut seen: BTreeSet<u64> = BTreeSet::new();
    let rows = trace.host.kinds().iter().zip(trace.host.names()).enumerate();
    for (at, (_, name)) in rows.filter(|(_, (kind, _))| **kind == HostKind::Annotation) {
        let Some(cell) = known.get_mut(name.0 as usize) else { continue };
        let recorded = *cell.get_or_insert_with(|| step_number(trace.names.get(*name)));
        if let (Some(number), Some(row)) = (recorded, trace.host.get(at))
            && seen.insert(number)
        {
            steps.push((number, row.start, row.end));
        }
    }
    steps.sort_by_key(|step| step.1);
    steps
}
