//! What every rank does between its matched communications.
//!
//! Responsible for: each rank's events in order (it enters a collective; it can go on because one has ended) with its own time between them. Own time is
//! everything but the tail of a collective that nothing hides. Refuses communications without counterpart: they are own time.

use crate::joined::Joined;
use crate::occupancy::Occupancy;

/// What happens at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The rank enters a collective.
    Start,
    /// The rank goes on after a collective: it has done nothing else at its end.
    Gate,
}

/// An event of a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event {
    pub what: What,
    /// The collective.
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
    /// Collectives in the order of their last start, which is an order in which they can be replayed.
    pub order: Vec<u32>,
    /// The last start of every collective, as measured.
    pub last_start: Vec<i64>,
    /// The member that started last.
    pub last_member: Vec<u32>,
}

impl Chains {
    pub(super) fn of(joined: &Joined, occupancies: &[Occupancy]) -> Self {
        let matching = &joined.matching;
        let mut last_start = Vec::with_capacity(matching.collectives.len());
        let mut last_member = Vec::with_capacity(matching.collectives.len());
        for collective in &matching.collectives {
            let late = matching
                .members(collective)
                .iter()
                .map(|&at| (matching.part(at).start, std::cmp::Reverse(at.member)))
                .max();
            last_start.push(late.map_or(0, |late| late.0));
            last_member.push(late.map_or(0, |late| late.1.0));
        }
        let mut order: Vec<u32> = (0..matching.collectives.len() as u32).collect();
        order.sort_by_key(|&at| (last_start[at as usize], at));
        let events = (0..matching.parts.len())
            .map(|member| of_member(joined, member, &occupancies[member], &last_start))
            .collect();
        Self { events, order, last_start, last_member }
    }
}

fn of_member(joined: &Joined, member: usize, on: &Occupancy, last_start: &[i64]) -> Vec<Event> {
    let matching = &joined.matching;
    // (time, what, collective, where the tail begins, transfer)
    let mut raw: Vec<(i64, What, u32, i64, i64)> = Vec::new();
    let parts = &matching.parts[member];
    for (part, collective) in parts.iter().zip(&matching.of[member]) {
        let Some(collective) = *collective else { continue };
        let transfer = (part.end - last_start[collective as usize]).max(0);
        raw.push((part.start, What::Start, collective, part.start, transfer));
        // Compute that runs at the end goes on without the result, and who sends waits for nobody.
        let from =
            joined.matching.communicator(&matching.collectives[collective as usize]).channel.map(|c| c.0);
        let sends = from == Some(joined.clocks.clocks[member].rank);
        let gated = !sends && on.compute.within(part.end - 1, part.end) == 0;
        if gated && part.end > part.start {
            let tail = on.compute.last_end(part.end).unwrap_or(part.start).max(part.start);
            raw.push((part.end, What::Gate, collective, tail, transfer));
        }
    }
    // At one instant what has ended comes before what begins.
    raw.sort_by_key(|event| (event.0, event.1 == What::Start, event.2));
    let mut events: Vec<Event> = Vec::with_capacity(raw.len());
    // The last start and the last event before: a tail holds none of them.
    let mut previous: Option<i64> = None;
    for (time, what, collective, tail, transfer) in raw {
        let since = previous.unwrap_or(time);
        let own = match what {
            What::Start => time - since,
            What::Gate => tail.max(since) - since,
        };
        events.push(Event { what, collective, time, own, transfer });
        previous = Some(time);
    }
    events
}
