//! Events of one rank.
//!
//! Responsible for: the starts, ends and tails of a rank's communications within the steps, the edges of the
//! steps, and own times between them. Does not join ranks: the last starts of collectives are given.

use super::super::launches::with_unrecorded;
use crate::attribution::event::{Behind, Chains, Event, What};
use crate::joined::Joined;
use crate::matching::{Lane, Part};
use crate::occupancy::{Intervals, Occupancy};
use crate::trace::NONE;
use std::collections::BTreeMap;

/// Maximum gap after the previous kernel of its stream, in nanoseconds, for a kernel that waited for it.
const BACK_TO_BACK: i64 = 10_000;

/// Minimum gap between two queued kernels of a stream, in nanoseconds.
const BETWEEN: i64 = 1_000;

/// Resolution of recorded times of one clock, as a part of an interval (100 ppm: crystals of hosts are within
/// 50 ppm of each other).
const RESOLVED: i64 = 10_000;

/// Number of kernels by which the start of a collective may shift relative to the surrounding compute.
const SLIPPED: usize = 1;

/// An event without its index and own time.
struct Raw {
    time: i64,
    what: What,
    collective: u32,
    /// Start of a collective's tail, in nanoseconds.
    tail: i64,
    transfer: i64,
    /// For a start: the previous collective of its stream, and the gap after it in nanoseconds.
    behind: Option<(u32, i64)>,
    /// For a start: index among the rank's parts.
    part: Option<u32>,
}

impl Raw {
    fn edge(time: i64, what: What) -> Self {
        Self { time, what, collective: NONE, tail: time, transfer: 0, behind: None, part: None }
    }
}

/// Events of a member in order of time. `issues` are the earliest starts of its parts, `held` the collectives
/// of the steps, `concurrent` the maximum number of compute kernels that a member started before the end of
/// each. `begun` is true if the member was recorded when the steps began, and `near` the maximum gap at an
/// edge of the steps in nanoseconds.
pub(super) fn of_member(
    chains: &Chains,
    joined: &Joined,
    member: usize,
    (on, issues): (&Occupancy, &[Option<i64>]),
    (held, concurrent): (&[bool], &[usize]),
    (begun, near): (bool, i64),
) -> Vec<Event> {
    let matching = &joined.matching;
    let mut raw: Vec<Raw> = Vec::new();
    let parts = &matching.parts[member];
    let unrecorded = with_unrecorded(joined, member);
    let exposed = |times: Vec<(i64, i64)>| Intervals::union(times).outside(&on.compute);
    let alone = exposed(unrecorded.iter().map(|&(at, _)| (parts[at].start, parts[at].end)).collect());
    let alone_least =
        exposed(unrecorded.iter().map(|&(at, least)| (parts[at].end - least, parts[at].end)).collect());
    // The last communication of every stream: its collective, when it was issued, and its end.
    let mut streams: BTreeMap<u32, (u32, i64, i64)> = BTreeMap::new();
    for (at, (part, collective)) in parts.iter().zip(&matching.of[member]).enumerate() {
        let Some(collective) = collective.filter(|&at| held[at as usize]) else { continue };
        let (start, end) = (chains.within(part.start), chains.within(part.end));
        let issue = issues.get(at).copied().flatten();
        let transfer = (end - chains.last_start[collective as usize]).max(0);
        let mut issued = start;
        let mut behind = None;
        if let Lane::Stream(stream) = part.lane {
            let before = streams.get(&stream).copied();
            // Kernels of one stream run in turn; recorded ends and starts overlap by the resolution of the
            // clocks.
            let in_turn = |b: &(u32, i64, i64)| stream != NONE && b.2 - start <= BACK_TO_BACK && b.1 <= start;
            if let Some((before, earlier, free)) = before.filter(in_turn) {
                if start - free <= BACK_TO_BACK {
                    issued = chains.within(issue.unwrap_or(start).clamp(earlier, start));
                }
                let gap = if issued < start { start - free } else { (start - free).min(BETWEEN) };
                behind = Some((before, gap));
            }
            streams.insert(stream, (collective, issued, end));
        }
        let known = Raw::edge(issued, What::Start);
        raw.push(Raw { collective, transfer, behind, part: Some(at as u32), ..known });
        // Compute that runs at the end of the collective continues without its result, and senders do not
        // wait. If another member started the next kernel before the end, the kernel does not need
        // the result: the rank is idle for another reason.
        let from =
            joined.matching.communicator(&matching.collectives[collective as usize]).channel.map(|c| c.0);
        let sends = from == Some(joined.clocks.clocks[member].rank);
        let needless = |issue: i64| concurrent[collective as usize] > on.started(issue, part.end) + SLIPPED;
        let runs_on = from.is_none() && issue.is_some_and(needless);
        // Kernels that need the result may be recorded before the end, because of the clock resolution.
        let slack = ((end - start) / RESOLVED).clamp(1, BACK_TO_BACK);
        let works_on = on.compute.within(end - slack, end) * 2 > slack;
        let gated = !sends && !runs_on && !works_on;
        if gated && end > start {
            let tail = on.compute.last_end(end - slack).unwrap_or(start).max(start);
            raw.push(Raw { collective, tail, transfer, ..Raw::edge(end, What::Gate) });
        }
    }
    // The rank issues what begins within the tail of a collective before that tail: the tail is no time of
    // its own.
    let mut tails: Vec<(i64, i64)> =
        raw.iter().filter(|event| event.what == What::Gate).map(|gate| (gate.time, gate.tail)).collect();
    tails.sort_unstable();
    let is_within = |part: &Part| part.end > chains.span.0 && part.start < chains.span.1;
    for &(at, _) in unrecorded.iter().filter(|&&(at, _)| is_within(&parts[at])) {
        let time = chains.within(parts[at].start);
        let gate = tails.get(tails.partition_point(|gate| gate.0 < time));
        let time = gate.map_or(time, |gate| gate.1.min(time));
        raw.push(Raw { part: Some(at as u32), ..Raw::edge(time, What::Alone) });
    }
    // Ends precede starts at the same instant.
    raw.sort_by_key(|event| (event.time, event.what == What::Start));
    if let (Some(first), Some(last)) = (raw.first().map(|e| e.time), raw.last().map(|e| e.time)) {
        // An edge at which the device was busy.
        let begin = chains.within(on.window.0).min(first);
        if begin - chains.span.0 <= near {
            raw.insert(0, Raw::edge(begin, What::Begin));
        } else if begun {
            // Time before its first work is its own time, too.
            raw.insert(0, Raw::edge(chains.span.0, What::Begin));
        }
        let end = chains.within(on.window.1).max(last);
        if chains.span.1 - end <= near {
            raw.push(Raw::edge(end, What::End));
        }
    }
    let mut events: Vec<Event> = Vec::with_capacity(raw.len());
    let mut starts: BTreeMap<u32, u32> = BTreeMap::new();
    // The previous start and the previous event: a tail contains neither.
    let mut previous: Option<i64> = None;
    for Raw { time, what, collective, tail, transfer, behind, part } in raw {
        let since = previous.unwrap_or(time);
        let until = if what == What::Gate { tail.max(since) } else { time };
        let unknown = alone.within(since, until);
        let least = alone_least.within(since, until);
        let own = until - since - unknown;
        let behind = behind.and_then(|(before, gap)| Some(Behind { place: *starts.get(&before)?, gap }));
        if what == What::Start {
            starts.insert(collective, events.len() as u32);
        }
        events.push(Event { what, collective, time, own, unknown, least, transfer, behind, part });
        previous = Some(time);
    }
    events
}
