//! Memory snapshots of PyTorch (`torch.cuda.memory._dump_snapshot`): composition of the device memory at its
//! peak, and efficiency of the allocator.
//!
//! Responsible for: reading a snapshot's pickle without executing it ([`read`]), following its allocations to
//! the peak ([`report`]), and their purpose from their stacks. The `[memory]` events of a trace give the same
//! ([`read_trace`]). The format is documented in `torch/cuda/memory.py` and written by
//! `torch/csrc/cuda/memory_snapshot.cpp` and `torch/csrc/cuda/Module.cpp`. Memory without a stack has
//! no purpose: record with `torch.cuda.memory._record_memory_history()`.

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
