//! What always-on monitors write: NCCL Inspector's lines and XPUTimer's metrics.
//!
//! Responsible for: reading them ([`inspector`], [`xpu_timer`]) and saying what can be said without a timeline: who waits for whom by the length of collectives,
//! whose bandwidth or arithmetic is below its peers', who hangs. Refuses to make a timeline of them.

pub mod inspector;
pub mod xpu_timer;
