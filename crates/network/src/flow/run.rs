//! A running simulation of flows: its messages, their events and its result.

use super::allocator::Slot;
use super::ends::Ends;
use super::remembered::Rates;
use super::traffic::{Flow, Start, Traffic, Wires};
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Result of a simulation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outcome {
    /// Time from the start to the arrival of the last byte.
    pub duration: Seconds,
    /// Messages sent, those of skipped laps included.
    pub flows: u64,
    /// Messages that were simulated one by one.
    pub simulated: u64,
    /// Number of computations of the rates.
    pub solutions: u64,
    /// Bytes carried by each link, including skipped laps, excluding flows without end.
    pub carried: Vec<Bytes>,
}

/// An active message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Journey {
    pub(super) flow: Flow,
    /// Bytes that are left as of `since`.
    pub(super) left: f64,
    since: f64,
    rate: f64,
    pub(super) is_under_way: bool,
}

/// The first byte of a waiting message arrives: it takes its share from now on.
type Begins = u32;

/// Events in buckets of equal time: symmetrical traffic has thousands of concurrent ones.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    times: BinaryHeap<Reverse<(u64, u32)>>,
    buckets: Vec<Vec<Begins>>,
    free: Vec<u32>,
    pub(super) recent: [(u64, u32); 4],
    turn: usize,
}

impl Agenda {
    fn add(&mut self, time: f64, event: Begins) {
        let bits = time.to_bits();
        if let Some(&(_, bucket)) = self.recent.iter().find(|(known, _)| *known == bits) {
            self.buckets[bucket as usize].push(event);
            return;
        }
        let bucket = self.free.pop().unwrap_or_else(|| {
            self.buckets.push(Vec::new());
            self.buckets.len() as u32 - 1
        });
        self.buckets[bucket as usize].push(event);
        self.times.push(Reverse((bits, bucket)));
        self.recent[self.turn] = (bits, bucket);
        self.turn = (self.turn + 1) % self.recent.len();
    }

    /// Time of the next event, in seconds.
    pub(super) fn next(&self) -> Option<f64> {
        self.times.peek().map(|Reverse((bits, _))| f64::from_bits(*bits))
    }

    /// Moves the events of the next bucket to `events`.
    pub(super) fn take(&mut self, events: &mut Vec<Begins>) {
        if let Some(Reverse((bits, bucket))) = self.times.pop() {
            events.append(&mut self.buckets[bucket as usize]);
            self.free.push(bucket);
            for recent in &mut self.recent {
                if *recent == (bits, bucket) {
                    *recent = NOTHING_RECENT[0];
                }
            }
        }
    }
}

/// A running simulation.
pub(super) struct Run {
    pub(super) rates: Rates,
    /// By slot of the rates.
    pub(super) journeys: Vec<Option<Journey>>,
    /// Messages whose first byte has not arrived, with their routes.
    pub(super) waiting: Vec<(Flow, Vec<(u32, f64)>)>,
    pub(super) free: Vec<u32>,
    pub(super) agenda: Agenda,
    pub(super) ends: Ends,
    pub(super) outcome: Outcome,
    pub(super) now: f64,
    /// Arrival time of the last message.
    pub(super) ended: f64,
    pub(super) route: Vec<(u32, f64)>,
    pub(super) under_way: u64,
    pub(super) carried: Vec<f64>,
}

impl Run {
    /// The next time at which a message begins or ends.
    pub(super) fn next(&self) -> Option<f64> {
        match (self.agenda.next(), self.ends.next()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    pub(super) fn launch(&mut self, wires: &impl Wires, traffic: &mut impl Traffic, start: &mut Start) {
        // A message that stays on its device arrives immediately and may enable others.
        while let Some(flow) = start.pop() {
            self.outcome.flows += 1;
            self.outcome.simulated += 1;
            self.route.clear();
            let latency = wires.route(&flow, &mut self.route);
            if latency <= 0.0 && (self.route.is_empty() || flow.bytes <= 0.0) {
                traffic.arrived(flow.tag, start);
                continue;
            }
            if flow.bytes.is_finite() {
                for &(link, share) in &self.route {
                    self.carried[link as usize] += flow.bytes * share;
                }
                self.under_way += 1;
            }
            let place = self.free.pop().unwrap_or_else(|| {
                self.waiting.push((flow, Vec::new()));
                self.waiting.len() as u32 - 1
            });
            let waiting = &mut self.waiting[place as usize];
            waiting.0 = flow;
            waiting.1.clear();
            waiting.1.extend_from_slice(&self.route);
            self.agenda.add(self.now + latency, place);
        }
    }

    /// Ends the latency of a message without links.
    pub(super) fn pause_ends(&mut self, place: u32, traffic: &mut impl Traffic, start: &mut Start) {
        let tag = self.waiting[place as usize].0.tag;
        self.free.push(place);
        self.ended = self.now;
        self.under_way -= 1;
        traffic.arrived(tag, start);
    }

    pub(super) fn flow_begins(&mut self, place: u32) {
        let (flow, route) = &self.waiting[place as usize];
        let slot = self.rates.insert(route, flow.from);
        let journey = Journey {
            flow: *flow,
            left: flow.bytes.max(0.0),
            since: self.now,
            rate: 0.0,
            is_under_way: true,
        };
        self.free.push(place);
        let index = slot.0 as usize;
        if index >= self.journeys.len() {
            self.journeys.resize(index + 1, None);
        }
        self.journeys[index] = Some(journey);
    }

    pub(super) fn flow_ends(&mut self, slot: Slot, traffic: &mut impl Traffic, start: &mut Start) {
        let Some(Some(journey)) = self.journeys.get_mut(slot.0 as usize) else { return };
        if !journey.is_under_way {
            return;
        }
        let tag = journey.flow.tag;
        journey.is_under_way = false;
        self.ended = self.now;
        self.rates.remove(slot);
        self.under_way -= 1;
        traffic.arrived(tag, start);
    }

    /// Computes changed rates again, and the ends of the messages.
    pub(super) fn share(&mut self) {
        let Self { rates, journeys, ends, now, outcome, .. } = self;
        outcome.solutions += 1;
        let now = *now;
        rates.solve(|slot, rate| {
            let Some(Some(journey)) = journeys.get_mut(slot.0 as usize) else { return };
            if journey.rate > 0.0 {
                journey.left = (journey.left - journey.rate * (now - journey.since)).max(0.0);
            }
            journey.since = now;
            journey.rate = rate;
            let is_ending = rate > 0.0 && journey.left.is_finite();
            ends.set(slot.0, if is_ending { now + journey.left / rate } else { f64::INFINITY });
        });
        ends.settle();
    }

    /// Seconds since the start, and messages sent.
    pub(super) fn progress(&self) -> (f64, u64) {
        (self.now, self.outcome.flows)
    }

    /// Bytes carried by each link so far.
    pub(super) fn carried(&self) -> &[f64] {
        &self.carried
    }

    /// Calls `see` for every active message with its tag and the seconds until its next event.
    pub(super) fn under_way(&self, mut see: impl FnMut(u64, f64)) {
        for Reverse((bits, bucket)) in &self.agenda.times {
            let wait = f64::from_bits(*bits) - self.now;
            for place in &self.agenda.buckets[*bucket as usize] {
                see(self.waiting[*place as usize].0.tag, wait);
            }
        }
        self.ends.each(|slot, time| {
            if let Some(Some(journey)) = self.journeys.get(slot as usize) {
                see(journey.flow.tag, time - self.now);
            }
        });
    }

    /// Advances all active messages by a time, as if `flows` more messages had been sent and each link had
    /// carried `carried` more bytes.
    pub(super) fn forward(&mut self, time: f64, flows: u64, carried: &[f64], rename: impl Fn(u64) -> u64) {
        let old = std::mem::take(&mut self.agenda);
        self.agenda.recent = NOTHING_RECENT;
        for Reverse((bits, bucket)) in old.times {
            for &event in &old.buckets[bucket as usize] {
                self.agenda.add(f64::from_bits(bits) + time, event);
            }
        }
        self.ends.forward(time);
        for journey in self.journeys.iter_mut().flatten() {
            journey.since += time;
            journey.flow.tag = rename(journey.flow.tag);
        }
        for (flow, _) in &mut self.waiting {
            flow.tag = rename(flow.tag);
        }
        self.now += time;
        self.ended += time;
        self.outcome.flows += flows;
        for (sum, more) in self.carried.iter_mut().zip(carried) {
            *sum += more;
        }
    }
}

/// Empty list of recent buckets.
pub(super) const NOTHING_RECENT: [(u64, u32); 4] = [(u64::MAX, u32::MAX); 4];
