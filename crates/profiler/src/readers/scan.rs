//! Tokens of JSON in the variants of trace writers.
//!
//! Responsible for: ends of strings, bare words and nested values, at memory speed, without allocation.
//! Accepts some invalid JSON: raw control characters in strings, `NaN`, `Infinity`, an extra comma. Rejects
//! input that makes the rest ambiguous: a string that is not followed by a separator (a quote within a name).

/// Reason why a token could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The bytes end before the token.
    Incomplete,
    /// The bytes are not JSON from here on.
    Bad {
        /// Place.
        at: usize,
        /// Reason, as a lowercase fragment.
        why: &'static str,
    },
}

/// Content of a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text<'a> {
    /// Bytes between the quotes, as written.
    pub(crate) bytes: &'a [u8],
    /// True if the text contains a backslash.
    pub(crate) escaped: bool,
}

/// Position and value of the next byte that is not blank.
pub(crate) fn next(bytes: &[u8], mut at: usize) -> Result<(usize, u8), Stop> {
    while let Some(&byte) = bytes.get(at) {
        if byte > b' ' {
            return Ok((at, byte));
        }
        at += 1;
    }
    Err(Stop::Incomplete)
}

/// Reads the string whose opening quote is before `at`. Returns it with the position after its closing quote.
pub(crate) fn text(bytes: &[u8], at: usize) -> Result<(Text<'_>, usize), Stop> {
    let mut escaped = false;
    let mut from = at;
    // Most strings are short, so a plain loop is faster than setting up a search.
    let near = bytes.len().min(at + 24);
    loop {
        let here = bytes.get(from..near).and_then(|s| s.iter().position(|&b| b == b'"' || b == b'\\'));
        let found = if let Some(place) = here {
            from + place
        } else {
            let far = from.max(near);
            let rest = bytes.get(far..).ok_or(Stop::Incomplete)?;
            far + memchr::memchr2(b'"', b'\\', rest).ok_or(Stop::Incomplete)?
        };
        if bytes[found] == b'"' {
            return Ok((Text { bytes: &bytes[at..found], escaped }, found + 1));
        }
        escaped = true;
        from = found + 2;
    }
}

/// Position after a bare word (number, `true`, `NaN`, ...) that begins at `at`.
pub(crate) fn word(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    let rest = bytes.get(at..).ok_or(Stop::Incomplete)?;
    let length = rest
        .iter()
        .position(|&b| b <= b' ' || matches!(b, b',' | b'}' | b']' | b'"' | b'{' | b'[' | b':'))
        .ok_or(Stop::Incomplete)?;
    if length == 0 { Err(Stop::Bad { at, why: "a value is missing" }) } else { Ok(at + length) }
}

/// Position after a value of any kind that begins at `at`. Only the brackets of nested values are matched.
pub(crate) fn skip(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    match bytes.get(at) {
        None => Err(Stop::Incomplete),
        Some(b'"') => Ok(text(bytes, at + 1)?.1),
        Some(b'{' | b'[') => skip_nested(bytes, at),
        Some(_) => word(bytes, at),
    }
}

/// Bytes at which skipping must stop.
const MARKS: [bool; 256] = {
    let mut marks = [false; 256];
    let all = b"\"{}[]";
    let mut at = 0;
    while at < all.len() {
        marks[all[at] as usize] = true;
        at += 1;
    }
    marks
};

fn skip_nested(bytes: &[u8], mut at: usize) -> Result<usize, Stop> {
    let mut depth = 0u32;
    while let Some(length) = bytes.get(at..).and_then(|rest| rest.iter().position(|&b| MARKS[b as usize])) {
        at += length + 1;
        match bytes[at - 1] {
            b'"' => {
                at = text(bytes, at)?.1;
                // In nearly all cases a separator follows immediately.
                if !matches!(bytes.get(at), Some(b':' | b',')) {
                    separator(bytes, at)?;
                }
            }
            b'{' | b'[' => depth += 1,
            _ => {
                depth -= 1;
                if depth == 0 {
                    return Ok(at);
                }
            }
        }
    }
    Err(Stop::Incomplete)
}

/// Checks that a separator follows a string. Otherwise the string contained a quote, and the limits of later
/// strings are unknown.
pub(crate) fn separator(bytes: &[u8], at: usize) -> Result<(), Stop> {
    let (at, byte) = next(bytes, at)?;
    if matches!(byte, b',' | b':' | b'}' | b']') {
        return Ok(());
    }
    Err(Stop::Bad { at, why: "no separator after a string; it contains a quote" })
}

/// Decodes a string: escapes are resolved, control characters become blanks, invalid UTF-8 is replaced. The
/// flag is true if the string was repaired.
pub(crate) fn decode(text: Text<'_>) -> (String, bool) {
    let mut repaired = false;
    let quoted = [b"\"".as_slice(), text.bytes, b"\""].concat();
    let decoded = serde_json::from_slice::<String>(&quoted).unwrap_or_else(|_| {
        repaired = true;
        let lossy = String::from_utf8_lossy(text.bytes);
        let blanked: String = lossy.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        // Without control characters, escapes may be valid; a path with single backslashes is kept as
        // written.
        serde_json::from_str::<String>(&format!("\"{blanked}\"")).unwrap_or(blanked)
    });
    (decoded, repaired)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_the_first_quote_that_is_not_escaped() {
        let bytes = br#"a\"b\\", 1"#;
        let (text, end) = text(bytes, 0).unwrap_or_default();
        assert_eq!((text.bytes, text.escaped, end), (br#"a\"b\\"#.as_slice(), true, 7));
        assert_eq!(decode(text), ("a\"b\\".to_owned(), false));
        let long = format!("{}\\\"{}\"", "x".repeat(40), "y".repeat(40));
        assert_eq!(super::text(long.as_bytes(), 0).map(|(_, end)| end), Ok(83));
        assert_eq!(super::text(b"cut\\", 0), Err(Stop::Incomplete));
    }

    #[test]
    fn nested_values_are_skipped_with_the_brackets_in_their_strings() {
        let bytes = br#"{"a": "}]", "b": [1, {"c": NaN}]}, 2"#;
        assert_eq!(skip(bytes, 0), Ok(33));
        assert_eq!(skip(&bytes[..30], 0), Err(Stop::Incomplete));
    }

    #[test]
    fn a_quote_within_a_string_is_found_at_once() {
        let bytes = br#"{"a": "x"y", "b": 1}"#;
        assert!(matches!(skip(bytes, 0), Err(Stop::Bad { at: 9, .. })));
    }

    #[test]
    fn what_can_be_repaired_is() {
        let decoded = |bytes: &[u8]| decode(Text { bytes, escaped: bytes.contains(&b'\\') });
        assert_eq!(decoded(b"a\x01b\nc"), ("a b c".to_owned(), true));
        assert_eq!(decoded(b"a\xffb"), ("a\u{fffd}b".to_owned(), true));
        assert_eq!(decoded(br"C:\path\q"), (r"C:\path\q".to_owned(), true));
        assert_eq!(decoded(br"tab\tA"), ("tab\tA".to_owned(), false));
    }
}
