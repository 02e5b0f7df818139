//! Interpretation of event categories.
//!
//! Responsible for: the categories of PyTorch's profiler, of 2021 (capitalized) and since. Ignores categories of others; their rows are
//! classified separately by their process.

use crate::trace::{GpuKind, HostKind};

/// Conversion of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A row of the device.
    Gpu(GpuKind),
    /// A row of the host.
    Host(HostKind),
    /// Excluded, with the reason.
    LeftOut(&'static str),
    /// Determined by its process.
    Unknown,
}

/// The role of a category.
pub(super) fn role(category: &[u8]) -> Role {
    match category {
        b"cpu_op" | b"Operator" => Role::Host(HostKind::Operator),
        b"cuda_runtime" | b"cuda_driver" | b"Runtime" | b"enqueue" | b"dequeue" => {
            Role::Host(HostKind::Runtime)
        }
        b"kernel" | b"Kernel" => Role::Gpu(GpuKind::Kernel),
        b"gpu_memcpy" | b"Memcpy" => Role::Gpu(GpuKind::Copy),
        b"gpu_memset" | b"Memset" => Role::Gpu(GpuKind::Set),
        b"gpu_user_annotation" => Role::Gpu(GpuKind::Annotation),
        b"cuda_sync" => Role::Gpu(GpuKind::Sync),
        b"user_annotation" => Role::Host(HostKind::Annotation),
        b"python_function" => Role::Host(HostKind::Python),
        b"overhead" | b"Overhead" => Role::Host(HostKind::Overhead),
        b"Trace" => Role::LeftOut("the profiler's own span"),
        b"railwright" => Role::LeftOut("slices that railwright added"),
        b"cuda_profiler_range" => Role::LeftOut("ranges of hardware counters"),
        other if is_runtime(other) => Role::Host(HostKind::Runtime),
        other if other.ends_with(b"_insight") => Role::LeftOut("findings of other profilers"),
        _ => Role::Unknown,
    }
}

/// The runtimes of other devices than NVIDIA's: `xpu_runtime`, `mtia_runtime`, `privateuse1_driver`, ...
fn is_runtime(category: &[u8]) -> bool {
    category.ends_with(b"_runtime") || category.ends_with(b"_driver")
}
