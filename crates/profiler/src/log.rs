//! Training logs: iteration times, MFU over time, slow steps, jumps, restarts.
//!
//! Responsible for: report lines in a stream ([`lines`]), their analysis ([`judge()`]), and every report as a
//! point ([`curve()`]). Supports:
//!
//! * Megatron-LM (any age) and frameworks with its lines: MindSpeed, Megatron-Bridge, Primus,
//!   Megatron-DeepSpeed.
//! * DeepSpeed: its pipeline engine and its own timers.
//! * torchtitan, nanotron, NeMo, MaxText and the Trainer of Hugging Face.
//!
//! Excludes launch arguments: see `railwright-launch`.

pub mod curve;
mod deepspeed;
mod frameworks;
pub mod judge;
pub mod lines;
mod numbers;
mod planned;
mod progress;
mod report;
mod trainer;

pub(crate) use numbers::median as median_of;

pub use curve::{Measure, MeasureCurve, Point, curve, measures};
pub use deepspeed::TimesFrom;
pub use judge::{Judged, Known, Pause, Restart, Segment, SlowStep, judge};
pub use lines::{Straggler, TrainingLog};
pub use report::{Framework, Report, Timer};
pub(crate) use trainer::is_state;
