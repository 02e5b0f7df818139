//! Remarks on a launch file, for draws of public files.

use railwright_launch::{Launch, RemarkKind};

/// Tests whether a remark of a kind has a text in its message or its source.
pub(crate) fn has(launch: &Launch, kind: RemarkKind, part: &str) -> bool {
    launch.remarks_of(kind).any(|remark| remark.message.contains(part) || remark.source.contains(part))
}
