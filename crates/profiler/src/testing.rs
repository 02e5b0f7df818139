//! Jobs with known faults, for tests and benches of this crate and of its users.
//!
//! Responsible for: traces of a job that follows a simple plan with chosen faults ([`Synthetic`]), and
//! mutations of any job: clock offsets, lost leading kernels, many ranks from few. Also a pipeline whose
//! recording describes nothing ([`Pipelined`]). Uses no random source: variations follow a fixed recurrence.

#[cfg(target_os = "linux")]
mod cost;
mod mutate;
mod pipelined;
mod synthetic;

#[cfg(target_os = "linux")]
pub use cost::processor_seconds;
pub use mutate::{drop_leading, keep, move_clock, replicate};
pub use pipelined::Pipelined;
pub use synthetic::Synthetic;

/// Reproducible pseudo-random numbers (a linear congruence).
#[derive(Clone, Copy, Debug)]
pub struct Recurrence(pub u64);

impl Recurrence {
    /// The next number below a limit; 0 for a limit of 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if limit == 0 { 0 } else { (self.0 >> 33) % limit }
    }
}
