//! Flags that are read and that decide nothing.
//!
//! Responsible for: each flag of the table that a reader claims, tried with other values. One whose values
//! all lead to the same run is listed, so that a flag which another setting disables, or which a reader
//! forgets, does not pass as read.

use super::arguments::{Argument, Arguments};
use super::flags::{self, Effect, Takes};
use crate::{Draft, Format, RemarkKind};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Values to try: switches, sizes, and words of the flags that choose among a few.
const TRIED: &[&str] = &[
    "True",
    "False",
    "1",
    "2",
    "8",
    "64",
    "3",
    "0",
    "0.1",
    "4096",
    "full",
    "selective",
    "uniform",
    "block",
    "hybrid",
    "RMSNorm",
    "rope",
    "none",
    "fp32",
    "bf16",
    "sgd",
    "local",
    "p2p",
    "core_attn",
    "NullTokenizer",
    "sinkhorn",
    "aux_loss",
];

/// Flags that decide nothing on their own, or whose words are too many to try.
const APART: &[&str] = &[
    "tokenizer_type",
    "tokenizer_model",
    "vocab_file",
    "merge_file",
    "deepspeed_config",
    "rotary_base",
    "tokenizer_name_or_path",
    "make_vocab_size_divisible_by",
    "train_samples",
    "train_iters",
    "train_tokens",
    "hidden_dropout",
    "attention_dropout",
];

/// The values and the remarks of a run.
pub(super) type Read<'a> = &'a dyn Fn(&Arguments) -> (BTreeMap<String, String>, Vec<String>);

/// Values that switch a flag off, or that are one of a size.
const OFF: &[&str] =
    &["", "-1", "0", "0.0", "1", "False", "false", "None", "none", "null", "transformer_engine"];

/// Maximum number of arguments of a command written by a user.
const MOST_ARGUMENTS: usize = 200;
/// Readings for one file, at most.
const MOST_READ: usize = 2000;

/// Lists the arguments that decide nothing, of those on lines that a user wrote. `read` gives the values and
/// the remarks of a run.
pub(super) fn note(
    arguments: &Arguments,
    read: Read<'_>,
    draft: &mut Draft,
    is_stated: &dyn Fn(Option<usize>) -> bool,
) {
    // A dump has every argument of the program, most of them at their defaults.
    let is_written =
        matches!(draft.format(), Format::MegatronScript | Format::MegatronCommand | Format::Primus);
    if !is_written || arguments.iter().filter(|(_, one)| is_stated(one.line)).count() > MOST_ARGUMENTS {
        return;
    }
    let left = Cell::new(MOST_READ);
    let read = |arguments: &Arguments| {
        left.set(left.get().saturating_sub(1));
        read(arguments)
    };
    let base = read(arguments);
    let of_table = |name: &str| flags::by_name(name).is_some_and(|flag| flag.effect == Effect::Mapped);
    let is_off =
        |argument: &Argument| argument.values.first().is_none_or(|value| OFF.contains(&value.as_str()));
    let idle: Vec<(&str, &Argument)> = arguments
        .iter()
        .filter(|(name, argument)| {
            let is_claimed = of_table(name)
                && argument.line.is_some()
                && is_stated(argument.line)
                && !APART.contains(name);
            is_claimed && !is_off(argument) && !is_shown(argument, draft)
        })
        .filter(|(name, argument)| {
            !others(name, argument).any(|other| read(&arguments.with(name, other)) != base)
        })
        .collect();
    for (name, argument) in idle {
        // Of two flags with one meaning, each decides without the other.
        let is_second =
            arguments.iter().filter(|(other, _)| *other != name && of_table(other)).any(|(other, _)| {
                if left.get() == 0 {
                    return false;
                }
                let without = arguments.with(other, None);
                let base = read(&without);
                read(&without.with(name, None)) != base
            });
        if left.get() == 0 {
            return;
        }
        if !is_second {
            let message =
                "known, but has no effect with the other flags: check that this applies to the program";
            draft.remark(RemarkKind::Unknown, &argument.source, argument.line, message);
        }
    }
}

/// The argument absent, and with other values.
fn others<'a>(name: &str, argument: &'a Argument) -> impl Iterator<Item = Option<Argument>> + 'a {
    let is_switch = flags::by_name(name).is_some_and(|flag| matches!(flag.takes, Takes::On | Takes::Off));
    let tried = if is_switch { &TRIED[..2] } else { TRIED };
    let other = |value: &&str| Some(Argument { values: vec![(*value).to_owned()], ..argument.clone() });
    std::iter::once(None).chain(tried.iter().map(other))
}

/// Tests whether a value or a remark names an argument.
fn is_shown(argument: &Argument, draft: &Draft) -> bool {
    draft.is_origin(&argument.source, argument.line) || draft.is_remarked(&argument.source)
}
