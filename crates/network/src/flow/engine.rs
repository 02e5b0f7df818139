//! Event loop of the fluid simulation.
//!
//! Responsible for: starting messages in the order of a program, their latency, their progress at changing
//! rates, and the end of each. A message first waits for the latency of its route, then flows at its max-min
//! fair rate (SimGrid's CM02 without TCP's corrections). Independent of the purpose of messages.

use super::allocator::Slot;
use super::ends::Ends;
use super::recurrence::Recurrence;
use super::remembered::Rates;
use super::run::{Agenda, NOTHING_RECENT, Outcome, Run};
use super::traffic::{Start, Traffic, Wires};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};

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
