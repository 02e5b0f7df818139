//! End time of each active flow at its present rate, and the flow that ends next.
//!
//! Responsible for: times that change often and are rarely the next. Independent of rates.
//!
//! A tournament tree over slots: each inner node has the earliest time below it. Many concurrent changes are
//! written into the leaves and the tree is rebuilt; a queue would keep an entry for every change.

/// End times by slot, in seconds; infinite for slots without an end.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Node 1 is the root, the children of `n` are `2n` and `2n + 1`, and the leaves are the second half.
    tree: Vec<f64>,
    /// Leaves that changed since the tree was right.
    changed: Vec<u32>,
}

impl Ends {
    fn leaves(&self) -> usize {
        self.tree.len() / 2
    }

    /// Sets the end of a flow; [`Self::settle`] must follow.
    pub(super) fn set(&mut self, slot: u32, time: f64) {
        let index = slot as usize;
        if index >= self.leaves() {
            let leaves = (index + 1).next_power_of_two().max(64);
            let mut tree = vec![f64::INFINITY; 2 * leaves];
            let old = self.leaves();
            tree[leaves..leaves + old].copy_from_slice(&self.tree[old..]);
            self.tree = tree;
            // Final entries stay final in the new tree.
            self.changed = (0..old as u32).collect();
        }
        let at = self.leaves() + index;
        self.tree[at] = time;
        self.changed.push(slot);
    }

    /// Updates the tree after changes.
    pub(super) fn settle(&mut self) {
        let leaves = self.leaves();
        let tree = &mut self.tree;
        if self.changed.len() * 8 > leaves {
            for node in (1..leaves).rev() {
                tree[node] = tree[2 * node].min(tree[2 * node + 1]);
            }
        } else {
            for &slot in &self.changed {
                let mut node = (leaves + slot as usize) >> 1;
                while node > 0 {
                    let earliest = tree[2 * node].min(tree[2 * node + 1]);
                    if tree[node] == earliest {
                        break;
                    }
                    tree[node] = earliest;
                    node /= 2;
                }
            }
        }
        self.changed.clear();
    }

    /// The next end, in seconds.
    pub(super) fn next(&self) -> Option<f64> {
        self.tree.get(1).copied().filter(|time| time.is_finite())
    }

    /// Takes the flows that end until a time, in the order of their slots.
    pub(super) fn take(&mut self, until: f64, slots: &mut Vec<u32>) {
        let leaves = self.leaves();
        let first = slots.len();
        let mut stack = vec![1_usize];
        while let Some(node) = stack.pop() {
            if self.tree.get(node).is_none_or(|time| *time > until || time.is_infinite()) {
                continue;
            }
            if node >= leaves {
                slots.push((node - leaves) as u32);
            } else {
                stack.extend([2 * node + 1, 2 * node]);
            }
        }
        for slot in slots.iter().skip(first) {
            self.set(*slot, f64::INFINITY);
        }
        self.settle();
    }

    /// Calls `see` for every flow with its end.
    pub(super) fn each(&self, mut see: impl FnMut(u32, f64)) {
        let leaves = self.tree.get(self.leaves()..).unwrap_or_default();
        for (slot, time) in leaves.iter().enumerate().filter(|(_, time)| time.is_finite()) {
            see(slot as u32, *time);
        }
    }

    /// Delays all ends by a time, in seconds.
    pub(super) fn forward(&mut self, time: f64) {
        for end in &mut self.tree {
            *end += time;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_next_is_the_earliest(
            changes in proptest::collection::vec(proptest::collection::vec((0_u32..300, 0_u32..50), 1..40), 1..30),
        ) {
            let mut ends = Ends::default();
            let mut known = vec![f64::INFINITY; 300];
            for (n, batch) in changes.into_iter().enumerate() {
                for (slot, time) in batch {
                    let time = f64::from(time) + n as f64;
                    ends.set(slot, time);
                    known[slot as usize] = time;
                }
                ends.settle();
                let least = known.iter().copied().fold(f64::INFINITY, f64::min);
                prop_assert_eq!(ends.next(), Some(least));
                let mut taken = Vec::new();
                ends.take(least + 2.0, &mut taken);
                let expected: Vec<u32> =
                    (0..300).filter(|slot| known[*slot as usize] <= least + 2.0).collect();
                prop_assert_eq!(&taken, &expected);
                for slot in taken {
                    known[slot as usize] = f64::INFINITY;
                }
                let mut left = 0;
                ends.each(|slot, time| {
                    left += 1;
                    assert_eq!(known[slot as usize], time);
                });
                prop_assert_eq!(left, known.iter().filter(|time| time.is_finite()).count());
                ends.set(0, f64::from(60_u32));
                known[0] = 60.0;
                ends.settle();
            }
        }
    }
}
