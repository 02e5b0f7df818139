//! Event loop of the fluid simulation.
//!
//! Responsible for: starting messages in the order of a program, their latency, their progress at changing
//! rates, and the end of each. A message first waits for the latency of its route, then flows at its max-min
//! fair rate (SimGrid's CM02 without TCP's corrections). Independent of the purpose of messages.

use super::allocator::Slot;
use super::ends::Ends;
use super::recurrence::Recurrence;
use super::remembered::{Rates, Sender};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// The sender, by its number in the network.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Size in bytes; infinite for background traffic, which has no dependents.
    pub bytes: f64,
    /// Identifier set by the program.
    pub tag: u64,
}

/// Messages that start now.
pub type Start = Vec<Flow>;

/// The links of a network, and the route of a message on them.
pub trait Wires {
    /// Capacity of every link, in bytes per second.
    fn capacities(&self) -> Vec<f64>;

    /// Writes the links of a message to `route` (which is empty), each with its share of the message (1, or
    /// 1/n if packets are sprayed), and returns the latency of the route in seconds. Without links, the
    /// message stays on its device and takes the latency alone.
    fn route(&self, flow: &Flow, route: &mut Vec<(u32, f64)>) -> f64;

    /// All senders by their number, if each has a single route: then sets of active flows may repeat. Empty
    /// if routes also depend on receivers.
    fn senders(&self) -> Vec<Sender<'_>> {
        Vec::new()
    }
}

/// A program of messages.
pub trait Traffic {
    /// The first messages.
    fn begin(&mut self, start: &mut Start);

    /// Time of the next arrival, in seconds since the start.
    fn clock(&mut self, _now: f64) {}

    /// Handles the arrival of a message; `start` receives the messages that it enables.
    fn arrived(&mut self, tag: u64, start: &mut Start);

    /// Tests whether the simulation continues. Checked once at every time at which messages begin or end.
    fn goes_on(&mut self) -> bool {
        true
    }

    /// Progress of a program that repeats in laps. `None` without laps, or between two of them.
    fn lap(&self) -> Option<ProgramProgress> {
        None
    }

    /// State of the program within its lap. Two times with equal states and equal active messages have the
    /// same future except for its length.
    fn state(&self, _state: &mut Vec<u64>) {}

    /// Tag of an active message relative to the lap.
    fn relative(&self, tag: u64) -> u64 {
        tag
    }

    /// Skips a number of laps without sending.
    fn skip(&mut self, _laps: u64) {}

    /// Identifier of an active message after skipped laps.
    fn renamed(&self, tag: u64, _laps: u64) -> u64 {
        tag
    }
}

/// Progress of a repeating program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramProgress {
    /// Laps begun.
    pub number: u64,
    /// Laps that may still be skipped safely.
    pub left: u64,
}

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
struct Journey {
    flow: Flow,
    /// Bytes that are left as of `since`.
    left: f64,
    since: f64,
    rate: f64,
    is_under_way: bool,
}

/// The first byte of a waiting message arrives: it takes its share from now on.
type Begins = u32;

/// Events in buckets of equal time: symmetrical traffic has thousands of concurrent ones.
#[derive(Debug, Default)]
struct Agenda {
    times: BinaryHeap<Reverse<(u64, u32)>>,
    buckets: Vec<Vec<Begins>>,
    free: Vec<u32>,
    recent: [(u64, u32); 4],
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
    fn next(&self) -> Option<f64> {
        self.times.peek().map(|Reverse((bits, _))| f64::from_bits(*bits))
    }

    /// Moves the events of the next bucket to `events`.
    fn take(&mut self, events: &mut Vec<Begins>) {
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

/// Times closer than this share of the time since the start are equal: symmetrical flows end together except
/// for rounding.
const SAME_MOMENT: f64 = 1e-12;

/// Runs a program to its end. Fails if messages are cut off, so that it never ends.
pub fn simulate(wires: &impl Wires, traffic: &mut impl Traffic) -> Result<Outcome, Problem> {
    let mut run = Run {
        rates: Rates::new(wires.capacities(), &wires.senders()),
        journeys: Vec::new(),
        waiting: Vec::new(),
        free: Vec::new(),
        agenda: Agenda::default(),
        ends: Ends::default(),
        outcome: Outcome::default(),
        now: 0.0,
        ended: 0.0,
        route: Vec::new(),
        under_way: 0,
        carried: Vec::new(),
    };
    run.agenda.recent = NOTHING_RECENT;
    run.carried = wires.capacities().iter().map(|_| 0.0).collect();
    let mut start = Start::new();
    let mut recurrence = Recurrence::default();
    traffic.begin(&mut start);
    run.launch(wires, traffic, &mut start);
    let (mut events, mut ended) = (Vec::new(), Vec::new());
    while let Some(moment) = run.next() {
        if !traffic.goes_on() {
            return Err(Problem::new("stopped while simulating flows"));
        }
        run.now = run.now.max(moment);
        let until = run.now * (1.0 + SAME_MOMENT);
        while run.agenda.next().is_some_and(|next| next <= until) {
            run.agenda.take(&mut events);
        }
        run.ends.take(until, &mut ended);
        traffic.clock(run.now);
        for slot in ended.drain(..) {
            run.flow_ends(Slot(slot), traffic, &mut start);
        }
        for place in events.drain(..) {
            if run.waiting[place as usize].1.is_empty() {
                run.pause_ends(place, traffic, &mut start);
            } else {
                run.flow_begins(place);
            }
        }
        run.launch(wires, traffic, &mut start);
        run.share();
        recurrence.look(&mut run, traffic);
    }
    if run.under_way > 0 {
        let stuck = run
            .journeys
            .iter()
            .flatten()
            .find(|journey| journey.is_under_way && journey.left.is_finite())
            .map_or(String::new(), |journey| {
                format!(", the first from device {} to device {}", journey.flow.from, journey.flow.to)
            });
        return Err(Problem::new(format!(
            "{} messages have no route{stuck}: the step cannot finish",
            run.under_way
        ))
        .hint("a failed link or switch leaves no path, or a link has no capacity"));
    }
    run.outcome.duration = Seconds::new(run.ended);
    run.outcome.carried = run.carried.iter().map(|&bytes| Bytes::new(bytes)).collect();
    Ok(run.outcome)
}

/// A running simulation.
pub(super) struct Run {
    rates: Rates,
    /// By slot of the rates.
    journeys: Vec<Option<Journey>>,
    /// Messages whose first byte has not arrived, with their routes.
    waiting: Vec<(Flow, Vec<(u32, f64)>)>,
    free: Vec<u32>,
    agenda: Agenda,
    ends: Ends,
    outcome: Outcome,
    now: f64,
    /// Arrival time of the last message.
    ended: f64,
    route: Vec<(u32, f64)>,
    under_way: u64,
    carried: Vec<f64>,
}

impl Run {
    /// The next time at which a message begins or ends.
    fn next(&self) -> Option<f64> {
        match (self.agenda.next(), self.ends.next()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn launch(&mut self, wires: &impl Wires, traffic: &mut impl Traffic, start: &mut Start) {
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
    fn pause_ends(&mut self, place: u32, traffic: &mut impl Traffic, start: &mut Start) {
        let tag = self.waiting[place as usize].0.tag;
        self.free.push(place);
        self.ended = self.now;
        self.under_way -= 1;
        traffic.arrived(tag, start);
    }

    fn flow_begins(&mut self, place: u32) {
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

    fn flow_ends(&mut self, slot: Slot, traffic: &mut impl Traffic, start: &mut Start) {
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
    fn share(&mut self) {
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
const NOTHING_RECENT: [(u64, u32); 4] = [(u64::MAX, u32::MAX); 4];
