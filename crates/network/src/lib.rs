//! Network designs for training clusters.
//!
//! Responsible for: topologies as values, routing, the traffic that a step puts on links, flow simulation with max-min fair sharing,
//! bills of materials, failures, and the rail-only paper's model. Refuses to know what a training step computes: traffic comes in as
//! collectives among ranks. This crate reads no file and no clock, prints nothing and spawns nothing.

pub mod bill;
pub mod cabling;
pub mod chakra;
pub mod exported;
pub mod failures;
pub mod flow;
pub mod imported;
pub mod picture;
pub mod rail_only;
pub mod simulate;
pub mod topology;
pub mod traffic;
