//! From filled columns to a rank's trace: rows without categories, impossible times, order, overlaps.
//!
//! Responsible for: all work that requires all events. Times are never changed: outliers are dropped,
//! overlaps are counted and kept.

use super::fill::{Fill, LONG, Pending};
use super::head::Head;
use super::rows::ProcessRole;
use crate::trace::{DamageKind, GpuActivity, GpuKind, HostKind, Identity, LIMIT, NONE, Source};
use crate::{NameId, RankTrace};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Creates the trace.
pub(super) fn finish(mut fill: Fill, head: &Head, mut identity: Identity) -> RankTrace {
    place_pending(&mut fill);
    for open in fill.begun.left() {
        fill.report.note(DamageKind::UnmatchedBegin, open.offset, || "a begin without its end".to_owned());
    }
    tie_by_external_id(&mut fill);
    drop_outliers(&mut fill);
    fill.gpu.sort();
    fill.host.sort();
    let impossible = fill.gpu.drop_impossible() + fill.host.drop_impossible();
    fill.report.note_many(DamageKind::BadTime, impossible);
    count_overlaps(&mut fill);
    if head.base != 0 {
        identity.base = Some(head.base);
        let moved = |t: i64| t.saturating_add(head.base).clamp(-LIMIT, LIMIT);
        fill.gpu.map_times(moved);
        fill.host.map_times(moved);
    }
    identity.source = if head.kineto || fill.kineto { Source::Kineto } else { Source::ChromeTrace };
    identity.device =
        fill.devices.iter().max_by_key(|(id, count)| (*count, u32::MAX - id)).map(|(id, _)| *id);
    fill.report.kept = (fill.gpu.len() + fill.host.len()) as u64;
    RankTrace {
        identity,
        names: fill.names,
        gpu: fill.gpu,
        host: fill.host,
        collectives: fill.collectives,
        groups: fill.groups.into_list(),
        report: fill.report,
    }
}

/// Links calls to launched activities by external ids, if no event has a correlation. Calls whose id no
/// activity has stay unchanged.
fn tie_by_external_id(fill: &mut Fill) {
    let [gpu, host] = std::mem::take(&mut fill.external);
    if fill.correlated {
        return;
    }
    for (row, id) in gpu {
        fill.gpu.set_correlation(row, id);
    }
    for (row, id) in host {
        fill.host.set_correlation(row, id);
    }
}

fn place_pending(fill: &mut Fill) {
    let pending = std::mem::take(&mut fill.pending);
    // Without categories, an annotation is a row without a namespace among operators with one.
    let spaced = pending.iter().any(|row| fill.names.get(row.activity.name).starts_with("aten::"));
    let annotates = |fill: &Fill, name: NameId| {
        let name = fill.names.get(name);
        spaced && !name.contains("::") && !name.contains("Backward")
    };
    let mut operators: Vec<Pending> = Vec::new();
    for row in pending {
        let mut activity = row.activity;
        match fill.processes.role(fill.threads.process(activity.thread)) {
            ProcessRole::Device(kind) => fill.gpu.push(GpuActivity {
                start: activity.start,
                end: activity.end,
                name: activity.name,
                kind,
                stream: row.stream,
                correlation: None,
                collective: None,
                bytes: 0,
            }),
            ProcessRole::Runtime => {
                activity.kind = HostKind::Runtime;
                fill.host.push(activity);
            }
            ProcessRole::Host => {
                if annotates(fill, activity.name) {
                    activity.kind = HostKind::Annotation;
                }
                fill.host.push(activity);
            }
            ProcessRole::Operators if annotates(fill, activity.name) => {
                fill.report.leave_out("annotations on the device's row");
            }
            ProcessRole::Operators => operators.push(row),
            ProcessRole::Derived => fill.report.leave_out("derived rows"),
        }
    }
    place_outermost(fill, operators);
}

/// Places operators with times of the device: the outermost one of nested rows is one kernel.
fn place_outermost(fill: &mut Fill, mut operators: Vec<Pending>) {
    operators.sort_by_key(|row| (row.stream, row.activity.start, std::cmp::Reverse(row.activity.end)));
    let mut until: Option<(u32, i64)> = None;
    for Pending { activity, stream } in operators {
        if until.is_some_and(|(open, end)| open == stream && activity.start < end) {
            fill.report.leave_out("operators within others on the device's row");
            continue;
        }
        until = Some((stream, activity.end));
        fill.gpu.push(GpuActivity {
            start: activity.start,
            end: activity.end,
            name: activity.name,
            kind: GpuKind::Kernel,
            stream,
            correlation: None,
            collective: None,
            bytes: 0,
        });
    }
}

/// Drops events that are hours away from all others (a `ts` of 0 among absolute times).
fn drop_outliers(fill: &mut Fill) {
    // If the first event itself is wrong, all others are near the suspect.
    if fill.suspects.len() < 2 && !has_long_rows(fill) {
        return;
    }
    let mut starts: Vec<i64> = fill.gpu.starts().iter().chain(fill.host.starts()).copied().collect();
    if starts.len() < 4 {
        return;
    }
    let quarter = starts.len() / 4;
    let low = *starts.select_nth_unstable(quarter).1;
    let middle = *starts.select_nth_unstable(quarter * 2).1;
    let high = *starts.select_nth_unstable(quarter * 3).1;
    let reach = high.saturating_sub(low).saturating_mul(20).saturating_add(LONG);
    let (first, last) = (middle.saturating_sub(reach), middle.saturating_add(reach));
    let fits = |start: i64, end: i64| start >= first && end <= last;
    let mut dropped = Vec::new();
    fill.gpu.retain(|row| {
        fits(row.start, row.end) || {
            dropped.push((row.start, row.end, row.name));
            false
        }
    });
    fill.host.retain(|row| {
        fits(row.start, row.end) || {
            dropped.push((row.start, row.end, row.name));
            false
        }
    });
    let seconds = |nanoseconds: i64| nanoseconds as f64 / 1e9;
    for (start, end, name) in dropped {
        let suspect = fill.suspects.iter().find(|s| s.start == start);
        let (offset, line) = suspect.map_or((0, String::new()), |s| (s.offset, format!("line {}: ", s.line)));
        let name = fill.names.get(name);
        fill.report.note(DamageKind::OutlyingTime, offset, || {
            if fits(start, start) {
                let long = seconds(end.saturating_sub(start));
                return format!("{line}`{name}` takes {long:.0} s, longer than the trace");
            }
            let away = seconds(start.saturating_sub(middle));
            format!("{line}`{name}` is {away:.0} s from the middle of the trace")
        });
    }
}

fn has_long_rows(fill: &Fill) -> bool {
    let long = |(start, end): (&i64, &i64)| end.saturating_sub(*start) > LONG;
    fill.gpu.starts().iter().zip(fill.gpu.ends()).any(long)
        || fill.host.starts().iter().zip(fill.host.ends()).any(long)
}

/// Counts rows that begin within another one of their stream or thread and end after it.
fn count_overlaps(fill: &mut Fill) {
    let mut streams: IndexMap<u32, Vec<i64>, FxBuildHasher> = IndexMap::default();
    let mut count = 0;
    for ((&start, &end), (&stream, &kind)) in
        fill.gpu.starts().iter().zip(fill.gpu.ends()).zip(fill.gpu.streams().iter().zip(fill.gpu.kinds()))
    {
        // Annotations enclose kernels by design, and waits belong to no stream.
        if matches!(kind, GpuKind::Annotation | GpuKind::Sync) || stream == NONE {
            continue;
        }
        count += overlaps(streams.entry(stream).or_default(), start, end);
    }
    let mut threads: Vec<Vec<i64>> = Vec::new();
    for row in fill.host.iter() {
        let at = row.thread as usize;
        if at >= threads.len() {
            threads.resize(at + 1, Vec::new());
        }
        count += overlaps(&mut threads[at], row.start, row.end);
    }
    fill.report.note_many(DamageKind::PartialOverlap, count);
}

fn overlaps(open: &mut Vec<i64>, start: i64, end: i64) -> u64 {
    while open.last().is_some_and(|&last| last <= start) {
        open.pop();
    }
    let partly = open.last().is_some_and(|&last| end > last);
    open.push(end);
    u64::from(partly)
}
