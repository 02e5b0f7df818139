//! Arguments of results in columns: `timeline --format columns`, `profile --columns`, `pipeline --columns`.

use clap::{Args, ValueEnum};
use railwright_spec::problem::Problem;
use railwright_step::columns::Window;

/// Format of `timeline`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
pub(crate) enum Format {
    /// Chrome trace JSON, for ui.perfetto.dev
    Chrome,
    /// SVG image
    Svg,
    /// Columns in JSON, for the web UI
    Columns,
}

/// Part of a step in columns.
#[derive(Args, Clone, Debug, Default, serde::Deserialize)]
pub(crate) struct Cut {
    /// Part of the step to write, such as `1.2s..1.25s` (nanoseconds if no unit is given)
    #[arg(long, value_name = "FROM..TO", help_heading = "Columns")]
    pub(crate) between: Option<String>,
    /// Maximum spans per track before small neighbours are merged
    #[arg(long, value_name = "N", default_value_t = 50_000, help_heading = "Columns")]
    pub(crate) most_spans: u32,
}

impl Cut {
    /// The requested part of the step.
    pub(crate) fn window(&self) -> Result<Option<Window>, Problem> {
        railwright_commands::within("--most-spans", self.most_spans.into(), 100..=u64::MAX)?;
        let Some(text) = &self.between else { return Ok(None) };
        let bad = || {
            Problem::new(format!("`{text}` is not a time range within a step"))
                .in_file("--between")
                .hint("use two times since the start of the step, as in `120ms..180ms`")
        };
        let (from, to) = text.split_once("..").ok_or_else(bad)?;
        let (from, to) = (moment(from).ok_or_else(bad)?, moment(to).ok_or_else(bad)?);
        if from >= to {
            return Err(bad());
        }
        Ok(Some(Window { from, to }))
    }
}

/// Nanoseconds of a moment with or without a unit.
fn moment(text: &str) -> Option<i64> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let scale = match &text[at..] {
        "" | "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let value = text[..at].trim().parse::<f64>().ok()? * scale;
    (value.is_finite() && (0.0..=9e18).contains(&value)).then_some(value.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_step_have_units_or_are_nanoseconds() {
        let window = |text: &str| {
            let cut = Cut { between: Some(text.to_owned()), most_spans: 100 };
            cut.window().map(|window| window.map(|w| (w.from, w.to))).map_err(|problem| problem.to_string())
        };
        assert_eq!(window("1.2ms..2s"), Ok(Some((1_200_000, 2_000_000_000))));
        assert_eq!(window("10..20"), Ok(Some((10, 20))));
        for bad in ["10", "20..10", "a..b", "1h..2h", "..", "-5..5", "nan..1"] {
            assert!(window(bad).is_err(), "{bad}");
        }
    }
}
