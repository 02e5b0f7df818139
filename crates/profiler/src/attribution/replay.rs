//! Replay of a job's graph of communications.
//!
//! Responsible for: end times of all events with other own times. A rank issues a collective after its own
//! time. The collective starts once its stream is free. On each rank it ends its transfer time after the last
//! rank has entered. Then the waiting ranks resume. Any number of collectives may be open at once. With the
//! measured own times, the replay gives the measured times. The order of work on a rank and on a stream never
//! changes.

use super::event::{Chains, Event, What};
use crate::joined::Joined;
use std::collections::VecDeque;

/// Replaced own times in nanoseconds, by (member, index of the event).
pub(super) type Own<'a> = &'a dyn Fn(usize, usize) -> i64;

/// Replayed times of the recorded window.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Replayed {
    /// Time from the first event to the end of the last, in nanoseconds.
    pub span: i64,
    /// Number of waits that no replay can order, because aligned clocks show an end before a start. If it is
    /// not 0, the replay is unreliable.
    pub forced: u32,
    /// By collective: entry time of its last rank, in nanoseconds.
    #[cfg_attr(not(test), allow(dead_code, reason = "tests compare every one with what was measured"))]
    pub last_start: Vec<i64>,
}

/// Time of communication with unrecorded ranks in a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unrecorded {
    /// As measured: unrecorded ranks are as late as they were.
    Measured,
    /// Without waits: unrecorded ranks are never late.
    Prompt,
}

/// Runs a replay. `transfer` returns the transfer time of an event's collective for (member, index).
pub(super) fn replay(chains: &Chains, joined: &Joined, own: Own<'_>, transfer: Own<'_>) -> Replayed {
    replay_with(chains, joined, own, transfer, Unrecorded::Measured)
}

/// Runs a replay with a choice for communication with unrecorded ranks.
pub(super) fn replay_with(
    chains: &Chains,
    joined: &Joined,
    own: Own<'_>,
    transfer: Own<'_>,
    unrecorded: Unrecorded,
) -> Replayed {
    let mut run = Run::new(chains, joined, own, transfer);
    run.unrecorded = unrecorded;
    run.all();
    let first = chains.events.iter().filter_map(|events| events.first()).map(|e| e.time).min().unwrap_or(0);
    let ends = run.now.iter().zip(&chains.events).filter(|(_, events)| !events.is_empty());
    let last = ends.map(|(now, _)| *now).max();
    Replayed { span: last.unwrap_or(first) - first, forced: run.forced, last_start: run.entered }
}

/// Dependants of a collective's last entry.
#[derive(Clone, Copy)]
enum Waiter {
    /// The member's own work.
    Member(usize),
    /// A later collective of the stream: (member, index of its start, issue time).
    Stream(usize, usize, i64),
}

/// The state of a replay.
struct Run<'a> {
    chains: &'a Chains,
    own: Own<'a>,
    transfer: Own<'a>,
    unrecorded: Unrecorded,
    /// By member: index of its next event, and its time.
    at: Vec<usize>,
    now: Vec<i64>,
    /// By collective: the last start so far, and the number of missing starts.
    entered: Vec<i64>,
    missing: Vec<u32>,
    waiting: Vec<Vec<Waiter>>,
    /// Members that can continue.
    ready: VecDeque<usize>,
    forced: u32,
}

impl<'a> Run<'a> {
    fn new(chains: &'a Chains, joined: &'a Joined, own: Own<'a>, transfer: Own<'a>) -> Self {
        let all = joined.matching.collectives.len();
        let mut missing = vec![0_u32; all];
        for &collective in &chains.order {
            let members = joined.matching.members(&joined.matching.collectives[collective as usize]);
            missing[collective as usize] = members.len() as u32;
        }
        let start =
            |events: &Vec<Event>| events.first().map_or(0, |first| first.time - first.own - first.unknown);
        Self {
            chains,
            own,
            transfer,
            unrecorded: Unrecorded::Measured,
            at: vec![0; chains.events.len()],
            now: chains.events.iter().map(start).collect(),
            entered: vec![i64::MIN; all],
            missing,
            waiting: vec![Vec::new(); all],
            ready: (0..chains.events.len()).collect(),
            forced: 0,
        }
    }

    /// Time of an event in communication with unrecorded ranks, in nanoseconds.
    fn unknown(&self, event: &Event) -> i64 {
        match self.unrecorded {
            Unrecorded::Measured => event.unknown,
            Unrecorded::Prompt => event.least.min(event.unknown),
        }
    }

    fn all(&mut self) {
        loop {
            while let Some(member) = self.ready.pop_front() {
                self.advance(member);
            }
            // Remaining waits are circular: the rank that continued first in the recording continues.
            let stuck =
                (0..self.at.len()).filter(|&member| self.at[member] < self.chains.events[member].len());
            let Some(member) = stuck.min_by_key(|&m| (self.chains.events[m][self.at[m]].time, m)) else {
                break;
            };
            self.forced += 1;
            self.gate(member, self.at[member]);
            self.ready.push_back(member);
        }
    }

    /// Runs a member until it waits for a collective that not all ranks have entered.
    fn advance(&mut self, member: usize) {
        let events = &self.chains.events[member];
        while let Some(event) = events.get(self.at[member]) {
            let place = self.at[member];
            match event.what {
                What::Begin | What::Alone | What::End => {
                    self.now[member] += (self.own)(member, place) + self.unknown(event);
                    self.at[member] += 1;
                }
                What::Start => {
                    self.now[member] += (self.own)(member, place) + self.unknown(event);
                    self.at[member] += 1;
                    self.issue(member, place, self.now[member]);
                }
                What::Gate => {
                    let collective = event.collective as usize;
                    if self.missing[collective] > 0 {
                        self.waiting[collective].push(Waiter::Member(member));
                        return;
                    }
                    self.gate(member, place);
                }
            }
        }
    }

    /// Resumes a member after a collective.
    fn gate(&mut self, member: usize, place: usize) {
        let event = &self.chains.events[member][place];
        self.now[member] += (self.own)(member, place) + self.unknown(event);
        let entered = self.entered[event.collective as usize];
        if entered > i64::MIN {
            self.now[member] = self.now[member].max(entered + (self.transfer)(member, place));
        }
        self.at[member] += 1;
    }

    /// Issues a collective, which starts once its stream is free.
    fn issue(&mut self, member: usize, place: usize, issued: i64) {
        let event = &self.chains.events[member][place];
        let Some(before) = event.behind else { return self.enter(event.collective, issued) };
        let first = self.chains.events[member][before.place as usize].collective as usize;
        if self.missing[first] > 0 {
            self.waiting[first].push(Waiter::Stream(member, place, issued));
            return;
        }
        let free = self.entered[first] + (self.transfer)(member, before.place as usize) + before.gap;
        self.enter(event.collective, issued.max(free));
    }

    /// Enters a collective; the last member releases all.
    fn enter(&mut self, collective: u32, at: i64) {
        let mut complete = vec![(collective as usize, at)];
        while let Some((collective, at)) = complete.pop() {
            self.entered[collective] = self.entered[collective].max(at);
            self.missing[collective] = self.missing[collective].saturating_sub(1);
            if self.missing[collective] > 0 {
                continue;
            }
            for waiter in std::mem::take(&mut self.waiting[collective]) {
                match waiter {
                    Waiter::Member(member) => self.ready.push_back(member),
                    Waiter::Stream(member, place, issued) => {
                        let event = &self.chains.events[member][place];
                        let Some(before) = event.behind else { continue };
                        let free = self.entered[collective]
                            + (self.transfer)(member, before.place as usize)
                            + before.gap;
                        complete.push((event.collective as usize, issued.max(free)));
                    }
                }
            }
        }
    }
}
