//! What every rank does between its matched communications.
//!
//! Responsible for: each rank's events in order (the steps begin; it enters a collective; it can go on because one has ended; the steps end) with its own time
//! between them. Own time is everything but the tail of a collective that nothing hides. Refuses communications without counterpart: they are own time; and what
//! lies outside of the steps: it would be divided by steps that it is no part of.

use super::begin;
use crate::Job;
use crate::joined::Joined;
use crate::occupancy::Occupancy;
use crate::trace::NONE;
use crate::windows::Windows;

/// A rank whose device ends its work before the steps do by more than this share of a step has no event at that edge, nor has one that begins it as much later if it is
/// not known to have been recorded before ([`begin`]): the recording may be shorter than the others', so the time between is not known to be its own.
const NEAR: f64 = 0.05;

/// What happens at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The steps begin.
    Begin,
    /// The rank enters a collective.
    Start,
    /// The rank goes on after a collective: it has done nothing else at its end.
    Gate,
    /// The steps end, or the rank's work in them.
    End,
}

/// An event of a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event {
    pub what: What,
    /// The collective; [`NONE`] where the steps begin or end.
    pub collective: u32,
    /// When, as measured, in nanoseconds.
    pub time: i64,
    /// The rank's own time since its previous event.
    pub own: i64,
    /// From the last start of the collective to the rank's end of it.
    pub transfer: i64,
}

/// The events of all members.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Chains {
    /// By member, in order of time.
    pub events: Vec<Vec<Event>>,
    /// Collectives of the steps in the order of their last start, which is an order in which they can be replayed.
    pub order: Vec<u32>,
    /// The last start of every collective, as measured, within the steps.
    pub last_start: Vec<i64>,
    /// The member that started last.
    pub last_member: Vec<u32>,
    /// From when to when the steps last: all times are cut there.
    pub span: (i64, i64),
}

impl Chains {
    /// The events within the steps.
    pub(super) fn of(job: &Job, joined: &Joined, occupancies: &[Occupancy], windows: &Windows) -> Self {
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
        chains.events = (0..matching.parts.len())
            .map(|member| {
                of_member(&chains, joined, member, &occupancies[member], &held, (begun[member], near as i64))
            })
            .collect();
        chains
    }

    /// A time, cut to the steps.
    pub(super) fn within(&self, time: i64) -> i64 {
        time.max(self.span.0).min(self.span.1)
    }
}

fn of_member(
    chains: &Chains,
    joined: &Joined,
    member: usize,
    on: &Occupancy,
    held: &[bool],
    (begun, near): (bool, i64),
) -> Vec<Event> {
    let matching = &joined.matching;
    // (time, what, collective, where the tail begins, transfer)
    let mut raw: Vec<(i64, What, u32, i64, i64)> = Vec::new();
    let parts = &matching.parts[member];
    for (part, collective) in parts.iter().zip(&matching.of[member]) {
        let Some(collective) = collective.filter(|&at| held[at as usize]) else { continue };
        let (start, end) = (chains.within(part.start), chains.within(part.end));
        let transfer = (end - chains.last_start[collective as usize]).max(0);
        raw.push((start, What::Start, collective, start, transfer));
        // Compute that runs at the end goes on without the result, and who sends waits for nobody.
        let from =
            joined.matching.communicator(&matching.collectives[collective as usize]).channel.map(|c| c.0);
        let sends = from == Some(joined.clocks.clocks[member].rank);
        let gated = !sends && on.compute.within(end - 1, end) == 0;
        if gated && end > start {
            let tail = on.compute.last_end(end).unwrap_or(start).max(start);
            raw.push((end, What::Gate, collective, tail, transfer));
        }
    }
    // At one instant what has ended comes before what begins.
    raw.sort_by_key(|event| (event.0, event.1 == What::Start, event.2));
    if let (Some(first), Some(last)) = (raw.first().copied(), raw.last().copied()) {
        // An edge at which the device was at work.
        let begin = chains.within(on.window.0).min(first.0);
        if begin - chains.span.0 <= near {
            raw.insert(0, (begin, What::Begin, NONE, begin, 0));
        } else if begun {
            // What it did before its first work was its own, too.
            raw.insert(0, (chains.span.0, What::Begin, NONE, chains.span.0, 0));
        }
        let end = chains.within(on.window.1).max(last.0);
        if chains.span.1 - end <= near {
            raw.push((end, What::End, NONE, end, 0));
        }
    }
    let mut events: Vec<Event> = Vec::with_capacity(raw.len());
    // The last start and the last event before: a tail holds none of them.
    let mut previous: Option<i64> = None;
    for (time, what, collective, tail, transfer) in raw {
        let since = previous.unwrap_or(time);
        let own = match what {
            What::Begin | What::Start | What::End => time - since,
            What::Gate => tail.max(since) - since,
        };
        events.push(Event { what, collective, time, own, transfer });
        previous = Some(time);
    }
    events
}
