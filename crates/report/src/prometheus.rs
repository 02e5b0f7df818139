//! Metrics in the text exposition format of Prometheus, version 0.0.4
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
//!
//! Responsible for: names, help, labels and their escapes. Commands choose the metrics.

use std::fmt::Write as _;

/// One gauge with its samples.
pub struct Metric {
    /// Name that ends in the unit: `railwright_log_step_time_seconds`.
    pub name: &'static str,
    /// Help in one sentence.
    pub help: &'static str,
    /// Labels with their values, and the value of the sample.
    pub samples: Vec<(Vec<(&'static str, String)>, f64)>,
}

impl Metric {
    /// Gauge with one sample; without samples if the value is unknown.
    pub fn one(
        name: &'static str,
        help: &'static str,
        labels: &[(&'static str, String)],
        value: Option<f64>,
    ) -> Self {
        Self { name, help, samples: value.map(|value| (labels.to_vec(), value)).into_iter().collect() }
    }
}

/// Renders the metrics, without those that have no samples.
pub fn render(metrics: &[Metric]) -> String {
    let mut text = String::new();
    for metric in metrics.iter().filter(|metric| !metric.samples.is_empty()) {
        // Writing to a String is infallible.
        let _ = writeln!(text, "# HELP {} {}", metric.name, escaped(metric.help, false));
        let _ = writeln!(text, "# TYPE {} gauge", metric.name);
        for (labels, value) in &metric.samples {
            let labels: Vec<String> =
                labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value, true))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            let _ = writeln!(text, "{}{labels} {}", metric.name, number(*value));
        }
    }
    text
}

/// Escapes backslashes and line breaks, and quotes in labels.
fn escaped(text: &str, is_label: bool) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n");
    let text = crate::clean::line(&text).into_owned();
    if is_label { text.replace('"', "\\\"") } else { text }
}

/// Formats a number for Go's `ParseFloat`.
fn number(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "+Inf".to_owned() } else { "-Inf".to_owned() }
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_unknown_values_left_out() {
        let labels = [("file", "a\\b\"c\nd".to_owned())];
        let metrics = [
            Metric::one("x_seconds", "Time.", &labels, Some(1.5)),
            Metric::one("y_ratio", "Unknown.", &labels, None),
            Metric::one("z_ratio", "Not a number.", &[], Some(f64::NAN)),
        ];
        assert_eq!(
            render(&metrics),
            "# HELP x_seconds Time.\n# TYPE x_seconds gauge\nx_seconds{file=\"a\\\\b\\\"c\\nd\"} 1.5\n\
             # HELP z_ratio Not a number.\n# TYPE z_ratio gauge\nz_ratio NaN\n"
        );
    }
}
