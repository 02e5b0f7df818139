//! Topics: the meaning of identifiers, in files with headings and paragraphs for `railwright explain` and the
//! web UI.
//!
//! Responsible for: the format of such a file: groups after `# `, topics after `## id: title`, then
//! paragraphs. Each topic is in the crate that defines its identifier.

use serde::Serialize;

/// Explanation of an identifier.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Topic {
    /// Identifier.
    pub id: String,
    /// Group: `warning`, `time`, `memory`, `finding`, `concept`, `term`, ...
    pub group: &'static str,
    /// Title of one line.
    pub title: String,
    /// Text of one paragraph.
    pub text: String,
}

/// Tests whether two names are equal in any case, with spaces, hyphens or underscores between words.
pub fn is_same_name(one: &str, other: &str) -> bool {
    let plain = |name: &str| name.trim().to_lowercase().replace([' ', '-', '_'], "");
    plain(one) == plain(other)
}

/// Topics of a file, in its order.
pub fn parse(text: &'static str) -> Vec<Topic> {
    let mut all = Vec::new();
    for chunk in text.split("\n# ").skip(1) {
        let Some((group, rest)) = chunk.split_once('\n') else { continue };
        for topic in rest.split("\n## ").skip(1) {
            let Some((head, text)) = topic.split_once('\n') else { continue };
            let Some((id, title)) = head.split_once(": ") else { continue };
            let text = text.trim_matches('\n').to_owned();
            all.push(Topic { id: id.to_owned(), group, title: title.to_owned(), text });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_topics_are_distinguished() {
        let all = parse("intro\n# warning\n\n## a-b: A title\nText.\n\nMore.\n\n# concept\n\n## c: C\nIt.\n");
        let fields: Vec<_> =
            all.iter().map(|t| (t.group, t.id.as_str(), t.title.as_str(), t.text.as_str())).collect();
        assert_eq!(fields, [("warning", "a-b", "A title", "Text.\n\nMore."), ("concept", "c", "C", "It.")]);
    }
}
