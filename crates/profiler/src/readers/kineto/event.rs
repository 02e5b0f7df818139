//! One event of a trace, as slices of the file.
//!
//! Responsible for: the members of an event's object, in any order, and finding the next event after a
//! damaged one. Does not read `args`; it only locates them.

use crate::readers::scan::{self, Stop, Text};

/// An event as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Event<'a> {
    /// `ph`: `X`, `B`, `E`, `M`, `i`, `s`, `f`, `C`, ...; 0 if missing.
    pub(super) phase: u8,
    /// `cat`.
    pub(super) category: &'a [u8],
    /// `name`.
    pub(super) name: Text<'a>,
    /// `pid` without quotes.
    pub(super) process: &'a [u8],
    /// `tid` without quotes.
    pub(super) thread: &'a [u8],
    /// `ts` without quotes.
    pub(super) time: &'a [u8],
    /// `dur` without quotes.
    pub(super) duration: &'a [u8],
    /// `args` (or `attr`), an object.
    pub(super) arguments: &'a [u8],
    /// The first duplicate member.
    pub(super) twice: Option<&'static str>,
}

const MEMBERS: [&str; 8] = ["ph", "cat", "name", "pid", "tid", "ts", "dur", "args"];

/// Reads the event whose `{` is at `start`. Returns it with the position after its `}`.
pub(super) fn read(bytes: &[u8], start: usize) -> Result<(Event<'_>, usize), Stop> {
    let mut event = Event::default();
    let mut seen = 0u8;
    let mut at = start + 1;
    loop {
        let (here, byte) = scan::next(bytes, at)?;
        at = match byte {
            b'"' => here + 1,
            b',' => {
                at = here + 1;
                continue;
            }
            b'}' => return Ok((event, here + 1)),
            _ => return Err(Stop::Bad { at: here, why: "no member of an event begins here" }),
        };
        let (key, after) = scan::text(bytes, at)?;
        let (here, byte) = scan::next(bytes, after)?;
        if byte != b':' {
            return Err(Stop::Bad { at: here, why: "no `:` after the name of a member" });
        }
        let (here, byte) = scan::next(bytes, here + 1)?;
        let (value, escaped, after) = if byte == b'"' {
            let (text, after) = scan::text(bytes, here + 1)?;
            (text.bytes, text.escaped, after)
        } else {
            let after = scan::skip(bytes, here)?;
            (&bytes[here..after], false, after)
        };
        let (there, byte) = scan::next(bytes, after)?;
        if byte != b',' && byte != b'}' {
            return Err(Stop::Bad { at: there, why: "no separator after a value; it may contain a quote" });
        }
        at = there;
        let member = match key.bytes {
            b"ph" => {
                event.phase = value.first().copied().unwrap_or_default();
                0
            }
            b"cat" => {
                event.category = value;
                1
            }
            b"name" => {
                event.name = Text { bytes: value, escaped };
                2
            }
            b"pid" => {
                event.process = value;
                3
            }
            b"tid" => {
                event.thread = value;
                4
            }
            b"ts" => {
                event.time = value;
                5
            }
            b"dur" => {
                event.duration = value;
                6
            }
            b"args" | b"attr" => {
                event.arguments = value;
                7
            }
            _ => continue,
        };
        if seen & 1 << member != 0 {
            event.twice = event.twice.or(Some(MEMBERS[member]));
        }
        seen |= 1 << member;
    }
}

/// Maximum length of an event's prefix that [`resume`] needs; at least this much must be kept if more bytes
/// follow.
pub(super) const PREFIX: usize = 64;

/// Position of the next event after a damaged one: a `{` that begins with a known member of events and is not
/// the value of a member.
pub(super) fn resume(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    memchr::memchr_iter(b'{', rest).map(|at| from + at).find(|&at| {
        let owner = bytes[..at].iter().rposition(|&b| b > b' ').map(|p| bytes[p]);
        owner != Some(b':') && begins_event(&bytes[at + 1..])
    })
}

fn begins_event(bytes: &[u8]) -> bool {
    let Ok((quote, b'"')) = scan::next(bytes, 0) else { return false };
    let Ok((key, _)) = scan::text(&bytes[..bytes.len().min(quote + 16)], quote + 1) else { return false };
    matches!(
        key.bytes,
        b"ph"
            | b"name"
            | b"cat"
            | b"pid"
            | b"tid"
            | b"ts"
            | b"dur"
            | b"id"
            | b"args"
            | b"attr"
            | b"s"
            | b"bp"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_any_order_and_with_or_without_quotes() {
        let bytes = br#"{"args": {"stream": 7}, "ts": "1.5", "dur": 2, "tid": "stream 7", "pid": 0,
            "name": "a\"b", "cat": "kernel", "ph": "X", "other": [1]} ,"#;
        let (event, end) = read(bytes, 0).unwrap_or_default();
        assert_eq!(
            (event.phase, event.category, event.time, event.duration),
            (b'X', &b"kernel"[..], &b"1.5"[..], &b"2"[..])
        );
        assert_eq!(
            (event.thread, event.process, event.arguments),
            (&b"stream 7"[..], &b"0"[..], &br#"{"stream": 7}"#[..])
        );
        assert!(event.name.escaped && event.twice.is_none());
        assert_eq!(end, bytes.len() - 2);
    }

    #[test]
    fn a_member_that_comes_twice_counts_the_second_time() {
        let (event, _) = read(br#"{"ph": "X", "dur": 1, "dur": 2}"#, 0).unwrap_or_default();
        assert_eq!((event.duration, event.twice), (&b"2"[..], Some("dur")));
    }

    #[test]
    fn reading_goes_on_at_the_next_event() {
        let bytes = br#"{"ph": "X", "name": "a"b", "args": {"name": 1}}, {"ph": "X", "name": "c"}]"#;
        assert!(matches!(read(bytes, 0), Err(Stop::Bad { .. })));
        let next = resume(bytes, 1).unwrap_or_default();
        assert_eq!(read(bytes, next).map(|(e, _)| e.name.bytes), Ok(&b"c"[..]));
    }
}
