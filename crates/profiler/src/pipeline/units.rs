//! Times and shares of the report in words.

use railwright_spec::human;
use railwright_spec::quantity::Seconds;

/// Formats a time for a sentence.
pub(super) fn time(nanoseconds: i64) -> String {
    human::seconds(Seconds::new(nanoseconds as f64 / 1e9))
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}
