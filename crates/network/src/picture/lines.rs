//! Curves over a shared axis of categories or powers of two.
//!
//! Responsible for: placing points evenly along the horizontal axis (sizes double from one to the next) and
//! linearly up. Does not smooth.

use super::axis::{Frame, label, ticks};
use super::{SERIES, legend, open};
use railwright_spec::human::markup;
use std::fmt::Write as _;

/// Points of a curve up to which each has a mark.
const MARKED: usize = 60;

/// A curve with gaps at missing points.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Label of the curve.
    pub name: String,
    /// One value for each position on the horizontal axis.
    pub values: Vec<Option<f64>>,
}

/// Curves over positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// Title of the chart.
    pub title: String,
    /// Quantity on the horizontal axis.
    pub across: String,
    /// Labels of the positions.
    pub places: Vec<String>,
    /// Quantity on the vertical axis, with its unit.
    pub up: String,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// Draws curves.
pub fn lines(chart: &Lines) -> String {
    let frame = Frame { width: 720.0, height: 400.0, left: 64.0, right: 24.0, top: 66.0, bottom: 52.0 };
    let Frame { left, top, .. } = frame;
    let mut out = open(frame.width, frame.height, &chart.title);
    let names: Vec<&str> = chart.curves.iter().map(|curve| curve.name.as_str()).collect();
    legend(&mut out, &names, left, 48.0);
    let most = chart.curves.iter().flat_map(|c| c.values.iter().flatten()).copied().fold(0.0, f64::max);
    let ticks = ticks(most, 5);
    let highest = ticks.last().copied().unwrap_or(1.0);
    let (wide, tall) = frame.area();
    let y = |value: f64| top + tall * (1.0 - value / highest);
    let x = |place: usize| left + wide * (place as f64 + 0.5) / chart.places.len().max(1) as f64;
    for &tick in &ticks {
        frame.line_at(&mut out, y(tick), tick);
    }
    for (place, name) in chart.places.iter().enumerate() {
        frame.name_at(&mut out, x(place), name);
    }
    frame.counts(&mut out, &chart.across, &chart.up);
    for (index, curve) in chart.curves.iter().enumerate() {
        let colour = index % SERIES.len();
        let dash = if index < SERIES.len() { "" } else { " stroke-dasharray=\"5 3\"" };
        let points: Vec<(f64, f64, f64)> = curve
            .values
            .iter()
            .enumerate()
            .filter_map(|(place, value)| value.map(|value| (x(place), y(value), value)))
            .collect();
        let path: Vec<String> = points.iter().map(|(x, y, _)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"var(--s{colour})\" stroke-width=\"2\"{dash}/>",
            path.join(" ")
        );
        // Marks of many points would overlap.
        for (x, y, value) in points.into_iter().filter(|_| chart.places.len() <= MARKED) {
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"var(--s{colour})\"><title>{}: {}</title></circle>",
                markup(&curve.name),
                label(value)
            );
        }
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_has_no_mark() {
        let chart = Lines {
            title: "t".to_owned(),
            across: "size".to_owned(),
            places: vec!["8".to_owned(), "16".to_owned(), "32".to_owned()],
            up: "s".to_owned(),
            curves: vec![Curve { name: "one".to_owned(), values: vec![Some(1.0), None, Some(3.0)] }],
        };
        let svg = lines(&chart);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("one: 3") && svg.ends_with("</svg>\n"));
    }
}
