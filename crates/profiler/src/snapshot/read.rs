//! A snapshot's pickle to segments, blocks and events.
//!
//! Responsible for: the members of the format that analyses use, with each shared stack once. Rejects other
//! files, with the missing member.

use crate::flight::pickle::Parts;
use indexmap::{IndexMap, IndexSet};
use railwright_spec::problem::Problem;
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

/// A function on a stack. Frames share texts that exist once in the file, so a repeated text takes no
/// additional memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The file.
    pub file: Arc<str>,
    /// The line; 0 for compiled code.
    pub line: u64,
    /// The function.
    pub name: Arc<str>,
}

/// Index of a stack in [`Snapshot::stacks`]; `None` if not recorded.
pub type Stack = Option<u32>;

/// State of a block of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// Contains a tensor.
    Allocated,
    /// Freed by its owner, still in use by a stream.
    AwaitingFree,
    /// Free.
    Inactive,
}

/// A part of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Start address.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// Requested bytes, before rounding.
    pub requested: u64,
    /// State of the block.
    pub state: BlockState,
    /// Stack of the allocation.
    pub stack: Stack,
}

/// Memory allocated by the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its device.
    pub device: u64,
    /// Size in bytes.
    pub size: u64,
    /// Its consecutive parts.
    pub blocks: Vec<Block>,
}

/// Event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A block was allocated for a tensor.
    Alloc,
    /// The owner released the block.
    FreeRequested,
    /// The block became free.
    FreeCompleted,
    /// The driver allocated a segment (`cudaMalloc`, or a mapping).
    SegmentAlloc,
    /// The driver released a segment.
    SegmentFree,
    /// An allocation failed.
    OutOfMemory,
    /// Anything else.
    Other,
}

/// One event of a device's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Kind of event.
    pub action: Action,
    /// Address.
    pub address: u64,
    /// Number of bytes.
    pub size: u64,
    /// Time in microseconds; `None` in snapshots before PyTorch 2.2.
    pub time_us: Option<u64>,
    /// Stack of the event.
    pub stack: Stack,
    /// Free bytes of the driver after a failed allocation.
    pub free: Option<u64>,
}

/// One device's history, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Events in order.
    pub events: Vec<Event>,
}

/// A snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// True if there are segments of the driver; a trace has none.
    pub has_segments: bool,
    /// All stacks, innermost frame first.
    pub stacks: Vec<Vec<Arc<Frame>>>,
    /// Segments from the driver.
    pub segments: Vec<Segment>,
    /// Each device's history.
    pub devices: Vec<Device>,
}

impl Snapshot {
    /// The snapshot; an error if the sum of its sizes overflows.
    pub(super) fn checked(self, label: &str) -> Result<Self, Problem> {
        let blocks = self.segments.iter().flat_map(|segment| &segment.blocks);
        let mut sizes = (self.segments.iter().map(|segment| segment.size))
            .chain(blocks.flat_map(|block| [block.size, block.requested]))
            .chain(self.devices.iter().flat_map(|device| &device.events).map(|event| event.size));
        if sizes.try_fold(0_u64, u64::checked_add).is_none() {
            return Err(Problem::new("the sizes in this snapshot add up to more than 18 exabytes")
                .in_file(label)
                .hint("the file is damaged: write the snapshot again"));
        }
        Ok(self)
    }
}

/// Tests whether bytes look like a snapshot: a pickle with `segments` near its beginning.
pub fn is_snapshot(head: &[u8]) -> bool {
    crate::flight::pickle::matches(head)
        && memchr::memmem::find(&head[..head.len().min(256)], b"segments").is_some()
}

/// Cache of stacks during reading: a shared list of frames is read once.
#[derive(Default)]
struct Stacks {
    places: IndexMap<usize, Stack, FxBuildHasher>,
    all: IndexSet<Vec<usize>, FxBuildHasher>,
}

impl Stacks {
    fn of(&mut self, parts: &Parts, at: Option<usize>) -> Stack {
        let at = at?;
        if let Some(known) = self.places.get(&at) {
            return *known;
        }
        let frames = parts.items(at);
        let stack = (!frames.is_empty())
            .then(|| u32::try_from(self.all.insert_full(frames.to_vec()).0).ok())
            .flatten();
        self.places.insert(at, stack);
        stack
    }
}

/// Frames and their texts by index in the file, each created once.
struct Frames<'a> {
    parts: &'a Parts,
    texts: IndexMap<usize, Arc<str>, FxBuildHasher>,
    known: IndexMap<usize, Arc<Frame>, FxBuildHasher>,
}

impl Frames<'_> {
    fn text(&mut self, of: usize, name: &str) -> Arc<str> {
        let Some(at) = self.parts.member(of, name) else { return Arc::default() };
        let text = self.texts.entry(at).or_insert_with(|| self.parts.text(at).unwrap_or_default().into());
        Arc::clone(text)
    }

    fn at(&mut self, at: usize) -> Arc<Frame> {
        if let Some(frame) = self.known.get(&at) {
            return Arc::clone(frame);
        }
        let (file, name) = (self.text(at, "filename"), self.text(at, "name"));
        let line = number(self.parts, at, &["line"]).unwrap_or(0);
        let frame = Arc::new(Frame { file, line, name });
        self.known.insert(at, Arc::clone(&frame));
        frame
    }
}

fn number(parts: &Parts, at: usize, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| parts.number(parts.member(at, name)?))
}

/// Blocks of a segment. Before PyTorch 2.1 they have no address: they are contiguous.
fn blocks(parts: &Parts, segment: usize, start: u64, stacks: &mut Stacks) -> Vec<Block> {
    let mut next = start;
    let list = parts.member(segment, "blocks").map_or(&[][..], |at| parts.items(at));
    let block = |&at: &usize| {
        let size = number(parts, at, &["size"])?;
        let address = number(parts, at, &["address"]).unwrap_or(next);
        next = address.saturating_add(size);
        let state = match parts.text(parts.member(at, "state")?)? {
            "active_allocated" => BlockState::Allocated,
            "active_awaiting_free" | "active_pending_free" => BlockState::AwaitingFree,
            _ => BlockState::Inactive,
        };
        // Before PyTorch 2.1, the stack is in the newest entry of the block's history.
        let history = || parts.member(at, "history").and_then(|all| parts.items(all).first().copied());
        let frames = parts.member(at, "frames").or_else(|| parts.member(history()?, "frames"));
        let requested = number(parts, at, &["requested_size"]).unwrap_or(size);
        Some(Block { address, size, requested, state, stack: stacks.of(parts, frames) })
    };
    list.iter().filter_map(block).collect()
}

fn event(parts: &Parts, at: usize, stacks: &mut Stacks) -> Option<Event> {
    let action = match parts.text(parts.member(at, "action")?)? {
        "alloc" => Action::Alloc,
        "free_requested" => Action::FreeRequested,
        "free_completed" => Action::FreeCompleted,
        "segment_alloc" | "segment_map" => Action::SegmentAlloc,
        "segment_free" | "segment_unmap" => Action::SegmentFree,
        "oom" => Action::OutOfMemory,
        _ => Action::Other,
    };
    Some(Event {
        action,
        address: number(parts, at, &["addr"]).unwrap_or(0),
        size: number(parts, at, &["size"]).unwrap_or(0),
        time_us: number(parts, at, &["time_us"]),
        stack: stacks.of(parts, parts.member(at, "frames")),
        free: number(parts, at, &["device_free"]),
    })
}

/// Reads a snapshot.
pub fn read(label: &str, bytes: &[u8]) -> Result<Snapshot, Problem> {
    let parts = Parts::read(label, bytes)?;
    let root = parts.root();
    let Some(list) = parts.member(root, "segments") else {
        return Err(Problem::new("this pickle has no `segments`").in_file(label).hint(
            "write a snapshot with `torch.cuda.memory._dump_snapshot(FILE)` after `torch.cuda.memory._record_memory_history()`",
        ));
    };
    let mut stacks = Stacks::default();
    let mut segments = Vec::new();
    for &at in parts.items(list) {
        let Some(size) = number(&parts, at, &["total_size"]) else { continue };
        let start = number(&parts, at, &["address"]).unwrap_or(0);
        let device = number(&parts, at, &["device"]).unwrap_or(0);
        segments.push(Segment { device, size, blocks: blocks(&parts, at, start, &mut stacks) });
    }
    let traces = parts.member(root, "device_traces").map_or(&[][..], |at| parts.items(at));
    let devices = traces
        .iter()
        .map(|&of| Device {
            events: parts.items(of).iter().filter_map(|&at| event(&parts, at, &mut stacks)).collect(),
        })
        .collect();
    let mut frames = Frames { parts: &parts, texts: IndexMap::default(), known: IndexMap::default() };
    let stacks = stacks.all.iter().map(|list| list.iter().map(|&at| frames.at(at)).collect()).collect();
    Snapshot { has_segments: true, stacks, segments, devices }.checked(label)
}
