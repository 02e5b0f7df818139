//! The calculator.
