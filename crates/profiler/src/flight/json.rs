//! Dumps as JSON.
//!
//! Responsible for: distinguishing a dump from other JSON, and parsing it; a damaged one by entry, so that
//! damage loses its entry and truncation the entries after it. Does not guess the content of a damaged entry.

mod whole;

use super::entries::{Content, Entries};
use crate::readers::scan;
use crate::trace::{DamageKind, ReadReport};
use serde_json::{Map, Value};

/// Tests whether bytes look like a dump in JSON.
pub fn matches(head: &[u8]) -> bool {
    let has = |needle: &[u8]| memchr::memmem::find(head, needle).is_some();
    head.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{')
        && has(b"\"entries\"")
        && (has(b"\"pg_config\"") || has(b"\"profiling_name\"") || has(b"\"collective_seq_id\""))
        && !has(b"\"traceEvents\"")
}

/// Content of a dump: all of it, or the readable part.
pub(super) fn content(bytes: &[u8]) -> Content {
    match serde_json::from_slice::<whole::Whole>(bytes) {
        Ok(whole) => whole.0,
        Err(_) => Salvage::new(bytes).run(),
    }
}

/// Maximum number of bytes between a name and its list.
const NEAR: usize = 64;

/// Members of a dump at which reading can continue after damage.
const MEMBERS: [&str; 6] =
    ["entries", "version", "pg_config", "pg_status", "nccl_comm_state", "comm_lib_version"];
/// Maximum number of bytes scanned for content after damage, in file lengths. Only a crafted file needs more.
const PATIENCE: usize = 16;

/// State of reading a damaged dump.
struct Salvage<'a> {
    bytes: &'a [u8],
    members: Map<String, Value>,
    entries: Option<Entries>,
    report: ReadReport,
    /// Remaining number of bytes that may be scanned for content after damage.
    patience: usize,
    /// Position of the next known member, if searched; the end of the file if there is none.
    ahead: Option<usize>,
}

impl<'a> Salvage<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            members: Map::new(),
            entries: None,
            report: ReadReport::default(),
            patience: bytes.len().saturating_mul(PATIENCE),
            ahead: None,
        }
    }

    fn run(mut self) -> Content {
        let mut at = scan::next(self.bytes, 0).map_or(self.bytes.len(), |(at, _)| at + 1);
        while let Some(next) = self.member(at) {
            at = next;
        }
        Content { value: Value::Object(self.members), entries: self.entries, report: self.report }
    }

    /// Notes that the file is truncated here; later content is unknown.
    fn cut(&mut self, at: usize, within: &str) {
        let lost = self.bytes.len() - at;
        self.report.note(DamageKind::Truncated, at as u64, || match lost {
            0 => format!("the file is truncated {within}"),
            1 => format!("the file is truncated {within}; its last byte was ignored"),
            _ => format!("the file is truncated {within}; its last {lost} bytes were ignored"),
        });
    }

    /// Reads one member of the outermost object. Returns the position after it, if there is more.
    fn member(&mut self, at: usize) -> Option<usize> {
        let Ok((here, byte)) = scan::next(self.bytes, at) else {
            self.cut(self.bytes.len(), "before its closing bracket");
            return None;
        };
        match byte {
            b',' => return Some(here + 1),
            b'}' => return None,
            _ => {}
        }
        let Some((key, value)) = self.key(here) else { return self.find_member(here, "a member") };
        let name = String::from_utf8_lossy(key).into_owned();
        if self.entries.is_none() {
            if key == b"entries" && self.bytes[value] == b'[' {
                // An extra bracket precedes the first entry.
                let first = self.first_entry(value).filter(|first| first - value < NEAR);
                self.entries = Some(Entries::default());
                return self.entries(first.unwrap_or(value + 1));
            }
            // A damaged name, or damage between the name and the list.
            let is_known = key != b"entries" && MEMBERS.iter().any(|name| name.as_bytes() == key);
            if let Some(first) = self.first_entry(value).filter(|first| !is_known && first - value < NEAR) {
                return self.damaged_entries(here, first);
            }
        }
        let end = scan::skip(self.bytes, value).ok();
        let read = end.and_then(|end| serde_json::from_slice(&self.bytes[value..end]).ok());
        match (end, read) {
            (Some(end), Some(read)) => {
                self.members.insert(name, read);
                Some(end)
            }
            // If brackets are damaged, the value may have swallowed the content after it.
            (Some(end), None) if self.next_member(value, end).is_none() => {
                self.report.note(DamageKind::UnreadableEvent, value as u64, || {
                    format!("`{name}` could not be read and was ignored")
                });
                Some(end)
            }
            _ => self.find_member(value, &format!("`{name}`")),
        }
    }

    /// Reads a key at a position. Returns it with the position of its value.
    fn key(&self, at: usize) -> Option<(&'a [u8], usize)> {
        if self.bytes.get(at) != Some(&b'"') {
            return None;
        }
        let (key, after) = scan::text(self.bytes, at + 1).ok()?;
        let (colon, byte) = scan::next(self.bytes, after).ok()?;
        let (value, _) = scan::next(self.bytes, colon + 1).ok()?;
        (byte == b':').then_some((key.bytes, value))
    }

    /// Position of the next known member that has not been read.
    fn next_member(&mut self, from: usize, to: usize) -> Option<usize> {
        if self.patience == 0 {
            return None;
        }
        self.patience = self.patience.saturating_sub(to.saturating_sub(from));
        let is_read =
            |name: &str| self.members.contains_key(name) || (name == "entries" && self.entries.is_some());
        let window = self.bytes.get(from..to)?;
        let places = MEMBERS.iter().filter(|name| !is_read(name)).filter_map(|name| {
            let place = from + memchr::memmem::find(window, format!("\"{name}\"").as_bytes())?;
            self.key(place).map(|_| place)
        });
        places.min()
    }

    /// Position of the next known member up to the end of the file, searched once.
    fn member_ahead(&mut self, from: usize) -> Option<usize> {
        let end = self.bytes.len();
        let known = self.ahead.filter(|&ahead| ahead >= from);
        let ahead = known.unwrap_or_else(|| self.next_member(from, end).unwrap_or(end));
        self.ahead = Some(ahead);
        (ahead < end).then_some(ahead)
    }

    /// Continues after damage at the next known member, if there is one.
    fn find_member(&mut self, at: usize, what: &str) -> Option<usize> {
        let found = self.next_member(at, self.bytes.len());
        let first = if self.entries.is_none() { self.first_entry(at) } else { None };
        // A list with a readable name is found by the name.
        if let Some(first) = first.filter(|first| found.is_none_or(|found| *first < found)) {
            return self.damaged_entries(at, first);
        }
        match found {
            Some(_) => self.report.note(DamageKind::UnreadableEvent, at as u64, || {
                format!("{what} could not be read and was ignored")
            }),
            None => self.cut(at, &format!("within {what}")),
        }
        found
    }

    /// Position of the first entry in a list whose name may be damaged.
    fn first_entry(&mut self, from: usize) -> Option<usize> {
        if self.patience == 0 {
            return None;
        }
        let window = self.bytes.get(from..)?;
        let field = memchr::memmem::find(window, b"\"collective_seq_id\"")?;
        self.patience = self.patience.saturating_sub(field);
        let Some(open) = memchr::memrchr(b'[', &window[..field]) else {
            return memchr::memchr(b'{', &window[..field]).map(|first| from + first);
        };
        let (first, byte) = scan::next(self.bytes, from + open + 1).ok()?;
        (byte == b'{').then_some(first)
    }

    /// Reads the entries from the first one on, if the content before them is damaged.
    fn damaged_entries(&mut self, at: usize, first: usize) -> Option<usize> {
        self.report.note(DamageKind::UnreadableEvent, at as u64, || {
            "the name of the entries could not be read; they were recognized by their fields".to_owned()
        });
        self.entries = Some(Entries::default());
        self.entries(first)
    }

    /// Reads the entries. Returns the position after them, if there is more.
    fn entries(&mut self, mut at: usize) -> Option<usize> {
        loop {
            let Ok((here, byte)) = scan::next(self.bytes, at) else {
                self.cut(self.bytes.len(), "before the bracket that closes its entries");
                return None;
            };
            match byte {
                b',' => at = here + 1,
                b']' => return Some(here + 1),
                b'"' => at = self.damaged(here, "no entry begins here", None)?,
                _ => match self.value(here) {
                    Ok((value, end)) => {
                        self.report.events += 1;
                        self.entries.get_or_insert_default().take(&value);
                        at = end;
                    }
                    Err((why, end)) => at = self.damaged(here, &why, end)?,
                },
            }
        }
    }

    /// Reads a value. Returns it with the position after it, or the reason of a failure with the apparent end
    /// of the value.
    fn value(&mut self, at: usize) -> Result<(Value, usize), (String, Option<usize>)> {
        match scan::skip(self.bytes, at) {
            Ok(end) => {
                self.patience = self.patience.saturating_sub(end - at);
                match serde_json::from_slice(&self.bytes[at..end]) {
                    Ok(value) => Ok((value, end)),
                    Err(error) => Err((error.to_string(), Some(end))),
                }
            }
            Err(scan::Stop::Incomplete) => {
                self.patience = self.patience.saturating_sub(self.bytes.len() - at);
                Err(("it does not end".to_owned(), None))
            }
            Err(scan::Stop::Bad { at: place, why }) => {
                self.patience = self.patience.saturating_sub(place.saturating_sub(at));
                Err((why.to_owned(), None))
            }
        }
    }

    /// Notes a damaged entry and returns the position at which reading continues, if any.
    fn damaged(&mut self, at: usize, why: &str, end: Option<usize>) -> Option<usize> {
        let entry = self.next_entry(at + 1, end.unwrap_or(self.bytes.len()));
        let member = self.member_ahead(at);
        let next = match (entry.or(end), member) {
            (None, None) => {
                self.cut(at, "within an entry");
                return None;
            }
            // The apparent entry extends past the end of the list of entries.
            (Some(next), Some(member)) => next.min(member),
            (Some(next), None) | (None, Some(next)) => next,
        };
        self.report.events += 1;
        self.report.note(DamageKind::UnreadableEvent, at as u64, || format!("an entry: {why}"));
        if Some(next) == member {
            return self.after_entries(next);
        }
        Some(next)
    }

    /// Continues after entries whose closing bracket is missing.
    fn after_entries(&mut self, mut at: usize) -> Option<usize> {
        while let Some(next) = self.member(at) {
            at = next;
        }
        None
    }

    /// Position of the next readable entry.
    fn next_entry(&mut self, mut at: usize, to: usize) -> Option<usize> {
        while self.patience > 0 {
            at += memchr::memchr(b'{', self.bytes.get(at..to)?)?;
            if self.value(at).is_ok_and(|(value, _)| super::entry::is_entry(&value)) {
                return Some(at);
            }
            at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dump with the texts of three entries.
    fn dump(entries: [&str; 3]) -> Vec<u8> {
        let [a, b, c] = entries;
        let text = format!(
            r#"{{"comm_lib_version": "", "entries": [{a}, {b}, {c}], "pg_config": {{"0": {{"ranks": "[0, 1]"}}}}, "version": "2.10"}}"#
        );
        text.into_bytes()
    }

    fn entry(record: u64) -> String {
        format!(
            r#"{{"collective_seq_id": {record}, "frames": [{{"name": "f", "line": 3}}], "record_id": {record}, "state": "completed"}}"#
        )
    }

    fn records(content: &Content) -> Vec<u64> {
        content.entries.iter().flat_map(|entries| &entries.read).map(|entry| entry.record).collect()
    }

    #[test]
    fn a_damaged_entry_costs_itself() {
        let [a, b, c] = [entry(0), entry(1), entry(2)];
        for damage in [
            b.replace("completed", "comp\\qleted"),
            b.replace("completed", "comp\u{1}leted"),
            b.replace("\"line\": 3", "\"line\": NaN"),
            b.replace("\"state\"", "\"sta\"te\""),
            b.replace("\"state\"", "state\""),
            b.replace("}]", "]"),
            b.replace("[{", "{{"),
            b.replace("\"state\": ", "\"state\""),
        ] {
            let content = content(&dump([&a, &damage, &c]));
            assert_eq!(records(&content), [0, 2], "{damage}");
            assert_eq!(content.report.count(DamageKind::UnreadableEvent), 1, "{damage}");
            assert_eq!(content.report.count(DamageKind::Truncated), 0, "{damage}");
            assert_eq!(content.report.events, 3);
            assert_eq!(content.value["version"], "2.10", "{damage}");
            assert_eq!(content.report.damages[0].places[0].0 as usize, 37 + a.len() + 2, "{damage}");
        }
    }

    #[test]
    fn two_damaged_entries_are_two_and_the_last_one_hides_nothing_after_it() {
        let [a, b] = [entry(0), entry(1)];
        let nan = b.replace('3', "NaN");
        let read = content(&dump([&nan, &nan, &a]));
        assert_eq!((records(&read), read.report.count(DamageKind::UnreadableEvent)), (vec![0], 2));
        for last in [b.replace("\"state\"", "state\""), b.replace("}]", "]"), b.replace("[{", "[[{")] {
            let read = content(&dump([&a, &b, &last]));
            assert_eq!(records(&read), [0, 1], "{last}");
            assert_eq!(read.value["pg_config"]["0"]["ranks"], "[0, 1]", "{last}");
        }
    }

    #[test]
    fn a_damaged_member_hides_no_entries() {
        let text = String::from_utf8(dump([&entry(0), &entry(1), &entry(2)])).unwrap_or_default();
        for (from, to) in [
            ("\"comm_lib_version\": \"\"", "\"comm_lib_version\": {\"x\": [}"),
            ("\"comm_lib_version\": \"\"", "comm\": 3"),
            ("\"[0, 1]\"", "NaN"),
        ] {
            let read = content(text.replace(from, to).as_bytes());
            assert_eq!(records(&read), [0, 1, 2], "{to}");
            assert_eq!(read.value["version"], "2.10", "{to}");
            assert_eq!(read.report.count(DamageKind::UnreadableEvent), 1, "{to}");
        }
    }

    #[test]
    fn a_file_made_to_be_slow_is_not() {
        for unit in ["},{\"", "{", "{\"entries\": [", "[{\"a\": "] {
            let text = format!("{{\"entries\": [{}", unit.repeat(200_000));
            let begun = content(text.as_bytes());
            assert_eq!(records(&begun), [] as [u64; 0]);
        }
    }
}
