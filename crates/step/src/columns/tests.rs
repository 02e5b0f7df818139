//! Columns match the step.

use super::*;
use crate::critical_path::critical_path;
use crate::{DependencyKind, OperatorFamily, Step, StreamKind, Time};
use railwright_spec::quantity::{MicroBatch, Rank, Stage};

/// Name, stage, micro-batch and time of a wait.
type Wait<'a> = (&'a str, u32, Option<u32>, i64);

const WINDOW: Window = Window { from: 0, to: 1000 };

fn push(step: &mut Step, rank: usize, times: (i64, i64), phase: Phase, micro_batch: u32) -> crate::SpanRef {
    let name = step.names.intern(phase.name());
    let (start, end) = (Time(times.0), Time(times.1));
    let operator = OperatorFamily::Pass;
    let micro_batch = Some(MicroBatch(micro_batch));
    let span = Span { start, end, phase, operator, name, micro_batch, ..Span::default() };
    step.push(rank, StreamKind::Compute, span).expect("a rank")
}

/// Two stages of one micro-batch with times between whole nanoseconds: the first fills, waits and updates,
/// the second waits.
fn two_stages() -> Step {
    let mut step = Step::new("two stages");
    let (a, b) = (step.add_rank(Rank(0), Stage(0)), step.add_rank(Rank(8), Stage(1)));
    let f0 = push(&mut step, a, (0, 10_700), Phase::Forward, 0);
    let f1 = push(&mut step, b, (10_700, 20_300), Phase::Forward, 0);
    let b1 = push(&mut step, b, (20_300, 40_900), Phase::Backward, 0);
    let b0 = push(&mut step, a, (40_900, 61_500), Phase::Backward, 0);
    push(&mut step, a, (61_500, 70_100), Phase::Optimizer, 0);
    step.depend(f0, f1, DependencyKind::Message);
    step.depend(f1, b1, DependencyKind::Stream);
    step.depend(b1, b0, DependencyKind::Message);
    step
}

#[test]
fn spans_touch_bubbles_are_spans_and_the_path_is_contiguous() {
    let step = two_stages();
    let columns = of_step(&step, &Options::default());
    assert_eq!((columns.duration_ns, columns.spans, columns.merged), (70, 8, 0));
    let compute: Vec<&Track> = columns.tracks.iter().filter(|track| track.name == "compute").collect();
    assert_eq!(compute[0].starts, [0, 10, 40, 61]);
    assert_eq!(compute[0].lengths, [10, 30, 21, 9]);
    let classes: Vec<Class> = compute[0].colours.iter().map(|at| columns.classes[*at as usize]).collect();
    assert_eq!(classes, [Class::Forward, Class::Bubble, Class::Backward, Class::Optimizer]);
    // The path is 0 -> 1 -> 0 without a gap.
    let path = critical_path(&step);
    assert_eq!(columns.critical.len(), path.spans.len());
    let mut until = 0;
    for [track, span] in &columns.critical {
        let track = &columns.tracks[*track as usize];
        assert_eq!(track.starts[*span as usize], until, "the path has a gap");
        until += track.lengths[*span as usize];
    }
    assert_eq!(until, columns.duration_ns);
    // Each part is rounded down.
    let sum: i64 = columns.critical_parts.iter().map(|part| part.time_ns).sum();
    assert!((0..columns.critical_parts.len() as i64).contains(&(70 - sum)), "{sum}");
    let json: serde_json::Value = serde_json::from_str(&columns.to_json(1)).expect("JSON");
    assert_eq!(json["kind"], "timeline");
    assert_eq!(json["tracks"][0]["starts"][1], 10);
    let is_message = |kind: &&u8| **kind == ArrowKind::Message as u8;
    let messages: Vec<&u8> = columns.arrows.kind.iter().filter(is_message).collect();
    assert_eq!((messages.len(), columns.arrows.to_span[..2].to_vec()), (2, vec![1, 2]));
    // Causes of bubbles: on the first stage the backward pass of the second, on the second the forward pass
    // of the first and, after its last pass, the end of the pipeline.
    let waits: Vec<_> = (0..columns.arrows.kind.len())
        .filter(|at| columns.arrows.kind[*at] == ArrowKind::Awaited as u8)
        .map(|at| {
            let Arrows { from_track, from_span, to_track, to_span, .. } = &columns.arrows;
            ((from_track[at], from_span[at]), (to_track[at], to_span[at]))
        })
        .collect();
    let second = compute[1].id;
    let first = compute[0].id;
    assert_eq!(waits, [((second, 2), (first, 1)), ((first, 0), (second, 0)), ((first, 2), (second, 3))]);
}

/// Names of the bubbles of a timeline, in order of tracks.
fn bubble_names(columns: &Columns) -> Vec<&str> {
    let of = |track: &Track| {
        let bubbles =
            track.names.iter().zip(&track.colours).filter(|(_, colour)| **colour == Class::Bubble as u8);
        bubbles.map(|(name, _)| *name as usize).collect::<Vec<_>>()
    };
    columns.tracks.iter().flat_map(of).map(|name| columns.names[name].as_str()).collect()
}

#[test]
fn bubbles_name_what_they_wait_for() {
    let columns = of_step(&two_stages(), &Options::default());
    assert_eq!(
        bubble_names(&columns),
        [
            "bubble, waits for backward 0 of stage 1",
            "bubble: filling, waits for forward 0 of stage 0",
            "bubble: draining, waits for backward 0 of stage 0"
        ]
    );
    // Each rank has its waits with their times, the longest first, and no bubble without a cause.
    let waits: Vec<Vec<Wait<'_>>> = columns
        .bubbles
        .iter()
        .map(|row| row.waits.iter().map(|w| (w.name.as_str(), w.stage, w.micro_batch, w.time_ns)).collect())
        .collect();
    assert_eq!(waits[0], [("backward", 1, Some(0), 30)]);
    assert_eq!(waits[1], [("backward", 0, Some(0), 21), ("forward", 0, Some(0), 10)]);
    assert!(columns.bubbles.iter().all(|row| row.no_cause_ns == 0));
    // Without dependencies only the end of the pipeline is known.
    let mut apart = two_stages();
    apart.dependencies.clear();
    let columns = of_step(&apart, &Options::default());
    assert_eq!(
        bubble_names(&columns),
        ["bubble", "bubble: filling", "bubble: draining, waits for backward 0 of stage 0"]
    );
    assert_eq!((columns.bubbles[0].no_cause_ns, columns.bubbles[1].no_cause_ns), (30, 10));
}

#[test]
fn passes_are_rows_of_their_own_where_operators_are_shown() {
    let mut step = two_stages();
    let name = step.names.intern("attention");
    let (start, end) = (Time(70_100), Time(80_000));
    for batch in [1, 1, 2] {
        let last = step.end;
        let span = Span {
            start: start.max(last),
            end: end.max(last + Time(1000)),
            phase: Phase::Forward,
            name,
            micro_batch: Some(MicroBatch(batch)),
            ..Span::default()
        };
        step.push(0, StreamKind::Compute, span);
    }
    let columns = of_step(&step, &Options::default());
    let passes = &columns.tracks[0];
    assert_eq!(passes.name, "passes");
    // Two spans of micro-batch 1 are one pass.
    assert_eq!(passes.micro_batch, [0, -1, 0, 0, 1, 2]);
}

#[test]
fn small_neighbours_merge_with_their_count_and_their_time() {
    let rows: Vec<Row> = (0..100)
        .map(|at| Row {
            start: at * 10,
            end: at * 10 + 5,
            name: at as u32,
            class: Class::Forward,
            ..Row::default()
        })
        .chain([Row { start: 300, end: 309, class: Class::Bubble, ..Row::default() }])
        .collect();
    let (all, places) = Track::of(TrackHead::default(), &rows, WINDOW, 1000);
    assert_eq!((all.len(), all.merged(), all.counts.len()), (101, 0, 0));
    assert!(all.starts.is_sorted() && places.iter().all(Option::is_some));
    let (few, places) = Track::of(TrackHead::default(), &rows, WINDOW, 10);
    assert!(few.len() <= 11, "{} are left", few.len());
    assert_eq!(few.counts.iter().sum::<u32>(), 101);
    assert_eq!((few.spans, few.merged()), (101, 101 - few.len() as u64));
    assert_eq!(few.busy(), all.busy(), "merging keeps the time");
    assert!(places.iter().flatten().all(|at| (*at as usize) < few.len()));
    // Every row is inside the span that it was merged into.
    for (row, at) in rows.iter().zip(places) {
        let at = at.expect("in the window") as usize;
        assert!(few.starts[at] <= row.start && row.end <= few.starts[at] + few.lengths[at]);
    }
}

#[test]
fn a_window_shows_what_lies_in_it() {
    let rows = [(0, 10), (10, 20), (20, 30)].map(|(start, end)| Row { start, end, ..Row::default() });
    let (track, places) = Track::of(TrackHead::default(), &rows, Window { from: 12, to: 20 }, 10);
    assert_eq!((track.starts, places), (vec![10], vec![None, Some(0), None]));
}

#[test]
fn ranks_that_are_not_shown_are_named() {
    let columns = of_step(&two_stages(), &Options { rank: Some(8), ..Options::default() });
    assert_eq!((columns.tracks.len(), columns.hidden_ranks), (1, vec![0]));
}

#[test]
fn classes_are_in_the_order_of_their_numbers() {
    assert!(Class::ALL.iter().enumerate().all(|(at, class)| *class as usize == at));
}

#[test]
fn a_bubble_that_ends_by_a_mark_of_the_sender_waits_for_its_last_work() {
    let mut step = Step::new("marked");
    let (a, b) = (step.add_rank(Rank(0), Stage(0)), step.add_rank(Rank(8), Stage(1)));
    push(&mut step, a, (0, 10_000), Phase::Forward, 0);
    push(&mut step, a, (10_000, 20_000), Phase::Forward, 1);
    let f1 = push(&mut step, b, (21_000, 30_000), Phase::Forward, 1);
    let sent = Span { start: Time(20_000), end: Time(20_010), activity: Activity::Host, ..Span::default() };
    let sent = step.push(0, StreamKind::Host(0), sent).expect("a rank");
    step.depend(sent, f1, DependencyKind::Message);
    let columns = of_step(&step, &Options::default());
    let is_of_receiver = |at: &usize| {
        columns.arrows.kind[*at] == ArrowKind::Awaited as u8
            && columns.tracks[columns.arrows.to_track[*at] as usize].rank == 8
    };
    let at = (0..columns.arrows.kind.len()).find(is_of_receiver).expect("an arrow");
    let from = &columns.tracks[columns.arrows.from_track[at] as usize];
    assert_eq!((from.rank, columns.arrows.from_span[at], from.name.as_str()), (0, 1, "compute"));
    assert_eq!(columns.tracks[columns.arrows.to_track[at] as usize].rank, 8);
}
