//! The calculator.

pub mod memory;
pub mod schedule;
