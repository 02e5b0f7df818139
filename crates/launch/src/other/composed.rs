//! Files that a configuration of Hydra is composed of.
//!
//! Responsible for: its list of defaults, `- model: small` and `- base`, with the choices of the command
//! line. A file that cannot be opened is listed. Packages and searched paths are not supported.

use crate::Context;
use crate::document::{self, Data, Document, Entry, Node, Spot};
use crate::shell::Word;
use std::path::Path;

/// Files in one list at most, and lists inside each other.
const MOST: usize = 32;
const DEEPEST: usize = 4;

/// Adds the settings of the files that `defaults` lists, unless the document or a later file sets them.
/// Returns the files that are missing, with the reason.
pub(super) fn add(
    document: &mut Document,
    arguments: &[Word],
    file: &str,
    context: &Context<'_>,
) -> Vec<(String, String)> {
    let mut missing = Vec::new();
    let Some(Data::List(items)) = document.get("defaults").map(|entry| entry.data.clone()) else {
        return missing;
    };
    let Some(parts) = parts(&items, arguments) else { return missing };
    document.entries.retain(|entry| entry.path != "defaults");
    let found = entries(&parts, file, context, DEEPEST, &mut missing);
    for entry in found {
        if !document.has(&entry.path) && document.get(&entry.path).is_none() {
            document.entries.push(entry);
        }
    }
    missing
}

/// The groups and names of a list; `None` for one of another kind.
fn parts(items: &[Node], arguments: &[Word]) -> Option<Vec<(Option<String>, String)>> {
    let chosen = |group: &str| {
        arguments.iter().find_map(|word| word.text.strip_prefix(group)?.strip_prefix('=').map(str::to_owned))
    };
    let mut parts = Vec::new();
    for item in items.iter().take(MOST) {
        match &item.data {
            Data::Text(name) if name == "_self_" => {}
            Data::Text(name) => parts.push((None, name.clone())),
            Data::Table(pairs) => {
                let [(group, value)] = pairs.as_slice() else { return None };
                let group = group.trim_start_matches("override ").trim_start_matches("optional ").to_owned();
                match (&value.data, chosen(&group)) {
                    (_, Some(name)) => parts.push((Some(group), name)),
                    (Data::Text(name), None) => parts.push((Some(group), name.clone())),
                    // `null` chooses nothing.
                    (Data::Null, None) => {}
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    Some(parts)
}

/// Settings of the files, the last first: later files override earlier ones.
fn entries(
    parts: &[(Option<String>, String)],
    file: &str,
    context: &Context<'_>,
    depth: usize,
    missing: &mut Vec<(String, String)>,
) -> Vec<Entry> {
    let mut all = Vec::new();
    for (group, name) in parts.iter().rev() {
        // Sections of Hydra itself have no settings of a run.
        if group.as_deref().is_some_and(|group| group.starts_with("hydra")) || name.contains('@') {
            continue;
        }
        let folder = group.as_deref().map(|group| format!("{group}/")).unwrap_or_default();
        let is_file = Path::new(name).extension().is_some_and(|end| end == "yaml" || end == "yml");
        let ending = if is_file { "" } else { ".yaml" };
        let path = format!("{folder}{name}{ending}");
        let read = context.open(&path, file).and_then(|(opened, text)| {
            document::yaml(&text, &opened)
                .map(|document| (opened, document))
                .map_err(|problem| problem.to_string())
        });
        let (opened, own) = match read {
            Ok(read) => read,
            Err(why) => {
                missing.push((path, why));
                continue;
            }
        };
        let prefix =
            group.as_deref().map(|group| format!("{}.", group.replace('/', "."))).unwrap_or_default();
        let inner = match own.get("defaults").map(|entry| &entry.data) {
            Some(Data::List(items)) if depth > 0 => self::parts(items, &[])
                .map(|parts| entries(&parts, &opened, context, depth - 1, missing))
                .unwrap_or_default(),
            _ => Vec::new(),
        };
        let own = own.entries.into_iter().filter(|entry| !entry.path.starts_with("defaults")).chain(inner);
        all.extend(own.map(|entry| {
            // The lines of another file would appear as lines of this one.
            let path = format!("{prefix}{}", entry.path);
            Entry { name: format!("{opened}: {}", entry.name), path, spot: Spot::default(), ..entry }
        }));
    }
    all
}
