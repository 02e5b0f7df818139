//! Parts of every SVG picture: the head, colours of marks in both themes, and round steps of axes.

use railwright_spec::Portable as _;
use std::fmt::Write as _;

/// A kind of mark: its class, its colours in the light and the dark theme, and its name.
pub type Tint = (&'static str, &'static str, &'static str, &'static str);

/// The opening tag of a picture of a size in pixels, with further attributes, each after a space.
pub fn open(width: f64, height: f64, attributes: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" role=\"img\"{attributes}>"
    )
}

/// Fills of marks in one theme.
pub fn fills<'a>(out: &mut String, tints: impl Iterator<Item = &'a Tint>, is_dark: bool) {
    for (class, light, dark, _) in tints {
        // Writing to a string cannot fail.
        let _ = write!(out, ".{class}{{fill:{}}}", if is_dark { dark } else { light });
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is at least a positive number, within 0.1%.
pub fn round_step(least: f64) -> f64 {
    let power = 10_f64.portable_powf(least.portable_log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= least * 0.999).unwrap_or(power * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (least, step) in [(3.2e8, 5e8), (1.1e6, 2e6), (9e5, 1e6), (0.2, 0.2), (5.001, 5.0), (5.1, 10.0)] {
            assert!((round_step(least) / step - 1.0).abs() < 1e-12, "{least}: {}", round_step(least));
        }
    }

    #[test]
    fn a_theme_has_its_own_colours() {
        let mut out = open(10.4, 20.0, " id=\"a\"");
        fills(&mut out, [("f", "#fff", "#000", "forward")].iter(), true);
        assert!(
            out.contains("viewBox=\"0 0 10 20\"") && out.ends_with("role=\"img\" id=\"a\">.f{fill:#000}")
        );
    }
}
