//! XPlane (`.xplane.pb`): recordings of JAX, TensorFlow and PyTorch/XLA on GPUs and TPUs.
//!
//! Responsible for: a trace for every device plane with the threads of the host; steps, modules and
//! operations as in other readers. Excludes lines derived from others (framework operations, name scopes,
//! sources), and device planes without events.

mod space;

use super::wire::{Fields, Value};
use super::{Keep, Reader, Recording};
use crate::trace::{
    DamageKind, Device, GpuActivity, GpuKind, HostActivity, HostKind, Identity, RankTrace, Source,
};
use railwright_spec::problem::Problem;
use space::{Event, Line, Plane, Space, Stat, space};
use std::collections::BTreeMap;

/// The reader of XPlane files.
pub(super) struct XPlane;

/// Times below this are relative to the start of the recording: 1980, in nanoseconds since 1970.
const EPOCH: i64 = 315_532_800_000_000_000;

impl Reader for XPlane {
    fn name(&self) -> &'static str {
        "XPlane profile"
    }

    fn matches(&self, head: &[u8]) -> bool {
        // The first field is a plane, whose name precedes its lines; the plane itself may be longer than the
        // head.
        let Some(rest) = head.strip_prefix(b"\x0a") else { return false };
        let length = rest.iter().take(10).position(|byte| *byte < 0x80).map_or(0, |at| at + 1);
        let Some(inner) = rest.get(length..).filter(|_| length > 0) else { return false };
        let mut fields = Fields::new(inner).take(3);
        let name = fields.find_map(|(field, value)| match value {
            Value::Bytes(bytes) if field == 2 => Some(bytes),
            _ => None,
        });
        name.is_some_and(|name| {
            [&b"/host:"[..], b"/device:", b"Task Environment", b"#"]
                .iter()
                .any(|start| name.starts_with(start))
        })
    }

    fn read(&self, label: &str, bytes: &[u8], keep: Keep) -> Result<Vec<Recording>, Problem> {
        let space = space(bytes);
        let is_device = |plane: &&Plane<'_>| {
            plane.name.starts_with("/device:") && plane.lines.iter().any(|line| line.len() > 0)
        };
        let devices: Vec<&Plane<'_>> = space.planes.iter().filter(is_device).collect();
        let several = devices.len() > 1;
        let base = base(&space);
        let owners = owners(&devices);
        let mut traces: Vec<RankTrace> = Vec::new();
        for (at, plane) in devices.iter().enumerate() {
            let own = if several { format!("{label} ({})", plane.name) } else { label.to_owned() };
            // Calls that launched on another device belong to that device's trace.
            let elsewhere = |id: u32| owners.get(&id).is_some_and(|of| of.binary_search(&at).is_err());
            traces.push(trace(&space, Some(plane), own, base, keep, &elsewhere));
        }
        if devices.is_empty() {
            traces.push(trace(&space, None, label.to_owned(), base, keep, &|_| false));
        }
        traces.retain(|trace| !trace.gpu.is_empty() || !trace.host.is_empty());
        let Some(first) = traces.first_mut() else {
            return Err(Problem::new("contains no event of a device or a host thread").in_file(label).hint(
                "record with `jax.profiler.trace` around a few steps, and pass the `.xplane.pb` file of each host",
            ));
        };
        first.report.bytes = bytes.len() as u64;
        if space.lost > 0 {
            let at = bytes.len().saturating_sub(space.lost) as u64;
            first
                .report
                .note(DamageKind::Truncated, at, || format!("{} bytes could not be read", space.lost));
        }
        Ok(traces.into_iter().map(|trace| Recording::Rank(Box::new(trace))).collect())
    }
}

/// Offset of all times, in nanoseconds: the start of the recording if times are relative to it, otherwise 0.
fn base(space: &Space<'_>) -> i64 {
    let lines = space.planes.iter().flat_map(|plane| &plane.lines).filter(|line| line.len() > 0);
    if lines.map(|line| line.start).min().is_none_or(|least| least >= EPOCH) {
        return 0;
    }
    let started = space.planes.iter().find_map(|plane| plane.own("profile_start_time"));
    started.and_then(|stat| stat.number()).and_then(|time| i64::try_from(time).ok()).unwrap_or(0)
}

/// Content of a device line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Activities of a stream.
    Work,
    /// Steps.
    Steps,
    /// Runs of compiled programs.
    Modules,
    /// Data derived from other lines.
    Derived,
}

fn holds(line: &str) -> Holds {
    match line {
        "Steps" => Holds::Steps,
        "XLA Modules" => Holds::Modules,
        "Framework Ops"
        | "Framework Name Scope"
        | "TensorFlow Ops"
        | "TensorFlow Name Scope"
        | "Source code"
        | "XLA TraceMe"
        | "Launch Stats"
        | "Kernel Launch"
        | "Source"
        | "Scope" => Holds::Derived,
        _ => Holds::Work,
    }
}

/// Number in `Stream #17(Kernel)`.
fn stream(line: &str) -> Option<u32> {
    let digits = line.split_once('#')?.1;
    digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Start and end of an event, in nanoseconds.
fn times(line: &Line<'_>, event: &Event<'_>, base: i64) -> Option<(i64, i64)> {
    let start = line.start.checked_add(base)?.checked_add(event.offset / 1000)?;
    let end = start.checked_add(event.duration.checked_add(event.offset % 1000)? / 1000)?;
    (event.duration >= 0).then_some((start, end))
}

/// Trace of a device with the threads of its host, or of the host alone.
fn trace(
    space: &Space<'_>,
    device: Option<&Plane<'_>>,
    label: String,
    base: i64,
    keep: Keep,
    elsewhere: &dyn Fn(u32) -> bool,
) -> RankTrace {
    let mut trace = RankTrace { identity: identity(space, device, label, base), ..RankTrace::default() };
    if let Some(plane) = device {
        gpu(plane, base, &mut trace);
    }
    let mut thread = 0;
    for plane in space.planes.iter().filter(|plane| plane.name.starts_with("/host:")) {
        trace.report.note_many(DamageKind::UnreadableEvent, plane.damaged);
        for line in plane.lines.iter().filter(|line| line.len() > 0) {
            host(plane, line, thread, base, keep, elsewhere, &mut trace);
            thread += 1;
        }
    }
    trace.gpu.sort();
    trace.host.sort();
    let impossible = trace.gpu.drop_impossible() + trace.host.drop_impossible();
    trace.report.note_many(DamageKind::BadTime, impossible);
    trace.report.kept = (trace.gpu.len() + trace.host.len()) as u64;
    trace
}

fn identity(space: &Space<'_>, device: Option<&Plane<'_>>, label: String, base: i64) -> Identity {
    let text = |stat: Option<Stat>| match stat {
        Some(Stat::Text(text)) if !text.is_empty() => Some(text),
        _ => None,
    };
    let number = |name| device.and_then(|plane| plane.own(name)).and_then(|stat| stat.number());
    let devices = device.map(|plane| {
        let id = plane
            .name
            .rsplit(':')
            .next()
            .and_then(|digits| digits.split(' ').next())
            .and_then(|id| id.parse().ok());
        let name = ["device_type_string", "gpu_device_name", "device_name", "device_vendor"]
            .iter()
            .find_map(|name| text(plane.own(name)));
        Device {
            id: id.unwrap_or(0),
            name: name.unwrap_or_default(),
            memory_bytes: number("memory_size"),
            multiprocessors: number("core_count").and_then(|count| u32::try_from(count).ok()),
        }
    });
    Identity {
        label,
        source: Source::XPlane,
        host: space.host.clone().filter(|host| !host.is_empty()),
        device: devices.as_ref().map(|device| device.id),
        devices: devices.into_iter().collect(),
        base: (base != 0).then_some(base),
        ..Identity::default()
    }
}

fn gpu(plane: &Plane<'_>, base: i64, trace: &mut RankTrace) {
    trace.report.note_many(DamageKind::UnreadableEvent, plane.damaged);
    // Lines without a stream number follow all numbered ones.
    let mut next = plane
        .lines
        .iter()
        .filter_map(|line| stream(&line.name))
        .max()
        .map_or(0, |most| most.saturating_add(1));
    for line in &plane.lines {
        let what = holds(&line.name);
        trace.report.events += line.len() as u64;
        if what == Holds::Derived {
            for _ in 0..line.len() {
                trace.report.leave_out("lines derived from others");
            }
            continue;
        }
        let stream = stream(&line.name).unwrap_or_else(|| {
            next = next.saturating_add(1);
            next - 1
        });
        let mut rows: Vec<GpuActivity> = Vec::with_capacity(line.len());
        let mut names: BTreeMap<u64, String> = BTreeMap::new();
        for event in line.events() {
            let Some((start, end)) = times(line, &event, base) else {
                trace.report.note_many(DamageKind::BadTime, 1);
                continue;
            };
            let name = names.entry(event.metadata).or_insert_with(|| plane.event_name(event.metadata));
            let (name, kind) = match what {
                Holds::Steps => (format!("step_{}", step_number(plane, &event, name)), GpuKind::Annotation),
                Holds::Modules => (format!("XlaModule:#hlo_module={name}#"), GpuKind::Annotation),
                _ => (name.clone(), kind(name)),
            };
            let number = |wanted| plane.stat(&event, wanted).and_then(|stat| stat.number());
            rows.push(GpuActivity {
                start,
                end,
                name: trace.names.intern(&name),
                kind,
                stream,
                correlation: number("correlation_id")
                    .and_then(|id| u32::try_from(id).ok())
                    .filter(|id| *id != 0),
                bytes: if kind == GpuKind::Copy {
                    number("size").or(number("bytes")).unwrap_or(0)
                } else {
                    0
                },
                ..GpuActivity::default()
            });
        }
        annotate_outer(&mut rows);
        for row in rows {
            trace.gpu.push(row);
        }
    }
}

/// Turns operations that contain others of their line (loops, calls, conditionals) into annotations: they are
/// no work of their own.
fn annotate_outer(rows: &mut [GpuActivity]) {
    rows.sort_by_key(|row| (row.start, std::cmp::Reverse(row.end)));
    for at in 1..rows.len() {
        let inner = rows[at];
        let before = &mut rows[at - 1];
        if inner.start >= before.start && inner.end <= before.end && inner.duration() < before.duration() {
            before.kind = GpuKind::Annotation;
        }
    }
}

fn step_number<'a>(plane: &Plane<'_>, event: &Event<'_>, name: &'a str) -> std::borrow::Cow<'a, str> {
    let known = plane.stat(event, "step_num").and_then(|stat| stat.number());
    known.map_or_else(|| name.trim().into(), |number| number.to_string().into())
}

/// Kind of activity from a device name.
fn kind(name: &str) -> GpuKind {
    let lower = name.to_ascii_lowercase();
    if lower.starts_with("memcpy") || lower.starts_with("copybuffer") {
        GpuKind::Copy
    } else if lower.starts_with("memset") {
        GpuKind::Set
    } else {
        GpuKind::Kernel
    }
}

/// By correlation: indices of the devices with its activities, in order.
fn owners(devices: &[&Plane<'_>]) -> BTreeMap<u32, Vec<usize>> {
    let mut owners: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, plane) in devices.iter().enumerate() {
        for event in plane.lines.iter().flat_map(Line::events) {
            let id = plane.stat(&event, "correlation_id").and_then(|stat| stat.number());
            let Some(id) = id.and_then(|id| u32::try_from(id).ok()) else { continue };
            let of = owners.entry(id).or_default();
            if of.last() != Some(&at) {
                of.push(at);
            }
        }
    }
    owners
}

fn host(
    plane: &Plane<'_>,
    line: &Line<'_>,
    thread: u32,
    base: i64,
    keep: Keep,
    elsewhere: &dyn Fn(u32) -> bool,
    trace: &mut RankTrace,
) {
    let mut names: BTreeMap<u64, String> = BTreeMap::new();
    for event in line.events() {
        trace.report.events += 1;
        let Some((start, end)) = times(line, &event, base) else {
            trace.report.note_many(DamageKind::BadTime, 1);
            continue;
        };
        let name = names.entry(event.metadata).or_insert_with(|| plane.event_name(event.metadata));
        let step = plane.stat(&event, "step_num").and_then(|stat| stat.number());
        let (name, kind) = match step {
            Some(step) => (format!("step_{step}"), HostKind::Annotation),
            None => (name.clone(), host_kind(name)),
        };
        if kind == HostKind::Python && !keep.python {
            trace.report.leave_out("Python functions");
            continue;
        }
        let id = plane.stat(&event, "correlation_id").and_then(|stat| stat.number());
        let correlation = id.and_then(|id| u32::try_from(id).ok()).filter(|id| *id != 0);
        if correlation.is_some_and(elsewhere) {
            continue;
        }
        let name = trace.names.intern(&name);
        trace.host.push(HostActivity {
            start,
            end,
            name,
            kind,
            thread,
            correlation,
            ..HostActivity::default()
        });
    }
}

/// Kind of activity from a host name: Python functions have the form `$file.py:12 name`.
fn host_kind(name: &str) -> HostKind {
    let is_call = ["cuda", "cu", "hip", "hsa_"].iter().any(|start| {
        name.strip_prefix(start)
            .is_some_and(|rest| *start == "hsa_" || rest.starts_with(|c: char| c.is_ascii_uppercase()))
    });
    if name.starts_with('$') {
        HostKind::Python
    } else if is_call {
        HostKind::Runtime
    } else {
        HostKind::Operator
    }
}

#[cfg(test)]
mod tests;
