//! Problems of inputs: message, place, hint and remedies.
//!
//! Responsible for: one error type for all outside input. Messages are lowercase fragments without a full
//! stop. Excludes output: the printer adds `error:`, `hint:` and colour.

use serde::{Deserialize, Serialize};
use std::convert::Infallible;

/// Cancellation check that long work calls periodically. An error stops the work and is its result.
pub type Wanted<'a, E = Problem> = &'a dyn Fn() -> Result<(), E>;

/// Check for work that is never cancelled.
pub const ALWAYS: Wanted<'static, Infallible> = &|| Ok(());

/// A problem of an input.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{}{message}", place.as_ref().map(|p| format!("{p}: ")).unwrap_or_default())]
pub struct Problem {
    /// Problem and cause, in a lowercase fragment.
    pub message: String,
    /// Place in the input; `None` if unknown.
    pub place: Option<Box<Place>>,
    /// Action or nearest valid name; `None` without one.
    pub hint: Option<String>,
    /// Known settings that each remove this problem; the hint contains them in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
}

/// A setting that removes a problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remedy {
    /// Dotted key of a run file.
    pub key: String,
    /// Value, as in a run file or a flag.
    pub value: String,
}

/// A place in an input.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// File, or its substitute (`--set`, `--tp`).
    pub file: String,
    /// Line from 1; `None` if unknown.
    pub line: Option<usize>,
    /// Column from 1; `None` if unknown.
    pub column: Option<usize>,
    /// Dotted key; `None` if unknown.
    pub key: Option<String>,
    /// Line of text with the problem; `None` if unknown.
    pub text: Option<String>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        if let Some(key) = &self.key {
            if self.file.is_empty() { write!(f, "`{key}`")? } else { write!(f, " `{key}`")? }
        }
        Ok(())
    }
}

impl Problem {
    /// Problem with a message only.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None, hint: None, remedies: Vec::new() }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a setting that removes the problem.
    #[must_use]
    #[allow(clippy::needless_pass_by_value)] // accepts numbers and names
    pub fn remedy(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.remedies.push(Remedy { key: key.into(), value: value.to_string() });
        self
    }

    /// True if a known setting of the key removes the problem.
    pub fn is_resolved_by(&self, key: &str) -> bool {
        self.remedies.iter().any(|remedy| remedy.key == key)
    }

    /// Sets the file, unless the place already has one.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        let place = self.place.get_or_insert_with(Box::default);
        if place.file.is_empty() {
            place.file = file.into();
        }
        self
    }

    /// Sets the dotted key.
    #[must_use]
    pub fn at_key(mut self, key: impl Into<String>) -> Self {
        self.place.get_or_insert_with(Box::default).key = Some(key.into());
        self
    }

    /// Sets the place from a byte offset of a text: line, column and the text of the line.
    #[must_use]
    pub fn at_offset(mut self, text: &str, offset: usize) -> Self {
        let offset = (0..=offset.min(text.len())).rev().find(|&o| text.is_char_boundary(o)).unwrap_or(0);
        let start = text[..offset].rfind('\n').map_or(0, |n| n + 1);
        let end = text[offset..].find('\n').map_or(text.len(), |n| offset + n);
        let place = self.place.get_or_insert_with(Box::default);
        place.line = Some(text[..offset].matches('\n').count() + 1);
        place.column = Some(text[start..offset].chars().count() + 1);
        place.text = Some(text[start..end].chars().take(200).collect());
        self
    }
}

/// Longest text in bytes that is compared with known names.
const LONGEST_NAME: usize = 256;

/// Known names nearest to a mistyped one, best first, at most three; empty if none is near.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // Names are never this long, and edit distances to a text of a megabyte would take minutes.
    if name.len() > LONGEST_NAME {
        return Vec::new();
    }
    let wanted = name.to_lowercase();
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|candidate| {
            let lower = candidate.to_lowercase();
            // One or two characters are in many names by chance.
            let contained = if wanted.len() > 2 && lower.contains(&wanted) { 0.25 } else { 0.0 };
            // A single typing error is near even in short words (Jaro similarity of `mlp` and `mpl` is low).
            let slip = wanted.len().min(lower.len()) > 2 && wanted != lower && is_slip(&wanted, &lower);
            // The same in one word of a longer name: `attentio` is near `core_attention`.
            let of_word = |word: &str| word.len() > 4 && is_slip(&wanted, word);
            // The beginning of one word: `b20` is nearer to `dgx-b200` than to `gb200-nvl72`.
            let begins =
                wanted.len() > 2 && lower.split(['_', '-', '.']).any(|word| word.starts_with(&wanted));
            let slip = if slip || begins {
                0.85
            } else if lower.split(['_', '-', '.']).any(of_word) {
                0.82
            } else {
                0.0
            };
            (strsim::jaro_winkler(&wanted, &lower).max(slip) + contained, candidate)
        })
        .filter(|(score, _)| *score > 0.8)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// Tests whether two texts are equal but for one typing error: a character more, less or changed, or two
/// neighbours exchanged. Compares in time proportional to the length, because a file may have thousands of
/// unknown names.
fn is_slip(a: &str, b: &str) -> bool {
    let start: usize = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (a, b) = (&a[start..], &b[start..]);
    let both = || a.chars().rev().zip(b.chars().rev());
    let end: usize = both().take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let mut differing = [a, b].map(|text| text[..text.len() - end].chars());
    let [a, b] = [0, 1].map(|of| [(); 3].map(|()| differing[of].next()));
    match (a, b) {
        ([_, None, _], [_, None, _]) => true,
        ([Some(p), Some(q), None], [Some(r), Some(s), None]) => (p, q) == (s, r),
        _ => false,
    }
}

/// Hint with the nearest valid names, with all names if they are few, or with `otherwise`, the command that
/// lists them.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    let near = nearest(name, known);
    if near.is_empty() {
        otherwise.to_owned()
    } else {
        let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
        format!("did you mean {}?", either(&near))
    }
}

/// Names as alternatives: `a, b or c`.
pub fn either(names: &[String]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// A doubtful setting or result that did not stop the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// Stable identifier for `railwright explain`, such as `memory-margin-small`.
    pub id: String,
    /// Warning in one sentence, with the action if there is one.
    pub message: String,
}

impl Warning {
    /// Creates a warning.
    pub fn new(id: impl Into<String>, message: impl Into<String>) -> Self {
        Self { id: id.into(), message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_becomes_line_and_column() {
        let problem = Problem::new("bad").in_file("a.toml").at_offset("one\ntwö three\n", 9);
        let place = problem.place.clone().expect("a place");
        assert_eq!((place.line, place.column, place.text.as_deref()), (Some(2), Some(5), Some("twö three")));
        assert_eq!(problem.to_string(), "a.toml:2:5: bad");
    }

    #[test]
    fn a_text_of_a_megabyte_is_no_mistyped_name() {
        let long = "x".repeat(1 << 20);
        let known: Vec<String> = (0..1000).map(|n| format!("{}{n}", "x".repeat(200))).collect();
        let begin = std::time::Instant::now();
        assert!(nearest(&long, known.iter().map(String::as_str)).is_empty());
        assert!(begin.elapsed() < std::time::Duration::from_secs(2), "{:?}", begin.elapsed());
    }

    #[test]
    fn offset_past_the_end_is_the_end() {
        assert_eq!(Problem::new("bad").at_offset("ab", 99).place.expect("place").column, Some(3));
    }

    proptest::proptest! {
        #[test]
        fn a_slip_is_an_edit_distance_of_at_most_one(a in "[abé]{0,6}", b in "[abé]{0,6}") {
            proptest::prop_assert_eq!(is_slip(&a, &b), strsim::osa_distance(&a, &b) <= 1, "{} {}", a, b);
        }
    }

    #[test]
    fn nearest_finds_a_typo_and_a_part() {
        assert_eq!(nearest("lama-3.1-405b", ["llama-3.1-405b", "gpt2"])[0], "llama-3.1-405b");
        assert!(nearest("h100", ["h100-sxm5-80gb", "tpu-v4"]).contains(&"h100-sxm5-80gb"));
        assert!(nearest("zzz", ["llama"]).is_empty());
    }
}
