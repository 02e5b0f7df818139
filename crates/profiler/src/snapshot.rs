//! Memory snapshots of PyTorch (`torch.cuda.memory._dump_snapshot`): what fills the device's memory at its peak, and what the allocator makes of it.
//!
//! Responsible for: reading a snapshot's pickle without running it ([`read`]), following its allocations to the peak ([`report`]), and naming what they are for
//! by their stacks; the `[memory]` events of a trace give the same ([`read_trace`]). The format is documented in `torch/cuda/memory.py` and written by `torch/csrc/cuda/memory_snapshot.cpp` and `torch/csrc/cuda/Module.cpp`. Refuses
//! to name what has no stack: record with `torch.cuda.memory._record_memory_history()`.

mod history;
mod instants;
mod kinds;
mod leaks;
mod read;
mod report;

#[cfg(test)]
mod tests;

pub use instants::read as read_trace;
pub use kinds::Use;
pub use leaks::Leak;
pub use read::{Action, Block, BlockState, Device, Event, Segment, Snapshot, Stack, is_snapshot, read};
pub use report::{DeviceReport, Group, Point, SnapshotReport, report};
