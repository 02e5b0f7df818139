//! Topics: what identifiers mean, written in files of headings and paragraphs that `railwright explain` and the page read.
//!
//! Responsible for: the form of such a file: groups behind `# `, topics behind `## id: title`, then paragraphs. Refuses to know any topic;
//! the crates that make up identifiers explain them.

use serde::Serialize;

/// Something that has an identifier.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Topic {
    /// Its identifier.
    pub id: String,
    /// Kind of thing it is: `warning`, `time`, `memory`, `finding`, `concept`, ...
    pub group: &'static str,
    /// A line.
    pub title: String,
    /// A paragraph.
    pub text: String,
}

/// The topics of a file, in its order.
pub fn parse(text: &'static str) -> Vec<Topic> {
    let mut all = Vec::new();
    for chunk in text.split("\n# ").skip(1) {
        let Some((group, rest)) = chunk.split_once('\n') else { continue };
        for topic in rest.split("\n## ").skip(1) {
            let Some((head, text)) = topic.split_once('\n') else { continue };
            let Some((id, title)) = head.split_once(": ") else { continue };
            all.push(Topic {
                id: id.to_owned(),
                group,
                title: title.to_owned(),
                text: text.trim_matches('\n').to_owned(),
            });
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
