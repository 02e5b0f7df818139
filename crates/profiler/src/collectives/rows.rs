//! Every collective, part by part.
//!
//! Responsible for: waits, transfers and their exposed shares. Values are never negative: a wait is at most
//! as long as its part.

use crate::joined::Joined;
use crate::matching::PartRef;
use crate::occupancy::Occupancy;
use railwright_step::CollectiveKind;
use serde::Serialize;

/// One rank's part in a collective.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartRow {
    /// The rank.
    pub rank: u32,
    /// Start time in nanoseconds.
    #[serde(rename = "start_ns")]
    pub start: i64,
    /// Duration in nanoseconds.
    #[serde(rename = "duration_ns")]
    pub duration: i64,
    /// Wait until the last rank entered, in nanoseconds.
    #[serde(rename = "wait_ns")]
    pub wait: i64,
    /// Transfer after that, in nanoseconds.
    #[serde(rename = "transfer_ns")]
    pub transfer: i64,
    /// Exposed wait time of this rank.
    #[serde(rename = "exposed_wait_ns")]
    pub exposed_wait: i64,
    /// Exposed transfer time of this rank.
    #[serde(rename = "exposed_transfer_ns")]
    pub exposed_transfer: i64,
    /// Compute of this rank between the start and the first need of the result, in nanoseconds: available
    /// for overlap.
    #[serde(rename = "slack_ns")]
    pub slack: i64,
    #[serde(skip)]
    pub(crate) at: PartRef,
}

/// A collective, or a part of one rank without counterpart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectiveRow {
    /// Index of its communicator in the job; `None` without one.
    pub communicator: Option<u32>,
    /// Label of its group in the report.
    pub label: String,
    /// Its number within the communicator.
    pub index: u32,
    /// Kind.
    pub operation: Option<CollectiveKind>,
    /// Its size in bytes, by nccl-tests' convention.
    pub bytes: Option<u64>,
    /// Entry time of the last rank, in nanoseconds.
    #[serde(rename = "last_start_ns")]
    pub last_start: i64,
    /// The rank that entered last; `None` unless all traced ranks take part.
    pub last_rank: Option<u32>,
    /// Difference between the starts, in nanoseconds.
    #[serde(rename = "start_spread_ns")]
    pub start_spread: i64,
    /// Difference between the ends, in nanoseconds: remaining error of the clocks.
    #[serde(rename = "end_spread_ns")]
    pub end_spread: i64,
    /// Duration of the shortest part in nanoseconds: the transfer after all ranks entered.
    #[serde(rename = "shortest_ns")]
    pub shortest: i64,
    /// True if every traced rank of the communicator takes part.
    pub complete: bool,
    /// True if waits are lower bounds, because ranks are missing.
    pub estimate: bool,
    /// The parts, by rank.
    pub parts: Vec<PartRow>,
}

/// Rows of all matched collectives, by communicator and order.
pub fn rows(
    joined: &Joined,
    job: &crate::Job,
    table: &crate::communication::NameTable,
) -> Vec<CollectiveRow> {
    let occupancies: Vec<Occupancy> =
        job.members.iter().map(|member| Occupancy::of(&member.trace, table)).collect();
    rows_with(joined, &occupancies)
}

pub(crate) fn rows_with(joined: &Joined, occupancies: &[Occupancy]) -> Vec<CollectiveRow> {
    let matching = &joined.matching;
    let mut rows = Vec::with_capacity(matching.collectives.len());
    for collective in &matching.collectives {
        let members = matching.members(collective);
        let ranks: Vec<u32> =
            members.iter().map(|at| joined.clocks.clocks[at.member as usize].rank).collect();
        let parts = || members.iter().map(|&at| matching.part(at));
        let last = parts().map(|part| part.start).max().unwrap_or_default();
        let first = parts().map(|part| part.start).min().unwrap_or_default();
        let ends = (parts().map(|part| part.end).min(), parts().map(|part| part.end).max());
        let missing = joined.misses_ranks(collective);
        let late = parts().zip(&ranks).filter(|(part, _)| part.start == last).map(|(_, &rank)| rank).min();
        let rows_of = members.iter().zip(&ranks).map(|(&at, &rank)| {
            let part = matching.part(at);
            let wait = (last - part.start).clamp(0, part.duration().max(0));
            part_row(at, rank, part.start, part.end, wait, &occupancies[at.member as usize])
        });
        rows.push(CollectiveRow {
            communicator: Some(collective.communicator),
            label: String::new(),
            index: collective.index,
            operation: collective.operation,
            bytes: collective.bytes,
            last_start: last,
            last_rank: late.filter(|_| collective.complete),
            start_spread: last - first,
            end_spread: ends.1.unwrap_or_default() - ends.0.unwrap_or_default(),
            shortest: parts().map(crate::matching::Part::duration).min().unwrap_or_default(),
            complete: collective.complete,
            estimate: missing || !collective.complete,
            parts: rows_of.collect(),
        });
    }
    rows
}

pub(super) fn part_row(at: PartRef, rank: u32, start: i64, end: i64, wait: i64, on: &Occupancy) -> PartRow {
    let middle = start + wait;
    let hidden_wait = on.compute.within(start, middle);
    let hidden = on.compute.within(middle, end);
    // The result is needed when compute resumes after a pause at the end of the collective. If compute
    // continues at the end, the result is not needed before the next pause.
    let slack = match on.compute.next(end) {
        Some((from, to)) if from <= end => on.compute.within(start, to),
        _ => on.compute.within(start, end),
    };
    PartRow {
        rank,
        start,
        duration: end - start,
        wait,
        transfer: end - middle,
        exposed_wait: wait - hidden_wait,
        exposed_transfer: end - middle - hidden,
        slack,
        at,
    }
}
