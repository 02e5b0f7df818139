//! Collectives as programs of messages.
//!
//! Responsible for: messages between ranks and their dependencies, for the algorithms of
//! `docs/concepts/flow-model.md`. The rank numbers are those of the network's devices. Does not choose an
//! algorithm.

use super::traffic::{Flow, ProgramProgress, Start, Traffic};

/// Messages in phases: each begins when the last message of the preceding one has arrived.
#[derive(Clone, Debug)]
pub struct Phases<I> {
    phases: I,
    missing: u64,
}

impl<I: Iterator<Item = Vec<Flow>>> Phases<I> {
    /// Creates phases from the messages of each.
    pub fn new(phases: impl IntoIterator<Item = Vec<Flow>, IntoIter = I>) -> Self {
        Self { phases: phases.into_iter(), missing: 0 }
    }

    fn next_phase(&mut self, start: &mut Start) {
        if let Some(flows) = self.phases.by_ref().find(|flows| !flows.is_empty()) {
            self.missing = flows.len() as u64;
            start.extend(flows);
        }
    }
}

impl<I: Iterator<Item = Vec<Flow>>> Traffic for Phases<I> {
    fn begin(&mut self, start: &mut Start) {
        self.next_phase(start);
    }

    fn arrived(&mut self, _: u64, start: &mut Start) {
        self.missing -= 1;
        if self.missing == 0 {
            self.next_phase(start);
        }
    }
}

/// A ring: rank `i` sends to rank `i + 1` for a number of steps; a step begins after the previous message was
/// sent and that of the neighbour was received.
#[derive(Clone, Debug)]
pub struct Ring {
    ranks: Vec<u32>,
    bytes: f64,
    steps: u64,
    /// Steps that each rank has begun.
    begun: Vec<u64>,
    /// Of these, number of own messages that have arrived at the neighbour, and number of the neighbour's
    /// that have arrived here.
    sent: Vec<u64>,
    received: Vec<u64>,
    /// The fewest steps that any rank has begun, and the number of ranks with that many.
    least: u64,
    at_least: usize,
}

impl Ring {
    /// `steps` messages of `bytes` from every rank to the next.
    pub fn new(ranks: Vec<u32>, bytes: f64, steps: u64) -> Self {
        let n = ranks.len();
        Self {
            ranks,
            bytes,
            steps,
            begun: vec![0; n],
            sent: vec![0; n],
            received: vec![0; n],
            least: 0,
            at_least: n,
        }
    }

    /// All-reduce of a buffer of `bytes` on every rank: `2 (n - 1)` steps of `bytes / n`.
    pub fn all_reduce(ranks: Vec<u32>, bytes: f64) -> Self {
        let n = ranks.len() as u64;
        Self::new(ranks, bytes / n.max(1) as f64, 2 * n.saturating_sub(1))
    }

    /// Reduce-scatter or all-gather of a whole buffer of `bytes`: `n - 1` steps of `bytes / n`.
    pub fn half(ranks: Vec<u32>, bytes: f64) -> Self {
        let n = ranks.len() as u64;
        Self::new(ranks, bytes / n.max(1) as f64, n.saturating_sub(1))
    }

    fn try_begin(&mut self, rank: usize, start: &mut Start) {
        let step = self.begun[rank];
        if step >= self.steps || self.sent[rank] < step || self.received[rank] < step {
            return;
        }
        self.begun[rank] += 1;
        if step == self.least {
            self.at_least -= 1;
            if self.at_least == 0 {
                self.least = self.begun.iter().copied().min().unwrap_or(0);
                self.at_least = self.begun.iter().filter(|&&begun| begun == self.least).count();
            }
        }
        let to = self.ranks[(rank + 1) % self.ranks.len()];
        let tag = (step << 24) | rank as u64;
        start.push(Flow { from: self.ranks[rank], to, bytes: self.bytes, tag });
    }
}

/// Bits of a ring's tag that name the rank.
const RANK: u64 = (1 << 24) - 1;

impl Traffic for Ring {
    fn begin(&mut self, start: &mut Start) {
        if self.ranks.len() > 1 {
            (0..self.ranks.len()).for_each(|rank| self.try_begin(rank, start));
        }
    }

    fn arrived(&mut self, tag: u64, start: &mut Start) {
        let rank = (tag & RANK) as usize;
        let next = (rank + 1) % self.ranks.len();
        self.sent[rank] += 1;
        self.received[next] += 1;
        self.try_begin(rank, start);
        self.try_begin(next, start);
    }

    fn lap(&self) -> Option<ProgramProgress> {
        let most = self.begun.first().map_or(0, |_| self.begun.iter().copied().max().unwrap_or(0));
        Some(ProgramProgress { number: self.least, left: self.steps.saturating_sub(most + 1) })
    }

    fn state(&self, state: &mut Vec<u64>) {
        let all = self.begun.iter().chain(&self.sent).chain(&self.received);
        state.extend(all.map(|count| count.wrapping_sub(self.least)));
    }

    fn relative(&self, tag: u64) -> u64 {
        (((tag >> 24).wrapping_sub(self.least)) << 24) | (tag & RANK)
    }

    fn skip(&mut self, laps: u64) {
        for count in self.begun.iter_mut().chain(&mut self.sent).chain(&mut self.received) {
            *count += laps;
        }
        self.least += laps;
    }

    fn renamed(&self, tag: u64, laps: u64) -> u64 {
        tag + (laps << 24)
    }
}

/// Concurrent messages between every two ranks.
pub fn all_to_all(ranks: &[u32], bytes: f64) -> Vec<Flow> {
    let pairs = ranks.iter().flat_map(|&from| ranks.iter().map(move |&to| (from, to)));
    pairs.filter(|(from, to)| from != to).map(|(from, to)| Flow { from, to, bytes, tag: 0 }).collect()
}

/// The same in `n - 1` phases, rank `i` to rank `i + p` in phase `p`.
pub fn shifted_all_to_all(ranks: &[u32], bytes: f64) -> impl Iterator<Item = Vec<Flow>> + '_ {
    (1..ranks.len()).map(move |shift| shifted(ranks, shift, bytes))
}

fn shifted(ranks: &[u32], shift: usize, bytes: f64) -> Vec<Flow> {
    let n = ranks.len();
    (0..n).map(|i| Flow { from: ranks[i], to: ranks[(i + shift) % n], bytes, tag: 0 }).collect()
}

/// Recursive halving and doubling of a buffer of `bytes` over a power of two of ranks; `None` for other
/// counts.
pub fn halving_doubling(ranks: &[u32], bytes: f64) -> Option<impl Iterator<Item = Vec<Flow>> + '_> {
    let n = ranks.len();
    if !n.is_power_of_two() {
        return None;
    }
    let rounds = n.trailing_zeros();
    // Halving: at first the partner is half the ring away and the message is half the buffer. Doubling
    // reverses the order.
    let exchange = move |round: u32| -> Vec<Flow> {
        let distance = n >> (round + 1);
        let bytes = bytes * distance as f64 / n as f64;
        (0..n).map(|i| Flow { from: ranks[i], to: ranks[i ^ distance], bytes, tag: 0 }).collect()
    };
    Some((0..rounds).chain((0..rounds).rev()).map(exchange))
}

/// One step of a direct reduce-scatter or all-gather in every group concurrently: each member sends `bytes /
/// n` to each other.
pub fn direct(groups: &[Vec<u32>], bytes: f64) -> Vec<Flow> {
    groups.iter().flat_map(|group| all_to_all(group, bytes / group.len().max(1) as f64)).collect()
}
