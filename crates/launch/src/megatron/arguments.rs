//! The arguments of a Megatron run from any source: field, values, text and place.
//!
//! Responsible for: one form for command lines, dumps and YAML, and typed access with reports of invalid
//! values. Has no defaults.

use super::flags::{self, Effect, Takes};
use crate::fields::is_placeholder;
use crate::shell::{Choice, Why, Word};
use crate::{Draft, RemarkKind};
use railwright_spec::human::shorten;
use std::collections::BTreeMap;

/// One argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    /// Its values as texts; a switch has `True` or `False`.
    pub(crate) values: Vec<String>,
    /// The text, such as `--num-layers 32`.
    pub(crate) source: String,
    /// Place.
    pub(crate) line: Option<usize>,
}

/// A flag that is or may be present, with a value that could not be determined.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OpenArgument {
    /// The text.
    pub(crate) source: String,
    /// Place.
    pub(crate) line: Option<usize>,
    /// Reason why it is open, as a lowercase fragment.
    pub(crate) why: String,
    /// Possible values. An entry is `None` if the flag may be absent. Empty if none are known.
    pub(crate) alternatives: Vec<Option<Argument>>,
}

/// All arguments by field.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    map: BTreeMap<String, Argument>,
    open: BTreeMap<String, OpenArgument>,
    hidden: Vec<OpenArgument>,
    /// An unknown flag that may be a number of experts: its text and line.
    experts: Option<(String, Option<usize>)>,
    /// The unknown flags with their lines.
    unknown: Vec<(String, Option<usize>)>,
    /// The file name of the program.
    program: Option<String>,
    /// True if the defaults of the program are known.
    is_known: bool,
}

/// Values of one flag that are kept.
const MOST_VALUES: usize = 1000;
/// Unknown flags for which the nearest known one is looked up. `tune` reads a file about 90 times, and the
/// search is slow: 600 of them had taken 16 s.
const MOST_LOOKED_UP: usize = 100;

impl Arguments {
    /// Adds an argument; a later one overrides, with a remark if they differ.
    pub(crate) fn insert(&mut self, name: &str, argument: Argument, draft: &mut Draft) {
        if let Some(before) = self.map.get(name)
            && before.values != argument.values
        {
            let place = before.line.map_or_else(String::new, |line| format!(" of line {line}"));
            let message = format!("overrides `{}`{place}", before.source);
            draft.remark(RemarkKind::Conflict, &argument.source, argument.line, message);
        }
        self.open.remove(name);
        self.map.insert(name.to_owned(), argument);
    }

    /// Opens a field, regardless of earlier values.
    pub(crate) fn leave_open(&mut self, name: &str, open: OpenArgument) {
        self.map.remove(name);
        self.open.insert(name.to_owned(), open);
    }

    /// The fields that are open.
    pub(crate) fn open(&self) -> impl Iterator<Item = (&str, &OpenArgument)> {
        self.open.iter().map(|(name, open)| (name.as_str(), open))
    }

    /// Words that may contain any number of flags.
    pub(crate) fn hidden(&self) -> &[OpenArgument] {
        &self.hidden
    }

    /// An unknown flag that may be the number of experts.
    pub(crate) fn possible_experts(&self) -> Option<&(String, Option<usize>)> {
        self.experts.as_ref()
    }

    /// The unknown flags with their lines.
    pub(crate) fn unknown(&self) -> &[(String, Option<usize>)] {
        &self.unknown
    }

    /// The file name of the program, unless its defaults are known.
    pub(crate) fn program(&self) -> Option<&str> {
        self.started().filter(|_| !self.is_known)
    }

    /// The file name of the program.
    pub(crate) fn started(&self) -> Option<&str> {
        self.program.as_deref()
    }

    /// Marks a program whose defaults are known.
    pub(crate) fn know_program(&mut self) {
        self.is_known = true;
    }

    /// Marks possible flags at a place that cannot be read.
    pub(crate) fn hide(&mut self, source: &str, line: Option<usize>, why: &str) {
        let open =
            OpenArgument { source: source.to_owned(), line, why: why.to_owned(), alternatives: Vec::new() };
        self.hidden.push(open);
    }

    /// The same with one field given, or absent.
    pub(crate) fn with(&self, name: &str, argument: Option<Argument>) -> Self {
        let mut other = self.clone();
        other.open.remove(name);
        match argument {
            Some(argument) => drop(other.map.insert(name.to_owned(), argument)),
            None => drop(other.map.remove(name)),
        }
        other
    }

    /// Applies a framework default to an unset field.
    pub(crate) fn presume(&mut self, name: &str, value: &str, source: &str) {
        if !self.map.contains_key(name) && !self.open.contains_key(name) {
            let argument = Argument { values: vec![value.to_owned()], source: source.to_owned(), line: None };
            self.map.insert(name.to_owned(), argument);
        }
    }

    /// Tests whether a field is set or open.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.map.contains_key(name) || self.open.contains_key(name)
    }

    /// The argument of a field, unless it is `None`.
    pub(crate) fn get(&self, name: &str) -> Option<&Argument> {
        self.map.get(name).filter(|argument| argument.values.first().is_some_and(|value| !is_none(value)))
    }

    /// Tests whether no argument is set.
    pub(crate) fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Every argument with its field.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Argument)> {
        self.map.iter().map(|(name, argument)| (name.as_str(), argument))
    }

    /// The first value of a field.
    pub(crate) fn word(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(|argument| argument.values.first()).map(String::as_str)
    }

    /// True if a switch is on; `None` if it is absent.
    pub(crate) fn switch(&self, name: &str) -> Option<bool> {
        let word = self.word(name)?;
        Some(!matches!(word.to_ascii_lowercase().as_str(), "false" | "0" | "no" | "off"))
    }

    /// Tests whether a switch is present and on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.switch(name) == Some(true)
    }

    /// A whole number; any other value is reported and omitted.
    pub(crate) fn count(&self, name: &str, draft: &mut Draft) -> Option<u64> {
        let argument = self.get(name)?;
        let word = argument.values.first()?.trim_matches(['[', ']', '\'', '"']);
        let number =
            word.replace('_', "").parse::<f64>().ok().filter(|n| n.fract() == 0.0 && (0.0..9e15).contains(n));
        if number.is_none() {
            let message = format!("expected a whole number, found `{word}`; ignored");
            draft.remark(RemarkKind::Invalid, &argument.source, argument.line, message);
        }
        number.map(|number| number as u64)
    }

    /// A number; any other value is reported and omitted.
    pub(crate) fn number(&self, name: &str, draft: &mut Draft) -> Option<f64> {
        let argument = self.get(name)?;
        let word = argument.values.first()?.trim_matches(['[', ']', '\'', '"']);
        let number = word.parse::<f64>().ok().filter(|n| n.is_finite());
        if number.is_none() {
            let message = format!("expected a number, found `{word}`; ignored");
            draft.remark(RemarkKind::Invalid, &argument.source, argument.line, message);
        }
        number
    }

    /// Text and place of a field, or its default.
    pub(crate) fn origin(&self, name: &str) -> (String, Option<usize>) {
        if let Some(argument) = self.get(name) {
            return (argument.source.clone(), argument.line);
        }
        if let Some(open) = self.open.get(name) {
            return (open.source.clone(), open.line);
        }
        let spelling = flags::by_name(name).map_or_else(|| name.to_owned(), |flag| flag.spelling());
        (format!("no {spelling}"), None)
    }

    /// The origin of an argument whose value is none.
    pub(crate) fn stated_none(&self, name: &str) -> Option<(String, Option<usize>)> {
        let argument = self.map.get(name)?;
        argument
            .values
            .first()
            .is_some_and(|value| is_none(value))
            .then(|| (argument.source.clone(), argument.line))
    }

    /// Reports relevant arguments that are not modelled, and irrelevant ones.
    pub(crate) fn remark_on_the_rest(&self, draft: &mut Draft) {
        for (name, argument) in &self.map {
            let Some(flag) = flags::by_name(name) else { continue };
            let value = argument.values.first().map_or("", String::as_str);
            let is_off = is_none(value) || matches!(value, "False" | "false" | "0" | "0.0" | "[]" | "");
            // A switch that is on by default matters when it is off.
            let is_usual = if flag.takes == Takes::Off { !is_off } else { is_off };
            let matters = matches!(flag.effect, Effect::Kernel | Effect::None)
                && draft.is_origin(&argument.source, argument.line);
            match flag.effect {
                _ if matters => {}
                Effect::NotModelled(what) if !is_usual => {
                    let message = format!("{}; its effect on {what} is not modelled", flag.note);
                    draft.remark(RemarkKind::NotModelled, &argument.source, argument.line, message);
                }
                Effect::Kernel if !is_usual => {
                    let message = "a kernel choice, covered by the software generation";
                    draft.remark(RemarkKind::Ignored, &argument.source, argument.line, message);
                }
                Effect::None if !is_usual => {
                    let message = "without effect on the time and memory of a step";
                    draft.remark(RemarkKind::Ignored, &argument.source, argument.line, message);
                }
                _ => {}
            }
        }
    }
}

fn is_none(value: &str) -> bool {
    matches!(value, "None" | "null" | "~")
}

/// Tests whether a word names a Python program.
pub(crate) fn is_program(text: &str) -> bool {
    std::path::Path::new(text).extension().is_some_and(|ending| ending == "py")
}

/// Tests whether a word is a single variable without a value, which may represent any number of flags.
fn is_wholly_unknown(word: &Word) -> bool {
    matches!(word.unknown.as_slice(), [unknown] if unknown.text == word.text)
}

/// Context of the words of a command: choices and missing files.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Surroundings<'a> {
    /// The choices that branches leave open.
    pub(crate) choices: &'a [Choice],
    /// True if a file that the script reads is missing. An unset variable may then be set there.
    pub(crate) has_missing: bool,
}

/// Reason why a word has no value, as in "`${TP}` is not set in this file".
fn why(word: &Word, choices: &[Choice], draft: &Draft) -> String {
    let of = |unknown: &crate::shell::Unknown| {
        let text = shorten(&unknown.text);
        match unknown.why {
            Why::Unset => format!("`{text}` has no value in this file"),
            Why::Argument => format!("`{text}` is an argument of the script: pass arguments after `--`"),
            Why::Undecidable => format!("`{text}` is known only at run time"),
            Why::Either(index) => match choices.get(index) {
                Some(choice) => {
                    let (file, line) = draft.spot(Some(choice.line));
                    let of = file.map_or_else(String::new, |file| format!(" of {file}"));
                    let words = |words: &Vec<Word>| match words.as_slice() {
                        [] => "nothing".to_owned(),
                        words => {
                            let text: Vec<&str> =
                                words.iter().take(6).map(|word| word.text.as_str()).collect();
                            format!("`{}`", shorten(&text.join(" ")))
                        }
                    };
                    let either: Vec<String> = choice.alternatives.iter().take(4).map(words).collect();
                    let line = line.unwrap_or(choice.line);
                    format!("{}, depending on line {line}{of}", either.join(" or "))
                }
                None => format!("`{text}` is known only at run time"),
            },
        }
    };
    let all: Vec<String> = word.unknown.iter().map(of).collect();
    all.join("; ")
}

/// Alternatives of a word that depends on branches.
fn alternatives<'a>(word: &Word, choices: &'a [Choice]) -> Option<&'a [Vec<Word>]> {
    match word.unknown.as_slice() {
        [unknown] if unknown.text == word.text => match unknown.why {
            Why::Either(index) => choices.get(index).map(|choice| choice.alternatives.as_slice()),
            _ => None,
        },
        _ => None,
    }
}

/// Flags whose path names a tokenizer by its last part, in any folder.
const OF_TOKENIZER: [&str; 2] = ["tokenizer_model", "tokenizer_name_or_path"];

/// Tests whether the last part of a path is known, though its folder is not.
fn names_the_last_part(word: &Word) -> bool {
    let last = word.text.rsplit_once('/').map_or("", |(_, last)| last);
    !last.is_empty()
        && !word.unknown.iter().any(|unknown| last.contains(&unknown.text))
        && !last.contains('$')
}

/// Tests whether one of the texts of a word begins with a flag: `$CHECKPOINT` with a switch or nothing is no
/// value of the flag before it.
fn holds_flags(word: &Word, choices: &[Choice]) -> bool {
    let begins = |words: &Vec<Word>| words.first().is_some_and(|first| first.text.starts_with("--"));
    alternatives(word, choices).is_some_and(|all| all.iter().any(begins))
}

/// Maximum nesting of alternatives.
const DEEPEST_CHOICE: usize = 4;

/// A word that represents several words, by an undecided branch: every flag in one of them is open.
fn take_choice(
    word: &Word,
    alternatives: &[Vec<Word>],
    around: Surroundings<'_>,
    arguments: &mut Arguments,
    draft: &mut Draft,
    depth: usize,
) {
    let choices = around.choices;
    let mut quiet = draft.clone();
    let read: Vec<Arguments> = alternatives
        .iter()
        .take(64)
        .map(|words| {
            let mut inner = Arguments::default();
            take_words(words, around, &mut inner, &mut quiet, depth + 1);
            inner
        })
        .collect();
    let names: std::collections::BTreeSet<&String> =
        read.iter().flat_map(|inner| inner.map.keys().chain(inner.open.keys())).collect();
    for name in names {
        let outer = arguments.map.get(name).cloned();
        // An open argument inside a branch has alternatives of its own. Without them its values are unknown.
        let is_unknown =
            read.iter().any(|inner| inner.open.get(name).is_some_and(|open| open.alternatives.is_empty()));
        let of = |inner: &Arguments| match inner.open.get(name) {
            Some(open) => open.alternatives.clone(),
            None => vec![inner.map.get(name).cloned().or_else(|| outer.clone())],
        };
        let given: Vec<Option<Argument>> = read.iter().flat_map(of).collect();
        let values = |argument: &Option<Argument>| argument.as_ref().map(|argument| argument.values.clone());
        let is_settled = read.iter().all(|inner| !inner.open.contains_key(name))
            && given.first().is_some_and(|first| given.iter().all(|one| values(one) == values(first)));
        if let (true, false, Some(Some(argument))) = (is_settled, is_unknown, given.first()) {
            arguments.map.insert(name.clone(), argument.clone());
            continue;
        }
        let some = given.iter().flatten().next();
        let (source, line) = match (some, read.iter().find_map(|inner| inner.open.get(name))) {
            (Some(argument), _) => (argument.source.clone(), argument.line),
            (None, Some(open)) => (open.source.clone(), open.line),
            (None, None) => (word.text.clone(), (word.line > 0).then_some(word.line)),
        };
        let alternatives = if is_unknown { Vec::new() } else { given };
        let open = OpenArgument { source, line, why: why(word, choices, draft), alternatives };
        arguments.leave_open(name, open);
    }
    for inner in read {
        arguments.hidden.extend(inner.hidden);
    }
}

/// Tests whether an unknown flag may be the number of experts.
fn counts_experts(spelling: &str) -> bool {
    let has = |part: &str| spelling.split(['-', '_']).any(|own| own == part);
    has("experts") || has("moe")
}

/// Arguments of the words of a command line; everything before the first flag is skipped.
pub(crate) fn of_words(words: &[Word], around: Surroundings<'_>, draft: &mut Draft) -> Arguments {
    let program = words.iter().find(|word| is_program(&word.text));
    let program = program.and_then(|word| word.text.rsplit('/').next()).map(str::to_owned);
    let mut arguments = Arguments { program, ..Arguments::default() };
    take_words(words, around, &mut arguments, draft, 0);
    arguments
}

fn take_words(
    words: &[Word],
    around: Surroundings<'_>,
    arguments: &mut Arguments,
    draft: &mut Draft,
    depth: usize,
) {
    let choices = around.choices;
    let (mut at, mut unknown_flags) = (0, 0);
    // Words before the program and its flags belong to the launcher.
    let mut is_inside = depth > 0;
    while at < words.len() {
        let word = &words[at];
        at += 1;
        let line = (word.line > 0).then_some(word.line);
        is_inside |= is_program(&word.text);
        if is_wholly_unknown(word) {
            if let Some(alternatives) = alternatives(word, choices) {
                if depth < DEEPEST_CHOICE {
                    take_choice(word, alternatives, around, arguments, draft, depth);
                }
                continue;
            }
            let reason = why(word, choices, draft);
            let message = format!("{reason}; its flags are unknown");
            draft.remark(RemarkKind::Unresolved, &word.text, line, message);
            // In the shell an unset variable is empty.
            let is_nothing =
                word.unknown.iter().all(|unknown| unknown.why == Why::Unset) && !around.has_missing;
            if !is_nothing && (is_inside || !arguments.is_empty()) {
                let open =
                    OpenArgument { source: word.text.clone(), line, why: reason, alternatives: Vec::new() };
                arguments.hidden.push(open);
            }
        }
        if !word.text.starts_with("--") || word.text.len() < 3 {
            continue;
        }
        let (spelling, inline) = match word.text.split_once('=') {
            Some((spelling, value)) => (spelling, Some(value.to_owned())),
            None => (word.text.as_str(), None),
        };
        let flag = flags::of_script(spelling);
        let takes = flag.map_or(Takes::Many, |flag| flag.takes);
        let most = match (takes, &inline) {
            (Takes::On | Takes::Off, _) | (_, Some(_)) => 0,
            (Takes::One, None) => 1,
            (Takes::Many, None) => MOST_VALUES,
        };
        let start = at;
        let ends = |at: usize| {
            let word = &words[at];
            word.text.starts_with("--")
                || is_wholly_unknown(word) && (at > start || holds_flags(word, choices))
        };
        while at < words.len() && at - start < most && !ends(at) {
            at += 1;
        }
        let behind = &words[start..at];
        let mut values: Vec<String> =
            inline.into_iter().chain(behind.iter().map(|word| word.text.clone())).collect();
        let source = std::iter::once(word.text.as_str()).chain(behind.iter().map(|word| word.text.as_str()));
        let source = source.take(8).collect::<Vec<_>>().join(" ");
        let Some(flag) = flag else {
            if flags::is_launcher(spelling) {
                continue;
            }
            let is_number = |value: &String| value.parse().is_ok_and(|n: u64| n > 1);
            let is_open =
                word.unknown.iter().chain(behind.iter().flat_map(|word| &word.unknown)).next().is_some();
            let has_number = values.first().is_some_and(is_number) || (is_open && spelling.contains("num"));
            if counts_experts(spelling) && has_number {
                arguments.experts.get_or_insert((source, line));
            }
            if arguments.unknown.len() < MOST_LOOKED_UP {
                arguments.unknown.push((spelling.to_owned(), line));
            }
            unknown_flags += 1;
            let near = if unknown_flags <= MOST_LOOKED_UP { flags::near(spelling) } else { None };
            let message = match near {
                Some(near) => format!("unknown, ignored; did you mean `{near}`?"),
                None => "unknown, ignored".to_owned(),
            };
            draft.remark(RemarkKind::Unknown, spelling, line, message);
            continue;
        };
        let retired = flags::retired_by_spelling(spelling);
        if retired.is_some_and(|old| !has_successor(old, &source, line, draft)) {
            continue;
        }
        let open = std::iter::once(word).chain(behind).find(|word| !word.unknown.is_empty());
        let is_named = OF_TOKENIZER.contains(&flag.name) && open.is_some_and(names_the_last_part);
        if let Some(open) = open.filter(|_| !is_named) {
            if flag.effect == Effect::Mapped || matches!(flag.effect, Effect::NotModelled(_)) {
                let reason = why(open, choices, draft);
                draft.remark(RemarkKind::Unresolved, &source, line, format!("{reason}; it stays unset"));
                // A flag with one of several values: each is a separate argument.
                let of = |words: &Vec<Word>| {
                    let values: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
                    (!values.is_empty()).then(|| Argument { values, source: source.clone(), line })
                };
                let alternatives =
                    alternatives(open, choices).map_or_else(Vec::new, |all| all.iter().map(of).collect());
                arguments.leave_open(flag.name, OpenArgument { source, line, why: reason, alternatives });
            }
            continue;
        }
        let reason = match values.first() {
            Some(value) if is_placeholder(value) => Some("is a placeholder"),
            // The shell takes `<TP>` as a redirection.
            None if flag.takes == Takes::One => Some("has no value"),
            _ => None,
        };
        if let Some(reason) = reason.filter(|_| flag.effect == Effect::Mapped) {
            draft.remark(RemarkKind::Unresolved, &source, line, format!("{reason}, so it stays unset"));
            let open = OpenArgument { source, line, why: reason.to_owned(), alternatives: Vec::new() };
            arguments.leave_open(flag.name, open);
            continue;
        }
        match flag.takes {
            Takes::On if values.is_empty() => values.push("True".to_owned()),
            Takes::Off if values.is_empty() => values.push("False".to_owned()),
            Takes::One if values.is_empty() => {
                draft.remark(RemarkKind::Unresolved, &source, line, "has no value; ignored");
                continue;
            }
            _ => {}
        }
        arguments.insert(flag.name, Argument { values, source, line }, draft);
    }
}

/// Reports an option that current releases do not have. True if another one has its meaning.
fn has_successor(old: flags::Retired, source: &str, line: Option<usize>, draft: &mut Draft) -> bool {
    let flags::Retired { release, now, flag } = old;
    let is_own = flags::by_name(flag.name).is_none();
    let (kind, message) = match flag.effect {
        Effect::NotModelled(what) => {
            (RemarkKind::NotModelled, format!("; {}; its effect on {what} is not modelled", flag.note))
        }
        Effect::Mapped => (RemarkKind::Assumed, format!("; read as `{now}`")),
        _ if is_own => (RemarkKind::Ignored, "; without effect on the time and memory of a step".to_owned()),
        _ => return true,
    };
    draft.remark(kind, source, line, format!("retired in Megatron-LM {release}{message}"));
    !is_own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    fn words(text: &str) -> Vec<Word> {
        text.split_whitespace().map(|w| Word { text: w.to_owned(), line: 1, unknown: Vec::new() }).collect()
    }

    #[test]
    fn switches_values_and_lists() {
        let mut draft = Draft::new(Format::MegatronCommand, "x");
        let text = "pretrain.py --bf16 --num-layers 32 --disable-bias-linear --recompute-modules mlp moe --lr=1e-4 \
                    --num_layers 48 --decoder-frist-pipeline-num-layers 3";
        let arguments = of_words(&words(text), Surroundings::default(), &mut draft);
        assert_eq!(arguments.switch("bf16"), Some(true));
        assert_eq!(arguments.switch("add_bias_linear"), Some(false));
        assert_eq!(arguments.count("num_layers", &mut draft), Some(48));
        assert_eq!(arguments.get("recompute_modules").map(|a| a.values.len()), Some(2));
        let launch = draft.finish().expect("no problems");
        let source: Vec<String> =
            launch.remarks.iter().map(|r| format!("{} {}", r.source, r.message)).collect();
        assert_eq!(
            source,
            [
                "--num_layers 48 overrides `--num-layers 32` of line 1",
                "--decoder-frist-pipeline-num-layers unknown, ignored; did you mean `--decoder-first-pipeline-num-layers`?",
            ]
        );
    }
}
