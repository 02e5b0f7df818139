//! What is trained, on what, and how: [`model::Model`], [`cluster::Cluster`], [`plan::Plan`], and the catalogue.
//!
//! This crate reads no file and no clock, prints nothing and spawns nothing: text in, values out. It builds for
//! `wasm32-unknown-unknown`.

pub mod calibration;
pub mod cluster;
pub mod human;
pub mod model;
pub mod plan;
pub mod precision;
pub mod problem;
pub mod quantity;
pub mod run;
pub mod software;
pub mod topic;
