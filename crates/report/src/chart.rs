//! Area charts as text.

use crate::Terminal;

/// Area chart of values (one per column) from 0 to `top`, `height` lines high, with `label` of the value at
/// each line.
pub fn area(
    values: &[f64],
    top: f64,
    height: usize,
    label: impl Fn(f64) -> String,
    terminal: Terminal,
) -> String {
    const PARTS: [&str; 9] =
        [" ", "\u{2581}", "\u{2582}", "\u{2583}", "\u{2584}", "\u{2585}", "\u{2586}", "\u{2587}", "\u{2588}"];
    let top = if top > 0.0 && top.is_finite() { top } else { 1.0 };
    let labels: Vec<String> =
        (0..height).map(|line| label(top * (height - line) as f64 / height as f64)).collect();
    let widest = labels.iter().map(|l| l.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for (line, label) in labels.iter().enumerate() {
        // Labels on every second line only.
        let label = if line % 2 == 0 { label.as_str() } else { "" };
        let mut row = format!("  {label:>widest$} {}", terminal.either("\u{2502}", "|"));
        let floor = (height - 1 - line) as f64 / height as f64;
        for value in values {
            let filled = ((value / top - floor) * height as f64).clamp(0.0, 1.0);
            row.push_str(if terminal.unicode {
                PARTS[(filled * 8.0).round() as usize]
            } else if filled >= 0.5 {
                "#"
            } else {
                " "
            });
        }
        out.push_str(row.trim_end());
        out.push('\n');
    }
    let axis = terminal.either("\u{2500}", "-").repeat(values.len());
    out + &format!("  {:>widest$} {}{axis}\n", "0", terminal.either("\u{2514}", "+"))
}

/// Resamples a step function of (time, value) to one value per column: the maximum of each.
pub fn columns(curve: &[(f64, f64)], start: f64, end: f64, width: usize) -> Vec<f64> {
    let mut columns = vec![0.0_f64; width];
    let scale = width as f64 / (end - start).max(f64::MIN_POSITIVE);
    for (index, &(time, value)) in curve.iter().enumerate() {
        let until = curve.get(index + 1).map_or(end, |next| next.0);
        let first = ((time - start) * scale).floor().clamp(0.0, width as f64) as usize;
        let last = ((until - start) * scale).ceil().clamp(0.0, width as f64) as usize;
        for column in columns.iter_mut().take(last.max(first + 1).min(width)).skip(first) {
            *column = column.max(value);
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_drawn_to_its_height() {
        let values = columns(&[(0.0, 1.0), (2.0, 4.0), (3.0, 2.0)], 0.0, 4.0, 4);
        assert_eq!(values, [1.0, 1.0, 4.0, 2.0]);
        let drawn = area(
            &values,
            4.0,
            4,
            |v| format!("{v}"),
            Terminal { width: 40, colour: false, unicode: false, verbose: false },
        );
        assert_eq!(drawn, "  4 |  #\n    |  #\n  2 |  ##\n    |####\n  0 +----\n");
    }
}
