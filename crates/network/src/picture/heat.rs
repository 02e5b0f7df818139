//! Traffic matrix as a heat map on a logarithmic scale.
//!
//! Responsible for: cells that are given by a function of (sender, receiver), one shade for each decade.
//! Cells of equal shade in a row are one mark, so that the file stays small for thousands of devices. Rejects
//! more cells than pixels: callers choose a range of devices.

use super::letters::{HIGH, Sheet, wide};
use super::open;
use railwright_spec::Portable as _;
use railwright_spec::human::markup;
use std::fmt::Write as _;

/// A square of cells.
pub struct Heat<'a> {
    /// Title of the chart.
    pub title: String,
    /// Cells along a side.
    pub side: u32,
    /// The first device shown.
    pub first: u32,
    /// Number of devices per cell.
    pub per_cell: u32,
    /// Bytes from the first cell to the second, numbered from `first / per_cell`; 0 is left blank.
    pub bytes: &'a dyn Fn(u32, u32) -> f64,
}

/// Cells along a side at most.
const MOST: u32 = 1024;
/// Decades below the maximum with distinct shades.
const DECADES: i32 = 6;
/// Pixels along a side, about.
const PIXELS: u32 = 1024;

/// Draws the square; `None` if it has more cells than fit.
pub fn heat(chart: &Heat<'_>) -> Option<String> {
    if chart.side == 0 || chart.side > MOST {
        return None;
    }
    let cell = (640.0 / f64::from(chart.side)).max(0.5);
    let (left, top) = (72.0, 64.0);
    let size = cell * f64::from(chart.side);
    let mut out = open(left + size + 130.0, top + size + 44.0, &chart.title);
    let first = chart.first / chart.per_cell.max(1);
    let value = |i: u32, j: u32| (chart.bytes)(first + i, first + j);
    let mut seen = std::collections::BTreeSet::new();
    let mut rows = String::new();
    for i in 0..chart.side {
        let mut start = 0;
        while start < chart.side {
            let shade = decade(value(i, start));
            let mut end = start + 1;
            while end < chart.side && decade(value(i, end)) == shade {
                end += 1;
            }
            if let Some(shade) = shade {
                seen.insert(shade);
                let _ = writeln!(
                    rows,
                    "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" class=\"d{}\"/>",
                    left + f64::from(start) * cell,
                    top + f64::from(i) * cell,
                    f64::from(end - start) * cell,
                    cell,
                    shade
                );
            }
            start = end;
        }
    }
    let most = seen.last().copied().unwrap_or(0);
    let least = seen.first().copied().unwrap_or(0).max(most - DECADES);
    out.push_str("<style>");
    for &shade in &seen {
        // The more bytes, the more solid.
        let solid = 0.25 + 0.75 * f64::from(shade.max(least) - least + 1) / f64::from(most - least + 1);
        let _ = write!(out, ".d{shade}{{fill:var(--s0);fill-opacity:{solid:.2}}}");
    }
    let _ = writeln!(
        out,
        "rect{{shape-rendering:crispEdges}}</style>\n<rect x=\"{left}\" y=\"{top}\" width=\"{size:.1}\" height=\"{size:.1}\" fill=\"none\" class=\"grid\"/>"
    );
    out.push_str(&rows);
    for (place, text) in [(0.0, chart.first), (size, chart.first + chart.side * chart.per_cell.max(1))] {
        let _ = writeln!(
            out,
            "<text class=\"faint\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text><text class=\"faint\" x=\"{:.1}\" \
             y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            left + place,
            top + size + 16.0,
            left - 8.0,
            top + place + 4.0
        );
    }
    let _ = writeln!(
        out,
        "<text class=\"faint\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">receiving device</text><text class=\"faint\" \
         transform=\"translate(20 {:.1}) rotate(-90)\" text-anchor=\"middle\">sending device</text>",
        left + size / 2.0,
        top + size + 34.0,
        top + size / 2.0
    );
    for (row, shade) in seen.iter().rev().enumerate() {
        let y = top + 18.0 * row as f64;
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"12\" height=\"12\" class=\"d{}\"/><text class=\"ink\" x=\"{:.1}\" \
             y=\"{:.1}\">{}</text>",
            left + size + 16.0,
            shade,
            left + size + 34.0,
            y + 10.0,
            markup(&decade_name(*shade))
        );
    }
    out.push_str("</svg>\n");
    Some(out)
}

/// The power of ten that bytes reach; less than a byte, as an average may be, counts as one.
fn decade(bytes: f64) -> Option<i32> {
    (bytes > 0.0).then(|| (bytes.portable_log10().floor() as i32).max(0))
}

/// An image in pixels, three bytes each from the upper left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Red, green, blue.
    pub rgb: Vec<u8>,
}

/// Margins around the square: ranks on the left and above, the scale on the right.
const LEFT: usize = 96;
const TOP: usize = 60;
const RIGHT: usize = 150;
const BOTTOM: usize = 24;
const INK: [u8; 3] = [60, 66, 76];

/// The same square in pixels, with ranks along its sides and a scale of bytes on a logarithmic axis: darker
/// is more, white is zero. `None` if it has more cells than fit.
pub fn heat_pixels(chart: &Heat<'_>) -> Option<Pixels> {
    if chart.side == 0 || chart.side > MOST {
        return None;
    }
    let first = chart.first / chart.per_cell.max(1);
    let mut logs: Vec<Option<f64>> = Vec::with_capacity((chart.side * chart.side) as usize);
    for i in 0..chart.side {
        for j in 0..chart.side {
            let bytes = (chart.bytes)(first + i, first + j);
            logs.push((bytes > 0.0).then(|| bytes.max(1.0).portable_log10()));
        }
    }
    let known = || logs.iter().flatten().copied();
    let most = known().fold(0.0, f64::max);
    let least = known().fold(f64::INFINITY, f64::min).max(most - f64::from(DECADES));
    // From a light blue to a dark one, so that it is readable in grey too.
    let shade = |log: f64| {
        let share = if most > least { ((log - least) / (most - least)).max(0.0) } else { 1.0 };
        [(205.0, 12.0), (224.0, 35.0), (244.0, 90.0)]
            .map(|(light, dark)| (light + (dark - light) * share).round() as u8)
    };
    let scale = (PIXELS / chart.side).max(1) as usize;
    let side = scale * chart.side as usize;
    let mut sheet = Sheet::new(LEFT + side + RIGHT, TOP + side + BOTTOM);
    sheet.fill((LEFT - 2, TOP - 2), (side + 4, side + 4), INK);
    sheet.fill((LEFT, TOP), (side, side), [255; 3]);
    for (i, row) in logs.chunks_exact(chart.side as usize).enumerate() {
        for (j, log) in row.iter().enumerate() {
            if let Some(log) = log {
                sheet.fill((LEFT + j * scale, TOP + i * scale), (scale, scale), shade(*log));
            }
        }
    }
    // The first rank of every eighth of a side, or of every cell.
    let step = chart.side.div_ceil(8).max(1);
    for cell in (0..chart.side).step_by(step as usize) {
        let name = (chart.first + cell * chart.per_cell.max(1)).to_string();
        let at = cell as usize * scale;
        sheet.fill((LEFT + at, TOP - 8), (2, 6), INK);
        sheet.write(&name, (LEFT + at, TOP - 12 - HIGH));
        sheet.fill((LEFT - 8, TOP + at), (6, 2), INK);
        sheet.write(&name, ((LEFT - 14).saturating_sub(wide(&name)), TOP + at));
    }
    sheet.write("RECEIVER", (LEFT, 6));
    sheet.write("SENDER", (4, TOP - 12 - HIGH));
    let scale_at = LEFT + side + 20;
    for (row, decade) in (least.floor() as i32..=most.floor() as i32).rev().enumerate() {
        if logs.iter().all(Option::is_none) {
            break;
        }
        let y = TOP + row * (HIGH + 10);
        sheet.fill((scale_at, y), (HIGH, HIGH), shade(f64::from(decade).clamp(least, most)));
        sheet.write(decade_name(decade).trim_start_matches("from "), (scale_at + HIGH + 8, y));
    }
    Some(Pixels { width: sheet.width as u32, height: sheet.height as u32, rgb: sheet.rgb })
}

/// A decade of bytes in words.
fn decade_name(shade: i32) -> String {
    let (scale, unit) = match shade {
        i32::MIN..3 => (0, "B"),
        3..6 => (3, "kB"),
        6..9 => (6, "MB"),
        9..12 => (9, "GB"),
        _ => (12, "TB"),
    };
    format!("from {} {unit}", 10_f64.powi(shade - scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_one_shade_are_one_mark() {
        let bytes = |i: u32, j: u32| if i == j { 0.0 } else { 5e6 };
        let chart = Heat { title: "t".to_owned(), side: 4, first: 0, per_cell: 1, bytes: &bytes };
        let svg = heat(&chart).expect("small");
        // Two of the four rows are broken in two by the diagonal.
        assert_eq!(svg.matches("class=\"d6\"").count(), 6 + 1);
        assert!(svg.contains("from 1 MB"));
        assert_eq!(heat(&Heat { side: 5000, ..chart }), None);
    }

    #[test]
    fn pixels_darken_with_bytes() {
        let bytes = |i: u32, j: u32| if i == j { 0.0 } else { 10_f64.powf(f64::from(i + j)) };
        let chart = Heat { title: "t".to_owned(), side: 4, first: 0, per_cell: 2, bytes: &bytes };
        let pixels = heat_pixels(&chart).expect("small");
        let (width, height) = (pixels.width as usize, pixels.height as usize);
        assert_eq!((width, height), (1024 + LEFT + RIGHT, 1024 + TOP + BOTTOM));
        assert_eq!(pixels.rgb.len(), width * height * 3);
        let at = |i: usize, j: usize| pixels.rgb[((TOP + i * 256) * width + LEFT + j * 256) * 3];
        // Ranks are above the square; the colour scale has the darkest shade at the top.
        let above = &pixels.rgb[(TOP - 20) * width * 3..(TOP - 12) * width * 3];
        assert!(above.chunks(3).skip(LEFT).any(|pixel| pixel == INK));
        assert_eq!(pixels.rgb[((TOP + 2) * width + LEFT + 1024 + 22) * 3], at(2, 3));
        assert_eq!((at(0, 0), at(0, 1), at(2, 3)), (255, 205, 12));
        assert!(at(0, 1) > at(0, 2) && at(1, 2) == at(0, 3));
        assert!(heat(&chart).expect("small").contains(">8</text>"), "the last device's number");
    }
}
