//! Who the others wait for, why, and what it costs.
//!
//! Responsible for: charging every wait to the rank that was late and to what it did meanwhile, followed to the root where that rank had itself waited;
//! the class of the cause with its evidence; and the cost by replay: what the recorded steps would have taken had the rank run like the median of its
//! peers. Refuses to count who is last: microseconds are not milliseconds. "No straggler" is an answer that needs
//! evidence; without it the answer is that it cannot be told.

mod begin;
mod blame;
mod cause;
mod chain;
mod links;
mod peers;
mod replay;
mod report;
mod stages;
mod steps;
mod twins;
mod uneven;
mod verdict;

pub use blame::Charged;
pub use cause::{CauseClass, Evidence};
pub use links::SlowGroup;
pub use report::{Culprit, Moment, StragglerReport, straggler_report, stragglers_of};
pub use verdict::{Kind, MOST_OFF, Named, Verdict};

#[cfg(test)]
mod tests;
