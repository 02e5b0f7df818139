//! Stacked bars, one for each compared item.
//!
//! Responsible for: parts in the order given, from the left. Does not sort.

use super::axis::{label, ticks};
use super::{SERIES, legend, open};
use railwright_spec::human::markup;
use std::fmt::Write as _;

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Label of the bar.
    pub name: String,
    /// Its parts, one for each series.
    pub values: Vec<f64>,
}

/// Bars of parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// Title of the chart.
    pub title: String,
    /// Quantity on the horizontal axis, with its unit.
    pub across: String,
    /// Names of the parts.
    pub series: Vec<String>,
    /// The bars, from the top.
    pub bars: Vec<Part>,
}

/// Draws bars.
pub fn bars(chart: &Bars) -> String {
    let longest = chart.bars.iter().map(|b| b.name.chars().count()).max().unwrap_or(0);
    let (left, right, top, row) = (24.0 + 7.0 * longest as f64, 70.0, 66.0, 26.0);
    let (width, height) = (760.0_f64.max(left + 400.0), top + row * chart.bars.len() as f64 + 48.0);
    let mut out = open(width, height, &chart.title);
    let names: Vec<&str> = chart.series.iter().map(String::as_str).collect();
    legend(&mut out, &names, 16.0, 48.0);
    let most = chart.bars.iter().map(|b| b.values.iter().sum::<f64>()).fold(0.0, f64::max);
    let ticks = ticks(most, 5);
    let scale = (width - left - right) / ticks.last().copied().unwrap_or(1.0);
    let foot = height - 44.0;
    for &tick in &ticks {
        let x = left + tick * scale;
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top}\" y2=\"{foot:.1}\"/><text class=\"faint\" x=\"{x:.1}\" \
             y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            foot + 16.0,
            label(tick)
        );
    }
    for (index, bar) in chart.bars.iter().enumerate() {
        let y = top + row * index as f64;
        let _ = writeln!(
            out,
            "<text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            y + 16.0,
            markup(&bar.name)
        );
        let mut x = left;
        for (part, value) in bar.values.iter().enumerate() {
            let wide = value.max(0.0) * scale;
            let _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" fill=\"var(--s{})\"><title>{}, {}: \
                 {}</title></rect>",
                y + 3.0,
                row - 6.0,
                part % SERIES.len(),
                markup(&bar.name),
                markup(chart.series.get(part).map_or("", String::as_str)),
                label(*value)
            );
            x += wide;
        }
        let _ = writeln!(
            out,
            "<text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            x + 6.0,
            y + 16.0,
            label(bar.values.iter().sum())
        );
    }
    let _ = writeln!(
        out,
        "<text class=\"faint\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        left + (width - left - right) / 2.0,
        height - 8.0,
        markup(&chart.across)
    );
    out.push_str("</svg>\n");
    out
}
