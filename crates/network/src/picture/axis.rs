//! Ticks at round numbers.
//!
//! Responsible for: choosing them and writing them short. Refuses to draw.

/// Round numbers from 0 to at least `most`, about `count` of them: steps of 1, 2 or 5 times a power of ten.
pub(crate) fn ticks(most: f64, count: usize) -> Vec<f64> {
    if !(most > 0.0 && most.is_finite()) {
        return vec![0.0, 1.0];
    }
    let raw = most / count.max(1) as f64;
    let power = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|s| *s >= raw * 0.999)
        .unwrap_or(power * 10.0);
    let last = (most / step - 1e-9).ceil() as u32;
    (0..=last).map(|n| f64::from(n) * step).collect()
}

/// A tick as text, without digits that say nothing.
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
