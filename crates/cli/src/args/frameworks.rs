//! Flags of Megatron-LM and torchtitan.
//!
//! Responsible for: converting framework flags of a command line to settings, and hints with near names.
//! Flags unknown to this program and to the frameworks are left to clap.

use super::overview::{self, OVERVIEW};
use super::{Arguments, brief, common_words, later};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser};
use railwright_answers::other_value;
use railwright_launch::{RemarkKind, typed, words_of};
use railwright_spec::run::Value;
use std::ffi::OsString;

/// Parses a command line, with framework flags converted to settings.
pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Result<Arguments, clap::Error> {
    let words: Vec<OsString> = words.collect();
    if words.get(1).is_none_or(|word| word == "-h") && words.len() <= 2 {
        let error = Arguments::command().override_help(OVERVIEW).try_get_matches_from(&words);
        return error.and_then(|matches| Arguments::from_arg_matches(&matches));
    }
    if words.len() == 2 && (words[1] == "--help" || words[1] == "help") {
        let error =
            overview::grouped(Arguments::command()).try_get_matches_from([&words[0], &"--help".into()]);
        return error.and_then(|matches| Arguments::from_arg_matches(&matches));
    }
    if words.iter().any(|word| word == "-h") {
        let short = || brief::short(Arguments::command()).try_get_matches_from(translated(&words)?);
        let matches = typed_words(&words).map_or_else(short, |typed| later::for_words(typed, short));
        return matches.and_then(|matches| Arguments::from_arg_matches(&matches));
    }
    let parsed =
        || Arguments::try_parse_from(translated(&words)?).map_err(|error| with_usage(tidied(error), &words));
    match typed_words(&words) {
        Some(typed) => later::for_words(typed, parsed),
        None => parsed(),
    }
}

/// An error with the usage line of its command's help and, for a common word of a different name, the flags
/// of the command that mean it.
///
/// The usage line of clap lists the arguments typed so far and a required one of a group that is none for the
/// user.
fn with_usage(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    if error.get(ContextKind::Usage).is_none() {
        return error;
    }
    let mut whole = super::whole();
    let mut command = &mut whole;
    for word in words.iter().skip(1).filter_map(|word| word.to_str()) {
        if command.find_subcommand(word).is_some() {
            command = command.find_subcommand_mut(word).expect("a command found by its name");
        }
    }
    error.insert(ContextKind::Usage, ContextValue::StyledStr(command.render_usage()));
    if let Some(meant) = meant_by_name(&error, command) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![meant.into()]));
        return error;
    }
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(typed))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
        && error.get(ContextKind::SuggestedArg).is_none()
    {
        let meant: Vec<_> = common_words::meant(typed, command).into_iter().map(Into::into).collect();
        if !meant.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(meant));
        }
    }
    error
}

/// A name in a place that takes none: of a catalogue without `show`, or of a design without `--designs`.
fn meant_by_name(error: &clap::Error, command: &clap::Command) -> Option<String> {
    let typed = |kind| match error.get(kind) {
        Some(ContextValue::String(typed)) if !typed.starts_with('-') => Some(typed),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand if error.get(ContextKind::SuggestedSubcommand).is_none() => {
            let show = command.find_subcommand("show")?;
            let name = typed(ContextKind::InvalidSubcommand)?;
            show.get_positionals().next()?;
            Some(format!("did you mean `railwright {} show {name}`?", command.get_name()))
        }
        ErrorKind::UnknownArgument => {
            command.get_arguments().find(|argument| argument.get_long() == Some("designs"))?;
            Some(format!("use `--designs {}`", typed(ContextKind::InvalidArg)?))
        }
        _ => None,
    }
}

/// The words of a command line whose first is a command. `None` if the command is not plain, such as an alias
/// or after a flag with a value: then all commands are described.
fn typed_words(words: &[OsString]) -> Option<Vec<String>> {
    let typed: Vec<String> =
        words.iter().skip(1).filter_map(|word| word.to_str().map(str::to_owned)).collect();
    let first = typed.iter().find(|word| !word.starts_with('-'));
    // Nothing is described here but the names.
    let names = later::for_words(Vec::new(), Arguments::command);
    let is_command = first
        .is_none_or(|first| first == "help" || names.get_subcommands().any(|one| one.get_name() == first));
    is_command.then_some(typed)
}

/// The words with settings in the place of the frameworks' flags. Words that are not text stay as they are.
fn translated(words: &[OsString]) -> Result<Vec<OsString>, clap::Error> {
    let Some(texts) = words.iter().map(|word| word.to_str()).collect::<Option<Vec<&str>>>() else {
        return Ok(words.to_vec());
    };
    let command = Arguments::command();
    let Some((place, inner)) =
        texts.iter().enumerate().skip(1).find_map(|(at, word)| Some((at, command.find_subcommand(word)?)))
    else {
        return Ok(words.to_vec());
    };
    let mut known: Vec<String> = vec!["help".to_owned(), "version".to_owned()];
    for argument in inner.get_arguments().chain(command.get_arguments()) {
        known.extend(argument.get_long().map(str::to_owned));
        known.extend(argument.get_all_aliases().unwrap_or_default().into_iter().map(str::to_owned));
    }
    // Only commands that describe a run accept them.
    if !known.iter().any(|flag| flag == "set") {
        return Ok(words.to_vec());
    }
    let mut out: Vec<OsString> = texts[..=place].iter().map(OsString::from).collect();
    let mut foreign: Vec<String> = Vec::new();
    let mut at = place + 1;
    while at < texts.len() {
        let word = texts[at];
        if word == "--" {
            out.extend(texts[at..].iter().map(OsString::from));
            break;
        }
        let name = word.trim_start_matches("--").split('=').next().unwrap_or_default();
        let own = !word.starts_with("--") || known.iter().any(|flag| flag == name);
        let foreign_words = if own { None } else { words_of(word, &texts[at + 1..]) };
        if let Some(count) = foreign_words {
            foreign.extend(texts[at..=at + count].iter().map(|text| (*text).to_owned()));
            at += count + 1;
        } else {
            out.push(OsString::from(word));
            at += 1;
        }
    }
    if foreign.is_empty() {
        return Ok(words.to_vec());
    }
    let source = typed(&foreign).map_err(|problems| {
        let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Arguments::command().error(ErrorKind::InvalidValue, messages.join("\n"))
    })?;
    if let Some(remark) = source.remarks.iter().find(|remark| remark.kind != RemarkKind::Ignored) {
        let message = format!("`{}`: {}", remark.source, remark.message);
        return Err(Arguments::command().error(ErrorKind::InvalidValue, message));
    }
    for (key, value) in &source.settings {
        if let Some(own) = other_value(key, value, &texts[place + 1..]) {
            let value = text(value);
            let mut pairs = foreign.windows(2).filter(|pair| pair[1] == value);
            let flag =
                pairs.next().filter(|_| pairs.next().is_none()).map(|pair| format!("`{} {value}`", pair[0]));
            let other = flag.unwrap_or_else(|| format!("a flag that sets `{key}` to {value}"));
            let message = format!("`{own}` contradicts {other}\n\nhint: pass one of them\n");
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, message));
        }
        out.push(OsString::from("--set"));
        out.push(OsString::from(format!("{key}={}", text(value))));
    }
    Ok(out)
}

/// A value as `--set` takes it.
fn text(value: &Value) -> String {
    match value {
        Value::List(list) => list.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_plain(),
    }
}

/// An error without misleading hints: a flag that is not a small typing error away, a flag parsed as a value.
fn tidied(mut error: clap::Error) -> clap::Error {
    if let (ErrorKind::InvalidValue, Some(ContextValue::String(typed)), Some(ContextValue::String(near))) =
        (error.kind(), error.get(ContextKind::InvalidValue), error.get(ContextKind::SuggestedValue))
        && strsim::osa_distance(near, typed) > 1 + typed.len() / 4
    {
        error.remove(ContextKind::SuggestedValue);
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let typed = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(typed)) => {
            typed.trim_start_matches('-').split('=').next().unwrap_or("").to_owned()
        }
        _ => return error,
    };
    let near = |name: &str| {
        let name = name.trim_start_matches('-').split(' ').next().unwrap_or_default();
        strsim::osa_distance(name, &typed) <= 1 + typed.len() / 8
    };
    let is_near = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(name)) => near(name),
        Some(ContextValue::Strings(names)) => names.iter().any(|name| near(name)),
        _ => false,
    };
    if !is_near {
        error.remove(ContextKind::SuggestedArg);
    }
    error.remove(ContextKind::Suggested);
    error
}
