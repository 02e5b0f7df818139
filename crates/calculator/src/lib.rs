//! From a model, a cluster and a plan to time, memory and money, bottom-up.
//!
//! Operators ([`operators`]) and collectives ([`collectives`]) become layers ([`layer`]), layers become virtual stages
//! ([`stage`]), stages a pipeline ([`schedule`]), and the pipeline with its update ([`update`], [`sharding`]) a step
//! ([`evaluate`]).
//! This crate reads no file and no clock, prints nothing and spawns nothing.

pub mod calibration;
pub mod choices;
pub mod collectives;
pub mod costing;
pub mod defaults;
pub mod disturbance;
pub mod estimate;
pub mod evaluate;
pub mod exchanges;
pub mod goodput;
pub mod intervals;
pub mod layer;
pub mod local;
pub mod memory;
pub mod model_flop;
pub mod money;
pub mod operators;
pub mod prepared;
mod program;
pub mod schedule;
pub mod sharding;

pub mod stage;
pub mod timeline;
pub mod transfer;
mod treatment;
pub mod update;
pub mod valid_values;
pub mod validation;
pub mod work;

pub use railwright_spec::software;
