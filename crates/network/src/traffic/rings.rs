//! Rings of a group with unequal numbers of ranks per domain.
//!
//! Responsible for: rings of a group, as many as the smallest domain has members. Each visits every member
//! once. Between domains it follows rails that have members of the group at both ends. Independent of the
//! bytes.
//!
//! The domain with the fewest members sets the number: data of the other ranks must enter through its NICs
//! with any algorithm. So a gather of `V` over `n` members sends `V (n - 1) / n / least` through each NIC
//! that a ring leaves by.

/// Calls `flow(from, to, share)` for every pair that rings join, with its share of one ring's bytes over
/// those of all rings. `members` ascend.
pub(super) fn uneven(members: &[u32], domain: u64, flow: &mut impl FnMut(u32, u32, f64)) {
    let domain = u32::try_from(domain.max(1)).unwrap_or(u32::MAX);
    let mut pieces: Vec<&[u32]> = members.chunk_by(|a, b| a / domain == b / domain).collect();
    let rings = pieces.iter().map(|piece| piece.len()).min().unwrap_or(0);
    if rings == 0 {
        return;
    }
    apart(&mut pieces);
    let share = 1.0 / rings as f64;
    let count = pieces.len();
    let mut entries: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut exits: Vec<Vec<usize>> = vec![Vec::new(); count];
    if count > 1 {
        for from in 0..count {
            let to = (from + 1) % count;
            let pairs = crossings((pieces[from], &entries[from]), (pieces[to], &exits[to]), domain, rings);
            for &(out, into) in &pairs {
                flow(pieces[from][out], pieces[to][into], share);
            }
            (exits[from], entries[to]) = pairs.into_iter().unzip();
        }
    }
    for ((piece, entries), exits) in pieces.iter().zip(&entries).zip(&exits) {
        inside(piece, &through(entries, exits), rings, &mut |from, to, times| flow(from, to, times * share));
    }
}

/// Reorders the pieces of a group. Its first and last domain may have few of its members, at different
/// positions: with whole domains between them both find their rails.
fn apart(pieces: &mut [&[u32]]) {
    let most = pieces.iter().map(|piece| piece.len()).max().unwrap_or(0);
    let has_few = |piece: Option<&&[u32]>| piece.is_some_and(|piece| piece.len() < most);
    if pieces.len() >= 4 && has_few(pieces.first()) && has_few(pieces.last()) {
        pieces[2..].rotate_right(1);
    }
}

/// For each ring the member at which it leaves one domain, and the one at which it enters the next: on one
/// rail as far as possible. A single ring does not leave by its entry.
fn crossings(
    (from, entries): (&[u32], &[usize]),
    (to, exits): (&[u32], &[usize]),
    domain: u32,
    rings: usize,
) -> Vec<(usize, usize)> {
    let is_free = |n: usize, taken: &[usize], all: usize| rings > 1 || all == 1 || !taken.contains(&n);
    let mut pairs = Vec::with_capacity(rings);
    let (mut used_out, mut used_in) = (vec![false; from.len()], vec![false; to.len()]);
    let (mut a, mut b) = (0, 0);
    while a < from.len() && b < to.len() && pairs.len() < rings {
        match (from[a] % domain).cmp(&(to[b] % domain)) {
            std::cmp::Ordering::Less => a += 1,
            std::cmp::Ordering::Greater => b += 1,
            std::cmp::Ordering::Equal => {
                if is_free(a, entries, from.len()) && is_free(b, exits, to.len()) {
                    pairs.push((a, b));
                    (used_out[a], used_in[b]) = (true, true);
                }
                (a, b) = (a + 1, b + 1);
            }
        }
    }
    let open_out = (0..from.len()).filter(|n| !used_out[*n] && is_free(*n, entries, from.len()));
    let open_in = (0..to.len()).filter(|n| !used_in[*n] && is_free(*n, exits, to.len()));
    let rest: Vec<(usize, usize)> = open_out.zip(open_in).take(rings - pairs.len()).collect();
    pairs.extend(rest);
    pairs
}

/// Pairs entries with exits such that no ring leaves by its entry. Members that are both come first in both
/// lists, which are then joined with an offset of one.
fn through(entries: &[usize], exits: &[usize]) -> Vec<(usize, usize)> {
    let order = |own: &[usize], other: &[usize]| {
        let mut own = own.to_vec();
        own.sort_unstable_by_key(|n| (!other.contains(n), *n));
        own
    };
    let (entries, exits) = (order(entries, exits), order(exits, entries));
    (0..entries.len()).map(|n| (entries[n], exits[(n + 1) % exits.len()])).collect()
}

/// Paths of rings through all members of a domain, from an entry to an exit each; around the domain if a
/// group has only one.
///
/// Each is the circle of members with as few edges changed as make it a path: from the entry to the member
/// before the exit, then over those after the exit, and finally to the exit.
fn inside(piece: &[u32], link_paths: &[(usize, usize)], rings: usize, flow: &mut impl FnMut(u32, u32, f64)) {
    let n = piece.len();
    if n < 2 {
        return;
    }
    let (next, before) = (|at: usize| (at + 1) % n, |at: usize| (at + n - 1) % n);
    let mut circle = vec![rings; n];
    for &(entry, exit) in link_paths {
        circle[exit] -= 1;
        if next(exit) != entry {
            circle[before(exit)] -= 1;
            circle[before(entry)] -= 1;
            flow(piece[before(exit)], piece[next(exit)], 1.0);
            flow(piece[before(entry)], piece[exit], 1.0);
        }
    }
    for (at, times) in circle.into_iter().enumerate() {
        if times > 0 {
            flow(piece[at], piece[next(at)], times as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn edges(members: &[u32], domain: u64) -> BTreeMap<(u32, u32), f64> {
        let mut sums = BTreeMap::new();
        uneven(members, domain, &mut |from, to, share| {
            assert_ne!(from, to);
            *sums.entry((from, to)).or_insert(0.0) += share;
        });
        sums
    }

    /// A rack of 72 with every eighth device: 24 members from the middle of one to the middle of another have
    /// 3, 9, 9 and 3 in each.
    #[test]
    fn a_group_that_begins_and_ends_inside_domains_keeps_to_its_rails() {
        let members: Vec<u32> = (0..24).map(|n| 192 + 8 * n).collect();
        let edges = edges(&members, 72);
        let across: Vec<_> = edges.iter().filter(|((from, to), _)| from / 72 != to / 72).collect();
        // Three rings, four domains.
        assert_eq!(across.len(), 12, "{across:?}");
        assert!(
            across
                .iter()
                .all(|((from, to), share)| from % 72 == to % 72 && (**share - 1.0 / 3.0).abs() < 1e-12)
        );
    }

    proptest! {
        /// Each member sends and receives once in each ring, and no NIC carries more than one ring.
        #[test]
        fn rings_pass_every_member_once(
            start in 0_u32..40, n in 2_u32..60, stride in 1_u32..9, domain in 2_u32..30,
        ) {
            let members: Vec<u32> = (0..n).map(|m| start + m * stride).collect();
            let pieces: Vec<usize> = members.chunk_by(|a, b| a / domain == b / domain).map(<[u32]>::len).collect();
            let least = *pieces.iter().min().expect("some");
            let edges = edges(&members, u64::from(domain));
            for member in &members {
                let sum = |is: &dyn Fn(u32, u32) -> bool| -> f64 {
                    edges.iter().filter(|((from, to), _)| is(*from, *to)).map(|(_, share)| share).sum()
                };
                prop_assert!((sum(&|from, _| from == *member) - 1.0).abs() < 1e-9);
                prop_assert!((sum(&|_, to| to == *member) - 1.0).abs() < 1e-9);
                let ring = 1.0 / least as f64 + 1e-9;
                prop_assert!(sum(&|from, to| from == *member && from / domain != to / domain) < ring);
                prop_assert!(sum(&|from, to| to == *member && from / domain != to / domain) < ring);
            }
            let across: f64 = edges.iter().filter(|((a, b), _)| a / domain != b / domain).map(|(_, share)| share).sum();
            let expected = if pieces.len() > 1 { pieces.len() as f64 } else { 0.0 };
            prop_assert!((across - expected).abs() < 1e-9);
        }
    }
}
