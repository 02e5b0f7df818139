//! The calculator on published and measured runs: one file per question or promise.
//!
//! One binary for all files: each would link the calculator again.

mod anchors;
mod diffusion;
mod host_and_masks;
mod lora;
mod measured_layout;
mod metamorphic;
mod mixed_devices;
mod one_resolution;
mod operators;
mod own_runs;
mod schedule;
mod special_attention;
mod stated_formats;
mod steps_in_sequence;
mod tensor_across_domains;
