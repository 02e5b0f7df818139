//! Hangs: collectives that ranks did not enter, from flight records.
//!
//! Responsible for: the first collective of every group that some rank entered and has not left (`progress`);
//! missing ranks, and ranks that called a different collective; and, following the missing ranks to their own
//! collectives, the ranks that do not wait (`chain`). The cause of a rank outside all collectives is
//! unknown: its last stack is shown.
//!
//! Source of the method: PyTorch's flight-recorder documentation and the taxonomy of hangs in `traces.md` 7.9
//! of the project's notes.

mod chain;
mod progress;
mod verdict;

#[cfg(test)]
mod tests;

pub use chain::{Root, RootCause};
pub use progress::{Group, State, Stuck};
pub use verdict::{DamagedDump, Hang, hang, lost_rank};
