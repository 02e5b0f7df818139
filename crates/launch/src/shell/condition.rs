//! Tests: `[ "$A" -eq 1 ]`, `[[ $A == fp8 && -n $B ]]`.
//!
//! Responsible for: comparing what is known. A variable that the script does not set is empty here, as it is to the shell. Refuses to
//! look at files: such a test has no answer.

use super::expand::{Piece, Unknown, Variables, known};
use super::lex;
use super::lex::{Part, Token};

/// Brackets and negations go this deep at most.
const DEEPEST: usize = 32;

/// The answer of a test between its brackets, if there is one.
pub(super) fn test(tokens: &[Token], variables: &mut Variables) -> Option<bool> {
    let items: Vec<Item> = tokens
        .iter()
        .filter_map(|token| match token {
            Token::Word(parts, _) => Some(item(parts, variables)),
            Token::Operator("\n", _) => None,
            Token::Operator(sign, _) => Some(Item::Sign((*sign).to_owned())),
        })
        .collect();
    Test { items: &items, at: 0, depth: 0 }.any()
}

/// A word of a test.
#[derive(Debug)]
enum Item {
    /// An operator or a bracket, which is never a text to compare.
    Sign(String),
    /// A text; `None` when only a run can tell it.
    Text(Option<String>),
}

fn item(parts: &[Part], variables: &mut Variables) -> Item {
    if let [Part::Text { text, quoted: false, .. }] = parts
        && (text.starts_with('-') && text.len() <= 3
            || matches!(text.as_str(), "!" | "==" | "=" | "!=" | "=~"))
    {
        return Item::Sign(text.clone());
    }
    let pieces: Vec<Piece> =
        variables.text(parts).into_iter().filter(|piece| piece.unknown != Some(Unknown::Unset)).collect();
    let has_pattern = lex::plain(parts).contains(['*', '?']);
    Item::Text(known(&pieces).filter(|_| !has_pattern))
}

struct Test<'a> {
    items: &'a [Item],
    at: usize,
    depth: usize,
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
            Item::Text(text) => text.clone(),
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
                // A variable without a value may leave nothing at all to test.
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
            Some(sign) if sign.starts_with('-') && self.items.len() > self.at + 1 => {
                // A question about a file or a variable.
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
        let right = self.text();
        let (left, right) = (left?, right?);
        let numbers = || Some((left.trim().parse::<i64>().ok()?, right.trim().parse::<i64>().ok()?));
        match sign.as_str() {
            "=" | "==" => Some(left == right),
            "!=" => Some(left != right),
            "-eq" => numbers().map(|(a, b)| a == b),
            "-ne" => numbers().map(|(a, b)| a != b),
            "-lt" => numbers().map(|(a, b)| a < b),
            "-le" => numbers().map(|(a, b)| a <= b),
            "-gt" => numbers().map(|(a, b)| a > b),
            "-ge" => numbers().map(|(a, b)| a >= b),
            _ => None,
        }
    }
}
