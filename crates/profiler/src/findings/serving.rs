//! Advice for inference servers by cause of idle time.

use crate::causes::Cause;

/// Advice for an inference server; `None` if it does not differ.
pub(super) fn served(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::Allocation => {
            "allocate workspaces and caches at start; keep shapes within the captured sizes, and lower the \
             share of memory that the KV cache takes"
        }
        Cause::Synchronisation => {
            "schedule and sample asynchronously (overlap scheduling), so that the next step is launched \
             before tokens are read back"
        }
        Cause::LaunchBound => {
            "capture these steps in CUDA graphs, overlap scheduling with the device; keep host cores free"
        }
        Cause::HostWork | Cause::Unknown => {
            "record with `with_stack=True` to separate scheduler, sampler and tokenizer; overlap their work with \
             the device"
        }
        Cause::GarbageCollection => {
            "freeze objects after start (`gc.freeze()`), and collect between requests"
        }
        _ => return None,
    })
}
