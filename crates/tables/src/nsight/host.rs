//! Host events of an Nsight export.
//!
//! Responsible for: runtime calls, and NVTX ranges of both kinds (push/pop and start/end) with their domains
//! and their text, inline or by number. A range of the domain `NCCL` is a communication, a range written by
//! PyTorch for an operator is that operator, others are annotations. Excludes marks and everything without an
//! end.

use super::database::{Cells, Export};
use super::read::{HostRow, Payload, Read};
use super::session::process;
use railwright_profiler::trace::{DamageKind, HostActivity, HostKind, NONE};
use rusqlite::Result;
use std::collections::BTreeMap;

pub(super) const RUNTIME: &str = "CUPTI_ACTIVITY_KIND_RUNTIME";
pub(super) const NVTX: &str = "NVTX_EVENTS";

/// Kinds of NVTX events: push/pop ranges, start/end ranges, and names of domains. 70 and 71 are the same
/// ranges with attributes by thread, in the first exports.
const PUSHED: [i64; 2] = [59, 70];
const STARTED: [i64; 2] = [60, 71];
const DOMAIN: i64 = 75;

/// Reads calls and ranges.
pub(super) fn read(export: &Export<'_>, epoch: i64, read: &mut Read) -> Result<()> {
    let columns = ["start", "end", "globalTid", "correlationId", "nameId"];
    export.each(RUNTIME, &columns, |cells| {
        let Some((start, end)) = times(cells, epoch, RUNTIME, read) else { return };
        let name = export.string(cells.whole(4)).unwrap_or("call without a name");
        // The version suffix, as in `cudaLaunchKernel_v7000`, is removed.
        let name = name
            .rsplit_once("_v")
            .filter(|(_, v)| v.bytes().all(|b| b.is_ascii_digit()))
            .map_or(name, |(n, _)| n);
        let thread = cells.whole(2).unwrap_or(0);
        let name = read.names.intern(name);
        let correlation = cells.small(3).filter(|&id| id != 0 && id != NONE);
        let activity = HostActivity {
            start,
            end,
            name,
            kind: HostKind::Runtime,
            correlation,
            ..HostActivity::default()
        };
        let payload = Payload::default();
        read.host.push(HostRow { process: process(thread), thread, activity, payload });
    })?;
    ranges(export, epoch, read)
}

fn times(cells: &Cells<'_>, epoch: i64, table: &'static str, read: &mut Read) -> Option<(i64, i64)> {
    read.report.events += 1;
    let at = read.report.events;
    let Some(start) = cells.whole(0).and_then(|start| start.checked_add(epoch)) else {
        read.report.note(DamageKind::BadTime, at, || format!("a row of {table} without a time"));
        return None;
    };
    // For a range without an end in the recording, the first exports write -1, later ones nothing.
    let Some(end) = cells.whole(1).filter(|&end| end >= 0).and_then(|end| end.checked_add(epoch)) else {
        read.report.note(DamageKind::UnmatchedBegin, at, || format!("a row of {table} without an end"));
        return None;
    };
    if end < start {
        read.report.note(DamageKind::NegativeDuration, at, || format!("a row of {table}"));
        return None;
    }
    Some((start, end))
}

fn ranges(export: &Export<'_>, epoch: i64, read: &mut Read) -> Result<()> {
    let columns =
        ["start", "end", "eventType", "text", "textId", "globalTid", "domainId", "jsonText", "jsonTextId"];
    let text = |cells: &Cells<'_>| cells.text(3).or_else(|| export.string(cells.whole(4))).map(str::to_owned);
    // Domains are numbered by process.
    let mut domains: BTreeMap<(i64, i64), String> = BTreeMap::new();
    export.each(NVTX, &columns, |cells| {
        if cells.whole(2) == Some(DOMAIN) {
            let process = cells.whole(5).map_or(0, process);
            if let Some((domain, name)) = cells.whole(6).zip(text(cells)) {
                domains.insert((process, domain), name);
            }
        }
    })?;
    let text_of = export.has(NVTX, "eventType");
    let mut others = 0;
    export.each(NVTX, &columns, |cells| {
        let kind = cells.whole(2).unwrap_or_default();
        if text_of && !PUSHED.contains(&kind) && !STARTED.contains(&kind) {
            read.report.events += 1;
            others += 1;
            return;
        }
        let Some((start, end)) = times(cells, epoch, NVTX, read) else { return };
        let thread = cells.whole(5).unwrap_or(0);
        let domain = cells.whole(6).and_then(|domain| domains.get(&(process(thread), domain)));
        let text = text(cells).unwrap_or_else(|| "range without a name".to_owned());
        let (kind, name, shapes) = meaning(&text, domain.map(String::as_str));
        let payload = (kind == HostKind::Collective)
            .then(|| cells.text(7).or_else(|| export.string(cells.whole(8))).and_then(Payload::read))
            .flatten()
            .unwrap_or_default();
        let name = read.names.intern(name);
        let shapes = shapes.map(|shapes| read.names.intern(shapes));
        let activity = HostActivity { start, end, name, kind, shapes, ..HostActivity::default() };
        read.host.push(HostRow { process: process(thread), thread, activity, payload });
    })?;
    if others > 0 {
        read.report.left_out.push(("NVTX marks, categories and domains".to_owned(), others));
    }
    Ok(())
}

/// Kind and name of a range, and the shapes that PyTorch's `emit_nvtx` appends to the name of an operator.
fn meaning<'a>(text: &'a str, domain: Option<&str>) -> (HostKind, &'a str, Option<&'a str>) {
    if domain == Some("NCCL") || (domain.is_none() && text.starts_with("nccl") && !text.contains(':')) {
        return (HostKind::Collective, text, None);
    }
    if text.starts_with("aten::") {
        let (name, rest) = text.split_once(", ").unwrap_or((text, ""));
        let shapes = rest.split_once("sizes = ").map(|(_, shapes)| shapes);
        let shapes =
            shapes.map(|shapes| shapes.split_once("]], ").map_or(shapes, |(s, _)| &shapes[..s.len() + 2]));
        return (HostKind::Operator, name, shapes);
    }
    (HostKind::Annotation, without_numbers(text), None)
}

/// A range's name without the numbers of its call, which PyTorch's `emit_nvtx` appends: they differ in every
/// call.
fn without_numbers(text: &str) -> &str {
    [", seq = ", ", op_id = "]
        .into_iter()
        .filter_map(|key| text.split_once(key))
        .filter(|(_, number)| number.starts_with(|c: char| c.is_ascii_digit()))
        .map(|(name, _)| name)
        .min_by_key(|name| name.len())
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_one_name_differ_by_the_numbers_of_their_calls() {
        for (text, name) in [
            ("Optimizer.step#AdamW.step, op_id = 102729", "Optimizer.step#AdamW.step"),
            ("RegisterPostBackwardFunction, seq = 46241, op_id = 993694", "RegisterPostBackwardFunction"),
            ("forward pass", "forward pass"),
            ("load, seq = first", "load, seq = first"),
        ] {
            assert_eq!(meaning(text, None), (HostKind::Annotation, name, None));
        }
    }

    #[test]
    fn payloads_of_nccl_name_communicator_and_size() {
        let of = |json: &str| Payload::read(json).map(|p| (p.communicator, p.bytes, p.ranks));
        let call = r#"{"NCCL communicator ID": 81985529216486895, "Message size [bytes]": 8192}"#;
        assert_eq!(of(call), Some((Some(81_985_529_216_486_895), Some(8192), None)));
        let made = r#"{"NCCL communicator ID": "0x1f", "No. of ranks": 8, "Rank": 3, "CUDA device": 3}"#;
        assert_eq!(of(made), Some((Some(31), None, Some(8))));
        assert_eq!(of("{}"), Some((None, None, None)));
        assert_eq!(of("no payload"), None);
    }
}
