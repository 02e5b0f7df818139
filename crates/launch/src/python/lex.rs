//! The words of a Python text, with indentation as words of their own.
//!
//! Responsible for: names, numbers, strings, operators, their lines, and the start and end of blocks. Reports
//! no errors: a character outside Python's syntax becomes an operator without a rule, and its line is
//! skipped.

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    Name(String),
    Integer(i64),
    Number(f64),
    /// A string without values in it.
    Text(String),
    /// A string that is computed at run time, or bytes.
    Computed,
    /// An operator or bracket.
    Mark(&'static str),
    /// The end of a logical line.
    NewLine,
    Indent,
    Dedent,
    End,
}

/// A word and its line, from 1.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) word: Word,
    pub(super) line: usize,
}

/// Operators, the longest first.
const MARKS: &[&str] = &[
    "**=", "//=", ">>=", "<<=", "...", "!=", "->", ":=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
    "@=", "==", "<=", ">=", "**", "//", "<<", ">>", "(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "=",
    "+", "-", "*", "/", "%", "&", "|", "^", "~", "<", ">", "@",
];

/// Maximum number of words of a configuration.
const MOST_WORDS: usize = 400_000;

/// Splits a text; `first` is the number of its first line. `None` if it is longer than any configuration.
pub(super) fn lex(text: &str, first: usize) -> Option<Vec<Token>> {
    let mut lexer = Lexer { rest: text, line: first, depth: 0, indents: vec![0], out: Vec::new() };
    let mut is_start = true;
    loop {
        if lexer.out.len() > MOST_WORDS {
            return None;
        }
        if is_start && lexer.depth == 0 {
            lexer.indentation();
        }
        is_start = false;
        lexer.skip_blanks();
        let Some(c) = lexer.rest.chars().next() else { break };
        if c == '\n' {
            lexer.advance(1);
            if lexer.depth == 0 {
                lexer.end_line();
                is_start = true;
            }
            lexer.line += 1;
        } else {
            lexer.word(c);
        }
    }
    lexer.end_line();
    for _ in 1..lexer.indents.len() {
        lexer.push(Word::Dedent);
    }
    lexer.push(Word::End);
    Some(lexer.out)
}

struct Lexer<'t> {
    rest: &'t str,
    line: usize,
    /// Depth of open brackets, inside which lines do not end.
    depth: usize,
    indents: Vec<usize>,
    out: Vec<Token>,
}

impl Lexer<'_> {
    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn push(&mut self, word: Word) {
        self.out.push(Token { word, line: self.line });
    }

    fn end_line(&mut self) {
        let ends = matches!(
            self.out.last().map(|token| &token.word),
            None | Some(Word::NewLine | Word::Indent | Word::Dedent)
        );
        if !ends {
            self.push(Word::NewLine);
        }
    }

    /// Compares the indentation of a line with that of the surrounding blocks. Blank lines are skipped.
    fn indentation(&mut self) {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start_matches([' ', '\t', '\r', '\u{c}']).len();
            let width = self.rest[..blanks].chars().map(|c| if c == '\t' { 8 } else { 1 }).sum();
            self.advance(blanks);
            if self.rest.starts_with('#') {
                self.skip_blanks();
            }
            if self.rest.starts_with('\n') {
                self.advance(1);
                self.line += 1;
                continue;
            }
            if self.rest.is_empty() {
                return;
            }
            if self.indents.last().is_some_and(|&last| width > last) && self.indents.len() < 100 {
                self.indents.push(width);
                self.push(Word::Indent);
            }
            while self.indents.len() > 1 && self.indents.last().is_some_and(|&last| width < last) {
                self.indents.pop();
                self.push(Word::Dedent);
            }
            return;
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            let trimmed = self.rest.trim_start_matches([' ', '\t', '\r', '\u{c}']);
            self.rest = trimmed;
            if trimmed.starts_with('#') {
                let end = trimmed.find('\n').unwrap_or(trimmed.len());
                self.advance(end);
            } else if let Some(rest) = trimmed.strip_prefix("\\\n").or_else(|| trimmed.strip_prefix("\\\r\n"))
            {
                self.rest = rest;
                self.line += 1;
            } else {
                return;
            }
        }
    }

    fn word(&mut self, c: char) {
        if c.is_ascii_digit() || (c == '.' && self.rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            return self.number();
        }
        if c == '"' || c == '\'' {
            return self.string(false, false);
        }
        if c.is_alphabetic() || c == '_' {
            let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
            let name = self.rest[..end].to_owned();
            let is_quote = self.rest[end..].starts_with(['"', '\'']);
            let is_prefix = name.len() <= 2 && name.chars().all(|c| "rRbBuUfFtT".contains(c));
            self.advance(end);
            if is_quote && is_prefix {
                let has = |letters: &str| name.chars().any(|c| letters.contains(c));
                return self.string(has("rR"), has("bBfFtT"));
            }
            return self.push(Word::Name(name));
        }
        let mark = MARKS.iter().find(|mark| self.rest.starts_with(**mark)).copied();
        match mark {
            Some("(" | "[" | "{") => self.depth += 1,
            Some(")" | "]" | "}") => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.advance(mark.map_or(c.len_utf8(), str::len));
        self.push(Word::Mark(mark.unwrap_or("?")));
    }

    fn number(&mut self) {
        let radix = match self.rest.get(..2).map(str::to_ascii_lowercase).as_deref() {
            Some("0x") => Some(16),
            Some("0o") => Some(8),
            Some("0b") => Some(2),
            _ => None,
        };
        if let Some(radix) = radix {
            self.advance(2);
            let end =
                self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
            let digits = self.rest[..end].replace('_', "");
            self.advance(end);
            return self.push(i64::from_str_radix(&digits, radix).map_or(Word::Computed, Word::Integer));
        }
        let mut end = 0;
        let mut before = ' ';
        for c in self.rest.chars() {
            let is_sign = (c == '+' || c == '-') && matches!(before, 'e' | 'E');
            if !(c.is_ascii_alphanumeric() || c == '.' || c == '_' || is_sign) {
                break;
            }
            before = c;
            end += c.len_utf8();
        }
        let digits = self.rest[..end].replace('_', "");
        self.advance(end);
        let word = match (digits.parse::<i64>(), digits.parse::<f64>()) {
            (Ok(n), _) => Word::Integer(n),
            (Err(_), Ok(x)) if x.is_finite() => Word::Number(x),
            _ => Word::Computed,
        };
        self.push(word);
    }

    fn string(&mut self, is_raw: bool, is_computed: bool) {
        let line = self.line;
        let Some(quote) = self.rest.chars().next() else { return };
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        let end = if self.rest.starts_with(&triple) { triple } else { quote.to_string() };
        self.advance(end.len());
        let mut text = String::new();
        while let Some(c) = self.rest.chars().next() {
            if self.rest.starts_with(&end) {
                self.advance(end.len());
                break;
            }
            self.advance(c.len_utf8());
            if c == '\n' {
                self.line += 1;
                if end.len() == 1 {
                    break;
                }
            }
            if c != '\\' {
                text.push(c);
                continue;
            }
            let Some(escaped) = self.rest.chars().next() else { break };
            self.advance(escaped.len_utf8());
            match escaped {
                '\n' => self.line += 1,
                'n' if !is_raw => text.push('\n'),
                't' if !is_raw => text.push('\t'),
                other if is_raw => text.extend(['\\', other]),
                other => text.push(other),
            }
        }
        let word = if is_computed { Word::Computed } else { Word::Text(text) };
        self.out.push(Token { word, line });
    }
}
