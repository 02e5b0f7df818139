//! The arguments of a Megatron run, whichever way they came: field, values, what was said and where.
//!
//! Responsible for: one form for command lines, dumps and YAML, and typed access that reports what cannot be read. Refuses to know
//! defaults.

use super::flags::{self, Effect, Takes};
use crate::shell::Word;
use crate::{Draft, RemarkKind};
use std::collections::BTreeMap;

/// One argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    /// Its values as texts; a switch has `True` or `False`.
    pub(crate) values: Vec<String>,
    /// What was said: `--num-layers 32`.
    pub(crate) said: String,
    /// Where.
    pub(crate) line: Option<usize>,
}

/// All arguments by field.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    map: BTreeMap<String, Argument>,
}

/// Values of one flag that are kept.
const MOST_VALUES: usize = 1000;
/// Unknown flags for which the nearest known one is looked up; a file with more of them is no launch, and the search is slow.
const MOST_LOOKED_UP: usize = 500;

impl Arguments {
    /// Takes one; a later one wins, and that is said when they differ.
    pub(crate) fn insert(&mut self, name: &str, argument: Argument, draft: &mut Draft) {
        if let Some(before) = self.map.get(name)
            && before.values != argument.values
        {
            let place = before.line.map_or_else(String::new, |line| format!(" of line {line}"));
            let message = format!("wins over `{}`{place}", before.said);
            draft.remark(RemarkKind::Conflict, &argument.said, argument.line, message);
        }
        self.map.insert(name.to_owned(), argument);
    }

    /// The argument of a field, unless it is `None`.
    pub(crate) fn get(&self, name: &str) -> Option<&Argument> {
        self.map.get(name).filter(|argument| argument.values.first().is_some_and(|value| !is_none(value)))
    }

    /// Whether nothing was given.
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

    /// Whether a switch is on; `None` when it is not given.
    pub(crate) fn switch(&self, name: &str) -> Option<bool> {
        let word = self.word(name)?;
        Some(!matches!(word.to_ascii_lowercase().as_str(), "false" | "0" | "no" | "off"))
    }

    /// Whether a switch is given and on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.switch(name) == Some(true)
    }

    /// A whole number; what is none is reported and left out.
    pub(crate) fn count(&self, name: &str, draft: &mut Draft) -> Option<u64> {
        let argument = self.get(name)?;
        let word = argument.values.first()?.trim_matches(['[', ']', '\'', '"']);
        let number =
            word.replace('_', "").parse::<f64>().ok().filter(|n| n.fract() == 0.0 && (0.0..9e15).contains(n));
        if number.is_none() {
            let message = format!("expected a whole number, found `{word}`; left out");
            draft.remark(RemarkKind::Unresolved, &argument.said, argument.line, message);
        }
        number.map(|number| number as u64)
    }

    /// A number; what is none is reported and left out.
    pub(crate) fn number(&self, name: &str, draft: &mut Draft) -> Option<f64> {
        let argument = self.get(name)?;
        let word = argument.values.first()?.trim_matches(['[', ']', '\'', '"']);
        let number = word.parse::<f64>().ok().filter(|n| n.is_finite());
        if number.is_none() {
            let message = format!("expected a number, found `{word}`; left out");
            draft.remark(RemarkKind::Unresolved, &argument.said, argument.line, message);
        }
        number
    }

    /// What was said of a field and where, or that a default holds.
    pub(crate) fn origin(&self, name: &str) -> (String, Option<usize>) {
        if let Some(argument) = self.get(name) {
            return (argument.said.clone(), argument.line);
        }
        let spelling = flags::by_name(name).map_or_else(|| name.to_owned(), |flag| flag.spelling());
        (format!("no {spelling}"), None)
    }

    /// Says which arguments matter and are not modelled, and which do not matter.
    pub(crate) fn remark_on_the_rest(&self, draft: &mut Draft) {
        for (name, argument) in &self.map {
            let Some(flag) = flags::by_name(name) else { continue };
            let value = argument.values.first().map_or("", String::as_str);
            let is_off = is_none(value) || matches!(value, "False" | "false" | "0" | "0.0" | "[]" | "");
            // A switch that is on by default matters when it is off.
            let is_usual = if flag.takes == Takes::Off { !is_off } else { is_off };
            let matters = matches!(flag.effect, Effect::Kernel | Effect::None)
                && draft.is_origin(&argument.said, argument.line);
            match flag.effect {
                _ if matters => {}
                Effect::NotModelled(what) if !is_usual => {
                    let message = format!("{}; its effect on {what} is not modelled", flag.note);
                    draft.remark(RemarkKind::NotModelled, &argument.said, argument.line, message);
                }
                Effect::Kernel if !is_usual => {
                    let message = "a choice of kernels, which the software generation stands for";
                    draft.remark(RemarkKind::Ignored, &argument.said, argument.line, message);
                }
                Effect::None if !is_usual => {
                    let message = "without effect on the time and memory of a step";
                    draft.remark(RemarkKind::Ignored, &argument.said, argument.line, message);
                }
                _ => {}
            }
        }
    }
}

fn is_none(value: &str) -> bool {
    matches!(value, "None" | "null" | "~")
}

/// Whether a word is one variable without a value, which may stand for any number of flags.
fn is_wholly_unknown(word: &Word) -> bool {
    matches!(word.unknown.as_slice(), [name] if *name == word.text)
}

/// Arguments of the words of a command line; everything before the first flag is skipped.
pub(crate) fn of_words(words: &[Word], draft: &mut Draft) -> Arguments {
    let mut arguments = Arguments::default();
    let (mut at, mut unknown_flags) = (0, 0);
    while at < words.len() {
        let word = &words[at];
        at += 1;
        if is_wholly_unknown(word) {
            let message = "has no value in this file; flags in it are not seen";
            draft.remark(RemarkKind::Unresolved, &word.text, (word.line > 0).then_some(word.line), message);
        }
        if !word.text.starts_with("--") || word.text.len() < 3 {
            continue;
        }
        let (spelling, inline) = match word.text.split_once('=') {
            Some((spelling, value)) => (spelling, Some(value.to_owned())),
            None => (word.text.as_str(), None),
        };
        let flag = flags::by_spelling(spelling);
        let takes = flag.map_or(Takes::Many, |flag| flag.takes);
        let most = match (takes, &inline) {
            (Takes::On | Takes::Off, _) | (_, Some(_)) => 0,
            (Takes::One, None) => 1,
            (Takes::Many, None) => MOST_VALUES,
        };
        let start = at;
        let ends =
            |at: usize| words[at].text.starts_with("--") || (at > start && is_wholly_unknown(&words[at]));
        while at < words.len() && at - start < most && !ends(at) {
            at += 1;
        }
        let behind = &words[start..at];
        let mut values: Vec<String> =
            inline.into_iter().chain(behind.iter().map(|word| word.text.clone())).collect();
        let said = std::iter::once(word.text.as_str()).chain(behind.iter().map(|word| word.text.as_str()));
        let said = said.take(8).collect::<Vec<_>>().join(" ");
        let line = (word.line > 0).then_some(word.line);
        let Some(flag) = flag else {
            if flags::is_launcher(spelling) {
                continue;
            }
            unknown_flags += 1;
            let near = if unknown_flags <= MOST_LOOKED_UP { flags::near(spelling) } else { None };
            let message = match near {
                Some(near) => format!("is not known, and left out; `{near}` is"),
                None => "is not known, and left out".to_owned(),
            };
            draft.remark(RemarkKind::Unknown, spelling, line, message);
            continue;
        };
        let unknown: Vec<&str> = std::iter::once(word)
            .chain(behind)
            .flat_map(|word| word.unknown.iter().map(String::as_str))
            .collect();
        if !unknown.is_empty() {
            if flag.effect == Effect::Mapped || matches!(flag.effect, Effect::NotModelled(_)) {
                let message = format!("`{}` has no value in this file; left out", unknown.join("`, `"));
                draft.remark(RemarkKind::Unresolved, &said, line, message);
            }
            continue;
        }
        match flag.takes {
            Takes::On if values.is_empty() => values.push("True".to_owned()),
            Takes::Off if values.is_empty() => values.push("False".to_owned()),
            Takes::One if values.is_empty() => {
                draft.remark(RemarkKind::Unresolved, &said, line, "has no value behind it; left out");
                continue;
            }
            _ => {}
        }
        arguments.insert(flag.name, Argument { values, said, line }, draft);
    }
    arguments
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
        let arguments = of_words(&words(text), &mut draft);
        assert_eq!(arguments.switch("bf16"), Some(true));
        assert_eq!(arguments.switch("add_bias_linear"), Some(false));
        assert_eq!(arguments.count("num_layers", &mut draft), Some(48));
        assert_eq!(arguments.get("recompute_modules").map(|a| a.values.len()), Some(2));
        let launch = draft.finish().expect("no problems");
        let said: Vec<String> = launch.remarks.iter().map(|r| format!("{} {}", r.said, r.message)).collect();
        assert_eq!(
            said,
            [
                "--num_layers 48 wins over `--num-layers 32` of line 1",
                "--decoder-frist-pipeline-num-layers is not known, and left out; `--decoder-first-pipeline-num-layers` is",
            ]
        );
    }
}
