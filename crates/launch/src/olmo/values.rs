//! Values of OLMo-core's recipes: names of classes and constants.
//!
//! Responsible for: the text of a value, and the last part of a dotted name. Excludes the meaning of any key.

use crate::document::Data;
use crate::fields::Fields;

/// The last name of a class or of a constant: `DataParallelType.hsdp`.
pub(super) fn last(text: &str) -> &str {
    text.rsplit('.').next().unwrap_or(text)
}

/// The whole text of a value; `None` for other values. What reports show of it may be shortened.
pub(super) fn whole(data: &Data) -> Option<&str> {
    match data {
        Data::Text(text) => Some(text),
        _ => None,
    }
}

/// The last name of a key's value, or of the class that makes it.
pub(super) fn name(fields: &mut Fields<'_>, path: &str) -> Option<String> {
    let target = format!("{path}._target_");
    let entry = fields.take(path).or_else(|| fields.take(&target))?;
    whole(&entry.data).map(|text| last(text).to_owned())
}
