//! Words that the glossary avoids, and their number in a text. Shared by the tests of texts (here) and of
//! code (`xtask`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Root of the repository, for tests of crates in `crates/NAME` and of `xtask`.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors()
        .find(|folder| folder.join("docs/glossary.md").exists())
        .expect("a glossary")
        .to_path_buf()
}

/// Words in backticks in the last column of the glossary's table, and below its last heading.
pub(crate) fn avoided() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("docs/glossary.md")).expect("a glossary");
    let (terms, loose) =
        text.split_once("## Words without a term").expect("a heading for words without a term");
    let last = |row: &str| row.trim_end_matches('|').rsplit('|').next().unwrap_or_default().to_owned();
    let columns = terms.lines().filter(|line| line.starts_with("| ")).skip(1).map(|row| last(row.trim()));
    let words: BTreeSet<String> = columns
        .chain([loose.to_owned()])
        .flat_map(|text| text.split('`').skip(1).step_by(2).map(str::to_lowercase).collect::<Vec<_>>())
        .collect();
    assert!(words.len() > 10, "{words:?}");
    words.into_iter().collect()
}

/// Text in lower case, with one space between words, without line breaks.
pub(crate) fn flat(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Occurrences of a whole word in a flat text: neither within another nor within an identifier.
pub(crate) fn count(text: &str, word: &str) -> usize {
    let within = |c: char| c.is_alphanumeric() || "-_`/.".contains(c);
    let before = |c: char| within(c) && c != '.' && c != '`';
    let after = |rest: &str| rest.chars().next().is_some_and(|c| within(c) && !".`/".contains(c));
    text.match_indices(word)
        .filter(|(at, _)| !text[..*at].ends_with(before) && !after(&text[at + word.len()..]))
        .count()
}
