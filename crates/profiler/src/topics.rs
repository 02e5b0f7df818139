//! Descriptions of the profiler's identifiers.
//!
//! Responsible for: the warnings of this crate; findings have their own. Excludes identifiers of other
//! crates.

use railwright_spec::topic::{Topic, parse};

const TEXT: &str = include_str!("topics.md");

/// All topics of the profiler: warnings, then findings.
pub fn topics() -> Vec<Topic> {
    let mut all = parse(TEXT);
    all.extend(crate::findings::topics());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Identifiers after `Warning::new(`, and similar words in files that select identifiers separately.
    fn given(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                given(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source");
                let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                let words = code.split('"').skip(1).step_by(2);
                found.extend(
                    words
                        .filter(|word| {
                            word.starts_with("trace-")
                                && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
                        })
                        .map(str::to_owned),
                );
                for (at, mark) in code.match_indices("Warning::new(") {
                    let word = code[at + mark.len()..]
                        .trim_start()
                        .strip_prefix('"')
                        .and_then(|w| w.split('"').next());
                    found.extend(word.map(str::to_owned));
                }
            }
        }
    }

    #[test]
    fn every_warning_has_a_topic_and_no_other_is_explained() {
        let mut found = BTreeSet::new();
        given(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        let explained: BTreeSet<String> =
            topics().into_iter().filter(|t| t.group == "warning").map(|t| t.id).collect();
        assert_eq!(found, explained);
        assert!(found.len() >= 7);
    }
}
