//! What communication took: transfer apart from waiting, for every collective, group and rank.
//!
//! Responsible for: L, the latest start; waits until it and transfers from it; bandwidth against the link's ceiling; what compute hides; slack and the bandwidth that
//! hiding would take; bounds where ranks were not traced. Refuses to blame anyone: [`crate::culprits`] does.

mod bandwidth;
mod report;
mod rows;
mod solo;

pub use bandwidth::{Link, LinkKind, bus_factor, ceiling};
pub use report::{CommunicationReport, GroupCommunication, RankCommunication, communication_report};
pub use rows::{CollectiveRow, PartRow, rows};

#[cfg(test)]
mod tests;
