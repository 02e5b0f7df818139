//! The calculator.

pub mod schedule;
