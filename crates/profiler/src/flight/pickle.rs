//! Dumps as Python pickles.
//!
//! Responsible for: the few instructions of plain data (dictionaries, lists, tuples, texts, numbers,
//! booleans, `None`). Rejects every instruction that would import or call something: no code of a pickle is
//! ever executed. Memory is bounded by the file size: lengths beyond the available bytes are rejected, and
//! shared parts are copied only up to a limit. If reading fails, the values completed before are returned
//! (`salvage`).

mod salvage;

use super::entries::{Content, Entries};
use crate::trace::{DamageKind, ReadReport};
use railwright_spec::problem::Problem;
use serde_json::{Map, Number, Value};

/// Parts of a value, by their index in the reader's store.
#[derive(Clone, Debug)]
enum Part {
    Mark,
    Plain(Value),
    List(Vec<usize>),
    Dictionary(Vec<(usize, usize)>),
}

/// Maximum nesting depth of values.
const DEPTH: usize = 64;
/// Maximum number of parts of a value per byte of its file; shared parts count at every occurrence.
const SHARING: usize = 16;

/// Tests whether bytes look like a pickle of protocol 2 or later that begins with a dictionary.
pub fn matches(head: &[u8]) -> bool {
    match head {
        [0x80, 2..=3, rest @ ..] => rest.first() == Some(&b'}'),
        [0x80, 4..=5, 0x95, rest @ ..] => rest.get(8) == Some(&b'}'),
        _ => false,
    }
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    store: Vec<Part>,
    stack: Vec<usize>,
    memo: Vec<Option<usize>>,
    label: &'a str,
    /// Position of the current instruction.
    begun: usize,
    /// The last executed instruction.
    done: u8,
}

impl<'a> Machine<'a> {
    fn new(label: &'a str, bytes: &'a [u8]) -> Self {
        let (store, stack, memo) = (Vec::new(), Vec::new(), Vec::new());
        Self { bytes, at: 0, store, stack, memo, label, begun: 0, done: 0 }
    }

    fn problem(&self, what: &str) -> Problem {
        Problem::new(format!("{what} at byte {} of this pickle", self.at)).in_file(self.label).hint(
            "a flight-recorder dump is plain data: the file may be truncated, or another kind of pickle; JSON dumps \
             are also supported",
        )
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Problem> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let Some(end) = end else { return Err(self.problem("the file ends too early")) };
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// Reads an unsigned little-endian number of up to eight bytes.
    fn unsigned(&mut self, width: usize) -> Result<usize, Problem> {
        let value = self.take(width)?.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
        usize::try_from(value).map_err(|_| self.problem("a length is too large"))
    }

    fn push(&mut self, part: Part) {
        self.store.push(part);
        self.stack.push(self.store.len() - 1);
    }

    fn plain(&mut self, value: impl Into<Value>) {
        self.push(Part::Plain(value.into()));
    }

    fn text(&mut self, width: usize) -> Result<(), Problem> {
        let length = self.unsigned(width)?;
        let text = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.plain(text);
        Ok(())
    }

    /// Reads a little-endian number in two's complement.
    fn long(&mut self, width: usize) -> Result<(), Problem> {
        let length = self.unsigned(width)?;
        let digits = self.take(length)?;
        if digits.len() > 8 {
            return Err(self.problem("a number is too large"));
        }
        let negative = digits.last().is_some_and(|&top| top >= 0x80);
        let start = if negative { -1i64 } else { 0 };
        let value = digits.iter().rev().fold(start, |value, &byte| value << 8 | i64::from(byte));
        self.plain(value);
        Ok(())
    }

    fn pop(&mut self) -> Result<usize, Problem> {
        self.stack.pop().ok_or_else(|| self.problem("a value is missing"))
    }

    /// Removes and returns the values above the last mark. The mark is removed, too.
    fn above_mark(&mut self) -> Result<Vec<usize>, Problem> {
        let mark = self.stack.iter().rposition(|&at| matches!(self.store[at], Part::Mark));
        let Some(mark) = mark else { return Err(self.problem("a mark is missing")) };
        let above = self.stack.split_off(mark + 1);
        self.stack.pop();
        Ok(above)
    }

    fn append(&mut self, items: &[usize]) -> Result<(), Problem> {
        let at = self.stack.last().copied();
        match at.and_then(|at| self.store.get_mut(at)) {
            Some(Part::List(list)) => list.extend_from_slice(items),
            _ => return Err(self.problem("an item is added to a value that is not a list")),
        }
        Ok(())
    }

    fn set(&mut self, items: &[usize]) -> Result<(), Problem> {
        let at = self.stack.last().copied();
        match at.and_then(|at| self.store.get_mut(at)) {
            Some(Part::Dictionary(all)) => all.extend(items.chunks_exact(2).map(|pair| (pair[0], pair[1]))),
            _ => return Err(self.problem("an item is added to a value that is not a dictionary")),
        }
        Ok(())
    }

    fn remember(&mut self, place: usize) -> Result<(), Problem> {
        // A memo is never larger than the file: every index costs a byte.
        let Some(&top) = self.stack.last() else { return Err(self.problem("a value is missing")) };
        if place > self.bytes.len() {
            return Err(self.problem("a memo index is too large"));
        }
        if self.memo.len() <= place {
            self.memo.resize(place + 1, None);
        }
        self.memo[place] = Some(top);
        Ok(())
    }

    fn recall(&mut self, place: usize) -> Result<(), Problem> {
        let Some(at) = self.memo.get(place).copied().flatten() else {
            return Err(self.problem("a memo entry is empty"));
        };
        self.stack.push(at);
        Ok(())
    }

    /// Runs to the end. Returns the index of the result.
    fn run(&mut self) -> Result<usize, Problem> {
        loop {
            self.begun = self.at;
            let instruction = self.unsigned(1)? as u8;
            match instruction {
                0x80 => drop(self.take(1)?),
                0x95 => drop(self.take(8)?),
                b'.' => return self.pop(),
                b'(' => self.push(Part::Mark),
                b'}' => self.push(Part::Dictionary(Vec::new())),
                b']' | b')' => self.push(Part::List(Vec::new())),
                b'N' => self.plain(Value::Null),
                0x88 => self.plain(true),
                0x89 => self.plain(false),
                b'K' => {
                    let value = self.unsigned(1)?;
                    self.plain(value);
                }
                b'M' => {
                    let value = self.unsigned(2)?;
                    self.plain(value);
                }
                b'J' => {
                    let value = self.unsigned(4)? as u32;
                    self.plain(i64::from(value.cast_signed()));
                }
                0x8a => self.long(1)?,
                0x8b => self.long(4)?,
                b'G' => {
                    let bits = self.take(8)?.iter().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
                    self.plain(Number::from_f64(f64::from_bits(bits)).map_or(Value::Null, Value::Number));
                }
                b'X' | b'B' | b'T' => self.text(4)?,
                0x8c | b'U' | b'C' => self.text(1)?,
                0x8d | 0x8e => self.text(8)?,
                b'q' => {
                    let place = self.unsigned(1)?;
                    self.remember(place)?;
                }
                b'r' => {
                    let place = self.unsigned(4)?;
                    self.remember(place)?;
                }
                0x94 => self.remember(self.memo.len())?,
                b'h' => {
                    let place = self.unsigned(1)?;
                    self.recall(place)?;
                }
                b'j' => {
                    let place = self.unsigned(4)?;
                    self.recall(place)?;
                }
                b'a' => {
                    let item = self.pop()?;
                    self.append(&[item])?;
                }
                b'e' => {
                    let items = self.above_mark()?;
                    self.append(&items)?;
                }
                b's' => {
                    let value = self.pop()?;
                    let key = self.pop()?;
                    self.set(&[key, value])?;
                }
                b'u' => {
                    let items = self.above_mark()?;
                    self.set(&items)?;
                }
                b't' => {
                    let items = self.above_mark()?;
                    self.push(Part::List(items));
                }
                0x85..=0x87 => {
                    let count = usize::from(instruction - 0x84);
                    let Some(from) = self.stack.len().checked_sub(count) else {
                        return Err(self.problem("a value is missing"));
                    };
                    let items = self.stack.split_off(from);
                    self.push(Part::List(items));
                }
                b'0' => drop(self.pop()?),
                b'c' | 0x93 | b'R' | b'b' | b'i' | b'o' | 0x81 | 0x92 | b'P' | b'Q' | 0x82..=0x84 => {
                    return Err(self.problem("an instruction that executes code was rejected"));
                }
                _ => return Err(self.problem(&format!("instruction {instruction:#04x} is not plain data"))),
            }
            self.done = instruction;
        }
    }

    fn value(&self, at: usize, depth: usize, budget: &mut usize) -> Result<Value, Problem> {
        if depth > DEPTH || *budget == 0 {
            return Err(self.problem("values are nested or repeated beyond the limit"));
        }
        *budget -= 1;
        Ok(match &self.store[at] {
            Part::Mark => Value::Null,
            Part::Plain(Value::String(text)) => {
                // A long shared text costs budget for every copy.
                *budget = budget.saturating_sub(text.len() / 8);
                Value::String(text.clone())
            }
            Part::Plain(value) => value.clone(),
            Part::List(items) => Value::Array(
                items.iter().map(|&i| self.value(i, depth + 1, budget)).collect::<Result<_, _>>()?,
            ),
            Part::Dictionary(items) => {
                let mut map = Map::new();
                for &(key, item) in items {
                    let key = match &self.store[key] {
                        Part::Plain(Value::String(text)) => text.clone(),
                        Part::Plain(other) => other.to_string(),
                        _ => return Err(self.problem("a key is not a plain value")),
                    };
                    map.insert(key, self.value(item, depth + 1, budget)?);
                }
                Value::Object(map)
            }
        })
    }
}

/// Plain data of a pickle in the form of the file: shared parts exist once, so a value takes no more memory
/// than its file justifies.
#[derive(Debug)]
pub(crate) struct Parts {
    store: Vec<Part>,
    root: usize,
}

impl Parts {
    /// Reads a pickle to its end.
    pub(crate) fn read(label: &str, bytes: &[u8]) -> Result<Self, Problem> {
        let mut machine = Machine::new(label, bytes);
        let root = machine.run()?;
        Ok(Self { store: machine.store, root })
    }

    /// The outermost value.
    pub(crate) fn root(&self) -> usize {
        self.root
    }

    /// Index of a member of a dictionary. Of members with the same name the last one counts, as in Python.
    pub(crate) fn member(&self, at: usize, name: &str) -> Option<usize> {
        let Some(Part::Dictionary(pairs)) = self.store.get(at) else { return None };
        pairs.iter().rev().find(|pair| self.text(pair.0) == Some(name)).map(|pair| pair.1)
    }

    /// Items of a list or tuple; empty for any other part.
    pub(crate) fn items(&self, at: usize) -> &[usize] {
        match self.store.get(at) {
            Some(Part::List(items)) => items,
            _ => &[],
        }
    }

    /// The text at an index; `None` for other parts.
    pub(crate) fn text(&self, at: usize) -> Option<&str> {
        match self.store.get(at) {
            Some(Part::Plain(Value::String(text))) => Some(text),
            _ => None,
        }
    }

    /// The non-negative integer at an index; `None` for other parts.
    pub(crate) fn number(&self, at: usize) -> Option<u64> {
        match self.store.get(at) {
            Some(Part::Plain(Value::Number(number))) => number.as_u64(),
            _ => None,
        }
    }
}

/// Plain data of a pickle; for one that cannot be read to its end, the values completed before.
pub(super) fn content(label: &str, bytes: &[u8]) -> Result<Content, Problem> {
    let mut machine = Machine::new(label, bytes);
    let mut budget = bytes.len().saturating_mul(SHARING);
    let (value, problem) = match machine.run() {
        Ok(root) => {
            let mut value = machine.value(root, 0, &mut budget)?;
            drop(machine);
            let entries = Entries::out_of(&mut value);
            return Ok(Content { value, entries, report: ReadReport::default() });
        }
        Err(problem) => (machine.salvage(&mut budget)?, problem),
    };
    let mut value = value;
    // A file that is not a dump fails with the reason why it could not be read.
    if !["entries", "pg_config", "pg_status"].iter().any(|key| value.get(key).is_some()) {
        return Err(problem);
    }
    let mut report = ReadReport::default();
    let lost = bytes.len() - machine.begun;
    report.note(DamageKind::Truncated, machine.begun as u64, || match lost {
        0 => "the file is truncated".to_owned(),
        _ => format!("{}; the rest was ignored", problem.message),
    });
    let entries = Entries::out_of(&mut value);
    Ok(Content { value, entries, report })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_data_is_read() {
        // pickle.dumps({'a': [1, -2, 300, 70000, 2**40], 'b': (True, None, 1.5), 'c': {'x': 'y'}},
        // protocol=2)
        let bytes = b"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01]q\x02(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00\x8a\x06\x00\x00\x00\x00\x00\x01eX\x01\x00\x00\x00bq\x03\x88NG?\xf8\x00\x00\x00\x00\x00\x00\x87q\x04X\x01\x00\x00\x00cq\x05}q\x06X\x01\x00\x00\x00xq\x07X\x01\x00\x00\x00yq\x08su.";
        let read = content("x", bytes).expect("plain data");
        assert_eq!(
            read.value,
            json!({"a": [1, -2, 300, 70000, 1u64 << 40], "b": [true, null, 1.5], "c": {"x": "y"}})
        );
    }

    #[test]
    fn nothing_is_run() {
        // The classic attack: a call of os.system.
        let evil = b"\x80\x02}cos\nsystem\n(X\x02\x00\x00\x00idtR.";
        let problem = content("evil", evil).err().expect("code");
        assert!(
            problem.message.contains("an instruction that executes code was rejected"),
            "{}",
            problem.message
        );
    }

    #[test]
    fn lengths_are_not_believed() {
        for cut in [
            &b"\x80\x02}X\xff\xff\xff\x7fab"[..],
            b"\x80\x02}",
            b"\x80\x02}r\xff\xff\xff\xff.",
            b"\x80\x02(t",
        ] {
            assert!(content("cut", cut).is_err());
        }
    }

    #[test]
    fn a_bomb_of_shared_lists_is_refused() {
        // Thirty lists, each with the previous one twice: 2^30 parts from about 150 bytes.
        let mut bomb = b"\x80\x02]q\x00".to_vec();
        for n in 0..30u8 {
            bomb.extend([b'0', b']', b'(', b'h', n, b'h', n, b'e', b'q', n + 1]);
        }
        bomb.push(b'.');
        assert!(content("bomb", &bomb).err().expect("a bomb").message.contains("beyond the limit"));
    }
}
