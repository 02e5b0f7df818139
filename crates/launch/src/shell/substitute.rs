//! Commands inside words, `$(...)`: the few with an output that follows from the script alone.
//!
//! Responsible for: paths of the script (`dirname`, `basename`, `realpath`, `cd ... && pwd`), texts (`echo`,
//! `printf %s`, `tr`, `cut`, plain `sed`, `wc -w`, `bc`), numbers (`expr`, `seq`, sums of `python -c` and
//! `awk`), and tests before them (`[ -z "$A" ] && echo b`). A word with any other command has no value.

use super::expand::DEEPEST;
use super::lex::{Part, Token, lex, plain};
use super::values::{Piece, Value, Variables, closed, known};
use super::{Why, arithmetic, condition, pattern};

/// Numbers that `seq` may write.
const LONGEST_SEQUENCE: i64 = 4096;

/// Commands with an output that follows from their arguments.
const STARTED: [&str; 11] = [
    "dirname", "basename", "realpath", "readlink", "echo", "printf", "expr", "python", "python3", "awk",
    "seq",
];

/// Words of a command, and the first reason why one of them is unknown.
type Words = Result<Vec<String>, Why>;

impl Variables {
    /// The output of a command, or the reason why it is unknown.
    pub(super) fn substitute(&mut self, inner: &str, line: usize, depth: usize) -> Result<Vec<Piece>, Why> {
        if depth >= DEEPEST || inner.len() > 4096 {
            return Err(Why::Undecidable);
        }
        let tokens = lex(inner, line);
        let (output, _) = self.list(&tokens)?;
        Ok(vec![closed(output.trim_end_matches('\n'), line)])
    }

    /// A list of commands: their output, and the status of the last one. A test decides which commands
    /// follow.
    fn list(&mut self, tokens: &[Token]) -> Result<(String, bool), Why> {
        if tokens.first().is_some_and(|token| is_word(token, "if")) {
            return self.branch(tokens);
        }
        let mut place = Place::default();
        let (mut output, mut status, mut decided) = (None::<String>, true, false);
        let (mut before, mut at) = (";", 0);
        while at < tokens.len() {
            let start = at;
            let is_test = is_word(&tokens[at], "[[");
            // Operators inside `[[ ]]` belong to the test.
            let is_inside =
                |at: usize| is_test && !tokens[start..at].iter().any(|token| is_word(token, "]]"));
            while tokens.get(at).is_some_and(|token| end_of(token).is_none() || is_inside(at)) {
                at += 1;
            }
            let command = &tokens[start..at];
            let runs = match before {
                "&&" => status,
                "||" => !status,
                _ => true,
            };
            if runs && !command.is_empty() {
                if let Some(inner) = test_of(command) {
                    status = condition::test(inner, self).ok_or(Why::Undecidable)?;
                    decided = true;
                } else {
                    if let Some(text) = self.command(command, &mut place)? {
                        output =
                            Some(output.map_or_else(|| text.clone(), |before| format!("{before}\n{text}")));
                    }
                    status = true;
                }
            }
            before = tokens.get(at).and_then(end_of).unwrap_or(";");
            at += 1;
        }
        let silent = decided.then(String::new);
        output.or(silent).map(|output| (output, status)).ok_or(Why::Undecidable)
    }

    /// `if LIST; then LIST; else LIST; fi` as a whole, without branches inside.
    fn branch(&mut self, tokens: &[Token]) -> Result<(String, bool), Why> {
        let find = |word: &str| tokens.iter().position(|token| is_word(token, word));
        let is_single = ["if", "elif", "for", "while", "case"]
            .iter()
            .all(|word| tokens.iter().skip(1).all(|token| !is_word(token, word)));
        let (Some(then), Some(end), true) = (find("then"), find("fi"), is_single) else {
            return Err(Why::Undecidable);
        };
        if then > end || tokens[end + 1..].iter().any(|token| end_of(token).is_none()) {
            return Err(Why::Undecidable);
        }
        let other = find("else").filter(|&at| then < at && at < end);
        let (_, holds) = self.list(&tokens[1..then])?;
        match (holds, other) {
            (true, other) => self.list(&tokens[then + 1..other.unwrap_or(end)]),
            (false, Some(other)) => self.list(&tokens[other + 1..end]),
            (false, None) => Ok((String::new(), true)),
        }
    }

    /// One command of a list; `None` if it has no output.
    fn command(&mut self, command: &[Token], place: &mut Place) -> Result<Option<String>, Why> {
        let parts = words_of(command);
        let name =
            parts.as_ref().ok().and_then(|parts| parts.first()).map(|first| plain(first)).unwrap_or_default();
        if let Some(separator) = name.strip_prefix("IFS=") {
            place.separator = separator.chars().next();
            return Ok(None);
        }
        match name.as_str() {
            "cd" | "pushd" => {
                let words = self.known_words(&parts?)?;
                let path = words.iter().skip(1).find(|word| !word.starts_with('-'));
                place.folder = Some(path.cloned().unwrap_or_default());
                Ok(None)
            }
            "pwd" => Ok(Some(place.folder.clone().unwrap_or_else(|| ".".to_owned()))),
            _ => self.pipeline(command, place.separator).map(Some),
        }
    }

    fn pipeline(&mut self, tokens: &[Token], separator: Option<char>) -> Result<String, Why> {
        if let Some(nodes) = self.nodes(tokens) {
            return Ok(nodes);
        }
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

    /// `scontrol show hostnames ... | wc -l`: the nodes of the batch system's job.
    fn nodes(&self, tokens: &[Token]) -> Option<String> {
        let mut commands = tokens.split(|token| matches!(token, Token::Operator("|", _)));
        let mut words = || {
            let parts = words_of(commands.next()?).ok()?;
            Some(parts.iter().map(|part| plain(part)).collect::<Vec<String>>())
        };
        let (listed, counted) = (words()?, words()?);
        let is_list = listed.iter().map(String::as_str).take(2).eq(["scontrol", "show"])
            && listed.get(2).is_some_and(|what| what.starts_with("hostname"));
        let is_count = counted.iter().map(String::as_str).eq(["wc", "-l"]);
        let Value::Text(pieces) = self.get("SLURM_NNODES").filter(|_| is_list && is_count)?.as_ref() else {
            return None;
        };
        known(pieces)
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
        // The words of other commands are not expanded: their variables decide nothing.
        if !parts.first().is_some_and(|first| STARTED.contains(&plain(first).as_str())) {
            return Err(Why::Undecidable);
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
            ("python" | "python3", [program]) => {
                let inner = program.trim().strip_prefix("print(").and_then(|rest| rest.strip_suffix(')'));
                // A single slash makes a number with a point.
                let inner = inner.map(|text| text.replace("//", "\0")).filter(|text| !text.contains('/'));
                let inner = inner.map(|text| text.replace('\0', "/"));
                inner
                    .and_then(|text| arithmetic::evaluate(&text, &mut Nameless))
                    .map(|value| value.to_string())
            }
            ("awk", [program]) => {
                let inner = program.trim().strip_prefix("BEGIN").map(str::trim_start);
                let inner = inner.and_then(|rest| rest.strip_prefix('{')?.strip_suffix('}'));
                let inner = inner.and_then(|rest| rest.trim().strip_prefix("print"));
                let inner = inner
                    .map(|text| text.trim().trim_end_matches(';'))
                    .filter(|text| !text.contains(['/', ',']));
                inner
                    .and_then(|text| arithmetic::evaluate(text, &mut Nameless))
                    .map(|value| value.to_string())
            }
            ("seq", [last]) => sequence("1", "1", last),
            ("seq", [first, last]) => sequence(first, "1", last),
            ("seq", [first, step, last]) => sequence(first, step, last),
            _ => None,
        };
        output.ok_or(Why::Undecidable)
    }
}

/// What earlier commands of a list have set.
#[derive(Default)]
struct Place {
    /// The folder of `cd`.
    folder: Option<String>,
    /// The first character of `IFS`.
    separator: Option<char>,
}

/// The operator that ends a command.
fn end_of(token: &Token) -> Option<&'static str> {
    match token {
        Token::Operator(sign @ ("&&" | "||" | ";" | "\n"), _) => Some(sign),
        _ => None,
    }
}

fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(parts, _) if plain(parts) == word)
}

/// The words between the brackets of a test; `None` for other commands.
fn test_of(command: &[Token]) -> Option<&[Token]> {
    let (first, rest) = command.split_first()?;
    let closed =
        |bracket: &str| rest.split_last().filter(|(last, _)| is_word(last, bracket)).map(|(_, inner)| inner);
    match () {
        () if is_word(first, "[[") => closed("]]"),
        () if is_word(first, "[") => closed("]"),
        () if is_word(first, "test") => Some(rest),
        () => None,
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

/// `s/ \\+/ /g` of `sed`: runs of one character become the new text.
fn squeezed(expression: &str, text: &str) -> Option<String> {
    let rest = expression.strip_prefix('s')?;
    let delimiter = rest.chars().next().filter(char::is_ascii_punctuation)?;
    let parts: Vec<&str> = rest.split(delimiter).collect();
    let ["", old, new, "g"] = parts.as_slice() else { return None };
    let repeated = old.strip_suffix("\\+").or_else(|| old.strip_suffix('*').filter(|run| run.len() == 2));
    let run = repeated.and_then(|run| run.chars().next()).filter(|run| *run == ' ')?;
    if !new.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ') {
        return None;
    }
    let mut output = String::new();
    let mut is_run = false;
    for c in text.chars() {
        if c != run {
            output.push(c);
        } else if !is_run {
            output.push_str(new);
        }
        is_run = c == run;
    }
    Some(output)
}

/// `s#old#new#` of `sed` for a plain text: patterns have no value.
fn replaced(expression: &str, text: &str) -> Option<String> {
    let rest = expression.strip_prefix('s')?;
    let delimiter = rest.chars().next().filter(char::is_ascii_punctuation)?;
    let parts: Vec<&str> = rest.split(delimiter).collect();
    let ["", old, new, flags @ ("" | "g")] = parts.as_slice() else { return None };
    let is_plain = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || "_-/ :,=".contains(c));
    (!old.is_empty() && is_plain(old) && is_plain(new))
        .then(|| if *flags == "g" { text.replace(old, new) } else { text.replacen(old, new, 1) })
}

/// A command that reads another's output.
fn filtered(words: &[String], text: &str) -> Option<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["bc"] | ["bc", "-l"] => {
            arithmetic::evaluate(text.trim(), &mut Nameless).map(|value| value.to_string())
        }
        ["sed", expression] => replaced(expression, text).or_else(|| squeezed(expression, text)),
        ["tr", "-s", " "] => squeezed("s/ \\+/ /g", text),
        ["xargs"] => Some(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        ["wc", "-l"] => Some(text.lines().count().to_string()),
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
