//! One training step.
