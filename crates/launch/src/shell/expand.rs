//! Expansion: from the parts of a word to fields of known and unknown pieces.
//!
//! Responsible for: parameters with their defaults, arrays, splitting of what is not quoted, and a bound on the text that comes of it.
//! Refuses patterns inside parameters (`${X%.*}`): their result is unknown.

use super::Word;
use super::arithmetic;
use super::lex::{Part, parts_of};
use std::collections::BTreeMap;

/// Characters that expansion makes at most, over a whole script. A script that doubles a variable thirty times ends here.
const MOST_TEXT: usize = 4 << 20;
/// Defaults inside defaults go this deep at most.
const DEEPEST: usize = 16;

/// A piece of text of one line and one kind.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) line: usize,
    pub(super) quoted: bool,
    pub(super) unknown: Option<Unknown>,
}

/// Why a piece has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// A variable that the script does not set; to a test it is empty.
    Unset,
    /// What only a run can tell.
    Undecidable,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(Vec<Piece>),
    Array(Vec<Vec<Piece>>),
}

/// Takes the cost of pieces off the room; `false` when nothing is left.
fn pay(room: &mut usize, pieces: &[Piece]) -> bool {
    let cost = 8 + pieces.iter().map(|piece| piece.text.len() + 8).sum::<usize>();
    let can = cost <= *room;
    *room = room.saturating_sub(cost);
    can
}

/// Variables, and how much text they may still make.
#[derive(Debug)]
pub(super) struct Variables {
    pub(super) values: BTreeMap<String, Value>,
    pub(super) room: usize,
}

impl Variables {
    pub(super) fn new() -> Self {
        Self { values: BTreeMap::new(), room: MOST_TEXT }
    }

    /// Takes a cost off the room; `false` when nothing is left.
    fn pay(&mut self, pieces: &[Piece]) -> bool {
        pay(&mut self.room, pieces)
    }

    /// The whole number in a variable.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        match self.values.get(name)? {
            // No number is longer; a long text is not copied for every name in an expression.
            Value::Text(pieces) if pieces.iter().map(|piece| piece.text.len()).sum::<usize>() > 4096 => None,
            Value::Text(pieces) => known(pieces)?.trim().parse().ok(),
            Value::Array(_) => None,
        }
    }

    /// The fields of a word: split at blanks outside quotes, an array in quotes making one field for each element.
    pub(super) fn fields(&mut self, parts: &[Part]) -> Vec<Vec<Piece>> {
        let mut fields = Fields::default();
        for part in parts {
            if let Part::Parameter { inner, quoted: true, .. } = part
                && let Some(name) = inner.strip_suffix("[@]")
                && let Some(Value::Array(elements)) = self.values.get(name)
            {
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        fields.close();
                    }
                    if !pay(&mut self.room, element) {
                        break;
                    }
                    fields.open();
                    for piece in element {
                        fields.push(Piece { quoted: true, ..piece.clone() });
                    }
                }
                continue;
            }
            for piece in self.pieces(part, 0) {
                fields.push(piece);
            }
        }
        fields.finish()
    }

    /// The same as words.
    pub(super) fn words(&mut self, parts: &[Part]) -> Vec<Word> {
        self.fields(parts).iter().map(|pieces| word(pieces)).collect()
    }

    /// All of a word as one text, as an assignment takes it.
    pub(super) fn text(&mut self, parts: &[Part]) -> Vec<Piece> {
        let mut out = Vec::new();
        for part in parts {
            out.extend(self.pieces(part, 0));
        }
        out
    }

    fn pieces(&mut self, part: &Part, depth: usize) -> Vec<Piece> {
        if self.room == 0 {
            return Vec::new();
        }
        let pieces = match part {
            Part::Text { text, quoted, line } => {
                vec![Piece { text: text.clone(), line: *line, quoted: *quoted, unknown: None }]
            }
            Part::Parameter { inner, quoted, line } => self.parameter(inner, *quoted, *line, depth),
            Part::Arithmetic { inner, line } => {
                match arithmetic::evaluate(inner, &|name| self.number(name)) {
                    Some(value) => {
                        vec![Piece { text: value.to_string(), line: *line, quoted: true, unknown: None }]
                    }
                    None => vec![open(&format!("$(({inner}))"), *line, Unknown::Undecidable)],
                }
            }
            Part::Command { inner, line } => {
                vec![open(&format!("$({inner})"), *line, Unknown::Undecidable)]
            }
            Part::Array(elements) => elements.iter().flat_map(|element| self.text(element)).collect(),
        };
        if self.pay(&pieces) { pieces } else { Vec::new() }
    }

    /// `NAME`, `NAME:-word`, `NAME[@]`, `#NAME[@]`, ...
    fn parameter(&mut self, inner: &str, quoted: bool, line: usize, depth: usize) -> Vec<Piece> {
        let unset = || vec![open(&format!("${{{inner}}}"), line, Unknown::Unset)];
        let undecidable = || vec![open(&format!("${{{inner}}}"), line, Unknown::Undecidable)];
        if matches!(inner, "@" | "*") {
            // What the script is called with is not in it.
            return Vec::new();
        }
        if let Some(name) = inner.strip_prefix('#') {
            let count = match self.values.get(name.trim_end_matches("[@]").trim_end_matches("[*]")) {
                Some(Value::Array(elements)) => Some(elements.len()),
                Some(Value::Text(pieces)) => known(pieces).map(|text| text.chars().count()),
                None => None,
            };
            return count.map_or_else(undecidable, |count| vec![closed(&count.to_string(), line)]);
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = inner.find(|c| !is_name(c)).unwrap_or(inner.len());
        let (name, operation) = inner.split_at(end);
        if name.is_empty() {
            return undecidable();
        }
        let value = self.values.get(name);
        let of = |value: &Value| -> Vec<Piece> {
            let requote = |piece: &Piece| Piece { quoted, ..piece.clone() };
            match value {
                Value::Text(pieces) => pieces.iter().map(requote).collect(),
                Value::Array(elements) => {
                    let blank = |index| (index > 0).then(|| Piece { quoted, ..closed(" ", line) });
                    let with_blank = |(index, element): (usize, &Vec<Piece>)| {
                        blank(index).into_iter().chain(element.iter().map(requote)).collect::<Vec<_>>()
                    };
                    elements.iter().enumerate().flat_map(with_blank).collect()
                }
            }
        };
        let first = match value {
            Some(Value::Array(elements)) => elements.first(),
            Some(Value::Text(pieces)) => Some(pieces),
            None => None,
        };
        let requoted = |pieces: &Vec<Piece>| -> Vec<Piece> {
            pieces.iter().map(|piece| Piece { quoted, ..piece.clone() }).collect()
        };
        if operation.is_empty() {
            return first.map_or_else(unset, requoted);
        }
        if matches!(operation, "[@]" | "[*]") {
            return value.map_or_else(unset, of);
        }
        if let Some(index) = operation.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let index =
                arithmetic::evaluate(index, &|name| self.number(name)).and_then(|n| usize::try_from(n).ok());
            let element = match (value, index) {
                (Some(Value::Array(elements)), Some(index)) => elements.get(index),
                _ => None,
            };
            return element.map_or_else(undecidable, requoted);
        }
        let (heeds_empty, rest) = match operation.strip_prefix(':') {
            Some(rest) => (true, rest),
            None => (false, operation),
        };
        let is_set = first.is_some_and(|pieces| {
            !heeds_empty
                || pieces.iter().any(|piece| !piece.text.is_empty() && piece.unknown != Some(Unknown::Unset))
        });
        let mut rest_chars = rest.chars();
        let sign = rest_chars.next();
        let word = rest_chars.as_str();
        match sign {
            Some('-' | '=' | '?') if is_set => first.map(requoted).unwrap_or_default(),
            Some(sign @ ('-' | '=')) if depth < DEEPEST => {
                let mut pieces = Vec::new();
                for part in parts_of(word, quoted, line) {
                    pieces.extend(self.pieces(&part, depth + 1));
                }
                if sign == '=' && self.pay(&pieces) {
                    self.values.insert(name.to_owned(), Value::Text(pieces.clone()));
                }
                pieces
            }
            Some('?') => unset(),
            Some('+') if is_set => vec![Piece { quoted, ..closed(word, line) }],
            Some('+') => Vec::new(),
            Some(',' | '^') if word.len() <= 1 => {
                let turn =
                    |text: &str| if sign == Some(',') { text.to_lowercase() } else { text.to_uppercase() };
                let turned = |piece: Piece| Piece { text: turn(&piece.text), ..piece };
                first.map_or_else(unset, |pieces| requoted(pieces).into_iter().map(turned).collect())
            }
            _ if value.is_none() => unset(),
            _ => undecidable(),
        }
    }
}

fn closed(text: &str, line: usize) -> Piece {
    Piece { text: text.to_owned(), line, quoted: false, unknown: None }
}

fn open(text: &str, line: usize, unknown: Unknown) -> Piece {
    Piece { text: text.to_owned(), line, quoted: false, unknown: Some(unknown) }
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
    Word {
        text: pieces.iter().map(|piece| piece.text.as_str()).collect(),
        line: pieces
            .iter()
            .find(|piece| !piece.text.trim().is_empty())
            .or(pieces.first())
            .map_or(0, |piece| piece.line),
        unknown: pieces
            .iter()
            .filter(|piece| piece.unknown.is_some())
            .map(|piece| piece.text.clone())
            .collect(),
    }
}

/// Pieces split at blanks, whatever was quoted: how a text becomes words when it is run.
pub(super) fn split(pieces: &[Piece]) -> Vec<Word> {
    let mut fields = Fields::default();
    for piece in pieces {
        fields.push(Piece { quoted: false, ..piece.clone() });
    }
    fields.finish().iter().map(|pieces| word(pieces)).collect()
}

/// Fields under construction.
#[derive(Default)]
struct Fields {
    done: Vec<Vec<Piece>>,
    current: Option<Vec<Piece>>,
}

impl Fields {
    fn open(&mut self) {
        self.current.get_or_insert_default();
    }

    fn close(&mut self) {
        self.done.extend(self.current.take());
    }

    fn push(&mut self, piece: Piece) {
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
                self.current.get_or_insert_default().push(Piece { text, line, quoted: false, unknown: None });
                rest = &rest[blank..];
            } else {
                self.close();
                let end = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
                line += rest[..end].matches('\n').count();
                rest = &rest[end..];
            }
        }
    }

    fn finish(mut self) -> Vec<Vec<Piece>> {
        self.close();
        self.done
    }
}
