//! Variables of a script, and pieces of text with their origin.
//!
//! Responsible for: values of variables, positional parameters, and a bound on the expanded text. Does not
//! expand.

use super::{Why, Word};
use crate::shell::Unknown;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Maximum memory in bytes of expanded text in a whole script. It stops a script that doubles a variable
/// thirty times.
const MOST_TEXT: usize = 16 << 20;

/// A piece of text of one line and one kind.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) line: usize,
    pub(super) quoted: bool,
    pub(super) unknown: Option<Why>,
}

/// Memory of pieces in bytes, which the bound on expanded text counts.
pub(super) fn cost(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| piece.text.len() + size_of::<Piece>()).sum()
}

/// Appends pieces to others. The neighbours where they meet become one if they are of one kind and line, so
/// that a text that a loop appends to stays short.
pub(super) fn append(to: &mut Vec<Piece>, pieces: Vec<Piece>) {
    for piece in pieces {
        match to.last_mut() {
            Some(last)
                if last.unknown.is_none()
                    && piece.unknown.is_none()
                    && (last.line, last.quoted) == (piece.line, piece.quoted) =>
            {
                last.text.push_str(&piece.text);
            }
            _ => to.push(piece),
        }
    }
}

/// A text that is known.
pub(super) fn closed(text: &str, line: usize) -> Piece {
    Piece { text: text.to_owned(), line, quoted: false, unknown: None }
}

/// A text that is not known.
pub(super) fn open(text: &str, line: usize, why: Why) -> Piece {
    Piece { text: text.to_owned(), line, quoted: false, unknown: Some(why) }
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(Vec<Piece>),
    Array(Vec<Vec<Piece>>),
    Map(BTreeMap<String, Vec<Piece>>),
    /// Another name for a variable (`declare -n`).
    Name(String),
}

/// Variables, and the remaining budget of expanded text.
#[derive(Clone, Debug)]
pub(super) struct Variables {
    pub(super) values: BTreeMap<String, Rc<Value>>,
    /// Variables that a started script inherits.
    pub(super) exported: BTreeSet<String>,
    /// Arguments of the script or function; `None` if unknown.
    pub(super) arguments: Option<Vec<Vec<Piece>>>,
    /// The path of the script.
    pub(super) script: String,
    /// The path of the script that runs, if that is one which it sources: `$0`.
    pub(super) program: Option<String>,
    pub(super) room: usize,
    /// Names that are used but unset.
    pub(super) missed: BTreeSet<String>,
    /// True if unknown arguments are used.
    pub(super) needs_arguments: bool,
}

impl Variables {
    pub(super) fn new(script: &str) -> Self {
        Self {
            values: BTreeMap::new(),
            exported: BTreeSet::new(),
            arguments: None,
            script: script.to_owned(),
            program: None,
            room: MOST_TEXT,
            missed: BTreeSet::new(),
            needs_arguments: false,
        }
    }

    /// Subtracts a cost from the remaining budget; `false` if it is used up.
    pub(super) fn pay(&mut self, pieces: &[Piece]) -> bool {
        let cost = 8 + cost(pieces);
        let can = cost <= self.room;
        self.room = self.room.saturating_sub(cost);
        can
    }

    /// Variable of a name, through references to other names.
    pub(super) fn name<'a>(&'a self, name: &'a str) -> &'a str {
        let mut name = name;
        for _ in 0..4 {
            match self.values.get(name).map(Rc::as_ref) {
                Some(Value::Name(other)) => name = other,
                _ => break,
            }
        }
        name
    }

    pub(super) fn get(&self, name: &str) -> Option<&Rc<Value>> {
        self.values.get(self.name(name)).filter(|value| !matches!(value.as_ref(), Value::Name(_)))
    }

    /// Removes a value to append to it. A copy for a branch that still has the value costs its length.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        let name = self.name(name).to_owned();
        let old = self.values.remove(&name)?;
        let value = Rc::try_unwrap(old).unwrap_or_else(|shared| {
            let growth = match shared.as_ref() {
                Value::Text(pieces) => cost(pieces),
                Value::Array(elements) => elements.iter().map(|pieces| 8 + cost(pieces)).sum(),
                Value::Map(map) => map.values().map(|pieces| 8 + cost(pieces)).sum(),
                Value::Name(_) => 0,
            };
            self.room = self.room.saturating_sub(growth);
            shared.as_ref().clone()
        });
        (!matches!(value, Value::Name(_))).then_some(value)
    }

    pub(super) fn set(&mut self, name: &str, value: Value) {
        let name = self.name(name).to_owned();
        self.values.insert(name, Rc::new(value));
    }

    /// Sets a variable to a text that is known.
    pub(super) fn set_text(&mut self, name: &str, text: &str, line: usize) {
        self.set(name, Value::Text(vec![closed(text, line)]));
    }

    /// The whole number in a variable.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        match self.get(name)?.as_ref() {
            // Numbers are shorter; a long text is not copied for every name in an expression.
            Value::Text(pieces) if pieces.iter().map(|piece| piece.text.len()).sum::<usize>() > 4096 => None,
            Value::Text(pieces) => known(pieces)?.trim().parse().ok(),
            Value::Array(elements) => known(elements.first()?)?.trim().parse().ok(),
            Value::Map(_) | Value::Name(_) => None,
        }
    }
}

/// The text, if all of it is known.
pub(super) fn known(pieces: &[Piece]) -> Option<String> {
    pieces
        .iter()
        .map(|piece| if piece.unknown.is_none() { Some(piece.text.as_str()) } else { None })
        .collect()
}

/// Pieces as one word.
pub(super) fn word(pieces: &[Piece]) -> Word {
    let unknown = |piece: &Piece| Some(Unknown { text: piece.text.clone(), why: piece.unknown? });
    Word {
        text: pieces.iter().map(|piece| piece.text.as_str()).collect(),
        line: pieces
            .iter()
            .find(|piece| !piece.text.trim().is_empty())
            .or(pieces.first())
            .map_or(0, |piece| piece.line),
        unknown: pieces.iter().filter_map(unknown).collect(),
    }
}

/// Pieces split at spaces, ignoring quotes, as for executed text.
pub(super) fn split(pieces: &[Piece]) -> Vec<Word> {
    split_pieces(pieces).iter().map(|pieces| word(pieces)).collect()
}

/// The same as pieces.
pub(super) fn split_pieces(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    let mut fields = Fields::default();
    for piece in pieces {
        fields.push(Piece { quoted: false, ..piece.clone() });
    }
    fields.finish()
}

/// Fields under construction.
#[derive(Default)]
pub(super) struct Fields {
    done: Vec<Vec<Piece>>,
    current: Option<Vec<Piece>>,
}

impl Fields {
    pub(super) fn open(&mut self) {
        self.current.get_or_insert_default();
    }

    pub(super) fn close(&mut self) {
        self.done.extend(self.current.take());
    }

    pub(super) fn push(&mut self, piece: Piece) {
        // A piece with any number of words is a separate word.
        let is_list = matches!(piece.unknown, Some(Why::Either(_))) && piece.text.starts_with("${ ");
        if is_list && !piece.quoted {
            self.close();
            self.done.push(vec![piece]);
            return;
        }
        if piece.quoted || piece.unknown.is_some() {
            self.current.get_or_insert_default().push(piece);
            return;
        }
        let mut line = piece.line;
        let mut rest = piece.text.as_str();
        while !rest.is_empty() {
            let blank = rest.find(char::is_whitespace).unwrap_or(rest.len());
            if blank > 0 {
                let text = rest[..blank].to_owned();
                self.current.get_or_insert_default().push(closed(&text, line));
                rest = &rest[blank..];
            } else {
                self.close();
                let end = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
                line += rest[..end].matches('\n').count();
                rest = &rest[end..];
            }
        }
    }

    pub(super) fn finish(mut self) -> Vec<Vec<Piece>> {
        self.close();
        self.done
    }
}
