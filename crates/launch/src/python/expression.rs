//! Expressions of a Python text.
//!
//! Responsible for: literals, names, attributes, calls, arithmetic, comparisons and choices. Other
//! computations (comprehensions, lambdas, `await`) are skipped and become [`Expression::Other`].

use super::lex::{Token, Word};
use super::tree::{Argument, ArgumentKind, Expression, Node};

/// Brackets and blocks inside each other.
const DEEPEST: usize = 40;
/// Maximum number of consecutive operators: they become a tree of equal depth.
const LONGEST: usize = 200;

/// Operators by precedence, the lowest first.
const LEVELS: &[&[&str]] = &[&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "/", "//", "%", "@"]];

/// A text as words, with a position.
pub(super) struct Parser {
    tokens: Vec<Token>,
    pub(super) at: usize,
    depth: usize,
}

impl Parser {
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, at: 0, depth: 0 }
    }

    pub(super) fn word(&self) -> &Word {
        self.tokens.get(self.at).map_or(&Word::End, |token| &token.word)
    }

    pub(super) fn line(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |token| token.line)
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self.word(), Word::Mark(found) if *found == mark)
    }

    pub(super) fn is_name(&self, name: &str) -> bool {
        matches!(self.word(), Word::Name(found) if found == name)
    }

    pub(super) fn take(&mut self, mark: &str) -> bool {
        let is = self.is(mark);
        self.at += usize::from(is);
        is
    }

    pub(super) fn take_name(&mut self, name: &str) -> bool {
        let is = self.is_name(name);
        self.at += usize::from(is);
        is
    }

    pub(super) fn expect(&mut self, mark: &str) -> Option<()> {
        self.take(mark).then_some(())
    }

    pub(super) fn name(&mut self) -> Option<String> {
        let Word::Name(name) = self.word() else { return None };
        let name = name.clone();
        self.at += 1;
        Some(name)
    }

    pub(super) fn dotted(&mut self) -> Option<String> {
        let mut path = self.name()?;
        while self.take(".") {
            path.push('.');
            path.push_str(&self.name()?);
        }
        Some(path)
    }

    pub(super) fn deeper(&mut self) -> Option<()> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        Some(())
    }

    pub(super) fn shallower(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Target of a loop or of `with`.
    pub(super) fn targets(&mut self) -> Option<Node> {
        let line = self.line();
        let mut items = vec![self.operand()?];
        let mut is_list = false;
        while self.take(",") {
            is_list = true;
            if self.is_name("in") {
                break;
            }
            items.push(self.operand()?);
        }
        Some(one_or_list(items, is_list, line))
    }

    /// Expressions between commas are a tuple.
    pub(super) fn list_or_one(&mut self) -> Option<Node> {
        let line = self.line();
        let mut items = Vec::new();
        let mut is_list = false;
        loop {
            if is_list && self.is_end() {
                break;
            }
            if self.take("*") {
                let line = self.line();
                self.operand()?;
                items.push(Node { expression: Expression::Other("a spread list"), line });
            } else {
                items.push(self.expression()?);
            }
            if !self.take(",") {
                break;
            }
            is_list = true;
        }
        Some(one_or_list(items, is_list, line))
    }

    fn is_end(&self) -> bool {
        matches!(self.word(), Word::NewLine | Word::End | Word::Mark("=" | ")" | "]" | "}" | ":" | ";"))
    }

    /// One expression.
    pub(super) fn expression(&mut self) -> Option<Node> {
        self.deeper()?;
        let node = self.choice();
        self.shallower();
        node
    }

    fn choice(&mut self) -> Option<Node> {
        let line = self.line();
        if self.take_name("lambda") {
            while !self.is(":") && !matches!(self.word(), Word::NewLine | Word::End) {
                self.at += 1;
            }
            self.expect(":")?;
            self.expression()?;
            return Some(Node { expression: Expression::Other("a lambda"), line });
        }
        if self.take_name("yield") {
            self.take_name("from");
            if !self.is_end() {
                self.expression()?;
            }
            return Some(Node { expression: Expression::Other("a generator"), line });
        }
        let value = self.either()?;
        if self.take(":=") {
            self.expression()?;
            return Some(Node { expression: Expression::Other("an assignment inside"), line });
        }
        if !self.take_name("if") {
            return Some(value);
        }
        let condition = self.either()?;
        self.take_name("else").then_some(())?;
        let other = self.expression()?;
        let expression = Expression::Choice(Box::new(condition), Box::new(value), Box::new(other));
        Some(Node { expression, line })
    }

    fn either(&mut self) -> Option<Node> {
        let mut left = self.both()?;
        let mut steps = 0;
        while self.is_name("or") {
            steps += 1;
            (steps < LONGEST).then_some(())?;
            let line = self.line();
            self.at += 1;
            let right = self.both()?;
            left = binary("or", left, right, line);
        }
        Some(left)
    }

    fn both(&mut self) -> Option<Node> {
        let mut left = self.negation()?;
        let mut steps = 0;
        while self.is_name("and") {
            steps += 1;
            (steps < LONGEST).then_some(())?;
            let line = self.line();
            self.at += 1;
            let right = self.negation()?;
            left = binary("and", left, right, line);
        }
        Some(left)
    }

    fn negation(&mut self) -> Option<Node> {
        let line = self.line();
        if !self.take_name("not") {
            return self.comparison();
        }
        self.deeper()?;
        let value = self.negation();
        self.shallower();
        Some(Node { expression: Expression::Not(Box::new(value?)), line })
    }

    fn comparison(&mut self) -> Option<Node> {
        let line = self.line();
        let left = self.level(0)?;
        let mut result: Option<Node> = None;
        let mut before = left.clone();
        let mut steps = 0;
        loop {
            steps += 1;
            (steps < DEEPEST).then_some(())?;
            let operator = match self.word() {
                Word::Mark(mark @ ("==" | "!=" | "<" | ">" | "<=" | ">=")) => {
                    let mark = *mark;
                    self.at += 1;
                    mark
                }
                Word::Name(name) if name == "in" => {
                    self.at += 1;
                    "in"
                }
                Word::Name(name) if name == "is" => {
                    self.at += 1;
                    if self.take_name("not") { "!=" } else { "==" }
                }
                Word::Name(name) if name == "not" => {
                    self.at += 1;
                    self.take_name("in").then_some(())?;
                    "not in"
                }
                _ => return Some(result.unwrap_or(left)),
            };
            let right = self.level(0)?;
            let compared = binary(operator, before, right.clone(), line);
            result = Some(match result {
                Some(result) => binary("and", result, compared, line),
                None => compared,
            });
            before = right;
        }
    }

    /// An operand outside of an expression, as after `*` and `**`: one level deeper, like an expression.
    fn operand(&mut self) -> Option<Node> {
        self.deeper()?;
        let node = self.level(0);
        self.shallower();
        node
    }

    fn level(&mut self, level: usize) -> Option<Node> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        let mut steps = 0;
        loop {
            steps += 1;
            (steps < LONGEST).then_some(())?;
            let Word::Mark(mark) = *self.word() else { return Some(left) };
            if !operators.contains(&mark) {
                return Some(left);
            }
            let line = self.line();
            self.at += 1;
            let right = self.level(level + 1)?;
            left = binary(mark, left, right, line);
        }
    }

    fn unary(&mut self) -> Option<Node> {
        let line = self.line();
        let is_negative = self.is("-");
        if self.take("-") || self.take("+") || self.take("~") {
            self.deeper()?;
            let value = self.unary();
            self.shallower();
            let value = value?;
            let expression =
                if is_negative { Expression::Negative(Box::new(value)) } else { value.expression };
            return Some(Node { expression, line });
        }
        if self.take_name("await") {
            self.power()?;
            return Some(Node { expression: Expression::Other("an awaited value"), line });
        }
        self.power()
    }

    fn power(&mut self) -> Option<Node> {
        let line = self.line();
        let base = self.postfix()?;
        if !self.take("**") {
            return Some(base);
        }
        self.deeper()?;
        let exponent = self.unary();
        self.shallower();
        Some(binary("**", base, exponent?, line))
    }

    fn postfix(&mut self) -> Option<Node> {
        let mut value = self.atom()?;
        let mut steps = 0;
        loop {
            // Values are built inside each other, and read by going down.
            steps += 1;
            if steps > DEEPEST {
                return None;
            }
            let line = self.line();
            let expression = if self.take(".") {
                Expression::Attribute(Box::new(value), self.name()?)
            } else if self.take("(") {
                Expression::Call(Box::new(value), self.arguments()?)
            } else if self.take("[") {
                let index = self.index()?;
                Expression::Index(Box::new(value), Box::new(index))
            } else {
                return Some(value);
            };
            value = Node { expression, line };
        }
    }

    fn index(&mut self) -> Option<Node> {
        let line = self.line();
        let mut is_slice = false;
        let mut items = Vec::new();
        while !self.take("]") {
            if self.take(":") {
                is_slice = true;
            } else if self.take(",") {
            } else {
                items.push(self.expression()?);
            }
        }
        if is_slice {
            return Some(Node { expression: Expression::Other("a part of a list"), line });
        }
        let is_list = items.len() != 1;
        Some(one_or_list(items, is_list, line))
    }

    /// Arguments of a call, after the opening bracket.
    pub(super) fn arguments(&mut self) -> Option<Vec<Argument>> {
        let mut arguments = Vec::new();
        while !self.take(")") {
            let is_named = matches!(
                (self.word(), self.tokens.get(self.at + 1).map(|token| &token.word)),
                (Word::Name(_), Some(Word::Mark("=")))
            );
            let kind = if self.take("**") {
                ArgumentKind::Merge
            } else if self.take("*") {
                ArgumentKind::Spread
            } else if is_named {
                let name = self.name()?;
                self.expect("=")?;
                ArgumentKind::Named(name)
            } else {
                ArgumentKind::Positional
            };
            let value = self.expression()?;
            let value = self.comprehension(value, ")")?;
            arguments.push(Argument { kind, value });
            if !self.take(",") && !self.is(")") {
                return None;
            }
        }
        Some(arguments)
    }

    /// Skips `for x in y` after a value.
    fn comprehension(&mut self, value: Node, end: &str) -> Option<Node> {
        if !self.is_name("for") && !self.is_name("async") {
            return Some(value);
        }
        let mut depth = 0_usize;
        while depth > 0 || !self.is(end) {
            match self.word() {
                Word::Mark("(" | "[" | "{") => depth += 1,
                Word::Mark(")" | "]" | "}") => depth = depth.checked_sub(1)?,
                Word::End => return None,
                _ => {}
            }
            self.at += 1;
        }
        Some(Node { expression: Expression::Other("a comprehension"), line: value.line })
    }

    fn atom(&mut self) -> Option<Node> {
        let line = self.line();
        let word = self.word().clone();
        self.at += 1;
        let expression = match word {
            Word::Integer(n) => Expression::Integer(n),
            Word::Number(x) => Expression::Number(x),
            Word::Text(mut text) => {
                let mut is_computed = false;
                // Consecutive strings are joined.
                loop {
                    match self.word() {
                        Word::Text(more) => text.push_str(more),
                        Word::Computed => is_computed = true,
                        _ => break,
                    }
                    self.at += 1;
                }
                if is_computed {
                    Expression::Other("a string with interpolated values")
                } else {
                    Expression::Text(text)
                }
            }
            Word::Computed => {
                while matches!(self.word(), Word::Text(_) | Word::Computed) {
                    self.at += 1;
                }
                Expression::Other("a string with interpolated values")
            }
            Word::Name(name) => match name.as_str() {
                "None" => Expression::None,
                "True" => Expression::Flag(true),
                "False" => Expression::Flag(false),
                "for" | "in" | "if" | "else" | "and" | "or" | "is" | "import" | "def" | "class"
                | "return" => {
                    return None;
                }
                _ => Expression::Name(name),
            },
            Word::Mark("...") => Expression::None,
            Word::Mark("(") => return self.bracketed(")", line),
            Word::Mark("[") => {
                let node = self.bracketed("]", line)?;
                let expression = match node.expression {
                    list @ (Expression::List(_) | Expression::Other("a comprehension")) => list,
                    single => Expression::List(vec![Node { expression: single, line: node.line }]),
                };
                return Some(Node { expression, line });
            }
            Word::Mark("{") => return self.braces(line),
            _ => return None,
        };
        Some(Node { expression, line })
    }

    /// Content of round or square brackets; a single value stays one.
    fn bracketed(&mut self, end: &str, line: usize) -> Option<Node> {
        let mut items = Vec::new();
        let mut is_list = false;
        while !self.take(end) {
            if self.take("*") {
                let line = self.line();
                self.operand()?;
                items.push(Node { expression: Expression::Other("a spread list"), line });
                is_list = true;
            } else {
                let value = self.expression()?;
                // A list in a list stays one.
                let is_inner = end == "]" && matches!(value.expression, Expression::List(_));
                is_list |= is_inner;
                items.push(self.comprehension(value, end)?);
            }
            if self.take(",") {
                is_list = true;
            } else if !self.is(end) {
                return None;
            }
        }
        let is_list = is_list || items.is_empty();
        Some(one_or_list(items, is_list, line))
    }

    fn braces(&mut self, line: usize) -> Option<Node> {
        let (mut pairs, mut items) = (Vec::new(), Vec::new());
        while !self.take("}") {
            if self.take("**") {
                pairs.push((None, self.operand()?));
            } else {
                let key = self.expression()?;
                if self.take(":") {
                    let value = self.expression()?;
                    let value = self.comprehension(value, "}")?;
                    if matches!(value.expression, Expression::Other("a comprehension")) {
                        self.expect("}")?;
                        return Some(value);
                    }
                    pairs.push((Some(key), value));
                } else {
                    let item = self.comprehension(key, "}")?;
                    items.push(item);
                }
            }
            if !self.take(",") && !self.is("}") {
                return None;
            }
        }
        let expression =
            if items.is_empty() { Expression::Dictionary(pairs) } else { Expression::List(items) };
        Some(Node { expression, line })
    }
}

fn one_or_list(mut items: Vec<Node>, is_list: bool, line: usize) -> Node {
    match items.pop() {
        Some(only) if !is_list && items.is_empty() => only,
        Some(last) => {
            items.push(last);
            Node { expression: Expression::List(items), line }
        }
        None => Node { expression: Expression::List(items), line },
    }
}

fn binary(operator: &'static str, left: Node, right: Node, line: usize) -> Node {
    Node { expression: Expression::Binary(operator, Box::new(left), Box::new(right)), line }
}
