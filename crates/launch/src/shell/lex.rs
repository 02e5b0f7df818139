//! Converts the text of a script to words and operators, each with its line.
//!
//! Responsible for: quotes, comments, continued lines, here-documents, arithmetic commands, and separating
//! expansions. Does not expand.

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A word, of parts.
    Word(Vec<Part>, usize),
    /// An operator, including the line end (`\n`).
    Operator(&'static str, usize),
    /// Content of `((...))`, as a command or after `for`.
    Arithmetic(String, usize),
    /// The text of a here-document in place of its delimiter, and its first line. Quoted delimiters prevent
    /// its expansion.
    Document { text: String, quoted: bool, line: usize },
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// Plain text.
    Text { text: String, quoted: bool, line: usize },
    /// Content of `${...}`, or the name after `$`.
    Parameter { inner: String, quoted: bool, line: usize },
    /// Content of `$((...))`.
    Arithmetic { inner: String, line: usize },
    /// Content of `$(...)` or of backquotes.
    Command { inner: String, line: usize },
    /// Content of `<(...)` or `>(...)`.
    Process { inner: String, line: usize },
    /// The elements of an array, in `NAME=(...)`.
    Array(Vec<Vec<Part>>),
}

/// Operators, the longest first.
const OPERATORS: &[&str] = &[
    ";;", "&&", "||", "|&", "<<<", "<<-", "<<", "&>>", "&>", ">>", ">&", "<&", ">|", ";", "|", "&", "(", ")",
    "<", ">",
];

/// Longer arithmetic is not evaluated.
const LONGEST_ARITHMETIC: usize = 4 << 10;

/// Maximum nesting of words inside words (arrays, nested quotes).
const DEEPEST: usize = 16;

/// All tokens of a text; `line` is the number of its first line.
pub(super) fn lex(text: &str, line: usize) -> Vec<Token> {
    let mut lexer = Lexer { rest: text, line, depth: 0 };
    let mut tokens = Vec::new();
    let mut documents: Vec<(usize, String, bool)> = Vec::new();
    while let Some(token) = lexer.token() {
        let here = matches!(tokens.last(), Some(Token::Operator("<<" | "<<-", _)));
        if let (true, Token::Word(parts, _)) = (here, &token) {
            let quoted = parts.iter().any(|part| matches!(part, Part::Text { quoted: true, .. }));
            documents.push((tokens.len(), plain(parts), quoted));
        }
        let ends_line = matches!(token, Token::Operator("\n", _));
        tokens.push(token);
        if ends_line {
            for (index, delimiter, quoted) in documents.drain(..) {
                let line = lexer.line;
                let text = lexer.document(&delimiter).to_owned();
                tokens[index] = Token::Document { text, quoted, line };
            }
        }
    }
    tokens
}

/// Longer texts between angle brackets are not placeholders.
const LONGEST_PLACEHOLDER: usize = 80;

/// The length of a placeholder at the start of a text, `<PATH TO DATA>` or `<data_path>`: its owner replaces
/// it before the shell could take it as two redirections. Blanks occur after an upper-case word alone.
pub(super) fn placeholder(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('<')?;
    let end = inner.bytes().take(LONGEST_PLACEHOLDER).position(|b| b == b'>')?;
    let (inner, after) = (&inner[..end], &inner[end + 1..]);
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let first = inner.split(' ').next().unwrap_or_default();
    let has_capitals = first.len() > 1 && first.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let is_name = inner.starts_with(|c: char| c.is_ascii_alphabetic())
        && !inner.ends_with(' ')
        && inner.chars().all(|c| is_word(c) || (c == ' ' && has_capitals));
    let ends = after.is_empty() || after.starts_with(|c: char| c.is_whitespace() || "\"'\\/,:;)".contains(c));
    (is_name && ends).then_some(end + 2)
}

/// The text of a word without parts that need expansion.
pub(super) fn plain(parts: &[Part]) -> String {
    parts
        .iter()
        .filter_map(|part| if let Part::Text { text, .. } = part { Some(text.as_str()) } else { None })
        .collect()
}

/// The parts of a text between double quotes, or of a word inside `${NAME:-...}`.
pub(super) fn parts_of(text: &str, quoted: bool, line: usize) -> Vec<Part> {
    let mut lexer = Lexer { rest: text, line, depth: 0 };
    let mut parts = Vec::new();
    if quoted {
        lexer.quoted(&mut parts, None);
    } else {
        while !lexer.rest.is_empty() {
            let before = lexer.rest.len();
            lexer.part(&mut parts, false);
            if lexer.rest.len() == before {
                lexer.next();
            }
        }
    }
    parts
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    depth: usize,
}

impl<'a> Lexer<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        self.line += usize::from(c == '\n');
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        if self.rest.starts_with(text) {
            self.line += text.matches('\n').count();
            self.rest = &self.rest[text.len()..];
            true
        } else {
            false
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            if self.eat("\\\n") || self.eat("\\\r\n") {
                continue;
            }
            match self.peek() {
                Some(' ' | '\t' | '\r') => drop(self.next()),
                Some('#') => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                }
                _ => return,
            }
        }
    }

    fn token(&mut self) -> Option<Token> {
        self.skip_blanks();
        let line = self.line;
        if self.eat("\n") {
            return Some(Token::Operator("\n", line));
        }
        self.peek()?;
        if let Some(inner) = self.arithmetic() {
            return Some(Token::Arithmetic(inner, line));
        }
        let is_process = self.rest.starts_with("<(") || self.rest.starts_with(">(");
        if let Some(operator) = OPERATORS.iter().find(|operator| self.rest.starts_with(**operator))
            && !is_process
            && placeholder(self.rest).is_none()
        {
            self.rest = &self.rest[operator.len()..];
            return Some(Token::Operator(operator, line));
        }
        Some(Token::Word(self.word(), line))
    }

    /// `((...))`, if the brackets are balanced; else they are two subshells.
    fn arithmetic(&mut self) -> Option<String> {
        let rest = self.rest.strip_prefix("((")?;
        let mut depth = 2usize;
        for (at, c) in rest.char_indices().take(LONGEST_ARITHMETIC) {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 1 {
                let inner = &rest[..at];
                let after = rest[at..].strip_prefix("))")?;
                self.line += inner.matches('\n').count();
                self.rest = after;
                return Some(inner.to_owned());
            }
        }
        None
    }

    /// A word, up to a space or an operator.
    fn word(&mut self) -> Vec<Part> {
        let mut parts = Vec::new();
        loop {
            match self.peek() {
                Some('<' | '>') if self.rest[1..].starts_with('(') => {
                    let line = self.line;
                    self.next();
                    self.next();
                    let inner = self.until_closed('(', ')').to_owned();
                    parts.push(Part::Process { inner, line });
                }
                Some('<') if placeholder(self.rest).is_some() => {
                    let length = placeholder(self.rest).unwrap_or_default();
                    let text = self.rest[..length].to_owned();
                    parts.push(Part::Text { text, quoted: true, line: self.line });
                    self.rest = &self.rest[length..];
                }
                None | Some(' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | '<' | '>' | ')') => return parts,
                Some('(') => {
                    let is_array = matches!(parts.as_slice(), [Part::Text { text, quoted: false, .. }] if text.ends_with('='));
                    if !is_array {
                        return parts;
                    }
                    let array = self.array();
                    parts.push(array);
                    return parts;
                }
                Some('\\') if self.rest.starts_with("\\\n") || self.rest.starts_with("\\\r\n") => {
                    return parts;
                }
                Some(_) => self.part(&mut parts, true),
            }
        }
    }

    /// One part of a word outside quotes. `in_word` ends plain text at spaces and operators.
    fn part(&mut self, parts: &mut Vec<Part>, in_word: bool) {
        let line = self.line;
        match self.peek() {
            Some('\'') => {
                self.next();
                let end = self.rest.find('\'').unwrap_or(self.rest.len());
                push_lines(parts, &self.rest[..end], true, line);
                self.line += self.rest[..end].matches('\n').count();
                self.rest = self.rest.get(end + 1..).unwrap_or_default();
            }
            Some('"') => {
                self.next();
                self.quoted(parts, Some('"'));
            }
            Some('\\') => {
                self.next();
                if let Some(c) = self.next().filter(|c| *c != '\n') {
                    parts.push(Part::Text { text: c.to_string(), quoted: true, line });
                }
            }
            Some('$' | '`') => self.expansion(parts, false),
            Some(_) => {
                let ends = |c: char| "'\"\\$`".contains(c) || (in_word && " \t\r\n;|&<>()".contains(c));
                let end = self.rest.find(ends).unwrap_or(self.rest.len());
                push_lines(parts, &self.rest[..end], false, line);
                self.line += self.rest[..end].matches('\n').count();
                self.rest = &self.rest[end..];
            }
            None => {}
        }
    }

    /// Text between double quotes, up to `end` or the end of the text.
    fn quoted(&mut self, parts: &mut Vec<Part>, end: Option<char>) {
        if self.peek().is_some() && self.peek() == end {
            parts.push(Part::Text { text: String::new(), quoted: true, line: self.line });
        }
        loop {
            let line = self.line;
            match self.peek() {
                None => return,
                Some(c) if Some(c) == end => {
                    self.next();
                    return;
                }
                Some('\\') => {
                    self.next();
                    match self.next() {
                        None | Some('\n') => {}
                        Some(c @ ('"' | '\\' | '$' | '`')) => {
                            parts.push(Part::Text { text: c.to_string(), quoted: true, line });
                        }
                        Some('\r') if self.peek() == Some('\n') => drop(self.next()),
                        Some(c) => parts.push(Part::Text { text: format!("\\{c}"), quoted: true, line }),
                    }
                }
                Some('$' | '`') => self.expansion(parts, true),
                Some(_) => {
                    let stops = |c: char| "\\$`".contains(c) || Some(c) == end;
                    let stop = self.rest.find(stops).unwrap_or(self.rest.len());
                    push_lines(parts, &self.rest[..stop], true, line);
                    self.line += self.rest[..stop].matches('\n').count();
                    self.rest = &self.rest[stop..];
                }
            }
        }
    }

    /// Reads an expansion that begins with `$` or a backquote.
    fn expansion(&mut self, parts: &mut Vec<Part>, quoted: bool) {
        let line = self.line;
        if self.eat("`") {
            let end = self.rest.find('`').unwrap_or(self.rest.len());
            let inner = self.rest[..end].to_owned();
            self.line += inner.matches('\n').count();
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            parts.push(Part::Command { inner, line });
        } else if self.eat("$((") {
            let inner = self.until_closed('(', ')').to_owned();
            self.eat(")");
            parts.push(Part::Arithmetic { inner, line });
        } else if self.eat("$[") {
            let inner = self.until_closed('[', ']').to_owned();
            parts.push(Part::Arithmetic { inner, line });
        } else if self.eat("$(") {
            let inner = self.until_closed('(', ')').to_owned();
            parts.push(Part::Command { inner, line });
        } else if self.eat("${") {
            let inner = self.until_closed('{', '}').to_owned();
            parts.push(Part::Parameter { inner, quoted, line });
        } else {
            self.next();
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = match self.peek() {
                Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => c.len_utf8(),
                _ => self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len()),
            };
            if end == 0 {
                parts.push(Part::Text { text: "$".to_owned(), quoted, line });
            } else {
                parts.push(Part::Parameter { inner: self.rest[..end].to_owned(), quoted, line });
                self.rest = &self.rest[end..];
            }
        }
    }

    /// The text up to the bracket that closes one opened before, which is eaten. Quotes hide brackets.
    fn until_closed(&mut self, open: char, close: char) -> &'a str {
        let start = self.rest;
        let (mut depth, mut quote) = (1usize, None);
        let mut chars = start.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match (quote, c) {
                (Some('\''), '\'') | (Some('"'), '"') => quote = None,
                (_, '\\') => drop(chars.next()),
                (None, '\'' | '"') => quote = Some(c),
                (None, _) if c == open => depth += 1,
                (None, _) if c == close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.line += start[..at].matches('\n').count();
                self.rest = &start[at + c.len_utf8()..];
                return &start[..at];
            }
        }
        self.line += start.matches('\n').count();
        self.rest = "";
        start
    }

    /// The elements of an array; the lexer is at the opening bracket.
    fn array(&mut self) -> Part {
        self.next();
        let mut elements = Vec::new();
        self.depth += 1;
        loop {
            self.skip_blanks();
            match self.peek() {
                None => break,
                Some(')') => {
                    self.next();
                    break;
                }
                Some(';' | '|' | '&' | '<' | '>' | '(' | '\n') => drop(self.next()),
                Some(_) => {
                    let word = if self.depth < DEEPEST { self.word() } else { Vec::new() };
                    if word.is_empty() {
                        self.next();
                    } else {
                        elements.push(word);
                    }
                }
            }
        }
        self.depth -= 1;
        Part::Array(elements)
    }

    /// The lines up to a delimiter, which is eaten.
    fn document(&mut self, delimiter: &str) -> &'a str {
        let start = self.rest;
        let mut length = 0;
        while !self.rest.is_empty() {
            let end = self.rest.find('\n').map_or(self.rest.len(), |n| n + 1);
            let line = self.rest[..end].trim();
            self.rest = &self.rest[end..];
            self.line += 1;
            if line == delimiter {
                break;
            }
            length += end;
        }
        &start[..length]
    }
}

/// Text, a part for each line, so that every word has its line.
fn push_lines(parts: &mut Vec<Part>, text: &str, quoted: bool, first: usize) {
    for (index, line) in text.split_inclusive('\n').enumerate() {
        parts.push(Part::Text { text: line.to_owned(), quoted, line: first + index });
    }
}
