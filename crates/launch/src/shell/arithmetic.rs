//! Whole-number arithmetic of the shell: `$GPUS * $NODES`, `(L - 2) / PP`.
//!
//! Responsible for: the four operations, remainder, power, comparison and brackets. Refuses what assigns.

/// Brackets and signs go this deep at most.
const DEEPEST: usize = 64;
/// Longer expressions are nobody's: they have no value.
const LONGEST: usize = 4 << 10;

/// The value of an expression; `value_of` gives the value of a name. `None` when something has none.
pub(super) fn evaluate(text: &str, value_of: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
    if text.len() > LONGEST {
        return None;
    }
    let mut parser = Parser { rest: text.trim(), value_of, depth: 0 };
    let value = parser.comparison()?;
    parser.rest.trim().is_empty().then_some(value)
}

struct Parser<'a> {
    rest: &'a str,
    value_of: &'a dyn Fn(&str) -> Option<i64>,
    depth: usize,
}

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

    fn comparison(&mut self) -> Option<i64> {
        let left = self.sum()?;
        for (sign, holds) in [
            ("==", (|a, b| a == b) as fn(i64, i64) -> bool),
            ("!=", |a, b| a != b),
            ("<=", |a, b| a <= b),
            (">=", |a, b| a >= b),
            ("<", |a, b| a < b),
            (">", |a, b| a > b),
        ] {
            if self.eat(sign) {
                let right = self.sum()?;
                return Some(i64::from(holds(left, right)));
            }
        }
        Some(left)
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            if self.eat("+") {
                value = value.checked_add(self.product()?)?;
            } else if self.eat("-") {
                value = value.checked_sub(self.product()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.power()?;
        loop {
            if self.eat("*") {
                value = value.checked_mul(self.power()?)?;
            } else if self.eat("/") {
                value = value.checked_div(self.power()?)?;
            } else if self.eat("%") {
                value = value.checked_rem(self.power()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn power(&mut self) -> Option<i64> {
        let base = self.unary()?;
        if self.eat("**") {
            let exponent = u32::try_from(self.unary()?).ok()?;
            return base.checked_pow(exponent);
        }
        Some(base)
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let value = if self.eat("-") {
            self.unary()?.checked_neg()
        } else if self.eat("+") {
            self.unary()
        } else if self.eat("(") {
            let value = self.comparison();
            if self.eat(")") { value } else { None }
        } else {
            self.operand()
        };
        self.depth -= 1;
        value
    }

    fn operand(&mut self) -> Option<i64> {
        self.eat("$");
        let braced = self.eat("{");
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        self.rest = after;
        if braced && !self.eat("}") {
            return None;
        }
        match word.chars().next()? {
            c if c.is_ascii_digit() && !braced => word.parse().ok(),
            _ => (self.value_of)(word),
        }
    }
}
