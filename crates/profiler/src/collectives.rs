//! What communication took: transfer apart from waiting, for every collective, group and rank.
//!
//! Responsible for: L, the latest start; waits until it and transfers from it; bandwidth against the link's ceiling; what compute hides; slack and the bandwidth that
//! hiding would take; bounds where ranks were not traced. Refuses to blame anyone: [`crate::attribution`] does.

pub(crate) mod bandwidth;
mod least;
mod report;
mod rows;
mod solo;

pub use bandwidth::{Link, LinkKind, bus_factor, ceiling};
pub use least::Least;
pub use report::{
    CommunicationReport, GroupCommunication, RankCommunication, communication_report,
    joined_communication_report,
};
pub use rows::{CollectiveRow, PartRow, rows};

/// Every communication of a job: matched ones, and parts of ranks whose peers were not traced.
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
