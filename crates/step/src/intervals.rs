//! Sets of time intervals: sorted, disjoint, none empty.
//!
//! Responsible for: union, intersection, difference and length, for all analyses. Intervals have no origin.

use crate::{Activity, RankTimeline, Span, Time};

/// Disjoint intervals in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Intervals(pub(crate) Vec<(Time, Time)>);

impl Intervals {
    /// Union of intervals in any order.
    pub(crate) fn union_of(mut stretches: Vec<(Time, Time)>) -> Self {
        stretches.retain(|(start, end)| start < end);
        stretches.sort_unstable();
        let mut merged: Vec<(Time, Time)> = Vec::with_capacity(stretches.len());
        for (start, end) in stretches {
            match merged.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        Self(merged)
    }

    /// Intervals inside a window in which a rank has a span that is `wanted`.
    pub(crate) fn of(rank: &RankTimeline, window: (Time, Time), wanted: impl Fn(&Span) -> bool) -> Self {
        let spans = rank.streams.iter().flat_map(|stream| stream.spans.iter()).filter(wanted);
        Self::union_of(spans.map(|span| (span.start.max(window.0), span.end.min(window.1))).collect())
    }

    pub(crate) fn length(&self) -> Time {
        self.0.iter().map(|&(start, end)| end - start).sum()
    }

    /// Intersection.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some(&&x), Some(&&y)) = (a.peek(), b.peek()) {
            let (start, end) = (x.0.max(y.0), x.1.min(y.1));
            if start < end {
                both.push((start, end));
            }
            if x.1 <= y.1 {
                a.next()
            } else {
                b.next()
            };
        }
        Self(both)
    }

    /// Difference: intervals only in `self`.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let mut left = Vec::new();
        let mut others = other.0.as_slice();
        for &(mut start, end) in &self.0 {
            while let [(_, other_end), rest @ ..] = others
                && *other_end <= start
            {
                others = rest;
            }
            for &(from, to) in others {
                if from >= end {
                    break;
                }
                if start < from {
                    left.push((start, from));
                }
                start = start.max(to);
            }
            if start < end {
                left.push((start, end));
            }
        }
        Self(left)
    }
}

/// True if a span is compute.
pub(crate) fn computes(span: &Span) -> bool {
    span.activity == Activity::Compute
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(stretches: &[(i64, i64)]) -> Intervals {
        Intervals::union_of(stretches.iter().map(|&(a, b)| (Time(a), Time(b))).collect())
    }

    #[test]
    fn unions_merge_what_touches_and_drop_what_is_empty() {
        assert_eq!(set(&[(5, 7), (1, 3), (3, 4), (6, 9), (2, 2)]).0, set(&[(1, 4), (5, 9)]).0);
    }

    #[test]
    fn parts_add_up() {
        let (a, b) = (set(&[(0, 10), (12, 20), (25, 26)]), set(&[(2, 3), (5, 13), (15, 16), (19, 30)]));
        assert_eq!(a.intersection(&b).0, set(&[(2, 3), (5, 10), (12, 13), (15, 16), (19, 20), (25, 26)]).0);
        assert_eq!(a.without(&b).0, set(&[(0, 2), (3, 5), (13, 15), (16, 19)]).0);
        assert_eq!(a.intersection(&b).length() + a.without(&b).length(), a.length());
    }
}
