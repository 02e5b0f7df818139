//! Dates of software stacks in free text.
//!
//! Responsible for: the month of a container tag, a library version, a date or a year that a text names.
//! Which generation a date leads to is in `catalog/software.toml`.

use serde::Deserialize;

/// A month of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Month {
    year: u32,
    month: u32,
}

impl Month {
    fn new(year: u32, month: u32) -> Option<Self> {
        ((2018..=2040).contains(&year) && (1..=12).contains(&month)).then_some(Self { year, month })
    }
}

/// Reads `2026-01`.
impl TryFrom<String> for Month {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        calendar(&text).ok_or_else(|| format!("`{text}` is not a month such as `2026-01`"))
    }
}

/// A version of a library and the month in which it was released.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Release {
    /// Lowercase names of the library, as they stand before the version.
    of: Vec<String>,
    /// Version: two numbers.
    version: [u32; 2],
    /// Month of its release.
    month: Month,
}

/// Words before a container tag such as `26.02`; the word `container` may also follow it.
const CONTAINERS: &[&str] = &["nemo", "pytorch", "ngc", "jax", "container", "core", "megatron-core"];

/// Month of a stack: the latest one that `framework`, in lowercase, names by a container, a version of a
/// library or a date. A year without a month stands for its middle. Containers and versions in `notes` count
/// if it names none; dates there can be those of publications. `None` without any of these.
pub(super) fn dated(framework: &str, notes: &str, releases: &[Release]) -> Option<Month> {
    let latest = |words: &[&str]| {
        (0..words.len()).filter_map(|at| container(words, at).max(released(words, at, releases))).max()
    };
    let own = words(framework);
    let month = latest(&own).max(own.iter().filter_map(|word| calendar(word)).max());
    let year = || own.iter().filter_map(|word| Month::new(whole(word)?, 7)).max();
    month.or_else(year).or_else(|| latest(&words(notes)))
}

/// Words of a text: `nemo:26.06` and `core_v0.16` are two each, and so is `nemo25.04`.
fn words(text: &str) -> Vec<&str> {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '-'));
    let mut list = Vec::new();
    for word in parts.map(|word| word.trim_matches(['.', '-'])).filter(|word| !word.is_empty()) {
        let letters = word.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
        let is_name = word[..letters].chars().all(char::is_alphabetic);
        let (name, rest) = word.split_at(if is_name { letters } else { 0 });
        // A single letter is that of a version: `v0.16`.
        list.extend((name.len() > 1).then_some(name));
        list.push(rest);
    }
    list
}

/// A word that is a number without further characters.
fn whole(word: &str) -> Option<u32> {
    word.chars().all(|c| c.is_ascii_digit()).then(|| word.parse().ok()).flatten()
}

/// The first two numbers of a version, and the digits of the second: `26.02.01`, `0.16`, `26.03-maxtext`.
fn version(word: &str) -> Option<([u32; 2], usize)> {
    let (major, rest) = word.split_once('.')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some(([whole(major)?, rest[..digits].parse().ok()?], digits))
}

/// Month of a container tag, `YY.MM`.
fn container(words: &[&str], at: usize) -> Option<Month> {
    let ([year, month], digits) = version(words[at])?;
    let is_named = at > 0 && CONTAINERS.contains(&words[at - 1]) || words.get(at + 1) == Some(&"container");
    if digits == 2 && is_named { Month::new(2000 + year, month) } else { None }
}

/// Month of the newest known release of the same major version that is not newer. Another major version is
/// another scheme: `25.09` is a month.
fn released(words: &[&str], at: usize, releases: &[Release]) -> Option<Month> {
    let (version, _) = version(words[at])?;
    let name = words[at.checked_sub(1)?];
    let known = releases.iter().filter(|release| release.of.iter().any(|of| of == name));
    let is_before = |release: &&Release| release.version[0] == version[0] && release.version[1] <= version[1];
    known.filter(is_before).map(|release| release.month).max()
}

/// Month of `2026-08` or `2026-08-14`.
fn calendar(word: &str) -> Option<Month> {
    let mut parts = word.split('-').map(whole);
    Month::new(parts.next()??, parts.next()??)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn month(framework: &str, notes: &str) -> Option<String> {
        let release = |version, month: &str| Release {
            of: vec!["core".to_owned(), "megatron-core".to_owned()],
            version,
            month: Month::try_from(month.to_owned()).expect("a month"),
        };
        let releases = [release([0, 14], "2025-10"), release([0, 16], "2026-02")];
        dated(framework, notes, &releases).map(|found| format!("{}-{:02}", found.year, found.month))
    }

    #[test]
    fn containers_versions_dates_and_years_date_a_stack() {
        for (text, expected) in [
            ("nemo 26.06", "2026-06"),
            ("megatron-bridge (nemo:26.06.01)", "2026-06"),
            ("nemo (container nemo25.04.rc2)", "2025-04"),
            ("nvcr.io/nvidia/jax:26.03-maxtext-py3", "2026-03"),
            ("megatron-bridge (26.02 container)", "2026-02"),
            ("megatron-core 0.16.1 (ms-swift)", "2026-02"),
            ("megatron-lm (core_v0.15)", "2025-10"),
            ("torchtitan (main 2026-08, eager)", "2026-08"),
            ("megatron-core (2026, hybridep)", "2026-07"),
            ("torchtitan (september 2025)", "2025-07"),
            ("megatron-core 0.16 (2026)", "2026-02"),
            ("megatron-bridge/megatron-core (25.09)", "2025-09"),
            ("nemo/megatron-core 24.07", "2024-07"),
        ] {
            assert_eq!(month(text, "").as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn numbers_that_are_no_dates_date_nothing() {
        for text in [
            "megatron-lm",
            "24.75 samples",
            "pytorch 2.11",
            "llama 3.1, 2048 tokens",
            "core 0.13",
            "26.13 container",
        ] {
            assert_eq!(month(text, ""), None, "{text}");
        }
    }

    #[test]
    fn notes_date_what_the_name_of_the_stack_does_not() {
        assert_eq!(month("megatron-core (25.11)", "as in nemo 26.06").as_deref(), Some("2025-11"));
        assert_eq!(month("megatron-bridge", "report of 2026-08, nemo 26.02").as_deref(), Some("2026-02"));
        assert_eq!(month("megatron-bridge", "table of 2026"), None);
    }
}
