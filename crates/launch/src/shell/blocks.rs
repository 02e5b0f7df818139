//! Compound commands: `if`, `case`, `for`, `while`, functions.
//!
//! Responsible for: taking a branch with a true condition, leaving open the changes of an undecided branch,
//! and the passes of loops. A branch that ends the script is not taken: the user fulfils its requirements.
//! The body of a loop with an unknown condition counts as an undecided branch.

use super::Arm;
use super::lex::{Token, plain};
use super::merge::State;
use super::pattern;
use super::run::{End, Place, Walker};
use super::values::{Value, known};
use std::rc::Rc;

/// Maximum number of passes of a loop.
const MOST_PASSES: usize = 4096;

/// Result of a branch.
struct Outcome {
    state: State,
    ended: Option<End>,
}

impl Walker<'_> {
    /// Tests whether a pass of a loop's body also ended the loop.
    fn leaves_loop(&mut self) -> bool {
        match self.ended {
            Some(End::Continue) => {
                self.ended = None;
                false
            }
            Some(End::Break) => {
                self.ended = None;
                true
            }
            Some(_) => true,
            None => false,
        }
    }

    /// Runs a block, and restores the variables that it changed.
    fn branch(&mut self, place: &mut Place<'_>, ends: &[&str], line: usize) -> Outcome {
        let before = self.state();
        self.arms.push(Arm { line, index: place.at });
        self.list(place, ends, true);
        self.arms.pop();
        let state = std::mem::replace(&mut self.variables.values, before);
        Outcome { state, ended: self.ended.take() }
    }

    /// Runs a block that is known to be entered. One that ends the script without starting anything is
    /// skipped: the user fulfils its requirements.
    fn taken(&mut self, place: &mut Place<'_>, ends: &[&str]) {
        let (before, commands, line) = (self.state(), self.script.commands.len(), place.line());
        let at = place.at;
        self.list(place, ends, true);
        let starts = self.script.commands[commands.min(self.script.commands.len())..]
            .iter()
            .any(|command| command.words.iter().filter(|word| word.text.starts_with("--")).count() > 2);
        if matches!(self.ended, Some(End::Exit)) && !starts && at < place.at {
            self.ended = None;
            self.variables.values = before;
            self.note_stop(line);
        }
    }

    /// Reports once that the script exits here.
    fn note_stop(&mut self, line: usize) {
        let what = format!("line {line}");
        let why = "the script exits here with the known values; reading continues";
        if !self.script.open.iter().any(|(_, _, source)| source == why) {
            self.open(line, what, why);
        }
    }

    pub(super) fn branches(&mut self, place: &mut Place<'_>, active: bool) -> Option<bool> {
        let mut is_open = active;
        let mut undecided = None;
        let mut outcomes: Vec<State> = Vec::new();
        let mut settled = false;
        loop {
            let line = place.line();
            place.at += 1;
            let condition = self.condition(place, &["then", "fi"], is_open);
            place.at += 1;
            if is_open && condition.is_none() {
                undecided.get_or_insert(line);
            }
            match (is_open, condition, undecided) {
                (true, Some(true), None) => {
                    self.taken(place, &["elif", "else", "fi"]);
                    is_open = false;
                }
                (true, Some(false), _) | (false, ..) => {
                    self.list(place, &["elif", "else", "fi"], false);
                }
                (true, _, Some(first)) => {
                    let outcome = self.branch(place, &["elif", "else", "fi"], first);
                    if outcome.ended.is_none() {
                        outcomes.push(outcome.state);
                    }
                    if condition == Some(true) {
                        is_open = false;
                        settled = true;
                    }
                }
                (true, None, None) => {}
            }
            if place.bare() != Some("elif") || place.is_done() {
                break;
            }
        }
        if place.bare() == Some("else") {
            place.at += 1;
            match undecided {
                Some(line) if is_open => {
                    let outcome = self.branch(place, &["fi"], line);
                    if outcome.ended.is_none() {
                        outcomes.push(outcome.state);
                    }
                    settled = true;
                }
                _ if is_open => self.taken(place, &["fi"]),
                _ => drop(self.list(place, &["fi"], false)),
            }
        }
        place.at += 1;
        if let Some(line) = undecided {
            if !settled {
                outcomes.insert(0, self.state());
            }
            self.merge(&outcomes, line);
        }
        None
    }

    /// A condition, in which a program's success is not assumed.
    fn condition(&mut self, place: &mut Place<'_>, ends: &[&str], active: bool) -> Option<bool> {
        let outer = std::mem::replace(&mut self.tests, true);
        let status = self.list(place, ends, active);
        self.tests = outer;
        status
    }

    /// Runs the body of a loop once for each pass of `next`; commands are kept from the first pass alone.
    fn passes(
        &mut self,
        place: &mut Place<'_>,
        line: usize,
        what: &str,
        mut next: impl FnMut(&mut Self, usize) -> bool,
    ) {
        let body = place.at;
        let mut passes = 0;
        let mut kept = None;
        while passes < MOST_PASSES && self.steps > 0 && next(self, passes) {
            passes += 1;
            place.at = body;
            let before = self.script.commands.len();
            self.list(place, &["done"], true);
            let count = *kept.get_or_insert(self.script.commands.len());
            if passes > 1 {
                self.script.commands.truncate(count.max(before.min(count)));
            }
            if self.leaves_loop() {
                break;
            }
        }
        if passes == 0 {
            place.at = body;
            self.list(place, &["done"], false);
        }
        self.state_iterations(what, line, kept.unwrap_or(0), passes);
        place.at += 1;
    }

    /// Notes that a loop starts a program several times, of which the first counts. `first` is the number of
    /// commands after its first pass.
    fn state_iterations(&mut self, what: &str, line: usize, first: usize, passes: usize) {
        let first = first.min(self.script.commands.len());
        let is_configuration = |word: &super::Word| {
            [".yaml", ".yml", ".toml", ".json"].iter().any(|end| word.text.ends_with(end))
        };
        let is_program = |word: &super::Word| {
            word.file_name() == "torchrun" || word.text.rsplit_once('.').is_some_and(|(_, end)| end == "py")
        };
        // Settings of the program are flags or overrides, `key=value`, or a file.
        let starts = |command: &super::Command| {
            let is_setting = |text: &str| {
                let name = text.trim_start_matches('+').split('=').next().unwrap_or_default();
                text.starts_with("--")
                    || (text.contains('=')
                        && name.starts_with(|c: char| c.is_ascii_lowercase())
                        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')))
            };
            command.words.iter().filter(|word| is_setting(&word.text)).count() > 2
                || (command.words.iter().any(is_program) && command.words.iter().any(is_configuration))
        };
        if passes > 1
            && self.script.commands[..first].iter().rev().take(8).any(|c| c.line >= line && starts(c))
        {
            self.open(line, what.to_owned(), format!("the first of {passes} iterations is used"));
        }
    }

    /// A loop over words, or as in C.
    pub(super) fn for_loop(&mut self, place: &mut Place<'_>, active: bool) -> Option<bool> {
        let line = place.line();
        place.at += 1;
        if let Some(Token::Arithmetic(head, _)) = place.tokens.get(place.at) {
            let parts: Vec<String> = head.splitn(3, ';').map(str::to_owned).collect();
            while !place.is_done() && place.bare() != Some("do") {
                place.at += 1;
            }
            place.at += 1;
            let [start, test, step] = parts.as_slice() else {
                self.skip_loop(place);
                return None;
            };
            if !active {
                self.skip_loop(place);
                return None;
            }
            let _ = self.variables.evaluate(start, line, 0);
            self.passes(place, line, "for", |walker, pass| {
                if pass > 0 {
                    let _ = walker.variables.evaluate(step, line, 0);
                }
                walker.variables.evaluate(test, line, 0).is_ok_and(|n| n != 0)
            });
            return None;
        }
        let name = place.bare().unwrap_or_default().to_owned();
        place.at += 1;
        let mut words = Vec::new();
        let mut has_in = false;
        while !place.is_done() && place.bare() != Some("do") {
            if let Some(Token::Word(parts, _)) = place.tokens.get(place.at) {
                if plain(parts) == "in" && !has_in {
                    has_in = true;
                } else if active {
                    words.extend(self.variables.fields(parts));
                }
            }
            place.at += 1;
        }
        place.at += 1;
        if !active || words.is_empty() {
            self.skip_loop(place);
            return None;
        }
        let what = format!("for {name}");
        self.passes(place, line, &what, |walker, pass| {
            let Some(word) = words.get(pass) else { return false };
            walker.variables.set(&name, Value::Text(word.clone()));
            true
        });
        None
    }

    fn skip_loop(&mut self, place: &mut Place<'_>) {
        self.list(place, &["done"], false);
        place.at += 1;
    }

    pub(super) fn while_loop(&mut self, place: &mut Place<'_>, active: bool, until: bool) -> Option<bool> {
        let line = place.line();
        place.at += 1;
        let head = place.at;
        let asked = std::mem::take(&mut self.variables.needs_arguments);
        let mut status = self.condition(place, &["do"], active).map(|status| status != until);
        // A loop over unknown arguments has no iteration.
        let is_getopts =
            matches!(place.tokens.get(head), Some(Token::Word(parts, _)) if plain(parts) == "getopts");
        let over_arguments =
            self.variables.needs_arguments || is_getopts && self.variables.arguments.is_none();
        self.variables.needs_arguments |= asked;
        place.at += 1;
        let body = place.at;
        let mut passes = 0;
        let mut kept = None;
        while active && status == Some(true) && passes < MOST_PASSES && self.steps > 0 && self.ended.is_none()
        {
            place.at = body;
            self.list(place, &["done"], true);
            passes += 1;
            let count = *kept.get_or_insert(self.script.commands.len());
            self.script.commands.truncate(count);
            if self.leaves_loop() {
                break;
            }
            let end = place.at;
            place.at = head;
            status = self.condition(place, &["do"], true).map(|status| status != until);
            place.at = end;
        }
        self.state_iterations(if until { "until" } else { "while" }, line, kept.unwrap_or(0), passes);
        if active && passes == 0 && status.is_none() && !over_arguments {
            place.at = body;
            let before = self.state();
            let outcome = self.branch(place, &["done"], line);
            self.merge(&[before, outcome.state], line);
        } else if passes == 0 {
            place.at = body;
            self.list(place, &["done"], false);
        }
        place.at += 1;
        None
    }

    pub(super) fn cases(&mut self, place: &mut Place<'_>, active: bool) -> Option<bool> {
        place.at += 1;
        let line = place.line();
        let subject = match place.tokens.get(place.at) {
            Some(Token::Word(parts, _)) if active => {
                let pieces = self.variables.text(parts);
                let set: Vec<_> =
                    pieces.into_iter().filter(|piece| piece.unknown != Some(super::Why::Unset)).collect();
                known(&set)
            }
            _ => None,
        };
        while !place.is_done() && place.bare() != Some("in") {
            place.at += 1;
        }
        place.at += 1;
        let undecided = active && subject.is_none();
        let mut outcomes: Vec<State> = Vec::new();
        let mut has_rest = false;
        let mut taken = !active;
        while !place.is_done() && place.bare() != Some("esac") {
            let mut matches = false;
            let mut is_rest = false;
            while !place.is_done() && place.operator() != Some(")") && place.bare() != Some("esac") {
                if let Some(Token::Word(parts, _)) = place.tokens.get(place.at) {
                    let text = known(&self.variables.text(parts));
                    is_rest |= text.as_deref() == Some("*");
                    let fits = text.as_deref().zip(subject.as_deref());
                    matches |= fits.and_then(|(text, subject)| pattern::fits(text, subject)) == Some(true);
                }
                place.at += 1;
            }
            if place.bare() == Some("esac") {
                break;
            }
            place.at += 1;
            has_rest |= is_rest;
            if undecided {
                let outcome = self.branch(place, &[";;", "esac"], line);
                if outcome.ended.is_none() {
                    outcomes.push(outcome.state);
                }
            } else if matches && !taken {
                self.taken(place, &[";;", "esac"]);
            } else {
                self.list(place, &[";;", "esac"], false);
            }
            taken |= matches;
            if place.operator() == Some(";;") {
                place.at += 1;
            }
        }
        place.at += 1;
        if undecided {
            if !has_rest {
                outcomes.insert(0, self.state());
            }
            self.merge(&outcomes, line);
        }
        None
    }

    /// Stores the body of a function for later calls; the walker is after its name and brackets.
    pub(super) fn define(&mut self, name: &str, place: &mut Place<'_>) {
        while place.operator() == Some("\n") {
            place.at += 1;
        }
        let start = place.at;
        if place.bare() != Some("{") && place.operator() != Some("(") {
            return;
        }
        let end = if place.bare() == Some("{") { "}" } else { ")" };
        place.at += 1;
        if place.enter() {
            self.list(place, &[end], false);
            place.blocks -= 1;
        }
        let stop = place.at.min(place.tokens.len());
        place.at += 1;
        let body = place.tokens.get(start + 1..stop).unwrap_or_default();
        self.steps = self.steps.saturating_sub(body.len() / 4);
        self.functions.insert(name.to_owned(), Rc::new(body.to_vec()));
    }

    /// Runs a function with arguments.
    pub(super) fn call(
        &mut self,
        body: &[Token],
        arguments: Vec<Vec<super::values::Piece>>,
        nesting: usize,
    ) -> Option<bool> {
        if nesting >= super::run::DEEPEST {
            return None;
        }
        let outer = self.variables.arguments.replace(arguments);
        let mut place = Place { tokens: body, at: 0, nesting: nesting + 1, blocks: 0 };
        let mut status = None;
        while !place.is_done() && self.steps > 0 {
            status = self.list(&mut place, &[], true);
            place.at += 1;
        }
        if matches!(self.ended, Some(End::Return)) {
            self.ended = None;
        }
        self.variables.arguments = outer;
        status
    }

    /// Sets a variable to unknown input of a command.
    pub(super) fn forget(&mut self, name: &str, line: usize) {
        if super::expand::is_name(name) {
            let open = super::values::open(&format!("${{{name}}}"), line, super::Why::Undecidable);
            self.variables.set(name, Value::Text(vec![open]));
        }
    }
}
