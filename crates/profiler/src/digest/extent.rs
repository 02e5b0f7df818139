//! Recorded time of a rank.
//!
//! Responsible for: the time that a digest covers. Excludes the steps within it.

use crate::view::View;

/// Time from the first row of host or device to the end of the last device row: steps may begin before a
/// rank's first kernel. `None` without a device.
pub(super) fn recorded(view: &View<'_>) -> Option<(i64, i64)> {
    let (start, end) = view.extent()?;
    let first = view.trace.host.starts().first().copied().unwrap_or(start);
    let last = view.gpu.ends().iter().copied().max().unwrap_or(end);
    Some((start.min(first), end.max(last)))
}
