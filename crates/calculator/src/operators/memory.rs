//! Kernels bound by memory.
//!
//! Responsible for: the share of the memory bandwidth of an element-wise kernel. Excludes caches: a working
//! set within the last-level cache is priced as if it were in memory.

use super::cost::{Cost, Source};
use railwright_spec::cluster::Accelerator;
use railwright_spec::quantity::{Bytes, Flop, Seconds};

/// Share of the data sheet's bandwidth for long kernels: copies and element-wise kernels reach 0.80 to 0.92
/// on A100, H100 and MI300X. Memory-bound GEMMs of the calibration tables fit 0.76 to 0.99.
pub(super) const SHARE: f64 = 0.85;

/// Minimum time of an element-wise kernel on the device, in seconds.
const FLOOR: f64 = 2.0e-6;

/// Element-wise kernels on one accelerator.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryLaw {
    seconds_per_byte: f64,
    pub(super) floor: f64,
}

impl MemoryLaw {
    pub(super) fn new(accelerator: &Accelerator) -> Self {
        Self { seconds_per_byte: 1.0 / (SHARE * accelerator.memory_bandwidth.get().max(1.0)), floor: FLOOR }
    }

    /// t = floor + bytes / (0.85 B), seconds: the floor is the ramp of one kernel (2 us), B the data sheet's
    /// bandwidth.
    pub(super) fn cost(self, bytes: Bytes) -> Cost {
        let time = if bytes.get() > 0.0 { self.floor + bytes.get() * self.seconds_per_byte } else { 0.0 };
        Cost { time: Seconds::new(time), flop: Flop::ZERO, bytes, source: Source::Roofline }
    }
}
