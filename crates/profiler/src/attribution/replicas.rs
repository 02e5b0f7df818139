//! Ranks that run the same program.
//!
//! Responsible for: communication starts of different ranks at the same position of one program. If several
//! communicators are open at once, their starts interleave differently on every rank. A position is therefore
//! the number of a communication among those of its kind. Only positions that agree on all ranks of a class
//! count. Programs are compared in launch order, if recorded, because on a slow rank starts on
//! different streams change order. Excludes ranks with messages at other positions: pipeline stages run
//! different programs.

use super::event::Chains;
use super::programs::{Key, Kinds, Program, Start, program};
use crate::joined::Joined;
use std::collections::BTreeMap;

/// Minimum share of the positions of two programs that both must have.
const SHARED: f64 = 0.75;

/// Minimum share of common messages at the same position.
const ALIKE: f64 = 0.9;

/// An offset other than the one from the counts is used if it reduces the time differences to this share.
const SHIFTED: f64 = 0.25;

/// Numbers of starts that the reference lacks begin here: beyond any number in a recording.
const EXTRA: i64 = 1 << 40;

/// Maximum number of starts of one kind in a step.
const IN_STEP: i64 = 1 << 20;

/// A member with the positions of its starts.
type Placed = (usize, Vec<Key>);

/// Ranks that run one program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Class {
    /// Its members, each with the position of every start in the program. `None` if the start is at another
    /// position on another member.
    pub members: Vec<(usize, Vec<Option<u32>>)>,
    /// Starts that most members lack, as (member, index of the start): further micro-batches.
    pub extra: Vec<(usize, usize)>,
}

/// The classes of members that run the same program.
pub(super) fn classes(chains: &Chains, joined: &Joined) -> Vec<Class> {
    let mut kinds = Kinds::default();
    let programs: Vec<Program> =
        (0..chains.events.len()).map(|member| program(chains, joined, member, &mut kinds)).collect();
    let mut found: Vec<(Reference, Vec<Placed>)> = Vec::new();
    for (member, program) in programs.iter().enumerate().filter(|(_, program)| !program.starts.is_empty()) {
        let times = by_kind(&program.starts);
        let fits = found.iter_mut().find_map(|(reference, members)| {
            if !reference.may_hold(&program.starts, &times) {
                return None;
            }
            let keys = reference.keys(program);
            let holds = reference.holds(program, &keys);
            reference.in_steps |= holds && reference.differs_in_steps(program);
            holds.then_some((members, keys))
        });
        if let Some((members, keys)) = fits {
            members.push((member, keys));
        } else {
            let reference = Reference::new(program);
            let keys = reference.keys(program);
            found.push((reference, vec![(member, keys)]));
        }
    }
    found.into_iter().map(|(reference, members)| reference.class(members)).collect()
}

/// The program of the first member of a class.
struct Reference {
    /// Times by kind.
    times: BTreeMap<u32, Vec<i64>>,
    /// By position: its number in the program, and the number of the previous anchor.
    places: BTreeMap<Key, (u32, Option<u32>)>,
    /// By position: number of the anchor launched before it.
    launched_behind: BTreeMap<Key, Option<u32>>,
    /// Number of launches by kind and step, if launches are recorded, and the first number of each kind.
    counts: Option<BTreeMap<(u32, u64), u32>>,
    first: BTreeMap<u32, i64>,
    /// The most frequent kind. Positions of other kinds are identified by the last anchor before them.
    anchor: u32,
    messages: usize,
    /// True if the launches of a member of its class are numbered by step, because their numbers differ.
    in_steps: bool,
}

impl Reference {
    fn new(program: &Program) -> Self {
        let starts = &program.starts;
        let times = by_kind(starts);
        let most = times.iter().max_by_key(|(kind, times)| (times.len(), std::cmp::Reverse(**kind)));
        let anchor = most.map_or(0, |(kind, _)| *kind);
        let messages = starts.iter().filter(|start| start.message).count();
        let mut first: BTreeMap<u32, i64> = BTreeMap::new();
        if let Some(turns) = &program.turns {
            for (start, &number) in starts.iter().zip(&turns.numbers) {
                first.entry(start.kind).and_modify(|known| *known = number.min(*known)).or_insert(number);
            }
        }
        let mut reference = Self {
            times,
            places: BTreeMap::new(),
            launched_behind: BTreeMap::new(),
            counts: program.turns.as_ref().map(|turns| turns.counts.clone()),
            first,
            anchor,
            messages,
            in_steps: false,
        };
        let mut last = None;
        let keys = reference.keys(program);
        for (at, &key) in keys.iter().enumerate() {
            reference.places.insert(key, (at as u32, last));
            if key.0 == anchor {
                last = Some(at as u32);
            }
        }
        let in_order: Vec<Key> = program.in_order(&keys).into_iter().map(|start| start.1).collect();
        reference.launched_behind = in_order.iter().copied().zip(reference.before(&in_order)).collect();
        reference
    }

    /// Positions of a program's starts. If both programs launch the same number of each kind in each step,
    /// their numbers in the recordings apply. If they do not in whole steps, the numbers within each step
    /// apply. Otherwise the first or the last of a kind are missing, whichever fits the times.
    fn keys(&self, program: &Program) -> Vec<Key> {
        if let Some(turns) =
            program.turns.as_ref().filter(|turns| self.counts.as_ref() == Some(&turns.counts))
        {
            let key = |(start, number): (&Start, &i64)| {
                (start.kind, number - self.first.get(&start.kind).copied().unwrap_or(0))
            };
            return program.starts.iter().zip(&turns.numbers).map(key).collect();
        }
        if self.differs_in_steps(program)
            && let Some(keys) = self.keys_in_steps(program)
        {
            return keys;
        }
        let mut next: BTreeMap<u32, i64> = by_kind(&program.starts)
            .into_iter()
            .map(|(kind, times)| (kind, self.times.get(&kind).map_or(0, |known| skipped(known, &times))))
            .collect();
        let key = |start: &Start| {
            let nth = next.entry(start.kind).or_default();
            let key = (start.kind, *nth);
            *nth += 1;
            key
        };
        program.starts.iter().map(key).collect()
    }

    /// Tests whether a program launches other numbers in a step that is not the first or the last, which a
    /// recording may cut: replicas with different numbers of micro-batches.
    fn differs_in_steps(&self, program: &Program) -> bool {
        let Some((counts, own)) = self.counts.as_ref().zip(program.turns.as_ref().map(|turns| &turns.counts))
        else {
            return false;
        };
        let steps = || counts.keys().chain(own.keys()).map(|key| key.1);
        let edges = (steps().min(), steps().max());
        let is_inner = |step: u64| Some(step) > edges.0 && Some(step) < edges.1;
        counts.keys().chain(own.keys()).any(|key| is_inner(key.1) && counts.get(key) != own.get(key))
    }

    /// Positions by step and number within it. `None` without launches. Further micro-batches are the last
    /// but one: reductions of gradients run together with the last one.
    fn keys_in_steps(&self, program: &Program) -> Option<Vec<Key>> {
        let (turns, counts) = (program.turns.as_ref()?, self.counts.as_ref()?);
        let first = counts.keys().chain(turns.counts.keys()).map(|key| key.1).min()?;
        // By kind and step: number of launches of the reference before it.
        let mut before: BTreeMap<(u32, u64), i64> = BTreeMap::new();
        let mut sums: BTreeMap<u32, i64> = BTreeMap::new();
        for (&(kind, step), &count) in counts {
            let sum = sums.entry(kind).or_default();
            before.insert((kind, step), *sum);
            *sum += i64::from(count);
        }
        let count = |counts: &BTreeMap<(u32, u64), u32>, at| counts.get(&at).copied().map_or(0, i64::from);
        let key = |(start, &(step, number)): (&Start, &(u64, u32))| {
            let (at, number) = ((start.kind, step), i64::from(number));
            let (known, own) = (count(counts, at), count(&turns.counts, at));
            let more = own - known;
            // As many of the last ones are the last on both.
            let last = more.abs().min(own).min(known);
            let place = if number >= own - last { Some(number - more) } else { Some(number) };
            let place = place.filter(|_| number >= own - last || number < known - last);
            let skipped = self.first.get(&start.kind).copied().unwrap_or(0);
            let from = before.get(&at).copied().unwrap_or(0) - skipped;
            let extra = EXTRA + step.saturating_sub(first) as i64 * IN_STEP + number;
            (start.kind, place.map_or(extra, |place| from + place))
        };
        Some(program.starts.iter().zip(&turns.in_steps).map(key).collect())
    }

    /// By position: the previous anchor, as its number in the reference.
    fn before(&self, keys: &[Key]) -> Vec<Option<u32>> {
        let mut last = None;
        let before = |key: &Key| {
            let before = last;
            if key.0 == self.anchor {
                last = self.places.get(key).map(|place| place.0).or(last);
            }
            before
        };
        keys.iter().map(before).collect()
    }

    /// Tests by the counts of each kind whether a program can be the same: a cheap check before positions are
    /// compared.
    fn may_hold(&self, program: &[Start], times: &BTreeMap<u32, Vec<i64>>) -> bool {
        let common = |(kind, times): (&u32, &Vec<i64>)| {
            self.times.get(kind).map_or(0, |known| known.len().min(times.len()))
        };
        let shared: usize = times.iter().map(common).sum();
        shared as f64 >= SHARED * program.len().max(self.places.len()) as f64
    }

    /// Tests whether a program is the same as the reference.
    fn holds(&self, program: &Program, keys: &[Key]) -> bool {
        let (mut shared, mut messages, mut alike, mut own) = (0_usize, 0_usize, 0_usize, 0_usize);
        let in_order = program.in_order(keys);
        let ordered: Vec<Key> = in_order.iter().map(|start| start.1).collect();
        for ((start, key), before) in in_order.iter().zip(self.before(&ordered)) {
            own += usize::from(start.message);
            let Some(&known) = self.launched_behind.get(key) else { continue };
            shared += 1;
            if start.message {
                messages += 1;
                alike += usize::from(key.0 == self.anchor || before == known || before.is_none());
            }
        }
        let enough = |count: usize, of: usize| count as f64 >= SHARED * of as f64;
        enough(shared, program.starts.len().max(self.places.len()))
            && enough(messages, own.max(self.messages))
            && alike as f64 >= ALIKE * messages as f64
    }

    /// The class of members with their positions. A position counts if it follows the same anchor on all of
    /// them, in the same order.
    fn class(&self, members: Vec<Placed>) -> Class {
        let mut counts: Vec<bool> = vec![true; self.places.len()];
        for (_, keys) in &members {
            // The last counted position, and the largest one after the same anchor.
            let mut behind: (Option<u32>, u32) = (None, 0);
            for (key, before) in keys.iter().zip(self.before(keys)) {
                let Some(&(place, known)) = self.places.get(key) else { continue };
                if key.0 == self.anchor {
                    continue;
                }
                let ordered = behind.0 != before || behind.1 <= place;
                counts[place as usize] &= (before == known || before.is_none()) && ordered;
                behind = (before, if behind.0 == before { behind.1.max(place) } else { place });
            }
        }
        // Of replicas with different numbers of micro-batches, the positions of most members count: the
        // others' belong to the next interval.
        let mut extra = Vec::new();
        if self.in_steps {
            let place = |key: &Key| self.places.get(key).map(|place| place.0 as usize);
            let mut held = vec![0_usize; self.places.len()];
            members.iter().flat_map(|(_, keys)| keys).filter_map(place).for_each(|place| held[place] += 1);
            let is_extra = |key: &Key| place(key).is_none_or(|place| 2 * held[place] <= members.len());
            for (member, keys) in &members {
                let of = keys.iter().enumerate().filter(|(_, key)| is_extra(key));
                extra.extend(of.map(|(at, _)| (*member, at)));
            }
            counts.iter_mut().zip(held).for_each(|(counts, held)| *counts &= 2 * held > members.len());
        }
        let place =
            |key: &Key| self.places.get(key).map(|place| place.0).filter(|&place| counts[place as usize]);
        let named = |(member, keys): Placed| (member, keys.iter().map(place).collect());
        Class { members: members.into_iter().map(named).collect(), extra }
    }
}

/// Times of a program's starts by kind.
fn by_kind(program: &[Start]) -> BTreeMap<u32, Vec<i64>> {
    let mut times: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
    for start in program {
        times.entry(start.kind).or_default().push(start.time);
    }
    times
}

/// Number of the first of some times among those of the reference. With equal counts it is the first;
/// otherwise the first or the last are missing. An offset by one more is used only if times leave no doubt,
/// as for communications that straddle an edge of the steps. Ranks that lag behind have other times, too.
fn skipped(known: &[i64], own: &[i64]) -> i64 {
    let more = known.len() as i64 - own.len() as i64;
    let apart = |by: i64| {
        let from = usize::try_from(by).unwrap_or(0);
        let skip = usize::try_from(-by).unwrap_or(0);
        let pairs = known.iter().skip(from).zip(own.iter().skip(skip));
        let (count, sum) =
            pairs.fold((0_u32, 0.0), |(count, sum), (a, b)| (count + 1, sum + (a - b).abs() as f64));
        if count == 0 { f64::INFINITY } else { sum / f64::from(count) }
    };
    let suggested = if apart(more) < apart(0) { more } else { 0 };
    let other = (more.min(0) - 1..=more.max(0) + 1).min_by(|&a, &b| apart(a).total_cmp(&apart(b)));
    other.filter(|&other| apart(other) < SHIFTED * apart(suggested)).unwrap_or(suggested)
}

#[cfg(test)]
mod tests;
