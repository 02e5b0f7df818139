//! Canvas of a diagram: rows, boxes and labels.

use crate::simulate::layer_name;
use crate::topology::graph::Layer;
use railwright_spec::human::markup;
use railwright_spec::quantity::BytesPerSecond;
use railwright_step::svg::open;
use std::fmt::Write as _;

/// Width of every diagram.
pub(super) const WIDTH: f64 = 960.0;

/// Margin at the left for the names of rows.
pub(super) const LEFT: f64 = 190.0;

pub(super) const RIGHT: f64 = 16.0;

pub(super) fn gigabits(speed: BytesPerSecond) -> String {
    format!("{} Gbit/s", speed.get() * 8.0 / 1e9)
}

/// A horizontal strip.
#[derive(Clone, Copy)]
pub(super) struct Band {
    pub(super) top: f64,
    pub(super) height: f64,
}

/// Drawn indices of `n` equal parts: all, or the first ones, a gap (`None`) and the last.
pub(super) fn shown(n: u64, most: usize) -> Vec<Option<u64>> {
    let most = most.max(3);
    if n <= most as u64 {
        return (0..n).map(Some).collect();
    }
    let mut list: Vec<Option<u64>> = (0..most as u64 - 2).map(Some).collect();
    list.extend([None, Some(n - 1)]);
    list
}

/// Places equal parts between two edges, calls back for each drawn part, and marks the gap. Returns the
/// centres with part numbers.
pub(super) fn boxes(
    n: u64,
    most: usize,
    from: f64,
    to: f64,
    space: f64,
    mut each: impl FnMut(u64, f64, f64, &mut Canvas),
    canvas: &mut Canvas,
) -> Vec<(u64, f64)> {
    let list = shown(n, most);
    let pitch = (to - from) / list.len().max(1) as f64;
    let mut middles = Vec::new();
    for (place, part) in list.iter().enumerate() {
        let x = from + place as f64 * pitch;
        if let Some(part) = part {
            each(*part, x + space / 2.0, (pitch - space).max(1.0), canvas);
            middles.push((*part, x + pitch / 2.0));
        } else {
            canvas.gaps.push(x + pitch / 2.0);
        }
    }
    middles
}

/// An SVG in the making.
#[derive(Default)]
pub(super) struct Canvas {
    lines: String,
    body: String,
    bottom: f64,
    gaps: Vec<f64>,
}

impl Canvas {
    pub(super) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str, title: &str) {
        self.bottom = self.bottom.max(y + height);
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2\"><title>{}</title></rect>",
            markup(title)
        );
    }

    pub(super) fn circle(&mut self, x: f64, y: f64, radius: f64, class: &str, title: &str) {
        self.bottom = self.bottom.max(y + radius);
        let _ = writeln!(
            self.body,
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"><title>{}</title></circle>",
            markup(title)
        );
    }

    /// A link. `data-layer` has the layer's name in loads and failures, for callers that colour it.
    pub(super) fn line(&mut self, layer: Layer, (x, y): (f64, f64), (to_x, to_y): (f64, f64)) {
        let layer = layer_name(layer);
        let _ =
            writeln!(self.lines, "<path data-layer=\"{layer}\" d=\"M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}\"/>");
    }

    pub(super) fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        self.bottom = self.bottom.max(y + 4.0);
        let _ =
            writeln!(self.body, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", markup(text));
    }

    /// The name of a row at the left, with remarks below it.
    pub(super) fn row(&mut self, name: &str, remarks: &[&str], middle: f64) {
        self.text(16.0, middle, "n", name);
        for (n, remark) in remarks.iter().enumerate() {
            self.text(16.0, middle + 15.0 * (n + 1) as f64, "s", remark);
        }
    }

    /// Marks the gaps of the last boxes with an ellipsis.
    pub(super) fn mark_gaps(&mut self, middle: f64) {
        for x in std::mem::take(&mut self.gaps) {
            self.text(x, middle + 4.0, "m", "\u{2026}");
        }
    }

    pub(super) fn finish(mut self, title: &str) -> String {
        self.gaps.clear();
        let height = self.bottom + 18.0;
        format!(
            "{}<title>{}</title>\n{STYLE}<g>\n{}</g>\n{}</svg>\n",
            open(WIDTH, height, ""),
            markup(title),
            self.lines,
            self.body
        )
    }
}

const STYLE: &str = "<style>svg{background:#fff;font:12px sans-serif}text{fill:#222}.t{font-size:16px;font-weight:bold}\
.s{fill:#666;font-size:11px}.n{font-weight:bold}.m{text-anchor:middle}.i{text-anchor:middle;font-size:10px;fill:#fff}\
path{stroke:#8a8f98;stroke-width:.7;fill:none;stroke-opacity:.65}.c{fill:#7a5aa8}.p{fill:#2c7f64}.l{fill:#3b78bd}.d{fill:#8a8f98}\
.u{fill:#c9803a}.f{fill:none;stroke:#8a8f98;stroke-dasharray:3 3}\
@media(prefers-color-scheme:dark){svg{background:#15181c}text{fill:#ddd}.s{fill:#999}.i{fill:#fff}}</style>\n";
