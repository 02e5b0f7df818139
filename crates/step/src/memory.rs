//! Memory over the step: peak and its composition.
//!
//! Responsible for: the curve from allocations and frees. Excludes allocators: modelled fragmentation is an
//! event like any other.

pub use crate::memory_events::{MemoryEvents, MemoryKind};
use crate::{Step, Time};
use railwright_spec::quantity::Rank;
use serde::Serialize;

/// Memory peak of a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Peak {
    /// Rank.
    pub rank: Rank,
    /// First time of the peak.
    pub time: Time,
    /// Number of bytes.
    pub bytes: i64,
    /// Bytes by kind, largest first, without zeros.
    pub parts: Vec<(MemoryKind, i64)>,
}

/// Peak of every rank, in the order of the step, without ranks that have no events.
pub fn peaks(step: &Step) -> Vec<Peak> {
    step.ranks.iter().filter_map(|rank| peak(rank.rank, &rank.memory)).collect()
}

fn peak(rank: Rank, events: &MemoryEvents) -> Option<Peak> {
    let mut held = [0i64; MemoryKind::ALL.len()];
    let mut total = 0i64;
    let mut most: Option<(Time, i64, [i64; MemoryKind::ALL.len()])> = None;
    for (time, kind, bytes) in events.iter() {
        held[kind as usize] = held[kind as usize].saturating_add(bytes);
        total = total.saturating_add(bytes);
        if most.is_none_or(|(_, peak, _)| total > peak) {
            most = Some((time, total, held));
        }
    }
    let (time, bytes, held) = most?;
    let mut parts: Vec<_> = MemoryKind::ALL.into_iter().zip(held).filter(|(_, bytes)| *bytes != 0).collect();
    parts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    Some(Peak { rank, time, bytes, parts })
}

/// Memory curve of a rank: times of changes with the total bytes from then on.
pub fn curve(events: &MemoryEvents) -> Vec<(Time, i64)> {
    let mut total = 0i64;
    let mut curve: Vec<(Time, i64)> = Vec::with_capacity(events.iter().len());
    for (time, _, bytes) in events.iter() {
        total = total.saturating_add(bytes);
        match curve.last_mut() {
            Some(last) if last.0 == time => last.1 = total,
            _ => curve.push((time, total)),
        }
    }
    curve
}

/// Bytes of every kind, in the order of [`MemoryKind::ALL`].
pub type Held = [i64; MemoryKind::ALL.len()];

/// Memory of a rank in equal time intervals: the peak of each interval, by kind. Short spikes are kept, and
/// the kinds of an interval add up to its peak. An interval before the first event is empty.
pub fn fullest(events: &MemoryEvents, start: Time, end: Time, pieces: usize) -> Vec<Held> {
    let total = |held: &Held| held.iter().fold(0_i64, |sum, bytes| sum.saturating_add(*bytes));
    let mut most = vec![[0; MemoryKind::ALL.len()]; pieces];
    let mut held: Held = [0; MemoryKind::ALL.len()];
    let rows: Vec<(Time, MemoryKind, i64)> = events.iter().collect();
    let length = i128::from(end.0.saturating_sub(start.0).max(1));
    // Numerator of the interval index at a time; the denominator is `length`.
    let piece = |time: Time| i128::from(time.0.saturating_sub(start.0)) * pieces as i128;
    for (index, &(time, kind, bytes)) in rows.iter().enumerate() {
        held[kind as usize] = held[kind as usize].saturating_add(bytes);
        let until = rows.get(index + 1).map_or(end, |next| next.0);
        // Only the state after all events of one moment counts.
        if until == time && index + 1 < rows.len() {
            continue;
        }
        let first = piece(time).div_euclid(length).clamp(0, pieces as i128) as usize;
        let last = (piece(until) + length - 1).div_euclid(length).clamp(0, pieces as i128) as usize;
        for one in most.iter_mut().take(last.max(first + 1).min(pieces)).skip(first) {
            if total(&held) > total(one) {
                *one = held;
            }
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_shows_its_fullest_moment_by_kind() {
        let mut events = MemoryEvents::default();
        events.push(Time(0), MemoryKind::Parameters, 100);
        events.push(Time(10), MemoryKind::Activations, 50);
        // A spike much shorter than an interval.
        events.push(Time(12), MemoryKind::Workspace, 30);
        events.push(Time(13), MemoryKind::Workspace, -30);
        events.push(Time(40), MemoryKind::Activations, -50);
        let pieces = fullest(&events, Time(0), Time(100), 4);
        let sums: Vec<i64> = pieces.iter().map(|held| held.iter().sum()).collect();
        assert_eq!(sums, [180, 150, 100, 100]);
        assert_eq!(pieces[0][MemoryKind::Workspace as usize], 30);
        assert_eq!(pieces[2][MemoryKind::Parameters as usize], 100);
        assert_eq!(pieces[2][MemoryKind::Activations as usize], 0);
    }

    #[test]
    fn nothing_in_between_events_of_one_moment_is_shown() {
        let mut events = MemoryEvents::default();
        events.push(Time(5), MemoryKind::Gradients, 70);
        events.push(Time(5), MemoryKind::Activations, -0);
        events.push(Time(5), MemoryKind::Gradients, -20);
        assert_eq!(
            fullest(&events, Time(0), Time(10), 2).iter().map(|held| held[1]).collect::<Vec<_>>(),
            [0, 50]
        );
        assert_eq!(fullest(&events, Time(0), Time(0), 1).len(), 1);
        assert!(fullest(&events, Time(0), Time(10), 0).is_empty());
        assert_eq!(fullest(&MemoryEvents::default(), Time(0), Time(10), 1), [[0; 9]]);
    }

    #[test]
    fn the_peak_lists_its_content() {
        let mut events = MemoryEvents::default();
        events.push(Time(0), MemoryKind::Parameters, 100);
        events.push(Time(5), MemoryKind::Activations, 30);
        events.push(Time(7), MemoryKind::Activations, -30);
        events.push(Time(7), MemoryKind::Logits, 20);
        let peak = peak(Rank(3), &events).expect("events");
        assert_eq!((peak.time, peak.bytes), (Time(5), 130));
        assert_eq!(peak.parts, [(MemoryKind::Parameters, 100), (MemoryKind::Activations, 30)]);
        assert_eq!(curve(&events), [(Time(0), 100), (Time(5), 130), (Time(7), 120)]);
        assert!(events.problems().is_empty());
        events.push(Time(8), MemoryKind::Logits, -21);
        assert_eq!(events.problems().len(), 1);
    }
}
