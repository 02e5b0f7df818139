//! The expressions of family descriptions: from text to a tree.
//!
//! Responsible for: the syntax. Names, whole and decimal numbers, 'text', true and false, lists in brackets,
//! `a[i]`, `a.b`, calls, `+ - * / %`, comparisons, `in`, `not`, `and`, `or`, `a ?? b` (b if a is missing),
//! `if c then a else b`. Rejects everything else with its place. Descriptions are bundled, so a rejection is
//! a bug that tests detect.

use crate::problem::Problem;

/// Syntax tree of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Whole(i128),
    Real(f64),
    Text(String),
    Flag(bool),
    /// A name with its path of keys: `vision_config.hidden_size`.
    Name(Vec<String>),
    List(Vec<Expression>),
    Index(Box<Expression>, Box<Expression>),
    Call(String, Vec<Expression>),
    Not(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    If(Box<Expression>, Box<Expression>, Box<Expression>),
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Otherwise,
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Operators by precedence, lowest first.
const LEVELS: &[&[(&str, Operator)]] = &[
    &[("??", Operator::Otherwise)],
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[
        ("==", Operator::Equal),
        ("!=", Operator::Unequal),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::MoreOrEqual),
        ("<", Operator::Less),
        (">", Operator::More),
        ("in", Operator::In),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)],
];

/// Parses a whole text.
pub(super) fn parse(text: &str) -> Result<Expression, Problem> {
    let mut parser = Parser { text, at: 0 };
    let expression = parser.whole()?;
    parser.space();
    if parser.at < text.len() { Err(parser.wrong("an operator or the end")) } else { Ok(expression) }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn wrong(&self, wanted: &str) -> Problem {
        Problem::new(format!("expected {wanted} at {:?} of {:?}", self.rest(), self.text))
    }

    /// Consumes a symbol or word if it is next.
    fn take(&mut self, symbol: &str) -> bool {
        self.space();
        let Some(rest) = self.rest().strip_prefix(symbol) else { return false };
        let word = symbol.as_bytes().first().is_some_and(|&b| is_word(b));
        if word && rest.as_bytes().first().is_some_and(|&b| is_word(b)) {
            return false;
        }
        self.at += symbol.len();
        true
    }

    fn expect(&mut self, symbol: &str) -> Result<(), Problem> {
        if self.take(symbol) { Ok(()) } else { Err(self.wrong(&format!("`{symbol}`"))) }
    }

    fn whole(&mut self) -> Result<Expression, Problem> {
        if self.take("if") {
            let condition = self.whole()?;
            self.expect("then")?;
            let then = self.whole()?;
            self.expect("else")?;
            let other = self.whole()?;
            return Ok(Expression::If(Box::new(condition), Box::new(then), Box::new(other)));
        }
        self.level(0)
    }

    fn level(&mut self, level: usize) -> Result<Expression, Problem> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        loop {
            let found = operators.iter().find(|(symbol, _)| self.take(symbol));
            let Some(&(_, operator)) = found else { return Ok(left) };
            let right = self.level(level + 1)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self) -> Result<Expression, Problem> {
        if self.take("not") {
            return Ok(Expression::Not(Box::new(self.unary()?)));
        }
        let mut value = self.primary()?;
        while self.take("[") {
            let index = self.whole()?;
            self.expect("]")?;
            value = Expression::Index(Box::new(value), Box::new(index));
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<Expression, Problem> {
        if self.take("(") {
            let inner = self.whole()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.take("[") {
            return Ok(Expression::List(self.items("]")?));
        }
        if self.take("'") {
            let rest = self.rest();
            let length = rest.find('\'').ok_or_else(|| self.wrong("a closing quote"))?;
            self.at += length + 1;
            return Ok(Expression::Text(rest.get(..length).unwrap_or_default().to_owned()));
        }
        self.space();
        let rest = self.rest();
        let is_number = rest.as_bytes().first().is_some_and(u8::is_ascii_digit);
        let belongs = |b: u8| is_word(b) || b == b'.';
        let length = rest.bytes().position(|b| !belongs(b)).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        if word.is_empty() {
            return Err(self.wrong("a value"));
        }
        if is_number {
            let number = word.parse().map(Expression::Whole);
            let number = number.or_else(|_| word.parse().map(Expression::Real));
            let number = number.map_err(|_| self.wrong("a number"))?;
            self.at += length;
            return Ok(number);
        }
        self.at += length;
        if self.take("(") {
            return Ok(Expression::Call(word.to_owned(), self.items(")")?));
        }
        Ok(match word {
            "true" => Expression::Flag(true),
            "false" => Expression::Flag(false),
            name => Expression::Name(name.split('.').map(str::to_owned).collect()),
        })
    }

    fn items(&mut self, end: &str) -> Result<Vec<Expression>, Problem> {
        let mut items = Vec::new();
        while !self.take(end) {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(self.whole()?);
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_bind_as_in_other_languages() {
        let one = |n| Box::new(Expression::Whole(n));
        let product = Expression::Binary(Operator::Multiply, one(2), one(3));
        assert_eq!(parse("1 + 2 * 3"), Ok(Expression::Binary(Operator::Add, one(1), Box::new(product))));
        let name = |n: &str| Expression::Name(n.split('.').map(str::to_owned).collect());
        assert_eq!(parse(" a.b "), Ok(name("a.b")));
        assert_eq!(parse("index"), Ok(name("index")));
        assert!(matches!(parse("if a then 1 else b[i] ?? 2"), Ok(Expression::If(..))));
    }

    #[test]
    fn what_is_no_expression_is_refused_with_its_place() {
        for text in ["", "1 +", "(1", "a b", "'open", "[1 2]", "if a then 1", "1.2.3"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("a b").expect_err("a problem").message.contains("\"b\""));
    }
}
