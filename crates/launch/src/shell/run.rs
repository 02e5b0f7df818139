//! Walks through a script as the shell would, without running anything.
//!
//! Responsible for: assignments, branches whose condition is known, one pass of a loop, functions where they stand, and the commands
//! that would be started, those inside `eval` and `bash -c` among them. Refuses branches that cannot be decided: they are reported.

use super::condition;
use super::expand::{Piece, Value, Variables, known, split, word};
use super::lex::{Part, Token, lex, plain};
use super::{Command, Script, Word};

/// Steps that a script may take.
const MOST_STEPS: usize = 200_000;
/// Scripts inside scripts go this deep at most, and so do branches inside branches.
const DEEPEST: usize = 6;
/// Branches inside branches.
const DEEPEST_BLOCK: usize = 48;
/// Commands and open questions that are kept.
const MOST: usize = 5000;

/// Walks through a text.
pub(super) fn run(text: &str, given: &[(&str, String)]) -> Script {
    let mut variables = Variables::new();
    for (name, value) in given {
        let piece = Piece { text: value.clone(), line: 0, quoted: false, unknown: None };
        variables.values.insert((*name).to_owned(), Value::Text(vec![piece]));
    }
    let mut walker = Walker { variables, script: Script::default(), steps: MOST_STEPS };
    walker.nested(text, 1, 0);
    let Walker { variables, mut script, steps } = walker;
    if steps == 0 || variables.room == 0 {
        script.open.push((
            1,
            "the script".to_owned(),
            "it makes more text than any launch script; the rest is left out".to_owned(),
        ));
    }
    script.variables = variables
        .values
        .iter()
        .map(|(name, value)| {
            let words = match value {
                Value::Text(pieces) => split(pieces),
                Value::Array(elements) => elements.iter().map(|element| word(element)).collect(),
            };
            (name.clone(), words)
        })
        .collect();
    script
}

struct Walker {
    variables: Variables,
    script: Script,
    steps: usize,
}

/// A script, and where in it the walker stands.
struct Place<'a> {
    tokens: &'a [Token],
    at: usize,
    nesting: usize,
    blocks: usize,
}

impl Place<'_> {
    /// The bare word here, such as `if`.
    fn bare(&self) -> Option<&str> {
        match self.tokens.get(self.at)? {
            Token::Word(parts, _) => match parts.as_slice() {
                [Part::Text { text, quoted: false, .. }] => Some(text),
                _ => None,
            },
            Token::Operator(..) => None,
        }
    }

    fn operator(&self) -> Option<&'static str> {
        match self.tokens.get(self.at)? {
            Token::Operator(sign, _) => Some(sign),
            Token::Word(..) => None,
        }
    }

    fn line(&self) -> usize {
        match self.tokens.get(self.at.min(self.tokens.len().saturating_sub(1))) {
            Some(Token::Operator(_, line) | Token::Word(_, line)) => *line,
            None => 0,
        }
    }

    fn is_done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Enters a block, unless blocks are nested deeper than any script's.
    fn enter(&mut self) -> bool {
        let can = self.blocks < DEEPEST_BLOCK;
        if can {
            self.blocks += 1;
        } else {
            self.at = self.tokens.len();
        }
        can
    }

    /// Skips `((...))`.
    fn skip_arithmetic(&mut self) {
        let mut depth = 1;
        while depth > 0 && !self.is_done() {
            match self.operator() {
                Some("(") => depth += 1,
                Some(")") => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }
}

impl Walker {
    fn nested(&mut self, text: &str, line: usize, nesting: usize) {
        if nesting > DEEPEST {
            return;
        }
        let tokens = lex(text, line);
        let mut place = Place { tokens: &tokens, at: 0, nesting, blocks: 0 };
        while !place.is_done() && self.steps > 0 {
            self.list(&mut place, &[], true);
            // A stray end of a block.
            place.at += 1;
        }
    }

    fn open(&mut self, line: usize, what: impl Into<String>, why: impl Into<String>) {
        if self.script.open.len() < MOST {
            self.script.open.push((line, what.into(), why.into()));
        }
    }

    /// Commands up to one of the words; the last one's status, where it is known.
    fn list(&mut self, place: &mut Place<'_>, ends: &[&str], active: bool) -> Option<bool> {
        let mut status = Some(true);
        let mut runs = active;
        while !place.is_done() {
            if self.steps == 0 {
                place.at = place.tokens.len();
                return None;
            }
            self.steps -= 1;
            match place.operator() {
                Some(")" | ";;") if ends.contains(&place.operator().unwrap_or_default()) => return status,
                Some("&&") => runs = active && status == Some(true),
                Some("||") => runs = active && status == Some(false),
                Some("\n" | ";" | "&" | "|" | "|&") => runs = active,
                Some("(") => {
                    place.at += 1;
                    if place.operator() == Some("(") {
                        place.skip_arithmetic();
                        status = None;
                        continue;
                    }
                    if place.enter() {
                        status = self.list(place, &[")"], runs);
                        place.blocks -= 1;
                    }
                }
                Some(_) => {}
                None => {
                    if place.bare().is_some_and(|word| ends.contains(&word)) {
                        return status;
                    }
                    let found = self.command(place, runs);
                    if runs {
                        status = found;
                    }
                    continue;
                }
            }
            place.at += 1;
        }
        status
    }

    /// A command, simple or compound.
    fn command(&mut self, place: &mut Place<'_>, active: bool) -> Option<bool> {
        let word = place.bare().unwrap_or_default().to_owned();
        let compound =
            matches!(word.as_str(), "if" | "for" | "while" | "until" | "case" | "{" | "function" | "select");
        if !compound {
            return self.simple(place, active);
        }
        if !place.enter() {
            return None;
        }
        let status = match word.as_str() {
            "if" => self.branches(place, active),
            "for" | "select" => self.pass(place, active),
            "while" | "until" => {
                place.at += 1;
                self.list(place, &["do"], false);
                place.at += 1;
                self.list(place, &["done"], false);
                place.at += 1;
                None
            }
            "case" => self.cases(place, active),
            "function" => {
                place.at += 2;
                Some(true)
            }
            _ => {
                place.at += 1;
                let status = self.list(place, &["}"], active);
                place.at += 1;
                status
            }
        };
        place.blocks -= 1;
        status
    }

    fn branches(&mut self, place: &mut Place<'_>, active: bool) -> Option<bool> {
        let mut is_open = active;
        let mut undecided = None;
        loop {
            let line = place.line();
            place.at += 1;
            let condition = self.list(place, &["then", "fi"], is_open);
            place.at += 1;
            let takes = is_open && condition == Some(true);
            if is_open && condition.is_none() {
                undecided.get_or_insert(line);
                // Neither this branch nor those behind it can be known to be taken.
                is_open = false;
            }
            self.list(place, &["elif", "else", "fi"], takes);
            is_open = is_open && !takes;
            if place.bare() != Some("elif") || place.is_done() {
                break;
            }
        }
        if place.bare() == Some("else") {
            place.at += 1;
            self.list(place, &["fi"], is_open);
        }
        let end = place.line();
        place.at += 1;
        if let Some(line) = undecided {
            let why = format!("only a run can decide it; lines {line} to {end} are left out");
            self.open(line, "if", why);
        }
        None
    }

    /// The first pass of a loop over words.
    fn pass(&mut self, place: &mut Place<'_>, active: bool) -> Option<bool> {
        let line = place.line();
        place.at += 1;
        let name = place.bare().unwrap_or_default().to_owned();
        place.at += 1;
        let mut words = Vec::new();
        while !place.is_done() && place.bare() != Some("do") {
            if let Some(Token::Word(parts, _)) = place.tokens.get(place.at)
                && plain(parts) != "in"
            {
                words.extend(self.variables.fields(parts));
            }
            place.at += 1;
        }
        place.at += 1;
        let has_pass = active && !words.is_empty();
        if has_pass {
            if words.len() > 1 {
                self.open(
                    line,
                    format!("for {name}"),
                    format!("the first of {} passes is read", words.len()),
                );
            }
            let first = words.swap_remove(0);
            self.variables.values.insert(name, Value::Text(first));
        }
        self.list(place, &["done"], has_pass);
        place.at += 1;
        None
    }

    fn cases(&mut self, place: &mut Place<'_>, active: bool) -> Option<bool> {
        place.at += 1;
        let subject = match place.tokens.get(place.at) {
            Some(Token::Word(parts, _)) => known(&self.variables.text(parts)),
            _ => None,
        };
        let line = place.line();
        if subject.is_none() && active {
            self.open(line, "case", "only a run can decide it; it is left out");
        }
        while !place.is_done() && place.bare() != Some("in") {
            place.at += 1;
        }
        place.at += 1;
        let mut taken = !active || subject.is_none();
        while !place.is_done() && place.bare() != Some("esac") {
            let mut matches = false;
            while !place.is_done() && place.operator() != Some(")") && place.bare() != Some("esac") {
                if let Some(Token::Word(parts, _)) = place.tokens.get(place.at) {
                    let pattern = known(&self.variables.text(parts));
                    let fits = |pattern: &str| pattern == "*" || Some(pattern) == subject.as_deref();
                    matches |= pattern.as_deref().is_some_and(fits);
                }
                place.at += 1;
            }
            if place.bare() == Some("esac") {
                break;
            }
            place.at += 1;
            self.list(place, &[";;", "esac"], matches && !taken);
            taken |= matches;
            if place.operator() == Some(";;") {
                place.at += 1;
            }
        }
        place.at += 1;
        None
    }

    /// Words up to an operator; redirections are dropped.
    fn simple(&mut self, place: &mut Place<'_>, active: bool) -> Option<bool> {
        let start = place.at;
        let line = place.line();
        if place.bare() == Some("[[") {
            while !place.is_done() && place.bare() != Some("]]") {
                place.at += 1;
            }
            let inner = &place.tokens[start + 1..place.at.max(start + 1)];
            place.at += 1;
            return if active { condition::test(inner, &mut self.variables) } else { None };
        }
        let mut words: Vec<&[Part]> = Vec::new();
        while let Some(token) = place.tokens.get(place.at) {
            match token {
                Token::Word(parts, _) => words.push(parts),
                Token::Operator(
                    "<" | ">" | ">>" | "&>" | "&>>" | ">&" | "<&" | ">|" | "<<" | "<<-" | "<<<",
                    _,
                ) => {
                    // The number of a stream stands before, a file behind.
                    if words.last().is_some_and(|parts| matches!(plain(parts).as_str(), "1" | "2")) {
                        words.pop();
                    }
                    place.at += 1;
                }
                Token::Operator("(", _) if words.len() == 1 => {
                    // A function: its body is read where it stands.
                    place.at += 2;
                    return Some(true);
                }
                Token::Operator(..) => break,
            }
            place.at += 1;
        }
        if !active || words.is_empty() {
            return None;
        }
        let first = plain(words[0]);
        if matches!(first.as_str(), "[" | "test") {
            let end = words.len()
                - usize::from(words.len() > 1 && words.last().is_some_and(|last| plain(last) == "]"));
            let tokens: Vec<Token> =
                words[1..end.max(1)].iter().map(|parts| Token::Word(parts.to_vec(), line)).collect();
            return condition::test(&tokens, &mut self.variables);
        }
        self.assign_or_start(&words, &first, line, place.nesting)
    }

    fn assign_or_start(
        &mut self,
        words: &[&[Part]],
        first: &str,
        line: usize,
        nesting: usize,
    ) -> Option<bool> {
        let declares = matches!(first, "export" | "declare" | "local" | "readonly" | "typeset");
        let candidates = if declares { &words[1..] } else { words };
        let assigned = candidates.iter().take_while(|parts| self.assign(parts)).count();
        if declares || assigned == candidates.len() {
            return Some(true);
        }
        match first {
            "unset" => {
                for parts in &words[1..] {
                    self.variables.values.remove(&plain(parts));
                }
                return Some(true);
            }
            "source" | "." => {
                let name = words.get(1).map(|parts| self.variables.words(parts)).unwrap_or_default();
                let name = name.first().map_or_else(String::new, |word| word.text.clone());
                self.open(
                    line,
                    format!("{first} {name}"),
                    "other files are not read; what it sets is unknown",
                );
                return Some(true);
            }
            "exit" | "return" | "set" | "echo" | "printf" | "cd" | "mkdir" | "module" | ":" => {
                return Some(true);
            }
            _ => {}
        }
        let fields: Vec<Vec<Piece>> =
            words[assigned..].iter().flat_map(|parts| self.variables.fields(parts)).collect();
        let expanded: Vec<Word> = fields.iter().map(|pieces| word(pieces)).collect();
        // What is started by another shell is a script of its own.
        if first == "eval" {
            let rest: Vec<Word> = fields.iter().skip(1).flat_map(|pieces| split(pieces)).collect();
            self.inner(rest, &expanded[1..], line, nesting);
            return None;
        }
        let is_shell = |word: &Word| matches!(word.text.rsplit('/').next(), Some("bash" | "sh" | "zsh"));
        let at = expanded
            .windows(3)
            .position(|w| is_shell(&w[0]) && w[1].text.starts_with('-') && w[1].text.ends_with('c'));
        if let Some(at) = at {
            self.inner(split(&fields[at + 2]), &expanded[at + 2..at + 3], expanded[at + 2].line, nesting);
        }
        if self.script.commands.len() < MOST && !expanded.is_empty() {
            self.script.commands.push(Command { words: expanded, line });
        }
        // Whether a program works is taken for granted.
        Some(true)
    }

    /// A script inside a script. Plain words keep the lines that they were written in; quotes and expansions are read anew.
    fn inner(&mut self, words: Vec<Word>, whole: &[Word], line: usize, nesting: usize) {
        let marks = ['"', '\'', '$', '`', '(', ')', ';', '\\'];
        let sets = |word: &Word| !word.text.starts_with('-') && word.text.contains('=');
        let is_plain = |word: &Word| !word.unknown.is_empty() || !(word.text.contains(marks) || sets(word));
        if words.iter().all(is_plain) {
            let ends =
                |word: &Word| word.text.starts_with(['|', '&', '>', '<']) || word.text.starts_with("2>");
            let words: Vec<Word> = words.into_iter().take_while(|word| !ends(word)).collect();
            if self.script.commands.len() < MOST && !words.is_empty() {
                self.script.commands.push(Command { words, line });
            }
            return;
        }
        let text = whole.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        self.nested(&text, line, nesting + 1);
    }

    /// Takes `NAME=value`, `NAME+=value`, `NAME=(...)`; `false` if the word is none.
    fn assign(&mut self, parts: &[Part]) -> bool {
        let Some(Part::Text { text, quoted: false, line }) = parts.first() else { return false };
        let Some((name, rest)) = text.split_once('=') else { return false };
        let (name, appends) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name || name.starts_with(|c: char| c.is_ascii_digit()) {
            return false;
        }
        let value = if let Some(Part::Array(elements)) = parts.get(1) {
            Value::Array(elements.iter().flat_map(|element| self.variables.fields(element)).collect())
        } else {
            let mut pieces = vec![Piece { text: rest.to_owned(), line: *line, quoted: false, unknown: None }];
            pieces.extend(self.variables.text(&parts[1..]));
            Value::Text(pieces)
        };
        let value = match (appends.then(|| self.variables.values.remove(name)).flatten(), value) {
            (Some(Value::Array(mut old)), Value::Array(new)) => {
                old.extend(new);
                Value::Array(old)
            }
            (Some(Value::Text(mut old)), Value::Text(new)) => {
                old.extend(new);
                Value::Text(old)
            }
            (Some(Value::Array(mut old)), Value::Text(new)) => {
                if old.is_empty() {
                    old.push(new);
                } else {
                    old[0].extend(new);
                }
                Value::Array(old)
            }
            (_, new) => new,
        };
        self.variables.values.insert(name.to_owned(), value);
        true
    }
}
