//! Recorded jobs: one file per question or promise.
//!
//! One binary for all files: each would link the profiler again.

mod jobs;
#[path = "support/schedule.rs"]
mod schedule;
mod support;

mod advice;
mod agreement;
mod clocks;
mod collectives;
mod hta_parity;
mod kineto_dialects;
mod kineto_index;
mod many_ranks;
mod metamorphic;
mod metamorphic_files;
mod operators;
mod pipeline;
mod pipeline_cut;
mod pipeline_damage;
mod replay;
mod replay_properties;
mod samples;
mod serving;
mod straggler_properties;
mod stragglers;
mod undescribed;
mod waterfall;
mod xplane;
