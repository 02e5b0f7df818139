//! Commands that a script starts: builtins of the shell, functions, and other scripts.
//!
//! Responsible for: `shift`, `set --`, `read`, `printf -v` and similar ones, scripts in other files
//! (`source`, `bash x.sh`, `sbatch x.sh`), in texts (`eval`, `bash -c`) and in here-documents. Opens no
//! files: the context does, or returns the reason.

use super::lex::{Part, parts_of, placeholder, plain};
use super::merge::State;
use super::run::{DEEPEST, End, MOST, Walker};
use super::values::{Piece, Value, closed, known, split, word};
use super::{Command, Word};
use std::rc::Rc;

/// Texts of other scripts are no longer.
const LONGEST: usize = 4 << 20;
/// Scripts that are read for one launch.
const MOST_FILES: usize = 64;

/// Programs that start another with the following words.
const LAUNCHERS: &[&str] =
    &["bash", "sh", "zsh", "srun", "sbatch", "mpirun", "mpiexec", "nohup", "exec", "env", "time"];

/// Programs of a command line that a launcher of a cluster takes as one word.
const STARTED: &[&str] = &["python", "python3", "torchrun", "deepspeed", "accelerate", "bash", "srun"];

/// The index of the word that is a command line for another shell: after `bash -c`, or after `-c` of a
/// cluster's launcher if it starts a program with flags.
fn command_line(words: &[Word]) -> Option<usize> {
    let program = |text: &str| {
        text.split_whitespace().next().and_then(|first| first.rsplit('/').next().map(str::to_owned))
    };
    let is_shell = |word: &Word| matches!(word.text.rsplit('/').next(), Some("bash" | "sh" | "zsh"));
    let is_short = |word: &Word| word.text.starts_with('-') && word.text.ends_with('c');
    let of_shell = (0..words.len()).filter(|&at| is_shell(&words[at])).find_map(|at| {
        // `bash -e -o pipefail -c`: options before it, of which `-o` has a value.
        let mut next = at + 1;
        loop {
            let word = words.get(next).filter(|word| word.text.starts_with('-'))?;
            if is_short(word) {
                return (next + 1 < words.len()).then_some(next + 1);
            }
            next += if word.text.ends_with('o') { 2 } else { 1 };
        }
    });
    let is_line = |text: &str| {
        text.contains("--") && program(text).is_some_and(|name| STARTED.contains(&name.as_str()))
    };
    let of_launcher =
        words.windows(2).position(|w| w[0].text == "-c" && is_line(&w[1].text)).map(|at| at + 1);
    of_shell.or(of_launcher)
}

impl Walker<'_> {
    /// Starts a command with the variables set for it alone.
    pub(super) fn start(
        &mut self,
        assignments: &[&[Part]],
        words: &[&[Part]],
        line: usize,
        nesting: usize,
    ) -> Option<bool> {
        let first = words.first().map(|parts| plain(parts)).unwrap_or_default();
        if let Some(status) = self.builtin(&first, words, line) {
            return status;
        }
        let before = self.state();
        let exported = self.variables.exported.clone();
        let fields: Vec<Vec<Piece>> = words.iter().flat_map(|parts| self.variables.fields(parts)).collect();
        let mut prefix = Vec::new();
        for parts in assignments {
            if let Some(name) = self.variables.assign(parts) {
                if let Some(Value::Text(pieces)) = self.variables.get(&name).map(Rc::as_ref)
                    && let Some(text) = known(pieces)
                {
                    prefix.push((name.clone(), text));
                }
                self.export(name, line);
            }
        }
        if first == "envsubst" {
            self.note_substitution(&fields, line);
        }
        let status = self.started(&first, &fields, prefix, line, nesting);
        // A function's assignments persist; those before a command do not.
        if !assignments.is_empty() {
            let names: Vec<String> = self.variables.exported.difference(&exported).cloned().collect();
            for name in names {
                match before.get(&name) {
                    Some(value) => drop(self.variables.values.insert(name, value.clone())),
                    None => drop(self.variables.values.remove(&name)),
                }
            }
            self.variables.exported = exported;
        }
        status
    }

    fn started(
        &mut self,
        first: &str,
        fields: &[Vec<Piece>],
        prefix: Vec<(String, String)>,
        line: usize,
        nesting: usize,
    ) -> Option<bool> {
        let expanded: Vec<Word> = fields.iter().map(|pieces| word(pieces)).collect();
        if let Some(body) = self.functions.get(first).cloned() {
            return self.call(&body, fields[1..].to_vec(), nesting);
        }
        if matches!(first, "source" | ".") {
            self.source(fields, line, nesting);
            return Some(true);
        }
        // A command line for another shell is a separate script.
        if first == "eval" {
            let rest: Vec<Word> = fields.iter().skip(1).flat_map(|pieces| split(pieces)).collect();
            let blank = closed(" ", line);
            let all: Vec<Piece> =
                fields[1..].iter().flat_map(|field| field.iter().chain([&blank]).cloned()).collect();
            match Self::unquoted(&all) {
                Some(words) => {
                    let arms = self.arms.clone();
                    self.keep(Command { words, line, arms, ..Command::default() });
                }
                None => self.inner(rest, &expanded[1..], line, nesting),
            }
            return None;
        }
        let kept = self.script.commands.len();
        if let Some(at) = command_line(&expanded) {
            match Self::unquoted(&fields[at]) {
                Some(words) => {
                    let arms = self.arms.clone();
                    self.keep(Command { words, line, arms, ..Command::default() });
                }
                None => self.inner(split(&fields[at]), &expanded[at..=at], expanded[at].line, nesting),
            }
        } else if self.script_of(fields, &expanded, line, nesting) && self.script.commands.len() > kept {
            return Some(true);
        }
        let arms = self.arms.clone();
        self.keep(Command { words: expanded, line, arms, prefix, ..Command::default() });
        // Programs are assumed to succeed, except in the condition of a branch.
        if self.tests { None } else { Some(true) }
    }

    /// Runs a builtin of the shell. Outer `None` for all other commands, inner `None` for an unknown status.
    #[expect(clippy::option_option, reason = "whether it is one, and how it ends")]
    fn builtin(&mut self, first: &str, words: &[&[Part]], line: usize) -> Option<Option<bool>> {
        let operand = |index: usize| words.get(index).map(|parts| plain(parts)).unwrap_or_default();
        match first {
            "exit" => self.ended = Some(End::Exit),
            "return" => self.ended = Some(End::Return),
            "break" => self.ended = Some(End::Break),
            "continue" => self.ended = Some(End::Continue),
            "set" if operand(1) == "--" => {
                let fields = words[2..].iter().flat_map(|parts| self.variables.fields(parts)).collect();
                self.variables.arguments = Some(fields);
            }
            "printf" if operand(1) == "-v" => self.print_into(&words[2..], line),
            // It has no effect of its own, but the expansion of its words sets variables: `:
            // "${NAME:=value}"`.
            ":" => {
                for parts in &words[1..] {
                    self.variables.words(parts);
                }
            }
            "true" | "set" | "printf" | "echo" | "cd" | "pushd" | "popd" | "mkdir" | "module" | "sleep"
            | "trap" | "wait" | "ulimit" | "umask" | "rm" | "cp" | "mv" | "ln" | "touch" | "chmod"
            | "pkill" | "kill" | "shopt" | "conda" | "alias" | "tee" => {}
            "false" => return Some(Some(false)),
            "command" | "which" | "type" | "hash" | "grep" | "nvidia-smi" => return Some(None),
            "unset" => {
                for parts in &words[1..] {
                    self.variables.values.remove(&plain(parts));
                }
            }
            "shift" => {
                let count = operand(1).parse().unwrap_or(1);
                self.variables.needs_arguments |= self.variables.arguments.is_none();
                if let Some(arguments) = &mut self.variables.arguments {
                    if count > arguments.len() {
                        return Some(Some(false));
                    }
                    arguments.drain(..count);
                }
            }
            "let" => {
                for parts in &words[1..] {
                    let text = known(&self.variables.text(parts)).unwrap_or_default();
                    let _ = self.variables.evaluate(&text, line, 0);
                }
            }
            "read" | "mapfile" | "readarray" => {
                let names: Vec<String> = words[1..]
                    .iter()
                    .map(|parts| plain(parts))
                    .filter(|name| !name.starts_with('-'))
                    .collect();
                for name in names {
                    self.forget(&name, line);
                }
                return Some(None);
            }
            "getopts" => {
                self.forget(&operand(2), line);
                self.variables.needs_arguments |= self.variables.arguments.is_none();
                return Some(None);
            }
            _ => return None,
        }
        Some(Some(true))
    }

    /// `printf -v NAME FORMAT WORD`, with one `%s` or `%d`.
    fn print_into(&mut self, words: &[&[Part]], line: usize) {
        let [name, format, rest @ ..] = words else { return };
        let name = plain(name);
        let format = known(&self.variables.text(format)).unwrap_or_default();
        let values: Vec<Piece> = rest.iter().flat_map(|parts| self.variables.text(parts)).collect();
        let sign = ["%s", "%d"].into_iter().find(|sign| format.matches(sign).count() == 1);
        match (sign.and_then(|sign| format.split_once(sign)), rest.len()) {
            (Some((before, after)), 1) if !before.contains('%') && !after.contains('%') => {
                let mut pieces = vec![closed(before, line)];
                pieces.extend(values);
                pieces.push(closed(after, line));
                self.variables.set(&name, Value::Text(pieces));
            }
            _ => self.forget(&name, line),
        }
    }

    /// Reads a script into this one: its variables persist.
    fn source(&mut self, fields: &[Vec<Piece>], line: usize, nesting: usize) {
        let name = fields.get(1).map(|pieces| word(pieces)).unwrap_or_default();
        let arguments = (fields.len() > 2).then(|| fields[2..].to_vec());
        match self.find(&name) {
            Ok((_, text)) if self.is_running_twice(&text) => {}
            Ok((path, text)) => {
                let asked = name.text.trim_start_matches("./");
                if asked.starts_with('/') && !std::path::Path::new(&path).ends_with(asked) {
                    let why = format!("not in this folder; `{path}` of this repository is read instead");
                    self.open(line, format!("source {asked}"), why);
                }
                let base = self.script.sources.add(&path, &text);
                let script = std::mem::replace(&mut self.variables.script, path);
                let program = self.variables.program.clone();
                self.variables.program.get_or_insert_with(|| script.clone());
                let outer = self.variables.arguments.clone();
                if arguments.is_some() {
                    self.variables.arguments = arguments;
                }
                self.running.push(text.clone());
                self.nested(&text, base, nesting + 1);
                self.running.pop();
                if matches!(self.ended, Some(End::Return)) {
                    self.ended = None;
                }
                self.variables.arguments = outer;
                self.variables.script = script;
                self.variables.program = program;
            }
            // Python's virtual environments have no settings of a run.
            Err(_) if name.text.ends_with("bin/activate") => {}
            Err(why) => {
                self.script.has_missing = true;
                let text = name.text.as_str();
                self.open(line, format!("source {text}"), format!("{why}; its settings are unknown"));
            }
        }
    }

    /// A script started as a separate program, with the exported variables only. `false` if no word is a
    /// readable script.
    fn script_of(&mut self, fields: &[Vec<Piece>], words: &[Word], line: usize, nesting: usize) -> bool {
        let is_script = |word: &Word| {
            let ending = std::path::Path::new(&word.text).extension().and_then(|ending| ending.to_str());
            matches!(ending, Some("sh" | "slurm" | "sbatch" | "bash"))
        };
        let Some(at) = words.iter().position(is_script) else { return false };
        let name = |word: &Word| word.text.rsplit('/').next().unwrap_or_default().to_owned();
        let is_started = at == 0 || LAUNCHERS.contains(&name(&words[0]).as_str());
        let runs_python = words[..at]
            .iter()
            .any(|word| name(word).contains("python") || crate::megatron::is_program(&word.text));
        if !is_started || runs_python || nesting >= DEEPEST {
            return false;
        }
        match self.find(&words[at]) {
            // A script may start itself once more with other arguments, but the repetition is bounded.
            Ok((_, text)) if self.is_running_twice(&text) => false,
            Ok((path, text)) => {
                if at > 0 && name(&words[0]) == "sbatch" {
                    let words = words[..at].to_vec();
                    self.script.submitted.push(Command { words, line, ..Command::default() });
                }
                self.run_script(&path, &text, fields[at + 1..].to_vec(), nesting);
                true
            }
            Err(why) => {
                self.script.has_missing = true;
                self.open(line, words[at].text.clone(), format!("{why}; its command is unknown"));
                false
            }
        }
    }

    fn run_script(&mut self, path: &str, text: &str, arguments: Vec<Vec<Piece>>, nesting: usize) {
        let base = self.script.sources.add(path, text);
        let exported: State = self
            .variables
            .values
            .iter()
            .filter(|(name, _)| self.variables.exported.contains(*name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let before = std::mem::replace(&mut self.variables.values, exported);
        let functions = std::mem::take(&mut self.functions);
        let script = std::mem::replace(&mut self.variables.script, path.to_owned());
        let program = self.variables.program.take();
        let outer = self.variables.arguments.replace(arguments);
        for (name, value) in (self.directives)(text) {
            self.variables.set_text(name, &value, 0);
        }
        self.running.push(text.to_owned());
        self.nested(text, base, nesting + 1);
        self.running.pop();
        self.ended = None;
        self.variables.arguments = outer;
        self.variables.script = script;
        self.variables.program = program;
        self.functions = functions;
        self.variables.values = before;
    }

    /// Whether the walk is in a script twice already.
    fn is_running_twice(&self, text: &str) -> bool {
        self.running.iter().filter(|running| *running == text).count() > 1
    }

    /// The path and the text of a script that a word names.
    fn find(&mut self, name: &Word) -> Result<(String, String), String> {
        if let Some(text) = self.written.get(&name.text) {
            return Ok((name.text.clone(), text.clone()));
        }
        if let Some(unknown) = name.unknown.first() {
            return Err(format!("its path depends on `{}`, which is not set", unknown.text));
        }
        if self.script.sources.count() >= MOST_FILES {
            return Err(format!("the script has more than {MOST_FILES} files"));
        }
        let found = self.context.open(&name.text, &self.variables.script)?;
        if found.1.len() > LONGEST { Err("it is longer than 4 MiB".to_owned()) } else { Ok(found) }
    }

    /// The text of a here-document, expanded unless its delimiter is quoted.
    fn pieces_of(&mut self, text: &str, quoted: bool, line: usize) -> Vec<Piece> {
        if quoted {
            return vec![closed(text, line)];
        }
        let mut pieces = Vec::new();
        for part in parts_of(text, true, line) {
            pieces.extend(self.variables.pieces(&part, 0));
        }
        pieces
    }

    /// Sets a variable to a here-document.
    pub(super) fn read_into(&mut self, name: &str, text: &str, quoted: bool, line: usize) {
        let pieces = self.pieces_of(text, quoted, line);
        self.variables.set(name, Value::Text(pieces));
    }

    /// A here-document: a script for a shell, or a file that a script writes.
    pub(super) fn document(
        &mut self,
        first: &str,
        text: &str,
        quoted: bool,
        line: usize,
        target: Option<Word>,
        nesting: usize,
    ) {
        let is_shell = matches!(first.rsplit('/').next(), Some("bash" | "sh" | "zsh" | "sbatch"));
        if !is_shell && target.is_none() {
            return;
        }
        let pieces = self.pieces_of(text, quoted, line);
        let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        if is_shell {
            for (name, value) in (self.directives)(&text) {
                self.variables.set_text(name, &value, line);
            }
            let base = self.script.sources.add_at(line, &text);
            self.nested(&text, base, nesting + 1);
            self.ended = None;
        } else if let Some(target) = target
            && self.written.len() < MOST_FILES
        {
            self.written.insert(target.text, text);
        }
    }

    /// A text that is a complete command without its quotes: its words, each with its line. `None` if a part
    /// of it needs expansion or ends the command.
    fn unquoted(pieces: &[Piece]) -> Option<Vec<Word>> {
        let (mut words, mut current, mut quote): (Vec<Vec<Piece>>, Option<Vec<Piece>>, Option<char>) =
            (Vec::new(), None, None);
        for piece in pieces {
            if piece.unknown.is_some() {
                current.get_or_insert_default().push(piece.clone());
                continue;
            }
            let mut line = piece.line;
            let mut chars = piece.text.char_indices().peekable();
            while let Some((place, c)) = chars.next() {
                let at = line;
                line += usize::from(c == '\n');
                match (quote, c) {
                    (Some(open), c) if c == open => quote = None,
                    (None, '"' | '\'') => {
                        quote = Some(c);
                        current.get_or_insert_default();
                    }
                    (None, '$' | '`' | ';' | '(' | ')') | (Some('"'), '$' | '`') => return None,
                    // More commands follow: a script of its own.
                    (None, '|' | '&') if chars.peek().is_some_and(|next| next.1 == c) => return None,
                    (None, '<') if placeholder(&piece.text[place..]).is_some() => {
                        let length = placeholder(&piece.text[place..]).unwrap_or_default();
                        let text = &piece.text[place..place + length];
                        current.get_or_insert_default().push(closed(text, at));
                        while chars.next_if(|next| next.0 < place + length).is_some() {}
                    }
                    (None, '|' | '&' | '>' | '<') => {
                        // The number of a stream belongs to the redirection.
                        let is_stream = |word: &Vec<Piece>| matches!(known(word).as_deref(), Some("1" | "2"));
                        words.extend(current.take().filter(|word| !is_stream(word)));
                        return Some(words.iter().map(|pieces| word(pieces)).collect());
                    }
                    (None, '\\') => {
                        let next = chars.next()?.1;
                        line += usize::from(next == '\n');
                        if next != '\n' {
                            current.get_or_insert_default().push(closed(&next.to_string(), at));
                        }
                    }
                    (None, c) if c.is_whitespace() => words.extend(current.take()),
                    (_, c) => {
                        let word = current.get_or_insert_default();
                        match word.last_mut().filter(|last| last.unknown.is_none() && last.line == at) {
                            Some(last) => last.text.push(c),
                            None => word.push(closed(&c.to_string(), at)),
                        }
                    }
                }
            }
        }
        words.extend(current);
        let words: Vec<Word> = words.iter().map(|pieces| word(pieces)).collect();
        let sets =
            words.first().is_some_and(|first| !first.text.starts_with('-') && first.text.contains('='));
        (quote.is_none() && !sets && !words.is_empty()).then_some(words)
    }

    /// A script inside a script. Plain words keep the lines that they were written in; quotes and expansions
    /// are parsed again.
    fn inner(&mut self, words: Vec<Word>, whole: &[Word], line: usize, nesting: usize) {
        let marks = ['"', '\'', '$', '`', '(', ')', ';', '\\'];
        let sets = |word: &Word| !word.text.starts_with('-') && word.text.contains('=');
        let joins = |word: &Word| word.text.contains("&&") || word.text.contains("||");
        let is_plain = |word: &Word| {
            !joins(word) && (!word.unknown.is_empty() || !(word.text.contains(marks) || sets(word)))
        };
        if words.iter().all(is_plain) {
            let ends =
                |word: &Word| word.text.starts_with(['|', '&', '>', '<']) || word.text.starts_with("2>");
            let words: Vec<Word> = words.into_iter().take_while(|word| !ends(word)).collect();
            let arms = self.arms.clone();
            self.keep(Command { words, line, arms, ..Command::default() });
            return;
        }
        // An unknown part becomes a variable, so that it keeps its reason.
        let mut text = String::new();
        for (index, word) in whole.iter().enumerate() {
            if index > 0 {
                text.push(' ');
            }
            let mut rest = word.text.as_str();
            for unknown in &word.unknown {
                let Some((before, after)) = rest.split_once(unknown.text.as_str()) else { continue };
                text.push_str(before);
                let name = format!("__UNKNOWN_{}", self.script.open.len().min(MOST) + text.len());
                text.extend(["${", &name, "}"]);
                let piece = super::values::open(&unknown.text, word.line, unknown.why);
                self.variables.set(&name, Value::Text(vec![piece]));
                rest = after;
            }
            text.push_str(rest);
        }
        self.nested(&text, line, nesting + 1);
        self.variables.values.retain(|name, _| !name.starts_with("__UNKNOWN_"));
    }
}
