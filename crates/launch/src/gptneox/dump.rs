//! GPT-NeoX's dump of its arguments, in a log.
//!
//! Responsible for: the values of ` name ......... value........updated` as keys of its configuration.
//! Arguments at their defaults are part of the dump, and are left out if no reader knows them.

use super::KNOWN;
use crate::document::{self, Data, Document, Entry, Spot};
use crate::fields::{Known, Meaning};

/// The mark after a value, which Megatron-LM does not print (`NeoXArgs.print` in
/// `megatron/neox_arguments/arguments.py`).
const MARKS: [&str; 2] = ["updated", "default"];

/// The value before its mark, and whether it was set.
pub(crate) fn value(text: &str) -> Option<(&str, bool)> {
    let mark = MARKS.iter().find(|mark| text.ends_with(**mark))?;
    let value = text.strip_suffix(mark)?;
    Some((value.trim_end_matches('.').trim(), *mark == MARKS[0]))
}

/// Tests whether the values of a dump have the marks.
pub(crate) fn is_one<'a>(values: impl Iterator<Item = &'a str>) -> bool {
    let (mut marked, mut all) = (0_usize, 0_usize);
    for text in values {
        all += 1;
        marked += usize::from(value(text).is_some());
    }
    all > 5 && marked * 2 > all
}

/// The document of a dump: `(name, value, line)`. Python writes tables and lists as in YAML in one
/// line.
pub(crate) fn document<'a>(entries: impl Iterator<Item = (&'a str, &'a str, usize)>) -> Document {
    let mut document = Document::default();
    for (name, text, line) in entries {
        let Some((text, is_set)) = value(text) else { continue };
        let is_known = KNOWN
            .iter()
            .any(|(known, meaning): &Known| *known == name && !matches!(meaning, Meaning::Ignored));
        if text.is_empty() || text == "None" || name == "config_files" || !(is_set || is_known) {
            continue;
        }
        let Ok(read) = document::yaml(&format!("{name}: {text}\n"), "") else {
            document.entries.push(Entry::new(
                name.to_owned(),
                Data::Text(text.to_owned()),
                Spot { line, column: 0 },
            ));
            continue;
        };
        document
            .entries
            .extend(read.entries.into_iter().map(|entry| Entry { spot: Spot { line, column: 0 }, ..entry }));
    }
    document
}
