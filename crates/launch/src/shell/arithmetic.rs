//! Whole-number arithmetic of the shell: `GPUS * NODES`, `(L - 2) / PP`, `i++`, `TP > 1 ? 1 : 0`.
//!
//! Responsible for: the operators that launch scripts use, assignments among them. Parameters are expanded
//! before. An expression with bits, bases or elements of arrays has no value.

/// Maximum nesting of brackets and signs.
const DEEPEST: usize = 64;
/// Longer expressions have no value.
const LONGEST: usize = 4 << 10;

/// Source of the values of names, and target of assignments.
pub(super) trait Names {
    /// The number of a name.
    fn value(&self, name: &str) -> Option<i64>;
    /// Sets the number of a name; `None` if unknown.
    fn assign(&mut self, name: &str, value: Option<i64>);
}

/// The value of an expression; `None` if a part of it has none.
pub(super) fn evaluate(text: &str, names: &mut dyn Names) -> Option<i64> {
    if text.len() > LONGEST {
        return None;
    }
    let mut parser = Parser { rest: text.trim(), names, depth: 0, quiet: 0 };
    let mut value = parser.ternary()?;
    while parser.eat(",") {
        value = parser.ternary()?;
    }
    if parser.rest.trim().is_empty() { value } else { None }
}

struct Parser<'a> {
    rest: &'a str,
    names: &'a mut dyn Names,
    depth: usize,
    /// Depth of parts that are not evaluated, in which nothing is assigned.
    quiet: usize,
}

/// Outer `None`: the text is not an expression. Inner `None`: it has no value.
type Number = Option<Option<i64>>;

/// Operators of two numbers, from loose to tight binding; longer spellings before their prefixes.
const LEVELS: &[&[&str]] = &[&["==", "!="], &["<=", ">=", "<", ">"], &["+", "-"], &["*", "/", "%"]];

impl Parser<'_> {
    fn eat(&mut self, text: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// `condition ? a : b`, and all that binds closer.
    fn ternary(&mut self) -> Number {
        let condition = self.any()?;
        if !self.eat("?") {
            return Some(condition);
        }
        let (is_true, is_false) = (condition.is_some_and(|n| n != 0), condition == Some(0));
        let left = self.part(is_true)?;
        if !self.eat(":") {
            return None;
        }
        let right = self.part(is_false)?;
        Some(match condition {
            Some(0) => right,
            Some(_) => left,
            None if left == right => left,
            None => None,
        })
    }

    fn part(&mut self, counts: bool) -> Number {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        self.quiet += usize::from(!counts);
        let value = self.ternary();
        self.quiet -= usize::from(!counts);
        self.depth -= 1;
        value
    }

    fn any(&mut self) -> Number {
        let mut left = self.all()?;
        while self.eat("||") {
            let right = self.all()?;
            left = match (left, right) {
                (Some(a), Some(b)) => Some(i64::from(a != 0 || b != 0)),
                (Some(a), None) | (None, Some(a)) if a != 0 => Some(1),
                _ => None,
            };
        }
        Some(left)
    }

    fn all(&mut self) -> Number {
        let mut left = self.level(0)?;
        while self.eat("&&") {
            let right = self.level(0)?;
            left = match (left, right) {
                (Some(a), Some(b)) => Some(i64::from(a != 0 && b != 0)),
                (Some(0), None) | (None, Some(0)) => Some(0),
                _ => None,
            };
        }
        Some(left)
    }

    fn level(&mut self, level: usize) -> Number {
        let Some(signs) = LEVELS.get(level) else { return self.power() };
        let mut left = self.level(level + 1)?;
        loop {
            let is_power = self.rest.trim_start().starts_with("**");
            let Some(sign) = signs.iter().find(|sign| !(is_power && **sign == "*") && self.eat(sign)) else {
                return Some(left);
            };
            let right = self.level(level + 1)?;
            left = left.zip(right).and_then(|(a, b)| match *sign {
                "==" => Some(i64::from(a == b)),
                "!=" => Some(i64::from(a != b)),
                "<=" => Some(i64::from(a <= b)),
                ">=" => Some(i64::from(a >= b)),
                "<" => Some(i64::from(a < b)),
                ">" => Some(i64::from(a > b)),
                "+" => a.checked_add(b),
                "-" => a.checked_sub(b),
                "*" => a.checked_mul(b),
                "/" => a.checked_div(b),
                _ => a.checked_rem(b),
            });
        }
    }

    fn power(&mut self) -> Number {
        let base = self.unary()?;
        if self.eat("**") {
            let exponent = self.unary()?.and_then(|n| u32::try_from(n).ok());
            return Some(base.zip(exponent).and_then(|(base, exponent)| base.checked_pow(exponent)));
        }
        Some(base)
    }

    fn unary(&mut self) -> Number {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let value = if self.eat("++") {
            Some(self.stepped(1))
        } else if self.eat("--") {
            Some(self.stepped(-1))
        } else if self.eat("-") {
            self.unary().map(|n| n.and_then(i64::checked_neg))
        } else if self.eat("+") {
            self.unary()
        } else if self.eat("!") {
            self.unary().map(|n| n.map(|n| i64::from(n == 0)))
        } else if self.eat("(") {
            let value = self.ternary();
            if self.eat(")") { value } else { None }
        } else {
            self.operand()
        };
        self.depth -= 1;
        value
    }

    fn word(&mut self) -> &str {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn assign(&mut self, name: &str, value: Option<i64>) {
        if self.quiet == 0 {
            self.names.assign(name, value);
        }
    }

    /// `++NAME`: the new value.
    fn stepped(&mut self, step: i64) -> Option<i64> {
        let name = self.word().to_owned();
        let old = self.names.value(&name);
        let new = old.and_then(|n| n.checked_add(step));
        self.assign(&name, new);
        new
    }

    fn operand(&mut self) -> Number {
        let word = self.word().to_owned();
        match word.chars().next()? {
            c if c.is_ascii_digit() => return Some(Some(word.parse().ok()?)),
            _ => {}
        }
        let old = self.names.value(&word);
        for (sign, step) in [("++", 1), ("--", -1)] {
            if self.eat(sign) {
                self.assign(&word, old.and_then(|n| n.checked_add(step)));
                return Some(old);
            }
        }
        for sign in ["+=", "-=", "*=", "/="] {
            if self.eat(sign) {
                let right = self.ternary()?;
                let new = old.zip(right).and_then(|(a, b)| match sign {
                    "+=" => a.checked_add(b),
                    "-=" => a.checked_sub(b),
                    "*=" => a.checked_mul(b),
                    _ => a.checked_div(b),
                });
                self.assign(&word, new);
                return Some(new);
            }
        }
        if !self.rest.trim_start().starts_with("==") && self.eat("=") {
            let new = self.ternary()?;
            self.assign(&word, new);
            return Some(new);
        }
        Some(old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Default)]
    struct Map(BTreeMap<String, i64>);

    impl Names for Map {
        fn value(&self, name: &str) -> Option<i64> {
            self.0.get(name).copied()
        }
        fn assign(&mut self, name: &str, value: Option<i64>) {
            match value {
                Some(value) => drop(self.0.insert(name.to_owned(), value)),
                None => drop(self.0.remove(name)),
            }
        }
    }

    #[test]
    fn operators_bind_as_in_the_shell() {
        let mut names = Map::default();
        for (text, value) in [
            ("2 + 3 * 4 - 1", Some(13)),
            ("(61 - 2) % 8", Some(3)),
            ("2 ** 10 / 3", Some(341)),
            ("(4 > 1) ? 1 : 0", Some(1)),
            ("1 && 0 || !0", Some(1)),
            ("i = 3, i++ + i", Some(7)),
            ("i += 2", Some(6)),
            ("unset * 2", None),
            ("0 && unset", Some(0)),
            ("5 / 0", None),
            ("3 +", None),
            ("a[0]", None),
        ] {
            assert_eq!(evaluate(text, &mut names), value, "{text}");
        }
    }

    #[test]
    fn a_part_that_does_not_count_assigns_nothing() {
        let mut names = Map::default();
        assert_eq!(evaluate("1 ? 2 : (x = 5)", &mut names), Some(2));
        assert_eq!(names.value("x"), None);
    }
}
