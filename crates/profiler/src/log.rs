//! Training logs alone: what every iteration took, MFU over time, slow steps, jumps, restarts.
//!
//! Responsible for: report lines of Megatron-LM (any age), Megatron-DeepSpeed, DeepSpeed (its pipeline engine and its own timers) and torchtitan, one after the other in a stream of
//! lines ([`lines`]), what can be said from them without any trace ([`judge()`]), and every report as a point ([`curve()`]). Refuses to read launch arguments: `railwright-launch` does.

pub mod curve;
mod deepspeed;
pub mod judge;
pub mod lines;
mod numbers;

pub(crate) use numbers::median as median_of;

pub use curve::{Point, curve};
pub use deepspeed::TimesFrom;
pub use judge::{Judged, Known, Pause, Restart, Segment, SlowStep, judge};
pub use lines::{Report, Straggler, Timer, TrainingLog};
