//! Defaults of a configuration in other files, as `defaults: ../base.yaml` of NeMo-RL names them.
//!
//! Responsible for: opening these files in their order and merging their keys under those of the file itself.
//! Returns the reason if one cannot be read: the keys that it may set stay open.

use crate::Context;
use crate::context::Sources;
use crate::document::{self, Data, Document, Entry, Spot};
use crate::shell::Word;
use railwright_spec::problem::Problem;
use std::collections::BTreeSet;

/// Files in one line of inheritance at most.
const LONGEST: usize = 16;

/// Result of reading the files with defaults.
#[derive(Debug, Default)]
pub(super) struct Inherited {
    /// The files with the numbers of their lines.
    pub(super) sources: Sources,
    /// Reason why a file is missing.
    pub(super) missing: Option<String>,
}

/// Adds the keys of the files that `defaults` names, unless the document sets them.
pub(super) fn inherit(
    document: &mut Document,
    text: &str,
    file: &str,
    context: &Context<'_>,
) -> Result<Inherited, Problem> {
    let mut out = Inherited::default();
    out.sources.add(file, text);
    let mut next: Vec<(String, String)> =
        parents(document).into_iter().map(|path| (path, file.to_owned())).collect();
    let mut known: BTreeSet<String> = document.entries.iter().map(|entry| entry.path.clone()).collect();
    // The last one of a list overrides those before it.
    while let Some((path, from)) = next.pop() {
        if out.sources.count() > LONGEST {
            out.missing = Some("too many files inherit from each other".to_owned());
            break;
        }
        let (name, text) = match context.open(&path, &from) {
            Ok(opened) => opened,
            Err(why) => {
                out.missing = Some(why);
                continue;
            }
        };
        let parent = document::yaml(&text, &name)?;
        let base = out.sources.add(&name, &text);
        next.extend(parents(&parent).into_iter().map(|path| (path, name.clone())));
        let mut added = Vec::new();
        for mut entry in parent.entries {
            if entry.path.split('.').next() == Some("defaults") || is_set(&known, &entry.path) {
                continue;
            }
            if entry.spot.line > 0 {
                entry.spot.line += base - 1;
            }
            added.push(entry);
        }
        known.extend(added.iter().map(|entry| entry.path.clone()));
        document.entries.extend(added);
    }
    Ok(out)
}

/// Puts arguments `path=value` (with `+`, `++` or `~` of Hydra) over the keys of a configuration. Returns
/// those without a value in the script, with their lines.
pub(super) fn override_with(
    document: &mut Document,
    arguments: &[Word],
    sources: &mut Sources,
) -> Vec<(String, usize)> {
    let words: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let mut unset = Vec::new();
    if words.is_empty() {
        return unset;
    }
    let base = sources.add("the command line", &words.join("\n"));
    for (at, word) in arguments.iter().enumerate() {
        let is_name = |name: &str| {
            name.contains('.') && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
        };
        let plain = word.text.trim_start_matches(['+', '~', '"', '\'']);
        let (name, value) = plain.split_once('=').unwrap_or((plain, ""));
        let removes = word.text.starts_with('~');
        if !is_name(name) || !(removes || plain.contains('=')) {
            continue;
        }
        let below = format!("{name}.");
        document.entries.retain(|entry| entry.path != name && !entry.path.starts_with(&below));
        if removes {
            continue;
        }
        let line = base + at;
        let data = if word.unknown.is_empty() {
            Data::of_word(value.trim_matches(['"', '\'']))
        } else {
            unset.push((word.text.clone(), line));
            // `auto` keeps a value open, so that no default is stated for it.
            Data::Text("auto".to_owned())
        };
        document.entries.push(Entry::new(name.to_owned(), data, Spot { line, column: 0 }));
    }
    unset
}

fn parents(document: &Document) -> Vec<String> {
    match document.get("defaults").map(|entry| &entry.data) {
        Some(Data::Text(path)) => vec![path.clone()],
        Some(list @ Data::List(_)) => list.names(),
        _ => Vec::new(),
    }
}

/// Tests whether a key, a table above it or a value below it is set.
fn is_set(known: &BTreeSet<String>, path: &str) -> bool {
    let below = format!("{path}.");
    known.contains(path)
        || path.match_indices('.').any(|(at, _)| known.contains(&path[..at]))
        || known.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below))
}
