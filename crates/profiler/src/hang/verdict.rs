//! The verdict over all dumps.
//!
//! Responsible for: which ranks there are and which are missing, what is stuck, who is to blame, and what makes the verdict doubtful. Refuses nothing: dumps of some ranks
//! give bounds.

use super::chain::{Root, roots};
use super::progress::{Stuck, stuck};
use crate::flight::FlightRecord;
use railwright_spec::problem::Warning;
use serde::Serialize;

/// What flight records say about a hang.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hang {
    /// The ranks whose dumps are there.
    pub ranks: Vec<u32>,
    /// How many ranks the job has, as far as the dumps tell.
    pub world_size: u32,
    /// Ranks that groups list and of which there is no dump.
    pub without_dump: Vec<u32>,
    /// What is stuck, in order of time. Empty: nothing hangs.
    pub stuck: Vec<Stuck>,
    /// Who is to blame, those with most victims first.
    pub roots: Vec<Root>,
    /// What makes this doubtful.
    pub warnings: Vec<Warning>,
}

/// Judges the dumps of a job. Of two dumps of one rank the one with the later last entry counts.
pub fn hang(records: &[FlightRecord]) -> Hang {
    let mut warnings = Vec::new();
    let mut ranked: Vec<(u32, &FlightRecord)> = Vec::new();
    let latest = |record: &FlightRecord| record.entries.iter().map(|e| e.created).max().unwrap_or_default();
    for record in records {
        let Some(rank) = record.rank else {
            let told = format!("{} says no rank and neither does its name; it was left out", record.label);
            warnings.push(Warning::new("trace-unknown-rank", told));
            continue;
        };
        if record.unreadable > 0 {
            let told = format!("{} entries of {} cannot be read", record.unreadable, record.label);
            warnings.push(Warning::new("trace-damaged", told));
        }
        match ranked.iter_mut().find(|(known, _)| *known == rank) {
            None => ranked.push((rank, record)),
            Some(known) => {
                let told = format!(
                    "{} and {} are both of rank {rank}; the later one counts",
                    known.1.label, record.label
                );
                warnings.push(Warning::new("trace-duplicate-rank", told));
                if latest(record) > latest(known.1) {
                    known.1 = record;
                }
            }
        }
        let lost = record.entries.first().map_or(0, |e| e.record);
        if lost > 0 {
            let told = format!(
                "rank {rank}'s ring buffer has overwritten its first {lost} entries; what was entered then is unknown"
            );
            warnings.push(Warning::new("trace-overwritten-records", told));
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let ranks: Vec<u32> = ranked.iter().map(|(rank, _)| *rank).collect();
    let listed = ranked.iter().flat_map(|(rank, record)| {
        record.groups.iter().filter(|g| g.ranks.contains(rank)).flat_map(|g| g.ranks.iter().copied())
    });
    let world_size = listed.chain(ranks.iter().copied()).max().map_or(0, |highest| highest + 1);
    // The highest listed rank may be nonsense: no list longer than what dumps could name.
    let without_dump: Vec<u32> =
        (0..world_size).filter(|r| ranks.binary_search(r).is_err()).take(1024).collect();
    let stuck = stuck(&ranked);
    let roots = roots(&stuck, &ranked);
    Hang { ranks, world_size, without_dump, stuck, roots, warnings }
}
