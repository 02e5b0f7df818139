//! Content of `${...}`: names, positional parameters, defaults, elements of arrays, lengths, substrings and
//! replacements.
//!
//! Responsible for: one expansion at a time, and the reason if it has no value. Parameters of the running
//! shell (`$?`, `$$`, `$RANDOM`) have none.

use super::Why;
use super::expand::DEEPEST;
use super::lex::parts_of;
use super::pattern;
use super::values::{Piece, Value, Variables, closed, known, open};
use std::rc::Rc;

impl Variables {
    /// `NAME`, `NAME:-word`, `NAME[@]`, `#NAME[@]`, `NAME%.sh`, ...
    pub(super) fn parameter(&mut self, inner: &str, quoted: bool, line: usize, depth: usize) -> Vec<Piece> {
        let text = format!("${{{inner}}}");
        let no = |why| vec![Piece { quoted, ..open(&text, line, why) }];
        let requote = |pieces: &[Piece]| -> Vec<Piece> {
            pieces.iter().map(|piece| Piece { quoted, ..piece.clone() }).collect()
        };
        if let Some(name) = inner.strip_prefix('#').filter(|name| !name.is_empty()) {
            return match self.length(name) {
                Ok(length) => vec![Piece { quoted, ..closed(&length.to_string(), line) }],
                Err(why) => no(why),
            };
        }
        if inner == "#" {
            self.needs_arguments |= self.arguments.is_none();
            return match &self.arguments {
                Some(arguments) => vec![closed(&arguments.len().to_string(), line)],
                None => no(Why::Argument),
            };
        }
        if matches!(inner, "@" | "*") {
            self.needs_arguments |= self.arguments.is_none();
            let arguments = self.arguments.clone().unwrap_or_default();
            return joined(&arguments, quoted, line);
        }
        if let Some(name) = inner.strip_prefix('!') {
            return self.indirect(name, quoted, line, depth).unwrap_or_else(|| no(Why::Undecidable));
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = if inner.starts_with(|c: char| c.is_ascii_digit()) {
            inner.find(|c: char| !c.is_ascii_digit()).unwrap_or(inner.len())
        } else {
            inner.find(|c| !is_name(c)).unwrap_or(inner.len())
        };
        let (name, operation) = inner.split_at(end);
        if name.is_empty() || matches!(name, "RANDOM" | "SECONDS" | "LINENO") {
            return no(Why::Undecidable);
        }
        let absent = self.reason(name);
        let (value, operation) = match self.element(name, operation, line) {
            Ok((value, rest)) => (value, rest.to_owned()),
            Err(why) => return no(why),
        };
        if operation.is_empty() && value.is_none() {
            if absent == Why::Unset {
                self.missed.insert(name.to_owned());
            }
            return no(absent);
        }
        if let (true, Some(pieces)) = (operation.is_empty(), &value) {
            return requote(pieces);
        }
        let value = value.map(|pieces| requote(&pieces));
        self.defaulted(name, &operation, value, absent, line, quoted, depth)
            .or_else(|(value, rest)| self.turned(&value, &rest, line, depth).ok_or(()))
            .unwrap_or_else(|()| no(Why::Undecidable))
    }

    /// Reason why a name has no value.
    fn reason(&mut self, name: &str) -> Why {
        let is_argument = name.starts_with(|c: char| c.is_ascii_digit()) && name != "0";
        if is_argument && self.arguments.is_none() {
            self.needs_arguments = true;
            return Why::Argument;
        }
        Why::Unset
    }

    /// The pieces of a name and an index, and the rest of the operation.
    fn element<'a>(
        &mut self,
        name: &str,
        operation: &'a str,
        line: usize,
    ) -> Result<(Option<Vec<Piece>>, &'a str), Why> {
        if name == "0" {
            let program = self.program.clone().unwrap_or_else(|| self.script.clone());
            return Ok((Some(vec![closed(&program, line)]), operation));
        }
        if let Ok(index) = name.parse::<usize>() {
            let argument =
                self.arguments.as_ref().and_then(|arguments| arguments.get(index.saturating_sub(1)));
            return Ok((argument.cloned(), operation));
        }
        if matches!(name, "BASH_SOURCE") {
            let rest = operation.strip_prefix("[0]").or(operation.strip_prefix("[@]")).unwrap_or(operation);
            return Ok((Some(vec![closed(&self.script.clone(), line)]), rest));
        }
        if name == "PWD" && !self.values.contains_key("PWD") {
            return Ok((Some(vec![closed(".", line)]), operation));
        }
        let value = self.get(name).cloned();
        let Some(rest) = operation.strip_prefix('[') else {
            let first = match value.as_deref() {
                Some(Value::Array(elements)) => elements.first().cloned(),
                Some(Value::Text(pieces)) => Some(pieces.clone()),
                _ => None,
            };
            return Ok((first, operation));
        };
        let (index, rest) = rest.split_once(']').ok_or(Why::Undecidable)?;
        if matches!(index, "@" | "*") {
            let all = match value.as_deref() {
                Some(Value::Array(elements)) => Some(joined(elements, false, line)),
                Some(Value::Map(map)) => {
                    Some(joined(&map.values().cloned().collect::<Vec<_>>(), false, line))
                }
                Some(Value::Text(pieces)) => Some(pieces.clone()),
                _ => None,
            };
            return Ok((all, rest));
        }
        match value.as_deref() {
            Some(Value::Map(map)) => {
                let mut key = Vec::new();
                for part in parts_of(index, true, line) {
                    key.extend(self.pieces(&part, DEEPEST));
                }
                let why = key.iter().find_map(|piece| piece.unknown).unwrap_or(Why::Undecidable);
                let key = known(&key).ok_or(why)?;
                Ok((map.get(key.trim_matches(['"', '\''])).cloned(), rest))
            }
            Some(Value::Array(elements)) => {
                let index = self.evaluate(index, line, 0)?;
                let index = if index < 0 { elements.len() as i64 + index } else { index };
                Ok((usize::try_from(index).ok().and_then(|index| elements.get(index).cloned()), rest))
            }
            Some(Value::Text(pieces)) if index == "0" => Ok((Some(pieces.clone()), rest)),
            _ => Ok((None, rest)),
        }
    }

    /// Length of a text, or number of elements of an array.
    fn length(&mut self, name: &str) -> Result<usize, Why> {
        let (name, is_whole) = match name.split_once('[') {
            Some((name, "@]" | "*]")) => (name, true),
            Some(_) => return Err(Why::Undecidable),
            None => (name, false),
        };
        if name == "@" {
            return self.arguments.as_ref().map(Vec::len).ok_or(Why::Argument);
        }
        match self.get(name).map(Rc::as_ref) {
            Some(Value::Array(elements)) if is_whole => {
                let is_open = |piece: &Piece| matches!(piece.unknown, Some(Why::Either(_)));
                if elements.iter().flatten().any(is_open) {
                    return Err(Why::Undecidable);
                }
                Ok(elements.len())
            }
            Some(Value::Map(map)) if is_whole => Ok(map.len()),
            Some(Value::Text(pieces)) => match known(pieces) {
                Some(text) => Ok(text.chars().count()),
                None => Err(pieces.iter().find_map(|piece| piece.unknown).unwrap_or(Why::Undecidable)),
            },
            _ => Err(Why::Unset),
        }
    }

    /// `${!NAME}`: the variable whose name is a variable's value. `${!NAME[@]}`: indices.
    fn indirect(&mut self, name: &str, quoted: bool, line: usize, depth: usize) -> Option<Vec<Piece>> {
        if depth >= DEEPEST {
            return None;
        }
        if let Some(array) = name.strip_suffix("[@]").or(name.strip_suffix("[*]")) {
            let keys: Vec<Vec<Piece>> = match self.get(array)?.as_ref() {
                Value::Array(elements) => {
                    (0..elements.len()).map(|index| vec![closed(&index.to_string(), line)]).collect()
                }
                Value::Map(map) => map.keys().map(|key| vec![closed(key, line)]).collect(),
                _ => return None,
            };
            return Some(joined(&keys, quoted, line));
        }
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        let (name, operation) = name.split_at(end);
        let target = match self.get(name)?.as_ref() {
            Value::Text(pieces) => known(pieces)?,
            _ => return None,
        };
        super::expand::is_name(&target)
            .then(|| self.parameter(&format!("{target}{operation}"), quoted, line, depth + 1))
    }

    /// The operations that test for a value; others are returned with the value.
    #[expect(clippy::too_many_arguments, reason = "one expansion in all its parts")]
    fn defaulted(
        &mut self,
        name: &str,
        operation: &str,
        value: Option<Vec<Piece>>,
        absent: Why,
        line: usize,
        quoted: bool,
        depth: usize,
    ) -> Result<Vec<Piece>, (Vec<Piece>, String)> {
        let (heeds_empty, rest) = match operation.strip_prefix(':') {
            Some(rest) => (true, rest),
            None => (false, operation),
        };
        let mut chars = rest.chars();
        let sign = chars.next();
        let word = chars.as_str();
        let no = |why| vec![Piece { quoted, ..open(&format!("${{{name}{operation}}}"), line, why) }];
        if !matches!(sign, Some('-' | '=' | '?' | '+'))
            || heeds_empty && word.starts_with(' ') && sign == Some('-')
        {
            return match value {
                Some(value) => Err((value, operation.to_owned())),
                None => Ok(no(absent)),
            };
        }
        let is_set = value.as_ref().is_some_and(|pieces| {
            !heeds_empty
                || pieces.iter().any(|piece| !piece.text.is_empty() && piece.unknown != Some(Why::Unset))
        });
        if value.is_none() && absent == Why::Unset {
            self.missed.insert(name.to_owned());
        }
        let value = value.unwrap_or_default();
        Ok(match sign {
            Some('-' | '=' | '?') if is_set => value,
            Some('?') => no(absent),
            Some('+') if !is_set => Vec::new(),
            _ if depth >= DEEPEST => no(Why::Undecidable),
            _ => {
                let mut pieces = Vec::new();
                for part in parts_of(word, quoted, line) {
                    pieces.extend(self.pieces(&part, depth + 1));
                }
                if sign == Some('=') && self.pay(&pieces) {
                    self.set(name, Value::Text(pieces.clone()));
                }
                pieces
            }
        })
    }

    /// The operations that change a text: `%`, `#`, `/`, `,`, `^`, `:offset:length`, `@Q`.
    fn turned(&mut self, value: &[Piece], operation: &str, line: usize, depth: usize) -> Option<Vec<Piece>> {
        if depth >= DEEPEST {
            return None;
        }
        let mut chars = operation.chars();
        let sign = chars.next()?;
        let rest = chars.as_str();
        if matches!(sign, ',' | '^') && rest.chars().all(|c| c == sign) {
            let turn = |text: &str| if sign == ',' { text.to_lowercase() } else { text.to_uppercase() };
            let all = !rest.is_empty();
            let turned = |piece: &Piece| {
                let first = piece.text.chars().next().map_or(0, char::len_utf8);
                let (head, tail) = piece.text.split_at(first);
                let text = if all { turn(&piece.text) } else { format!("{}{tail}", turn(head)) };
                Piece { text, ..piece.clone() }
            };
            return Some(value.iter().map(turned).collect());
        }
        let text = known(value)?;
        let mut word = |text: &str| -> Option<String> {
            let mut pieces = Vec::new();
            for part in parts_of(text, false, line) {
                pieces.extend(self.pieces(&part, depth + 1));
            }
            known(&pieces)
        };
        let new = match sign {
            '%' | '#' => {
                let greedy = rest.starts_with(sign);
                let pattern = word(if greedy { &rest[1..] } else { rest })?;
                pattern::cut(&text, &pattern, sign == '%', greedy)?
            }
            '/' => {
                let all = rest.starts_with('/');
                let (from, to) = if all { &rest[1..] } else { rest }.split_once('/').unwrap_or((rest, ""));
                let from = from.replace("\\n", "\n");
                pattern::replace(&text, &word(&from)?, &word(to)?, all)?
            }
            ':' => {
                let (from, length) = match rest.split_once(':') {
                    Some((from, length)) => (from, Some(length)),
                    None => (rest, None),
                };
                let from = usize::try_from(self.evaluate(from, line, depth).ok()?).ok()?;
                let count = match length {
                    Some(length) => usize::try_from(self.evaluate(length, line, depth).ok()?).ok()?,
                    None => usize::MAX,
                };
                text.chars().skip(from).take(count).collect()
            }
            _ => return None,
        };
        let line = value.first().map_or(line, |piece| piece.line);
        let quoted = value.first().is_some_and(|piece| piece.quoted);
        Some(vec![Piece { quoted, ..closed(&new, line) }])
    }
}

/// Elements with spaces between them.
fn joined(elements: &[Vec<Piece>], quoted: bool, line: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            pieces.push(Piece { quoted, ..closed(" ", line) });
        }
        pieces.extend(element.iter().map(|piece| Piece { quoted, ..piece.clone() }));
    }
    pieces
}
