//! The pipeline view as columns: every stage as measured, with the cause of each bubble, and the expected
//! passes below.
//!
//! Responsible for: two tracks for each stage on one time axis, stalls and verdicts as marks. A view of the
//! report only.

use super::{AwaitedPass, Bubble, Cause, Certainty, PassBox, PipelinePage, Row as StageRow};
use crate::timeline::pass_class;
use railwright_spec::human;
use railwright_spec::quantity::Seconds;
use railwright_step::columns::{
    ArrowKind, Awaited, BubbleRow, Class, Columns, Elsewhere, Mark, Part, Row, Severity, Track, TrackHead,
    waiting,
};
use railwright_step::{Names, Origin};

/// The displayed step in columns, with a limit of about `most_spans` spans per track.
pub fn columns(page: &PipelinePage, most_spans: usize) -> Columns {
    let shown = &page.shown;
    let label = if page.label.is_empty() {
        format!("step {}", shown.step)
    } else {
        format!("{}, step {}", page.label, shown.step)
    };
    let duration = shown.measured.max(shown.expected_duration);
    let mut columns = Columns::new(label, Origin::Measured, duration);
    let mut names = Names::default();
    let mut places = Vec::new();
    for row in &shown.rows {
        let rows = rows(row, &mut names, true);
        let (track, went) = Track::of(head(row, "measured"), &rows, columns.window, most_spans);
        places.push((columns.add(track), went));
        if let Some(expected) = shown.expected.iter().find(|one| one.stage == row.stage) {
            let rows = self::rows(expected, &mut names, false);
            columns.add(Track::of(head(row, "expected"), &rows, columns.window, most_spans).0);
        }
        columns.bubbles.push(bubbles(row, shown.measured));
    }
    columns.names = names.iter().map(str::to_owned).collect();
    awaited(&mut columns, page, &places);
    critical(&mut columns, page, &places);
    for (row, (track, went)) in shown.rows.iter().zip(&places) {
        for (at, one) in row.boxes.iter().enumerate() {
            let Some(stall) = one.stall.and_then(|stall| shown.stalls.get(stall)) else { continue };
            let cost = Seconds::new(stall.cost as f64 * 1e-9);
            columns.marks.push(Mark {
                id: "stall".to_owned(),
                rank: Some(row.rank),
                track: Some(*track),
                span: went.get(at).copied().flatten(),
                at: one.start,
                length: one.end - one.start,
                title: format!("stall of {} on stage {}", one.kind.name(), row.stage),
                detail: if stall.cost > 0 {
                    format!("cost per step: {}", stall.certainty.worded(&human::seconds(cost)))
                } else {
                    "slack absorbed it".to_owned()
                },
                severity: if stall.cost > 0 { Severity::Fault } else { Severity::Note },
                cost_ns: Some(stall.cost),
                at_most: stall.certainty == Certainty::AtMost,
            });
        }
    }
    columns.marks.sort_by_key(|mark| std::cmp::Reverse(mark.cost_ns));
    columns.marks.extend(page.verdicts.iter().map(|verdict| Mark {
        id: verdict.id.to_owned(),
        title: verdict.message.clone(),
        severity: if verdict.cost > page.median_step / 20 { Severity::Fault } else { Severity::Warning },
        // An unknown cost must not appear as zero.
        cost_ns: (verdict.certainty != Certainty::Unknown).then_some(verdict.cost),
        at_most: verdict.certainty == Certainty::AtMost,
        ..Mark::default()
    }));
    columns
}

/// Adds an arrow from each displayed pass to the bubbles that wait for it.
fn awaited(columns: &mut Columns, page: &PipelinePage, places: &[(u32, Vec<Option<u32>>)]) {
    let rows = &page.shown.rows;
    let span = |row: usize, place: usize| {
        let (track, went) = places.get(row)?;
        Some((*track, went.get(place).copied().flatten()?))
    };
    for (at, row) in rows.iter().enumerate() {
        for (number, bubble) in drawn(row).enumerate() {
            let Some(pass) = bubble.awaited else { continue };
            let of = |row: &StageRow| row.rank == pass.rank;
            let Some(from) = rows.iter().position(of) else { continue };
            let is_it = |one: &PassBox| {
                (one.kind, one.micro_batch, one.chunk) == (pass.kind, pass.micro_batch, pass.chunk)
            };
            let Some(place) = rows[from].boxes.iter().position(is_it) else { continue };
            if let (Some(from), Some(to)) = (span(from, place), span(at, row.boxes.len() + number)) {
                columns.arrows.push(ArrowKind::Awaited, from, to);
            }
        }
    }
}

/// The bubbles of a row that are drawn, in order.
fn drawn(row: &StageRow) -> impl Iterator<Item = &Bubble> {
    row.bubbles.iter().filter(|bubble| bubble.cause != Cause::Outside)
}

/// Time of a rank that waits for a pass.
fn wait(pass: &AwaitedPass, bubble: &Bubble) -> Awaited {
    let AwaitedPass { rank, stage, kind, micro_batch, .. } = *pass;
    Awaited { rank, stage, name: kind.name().to_owned(), micro_batch, time_ns: bubble.end - bubble.start }
}

/// Adds the critical path's passes as positions of spans, for displayed ranks, and its composition.
fn critical(columns: &mut Columns, page: &PipelinePage, places: &[(u32, Vec<Option<u32>>)]) {
    let shown = &page.shown;
    for pass in &shown.critical.passes {
        let Some(at) = shown.rows.iter().position(|row| row.rank == pass.rank) else { continue };
        let is_it = |one: &PassBox| {
            (one.kind, one.micro_batch, one.chunk) == (pass.kind, pass.micro_batch, pass.chunk)
                && one.start < pass.end
                && pass.start < one.end
        };
        let Some(place) = shown.rows[at].boxes.iter().position(is_it) else { continue };
        if let Some((track, Some(span))) = places.get(at).and_then(|(t, went)| Some((*t, *went.get(place)?)))
        {
            columns.critical.push([track, span]);
        }
    }
    columns.critical.dedup();
    let path = &shown.critical;
    let unseen = path.passes.iter().filter(|pass| !pass.shown);
    columns.critical_elsewhere =
        unseen.map(|p| Elsewhere { rank: p.rank, at: p.start, length: p.end - p.start }).collect();
    let mut parts: Vec<Part> = path
        .ranks
        .iter()
        .flat_map(|of| {
            let hidden = if of.shown { "" } else { ", not shown" };
            [("compute", of.compute), ("communication", of.communication), ("waiting", of.waiting)]
                .map(|(what, time_ns)| Part { name: format!("rank {}{hidden}: {what}", of.rank), time_ns })
        })
        .chain([Part { name: "outside the pipeline".to_owned(), time_ns: path.outside }])
        .filter(|part| part.time_ns > 0)
        .collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.time_ns));
    columns.critical_parts = parts;
}

fn head(row: &StageRow, name: &str) -> TrackHead {
    TrackHead {
        group: format!("stage {}", row.stage),
        name: name.to_owned(),
        rank: row.rank,
        stage: row.stage,
    }
}

/// Passes first, in the view's order, so that marks find them; then bubbles.
fn rows(row: &StageRow, names: &mut Names, caused: bool) -> Vec<Row> {
    let mut until = i64::MIN;
    let mut passes: Vec<Row> = Vec::with_capacity(row.boxes.len() + row.bubbles.len());
    for one in &row.boxes {
        passes.push(pass(one, names, until));
        until = until.max(one.end);
    }
    let bubbles = drawn(row).map(|bubble| {
        let name = match bubble.cause {
            cause if caused => format!("bubble: {}", cause.name()),
            _ => "bubble".to_owned(),
        };
        let place = |pass: &AwaitedPass| format!("stage {}, rank {}", pass.stage, pass.rank);
        let awaited = bubble.awaited.as_ref().map(|pass| wait(pass, bubble).words(&place(pass)));
        let name = awaited.map_or(name.clone(), |work| waiting(&name, &work));
        let name = names.intern(&name).0;
        Row { start: bubble.start, end: bubble.end, name, class: Class::Bubble, ..Row::default() }
    });
    passes.extend(bubbles);
    passes
}

/// A pass as a row. Timers may overlap slightly, rows do not.
fn pass(one: &PassBox, names: &mut Names, until: i64) -> Row {
    Row {
        start: one.start.max(until).min(one.end),
        end: one.end,
        name: names.intern(one.kind.name()).0,
        class: pass_class(one.kind),
        micro_batch: one.micro_batch,
        chunk: Some(one.chunk),
        ..Row::default()
    }
}

fn bubbles(row: &StageRow, step: i64) -> BubbleRow {
    let part = |cause: Cause| Part { name: cause.name().to_owned(), time_ns: row.causes.get(cause) };
    let parts: Vec<Part> =
        Cause::ALL.into_iter().filter(|cause| *cause != Cause::Outside).map(part).collect();
    let all: i64 = parts.iter().map(|part| part.time_ns).sum();
    let waits: Vec<Awaited> =
        drawn(row).filter_map(|bubble| Some(wait(bubble.awaited.as_ref()?, bubble))).collect();
    let known: i64 = waits.iter().map(|wait| wait.time_ns).sum();
    BubbleRow {
        rank: row.rank,
        stage: row.stage,
        parts,
        share: all as f64 / step.max(1) as f64,
        waits: Awaited::longest(waits),
        no_cause_ns: (all - known).max(0),
    }
}
