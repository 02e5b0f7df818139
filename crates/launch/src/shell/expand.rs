//! Expansion: from the parts of a word to fields of known and unknown pieces.
//!
//! Responsible for: parts of words, splitting of unquoted text, arithmetic, and assignment to variables.
//! Excludes operations on parameters (`parameter`) and commands inside words (`substitute`).

use super::lex::{Part, parts_of};
use super::values::{Fields, Piece, Value, Variables, append, closed, known, open, word};
use super::{Why, Word, arithmetic};
use std::rc::Rc;

/// Maximum nesting of defaults.
pub(super) const DEEPEST: usize = 16;

impl arithmetic::Names for Variables {
    fn value(&self, name: &str) -> Option<i64> {
        self.number(name)
    }

    fn assign(&mut self, name: &str, value: Option<i64>) {
        let piece = match value {
            Some(value) => closed(&value.to_string(), 0),
            None => open(&format!("${{{name}}}"), 0, Why::Undecidable),
        };
        self.set(name, Value::Text(vec![piece]));
    }
}

impl Variables {
    /// The fields of a word: split at spaces outside quotes, an array in quotes making one field for each
    /// element.
    pub(super) fn fields(&mut self, parts: &[Part]) -> Vec<Vec<Piece>> {
        let mut fields = Fields::default();
        for part in parts {
            if let Part::Parameter { inner, quoted: true, line } = part
                && let Some(elements) = self.elements(inner, *line)
            {
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        fields.close();
                    }
                    if !self.pay(element) {
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

    /// The elements of `"$@"` and `"${NAME[@]}"`, which stay separate in quotes.
    fn elements(&mut self, inner: &str, line: usize) -> Option<Vec<Vec<Piece>>> {
        if inner == "@" {
            self.needs_arguments |= self.arguments.is_none();
            let requote =
                |element: &Vec<Piece>| element.iter().map(|p| Piece { line, ..p.clone() }).collect();
            return Some(self.arguments.iter().flatten().map(requote).collect());
        }
        let (name, from) = match inner.split_once("[@]")? {
            (name, "") => (name, 0),
            (name, rest) => (name, rest.strip_prefix(':')?.trim().parse().ok()?),
        };
        match self.get(name)?.as_ref() {
            Value::Array(elements) => Some(elements.iter().skip(from).cloned().collect()),
            Value::Map(map) if from == 0 => Some(map.values().cloned().collect()),
            _ => None,
        }
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

    pub(super) fn pieces(&mut self, part: &Part, depth: usize) -> Vec<Piece> {
        if self.room == 0 {
            return Vec::new();
        }
        let pieces = match part {
            Part::Text { text, quoted, line } => {
                vec![Piece { text: text.clone(), line: *line, quoted: *quoted, unknown: None }]
            }
            Part::Parameter { inner, quoted, line } => self.parameter(inner, *quoted, *line, depth),
            Part::Arithmetic { inner, line } => match self.evaluate(inner, *line, depth) {
                Ok(value) => vec![Piece { quoted: true, ..closed(&value.to_string(), *line) }],
                Err(why) => vec![open(&format!("$(({inner}))"), *line, why)],
            },
            Part::Command { inner, line } => match self.substitute(inner, *line, depth) {
                Ok(pieces) => pieces,
                Err(why) => vec![open(&format!("$({inner})"), *line, why)],
            },
            Part::Process { inner, line } => vec![open(&format!("<({inner})"), *line, Why::Undecidable)],
            Part::Array(elements) => elements.iter().flat_map(|element| self.text(element)).collect(),
        };
        if self.pay(&pieces) { pieces } else { Vec::new() }
    }

    /// The value of an arithmetic expression, or the reason why it has none.
    pub(super) fn evaluate(&mut self, text: &str, line: usize, depth: usize) -> Result<i64, Why> {
        if depth >= DEEPEST {
            return Err(Why::Undecidable);
        }
        let mut pieces = Vec::new();
        for part in parts_of(text, true, line) {
            pieces.extend(self.pieces(&part, depth + 1));
        }
        let why = pieces.iter().find_map(|piece| piece.unknown);
        let Some(text) = known(&pieces) else { return Err(why.unwrap_or(Why::Undecidable)) };
        // An unset variable counts as 0 to the shell; here it has no value, as its owner will set it.
        arithmetic::evaluate(&text, self).ok_or_else(|| self.why_not(&text))
    }

    /// Reason why an expression has no value: that of the first name without one.
    fn why_not(&self, text: &str) -> Why {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        text.split(|c| !is_name(c))
            .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
            .find_map(|name| match self.get(name).map(Rc::as_ref) {
                Some(Value::Text(pieces)) => pieces.iter().find_map(|piece| piece.unknown),
                Some(_) => None,
                None => Some(Why::Unset),
            })
            .unwrap_or(Why::Undecidable)
    }

    /// Executes `NAME=value`, `NAME+=value`, `NAME[i]=value`, `NAME=(...)`. Returns the name; `None` for
    /// other words.
    pub(super) fn assign(&mut self, parts: &[Part]) -> Option<String> {
        let Some(Part::Text { text, quoted: false, line }) = parts.first() else { return None };
        let (target, rest) = text.split_once('=')?;
        let (target, appends) = target.strip_suffix('+').map_or((target, false), |target| (target, true));
        let (name, index) = match target.split_once('[') {
            Some((name, index)) => (name, Some(index.strip_suffix(']')?)),
            None => (target, None),
        };
        if !is_name(name) {
            return None;
        }
        let value = if let Some(Part::Array(elements)) = parts.get(1) {
            self.array(name, elements)
        } else {
            let mut pieces = vec![closed(rest, *line)];
            if rest.is_empty() && parts.len() > 1 {
                pieces.clear();
            }
            pieces.extend(self.text(&parts[1..]));
            Value::Text(pieces)
        };
        if let Some(index) = index {
            self.assign_element(name, index, value, *line);
            return Some(name.to_owned());
        }
        let old = if appends { self.take(name) } else { None };
        let value = match (old, value) {
            (Some(Value::Array(mut old)), Value::Array(new)) => {
                old.extend(new);
                Value::Array(old)
            }
            (Some(Value::Map(mut old)), Value::Map(new)) => {
                old.extend(new);
                Value::Map(old)
            }
            (Some(Value::Text(mut old)), Value::Text(new)) => {
                append(&mut old, new);
                Value::Text(old)
            }
            (Some(Value::Text(old)), Value::Array(mut new)) => {
                new.insert(0, old);
                Value::Array(new)
            }
            (Some(Value::Array(mut old)), Value::Text(new)) => {
                match old.first_mut() {
                    Some(first) => first.extend(new),
                    None => old.push(new),
                }
                Value::Array(old)
            }
            (_, new) => new,
        };
        self.set(name, value);
        Some(name.to_owned())
    }

    /// `(a b c)`, or `([key]=value ...)` if the variable is declared as a map.
    fn array(&mut self, name: &str, elements: &[Vec<Part>]) -> Value {
        let is_map = matches!(self.get(name).map(Rc::as_ref), Some(Value::Map(_)));
        if !is_map {
            return Value::Array(elements.iter().flat_map(|element| self.fields(element)).collect());
        }
        let mut map = std::collections::BTreeMap::new();
        for element in elements {
            let Some(Part::Text { text, quoted: false, .. }) = element.first() else { continue };
            let Some((key, rest)) = text.strip_prefix('[').and_then(|text| text.split_once("]=")) else {
                continue;
            };
            let mut pieces = if rest.is_empty() { Vec::new() } else { vec![closed(rest, 0)] };
            pieces.extend(self.text(&element[1..]));
            map.insert(key.to_owned(), pieces);
        }
        Value::Map(map)
    }

    fn assign_element(&mut self, name: &str, index: &str, value: Value, line: usize) {
        let Value::Text(pieces) = value else { return };
        let old = self.get(name).map(|value| value.as_ref().clone());
        if let Some(Value::Map(mut map)) = old {
            map.insert(index.trim_matches(['"', '\'']).to_owned(), pieces);
            self.set(name, Value::Map(map));
            return;
        }
        let mut elements = match old {
            Some(Value::Array(elements)) => elements,
            Some(Value::Text(first)) => vec![first],
            _ => Vec::new(),
        };
        match self.evaluate(index, line, 0).ok().and_then(|n| usize::try_from(n).ok()) {
            Some(at) if at < elements.len() => elements[at] = pieces,
            Some(at) if at == elements.len() && at < 10_000 => elements.push(pieces),
            _ => elements = vec![vec![open(&format!("${{{name}[@]}}"), line, Why::Undecidable)]],
        }
        for element in &elements {
            self.room = self.room.saturating_sub(8 + element.len() * 8);
        }
        self.set(name, Value::Array(elements));
    }
}

/// Tests whether a text is the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
}
