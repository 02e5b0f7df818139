//! Unions and intersections of time spans.
//!
//! Responsible for: sorted, disjoint lists of spans and their lengths. Spans reversed by rounding are kept,
//! as in the tool.

/// A time span: start and end.
pub(super) type Span = (i64, i64);

/// Union of spans. The tool's rounding makes events below a microsecond end before they start. Such a span is
/// a separate part with negative length, unless another one covers it. If it starts together with another
/// span, the tool's unstable sort decides; here the shorter one comes first.
pub(super) fn union(spans: impl Iterator<Item = Span>) -> Vec<Span> {
    let mut all: Vec<Span> = spans.collect();
    all.sort_unstable();
    let mut merged: Vec<Span> = Vec::new();
    // The latest end so far, not necessarily that of the last part.
    let mut latest = i64::MIN;
    for (start, end) in all {
        match merged.last_mut().filter(|_| start <= latest) {
            Some(last) => last.1 = last.1.max(end),
            None => merged.push((start, end)),
        }
        latest = latest.max(end);
    }
    merged
}

/// Total length of disjoint spans.
pub(super) fn length(spans: &[Span]) -> i64 {
    spans.iter().map(|(start, end)| end - start).sum()
}

/// Length of the intersection of two unions.
pub(super) fn common(a: &[Span], b: &[Span]) -> i64 {
    let (mut i, mut j, mut sum) = (0, 0, 0);
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        sum += (left.1.min(right.1) - left.0.max(right.0)).max(0);
        if left.1 <= right.1 { i += 1 } else { j += 1 }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_touch_are_one() {
        let all = union([(5, 7), (0, 2), (2, 3), (6, 9), (4, 4)].into_iter());
        assert_eq!((all.clone(), length(&all)), (vec![(0, 3), (4, 4), (5, 9)], 7));
        assert_eq!(common(&all, &[(1, 6), (8, 20)]), 4);
    }

    #[test]
    fn spans_that_rounding_turned_around_count_less_than_nothing_where_nothing_covers_them() {
        let all = union([(0, 4), (2, 1), (9, 8), (20, 25)].into_iter());
        assert_eq!((all.clone(), length(&all)), (vec![(0, 4), (9, 8), (20, 25)], 8));
    }
}
