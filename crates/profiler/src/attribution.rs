//! Straggler attribution: ranks that delay others, causes and costs.
//!
//! Responsible for: attributing every wait to the late rank and its activity, traced to the root if that rank
//! itself waited; the class of the cause with its evidence; and the cost by replay of the recorded steps with
//! the rank at the median of its peers. Does not count last ranks, because microseconds are not milliseconds.
//! "No straggler" requires evidence; without it the result is inconclusive.

mod always_last;
mod begin;
mod blame;
mod bounds;
mod cause;
mod chain;
mod compared;
mod culprits;
mod dependent;
mod event;
mod idleness;
mod in_turn;
mod jitter;
mod judge;
mod launches;
mod lengths;
mod links;
mod lone;
mod lone_hosts;
mod measured;
mod mending;
mod naming;
mod nodes;
mod one_off;
mod paced;
mod peers;
mod programs;
mod repeats;
mod replay;
mod replays;
mod replicas;
mod report;
mod rest;
mod shifted;
mod slow_steps;
mod stages;
mod steps;
mod stretch;
mod thin;
mod uneven;
mod verdict;

pub use blame::CausedWaits;
pub use cause::{CauseClass, Evidence};
pub use judge::{joined_straggler_report, straggler_report, stragglers_of};
pub(crate) use judge::{judged, judged_steps};
pub use lengths::Work;
pub use links::SlowGroup;
pub(crate) use replays::Parts as OwnParts;
pub use replays::Replays;
pub use report::{Culprit, Moment, StragglerReport};
pub use verdict::{Kind, Lacking, MOST_OFF, Named, Verdict};

#[cfg(test)]
mod tests;
