//! Environment variables in Primus's files.
//!
//! Responsible for: `${NAME:default}`, by the variables that a script exports. A variable whose value only
//! the run decides leaves its key open.

use crate::RemarkKind;
use crate::document::{self, Data, Entry};
use std::collections::BTreeMap;

/// The value of an argument that is a variable of the script without a value.
pub(super) const UNSET: &str = "a variable";

/// A remark: kind, source, line, message.
pub(super) type Remarks = Vec<(RemarkKind, String, Option<usize>, String)>;

/// `${NAME:default}` has the variable's value if the script exports it. Otherwise it has the default, with a
/// remark, alone or as part of a text. Without a default the value is open.
pub(super) fn environment(entry: &mut Entry, variables: &BTreeMap<String, String>, remarks: &mut Remarks) {
    let Data::Text(text) = &entry.data else { return };
    let source = format!("{} = {text}", entry.name);
    let line = entry.spot.line();
    let out = match value(text, variables, (&source, line), remarks, 0) {
        Some(out) if out == *text => return,
        Some(out) => out,
        None => {
            entry.data = Data::Null;
            return;
        }
    };
    entry.data = Data::of_word(&out);
}

/// Defaults within each other at most.
const DEEPEST: usize = 8;

/// A text with the defaults of its variables; `None` if one has none. A default may contain variables:
/// `${A:${B:2}}`.
fn value(
    text: &str,
    variables: &BTreeMap<String, String>,
    (source, line): (&str, Option<usize>),
    remarks: &mut Remarks,
    depth: usize,
) -> Option<String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, inside)) = rest.split_once("${") {
        // A brace that is never closed is text.
        let Some(end) = document::closing(inside).filter(|_| depth < DEEPEST) else { break };
        out.push_str(before);
        let inner = &inside[..end];
        let name = inner.split_once(':').map_or(inner, |(name, _)| name);
        if let Some(own) = variables.get(name.trim()) {
            if own == UNSET {
                return Some(UNSET.to_owned());
            }
            out.push_str(own);
            rest = &inside[end + 1..];
            continue;
        }
        let Some((name, default)) = inner.split_once(':') else {
            let message = "depends on the environment, so it stays unset".to_owned();
            remarks.push((RemarkKind::Unresolved, source.to_owned(), line, message));
            return None;
        };
        let default = value(default.trim(), variables, (source, line), remarks, depth + 1)?;
        let message = format!("the environment variable `{name}` is assumed unset: {default} applies");
        remarks.push((RemarkKind::Assumed, source.to_owned(), line, message));
        out.push_str(&default);
        rest = &inside[end + 1..];
    }
    out.push_str(rest);
    Some(out)
}
