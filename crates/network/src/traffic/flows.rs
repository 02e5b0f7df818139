//! Senders, receivers and bytes of one call in one group.
//!
//! Responsible for: rings, direct and two-level algorithms, token dispatch, messages. Does not choose the
//! algorithm.
//!
//! Notation: `n` members; `S` bytes by nccl-tests' convention; `V` = `2 S` for an all-reduce and `S` for a
//! gather or a scatter; `L` members in each of `D` domains.

use super::{Algorithm, Exchange, Numbering, Place, rings};
use railwright_spec::Portable as _;
use railwright_step::CollectiveKind;
use std::collections::BTreeMap;

/// Direction in which rings pass the members of a domain, such that each ring closes on the rail of its
/// start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Forwards, with the exit before the entry.
    On,
    /// Backwards, with the exit after the entry.
    Back,
    /// Backwards, with the exit at the second next: the rest after two forward turns.
    BackTwo,
}

impl Turn {
    /// Every second domain is passed in the other direction. With an odd number the last three are forward,
    /// forward, and two back.
    fn of(index: usize, domains: usize, local: usize) -> Self {
        let is_odd = domains % 2 == 1 && domains > 1 && local > 2;
        match (is_odd, domains - index) {
            (true, 1) => Self::BackTwo,
            (true, 2 | 3) => Self::On,
            _ if index % 2 == 1 => Self::Back,
            _ => Self::On,
        }
    }

    /// Edges of each member by target position, with the share of the `local - 1` steps of rings that they
    /// carry.
    fn edges(self, local: usize) -> Vec<(usize, f64)> {
        match self {
            Self::On => vec![(1, 1.0)],
            Self::Back => vec![(local - 1, 1.0)],
            Self::BackTwo => {
                // From p over p - 1, p - 2, ... to p + 3, then p + 1, with the exit at p + 2.
                let steps = (local - 1) as f64;
                vec![(local - 1, (local - 3) as f64 / steps), (local - 2, 1.0 / steps), (1, 1.0 / steps)]
            }
        }
    }
}

impl Exchange {
    /// Writes the ranks of a group in the order of a library: ascending, except for messages, which have a
    /// first and a second.
    pub fn ranks_of(&self, numbering: &Numbering, group: u64, ranks: &mut Vec<u32>) {
        self.groups.members(numbering, group, ranks);
        let is_ordered = matches!(
            self.kind,
            CollectiveKind::Send
                | CollectiveKind::Receive
                | CollectiveKind::Broadcast
                | CollectiveKind::Reduce
        );
        if !is_ordered {
            ranks.sort_unstable();
        }
    }

    /// Calls `flow(from, to, bytes)` like [`Self::flows`], for ranks on the devices of a placement.
    pub fn flows_on(&self, ranks: &[u32], place: &Place, flow: &mut impl FnMut(u32, u32, f64)) {
        let Some(seats) = &place.seats else { return self.flows(ranks, place.domain, flow) };
        let devices: Vec<u32> = ranks.iter().map(|rank| seats.device(*rank)).collect();
        self.flows(&devices, place.domain, &mut |from, to, bytes| {
            flow(seats.rank(from), seats.rank(to), bytes);
        });
    }

    /// Calls `flow(from, to, bytes)` for every message between two different ranks when a group of these
    /// members makes one call. `domain` is the number of devices in a scale-up domain.
    pub fn flows(&self, members: &[u32], domain: u64, flow: &mut impl FnMut(u32, u32, f64)) {
        if members.len() < 2 || self.bytes.get() <= 0.0 {
            return;
        }
        let bytes = self.bytes.get();
        match self.kind {
            CollectiveKind::AllReduce => rotate(self.algorithm, members, domain, 2.0 * bytes, flow),
            CollectiveKind::AllGather | CollectiveKind::ReduceScatter => {
                rotate(self.algorithm, members, domain, bytes, flow);
            }
            CollectiveKind::AllToAll | CollectiveKind::Dispatch | CollectiveKind::Combine => {
                self.all_to_all(members, domain, bytes, flow);
            }
            CollectiveKind::Send | CollectiveKind::Receive | CollectiveKind::SendReceive
                if self.algorithm == Algorithm::Ring =>
            {
                ring(members, bytes, flow);
            }
            CollectiveKind::Send
            | CollectiveKind::Receive
            | CollectiveKind::SendReceive
            | CollectiveKind::Copy => flow(members[0], members[1], bytes),
            CollectiveKind::Broadcast => from_root(members, domain, bytes, flow),
            CollectiveKind::Reduce => {
                from_root(members, domain, bytes, &mut |from, to, bytes| flow(to, from, bytes));
            }
            CollectiveKind::Scatter | CollectiveKind::Gather => {
                for &other in &members[1..] {
                    let pair = if self.kind == CollectiveKind::Scatter {
                        (members[0], other)
                    } else {
                        (other, members[0])
                    };
                    flow(pair.0, pair.1, bytes / members.len() as f64);
                }
            }
            CollectiveKind::Barrier | CollectiveKind::Notify => {}
        }
    }

    /// The same as sets whose members all send equal bytes to each other, by `block(members, bytes)`. Returns
    /// false without a call if the exchange has no such sets.
    pub fn blocks(&self, members: &[u32], domain: u64, mut block: impl FnMut(Vec<u32>, f64)) -> bool {
        if self.kind != CollectiveKind::AllToAll || members.len() < 2 || self.bytes.get() <= 0.0 {
            return false;
        }
        let (n, bytes) = (members.len() as f64, self.bytes.get());
        let sorted = sorted(members).unwrap_or_else(|| members.to_vec());
        match self.algorithm {
            Algorithm::Direct | Algorithm::Ring | Algorithm::Message => block(sorted, bytes / n),
            Algorithm::Hierarchical | Algorithm::Dispatch { .. } => {
                let Some(local) = in_domains(&sorted, domain) else { return false };
                let (near, far) = self.two_levels(n, local as f64);
                for own in sorted.chunks_exact(local).filter(|own| own.len() > 1) {
                    block(own.to_vec(), near);
                }
                for place in (0..local).filter(|_| sorted.len() > local) {
                    block(sorted.iter().skip(place).step_by(local).copied().collect(), far);
                }
            }
        }
        true
    }

    /// Bytes to each other member of a domain, and to each member of the same position in another, for
    /// domains with `l` of `n` members.
    fn two_levels(&self, n: f64, l: f64) -> (f64, f64) {
        let bytes = self.bytes.get();
        match self.algorithm {
            Algorithm::Dispatch { copies, most_domains } => dispatch(bytes, n, l, copies, most_domains),
            // To each local member, all bytes for its position in any domain; then on the rail, the bytes of
            // L members.
            _ => (bytes / n * (n / l), bytes / n * l),
        }
    }

    /// Bytes that each member of a group sends to each other in one call. `None` if they differ between
    /// members.
    pub(super) fn to_each(&self) -> Option<f64> {
        let volume = match (self.kind, self.algorithm) {
            (CollectiveKind::AllToAll, Algorithm::Direct | Algorithm::Ring)
            | (CollectiveKind::AllGather | CollectiveKind::ReduceScatter, Algorithm::Direct) => 1.0,
            (CollectiveKind::AllReduce, Algorithm::Direct) => 2.0,
            _ => return None,
        };
        Some(volume * self.bytes.get() / self.groups.members.extent as f64)
    }

    /// Each member has `S / n` for each.
    fn all_to_all(&self, members: &[u32], domain: u64, bytes: f64, flow: &mut impl FnMut(u32, u32, f64)) {
        let n = members.len() as f64;
        let two_levels = matches!(self.algorithm, Algorithm::Hierarchical | Algorithm::Dispatch { .. });
        let laid = if two_levels { laid(members, domain) } else { None };
        let members = laid.as_deref().unwrap_or(members);
        let local = if two_levels { in_domains(members, domain) } else { None };
        let (near, far) = match (self.algorithm, local) {
            (Algorithm::Hierarchical | Algorithm::Dispatch { .. }, Some(local)) => {
                self.two_levels(n, local as f64)
            }
            (Algorithm::Dispatch { copies, most_domains }, None) => {
                return unevenly(members, domain, bytes, (copies, most_domains), flow);
            }
            _ => return direct(members, bytes / n, flow),
        };
        let local = local.unwrap_or(1);
        for block in members.chunks_exact(local) {
            direct(block, near, flow);
        }
        for (index, from) in members.iter().enumerate() {
            for to in members.iter().skip(index % local).step_by(local).filter(|to| *to != from) {
                flow(*from, *to, far);
            }
        }
    }
}

/// Gathers and reductions. Each member sends `V (n - 1) / n` in total for every algorithm, except for the
/// shares of the two-level one.
fn rotate(
    algorithm: Algorithm,
    members: &[u32],
    domain: u64,
    volume: f64,
    flow: &mut impl FnMut(u32, u32, f64),
) {
    let n = members.len() as f64;
    if algorithm == Algorithm::Direct {
        return direct(members, volume / n, flow);
    }
    let laid = laid(members, domain);
    let members = laid.as_deref().unwrap_or(members);
    let Some(local) = in_domains(members, domain) else {
        let all = volume * (n - 1.0) / n;
        return rings::uneven(members, domain, &mut |from, to, share| flow(from, to, share * all));
    };
    let domains = members.len() / local;
    let (l, d) = (local as f64, domains as f64);
    let (near, far) = match algorithm {
        // Inside: V (L - 1) / L. Across: each member's part V / L among the D members of its position: V (D -
        // 1) / n.
        Algorithm::Hierarchical => (volume * (l - 1.0) / l, volume * (d - 1.0) / n),
        // L rings, each with V / L; a ring passes L - 1 links inside a domain and one out of it.
        _ if domains > 1 => (volume * (n - 1.0) / n * (l - 1.0) / l, volume * (n - 1.0) / n / l),
        _ => (volume * (n - 1.0) / n, 0.0),
    };
    let hierarchical = algorithm == Algorithm::Hierarchical;
    for (index, block) in members.chunks_exact(local).enumerate() {
        if local > 1 {
            let turn = if hierarchical { Turn::On } else { Turn::of(index, domains, local) };
            for (steps, times) in turn.edges(local).into_iter().filter(|(_, times)| *times > 0.0) {
                for (place, member) in block.iter().enumerate() {
                    flow(*member, block[(place + steps) % local], near * times);
                }
            }
        }
        if domains > 1 {
            let after = (index + 1) % domains * local;
            // Two rings through an odd number of domains close from an end to a beginning, with an offset of
            // one position.
            let is_skewed = !hierarchical && domains % 2 == 1 && index + 1 == domains && local == 2;
            for (place, member) in block.iter().enumerate() {
                let next = if is_skewed { (place + 1) % local } else { place };
                flow(*member, members[after + next], far);
            }
        }
    }
}

/// A message of `S` bytes from the first member to all others, on the rings of a gather. Each of `L` rings
/// carries `S / L` and is cut before the root, which receives nothing; a gather of `V` has `V (n - 1) / n` on
/// its rings.
fn from_root(members: &[u32], domain: u64, bytes: f64, flow: &mut impl FnMut(u32, u32, f64)) {
    let (n, root) = (members.len() as f64, members[0]);
    rotate(Algorithm::Ring, members, domain, bytes * n / (n - 1.0), &mut |from, to, bytes| {
        if to != root {
            flow(from, to, bytes);
        }
    });
}

/// Distinct positions over copies of a token, with `places` of equal probability: `places (1 - (1 - 1 /
/// places)^copies) / copies`.
fn once(copies: f64, places: f64) -> f64 {
    places * (1.0 - (1.0 - 1.0 / places).portable_powf(copies)) / copies
}

/// Bytes to each other member inside, and to each member of the same position in another domain.
///
/// A token crosses the network once for each domain with any of its experts, and inside once for each rank
/// with one: `near = S once(n) / L`, `far = S once(min(D, most)) / D`.
fn dispatch(bytes: f64, n: f64, local: f64, copies: u32, most_domains: u32) -> (f64, f64) {
    let copies = f64::from(copies.max(1));
    let domains = n / local;
    let visited = if most_domains == 0 { domains } else { domains.min(f64::from(most_domains)) };
    (bytes * once(copies, n) / local, bytes * once(copies, visited) / domains)
}

/// Dispatch for domains with different numbers of members. A token reaches `m` of `n` with probability `1 -
/// (1 - m/n)^copies` or, if fewer domains are allowed than it would reach, by their share of those. The input
/// of a domain is spread evenly over its members.
fn unevenly(
    members: &[u32],
    domain: u64,
    bytes: f64,
    (copies, most_domains): (u32, u32),
    flow: &mut impl FnMut(u32, u32, f64),
) {
    let n = members.len() as f64;
    let domain = u32::try_from(domain.max(1)).unwrap_or(u32::MAX);
    let pieces: Vec<&[u32]> = members.chunk_by(|a, b| a / domain == b / domain).collect();
    let least = pieces.iter().map(|piece| piece.len()).min().unwrap_or(1) as f64;
    let copies = f64::from(copies.max(1));
    let most = f64::from(most_domains);
    let is_limited = most_domains > 0 && most < n / least;
    for (index, piece) in pieces.iter().enumerate() {
        let part = piece.len() as f64 / n;
        let reached = if is_limited {
            once(copies, most) * part
        } else {
            (1.0 - (1.0 - part).portable_powf(copies)) / copies
        };
        direct(piece, bytes * once(copies, n) / piece.len() as f64, flow);
        let each = bytes * reached / piece.len() as f64;
        for from in
            pieces.iter().enumerate().filter(|(other, _)| *other != index).flat_map(|(_, piece)| *piece)
        {
            for to in *piece {
                flow(*from, *to, each);
            }
        }
    }
}

/// Members per domain, if all domains have equally many at the same local positions; else `None`. `members`
/// are [`laid`].
fn in_domains(members: &[u32], domain: u64) -> Option<usize> {
    let domain = u32::try_from(domain.max(1)).unwrap_or(u32::MAX);
    let mut blocks = members.chunk_by(|a, b| a / domain == b / domain);
    let first = blocks.next()?;
    let is_equal = |block: &[u32]| {
        block.len() == first.len() && block.iter().zip(first).all(|(a, b)| a % domain == b % domain)
    };
    blocks.all(is_equal).then_some(first.len())
}

/// Members domain by domain, in the order in which a group's ranks first reach each, as libraries build
/// rings; those of a domain ascend. `None` if they already have this order.
fn laid(members: &[u32], domain: u64) -> Option<Vec<u32>> {
    if members.is_sorted() {
        return None;
    }
    let domain = u32::try_from(domain.max(1)).unwrap_or(u32::MAX);
    let mut first: BTreeMap<u32, usize> = BTreeMap::new();
    for (index, member) in members.iter().enumerate() {
        first.entry(member / domain).or_insert(index);
    }
    let mut laid = members.to_vec();
    laid.sort_by_key(|member| (first.get(&(member / domain)).copied(), *member));
    Some(laid)
}

fn sorted(members: &[u32]) -> Option<Vec<u32>> {
    (!members.is_sorted()).then(|| {
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        sorted
    })
}

fn ring(members: &[u32], bytes: f64, flow: &mut impl FnMut(u32, u32, f64)) {
    for (index, from) in members.iter().enumerate() {
        flow(*from, members[(index + 1) % members.len()], bytes);
    }
}

fn direct(members: &[u32], bytes: f64, flow: &mut impl FnMut(u32, u32, f64)) {
    for from in members {
        for to in members.iter().filter(|to| *to != from) {
            flow(*from, *to, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Groups;
    use super::*;
    use proptest::prelude::*;
    use railwright_spec::quantity::Bytes;
    use railwright_step::{Dimension, Phase};

    fn exchange(kind: CollectiveKind, algorithm: Algorithm) -> Exchange {
        Exchange {
            dimension: Dimension::Data,
            purpose: "gradients",
            phase: Phase::Optimizer,
            kind,
            algorithm,
            bytes: Bytes::new(840.0),
            count: 1.0,
            groups: Groups::all(&Numbering::pipeline_outermost(1, 8)),
        }
    }

    fn matrix(exchange: &Exchange, members: &[u32], domain: u64) -> BTreeMap<(u32, u32), f64> {
        let mut sums = BTreeMap::new();
        exchange.flows(members, domain, &mut |from, to, bytes| {
            assert_ne!(from, to);
            *sums.entry((from, to)).or_insert(0.0) += bytes;
        });
        sums
    }

    /// network.md, section 4: bytes on the wire of each algorithm.
    #[test]
    fn an_all_reduce_in_one_domain_is_a_ring_of_twice_its_bytes() {
        let ring = matrix(&exchange(CollectiveKind::AllReduce, Algorithm::Ring), &[0, 1, 2, 3], 8);
        let each = 2.0 * 840.0 * 3.0 / 4.0;
        assert_eq!(ring, BTreeMap::from([((0, 1), each), ((1, 2), each), ((2, 3), each), ((3, 0), each)]));
    }

    #[test]
    fn rings_across_domains_keep_to_their_rails() {
        let ring = exchange(CollectiveKind::AllGather, Algorithm::Ring);
        // Two members in each of four domains of four.
        let members = [1, 3, 5, 7, 9, 11, 13, 15];
        let sums = matrix(&ring, &members, 4);
        assert!(sums.keys().all(|(from, to)| from / 4 == to / 4 || from % 4 == to % 4), "{sums:?}");
        // Two rings through an odd number of domains close with an offset of one position, more do not.
        let aside = |members: &[u32]| {
            let odd = matrix(&ring, members, 4);
            odd.keys().filter(|(from, to)| from / 4 != to / 4 && from % 4 != to % 4).count()
        };
        assert_eq!(aside(&members[..6]), 2);
        assert_eq!((aside(&(0..12).collect::<Vec<_>>()), aside(&[0, 1, 2, 4, 5, 6, 8, 9, 10])), (0, 0));
    }

    /// The root of a scatter sends a part to each other member; a gather is its reverse.
    #[test]
    fn a_scatter_and_a_gather_move_parts() {
        let scattered = matrix(&exchange(CollectiveKind::Scatter, Algorithm::Direct), &[0, 1, 2, 3], 8);
        assert_eq!(scattered, BTreeMap::from([((0, 1), 210.0), ((0, 2), 210.0), ((0, 3), 210.0)]));
        let gathered = matrix(&exchange(CollectiveKind::Gather, Algorithm::Direct), &[0, 1, 2, 3], 8);
        assert!(scattered.iter().all(|((from, to), bytes)| gathered.get(&(*to, *from)) == Some(bytes)));
    }

    /// NCCL's broadcast and reduce use the rings of its gathers, one through each NIC of a domain.
    #[test]
    fn a_broadcast_leaves_by_every_nic_of_a_domain() {
        let members: Vec<u32> = (0..12).collect();
        let gather = matrix(&exchange(CollectiveKind::AllGather, Algorithm::Ring), &members, 4);
        let sent = matrix(&exchange(CollectiveKind::Broadcast, Algorithm::Ring), &members, 4);
        let reduced = matrix(&exchange(CollectiveKind::Reduce, Algorithm::Ring), &members, 4);
        // The same pairs, except into the root, and a quarter of the message through each NIC.
        assert!(gather.keys().filter(|(_, to)| *to != 0).all(|pair| sent.contains_key(pair)), "{sent:?}");
        assert!(sent.keys().all(|pair| gather.contains_key(pair) && pair.1 != 0), "{sent:?}");
        let across = sent.iter().filter(|((from, to), _)| from / 4 != to / 4);
        assert!(
            across.clone().count() == 11 && across.clone().all(|(_, bytes)| *bytes == 840.0 / 4.0),
            "{sent:?}"
        );
        for member in &members[1..] {
            let received: f64 = sent.iter().filter(|((_, to), _)| to == member).map(|(_, bytes)| bytes).sum();
            assert!((received - 840.0).abs() < 1e-9, "{member} {received}");
        }
        assert!(
            sent.iter().all(|((from, to), bytes)| reduced.get(&(*to, *from)) == Some(bytes)),
            "{reduced:?}"
        );
        assert_eq!(reduced.len(), sent.len());
    }

    #[test]
    fn two_levels_send_what_the_paper_counts() {
        // rail-only.md, section 7: (K - 1) / K n M inside and (n - K) M on the rails, M for each pair; n = 8,
        // K = 4, M = 105.
        let sums = matrix(
            &exchange(CollectiveKind::AllToAll, Algorithm::Hierarchical),
            &[0, 1, 2, 3, 4, 5, 6, 7],
            4,
        );
        let of = |inside: bool| -> f64 {
            sums.iter()
                .filter(|((from, to), _)| *from == 0 && (to / 4 == 0) == inside)
                .map(|(_, bytes)| bytes)
                .sum()
        };
        assert_eq!((of(true), of(false)), (3.0 / 4.0 * 8.0 * 105.0, 4.0 * 105.0));
    }

    #[test]
    fn tokens_cross_the_network_once_for_each_domain() {
        // DeepSeek-V3: 8 copies of each token over 8 domains of 8, at most 4 domains; 1 MB as an all-to-all
        // would send it.
        let members: Vec<u32> = (0..64).collect();
        let algorithm = Algorithm::Dispatch { copies: 8, most_domains: 4 };
        let sums = matrix(&exchange(CollectiveKind::AllToAll, algorithm), &members, 8);
        let network: f64 =
            sums.iter().filter(|((from, to), _)| *from == 0 && *to >= 8).map(|(_, bytes)| bytes).sum();
        let reached = 4.0 * (1.0 - 0.75_f64.powi(8));
        assert!((network / (840.0 / 8.0 * reached * 7.0 / 8.0) - 1.0).abs() < 1e-12);
        assert!(sums.keys().all(|(from, to)| from / 8 == to / 8 || from % 8 == to % 8));
    }

    proptest! {
        /// For any placement of a group on domains, all members send and receive the bytes that the collective's definition requires.
        #[test]
        fn every_member_sends_and_receives_alike(
            n in 2_u32..20, stride in 1_u32..7, start in 0_u32..9, domain in 1_u64..13, which in 0_usize..6,
        ) {
            let (kind, algorithm, volume) = [
                (CollectiveKind::AllReduce, Algorithm::Ring, 2.0),
                (CollectiveKind::AllGather, Algorithm::Ring, 1.0),
                (CollectiveKind::ReduceScatter, Algorithm::Direct, 1.0),
                (CollectiveKind::AllReduce, Algorithm::Hierarchical, 2.0),
                (CollectiveKind::AllToAll, Algorithm::Ring, 1.0),
                (CollectiveKind::AllToAll, Algorithm::Hierarchical, 1.0),
            ][which];
            let members: Vec<u32> = (0..n).map(|m| start + m * stride).collect();
            let sums = matrix(&exchange(kind, algorithm), &members, domain);
            let least = volume * 840.0 * f64::from(n - 1) / f64::from(n);
            for member in &members {
                let sent: f64 = sums.iter().filter(|((from, _), _)| from == member).map(|(_, b)| b).sum();
                let received: f64 = sums.iter().filter(|((_, to), _)| to == member).map(|(_, b)| b).sum();
                prop_assert!((sent - received).abs() < 1e-9, "{sent} {received}");
                // Two levels forward data: an all-to-all sends more than its definition requires, and no exchange sends less.
                if which == 5 {
                    prop_assert!(sent > least - 1e-9);
                } else {
                    prop_assert!((sent - least).abs() < 1e-9, "{sent} {least}");
                }
            }
        }
    }
}
