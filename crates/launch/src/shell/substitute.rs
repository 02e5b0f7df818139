//! Commands inside words, `$(...)`: the few with an output that follows from the script alone.
//!
//! Responsible for: paths of the script (`dirname`, `basename`, `realpath`, `cd ... && pwd`), texts (`echo`, `printf %s`, `tr`, `cut`, `wc
//! -w`, `bc`), and numbers (`expr`, `seq`). A word with any other command has no value.

use super::expand::DEEPEST;
use super::lex::{Part, Token, lex, plain};
use super::values::{Piece, Value, Variables, closed, known};
use super::{Why, arithmetic, pattern};

/// Numbers that `seq` may write.
const LONGEST_SEQUENCE: i64 = 4096;

/// Words of a command, and the first reason why one of them is unknown.
type Words = Result<Vec<String>, Why>;

impl Variables {
    /// The output of a command, or the reason why it is unknown.
    pub(super) fn substitute(&mut self, inner: &str, line: usize, depth: usize) -> Result<Vec<Piece>, Why> {
        if depth >= DEEPEST || inner.len() > 4096 {
            return Err(Why::Undecidable);
        }
        let tokens = lex(inner, line);
        let output = self.list(&tokens)?;
        Ok(vec![closed(output.trim_end_matches('\n'), line)])
    }

    /// A chain of commands; the output of the last one applies, after `cd` and assignments.
    fn list(&mut self, tokens: &[Token]) -> Result<String, Why> {
        let mut folder = None;
        let mut output = None;
        let is_end = |token: &Token| matches!(token, Token::Operator("&&" | ";" | "\n", _));
        for command in tokens.split(is_end).filter(|command| !command.is_empty()) {
            let parts = words_of(command)?;
            let [first, ..] = parts.as_slice() else { continue };
            let name = plain(first);
            if let Some(separator) = name.strip_prefix("IFS=") {
                folder = Some(("IFS", separator.to_owned()));
                continue;
            }
            match name.as_str() {
                "cd" | "pushd" => {
                    let words = self.known_words(&parts)?;
                    let path = words.iter().skip(1).find(|word| !word.starts_with('-'));
                    folder = Some(("cd", path.cloned().unwrap_or_default()));
                }
                "pwd" => {
                    output = Some(match &folder {
                        Some(("cd", path)) => path.clone(),
                        _ => ".".to_owned(),
                    });
                }
                _ => {
                    let separator = match &folder {
                        Some(("IFS", separator)) => separator.chars().next(),
                        _ => None,
                    };
                    output = Some(self.pipeline(command, separator)?);
                }
            }
        }
        output.ok_or(Why::Undecidable)
    }

    fn pipeline(&mut self, tokens: &[Token], separator: Option<char>) -> Result<String, Why> {
        let mut text: Option<String> = None;
        for command in tokens.split(|token| matches!(token, Token::Operator("|", _))) {
            let parts = words_of(command)?;
            text = Some(match text {
                None => self.starts(&parts, separator)?,
                Some(text) => {
                    let words = self.known_words(&parts)?;
                    filtered(&words, &text).ok_or(Why::Undecidable)?
                }
            });
        }
        text.ok_or(Why::Undecidable)
    }

    /// The text of each word; stops at an unknown word with its reason.
    fn known_words(&mut self, parts: &[Vec<Part>]) -> Words {
        let mut words = Vec::new();
        for part in parts {
            for field in self.fields(part) {
                let why = field.iter().find_map(|piece| piece.unknown).unwrap_or(Why::Undecidable);
                words.push(known(&field).ok_or(why)?);
            }
        }
        Ok(words)
    }

    /// A command without input.
    fn starts(&mut self, parts: &[Vec<Part>], separator: Option<char>) -> Result<String, Why> {
        // `"${ARRAY[*]}"` is joined by the separator that was set before.
        if let (Some(separator), [echo, whole]) = (separator, parts)
            && plain(echo) == "echo"
            && let [Part::Parameter { inner, quoted: true, .. }] = whole
                .iter()
                .filter(|part| !matches!(part, Part::Text { text, .. } if text.is_empty()))
                .collect::<Vec<_>>()[..]
            && let Some(name) = inner.strip_suffix("[*]")
            && let Some(Value::Array(elements)) = self.get(name).map(std::rc::Rc::as_ref)
        {
            let elements: Option<Vec<String>> = elements.iter().map(|element| known(element)).collect();
            return elements.map(|elements| elements.join(&separator.to_string())).ok_or(Why::Undecidable);
        }
        let words = self.known_words(parts)?;
        let operands: Vec<&str> =
            words.iter().skip(1).map(String::as_str).filter(|word| !word.starts_with('-')).collect();
        let output = match (words.first().map(String::as_str).unwrap_or_default(), operands.as_slice()) {
            ("dirname", [path]) => Some(folder_of(path)),
            ("basename", [path]) => {
                Some(path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned())
            }
            ("basename", [path, suffix]) => {
                let name = path.rsplit('/').next().unwrap_or_default();
                Some(name.strip_suffix(suffix).unwrap_or(name).to_owned())
            }
            ("realpath" | "readlink", [path]) => Some((*path).to_owned()),
            ("echo", _) => Some(
                words[1..]
                    .iter()
                    .filter(|w| !matches!(w.as_str(), "-n" | "-e"))
                    .cloned()
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
            ("printf", ["%s" | "%s\\n", text]) => Some((*text).to_owned()),
            ("expr", _) => arithmetic::evaluate(&words[1..].join(" "), self).map(|value| value.to_string()),
            ("seq", [last]) => sequence("1", "1", last),
            ("seq", [first, last]) => sequence(first, "1", last),
            ("seq", [first, step, last]) => sequence(first, step, last),
            _ => None,
        };
        output.ok_or(Why::Undecidable)
    }
}

/// The words of a command without redirections.
fn words_of(tokens: &[Token]) -> Result<Vec<Vec<Part>>, Why> {
    let mut words: Vec<Vec<Part>> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Word(parts, _) => words.push(parts.clone()),
            Token::Operator(">" | ">>" | "&>" | ">&", _) => {
                if words.last().is_some_and(|parts| matches!(plain(parts).as_str(), "1" | "2")) {
                    words.pop();
                }
                at += 1;
            }
            _ => return Err(Why::Undecidable),
        }
        at += 1;
    }
    Ok(words)
}

fn folder_of(path: &str) -> String {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((folder, _)) => folder.to_owned(),
        None => ".".to_owned(),
    }
}

fn sequence(first: &str, step: &str, last: &str) -> Option<String> {
    let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
    let step: usize = step.parse().ok().filter(|&step| step > 0)?;
    let count = last.checked_sub(first)?;
    let numbers = (first..=last).step_by(step);
    (count < LONGEST_SEQUENCE).then(|| numbers.map(|n| n.to_string()).collect::<Vec<_>>().join("\n"))
}

/// Numbers only: no name has a value.
struct Nameless;

impl arithmetic::Names for Nameless {
    fn value(&self, _: &str) -> Option<i64> {
        None
    }

    fn assign(&mut self, _: &str, _: Option<i64>) {}
}

/// A command that reads another's output.
fn filtered(words: &[String], text: &str) -> Option<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["bc"] | ["bc", "-l"] => {
            arithmetic::evaluate(text.trim(), &mut Nameless).map(|value| value.to_string())
        }
        ["wc", "-w"] => Some(text.split_whitespace().count().to_string()),
        ["tr", "-d", set] if set.chars().count() == 1 => pattern::replace(text, set, "", true),
        ["tr", "a-z" | "[:lower:]" | "[a-z]", _] => Some(text.to_uppercase()),
        ["tr", "A-Z" | "[:upper:]" | "[A-Z]", _] => Some(text.to_lowercase()),
        ["tr", from, to] => {
            let unescape = |text: &str| text.replace("\\n", "\n");
            let (from, to) = (unescape(from), unescape(to));
            (from.chars().count() == 1 && to.chars().count() == 1).then(|| text.replace(&from, &to))
        }
        ["cut", delimiter, field] | ["cut", "-d", delimiter, field] => {
            let delimiter = delimiter.strip_prefix("-d").unwrap_or(delimiter);
            let index: usize = field.strip_prefix("-f")?.parse().ok()?;
            let field = |line: &str| line.split(delimiter).nth(index.checked_sub(1)?).map(str::to_owned);
            Some(text.lines().filter_map(field).collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}
