//! Number formats of saved configurations.
//!
//! Responsible for: formats as words, where a configuration has objects.

use crate::document::{Data, Document};
use std::collections::BTreeSet;

/// Saved configurations write number formats as objects, `{_target_: torch.bfloat16, _call_: false}`: those
/// are that word.
pub(super) fn number_formats(document: &mut Document) {
    let is_format = |data: &Data| {
        matches!(data, Data::Text(text) if text.strip_prefix("torch.").is_some_and(|name| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        }))
    };
    let tables: BTreeSet<String> = document
        .entries
        .iter()
        .filter(|entry| is_format(&entry.data))
        .filter_map(|entry| entry.path.strip_suffix("._target_").map(str::to_owned))
        .collect();
    document
        .entries
        .retain(|entry| entry.path.strip_suffix("._call_").is_none_or(|table| !tables.contains(table)));
    for entry in &mut document.entries {
        if let Some(table) = entry.path.strip_suffix("._target_").filter(|table| tables.contains(*table)) {
            entry.path = table.to_owned();
            entry.name.clone_from(&entry.path);
        }
    }
}
