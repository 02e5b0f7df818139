//! The calculator.

pub mod collectives;
pub mod memory;
pub mod schedule;
