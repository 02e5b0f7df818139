//! The sums of a marked range: names with counts and times, and the same time as a tree for a flame graph.
//!
//! Responsible for: cutting spans to the range, time with and without nested spans, and bounded tables. Refuses to know where spans come from.

mod tree;

use super::{Class, Window};
use serde::Serialize;
use std::collections::BTreeMap;
pub use tree::Node;

/// Names listed at most.
const MOST_NAMES: usize = 1_000;

/// A span for the sums.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Start time in nanoseconds since the step began.
    pub start: i64,
    /// Until when.
    pub end: i64,
    /// Its name.
    pub name: &'a str,
    /// Its class.
    pub class: Class,
}

/// Rows that belong together: one row, or the rows of a thread, where spans nest in those of the rows before.
#[derive(Clone, Debug)]
pub struct Stack<'a> {
    /// The name of the row, the same on every rank.
    pub name: &'a str,
    /// Spans of each row, in order of their starts and without overlap.
    pub rows: Vec<Vec<Piece<'a>>>,
    /// Whether rows hold the spans nested in the rows before them; else the class is the level above the name.
    pub nested: bool,
}

/// All spans of one name and class within the range.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Name {
    /// The name of the spans.
    pub name: String,
    /// Their class.
    pub class: Class,
    /// Spans that touch the range.
    pub count: u64,
    /// Time within the range, in nanoseconds; a span nested in one of the same name counts once.
    pub total_ns: i64,
    /// Time within the range in which no row below has a span, in nanoseconds.
    pub self_ns: i64,
    /// `total_ns / count`, in nanoseconds.
    pub mean_ns: f64,
    /// The longest span within the range, in nanoseconds.
    pub longest_ns: i64,
    /// `total_ns` over the length of the range times the number of `stacks`.
    pub share: f64,
}

/// The sums of a range.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sums {
    /// The range.
    pub range: Window,
    /// Rows that were summed.
    pub rows: u64,
    /// Rows that can be busy at the same time; the rows of one thread are one.
    pub stacks: u64,
    /// Spans that touch the range.
    pub count: u64,
    /// Their time within the range, in nanoseconds; every moment of a stack counts once.
    pub total_ns: i64,
    /// Names, largest `total_ns` first.
    pub names: Vec<Name>,
    /// Names beyond the longest list that is answered.
    pub more_names: u64,
    /// The same time by row, then by class and name or by nesting.
    pub tree: Node,
}

/// A sum that grows.
#[derive(Default)]
struct Sum {
    count: u64,
    total: i64,
    own: i64,
    longest: i64,
}

/// Sums the spans of stacks within a range.
pub fn sums(range: Window, stacks: &[Stack<'_>]) -> Sums {
    let mut names: BTreeMap<(&str, Class), Sum> = BTreeMap::new();
    let mut grown = tree::Grown::default();
    let (mut count, mut rows) = (0, 0);
    for stack in stacks {
        rows += stack.rows.len() as u64;
        let row = grown.child(tree::Grown::ROOT, stack.name, None);
        for span in nested(stack, range) {
            let own = span.own;
            count += 1;
            let sum = names.entry((span.piece.name, span.piece.class)).or_default();
            sum.count += 1;
            sum.own += own;
            if !span.repeats {
                sum.total += span.length;
                sum.longest = sum.longest.max(span.length);
            }
            let class = Some(span.piece.class);
            let mut at = row;
            if stack.nested {
                for name in &span.path {
                    at = grown.child(at, name.0, Some(name.1));
                }
            } else {
                at = grown.child(at, span.piece.class.name(), class);
            }
            at = grown.child(at, span.piece.name, class);
            grown.add(at, own);
        }
    }
    let room = range.length().max(1) as f64 * stacks.len().max(1) as f64;
    let total_ns = names.values().map(|sum| sum.own).sum();
    let mut listed: Vec<Name> = names
        .into_iter()
        .map(|((name, class), sum)| Name {
            name: name.to_owned(),
            class,
            count: sum.count,
            total_ns: sum.total,
            self_ns: sum.own,
            mean_ns: sum.total as f64 / sum.count.max(1) as f64,
            longest_ns: sum.longest,
            share: sum.total as f64 / room,
        })
        .collect();
    listed.sort_by_key(|one| std::cmp::Reverse(one.total_ns));
    let more_names = listed.len().saturating_sub(MOST_NAMES) as u64;
    listed.truncate(MOST_NAMES);
    Sums {
        range,
        rows,
        stacks: stacks.len() as u64,
        count,
        total_ns,
        names: listed,
        more_names,
        tree: grown.tree(room),
    }
}

/// A span with its place in its stack.
struct Placed<'a> {
    piece: Piece<'a>,
    /// Time within the range.
    length: i64,
    /// Time within the range in which no row below has a span.
    own: i64,
    /// What it is nested in, outermost first.
    path: Vec<(&'a str, Class)>,
    /// Whether it is nested in a span of its own name and class.
    repeats: bool,
}

/// Spans of a stack that touch the range, with those that they are nested in. Every moment belongs to the deepest span that runs, because spans of
/// one thread may overlap without nesting (asynchronous sends and receives), and would count twice.
fn nested<'a>(stack: &Stack<'a>, range: Window) -> Vec<Placed<'a>> {
    let mut placed: Vec<Placed<'a>> = Vec::new();
    // Of each row, the places of its spans: sorted by start, so that the holder is found by search.
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for row in &stack.rows {
        let mut own = Vec::new();
        let first = row.partition_point(|piece| piece.end <= range.from);
        for piece in row.get(first..).unwrap_or_default().iter().take_while(|piece| piece.start < range.to) {
            let length = piece.end.min(range.to) - piece.start.max(range.from);
            if length <= 0 {
                continue;
            }
            let mut above = rows.iter().rev().filter(|_| stack.nested);
            let holder = above.find_map(|row| holder(row, &placed, piece)).and_then(|at| placed.get(at));
            let mut path = Vec::new();
            if let Some(holder) = holder {
                path.clone_from(&holder.path);
                path.push((holder.piece.name, holder.piece.class));
            }
            let repeats = path.contains(&(piece.name, piece.class));
            own.push(placed.len());
            placed.push(Placed { piece: *piece, length, own: length, path, repeats });
        }
        rows.push(own);
    }
    // From the deepest row up: what runs below is taken off.
    let mut below: Vec<(i64, i64)> = Vec::new();
    for row in rows.iter().rev().filter(|_| stack.nested) {
        let mut own = Vec::with_capacity(row.len());
        for at in row {
            let Some(one) = placed.get_mut(*at) else { continue };
            let (start, end) = (one.piece.start.max(range.from), one.piece.end.min(range.to));
            one.own -= overlap(&below, start, end);
            own.push((start, end));
        }
        below = union(below, own);
    }
    placed
}

/// The span of a row that holds all of a piece.
fn holder(row: &[usize], placed: &[Placed<'_>], piece: &Piece<'_>) -> Option<usize> {
    let started = |at: &usize| placed.get(*at).is_some_and(|one| one.piece.start <= piece.start);
    let at = *row.get(row.partition_point(started).checked_sub(1)?)?;
    placed.get(at).filter(|one| one.piece.end >= piece.end).map(|_| at)
}

/// How much of a stretch lies in others, which are in order and apart.
fn overlap(others: &[(i64, i64)], start: i64, end: i64) -> i64 {
    let first = others.partition_point(|other| other.1 <= start);
    let within = others.get(first..).unwrap_or_default().iter().take_while(|other| other.0 < end);
    within.map(|other| other.1.min(end) - other.0.max(start)).sum()
}

/// Stretches of both, in order and apart.
fn union(mut one: Vec<(i64, i64)>, other: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    one.extend(other);
    one.sort_unstable();
    let mut all: Vec<(i64, i64)> = Vec::with_capacity(one.len());
    for (start, end) in one {
        match all.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => all.push((start, end)),
        }
    }
    all
}

#[cfg(test)]
mod tests;
