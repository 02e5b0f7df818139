//! Sums over a selected range: names with counts and times, and the same time as a tree for a flame graph.
//!
//! Responsible for: clipping spans to the range, time with and without nested spans, and bounded tables.
//! Independent of the origin of spans.

mod tree;

use super::{Class, Window};
use serde::Serialize;
use std::collections::BTreeMap;
pub use tree::Node;

/// Maximum number of listed names.
const MOST_NAMES: usize = 1_000;

/// A span to sum.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Start time in nanoseconds since the step began.
    pub start: i64,
    /// End time in nanoseconds since the step began.
    pub end: i64,
    /// Name.
    pub name: &'a str,
    /// Class.
    pub class: Class,
}

/// Rows that belong together: one row, or the rows of a thread, whose spans are nested in those of previous
/// rows.
#[derive(Clone, Debug)]
pub struct Stack<'a> {
    /// Name of the row, equal on all ranks.
    pub name: &'a str,
    /// Spans of each row, by start time and without overlap.
    pub rows: Vec<Vec<Piece<'a>>>,
    /// True if rows contain spans nested in the previous row; false if the class is the level above the
    /// name.
    pub nested: bool,
}

/// All spans of one name and class within the range.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Name {
    /// Name of the spans.
    pub name: String,
    /// Class of the spans.
    pub class: Class,
    /// Number of spans that overlap the range.
    pub count: u64,
    /// Time within the range, in nanoseconds; a span nested in one of the same name counts once.
    pub total_ns: i64,
    /// Time within the range without spans in deeper rows, in nanoseconds.
    pub self_ns: i64,
    /// `total_ns / count`, in nanoseconds.
    pub mean_ns: f64,
    /// The longest span within the range, in nanoseconds.
    pub longest_ns: i64,
    /// `total_ns` over the length of the range times `stacks`, 0 to 1.
    pub share: f64,
}

/// Sums over a range.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sums {
    /// Range.
    pub range: Window,
    /// Number of rows in the sums.
    pub rows: u64,
    /// Number of rows that can be busy at the same time; the rows of one thread count once.
    pub stacks: u64,
    /// Number of spans that overlap the range.
    pub count: u64,
    /// Time of these spans within the range, in nanoseconds; every moment of a stack counts once.
    pub total_ns: i64,
    /// Names by `total_ns`, largest first.
    pub names: Vec<Name>,
    /// Number of names omitted from the list.
    pub more_names: u64,
    /// Same time by row, then by class and name or by nesting.
    pub tree: Node,
}

/// An incomplete sum.
#[derive(Default)]
struct Sum {
    count: u64,
    total: i64,
    own: i64,
    longest: i64,
}

/// Sums the spans of stacks over a range.
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

/// A span with its position in its stack.
struct Placed<'a> {
    piece: Piece<'a>,
    /// Time within the range.
    length: i64,
    /// Time within the range without spans in deeper rows.
    own: i64,
    /// Enclosing spans, outermost first.
    path: Vec<(&'a str, Class)>,
    /// True if nested in a span of its own name and class.
    repeats: bool,
}

/// Spans of a stack that overlap the range, with their enclosing spans. Every moment belongs to the deepest
/// running span. Otherwise, spans of one thread that overlap without nesting (asynchronous sends and
/// receives) would count twice.
fn nested<'a>(stack: &Stack<'a>, range: Window) -> Vec<Placed<'a>> {
    let mut placed: Vec<Placed<'a>> = Vec::new();
    // Indices of the spans of each row, sorted by start, for a binary search of the enclosing span.
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
    // From the deepest row upwards: the time of deeper rows is subtracted.
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

/// Span of a row that encloses a piece.
fn holder(row: &[usize], placed: &[Placed<'_>], piece: &Piece<'_>) -> Option<usize> {
    let started = |at: &usize| placed.get(*at).is_some_and(|one| one.piece.start <= piece.start);
    let at = *row.get(row.partition_point(started).checked_sub(1)?)?;
    placed.get(at).filter(|one| one.piece.end >= piece.end).map(|_| at)
}

/// Length of an interval within others, which are sorted and disjoint.
fn overlap(others: &[(i64, i64)], start: i64, end: i64) -> i64 {
    let first = others.partition_point(|other| other.1 <= start);
    let within = others.get(first..).unwrap_or_default().iter().take_while(|other| other.0 < end);
    within.map(|other| other.1.min(end) - other.0.max(start)).sum()
}

/// Union of two lists of intervals, sorted and disjoint.
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
