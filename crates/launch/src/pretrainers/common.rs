//! Common parts of the readers of pretraining libraries.
//!
//! Responsible for: evidence in a text, dimensions with a library's defaults, and models that stay open.

use crate::document::{Data, Document, Entry, Spot};
use crate::fields::Fields;
use crate::shell::Word;
use crate::{RemarkKind, tokenizers};
use railwright_spec::plan::Sharding;

/// Tests whether a text has each of some keys at the start of a line.
pub(super) fn has_sections(text: &str, keys: &[&str]) -> bool {
    keys.iter()
        .all(|key| text.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'))))
}

/// Tests whether a text has a key inside a section.
pub(super) fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| {
        line.starts_with(' ') && line.trim_start().strip_prefix(key).is_some_and(|rest| rest.starts_with(':'))
    })
}

/// Leaves the model open: its layers have no counterpart. Dimensions that were set are removed.
pub(super) fn open_model(fields: &mut Fields<'_>, path: &str, why: &str) {
    let set: Vec<String> = fields
        .draft
        .origins()
        .iter()
        .map(|origin| &origin.key)
        .filter(|key| key.starts_with("model."))
        .cloned()
        .collect();
    fields.draft.take_back(&set);
    let (source, line) = fields.source(path);
    fields.draft.leave_open("model.name", &source, line, why);
    fields.remark(RemarkKind::Unresolved, path, format!("{why}: pass the model's config.json"));
}

/// Copies dimensions: a key of the file each, or the default of the library.
pub(super) fn dimensions(fields: &mut Fields<'_>, of: &str, keys: &[(&str, &str, Option<u64>)]) {
    for (path, key, usual) in keys {
        match (fields.count(path), usual) {
            (Some(n), _) => fields.set(key, &n, path),
            (None, Some(n)) => fields.default(key, n, &format!("the default of {of}")),
            (None, None) => {}
        }
    }
}

/// Rows of the vocabulary of a tokenizer with a known name; others are a remark.
pub(super) fn vocabulary(fields: &mut Fields<'_>, path: &str) {
    let name = fields.word(path);
    if let Some(rows) = name.as_deref().and_then(tokenizers::rows) {
        return fields.set("model.vocab", &rows, path);
    }
    let message = "the vocabulary depends on the tokenizer, which is not in this file: pass --vocab";
    fields.remark(RemarkKind::Unresolved, path, message);
}

/// Sharding of a stage, over all replicas or in groups.
pub(super) const fn sharding(zero_stage: u8, group: Option<u64>) -> Sharding {
    Sharding { zero_stage, group, reshard_after_forward: zero_stage == 3 }
}

/// The flags of a command as keys, `--a.b=c` or `--a.b c`. A value that the script does not determine is
/// `auto`, so that no default is stated for it.
pub(super) fn flags(words: &[Word]) -> Document {
    let mut document = Document::default();
    let mut words = words.iter().peekable();
    let is_flag = |word: &Word| {
        word.text
            .strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '-'))
    };
    while let Some(word) = words.next() {
        if !is_flag(word) {
            continue;
        }
        let flag = word.text.trim_start_matches('-');
        let (name, value, of) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned()), word),
            None => match words.next_if(|next| !is_flag(next)) {
                Some(next) => (flag, Some(next.text.clone()), next),
                None => (flag, None, word),
            },
        };
        let data = match value {
            Some(_) if !of.unknown.is_empty() => Data::Text("auto".to_owned()),
            Some(value) => Data::of_word(value.trim_matches(['"', '\''])),
            None => Data::Flag(true),
        };
        let path = name.replace('-', "_");
        document.entries.push(Entry::new(path, data, Spot { line: word.line, column: 0 }));
    }
    document
}
