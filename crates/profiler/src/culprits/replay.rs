//! Replay of the collectives' graph.
//!
//! Responsible for: when everything would have ended had some own times been others: a rank enters after its own time, a collective ends on each rank its transfer
//! after the last has entered. With the measured own times it gives the measured times. Refuses to change orders.

use super::chain::{Chains, What};
use crate::joined::Joined;

/// Own times that differ from the measured ones: for (member, place of its event) the replaced time.
pub(super) type Own<'a> = &'a dyn Fn(usize, usize) -> i64;

/// What the recorded window would have taken.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Replayed {
    /// From the first event to the end of the last, in nanoseconds.
    pub span: i64,
    /// When every collective's last rank enters it.
    #[cfg_attr(not(test), allow(dead_code, reason = "tests compare every one with what was measured"))]
    pub last_start: Vec<i64>,
}

/// Replays. `transfer` gives the transfer of an event's collective for (member, place).
pub(super) fn replay(chains: &Chains, joined: &Joined, own: Own<'_>, transfer: Own<'_>) -> Replayed {
    let count = chains.events.len();
    let mut at = vec![0_usize; count];
    let mut now: Vec<i64> =
        chains.events.iter().map(|events| events.first().map_or(0, |first| first.time)).collect();
    let first = chains.events.iter().filter_map(|events| events.first()).map(|e| e.time).min().unwrap_or(0);
    let mut last_start = vec![i64::MIN; chains.last_start.len()];
    for &collective in &chains.order {
        let members = joined.matching.members(&joined.matching.collectives[collective as usize]);
        for part in members {
            let member = part.member as usize;
            let started =
                advance(chains, member, Some(collective), &mut at, &mut now, &last_start, own, transfer);
            let known = &mut last_start[collective as usize];
            *known = (*known).max(started);
        }
    }
    for member in 0..count {
        advance(chains, member, None, &mut at, &mut now, &last_start, own, transfer);
    }
    let last =
        now.iter().zip(&chains.events).filter(|(_, events)| !events.is_empty()).map(|(now, _)| *now).max();
    Replayed { span: last.unwrap_or(first) - first, last_start }
}

/// Runs a member up to its start of a collective, or to its end; gives the time.
#[allow(clippy::too_many_arguments, reason = "the state of one loop")]
fn advance(
    chains: &Chains,
    member: usize,
    until: Option<u32>,
    at: &mut [usize],
    now: &mut [i64],
    last_start: &[i64],
    own: Own<'_>,
    transfer: Own<'_>,
) -> i64 {
    let events = &chains.events[member];
    while let Some(event) = events.get(at[member]) {
        let place = at[member];
        now[member] += own(member, place);
        at[member] += 1;
        match event.what {
            What::Start if until == Some(event.collective) => break,
            What::Begin | What::Start | What::End => {}
            What::Gate => {
                let entered = last_start[event.collective as usize];
                if entered > i64::MIN {
                    now[member] = now[member].max(entered + transfer(member, place));
                }
            }
        }
    }
    now[member]
}
