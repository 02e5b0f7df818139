//! Walks through a script like the shell, without running anything.
//!
//! Responsible for: lists of commands, `&&` and `||`, subshells, and the end of the walk. Treats undecided
//! commands as such: their changes are left open.

use super::expand::is_name;
use super::lex::{Part, Token, lex, plain};
use super::values::{Piece, Value, Variables, known, split, word};
use super::{Arm, Command, Exported, Script, condition};
use crate::context::Context;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Steps that a script may take.
const MOST_STEPS: usize = 200_000;
/// Maximum nesting of scripts and calls.
pub(super) const DEEPEST: usize = 8;
/// Branches inside branches.
const DEEPEST_BLOCK: usize = 48;
/// Maximum number of commands and of undecided parts.
pub(super) const MOST: usize = 5000;

/// Reason why the walk stops before the end of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Exit,
    Return,
    Break,
    Continue,
}

/// Walks through a text.
pub(super) fn run(
    text: &str,
    file: &str,
    context: &Context<'_>,
    directives: fn(&str) -> Vec<(&'static str, String)>,
) -> Script {
    let mut variables = Variables::new(file);
    for (name, value) in directives(text) {
        variables.set_text(name, &value, 0);
        variables.exported.insert(name.to_owned());
    }
    for (name, value) in &context.variables {
        variables.set_text(name, value, 0);
        variables.exported.insert(name.clone());
    }
    variables.arguments = context.arguments.as_ref().map(|arguments| {
        arguments.iter().map(|text| vec![Piece { quoted: true, ..super::values::closed(text, 0) }]).collect()
    });
    let mut walker = Walker {
        variables,
        script: Script::default(),
        steps: MOST_STEPS,
        functions: BTreeMap::new(),
        written: BTreeMap::new(),
        ended: None,
        arms: Vec::new(),
        tests: false,
        context,
        directives,
        running: vec![text.to_owned()],
    };
    let base = walker.script.sources.add(file, text);
    walker.nested(text, base, 0);
    let is_cut = walker.is_spent();
    let Walker { variables, mut script, written, .. } = walker;
    script.written = written;
    script.is_cut = is_cut;
    if is_cut {
        script.open.push((
            1,
            "the script".to_owned(),
            "its expansion exceeds the limit; the rest is ignored".to_owned(),
        ));
    }
    script.variables = variables
        .values
        .iter()
        .map(|(name, value)| {
            let words = match value.as_ref() {
                Value::Text(pieces) => split(pieces),
                Value::Array(elements) => elements.iter().map(|element| word(element)).collect(),
                Value::Map(_) | Value::Name(_) => Vec::new(),
            };
            (name.clone(), words)
        })
        .collect();
    script.taken_as_unset.extend(variables.missed);
    script.needs_arguments |= variables.needs_arguments;
    script
}

/// The line of a word with text of its own.
fn line_of(parts: &[Part]) -> Option<usize> {
    match parts.first()? {
        Part::Text { line, .. } | Part::Parameter { line, .. } | Part::Command { line, .. } => Some(*line),
        _ => None,
    }
}

pub(super) struct Walker<'a> {
    pub(super) variables: Variables,
    pub(super) script: Script,
    pub(super) steps: usize,
    pub(super) functions: BTreeMap<String, Rc<Vec<Token>>>,
    /// Files that the script writes itself, with `cat > FILE <<EOF`.
    pub(super) written: BTreeMap<String, String>,
    pub(super) ended: Option<End>,
    /// The branches, not decided, that the walk is in.
    pub(super) arms: Vec<Arm>,
    /// True while the walk is in the condition of a branch.
    pub(super) tests: bool,
    pub(super) context: &'a Context<'a>,
    pub(super) directives: fn(&str) -> Vec<(&'static str, String)>,
    /// Texts of the scripts that the walk is in.
    pub(super) running: Vec<String>,
}

/// A script, and the walker's position in it.
pub(super) struct Place<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) at: usize,
    pub(super) nesting: usize,
    pub(super) blocks: usize,
}

impl<'a> Place<'a> {
    /// The bare word here, such as `if`.
    pub(super) fn bare(&self) -> Option<&'a str> {
        match self.tokens.get(self.at)? {
            Token::Word(parts, _) => match parts.as_slice() {
                [Part::Text { text, quoted: false, .. }] => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn operator(&self) -> Option<&'static str> {
        match self.tokens.get(self.at)? {
            Token::Operator(sign, _) => Some(sign),
            _ => None,
        }
    }

    pub(super) fn line(&self) -> usize {
        match self.tokens.get(self.at.min(self.tokens.len().saturating_sub(1))) {
            Some(
                Token::Operator(_, line)
                | Token::Word(_, line)
                | Token::Arithmetic(_, line)
                | Token::Document { line, .. },
            ) => *line,
            None => 0,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Enters a block, unless blocks are nested deeper than any script's.
    pub(super) fn enter(&mut self) -> bool {
        let can = self.blocks < DEEPEST_BLOCK;
        if can {
            self.blocks += 1;
        } else {
            self.at = self.tokens.len();
        }
        can
    }
}

impl Walker<'_> {
    pub(super) fn nested(&mut self, text: &str, line: usize, nesting: usize) {
        if nesting > DEEPEST {
            return;
        }
        let tokens = lex(text, line);
        let mut place = Place { tokens: &tokens, at: 0, nesting, blocks: 0 };
        while !place.is_done() && !self.is_spent() && self.ended.is_none() {
            self.list(&mut place, &[], true);
            // A stray end of a block.
            place.at += 1;
        }
    }

    /// Tests whether the script exceeds its steps or its expanded text.
    pub(super) fn is_spent(&self) -> bool {
        self.steps == 0 || self.variables.room == 0
    }

    pub(super) fn open(&mut self, line: usize, what: impl Into<String>, why: impl Into<String>) {
        if self.script.open.len() < MOST {
            self.script.open.push((line, what.into(), why.into()));
        }
    }

    /// Runs commands up to one of the words; returns the last one's status, if known.
    pub(super) fn list(&mut self, place: &mut Place<'_>, ends: &[&str], active: bool) -> Option<bool> {
        let mut status = Some(true);
        let mut runs = active;
        // The line of a chain with an undecided first part.
        let mut perhaps: Option<Arm> = None;
        while !place.is_done() {
            if self.is_spent() {
                place.at = place.tokens.len();
                return None;
            }
            self.steps -= 1;
            let live = active && self.ended.is_none();
            match place.operator() {
                Some(")" | ";;") if ends.contains(&place.operator().unwrap_or_default()) => return status,
                Some(sign @ ("&&" | "||")) => {
                    let wanted = sign == "&&";
                    let arm = Arm { line: place.line(), index: usize::from(wanted) };
                    perhaps = (live && status.is_none()).then_some(arm);
                    runs = live && status != Some(!wanted);
                }
                Some("\n" | ";" | "&" | "|" | "|&") => {
                    runs = live;
                    perhaps = None;
                }
                Some("(") => {
                    place.at += 1;
                    if place.enter() {
                        let before = self.state();
                        status = self.list(place, &[")"], runs);
                        self.variables.values = before;
                        place.blocks -= 1;
                    }
                }
                Some(_) => {}
                None => {
                    if place.bare().is_some_and(|word| ends.contains(&word)) {
                        return status;
                    }
                    runs &= self.ended.is_none();
                    let found = match (perhaps, runs) {
                        (Some(arm), true) => {
                            self.perhaps(place, arm);
                            None
                        }
                        _ => self.command(place, runs),
                    };
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

    /// A command that may not run: its changes are open.
    fn perhaps(&mut self, place: &mut Place<'_>, arm: Arm) {
        let before = self.state();
        self.arms.push(arm);
        self.command(place, true);
        self.arms.pop();
        let after = self.state();
        if self.ended.take().is_some() {
            self.variables.values = before;
        } else {
            self.merge(&[before, after], arm.line);
        }
    }

    /// A command, simple or compound.
    fn command(&mut self, place: &mut Place<'_>, active: bool) -> Option<bool> {
        if let Some(Token::Arithmetic(text, line)) = place.tokens.get(place.at) {
            place.at += 1;
            return if active { self.variables.evaluate(text, *line, 0).ok().map(|n| n != 0) } else { None };
        }
        let word = place.bare().unwrap_or_default();
        let compound = matches!(
            word,
            "if" | "for" | "while" | "until" | "case" | "{" | "function" | "select" | "!" | "time"
        );
        if !compound {
            return self.simple(place, active);
        }
        if !place.enter() {
            return None;
        }
        let status = match word {
            "if" => self.branches(place, active),
            "for" | "select" => self.for_loop(place, active),
            "while" => self.while_loop(place, active, false),
            "until" => self.while_loop(place, active, true),
            "case" => self.cases(place, active),
            "!" => {
                place.at += 1;
                self.command(place, active).map(|status| !status)
            }
            "time" => {
                place.at += 1;
                self.command(place, active)
            }
            "function" => {
                place.at += 1;
                let name = place.bare().unwrap_or_default();
                place.at += 1;
                if place.operator() == Some("(") {
                    place.at += 2;
                }
                self.define(name, place);
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
        let mut document = None;
        let (mut target, mut string) = (None, None);
        while let Some(token) = place.tokens.get(place.at) {
            match token {
                Token::Word(parts, _) => words.push(parts),
                Token::Operator(
                    sign @ ("<" | ">" | ">>" | "&>" | "&>>" | ">&" | "<&" | ">|" | "<<" | "<<-" | "<<<"),
                    _,
                ) => {
                    // The number of a stream comes before, a file after it.
                    if words.last().is_some_and(|parts| matches!(plain(parts).as_str(), "1" | "2")) {
                        words.pop();
                    }
                    place.at += 1;
                    match place.tokens.get(place.at) {
                        Some(Token::Document { text, quoted, line }) => {
                            document = Some((text, *quoted, *line));
                        }
                        Some(Token::Word(parts, _)) if *sign == ">" => target = Some(parts),
                        Some(Token::Word(parts, _)) if *sign == "<<<" => string = Some(parts),
                        _ => {}
                    }
                }
                Token::Operator("(", _) if words.len() == 1 => {
                    place.at += 2;
                    self.define(&plain(words[0]), place);
                    return Some(true);
                }
                _ => break,
            }
            place.at += 1;
        }
        if place.at == start {
            // Not the start of a command.
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
        if let Some((text, quoted, line)) = document {
            // `read -r -d '' NAME <<EOF` reads the whole text.
            let is_whole = first == "read" && words.iter().any(|parts| plain(parts) == "-d");
            if let Some(name) = words.iter().skip(1).map(|parts| plain(parts)).rfind(|word| is_name(word))
                && is_whole
            {
                self.read_into(&name, text, quoted, line);
                return Some(true);
            }
            let target = target.and_then(|parts| self.variables.words(parts).into_iter().next());
            self.document(&first, text, quoted, line, target, place.nesting);
            return Some(true);
        }
        // `IFS=',' read -r a b <<< "$LIST"` has its own separator.
        let separator = first.strip_prefix("IFS=").filter(|_| words.len() > 1 && plain(words[1]) == "read");
        let reads = usize::from(separator.is_some());
        if let Some(text) = string.filter(|_| first == "read" || separator.is_some()) {
            let separator = separator.and_then(|text| text.chars().next());
            let ends = |c: char| separator.map_or(c.is_whitespace(), |own| c == own);
            let names: Vec<String> = words[reads + 1..].iter().map(|parts| plain(parts)).collect();
            let text = known(&self.variables.text(text));
            if let Some(text) = text.filter(|_| names.iter().all(|name| name == "-r" || is_name(name))) {
                let names: Vec<&String> = names.iter().filter(|name| *name != "-r").collect();
                let mut rest = text.trim();
                for (at, name) in names.iter().enumerate() {
                    let end = rest.find(ends).filter(|_| at + 1 < names.len()).unwrap_or(rest.len());
                    self.variables.set_text(name, &rest[..end], line);
                    rest = match separator {
                        Some(own) => rest[end..].strip_prefix(own).unwrap_or_default(),
                        None => rest[end..].trim_start(),
                    };
                }
                return Some(true);
            }
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
        if matches!(first, "export" | "declare" | "local" | "readonly" | "typeset") {
            self.declare(&words[1..], first == "export", line);
            return Some(true);
        }
        let is_assignment = |parts: &&&[Part]| match parts.first() {
            Some(Part::Text { text, quoted: false, .. }) => text.split_once('=').is_some_and(|(name, _)| {
                is_name(name.split('[').next().unwrap_or_default().trim_end_matches('+'))
            }),
            _ => false,
        };
        let assigned = words.iter().take_while(is_assignment).count();
        let last = words.last().and_then(|parts| line_of(parts)).unwrap_or(line);
        let is_continued = assigned == words.len() && assigned > 1 && last > line;
        if is_continued || (first.starts_with("--") && first.len() > 2) {
            let why = "not an argument: a comment or an empty line ends the command above it";
            self.open(line, first, why);
        }
        if assigned == words.len() {
            for parts in words {
                self.variables.assign(parts);
            }
            return Some(true);
        }
        self.start(&words[..assigned], &words[assigned..], line, nesting)
    }

    /// `declare -A NAME`, `export NAME=value`, `local -n NAME=OTHER`.
    fn declare(&mut self, words: &[&[Part]], exports: bool, line: usize) {
        let mut flags = String::new();
        for parts in words {
            let text = plain(parts);
            if text.starts_with('-') {
                flags.push_str(&text);
                continue;
            }
            let name = text.split(['=', '+', '[']).next().unwrap_or_default().to_owned();
            if flags.contains('n') && text.contains('=') {
                let target = self.variables.words(parts).into_iter().next().unwrap_or_default();
                let target = target.text.split_once('=').map_or("", |(_, target)| target).to_owned();
                if is_name(&name) && is_name(&target) && name != target {
                    self.variables.values.insert(name, Rc::new(Value::Name(target)));
                }
                continue;
            }
            if flags.contains('A') && is_name(&name) {
                self.variables.set(&name, Value::Map(BTreeMap::new()));
            }
            let has_value = self.variables.assign(parts).is_some();
            // `declare -i` computes what it is given.
            if has_value && flags.contains('i') && is_name(&name) {
                let number = text.split_once('=').and_then(|_| {
                    let text = known(&self.variables.text(parts))?;
                    self.variables.evaluate(text.split_once('=')?.1, 0, 0).ok()
                });
                if let Some(number) = number {
                    self.variables.set_text(&name, &number.to_string(), 0);
                }
            }
            if !has_value && exports && is_name(&text) {
                self.export(text, line);
            } else if has_value && (exports || flags.contains('x')) {
                self.export(name, line);
            }
        }
    }

    /// Hands a variable to the programs that start from now on.
    pub(super) fn export(&mut self, name: String, line: usize) {
        let value = match self.variables.get(&name).map(Rc::as_ref) {
            Some(Value::Text(pieces)) => known(pieces),
            _ => None,
        };
        if self.script.environment.len() < MOST {
            self.script.environment.push(Exported { name: name.clone(), value, line });
        }
        self.variables.exported.insert(name);
    }

    /// Keeps a command.
    pub(super) fn keep(&mut self, command: Command) {
        if self.script.commands.len() < MOST && !command.words.is_empty() {
            self.script.commands.push(command);
        }
    }
}
