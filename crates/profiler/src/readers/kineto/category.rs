//! Interpretation of event categories.
//!
//! Responsible for: the categories of PyTorch's profiler, of 2021 (capitalized) and since. Ignores categories
//! of others; their rows are classified separately by their process.

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

/// The role of an event by its category and name.
pub(super) fn role(category: &[u8], name: &[u8]) -> Role {
    match category {
        b"mtia_ccp_events" => of_mtia(name),
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

/// The role of an event on an MTIA device (Kineto: `MTIA_CCP_EVENTS`): transfers, waits of its streams, and
/// everything that it runs.
fn of_mtia(name: &[u8]) -> Role {
    match name {
        b"dma_request" => Role::Gpu(GpuKind::Copy),
        b"event_record" | b"event_wait" | b"remote" | b"merge" => {
            Role::LeftOut("synchronization of MTIA streams")
        }
        _ => Role::Gpu(GpuKind::Kernel),
    }
}

/// The runtimes of devices other than NVIDIA's: `xpu_runtime`, `mtia_runtime`, `privateuse1_driver`, ...
fn is_runtime(category: &[u8]) -> bool {
    category.ends_with(b"_runtime") || category.ends_with(b"_driver")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_an_mtia_device_are_no_host_work() {
        let of = |name: &[u8]| role(b"mtia_ccp_events", name);
        assert_eq!(of(b"dma_request"), Role::Gpu(GpuKind::Copy));
        assert_eq!(of(b"add-dtype_Float"), Role::Gpu(GpuKind::Kernel));
        assert!(matches!(of(b"event_wait"), Role::LeftOut(_)));
    }
}
