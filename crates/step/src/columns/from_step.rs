//! A [`Step`] in columns.
//!
//! Responsible for: a group of tracks per rank: passes with the bubbles between them, then its streams;
//! memory as a counter; the critical path, messages, and bubbles with their causes, by their new indices. The
//! analyses are [`crate::critical_path`] and [`crate::bubbles`].

use super::track::nanos;
use super::waits::Waits;
use super::work::pass_rows;
use super::{ArrowKind, Arrows, BubbleRow, Class, Columns, Counter, Part, Row, Track, TrackHead, Window};
use crate::breakdown::{Label, labelled, pipeline_window};
use crate::bubbles::bubbles;
use crate::critical_path::critical_path;
use crate::{DependencyKind, Names, RankTimeline, SpanRef, Step, StreamKind, Time};
use railwright_spec::problem::{ALWAYS, Wanted};

/// Displayed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Only this rank; `None`: all.
    pub rank: Option<u32>,
    /// Only this part of the step, in nanoseconds since its start; `None`: all of it.
    pub window: Option<Window>,
    /// Limit of spans per track, above which small ones are merged.
    pub most_spans: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { rank: None, window: None, most_spans: 50_000 }
    }
}

/// Maximum points of a counter.
const MOST_POINTS: usize = 4_000;

/// New indices of a rank's spans.
#[derive(Default)]
struct Went {
    /// By stream: the track, and the index of each span on it (`None` outside the window).
    streams: Vec<(u32, Vec<Option<u32>>)>,
    /// Bubbles as track and span, with their end time.
    bubbles: Vec<((u32, u32), Time)>,
}

/// Converts a step to columns.
pub fn of_step(step: &Step, options: &Options) -> Columns {
    let Ok(columns) = of_step_watched(step, options, ALWAYS);
    columns
}

/// Cancellable variant: `wanted` is called periodically.
pub fn of_step_watched<E>(step: &Step, options: &Options, wanted: Wanted<'_, E>) -> Result<Columns, E> {
    let mut columns = Columns::new(step.name.clone(), step.origin, nanos(step, step.end));
    if let Some(window) = options.window {
        columns.window = Window { from: window.from.max(0), to: window.to.min(columns.duration_ns) };
    }
    let mut names = step.names.clone();
    let pipeline = pipeline_window(step);
    let mut places: Vec<Went> = Vec::new();
    for rank in &step.ranks {
        wanted()?;
        let shown = options.rank.is_none_or(|wanted| wanted == rank.rank.0);
        if shown {
            places.push(of_rank(&mut columns, &mut names, step, rank, pipeline, options));
        } else {
            columns.hidden_ranks.push(rank.rank.0);
            places.push(Went::default());
        }
    }
    let place = |at: &SpanRef| -> Option<(u32, u32)> {
        let (track, spans) = places.get(at.rank as usize)?.streams.get(at.stream as usize)?;
        Some((*track, spans.get(at.span as usize).copied().flatten()?))
    };
    wanted()?;
    let path = critical_path(step);
    wanted()?;
    let critical = path.spans.iter().filter_map(place).map(|(track, span)| [track, span]);
    columns.critical = critical.collect();
    columns.critical.dedup();
    columns.critical_parts = parts(&path.parts);
    let mut arrows = Arrows::default();
    for message in step.dependencies.iter().filter(|d| d.kind == DependencyKind::Message) {
        if let (Some(from), Some(to)) = (place(&message.from), place(&message.to)) {
            arrows.push(ArrowKind::Message, from, to);
        }
    }
    let waits = Waits::of(step, pipeline);
    for (rank, went) in places.iter().enumerate() {
        for (bubble, end) in &went.bubbles {
            let awaited = waits.awaited(step, rank, *end).or_else(|| waits.drained(step, rank, *end));
            if let Some(from) = awaited.as_ref().and_then(place) {
                arrows.push(ArrowKind::Awaited, from, *bubble);
            }
        }
    }
    columns.arrows = arrows;
    columns.bubbles = bubbles(step).iter().map(bubble_row).collect();
    columns.name_bubbles(&mut names);
    columns.names = names.iter().map(str::to_owned).collect();
    Ok(columns)
}

fn parts(parts: &[(Label, Time)]) -> Vec<Part> {
    parts.iter().map(|(label, time)| Part { name: label.name(), time_ns: time.0 / 1000 }).collect()
}

fn bubble_row(of: &crate::bubbles::Bubbles) -> BubbleRow {
    let part = |name: &str, time: Time| Part { name: name.to_owned(), time_ns: time.0 / 1000 };
    BubbleRow {
        rank: of.rank.0,
        stage: of.stage.0,
        parts: vec![part("fill", of.fill), part("steady", of.steady), part("drain", of.drain)],
        share: of.fraction,
        ..BubbleRow::default()
    }
}

/// Adds the tracks of a rank. Returns the new indices of its spans and bubbles.
fn of_rank(
    columns: &mut Columns,
    names: &mut Names,
    step: &Step,
    rank: &RankTimeline,
    pipeline: Option<(Time, Time)>,
    options: &Options,
) -> Went {
    let window = columns.window;
    let head = |name: String| TrackHead {
        group: if pipeline.is_some() {
            format!("stage {}", rank.stage.0)
        } else {
            format!("rank {}", rank.rank.0)
        },
        name,
        rank: rank.rank.0,
        stage: rank.stage.0,
    };
    let (mut gaps, ends) = bubble_rows(names, step, rank, pipeline);
    let mut bubbles = Vec::new();
    let mut found = |track: u32, went: &[Option<u32>]| {
        let spans = went.iter().zip(&ends).filter_map(|(span, end)| Some(((track, (*span)?), *end)));
        bubbles.extend(spans);
    };
    let passes = pass_rows(names, step, rank);
    if !passes.is_empty() {
        let own = passes.len();
        let mut rows = passes;
        rows.append(&mut gaps);
        let (track, went) = Track::of(head("passes".to_owned()), &rows, window, options.most_spans);
        found(columns.add(track), &went[own..]);
    }
    let mut order: Vec<(StreamKind, usize)> =
        rank.streams.iter().enumerate().map(|(at, stream)| (stream.kind, at)).collect();
    order.sort_unstable();
    let mut places = vec![(0, Vec::new()); rank.streams.len()];
    for (kind, at) in order {
        let spans = &rank.streams[at].spans;
        let mut rows: Vec<Row> = spans
            .iter()
            .map(|span| Row {
                start: nanos(step, span.start),
                end: nanos(step, span.end),
                name: span.name.0,
                class: Class::of(&span),
                micro_batch: span.micro_batch.map(|m| m.0),
                chunk: span.chunk,
                layer: span.layer.map(|l| l.0),
                bytes: span.bytes,
            })
            .collect();
        if kind == StreamKind::Compute {
            rows.append(&mut gaps);
        }
        let (track, mut went) = Track::of(head(kind.name()), &rows, window, options.most_spans);
        let track = columns.add(track);
        if rows.len() > spans.len() {
            found(track, &went[spans.len()..]);
        }
        went.truncate(spans.len());
        places[at] = (track, went);
    }
    let changes = rank.memory.iter().map(|(time, _, bytes)| (nanos(step, time), bytes as f64)).collect();
    columns.counters.extend(Counter::of(head("memory".to_owned()), "B", changes, window, MOST_POINTS));
    Went { streams: places, bubbles }
}

/// Bubbles of the rank, named by position: before its passes, between them, after them. The work that they
/// wait for is added from the arrows. Each row has its end time.
fn bubble_rows(
    names: &mut Names,
    step: &Step,
    rank: &RankTimeline,
    pipeline: Option<(Time, Time)>,
) -> (Vec<Row>, Vec<Time>) {
    if pipeline.is_none() {
        return (Vec::new(), Vec::new());
    }
    let labels = labelled(step, rank, pipeline);
    let gaps = labels.into_iter().find(|(label, _)| *label == Label::Bubble).map(|(_, gaps)| gaps.0);
    let passes = rank.streams.iter().filter(|stream| stream.kind == StreamKind::Compute);
    let passes = passes.flat_map(|stream| stream.spans.iter()).filter(|span| span.phase.is_pass());
    let ends = passes.fold(None, |ends: Option<(Time, Time)>, span| {
        let (first, last) = ends.unwrap_or((span.start, span.end));
        Some((first.min(span.start), last.max(span.end)))
    });
    let names = ["bubble: filling", "bubble", "bubble: draining"].map(|name| names.intern(name).0);
    let row = |(start, end): (Time, Time)| {
        let place = match ends {
            Some((first, _)) if end <= first => 0,
            Some((_, last)) if start >= last => 2,
            _ => 1,
        };
        let at = end;
        let (start, end) = (nanos(step, start), nanos(step, end));
        (Row { start, end, name: names[place], class: Class::Bubble, ..Row::default() }, at)
    };
    gaps.unwrap_or_default().into_iter().map(row).filter(|(row, _)| row.start < row.end).unzip()
}
