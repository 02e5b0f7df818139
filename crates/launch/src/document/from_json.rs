//! JSON to a document.
//!
//! Responsible for: lines, which the JSON library does not provide: keys are searched in the text in the
//! order of reading. A repeated key in one object is an error.

use super::{DEEPEST, Data, Document, MOST_VALUES, Node, Spot, check_length};
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::cell::Cell;

/// Reads JSON.
pub(crate) fn json(text: &str, file: &str) -> Result<Document, Problem> {
    check_length(text, file)?;
    let cursor = Cursor { text, offset: Cell::new(0), line: Cell::new(1), values: Cell::new(0) };
    let mut reader = serde_json::Deserializer::from_str(text);
    let root = Seed { cursor: &cursor, depth: 0 }.deserialize(&mut reader);
    root.and_then(|root| reader.end().map(|()| root)).map(Document::new).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
        let offset = text
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1))
            .map(str::len)
            .sum::<usize>()
            .saturating_add(error.column().saturating_sub(1));
        let problem = match placeholder(text, offset) {
            Some(word) => Problem::new(format!("`{word}` is not JSON, but a name that a script replaces"))
                .hint("pass the script, or the file that it writes"),
            None => Problem::new(message),
        };
        problem.in_file(file).at_offset(text, offset)
    })
}

/// A name in place of a value, as in templates: `"train_batch_size": GBSIZE`.
fn placeholder(text: &str, offset: usize) -> Option<&str> {
    let rest = text.get(offset..)?;
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let word = rest.get(..end).filter(|word| word.len() > 1)?;
    word.starts_with(|c: char| c.is_ascii_uppercase()).then_some(word)
}

/// Position of the parser in the text.
struct Cursor<'a> {
    text: &'a str,
    offset: Cell<usize>,
    line: Cell<usize>,
    values: Cell<usize>,
}

impl Cursor<'_> {
    /// Finds the next occurrence of a key: its name in quotes, then a colon. Inside a string, quotes are
    /// escaped, so the match is unique. A key written with escapes is not found, and later lines are
    /// unknown.
    fn key(&self, name: &str) -> Spot {
        let quoted = format!("\"{name}\"");
        let mut from = self.offset.get();
        while let Some(found) = self.text.get(from..).and_then(|rest| rest.find(&quoted)) {
            let at = from + found;
            let behind = at + quoted.len();
            if self.text[behind..].trim_start().starts_with(':') {
                let line = self.line.get() + self.text[self.offset.get()..at].matches('\n').count();
                let start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
                self.offset.set(behind);
                self.line.set(line);
                return Spot { line, column: self.text[start..at].chars().count() + 1 };
            }
            from = behind;
        }
        self.offset.set(self.text.len());
        Spot::default()
    }
}

struct Seed<'c, 'a> {
    cursor: &'c Cursor<'a>,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        self.cursor.values.set(self.cursor.values.get() + 1);
        if self.depth > DEEPEST || self.cursor.values.get() > MOST_VALUES {
            return Err(D::Error::custom("too many values or nesting levels"));
        }
        let data = deserializer.deserialize_any(self)?;
        Ok(Node { data, spot: Spot::default() })
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_> {
    type Value = Data;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Data, E> {
        Ok(Data::Flag(flag))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Data, E> {
        Ok(Data::Integer(n))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Data, E> {
        Ok(i64::try_from(n).map_or(Data::Number(n as f64), Data::Integer))
    }

    fn visit_f64<E>(self, x: f64) -> Result<Data, E> {
        Ok(Data::Number(x))
    }

    fn visit_str<E>(self, text: &str) -> Result<Data, E> {
        Ok(Data::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Data, A::Error> {
        let mut items = Vec::new();
        while let Some(node) = list.next_element_seed(Seed { cursor: self.cursor, depth: self.depth + 1 })? {
            items.push(node);
        }
        Ok(Data::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Data, A::Error> {
        let mut pairs: Vec<(String, Node)> = Vec::new();
        let mut names = std::collections::BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            let spot = self.cursor.key(&name);
            let mut node = map.next_value_seed(Seed { cursor: self.cursor, depth: self.depth + 1 })?;
            if !names.insert(name.clone()) {
                let shown = shorten(&name);
                return Err(A::Error::custom(format!("the key `{shown}` occurs twice in one object")));
            }
            node.spot = spot;
            pairs.push((name, node));
        }
        Ok(Data::Table(pairs))
    }
}
