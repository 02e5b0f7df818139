//! Axes: ticks at round numbers, and the frame that charts over two axes share.
//!
//! Responsible for: choosing ticks and writing them in short form, the position of a chart's area, its grid
//! and its axis labels. Independent of the content of the chart.

use railwright_spec::human::markup;
use railwright_step::svg::round_step;
use std::fmt::Write as _;

/// Size of a chart and the margins around its area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

impl Frame {
    /// Width and height of the area.
    pub(crate) fn area(&self) -> (f64, f64) {
        (self.width - self.left - self.right, self.height - self.top - self.bottom)
    }

    /// A line across at a height, with its value on the left.
    pub(crate) fn line_at(&self, out: &mut String, at: f64, value: f64) {
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/><text class=\"faint\" x=\"{:.1}\" \
             y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            self.left,
            self.width - self.right,
            self.left - 8.0,
            at + 4.0,
            label(value)
        );
    }

    /// A name below the area.
    pub(crate) fn name_at(&self, out: &mut String, at: f64, name: &str) {
        let _ = writeln!(
            out,
            "<text class=\"faint\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            self.height - self.bottom + 18.0,
            markup(name)
        );
    }

    /// Draws the labels of both axes.
    pub(crate) fn counts(&self, out: &mut String, across: &str, up: &str) {
        let (wide, tall) = self.area();
        let _ = write!(
            out,
            "<text class=\"faint\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text class=\"faint\" transform=\"translate(16 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
            self.left + wide / 2.0,
            self.height - 12.0,
            markup(across),
            self.top + tall / 2.0,
            markup(up)
        );
    }
}

/// Round numbers from 0 to at least `most`, about `count` of them: steps of 1, 2 or 5 times a power of ten.
pub(crate) fn ticks(most: f64, count: usize) -> Vec<f64> {
    if !(most > 0.0 && most.is_finite()) {
        return vec![0.0, 1.0];
    }
    let step = round_step(most / count.max(1) as f64);
    let last = (most / step - 1e-9).ceil() as u32;
    (0..=last).map(|n| f64::from(n) * step).collect()
}

/// A tick label without insignificant digits.
pub(crate) fn label(value: f64) -> String {
    let text = if value.abs() >= 1000.0 { format!("{value:.0}") } else { format!("{value:.4}") };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_the_top() {
        assert_eq!(ticks(3.49, 5), [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(ticks(1.0, 5).len(), 6);
        assert_eq!(ticks(f64::NAN, 5), [0.0, 1.0]);
        assert_eq!(
            (label(0.5).as_str(), label(2.0).as_str(), label(32768.0).as_str()),
            ("0.5", "2", "32768")
        );
    }
}
