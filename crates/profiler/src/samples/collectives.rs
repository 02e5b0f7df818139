//! Collectives of a job: transfers by operation, ranks and bytes, without waits.
//!
//! Responsible for: the time of a collective after all ranks have entered. If the other ranks were not
//! traced, the time is that of the fastest of its kind, an upper bound. Excludes messages with an unknown
//! peer.

use super::options::SampleOptions;
use crate::Job;
use crate::collectives::{CollectiveRow, all_rows};
use crate::joined::Joined;
use railwright_spec::Collective;
use railwright_spec::calibration::{CollectiveSample, Samples};
use railwright_spec::quantity::Seconds;
use railwright_step::CollectiveKind;
use std::collections::BTreeMap;

/// Kind and number of ranks of a row for the cost model: messages count the two ranks that they join.
fn kind(row: &CollectiveRow, size: u32) -> Option<(Collective, u64)> {
    let kind = match row.operation? {
        CollectiveKind::AllReduce => Collective::AllReduce,
        CollectiveKind::AllGather => Collective::AllGather,
        CollectiveKind::ReduceScatter => Collective::ReduceScatter,
        CollectiveKind::AllToAll => Collective::AllToAll,
        CollectiveKind::Broadcast => Collective::Broadcast,
        // Both ends of a message are needed: a single one may have waited for any time.
        CollectiveKind::Send | CollectiveKind::Receive if row.parts.len() == 2 && !row.estimate => {
            return Some((Collective::SendReceive, 2));
        }
        CollectiveKind::SendReceive if size == 2 => Collective::SendReceive,
        _ => return None,
    };
    (size >= 2).then_some((kind, u64::from(size)))
}

/// Entry time of a row's last rank and the time after it, in nanoseconds. If only one side was traced, both
/// are the recording's own. The bound of [`all_rows`] is the fastest of the whole recording, and one half of
/// it must not depend on the other.
fn taken(row: &CollectiveRow) -> (i64, i64) {
    if !row.estimate {
        return (row.last_start, row.shortest);
    }
    let start = row.parts.iter().map(|part| part.start).max();
    let took = row.parts.iter().map(|part| part.duration).min();
    (start.unwrap_or(row.last_start), took.unwrap_or(row.shortest))
}

/// Adds the collectives of a job.
pub(super) fn collect(job: &Job, joined: &Joined, options: &SampleOptions, all: &mut Samples) {
    let table = &options.profile.tables.communication;
    let rows = all_rows(job, joined, table);
    let starts = || rows.iter().map(|row| taken(row).0);
    let extent = (starts().min().unwrap_or(0), starts().max().unwrap_or(0) + 1);
    let mut measured: BTreeMap<(Collective, u64, u64), Vec<i64>> = BTreeMap::new();
    let mut bounds: BTreeMap<(Collective, u64, u64), i64> = BTreeMap::new();
    for row in &rows {
        let Some(part) = row.parts.first() else { continue };
        let group = joined.matching.part(part.at).group.and_then(|id| joined.groups.get(id));
        let (Some(bytes), Some(group)) = (row.bytes.filter(|bytes| *bytes > 0), group) else { continue };
        let Some((kind, ranks)) = kind(row, group.size) else { continue };
        let (start, took) = taken(row);
        if took <= 0 || !options.part.takes(start, extent) {
            continue;
        }
        let key = (kind, ranks, bytes);
        if row.estimate {
            bounds.entry(key).and_modify(|known| *known = (*known).min(took)).or_insert(took);
        } else {
            measured.entry(key).or_default().push(took);
        }
    }
    bounds.retain(|key, _| !measured.contains_key(key));
    if !bounds.is_empty() {
        all.remarks.push(format!(
            "{} kinds of collectives were traced on one rank only: the fastest of each is an upper bound on \
             the transfer, because it may include waiting",
            bounds.len()
        ));
    }
    let sample =
        |((operation, ranks, bytes), times): ((Collective, u64, u64), Vec<i64>), is_bound| CollectiveSample {
            operation,
            ranks,
            hosts: None,
            bytes: bytes as f64,
            alone: false,
            is_bound,
            times: times.into_iter().map(|t| Seconds::new(t as f64 * 1e-9)).collect(),
        };
    all.collectives.extend(measured.into_iter().map(|one| sample(one, false)));
    all.collectives.extend(bounds.into_iter().map(|(key, time)| sample((key, vec![time]), true)));
}
