//! Intervals of a rank between its communications.
//!
//! Responsible for: the value, the intervals of a member in order of time, and joining them across events.
//! Does not compare them.

use super::event::{Chains, What};

/// An interval of a rank: from the start of one matched communication to the start of the next. The first and
/// the last interval extend to the edges of the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stretch {
    /// Index of the member in the job.
    pub member: u32,
    /// The collective at its end; [`NONE`] at the end of the steps.
    pub collective: u32,
    /// The collective at its start; [`NONE`] at the start of the steps.
    pub previous: u32,
    /// Start time in nanoseconds: the last previous event that allowed it to continue.
    pub from: i64,
    /// End time, in nanoseconds.
    pub to: i64,
    /// The rank's own time in it, in nanoseconds.
    pub own: i64,
    /// Lower median of the own times of its peers and itself, in nanoseconds; its own time without a
    /// comparison.
    pub usual: i64,
    /// Number of intervals that it is compared with.
    pub peers: u32,
    /// Index in [`Stretches::columns`] of its peers and itself.
    pub column: Option<u32>,
    /// The last collective before it that the rank waited for.
    pub gate: Option<u32>,
    /// Its events as a range of indices: after the first, up to and including the last.
    pub events: (u32, u32),
}

impl Stretch {
    /// Parts of it in which the rank did not wait: (start, end), in nanoseconds.
    pub(super) fn parts(&self, chains: &Chains) -> Vec<(i64, i64)> {
        let (first, last) = (self.events.0 as usize, self.events.1 as usize);
        let events = chains.events.get(self.member as usize).and_then(|events| events.get(first..=last));
        let mut parts: Vec<(i64, i64)> = Vec::new();
        for pair in events.unwrap_or_default().windows(2) {
            let [before, event] = pair else { continue };
            let until = before.time + event.own + event.unknown;
            match parts.last_mut() {
                Some(part) if part.1 == before.time => part.1 = until,
                _ => parts.push((before.time, until)),
            }
        }
        parts
    }
}

/// Joins a member's intervals across events that are not positions of the program.
pub(super) fn joined_at(list: Vec<Stretch>, is_place: &dyn Fn(u32) -> bool) -> Vec<Stretch> {
    let mut joined: Vec<Stretch> = Vec::with_capacity(list.len());
    let mut open: Option<Stretch> = None;
    for stretch in list {
        let whole = match open.take() {
            None => stretch,
            Some(first) => Stretch {
                previous: first.previous,
                from: first.from,
                own: first.own + stretch.own,
                usual: first.own + stretch.own,
                events: (first.events.0, stretch.events.1),
                ..stretch
            },
        };
        if is_place(whole.events.1) {
            joined.push(whole);
        } else {
            open = Some(whole);
        }
    }
    joined.extend(open);
    joined
}

/// Intervals of a member in order of time.
pub(super) fn of_member(chains: &Chains, member: usize) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut open: Option<Stretch> = None;
    let mut gate = None;
    for (place, event) in chains.events[member].iter().enumerate() {
        if let Some(stretch) = &mut open {
            stretch.own += event.own;
        }
        match event.what {
            What::Gate => {
                gate = Some(event.collective);
                if let Some(stretch) = &mut open {
                    stretch.from = event.time;
                }
            }
            What::Begin | What::Start | What::Alone | What::End => {
                if let Some(mut stretch) = open.take() {
                    stretch.collective = event.collective;
                    stretch.to = event.time;
                    stretch.usual = stretch.own;
                    stretch.gate = gate;
                    stretch.events.1 = place as u32;
                    stretches.push(stretch);
                }
                open = (event.what != What::End).then(|| Stretch {
                    member: member as u32,
                    previous: event.collective,
                    from: event.time,
                    events: (place as u32, place as u32),
                    ..Stretch::default()
                });
            }
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::event::Event;

    /// A rank works for 40 ns, waits for a collective until 100, and works for 20 ns more.
    #[test]
    fn an_interval_with_a_wait_has_a_part_before_and_after_it() {
        let event = |what: What, time: i64, own: i64| Event {
            what,
            collective: 0,
            time,
            own,
            unknown: 0,
            least: 0,
            transfer: 0,
            behind: None,
            part: None,
        };
        let events = vec![event(What::Start, 0, 0), event(What::Gate, 100, 40), event(What::Start, 120, 20)];
        let chains = Chains { events: vec![events], ..Chains::default() };
        let list = of_member(&chains, 0);
        let parts: Vec<_> = list.iter().map(|stretch| (stretch.own, stretch.parts(&chains))).collect();
        assert_eq!(parts, [(60, vec![(0, 40), (100, 120)])]);
    }
}
