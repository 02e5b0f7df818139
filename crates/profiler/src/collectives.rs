//! Time of communication: transfer and wait of every collective, group and rank.
//!
//! Responsible for: the latest start L; waits until L and transfers from L; bandwidth relative to the ceiling
//! of the link; overlap with compute; slack and the bandwidth needed for full overlap; bounds where ranks
//! were not traced. Excludes causes: see [`crate::attribution`].

mod clipped;
mod least;
mod report;
mod rows;
mod solo;

pub use crate::bandwidth::{Link, LinkKind, bus_factor, ceiling};
pub use least::Least;
pub use report::{
    CommunicationReport, GroupCommunication, InSteps, RankCommunication, communication_report,
    joined_communication_report,
};
pub use rows::{CollectiveRow, PartRow, rows};

/// All communications of a job: matched ones, and parts of ranks whose peers were not traced.
pub(crate) fn all_rows(
    job: &crate::Job,
    joined: &crate::joined::Joined,
    table: &crate::communication::NameTable,
) -> Vec<CollectiveRow> {
    let occupancies: Vec<_> =
        job.members.iter().map(|member| crate::occupancy::Occupancy::of(&member.trace, table)).collect();
    let mut all = rows::rows_with(joined, &occupancies);
    solo::solo_rows(job, joined, &mut all, &occupancies);
    all
}

#[cfg(test)]
mod tests;
