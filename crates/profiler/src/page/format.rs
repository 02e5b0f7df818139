//! Figures and colours of the page of a report.
//!
//! Responsible for: times, shares and the classes of colours. Excludes the layout of the page.

use crate::waterfall::Group;
use railwright_spec::human;
use railwright_spec::quantity::Seconds;

/// Formats a time in nanoseconds.
pub(super) fn time(nanoseconds: f64) -> String {
    human::seconds(Seconds::new(nanoseconds * 1e-9))
}

/// Formats a share (0 to 1).
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// CSS class of a line's colour on the first page.
pub(crate) const fn class(group: Group) -> &'static str {
    match group {
        Group::Ideal => "ideal",
        Group::Compute => "compute",
        Group::Communication => "communication",
        Group::Copy => "copy",
        Group::Bubble => "bubble",
        Group::Host => "host",
        Group::Other => "rest",
    }
}
