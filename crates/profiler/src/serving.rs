//! Traces of inference servers: steps of prefill, of decode and of both.
//!
//! Responsible for: the annotations of vLLM, SGLang, ATOM and TensorRT-LLM ([`marks::mark`]) or their
//! functions ([`marks::call`]), the steps of one rank, and the report by mode. Excludes steps without both:
//! kernels alone do not show whether a batch contained prompts.

mod marks;
mod report;
mod steps;

pub use marks::{Mode, Server, StepMark, call, mark};
pub use report::{ModeRow, Serving};
pub(crate) use report::{reference, serving};
pub(crate) use steps::{Marked, device_steps, host_steps};
