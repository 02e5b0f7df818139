//! Charts as SVG: self-contained lines and bars (no script, font or link) with dark mode.
//!
//! Responsible for: axes with round ticks, a legend that does not depend on colour alone, and a title on
//! every mark. Does not compute.

mod axis;
mod bars;
mod heat;
mod letters;
mod lines;
mod scatter;

pub use bars::{Bars, Part, bars};
pub use heat::{Heat, Pixels, heat, heat_pixels};
pub use lines::{Curve, Lines, lines};
pub use scatter::{Dot, Scatter, Series, scatter};

use railwright_spec::human::markup;
use railwright_step::svg;
use std::fmt::Write as _;

/// Colours of a series in light and dark, far apart for colour-blind eyes too; further series repeat them
/// with other dashes.
pub(crate) const SERIES: [(&str, &str); 6] = [
    ("#2f6db3", "#6aa6e8"),
    ("#c8622c", "#e8905c"),
    ("#2c7f64", "#55b894"),
    ("#8a4fa8", "#bd8ad8"),
    ("#b8962a", "#d8ba5c"),
    ("#7a7f88", "#a5abb5"),
];

/// Start of a chart: size, colours, title.
pub(crate) fn open(width: f64, height: f64, title: &str) -> String {
    let font = "font-family=\"system-ui, sans-serif\" font-size=\"12\"";
    let mut out = svg::open(width, height, &format!(" aria-label=\"{}\" {font}", markup(title)));
    out.push_str("\n<style>\nsvg{--ink:#1c2430;--faint:#5b6470;--grid:#d9dde3;--paper:#ffffff;");
    let series = |out: &mut String, dark: bool| {
        for (index, (light, deep)) in SERIES.iter().enumerate() {
            let _ = write!(out, "--s{index}:{};", if dark { deep } else { light });
        }
    };
    series(&mut out, false);
    out.push_str("}\n@media (prefers-color-scheme:dark){svg{--ink:#e6e9ee;--faint:#9aa3af;--grid:#343b45;--paper:#14181d;");
    series(&mut out, true);
    out.push_str("}}\n.ink{fill:var(--ink)}.faint{fill:var(--faint)}.grid{stroke:var(--grid)}\n</style>\n");
    let _ = write!(
        out,
        "<rect width=\"100%\" height=\"100%\" fill=\"var(--paper)\"/>\n\
         <text class=\"ink\" x=\"16\" y=\"24\" font-size=\"15\" font-weight=\"600\">{}</text>\n",
        markup(title)
    );
    out
}

/// A legend in one row from `x`: a swatch and a name for each series.
pub(crate) fn legend(out: &mut String, names: &[&str], x: f64, y: f64) {
    let mut at = x;
    for (index, name) in names.iter().enumerate() {
        let _ = writeln!(
            out,
            "<rect x=\"{at:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" rx=\"2\" fill=\"var(--s{})\"/>\
             <text class=\"ink\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
            y - 10.0,
            index % SERIES.len(),
            at + 17.0,
            markup(name)
        );
        at += 34.0 + 7.0 * name.chars().count() as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_out() {
        let out = open(100.0, 50.0, "a<b & \"c\"");
        assert!(out.contains("a&lt;b &amp; &quot;c&quot;") && !out.contains("a<b"));
    }
}
