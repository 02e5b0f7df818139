//! Objects of a JSON text one by one: damage loses one object, and truncation the objects after it.
//!
//! Responsible for: beginning and end of an object, by brackets and strings alone. The caller parses each
//! object on its own.

/// An object of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Object<'a> {
    /// Position of its first byte.
    pub offset: usize,
    /// Key before it, if it is the value of one.
    pub key: Option<&'a [u8]>,
    /// Bytes, including brackets.
    pub bytes: &'a [u8],
}

/// Objects at a depth of `depth` brackets, in order. Excludes a truncated one.
pub(super) fn objects(bytes: &[u8], depth: usize) -> impl Iterator<Item = Object<'_>> {
    let (mut at, mut level, mut begin, mut key) = (0, 0_usize, 0, None);
    std::iter::from_fn(move || {
        while at < bytes.len() {
            match bytes[at] {
                b'"' => {
                    let end = string_end(bytes, at);
                    if level == depth {
                        key = bytes.get(at + 1..end);
                    }
                    at = end;
                }
                open @ (b'{' | b'[') => {
                    if level == depth && open == b'{' {
                        begin = at;
                    }
                    level += 1;
                }
                close @ (b'}' | b']') => {
                    level = level.saturating_sub(1);
                    if level == depth && close == b'}' {
                        at += 1;
                        return Some(Object { offset: begin, key: key.take(), bytes: &bytes[begin..at] });
                    }
                }
                _ => {}
            }
            at += 1;
        }
        None
    })
}

/// Position of the quote that closes the string at `at`; the end of the text without one.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(end..).unwrap_or_default()) {
        end += found;
        if bytes[end] == b'"' {
            return end;
        }
        end += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_a_depth_with_their_keys_and_none_that_is_cut() {
        let text = br#"{"1": {"a": [1, {"x": "}"}]}, "2": {"b\"": 2}, "3": {"c": "#;
        let found: Vec<_> = objects(text, 1).map(|o| (o.key.unwrap_or_default(), o.bytes.len())).collect();
        assert_eq!(found, [(&b"1"[..], 22), (&b"2"[..], 10)]);
        let list = br#"[{"a": 1}, [], {"b": {}}]"#;
        assert_eq!(objects(list, 1).map(|o| o.offset).collect::<Vec<_>>(), [1, 15]);
        assert_eq!(objects(b"}}]] \"open", 1).count(), 0);
    }
}
