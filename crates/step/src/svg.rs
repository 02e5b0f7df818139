//! A step as a diagram: a row per rank, time to the right, passes coloured by kind.
//!
//! Responsible for: a self-contained SVG (no script, font or link) with dark mode and a title for every mark.
//! Omits detail: spans of one pass are drawn as one.

mod parts;

use crate::intervals::Intervals;
use crate::{Activity, Dimension, Phase, RankTimeline, Span, Step, Time};
pub use parts::{Tint, fills, open, round_step};
use railwright_spec::human::markup;
use std::fmt::Write;

/// Drawing options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Width in pixels.
    pub width: u32,
    /// Height of a row in pixels.
    pub row: u32,
    /// True to print micro-batch numbers in passes that are wide enough.
    pub numbers: bool,
    /// Title above the diagram; empty for none.
    pub title: String,
    /// Maximum number of drawn ranks.
    pub most_ranks: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 960, row: 22, numbers: true, title: String::new(), most_ranks: 64 }
    }
}

const KINDS: [Tint; 9] = [
    ("forward", "#4c8dd6", "#4f8fdb", "forward"),
    ("recompute", "#9bbfe8", "#35618f", "recompute"),
    ("backward", "#2c7f64", "#2f8a6d", "backward"),
    ("input", "#3c9a6f", "#3fa277", "input gradient"),
    ("weight", "#a8c64e", "#8fae3b", "weight gradient"),
    ("optimizer", "#c9803a", "#d08a45", "optimizer"),
    ("message", "#b05fb0", "#b96fb9", "pipeline communication"),
    ("exposed", "#d2534f", "#da625e", "other communication"),
    ("other", "#8a8f98", "#7b818b", "other"),
];

fn kind(span: &Span) -> Option<usize> {
    Some(match (span.activity, span.phase) {
        (Activity::Compute, Phase::Forward) => 0,
        (Activity::Compute, Phase::Recompute) => 1,
        (Activity::Compute, Phase::Backward) => 2,
        (Activity::Compute, Phase::BackwardInput) => 3,
        (Activity::Compute, Phase::BackwardWeight) => 4,
        (Activity::Compute, Phase::Optimizer) => 5,
        (Activity::Communication(Dimension::Pipeline), _) => 6,
        (Activity::Communication(_), _) => 7,
        (Activity::Compute | Activity::Copy, _) => 8,
        (Activity::Host | Activity::Wait, _) => return None,
    })
}

/// Opacity of the marks by chunk, from full for the first to lowest for the last, to distinguish virtual
/// stages.
fn solidity(marks: &[Mark]) -> impl Fn(Option<u32>) -> f64 {
    let mut chunks: Vec<u32> = marks.iter().filter_map(|mark| mark.chunk).collect();
    chunks.sort_unstable();
    chunks.dedup();
    move |chunk| {
        let place = chunk.and_then(|chunk| chunks.binary_search(&chunk).ok()).unwrap_or(0);
        1.0 - 0.4 * place as f64 / (chunks.len().max(2) - 1) as f64
    }
}

/// A drawn interval.
#[derive(Clone, Copy)]
struct Mark {
    start: Time,
    end: Time,
    kind: usize,
    micro_batch: Option<u32>,
    chunk: Option<u32>,
}

/// The marks of a rank: one mark per pass, including its exposed communication, and exposed communication
/// outside passes.
fn marks(rank: &RankTimeline) -> Vec<Mark> {
    let mut compute: Vec<Mark> = Vec::new();
    let mut under: Vec<Vec<(Time, Time)>> = vec![Vec::new(); KINDS.len()];
    for span in rank.streams.iter().flat_map(|stream| stream.spans.iter()) {
        let Some(kind) = kind(&span) else { continue };
        let (start, end) = (span.start, span.end);
        if span.activity != Activity::Compute {
            under[kind].push((start, end));
            continue;
        }
        let mark = Mark { start, end, kind, micro_batch: span.micro_batch.map(|m| m.0), chunk: span.chunk };
        let pass = (kind, mark.micro_batch, mark.chunk);
        match compute.last_mut() {
            Some(last)
                if (last.kind, last.micro_batch, last.chunk) == pass
                    && (last.end == start || mark.micro_batch.is_some()) =>
            {
                last.end = end;
            }
            _ => compute.push(mark),
        }
    }
    let covered = Intervals::union_of(compute.iter().map(|mark| (mark.start, mark.end)).collect());
    for (kind, stretches) in under.into_iter().enumerate() {
        let exposed = Intervals::union_of(stretches).without(&covered);
        let mark = |(start, end)| Mark { start, end, kind, micro_batch: None, chunk: None };
        compute.extend(exposed.0.into_iter().map(mark));
    }
    compute
}

/// Draws a step.
pub fn pipeline(step: &Step, options: &Options) -> String {
    let (left, right, gap) = (64.0, 12.0, 4.0);
    let width = f64::from(options.width.clamp(200, 20_000));
    let row = f64::from(options.row.clamp(8, 200));
    let top = if options.title.is_empty() { 8.0 } else { 34.0 };
    let shown = &step.ranks[..step.ranks.len().min(options.most_ranks)];
    let rows: Vec<Vec<Mark>> = shown.iter().map(marks).collect();
    let mut used = [false; KINDS.len()];
    rows.iter().flatten().for_each(|mark| used[mark.kind] = true);
    let bottom = top + shown.len() as f64 * (row + gap);
    let height = bottom + 52.0;
    let scale = (width - left - right) / (step.duration().0 as f64).max(1.0);
    let x = |time: Time| left + (time - step.start).0 as f64 * scale;

    let mut out = String::with_capacity(4096 + rows.iter().map(|marks| marks.len() * 90).sum::<usize>());
    let title = if options.title.is_empty() { &step.name } else { &options.title };
    // Writing to a string is infallible.
    let _ = writeln!(out, "{}<title>{}</title>", open(width, height, ""), markup(title));
    style(&mut out, &used);
    if !options.title.is_empty() {
        let _ = writeln!(out, "<text class=\"t\" x=\"{left}\" y=\"20\">{}</text>", markup(title));
    }
    for (n, (rank, marks)) in shown.iter().zip(&rows).enumerate() {
        let y = top + n as f64 * (row + gap);
        let middle = y + row / 2.0;
        let _ = writeln!(
            out,
            "<text class=\"l\" x=\"{}\" y=\"{middle:.1}\">stage {}</text><rect class=\"b\" x=\"{left}\" y=\"{y:.1}\" \
             width=\"{:.2}\" height=\"{row}\"/>",
            left - 8.0,
            rank.stage.0,
            width - left - right
        );
        draw(&mut out, marks, options, &x, (y, row));
    }
    axis(&mut out, step.duration(), (left, width - right, bottom));
    legend(&mut out, &used, left, bottom + 34.0);
    out.push_str("</svg>\n");
    out
}

fn style(out: &mut String, used: &[bool]) {
    out.push_str(
        "<style>text{font:11px system-ui,sans-serif;fill:#3a3f47}.t{font-size:14px;font-weight:600}\
         .l{text-anchor:end;dominant-baseline:central}.n{text-anchor:middle;dominant-baseline:central;fill:#fff;\
         font-size:9px;pointer-events:none}.a{text-anchor:middle}.b{fill:#eceef1}.g{stroke:#c5c9d0}",
    );
    let shown = || KINDS.iter().zip(used).filter(|(_, used)| **used).map(|(kind, _)| kind);
    fills(out, shown(), false);
    out.push_str(
        "@media(prefers-color-scheme:dark){text{fill:#d5d9df}.n{fill:#0c0e12}.b{fill:#22262d}.g{stroke:#454b55}",
    );
    fills(out, shown(), true);
    out.push_str("}</style>\n");
}

fn draw(out: &mut String, marks: &[Mark], options: &Options, x: &impl Fn(Time) -> f64, (y, row): (f64, f64)) {
    let solid = solidity(marks);
    for mark in marks {
        let (from, to) = (x(mark.start), x(mark.end));
        // A half-pixel gap between passes, unless they are too narrow.
        let wide = if to - from > 2.0 { to - from - 0.5 } else { to - from };
        let (class, _, _, name) = KINDS[mark.kind];
        let _ = write!(
            out,
            "<rect class=\"{class}\" x=\"{from:.2}\" y=\"{y:.1}\" width=\"{wide:.2}\" height=\"{row}\""
        );
        if solid(mark.chunk) < 1.0 {
            let _ = write!(out, " opacity=\"{:.2}\"", solid(mark.chunk));
        }
        let _ = write!(out, "><title>{name}");
        if let Some(micro_batch) = mark.micro_batch {
            let _ = write!(out, ", micro-batch {micro_batch}");
        }
        if let Some(chunk) = mark.chunk {
            let _ = write!(out, ", chunk {chunk}");
        }
        let _ = writeln!(out, ", {:.3} ms</title></rect>", (mark.end - mark.start).seconds().millis());
        if let Some(micro_batch) = mark.micro_batch
            && options.numbers
            && mark.kind < 5
            && wide >= 14.0
        {
            let (x, y) = (from + wide / 2.0, y + row / 2.0);
            let _ = writeln!(out, "<text class=\"n\" x=\"{x:.1}\" y=\"{y:.1}\">{micro_batch}</text>");
        }
    }
}

/// Ticks at round times.
fn axis(out: &mut String, duration: Time, (left, right, y): (f64, f64, f64)) {
    let millis = duration.seconds().millis();
    if millis <= 0.0 {
        return;
    }
    let tick = round_step(millis / 6.0);
    let (unit, per_unit) = if millis >= 10_000.0 { ("s", 1000.0) } else { ("ms", 1.0) };
    for n in 0..=12 {
        let at = f64::from(n) * tick;
        if at > millis {
            break;
        }
        let x = left + (right - left) * at / millis;
        // Thousandths are enough below a millisecond; trailing zeros are removed.
        let label = format!("{:.3}", at / per_unit);
        let label = label.trim_end_matches('0').trim_end_matches('.');
        let (from, to, under) = (y, y + 4.0, y + 16.0);
        let _ = writeln!(
            out,
            "<line class=\"g\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{from:.1}\" y2=\"{to:.1}\"/>\
             <text class=\"a\" x=\"{x:.1}\" y=\"{under:.1}\">{label} {unit}</text>"
        );
    }
}

fn legend(out: &mut String, used: &[bool], left: f64, y: f64) {
    let mut x = left;
    for ((class, _, _, name), _) in KINDS.iter().zip(used).filter(|(_, used)| **used) {
        let (text, base) = (x + 14.0, y + 9.0);
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{x:.0}\" y=\"{y:.0}\" width=\"10\" height=\"10\"/>\
             <text x=\"{text:.0}\" y=\"{base:.0}\">{name}</text>"
        );
        x += 30.0 + 6.2 * name.len() as f64;
    }
}
