//! Tests: `[ "$A" -eq 1 ]`, `[[ $A == fp8 && -n $B ]]`.
//!
//! Responsible for: comparing known values. A variable that the script does not set is empty, as in the
//! shell; an unknown argument is not. Does not access files: such a test is unknown.

use super::lex::{Part, Token};
use super::values::{Piece, Variables, known};
use super::{Why, pattern};

/// Maximum nesting of brackets and negations.
const DEEPEST: usize = 32;

/// The result of a test between its brackets; `None` if unknown.
pub(super) fn test(tokens: &[Token], variables: &mut Variables) -> Option<bool> {
    let items: Vec<Item> = tokens
        .iter()
        .filter_map(|token| match token {
            Token::Word(parts, _) => Some(item(parts, variables)),
            Token::Operator("\n", _) => None,
            Token::Operator(sign, _) => Some(Item::Sign((*sign).to_owned())),
            Token::Arithmetic(..) | Token::Document { .. } => Some(Item::Text(None)),
        })
        .collect();
    Test { items: &items, at: 0, depth: 0, variables }.any()
}

/// A word of a test.
#[derive(Debug)]
enum Item {
    /// An operator or a bracket, which is never a text to compare.
    Sign(String),
    /// A text; `None` if known only at run time.
    Text(Option<String>),
    /// A text with `*` or `?` outside quotes.
    Pattern(Option<String>),
}

fn item(parts: &[Part], variables: &mut Variables) -> Item {
    if let [Part::Text { text, quoted: false, .. }] = parts
        && (text.starts_with('-') && text.len() <= 3
            || matches!(text.as_str(), "!" | "==" | "=" | "!=" | "=~"))
    {
        return Item::Sign(text.clone());
    }
    let pieces: Vec<Piece> =
        variables.text(parts).into_iter().filter(|piece| piece.unknown != Some(Why::Unset)).collect();
    let bare =
        |part: &Part| matches!(part, Part::Text { text, quoted: false, .. } if text.contains(['*', '?']));
    if parts.iter().any(bare) { Item::Pattern(known(&pieces)) } else { Item::Text(known(&pieces)) }
}

struct Test<'a> {
    items: &'a [Item],
    at: usize,
    depth: usize,
    variables: &'a Variables,
}

impl Test<'_> {
    fn sign(&self) -> Option<&str> {
        match self.items.get(self.at) {
            Some(Item::Sign(sign)) => Some(sign),
            _ => None,
        }
    }

    fn eat(&mut self, signs: &[&str]) -> bool {
        let found = self.sign().is_some_and(|sign| signs.contains(&sign));
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Option<bool> {
        let mut value = self.all();
        while self.eat(&["||", "-o"]) {
            value = match (value, self.all()) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), other) => other,
                (None, _) => None,
            };
        }
        value
    }

    fn all(&mut self) -> Option<bool> {
        let mut value = self.one();
        while self.eat(&["&&", "-a"]) {
            value = match (value, self.one()) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), other) => other,
                (None, _) => None,
            };
        }
        value
    }

    fn one(&mut self) -> Option<bool> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let value = if self.eat(&["!"]) {
            self.one().map(|value| !value)
        } else if self.eat(&["("]) {
            let value = self.any();
            self.eat(&[")"]);
            value
        } else {
            self.comparison()
        };
        self.depth -= 1;
        value
    }

    fn text(&mut self) -> Option<String> {
        let text = match self.items.get(self.at)? {
            Item::Text(text) | Item::Pattern(text) => text.clone(),
            // A negative number, or `-` alone.
            Item::Sign(sign) => Some(sign.clone()),
        };
        self.at += 1;
        text
    }

    fn comparison(&mut self) -> Option<bool> {
        let single = self.sign().map(str::to_owned);
        match single.as_deref() {
            Some("-z") => {
                self.at += 1;
                // A variable without a value may expand to nothing.
                return if self.at < self.items.len() {
                    self.text().map(|text| text.is_empty())
                } else {
                    Some(true)
                };
            }
            Some("-n") => {
                self.at += 1;
                return if self.at < self.items.len() {
                    self.text().map(|text| !text.is_empty())
                } else {
                    Some(false)
                };
            }
            Some("-v") if self.items.len() > self.at + 1 => {
                self.at += 1;
                let name = self.text()?;
                return self.is_set(&name);
            }
            Some(sign) if sign.starts_with('-') && self.items.len() > self.at + 1 => {
                // A test of a file.
                self.at += 2;
                return None;
            }
            _ => {}
        }
        let left = self.text();
        let Some(sign) = self.sign().map(str::to_owned) else {
            return left.map(|text| !text.is_empty());
        };
        if matches!(sign.as_str(), "&&" | "||" | ")" | "-a" | "-o") {
            return left.map(|text| !text.is_empty());
        }
        self.at += 1;
        let is_pattern = matches!(self.items.get(self.at), Some(Item::Pattern(_)));
        let right = self.text();
        let (left, right) = (left?, right?);
        if is_pattern && matches!(sign.as_str(), "=" | "==" | "!=") {
            return pattern::fits(&right, &left).map(|fits| fits == (sign != "!="));
        }
        let numbers = || Some((left.trim().parse::<i64>().ok()?, right.trim().parse::<i64>().ok()?));
        match sign.as_str() {
            "=" | "==" => Some(left == right),
            "!=" => Some(left != right),
            "=~" => matches(&left, &right),
            "-eq" => numbers().map(|(a, b)| a == b),
            "-ne" => numbers().map(|(a, b)| a != b),
            "-lt" => numbers().map(|(a, b)| a < b),
            "-le" => numbers().map(|(a, b)| a <= b),
            "-gt" => numbers().map(|(a, b)| a > b),
            "-ge" => numbers().map(|(a, b)| a >= b),
            _ => None,
        }
    }

    /// True if a variable, or an entry of one, is set here; `None` if unknown.
    fn is_set(&self, name: &str) -> Option<bool> {
        use super::values::Value;
        let Some((name, key)) = name.split_once('[') else { return Some(self.variables.get(name).is_some()) };
        match self.variables.get(name).map(std::rc::Rc::as_ref) {
            Some(Value::Map(map)) => Some(map.contains_key(key.trim_end_matches(']'))),
            None => Some(false),
            _ => None,
        }
    }
}

/// Matches a regular expression that is a plain text, possibly anchored at the start or the end; `None` for
/// others.
fn matches(text: &str, expression: &str) -> Option<bool> {
    let from_begin = expression.starts_with('^');
    let inner = expression.strip_prefix('^').unwrap_or(expression);
    if inner == "[0-9]+$" && from_begin {
        return Some(!text.is_empty() && text.chars().all(|c| c.is_ascii_digit()));
    }
    let to_end = inner.ends_with('$');
    let inner = inner.strip_suffix('$').unwrap_or(inner);
    if inner.contains(['[', '(', '*', '+', '?', '|', '\\', '{']) {
        return None;
    }
    Some(match (from_begin, to_end) {
        (true, true) => text == inner,
        (true, false) => text.starts_with(inner),
        (false, true) => text.ends_with(inner),
        (false, false) => text.contains(inner),
    })
}
