//! Host ranges projected to the device.
//!
//! Responsible for: the interval from the first start to the last end of activities launched within a range,
//! for many ranges and launches. Independent of streams.

/// Launches of one thread in order, for queries over any time interval.
#[derive(Debug, Default)]
pub(super) struct Launches {
    times: Vec<i64>,
    /// Segment tree over (first start, last end) of the launched activities; leaves start at `times.len()`.
    tree: Vec<(i64, i64)>,
}

const NOTHING: (i64, i64) = (i64::MAX, i64::MIN);

fn join(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    (a.0.min(b.0), a.1.max(b.1))
}

impl Launches {
    /// Builds the tree from (launch time, start, end).
    pub(super) fn new(mut launches: Vec<(i64, i64, i64)>) -> Self {
        launches.sort_unstable();
        let count = launches.len();
        let mut tree = vec![NOTHING; count];
        tree.extend(launches.iter().map(|&(_, start, end)| (start, end)));
        for at in (1..count).rev() {
            tree[at] = join(tree[2 * at], tree[2 * at + 1]);
        }
        Self { times: launches.iter().map(|launch| launch.0).collect(), tree }
    }

    /// First start and last end of activities launched within an interval; `None` without launches.
    pub(super) fn within(&self, from: i64, until: i64) -> Option<(i64, i64)> {
        let count = self.times.len();
        let mut low = self.times.partition_point(|&time| time < from) + count;
        let mut high = self.times.partition_point(|&time| time <= until) + count;
        let mut found = NOTHING;
        while low < high {
            if low % 2 == 1 {
                found = join(found, self.tree[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                found = join(found, self.tree[high]);
            }
            low /= 2;
            high /= 2;
        }
        (found.0 <= found.1).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_agrees_with_a_full_scan() {
        for count in [0_i64, 1, 2, 3, 7, 8, 13] {
            let launches: Vec<_> =
                (0..count).map(|at| (at * 10, 100 + (at * 37) % 50, 160 + (at * 53) % 70)).collect();
            let tree = Launches::new(launches.clone());
            for from in -1..14 {
                for until in from - 1..14 {
                    let inside = launches.iter().filter(|l| l.0 >= from * 10 && l.0 <= until * 10);
                    let all = inside.fold(NOTHING, |all, l| join(all, (l.1, l.2)));
                    let expected = (all != NOTHING).then_some(all);
                    assert_eq!(tree.within(from * 10, until * 10), expected, "{count} {from} {until}");
                }
            }
        }
    }
}
