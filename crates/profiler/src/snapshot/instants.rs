//! The `[memory]` events of a PyTorch profiler trace (`profile_memory=True`) as the history of a snapshot.
//!
//! Responsible for: allocations and frees, with the host frames around them as their stacks. The members are
//! those of `torch/csrc/profiler/kineto_shim.cpp` and `torch/csrc/autograd/profiler_kineto.cpp`: `Bytes`,
//! `Addr`, `Device Type`, `Device Id`, `Total Allocated`, `Total Reserved`. Excludes host memory, unless
//! nothing else was recorded, and fragmentation: such a trace has no segments.

use super::read::{Action, Block, BlockState, Device, Event, Frame, Segment, Snapshot, Stack};
use indexmap::{IndexMap, IndexSet};
use railwright_spec::problem::Problem;
use rustc_hash::FxBuildHasher;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of kept frames per stack, innermost first. Without a limit, frames that never end would
/// make every stack as long as the trace.
const DEEPEST: usize = 256;

/// Number of the host among device types (`c10::DeviceType::CPU`).
const HOST: u64 = 0;

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "traceEvents", deserialize_with = "kept")]
    events: Vec<Row>,
}

#[derive(Deserialize)]
struct Written<'a> {
    #[serde(default, borrow)]
    name: Option<std::borrow::Cow<'a, str>>,
    #[serde(default)]
    ph: Option<std::borrow::Cow<'a, str>>,
    #[serde(default)]
    cat: Option<std::borrow::Cow<'a, str>>,
    #[serde(default)]
    ts: Option<f64>,
    #[serde(default)]
    dur: Option<f64>,
    #[serde(default)]
    tid: Option<serde_json::Value>,
    #[serde(default)]
    args: Option<Arguments>,
}

#[derive(Deserialize, Clone, Copy)]
struct Arguments {
    #[serde(rename = "Bytes", default)]
    bytes: Option<i64>,
    #[serde(rename = "Addr", default)]
    address: Option<u64>,
    #[serde(rename = "Device Type", default)]
    kind: Option<u64>,
    #[serde(rename = "Device Id", default)]
    device: Option<i64>,
    #[serde(rename = "Total Allocated", default)]
    allocated: Option<u64>,
    #[serde(rename = "Total Reserved", default)]
    reserved: Option<u64>,
}

/// Relevant data of an event.
struct Row {
    start: f64,
    end: f64,
    thread: String,
    name: String,
    memory: Option<Arguments>,
}

/// Keeps host frames and `[memory]` events, and drops other events during reading.
fn kept<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Row>, D::Error> {
    struct Rows;
    impl<'de> Visitor<'de> for Rows {
        type Value = Vec<Row>;
        fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            out.write_str("a list of events")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Row>, A::Error> {
            let mut rows = Vec::new();
            while let Some(event) = list.next_element::<Either<'de>>()? {
                rows.extend(match event {
                    Either::Event(event) => row(*event),
                    Either::Other(_) => None,
                });
            }
            Ok(rows)
        }
    }
    input.deserialize_seq(Rows)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Either<'a> {
    #[serde(borrow)]
    Event(Box<Written<'a>>),
    Other(IgnoredAny),
}

fn row(event: Written<'_>) -> Option<Row> {
    let (name, start) = (event.name?.into_owned(), event.ts?);
    let thread = event.tid.map_or_else(String::new, |tid| tid.to_string());
    if name == "[memory]" {
        return Some(Row { start, end: start, thread, name, memory: event.args });
    }
    let frame =
        matches!(event.cat.as_deref(), Some("cpu_op" | "user_annotation" | "python_function" | "Operator"));
    (event.ph.as_deref() == Some("X") && frame).then(|| Row {
        start,
        end: start + event.dur.unwrap_or(0.0),
        thread,
        name,
        memory: None,
    })
}

/// Frame from a name; Python functions have the form `file.py(12): name`.
fn frame(name: &str) -> Frame {
    let python = || {
        let (file, rest) = name.split_once(".py(")?;
        let (line, function) = rest.split_once("): ")?;
        Some(Frame { file: format!("{file}.py").into(), line: line.parse().ok()?, name: function.into() })
    };
    python().unwrap_or_else(|| Frame { name: name.into(), ..Frame::default() })
}

/// State of one device during the iteration over its events.
#[derive(Default)]
struct Running {
    events: Vec<Event>,
    reserved: Option<u64>,
    /// Bytes allocated before the first event.
    before: u64,
    met: BTreeSet<u64>,
}

impl Running {
    fn add(&mut self, row: &Arguments, time: f64, stack: Stack) {
        let (bytes, address) = (row.bytes.unwrap_or(0), row.address.unwrap_or(0));
        let size = bytes.unsigned_abs();
        let time_us = (time >= 0.0).then_some(time as u64);
        let event = |action, size| Event { action, address, size, time_us, stack, free: None };
        if self.events.is_empty() {
            let total = i128::from(row.allocated.unwrap_or(0)) - i128::from(bytes);
            self.before = u64::try_from(total).unwrap_or(0);
        }
        if let Some(now) = row.reserved {
            let was = *self.reserved.get_or_insert(now);
            if now > was {
                self.events.push(event(Action::SegmentAlloc, now - was));
            } else if now < was {
                self.events.push(event(Action::SegmentFree, was - now));
            }
            self.reserved = Some(now);
        }
        if bytes > 0 {
            self.met.insert(address);
            self.events.push(event(Action::Alloc, size));
        } else if bytes < 0 {
            if self.met.insert(address) {
                // The block was part of the memory from before the recording, and is now counted separately.
                self.before = self.before.saturating_sub(size);
            }
            self.events.push(event(Action::FreeRequested, size));
        }
    }
}

/// Reads the `[memory]` events of a trace.
pub fn read(label: &str, text: &str) -> Result<Snapshot, Problem> {
    let document: Document = serde_json::from_str(text)
        .map_err(|error| Problem::new(format!("invalid or truncated JSON: {error}")).in_file(label))?;
    let mut rows = document.events;
    rows.sort_by(|a, b| a.start.total_cmp(&b.start).then(b.end.total_cmp(&a.end)));
    let on_device =
        rows.iter().filter_map(|row| row.memory).any(|row| row.kind.is_some_and(|kind| kind != HOST));
    let mut open: BTreeMap<&str, Vec<(f64, usize)>> = BTreeMap::new();
    let mut stacks: IndexSet<Vec<usize>, FxBuildHasher> = IndexSet::default();
    let mut names: IndexMap<&str, usize, FxBuildHasher> = IndexMap::default();
    let mut devices: BTreeMap<usize, Running> = BTreeMap::new();
    for row in &rows {
        let stack = open.entry(&row.thread).or_default();
        while stack.last().is_some_and(|(end, _)| *end <= row.start) {
            stack.pop();
        }
        let Some(memory) = &row.memory else {
            let next = names.len();
            stack.push((row.end, *names.entry(&row.name).or_insert(next)));
            continue;
        };
        if on_device && memory.kind == Some(HOST) {
            continue;
        }
        let device = memory.device.and_then(|device| usize::try_from(device).ok()).unwrap_or(0);
        if device >= 1024 {
            continue;
        }
        let frames: Vec<usize> = stack.iter().rev().take(DEEPEST).map(|(_, name)| *name).collect();
        let stack = (!frames.is_empty()).then(|| stacks.insert_full(frames).0 as u32);
        devices.entry(device).or_default().add(memory, row.start, stack);
    }
    if devices.is_empty() {
        return Err(Problem::new("this trace contains no `[memory]` events")
            .in_file(label)
            .hint("record with `torch.profiler.profile(profile_memory=True)`"));
    }
    let mut snapshot = Snapshot { has_segments: false, ..Snapshot::default() };
    for (number, running) in devices {
        snapshot.devices.resize(number + 1, Device::default());
        let blocks = [Block {
            address: u64::MAX,
            size: running.before,
            requested: running.before,
            state: BlockState::Allocated,
            stack: None,
        }];
        let size = running.reserved.unwrap_or(0);
        snapshot.segments.push(Segment { device: number as u64, size, blocks: blocks.to_vec() });
        snapshot.devices[number].events = running.events;
    }
    let frames: Vec<Arc<Frame>> = names.keys().map(|name| Arc::new(frame(name))).collect();
    let stack = |list: &Vec<usize>| list.iter().filter_map(|&at| frames.get(at).map(Arc::clone)).collect();
    snapshot.stacks = stacks.iter().map(stack).collect();
    snapshot.checked(label)
}
