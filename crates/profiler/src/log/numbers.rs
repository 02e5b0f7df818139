//! Numbers in log lines.
//!
//! Responsible for: the number after a mark, with any spacing or grouping. Rejects numbers that are not
//! finite.

/// The number after a mark; thousands may be grouped by commas.
pub(super) fn after(text: &str, mark: &str) -> Option<f64> {
    leading(&text[text.find(mark)? + mark.len()..])
}

/// The number at the start of a text.
pub(super) fn leading(text: &str) -> Option<f64> {
    let rest = text.trim_start().trim_start_matches(['(', '=', '~']).trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && !".,eE+-".contains(c)).unwrap_or(rest.len());
    let digits: String = rest[..end].trim_end_matches([',', '.']).chars().filter(|&c| c != ',').collect();
    digits.parse().ok().filter(|n: &f64| n.is_finite())
}

/// The integer after a mark.
pub(super) fn count_after(text: &str, mark: &str) -> Option<u64> {
    after(text, mark).filter(|n| (0.0..1e15).contains(n)).map(|n| n as u64)
}

/// The number after a mark, with a suffix of thousands: `11.5K`, `85.8G`.
pub(super) fn scaled_after(text: &str, mark: &str) -> Option<f64> {
    let rest = text[text.find(mark)? + mark.len()..].trim_start();
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit() || ".,eE+-".contains(c));
    let scale = match digits.chars().next() {
        Some('K') => 1e3,
        Some('M') => 1e6,
        Some('G' | 'B') => 1e9,
        Some('T') => 1e12,
        _ => 1.0,
    };
    leading(rest).map(|number| number * scale).filter(|number| number.is_finite())
}

/// The median; `None` without values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| railwright_spec::median(&mut values.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_logs_write_them() {
        assert_eq!(after("tps: 7,012  tflops: 401.5", "tps:"), Some(7012.0));
        assert_eq!(after("lm loss: 1.069056E+01 |", "lm loss:"), Some(10.69056));
        assert_eq!(after("time: nan", "time:"), None);
        assert_eq!(scaled_after("ms: 11.5K | a", "ms:"), Some(11_500.0));
        assert_eq!(scaled_after("ms: 272 | K", "ms:"), Some(272.0));
        assert_eq!(scaled_after("ms: K", "ms:"), None);
        assert_eq!(scaled_after("ms: 1e307K", "ms:"), None);
        assert_eq!(median(&[3.0, 1.0, 2.0, 10.0]), Some(2.5));
    }
}
