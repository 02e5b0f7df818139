//! JSON as written by Python, with `NaN`, `Infinity` and `-Infinity`.
//!
//! Responsible for: the value of a `config.json`, and the place of the first syntax error. Python's `json`
//! module writes these three words without quotes, and configurations of state-space models contain them
//! (`"time_step_limit": [0.0, Infinity]`). Rejects everything else that is not JSON.

use crate::problem::Problem;
use serde_json::Value;
use std::borrow::Cow;

/// Unquoted words, longest first.
const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// True if a string value is one of the three words.
pub(super) fn is_word(text: &str) -> bool {
    WORDS.contains(&text)
}

/// Parses the text. The three words become strings, which readers of dimensions reject.
pub(super) fn parse(text: &str) -> Result<Value, Problem> {
    let (quoted, places) = quote(text);
    serde_json::from_str(&quoted).map_err(|error| {
        let offset = line_offset(&quoted, error.line()) + error.column().saturating_sub(1);
        // Each quoted word before the error made the text two bytes longer.
        let offset = offset - 2 * places.iter().filter(|&&place| place < offset).count().min(offset / 2);
        let cause = if error.is_eof() {
            "the JSON ends too early: the file is truncated".to_owned()
        } else {
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(cause, _)| cause);
            format!("not valid JSON: {message}")
        };
        Problem::new(cause).at_offset(text, offset)
    })
}

/// Puts the words in quotes. Returns the text and their byte offsets.
fn quote(text: &str) -> (Cow<'_, str>, Vec<usize>) {
    if !WORDS.iter().any(|word| text.contains(word)) {
        return (Cow::Borrowed(text), Vec::new());
    }
    let bytes = text.as_bytes();
    let mut quoted = String::with_capacity(text.len() + 16);
    let mut places = Vec::new();
    let (mut copied, mut at, mut inside) = (0, 0, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if inside => at += 1,
            b'"' => inside = !inside,
            b'-' | b'I' | b'N' if !inside => {
                if let Some(word) = text.get(at..).and_then(|rest| word_at(rest)) {
                    quoted.push_str(text.get(copied..at).unwrap_or_default());
                    places.push(quoted.len());
                    quoted.extend(["\"", word, "\""]);
                    copied = at + word.len();
                    at = copied - 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    quoted.push_str(text.get(copied..).unwrap_or_default());
    (Cow::Owned(quoted), places)
}

/// Word at the start of the text, unless a letter or digit continues it.
fn word_at(rest: &str) -> Option<&'static str> {
    let word = WORDS.into_iter().find(|word| rest.starts_with(word))?;
    let next = rest.as_bytes().get(word.len()).copied().unwrap_or(b' ');
    (!next.is_ascii_alphanumeric() && next != b'_').then_some(word)
}

fn line_offset(text: &str, line: usize) -> usize {
    text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_three_words_of_python_are_read_outside_strings_alone() {
        let value = parse(r#"{"a": [0.0, Infinity], "b": -Infinity, "NaN": NaN, "c": "x\" Infinity"}"#);
        let expected = json!({"a": [0.0, "Infinity"], "b": "-Infinity", "NaN": "NaN", "c": "x\" Infinity"});
        assert_eq!(value, Ok(expected));
    }

    #[test]
    fn other_words_stay_wrong_and_keep_their_place() {
        for text in ["{\"a\": Infinity8}", "{\"a\": NaNs}", "{\"a\": -inf}", "{\"a\": nan}"] {
            assert!(parse(text).is_err(), "{text}");
        }
        let problem = parse("{\"a\": NaN, \"b\": NaN, \"c\": }").expect_err("a problem");
        let place = problem.place.expect("a place");
        assert_eq!((place.line, place.column), (Some(1), Some(27)));
    }

    #[test]
    fn a_word_cut_short_or_next_to_other_letters_is_no_number() {
        assert!(parse("Infinity").is_ok() && parse("Infinit").is_err() && parse("é NaN").is_err());
    }
}
