//! Sums of a marked range of a measured step, over selected rows of the displayed ranks.
//!
//! Responsible for: selection of the rows, and their nesting. The sums are computed by
//! [`railwright_step::columns::range`].

use super::rows::{Drawn, Shows};
use super::{Question, Read, chosen, drawn, rank, shown};
use crate::Job;
use crate::joined::Joined;
use crate::profile::Workers;
use crate::view::Tables;
use railwright_spec::problem::Problem;
use railwright_step::columns::Window;
use railwright_step::columns::range::{Piece, Stack, Sums};
use serde::Serialize;

/// Rows by content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// Passes of the pipeline, with bubbles.
    Passes,
    /// The `device` row, with every moment once.
    Device,
    /// Streams.
    Streams,
    /// Threads of the host.
    Threads,
}

/// Rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Rows {
    /// Streams; threads without recorded streams.
    #[default]
    Default,
    /// All rows of these kinds, and rows by index among the tracks of the columns.
    Some(Vec<RowKind>, Vec<usize>),
}

/// The sums of a range, with their step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summed {
    /// Name of the step.
    pub label: String,
    /// Duration of the step, in nanoseconds.
    pub duration_ns: i64,
    /// Number of ranks with a summed row.
    pub ranks: u64,
    /// Number of excluded spans of these rows in the whole step: they nest deeper than the view.
    pub covered: u64,
    /// The sums.
    #[serde(flatten)]
    pub sums: Sums,
}

/// The sums of a range of one step. The question is that of the columns, so that track indices agree.
///
/// # Errors
///
/// If the step, the rank or a row does not exist, or the range is outside the step.
pub fn sums(
    job: &Job,
    joined: &Joined,
    tables: &Tables,
    question: &Question,
    rows: &Rows,
    workers: &impl Workers,
) -> Result<Summed, Problem> {
    let windows = crate::steps::of_range(job, joined, tables, question.steps, workers)?;
    let at = chosen(&windows, question.step)?;
    let step = windows.steps.get(at).ok_or_else(|| Problem::new("nothing was recorded"))?;
    let whole = Window { from: 0, to: step.duration() };
    let range = question.window.map_or(whole, |w| Window { from: w.from.max(0), to: w.to.min(whole.to) });
    if range.from >= range.to {
        return Err(Problem::new("the range is outside the step")
            .in_file("--between")
            .hint(format!("the step takes {} ns", whole.to)));
    }
    let mut places: Vec<usize> = shown(job, joined, question)?;
    if question.ranks.is_empty() {
        places.sort_unstable();
    }
    let found = crate::pipeline::from_job::passes(job, joined).ok();
    let threads = matches!(rows, Rows::Some(kinds, _) if kinds.contains(&RowKind::Threads));
    let inputs = rank::Inputs {
        whole: windows.whole(),
        start: step.start,
        end: step.end,
        host: question.host || threads,
    };
    let drawn = drawn(&Read { job, joined, tables, found: found.as_ref() }, &inputs, &places, workers);
    let all: Vec<(usize, &Drawn)> =
        drawn.iter().flat_map(|of| of.tracks.iter().map(move |one| (of.member, one))).collect();
    let picked = picked(&all, rows)?;
    let mut ranks: Vec<usize> = picked.iter().map(|(at, _)| *at).collect();
    ranks.dedup();
    Ok(Summed {
        label: format!("step {}", windows.name(at)),
        duration_ns: whole.to,
        ranks: ranks.len() as u64,
        covered: picked.iter().map(|(_, one)| one.covered).sum(),
        sums: railwright_step::columns::range::sums(range, &stacks(&picked)),
    })
}

/// The selected rows, in their order.
fn picked<'a>(all: &[(usize, &'a Drawn)], rows: &Rows) -> Result<Vec<(usize, &'a Drawn)>, Problem> {
    let is = |kind: RowKind, one: &Drawn| match one.shows {
        Shows::Passes => kind == RowKind::Passes,
        Shows::Device => kind == RowKind::Device,
        Shows::Stream => kind == RowKind::Streams,
        Shows::Thread(_) => kind == RowKind::Threads,
    };
    let any = |kind: RowKind| all.iter().any(|(_, one)| is(kind, one));
    let default = [if any(RowKind::Streams) { RowKind::Streams } else { RowKind::Threads }];
    let (kinds, numbers): (&[RowKind], &[usize]) = match rows {
        Rows::Default => (&default, &[]),
        Rows::Some(kinds, numbers) => (kinds, numbers),
    };
    if let Some(wrong) = numbers.iter().find(|at| **at >= all.len()) {
        return Err(Problem::new(format!("unknown row {wrong}"))
            .in_file("--rows")
            .hint(format!("valid rows: 0 to {}", all.len().saturating_sub(1))));
    }
    let wanted = |(at, (_, one)): &(usize, &(usize, &Drawn))| {
        numbers.contains(at) || kinds.iter().any(|kind| is(*kind, one))
    };
    let picked: Vec<_> = all.iter().enumerate().filter(wanted).map(|(_, one)| *one).collect();
    if picked.is_empty() {
        return Err(Problem::new("no row of that kind was recorded").in_file("--rows"));
    }
    Ok(picked)
}

/// Rows of one thread as one stack, every other row as its own.
fn stacks<'a>(picked: &[(usize, &'a Drawn)]) -> Vec<Stack<'a>> {
    let mut stacks: Vec<Stack<'a>> = Vec::new();
    let mut before: Option<(usize, &str, u32)> = None;
    for (at, one) in picked {
        let rows = one.rows.iter().enumerate();
        let pieces: Vec<Piece<'a>> = rows
            .map(|(place, row)| Piece {
                start: row.start,
                end: row.end,
                name: one.text(place),
                class: row.class,
            })
            .collect();
        // Rows of a thread have the names `thread 1`, `thread 1 (2)`.
        let name = one.name.split(" (").next().unwrap_or(&one.name);
        let depth = if let Shows::Thread(depth) = one.shows { Some(depth) } else { None };
        let below = depth.is_some_and(|depth| {
            before.is_some_and(|(rank, of, above)| rank == *at && of == name && above < depth)
        });
        before = depth.map(|depth| (*at, name, depth));
        match stacks.last_mut() {
            Some(stack) if below => stack.rows.push(pieces),
            _ => stacks.push(Stack { name, rows: vec![pieces], nested: depth.is_some() }),
        }
    }
    stacks
}
