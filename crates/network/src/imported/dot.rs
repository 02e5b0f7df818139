//! A subset of the DOT language (<https://graphviz.org/doc/info/lang.html>): one graph with nodes, edges and their attributes.
//!
//! Responsible for: node and edge statements, chains, `node [...]` and `edge [...]` defaults, quoted names
//! and comments. Subgraphs, ports and HTML names are errors. Edges join both directions, in a `digraph` too.

use super::drawing::{Drawing, FORMATS, at};
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;

/// Attributes of a statement.
type Attributes = Vec<(String, String)>;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    /// One of `{ } [ ] ; , = -`, the last for both edge operators.
    Sign(char),
}

/// Reads a file.
pub(super) fn parse(text: &str, file: &str) -> Result<Drawing, Problem> {
    let tokens = tokens(text).map_err(|(line, problem)| at(file, line, problem))?;
    let mut reader = Reader { tokens, next: 0 };
    let drawing = reader.graph();
    drawing.map_err(|problem| {
        let last = reader.next.saturating_sub(1).min(reader.tokens.len().saturating_sub(1));
        let line = reader.tokens.get(last).map_or(1, |(_, line)| *line);
        at(file, line, problem)
    })
}

fn tokens(text: &str) -> Result<Vec<(Token, usize)>, (usize, Problem)> {
    let (mut tokens, mut line) = (Vec::new(), 1);
    let mut rest = text.trim_start_matches('\u{feff}');
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '\n' => {
                line += 1;
                (None, 1)
            }
            c if c.is_whitespace() => (None, c.len_utf8()),
            '#' => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("//") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => {
                let end = rest.find("*/").ok_or((line, Problem::new("a comment is not closed")))?;
                line += rest.get(..end).map_or(0, |comment| comment.matches('\n').count());
                (None, end + 2)
            }
            '"' => {
                let (name, length) =
                    quoted(rest).ok_or((line, Problem::new("a name has no closing quote")))?;
                let found = (Token::Name(name), line);
                line += rest.get(..length).map_or(0, |name| name.matches('\n').count());
                tokens.push(found);
                (None, length)
            }
            '-' if rest.starts_with("--") || rest.starts_with("->") => (Some(Token::Sign('-')), 2),
            c @ ('{' | '}' | '[' | ']' | ';' | ',' | '=') => (Some(Token::Sign(c)), 1),
            c if c.is_alphanumeric() || "_.-/".contains(c) => {
                let is_name = |at: usize, c: char| {
                    let is_edge =
                        rest.get(at..).is_some_and(|rest| rest.starts_with("--") || rest.starts_with("->"));
                    !is_edge && (c.is_alphanumeric() || "_.-/".contains(c))
                };
                let end =
                    rest.char_indices().find(|(at, c)| !is_name(*at, *c)).map_or(rest.len(), |(at, _)| at);
                (rest.get(..end).map(|name| Token::Name(name.to_owned())), end.max(1))
            }
            other => return Err((line, Problem::new(format!("`{other}` is not supported here")))),
        };
        tokens.extend(token.map(|token| (token, line)));
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(tokens)
}

/// A quoted name and its length with quotes.
fn quoted(text: &str) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((name, at + 1)),
            '\\' => match letters.next()?.1 {
                '"' => name.push('"'),
                other => name.extend(['\\', other]),
            },
            other => name.push(other),
        }
    }
    None
}

struct Reader {
    tokens: Vec<(Token, usize)>,
    next: usize,
}

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(token, _)| token)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.next).map_or(1, |(_, line)| *line)
    }

    fn take(&mut self) -> Option<Token> {
        let token = self.peek().cloned();
        self.next += 1;
        token
    }

    fn takes(&mut self, sign: char) -> bool {
        let is_next = self.peek() == Some(&Token::Sign(sign));
        self.next += usize::from(is_next);
        is_next
    }

    fn name(&mut self) -> Result<String, Problem> {
        match self.take() {
            Some(Token::Name(name)) => Ok(name),
            Some(Token::Sign(sign)) => Err(Problem::new(format!("`{sign}` where a name is expected"))),
            None => Err(Problem::new("the file ends within a statement")),
        }
    }

    fn graph(&mut self) -> Result<Drawing, Problem> {
        let mut word = self.name()?.to_ascii_lowercase();
        if word == "strict" {
            word = self.name()?.to_ascii_lowercase();
        }
        if word != "graph" && word != "digraph" {
            return Err(Problem::new(format!("`{}` is not a graph", shorten(&word))).hint(FORMATS));
        }
        if matches!(self.peek(), Some(Token::Name(_))) {
            self.next += 1;
        }
        if !self.takes('{') {
            self.next += 1;
            return Err(Problem::new("the graph does not begin with `{`"));
        }
        let mut drawing = Drawing::default();
        let (mut nodes, mut edges) = (Attributes::new(), Attributes::new());
        while !self.takes('}') {
            if self.takes(';') {
                continue;
            }
            let line = self.line();
            let name = self.name()?;
            match name.to_ascii_lowercase().as_str() {
                "node" => nodes.extend(self.attributes()?),
                "edge" => edges.extend(self.attributes()?),
                "graph" => drop(self.attributes()?),
                "subgraph" => return Err(Problem::new("subgraphs are not supported")),
                _ if self.takes('=') => drop(self.name()?),
                _ => self.statement(&mut drawing, name, (&nodes, &edges), line)?,
            }
        }
        if self.peek().is_some() {
            self.next += 1;
            return Err(Problem::new("there is text after the end of the graph"));
        }
        Ok(drawing)
    }

    /// A node, or a chain of edges.
    fn statement(
        &mut self,
        drawing: &mut Drawing,
        first: String,
        (nodes, edges): (&Attributes, &Attributes),
        line: usize,
    ) -> Result<(), Problem> {
        let mut chain = vec![first];
        while self.takes('-') {
            chain.push(self.name()?);
        }
        let own = self.attributes()?;
        let mut numbers = Vec::new();
        for name in &chain {
            let known = drawing.nodes.len();
            let number = drawing.node(name, line)?;
            if drawing.nodes.len() > known {
                nodes.iter().try_for_each(|(key, value)| drawing.set_node(number, key, value))?;
            }
            numbers.push(number);
        }
        if let [only] = numbers.as_slice() {
            return own.iter().try_for_each(|(key, value)| drawing.set_node(*only, key, value));
        }
        for pair in numbers.windows(2) {
            let all = edges.iter().chain(&own).map(|(key, value)| (key.as_str(), value.as_str()));
            drawing.cable([pair[0], pair[1]], all, line)?;
        }
        Ok(())
    }

    fn attributes(&mut self) -> Result<Attributes, Problem> {
        let mut found = Attributes::new();
        while self.takes('[') {
            while !self.takes(']') {
                if self.takes(',') || self.takes(';') {
                    continue;
                }
                let key = self.name()?;
                if !self.takes('=') {
                    return Err(Problem::new(format!("the attribute `{}` has no value", shorten(&key))));
                }
                found.push((key, self.name()?));
            }
        }
        Ok(found)
    }
}
