//! Hangs: who never entered which collective, from the flight records of the ranks.
//!
//! Responsible for: the first collective of every group that some rank entered and has not left (`progress`); who is missing there, or
//! who called something else; and, following the missing ranks to where *they* are stuck, the ranks that wait for no one (`chain`). Refuses to say why a
//! rank outside of every collective does not come: its last stack is shown.
//!
//! Source of the method: PyTorch's flight-recorder documentation and the taxonomy of hangs in `traces.md` 7.9 of the project's notes.

mod chain;
mod progress;
mod verdict;

#[cfg(test)]
mod tests;

pub use chain::{Root, RootCause};
pub use progress::{Group, State, Stuck};
pub use verdict::{DamagedDump, Hang, hang, lost_rank};
