//! Lengths of training samples, as in readers of trainers.
//!
//! Responsible for: the sequence length from the longest sample, and the remark on samples that are shorter.
//! Names of keys belong to the readers.

use crate::fields::Fields;
use crate::{Draft, RemarkKind};

/// Length at the first of some paths that the file has, with the path. `None` without one, and if it is no
/// number.
pub(crate) fn first<'a>(fields: &mut Fields<'_>, paths: &[&'a str]) -> Option<(&'a str, u64)> {
    let path = paths.iter().copied().find(|path| fields.document.get(path).is_some())?;
    Some((path, fields.count(path)?))
}

/// Sets the sequence length, and returns its path; leaves it open without one.
pub(crate) fn longest<'a>(fields: &mut Fields<'_>, found: Option<(&'a str, u64)>) -> Option<&'a str> {
    let Some((path, length)) = found else {
        unknown(&mut fields.draft);
        return None;
    };
    fields.set("plan.sequence_length", &length, path);
    Some(path)
}

/// Leaves the sequence length open.
pub(crate) fn unknown(draft: &mut Draft) {
    let why = "the file does not set the longest sample";
    draft.leave_open("plan.sequence_length", "", None, why);
}

/// Samples that are not packed are shorter than the longest that is allowed.
pub(crate) fn unpacked(draft: &mut Draft) {
    let message = "samples are not packed: all are assumed to have the maximum length, an upper bound on time and memory";
    draft.remark(RemarkKind::Assumed, "plan.sequence_length", None, message);
}
