//! Output of always-on monitors: NCCL Inspector lines and XPUTimer metrics.
//!
//! Responsible for: reading them ([`inspector`], [`xpu_timer`]) and their analysis without a timeline: waits
//! by the length of collectives, bandwidth or compute below that of peers, hangs. Does not create a timeline.

pub mod inspector;
pub mod xpu_timer;
