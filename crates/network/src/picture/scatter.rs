//! Points over two quantities, with those of a front joined by a line.
//!
//! Responsible for: two linear axes with round ticks, a colour and a shape for each series, and a stepped
//! line through the points of a front. Does not compute the front.

use super::axis::{Frame, label, ticks};
use super::{SERIES, legend, open};
use railwright_spec::human::markup;
use std::fmt::Write as _;

/// One point.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// Its title.
    pub name: String,
    /// True if the dot is filled and connected to the other filled ones of its series.
    pub matters: bool,
}

/// Points of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Label of the series.
    pub name: String,
    /// The points.
    pub dots: Vec<Dot>,
}

/// Points over two quantities.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// Title of the chart.
    pub title: String,
    /// Quantity on the horizontal axis, with its unit.
    pub across: String,
    /// Quantity on the vertical axis, with its unit.
    pub up: String,
    /// The series.
    pub series: Vec<Series>,
}

/// Ticks that enclose values. They need not begin at 0 if the values are close together and far from it.
fn enclosing(values: impl Iterator<Item = f64> + Clone) -> (f64, f64, Vec<f64>) {
    let finite = values.filter(|v| v.is_finite());
    let (least, most) = finite.fold((f64::INFINITY, 0.0_f64), |(a, b), v| (a.min(v), b.max(v)));
    if !least.is_finite() || most <= 0.0 || least < most / 2.0 {
        let list = ticks(most, 6);
        return (0.0, list.last().copied().unwrap_or(1.0), list);
    }
    let spread = (most - least).max(most * 1e-3);
    let step = ticks(spread, 5).get(1).copied().unwrap_or(spread);
    let (first, last) = ((least / step).floor(), (most / step).ceil().max((least / step).floor() + 1.0));
    let list = (0..=(last - first) as u32).map(|n| (first + f64::from(n)) * step).collect();
    (first * step, last * step, list)
}

/// Draws points.
pub fn scatter(chart: &Scatter) -> String {
    let frame = Frame { width: 720.0, height: 440.0, left: 72.0, right: 24.0, top: 66.0, bottom: 52.0 };
    let Frame { left, top, .. } = frame;
    let mut out = open(frame.width, frame.height, &chart.title);
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    legend(&mut out, &names, left, 48.0);
    let dots = || chart.series.iter().flat_map(|series| &series.dots);
    let (x0, x1, across) = enclosing(dots().map(|dot| dot.x));
    let (y0, y1, up) = enclosing(dots().map(|dot| dot.y));
    let (wide, tall) = frame.area();
    let x = |value: f64| left + wide * (value - x0) / (x1 - x0);
    let y = |value: f64| top + tall * (1.0 - (value - y0) / (y1 - y0));
    for &tick in &up {
        frame.line_at(&mut out, y(tick), tick);
    }
    for &tick in &across {
        frame.name_at(&mut out, x(tick), &label(tick));
    }
    frame.counts(&mut out, &chart.across, &chart.up);
    for (index, series) in chart.series.iter().enumerate() {
        let colour = index % SERIES.len();
        let mut front: Vec<&Dot> = series.dots.iter().filter(|dot| dot.matters).collect();
        front.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        let path: Vec<String> = front.iter().map(|dot| format!("{:.1},{:.1}", x(dot.x), y(dot.y))).collect();
        if path.len() > 1 {
            let _ = writeln!(
                out,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"var(--s{colour})\" stroke-width=\"1.5\"/>",
                path.join(" ")
            );
        }
        for dot in series.dots.iter().filter(|dot| dot.x.is_finite() && dot.y.is_finite()) {
            let fill = if dot.matters { format!("var(--s{colour})") } else { "none".to_owned() };
            let name = markup(&dot.name);
            let (cx, cy) = (x(dot.x), y(dot.y));
            let style = format!("fill=\"{fill}\" stroke=\"var(--s{colour})\"");
            // Shapes differ in addition to colours.
            let mark = match index % 3 {
                0 => format!("<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4\" {style}>"),
                1 => format!(
                    "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\" {style}>",
                    cx - 3.5,
                    cy - 3.5
                ),
                _ => format!("<path d=\"M{:.1} {:.1}l4.5 8h-9z\" {style}>", cx, cy - 5.0),
            };
            let end = match index % 3 {
                0 => "circle",
                1 => "rect",
                _ => "path",
            };
            let _ = writeln!(out, "{mark}<title>{name}</title></{end}>");
        }
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_that_matter_are_filled_and_joined() {
        let dot = |x: f64, y: f64, matters: bool| Dot { x, y, name: format!("{x} <{y}>"), matters };
        let series = |dots: Vec<Dot>| Series { name: "domain 8".to_owned(), dots };
        let chart = Scatter {
            title: "t".to_owned(),
            across: "dollars".to_owned(),
            up: "s".to_owned(),
            series: vec![
                series(vec![dot(3.0, 1.0, true), dot(1.0, 2.0, true), dot(2.0, 5.0, false)]),
                series(vec![dot(f64::NAN, 1.0, true)]),
            ],
        };
        let svg = scatter(&chart);
        assert_eq!(svg.matches("<circle").count(), 3);
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert_eq!(svg.matches("fill=\"none\" stroke=\"var(--s0)\">").count(), 1);
        assert!(svg.contains("3 &lt;1&gt;") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn an_axis_encloses_what_it_shows() {
        let (low, high, list) = enclosing([10.1, 10.4].into_iter());
        assert!(low <= 10.1 && low > 9.0 && (10.4..11.0).contains(&high) && list.len() >= 3, "{list:?}");
        assert_eq!(enclosing([0.5, 9.0].into_iter()).0, 0.0);
        assert_eq!(enclosing(std::iter::empty()).2, [0.0, 1.0]);
        let (low, high, _) = enclosing([7.0].into_iter());
        assert!((low..=high).contains(&7.0) && high > low);
    }
}
