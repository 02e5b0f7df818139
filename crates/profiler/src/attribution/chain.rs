//! Events of every rank between its matched communications.
//!
//! Responsible for: each rank's events in order, with its own time between them. Events are: the steps begin,
//! a collective is entered, a collective has ended and the rank resumes, the steps end. Own time is
//! everything except the exposed tail of a collective. A collective issued while another one occupied its
//! stream is an event at its issue time: its stream, not the rank's work, determines its start. Communication
//! without a recorded counterpart is own time if all ranks were recorded. Otherwise it is an event, too, and
//! its exposed part is separate: it may be a wait for an unrecorded rank. Time outside the steps is excluded:
//! it would be divided by steps that do not contain it.

mod events;

use super::begin;
use super::event::Chains;
use super::launches::{called, issues, launches, most_concurrent};
use crate::Job;
use crate::joined::Joined;
use crate::occupancy::{Launched, Occupancy};
use crate::windows::{Windows, host_steps};
use crate::workers::Workers;
use events::of_member;

/// Maximum gap at an edge of the steps, as a share of a step. A rank whose device ends its work earlier than
/// that has no event at the end. A rank that begins later has none at the start, unless it is known to have
/// been recorded before ([`begin`]). Its recording may be shorter than the others', so the gap may not be its
/// own time.
const NEAR: f64 = 0.05;

impl Chains {
    /// The events within the steps.
    pub(super) fn of(
        job: &Job,
        joined: &Joined,
        occupancies: &[Occupancy],
        windows: &Windows,
        workers: &impl Workers,
    ) -> Self {
        let matching = &joined.matching;
        let mut chains = Self { span: windows.span(), ..Self::default() };
        let near = (chains.span.1 - chains.span.0) as f64 / windows.steps.len().max(1) as f64 * NEAR;
        for (at, collective) in matching.collectives.iter().enumerate() {
            let late = matching
                .members(collective)
                .iter()
                .map(|&at| (matching.part(at).start, std::cmp::Reverse(at.member)))
                .max();
            chains.last_start.push(chains.within(late.map_or(0, |late| late.0)));
            chains.last_member.push(late.map_or(0, |late| late.1.0));
            let holds = |part: &crate::matching::Part| part.end > chains.span.0 && part.start < chains.span.1;
            if matching.members(collective).iter().any(|&at| holds(matching.part(at))) {
                chains.order.push(at as u32);
            }
        }
        let last_start = &chains.last_start;
        chains.order.sort_by_key(|&at| (last_start[at as usize], at));
        let mut held = vec![false; matching.collectives.len()];
        chains.order.iter().for_each(|&at| held[at as usize] = true);
        let begun = begin::recorded(job, joined, &chains, near as i64);
        // By part: earliest start on a free stream, and launch time.
        let known = workers.map(occupancies, |member, on| {
            let trace = &job.members[member].trace;
            let launched = Launched::of(trace, on);
            let parts = &matching.parts[member];
            (
                issues(parts, &launched),
                launches(joined, member, &launched, &host_steps(trace)),
                parts.iter().map(|part| called(part, &launched)).collect::<Vec<_>>(),
            )
        });
        let mut issued: Vec<Vec<Option<i64>>> = Vec::with_capacity(known.len());
        for (issues, launches, calls) in known {
            issued.push(issues);
            chains.launches.push(launches);
            chains.calls.push(calls);
        }
        let concurrent = most_concurrent(joined, occupancies, &issued, &held);
        let events = |member: usize, on: &Occupancy| {
            let on = (on, issued[member].as_slice());
            of_member(&chains, joined, member, on, (&held, &concurrent), (begun[member], near as i64))
        };
        chains.events = workers.map(occupancies, events);
        chains
    }

    /// Limits a time to the range of the steps.
    pub(super) fn within(&self, time: i64) -> i64 {
        time.max(self.span.0).min(self.span.1)
    }
}
