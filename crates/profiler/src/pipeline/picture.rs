//! The pipeline view as an SVG chart. It has one row per stage, time to the right, passes coloured by kind,
//! and bubbles by cause. Stalls are outlined with their cost. The expected schedule is below, on the same
//! scale.
//!
//! Responsible for: a self-contained SVG (no script, font or link) with a dark theme. Every mark has a title,
//! for hover and for readers who cannot distinguish colours. Excludes marks narrower than a tenth of a pixel:
//! their neighbours cover them.

use super::bubbles::Cause;
use super::units::time;
use super::{PassBox, PipelinePage, Row};
use crate::passes::PassKind;
use railwright_spec::human::markup;
use railwright_step::svg::{self, Tint, fills, round_step};
use std::fmt::Write;

/// Drawing options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Width in pixels; charts with many passes are wider, so that passes remain visible.
    pub width: u32,
    /// Maximum number of stages.
    pub most_stages: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 1280, most_stages: 128 }
    }
}

const PASSES: [Tint; 4] = [
    ("f", "#4c8dd6", "#4f8fdb", "forward"),
    ("b", "#2c7f64", "#2f8a6d", "backward"),
    ("i", "#3c9a6f", "#3fa277", "backward (input)"),
    ("w", "#a8c64e", "#8fae3b", "backward (weight)"),
];

const CAUSES: [Tint; 7] = [
    ("sc", "#e3e6ea", "#2b3038", "schedule"),
    ("im", "#f2c14e", "#a67c1e", "imbalance"),
    ("pp", "#b98ad9", "#8558a8", "P2P"),
    ("st", "#e2574c", "#d4483d", "stall"),
    ("ji", "#f4a9a0", "#8f4a43", "jitter"),
    ("la", "#c9a27c", "#7d5f42", "launch"),
    ("ou", "#f6f7f9", "#1c2026", "outside the pipeline"),
];

fn tint(kind: PassKind) -> &'static Tint {
    match kind {
        PassKind::Forward => &PASSES[0],
        PassKind::BackwardInput => &PASSES[2],
        PassKind::BackwardWeight => &PASSES[3],
        _ => &PASSES[1],
    }
}

fn cause_tint(cause: Cause) -> &'static Tint {
    let at = Cause::ALL.iter().position(|&c| c == cause).unwrap_or(0);
    &CAUSES[at]
}

const LEFT: f64 = 74.0;
const RIGHT: f64 = 96.0;

/// Output and dimensions of the chart.
struct Canvas {
    out: String,
    scale: f64,
    row: f64,
    chunks: u32,
}

/// Draws the displayed step.
pub fn draw(page: &PipelinePage, options: &Options) -> String {
    let shown = &page.shown;
    let stages = shown.rows.len().min(options.most_stages);
    let longest = shown.measured.max(shown.expected_duration).max(1) as f64;
    let passes = shown.rows.iter().map(|r| r.boxes.len()).max().unwrap_or(0);
    // Each pass needs space for its number, within the size limits of viewers.
    let width = f64::from(options.width.clamp(400, 16_000)).max((passes as f64 * 18.0).min(6000.0));
    let row = if stages > 32 { 14.0 } else { 22.0 };
    let chunks = shown.rows.iter().flat_map(|r| &r.boxes).map(|b| b.chunk + 1).max().unwrap_or(1);
    let scale = (width - LEFT - RIGHT) / longest;
    let verdicts = page.verdicts.len().min(4);
    let top = 58.0 + 16.0 * verdicts as f64;
    let pitch = row + 4.0;
    let middle = top + stages as f64 * pitch + 40.0;
    let bottom = middle + stages as f64 * pitch;
    let height = bottom + 52.0;
    let mut canvas = Canvas { out: String::with_capacity(8192 + passes * stages * 260), scale, row, chunks };
    canvas.open(page, width, height);
    canvas.head(page, width);
    for (n, measured) in shown.rows.iter().take(stages).enumerate() {
        canvas.row(measured, top + n as f64 * pitch, shown.measured, true);
    }
    // Outlines are drawn last, above all other marks.
    for (n, measured) in shown.rows.iter().take(stages).enumerate() {
        for pass in &measured.boxes {
            canvas.outline(page, pass, top + n as f64 * pitch, width);
        }
    }
    canvas.axis(top + stages as f64 * pitch + 2.0, longest);
    let _ = writeln!(
        canvas.out,
        "<text class=\"h\" x=\"{LEFT}\" y=\"{:.1}\">expected: same order of passes with balanced stages, \
         without latency and stalls: {}</text>",
        middle - 6.0,
        markup(&time(shown.expected_duration))
    );
    for (n, expected) in shown.expected.iter().take(stages).enumerate() {
        canvas.row(expected, middle + n as f64 * pitch, shown.expected_duration, false);
    }
    canvas.legend(page, bottom + 20.0);
    if shown.rows.len() > stages {
        let _ = writeln!(
            canvas.out,
            "<text class=\"s\" x=\"{LEFT}\" y=\"{:.1}\">{} more stages are not drawn</text>",
            height - 6.0,
            shown.rows.len() - stages
        );
    }
    canvas.out.push_str("</svg>\n");
    canvas.out
}

impl Canvas {
    fn x(&self, time: i64) -> f64 {
        LEFT + time as f64 * self.scale
    }

    fn open(&mut self, page: &PipelinePage, width: f64, height: f64) {
        // Writing to a string never fails.
        let _ = writeln!(
            self.out,
            "{}<title>{}, step {}</title><style>",
            svg::open(width, height, ""),
            markup(&page.label),
            page.shown.step
        );
        self.out.push_str(
            "svg{background:#fff;font:11px system-ui,sans-serif}text{fill:#1f2328}.t{font-size:15px;font-weight:600}.h{font-size:12px;font-weight:600}.s,.a{fill:#59636e}\
             .l{text-anchor:end;dominant-baseline:central}.r{dominant-baseline:central;fill:#59636e}.n{fill:#fff;text-anchor:middle;dominant-baseline:central;font-size:10px}\
             .c{text-anchor:middle;dominant-baseline:central;font-size:9px;fill:#59636e}.a{text-anchor:middle;font-size:10px}.g{stroke:#d1d9e0}\
             .o{fill:none;stroke:#cf222e;stroke-width:2.5}.k{fill:#cf222e;font-weight:700;paint-order:stroke;stroke:#fff;stroke-width:3px}",
        );
        fills(&mut self.out, PASSES.iter().chain(&CAUSES), false);
        self.out.push_str(
            "@media(prefers-color-scheme:dark){svg{background:#0d1117}text{fill:#e6edf3}.s,.a,.r,.c{fill:#9198a1}.n{fill:#fff}.g{stroke:#3d444d}.o{stroke:#ff7b72}\
             .k{fill:#ff7b72;stroke:#0d1117}",
        );
        fills(&mut self.out, PASSES.iter().chain(&CAUSES), true);
        self.out.push_str("}</style>\n");
    }

    fn head(&mut self, page: &PipelinePage, width: f64) {
        let shown = &page.shown;
        let replica =
            if page.shape.data_parallel > 1 { format!(", replica {}", shown.replica) } else { String::new() };
        let _ = writeln!(
            self.out,
            "<text class=\"t\" x=\"{LEFT}\" y=\"22\">{}, step {}{replica}: {}</text>",
            markup(&page.label),
            shown.step,
            markup(&time(shown.measured))
        );
        let parts: Vec<String> = shown
            .parts
            .parts()
            .iter()
            .filter(|(_, part)| *part != 0)
            .map(|(name, part)| format!("{name} {:.1}%", *part as f64 / shown.measured.max(1) as f64 * 100.0))
            .collect();
        let _ = writeln!(
            self.out,
            "<text class=\"s\" x=\"{LEFT}\" y=\"40\">{}</text>",
            markup(&parts.join(" · "))
        );
        // SVG text does not wrap: long text is truncated.
        let room = ((width - LEFT) / 5.8) as usize;
        for (n, verdict) in page.verdicts.iter().take(4).enumerate() {
            let text = &verdict.message;
            let cut: String = if text.chars().count() > room {
                text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
            } else {
                text.clone()
            };
            let _ = writeln!(
                self.out,
                "<text x=\"{LEFT}\" y=\"{:.1}\">{}</text>",
                56.0 + 16.0 * n as f64,
                markup(&cut)
            );
        }
    }

    /// Draws a stage's row.
    fn row(&mut self, row: &Row, y: f64, total: i64, measured: bool) {
        let middle = y + self.row / 2.0;
        let _ = writeln!(
            self.out,
            "<text class=\"l\" x=\"{:.1}\" y=\"{middle:.1}\">stage {}</text>",
            LEFT - 8.0,
            row.stage
        );
        for bubble in &row.bubbles {
            let width = (bubble.end - bubble.start) as f64 * self.scale;
            if width < 0.1 {
                continue;
            }
            let (class, .., name) = cause_tint(bubble.cause);
            let (x, span) = (self.x(bubble.start), time(bubble.end - bubble.start));
            let _ = writeln!(
                self.out,
                "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{}\"><title>stage {} waits {span}: {name}</title></rect>",
                self.row, row.stage
            );
            // The schedule needs no label in every gap.
            if measured && width > 34.0 && !matches!(bubble.cause, Cause::Schedule | Cause::Outside) {
                let class = if bubble.cause == Cause::Stall { "n" } else { "c" };
                let _ = writeln!(
                    self.out,
                    "<text class=\"{class}\" x=\"{:.1}\" y=\"{middle:.1}\">{name}</text>",
                    x + width / 2.0
                );
            }
        }
        for pass in &row.boxes {
            self.pass(row, pass, y);
        }
        let share = row.causes.total() as f64 / total.max(1) as f64 * 100.0;
        let _ = writeln!(
            self.out,
            "<text class=\"r\" x=\"{:.1}\" y=\"{middle:.1}\">{share:.1}% bubble</text>",
            self.x(total) + 6.0
        );
    }

    fn pass(&mut self, row: &Row, pass: &PassBox, y: f64) {
        let (class, .., name) = tint(pass.kind);
        let (x, width) = (self.x(pass.start), (pass.end - pass.start) as f64 * self.scale);
        // Virtual stages differ in opacity.
        let solid = 1.0 - 0.45 * f64::from(pass.chunk) / f64::from(self.chunks.max(2) - 1);
        let solid = if pass.chunk > 0 { format!(" fill-opacity=\"{solid:.2}\"") } else { String::new() };
        let batch = pass.micro_batch.map_or_else(String::new, |m| format!(", micro-batch {m}"));
        let chunk = if self.chunks > 1 { format!(", chunk {}", pass.chunk) } else { String::new() };
        // A thin gap between neighbours.
        let drawn = if width > 3.0 { width - 0.6 } else { width };
        let _ = writeln!(
            self.out,
            "<rect class=\"{class}\"{solid} x=\"{x:.2}\" y=\"{y:.1}\" width=\"{drawn:.2}\" height=\"{}\"><title>stage {}, {name}{batch}{chunk}: {} at {}</title></rect>",
            self.row,
            row.stage,
            time(pass.end - pass.start),
            time(pass.start)
        );
        if let Some(batch) = pass.micro_batch {
            let text = batch.to_string();
            if width > text.len() as f64 * 6.0 + 3.0 && self.row > 12.0 {
                let _ = writeln!(
                    self.out,
                    "<text class=\"n\" x=\"{:.1}\" y=\"{:.1}\">{text}</text>",
                    x + width / 2.0,
                    y + self.row / 2.0
                );
            }
        }
    }

    /// Draws the outline of a stall, with its cost.
    fn outline(&mut self, page: &PipelinePage, pass: &PassBox, y: f64, width: f64) {
        let Some(stall) = pass.stall.and_then(|at| page.shown.stalls.get(at)) else { return };
        let (x, long) = (self.x(pass.start), (pass.end - pass.start) as f64 * self.scale);
        let cost = if stall.cost > 0 {
            format!("cost {}", stall.certainty.signed(&time(stall.cost)))
        } else {
            "cost nothing".to_owned()
        };
        let _ = writeln!(
            self.out,
            "<rect class=\"o\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{long:.2}\" height=\"{}\"><title>stall: {} instead of {}, {cost}</title></rect>",
            self.row,
            time(stall.duration),
            time(stall.normal)
        );
        let label = format!("+{}, {cost}", time(stall.excess));
        let at_end = x + 4.0 + label.len() as f64 * 6.5 > width - RIGHT;
        let (x, anchor) = if at_end { (x + long, "end") } else { (x + 2.0, "start") };
        let _ = writeln!(
            self.out,
            "<text class=\"k\" text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            y - 2.0,
            markup(&label)
        );
    }

    fn axis(&mut self, y: f64, longest: f64) {
        let step = round_step((longest / 10.0).max(1.0));
        let mut at = 0.0;
        while at <= longest && step > 0.0 {
            let x = LEFT + at * self.scale;
            let _ = writeln!(
                self.out,
                "<line class=\"g\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{y:.1}\" y2=\"{:.1}\"/><text class=\"a\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                y + 4.0,
                y + 15.0,
                markup(&time(at as i64))
            );
            at += step;
        }
    }

    fn legend(&mut self, page: &PipelinePage, y: f64) {
        let rows = || page.shown.rows.iter();
        let mut used: Vec<&Tint> = Vec::new();
        for tint in rows().flat_map(|r| r.boxes.iter().map(|b| tint(b.kind))) {
            if !used.iter().any(|u| u.0 == tint.0) {
                used.push(tint);
            }
        }
        used.sort_by_key(|tint| PASSES.iter().position(|p| p.0 == tint.0));
        used.extend(Cause::ALL.into_iter().filter(|&c| rows().any(|r| r.causes.get(c) > 0)).map(cause_tint));
        let mut x = LEFT;
        for (n, (class, .., name)) in used.iter().enumerate() {
            let cause = CAUSES.iter().any(|c| c.0 == *class);
            let first = cause && !used[..n].iter().any(|u| CAUSES.iter().any(|c| c.0 == u.0));
            if first {
                let _ = writeln!(
                    self.out,
                    "<text class=\"s\" x=\"{x:.1}\" y=\"{:.1}\">waiting for:</text>",
                    y + 9.0
                );
                x += 72.0;
            }
            let _ = writeln!(
                self.out,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"12\" height=\"10\"/><text x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
                x + 16.0,
                y + 9.0
            );
            x += 30.0 + name.len() as f64 * 6.3;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cannot_break_out() {
        assert_eq!(markup("<a b=\"&\">\u{1}"), "&lt;a b=&quot;&amp;&quot;&gt; ");
    }
}
