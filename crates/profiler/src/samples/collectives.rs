//! Collectives of a job: transfers by operation, ranks and bytes, waits left out.
//!
//! Responsible for: what a collective took once everybody was there. Where the other ranks were not traced the fastest of a kind stands for
//! it, which is a bound from above. Refuses messages between two ranks of which one is unknown.

use super::SampleOptions;
use crate::Job;
use crate::collectives::all_rows;
use crate::communication::Operation;
use crate::joined::Joined;
use railwright_spec::calibration::{CollectiveKind, CollectiveSample, Samples};
use railwright_spec::quantity::Seconds;
use std::collections::BTreeMap;

fn kind(operation: Operation) -> Option<CollectiveKind> {
    Some(match operation {
        Operation::AllReduce => CollectiveKind::AllReduce,
        Operation::AllGather => CollectiveKind::AllGather,
        Operation::ReduceScatter => CollectiveKind::ReduceScatter,
        Operation::AllToAll => CollectiveKind::AllToAll,
        Operation::Broadcast => CollectiveKind::Broadcast,
        _ => return None,
    })
}

/// Takes the collectives of a job.
pub(super) fn collect(job: &Job, joined: &Joined, options: &SampleOptions, all: &mut Samples) {
    let table = &options.profile.tables.communication;
    let rows = all_rows(job, joined, table);
    let starts = || rows.iter().map(|row| row.last_start);
    let extent = (starts().min().unwrap_or(0), starts().max().unwrap_or(0) + 1);
    let mut measured: BTreeMap<(CollectiveKind, u64, u64), Vec<i64>> = BTreeMap::new();
    let mut bounds: BTreeMap<(CollectiveKind, u64, u64), i64> = BTreeMap::new();
    for row in &rows {
        let Some(kind) = row.operation.and_then(kind) else { continue };
        let Some(part) = row.parts.first() else { continue };
        let group = joined.matching.part(part.at).group.and_then(|id| joined.groups.get(id));
        let (Some(bytes), Some(group)) = (row.bytes.filter(|bytes| *bytes > 0), group) else { continue };
        if group.size < 2 || row.shortest <= 0 || !options.part.takes(row.last_start, extent) {
            continue;
        }
        let key = (kind, u64::from(group.size), bytes);
        if row.estimate {
            bounds.entry(key).and_modify(|known| *known = (*known).min(row.shortest)).or_insert(row.shortest);
        } else {
            measured.entry(key).or_default().push(row.shortest);
        }
    }
    bounds.retain(|key, _| !measured.contains_key(key));
    if !bounds.is_empty() {
        all.remarks.push(format!(
            "{} kinds of collectives were traced on one side: the fastest of each stands for its transfer",
            bounds.len()
        ));
    }
    measured.extend(bounds.into_iter().map(|(key, time)| (key, vec![time])));
    all.collectives.extend(measured.into_iter().map(|((operation, ranks, bytes), times)| CollectiveSample {
        operation,
        ranks,
        hosts: None,
        bytes: bytes as f64,
        alone: false,
        times: times.into_iter().map(|t| Seconds::new(t as f64 * 1e-9)).collect(),
    }));
}
