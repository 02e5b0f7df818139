//! Changing a plan in the user's own launch file.
//!
//! Responsible for: the smallest edit of a text that changes the framework's settings to those of another
//! plan. Everything else is kept: variables, arrays, wrappers, comments, unknown flags. Proposed edits are
//! read back with the reader of the format: an edit is valid if exactly the wanted settings changed. An edit
//! that does not read back as the wanted plan is rejected.

mod conditions;
mod document;
mod edited;
mod in_place;
mod language;
mod megatron;
mod model_args;
mod shell;
mod unified;

pub use edited::{Change, Edited};
pub use unified::unified;

use self::language::{Language, Settings, Target};
use crate::Format;
use railwright_spec::run::Run;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// An edit that was not made.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refused {
    /// Reason, as a lowercase fragment.
    pub reason: String,
    /// The manual changes, in the framework's words.
    pub by_hand: Vec<Change>,
}

/// Maximum number of candidates that are read back for one setting. A script with more possible places is
/// rejected.
const MOST_TRIED: usize = 1500;
/// Maximum number of bytes that are read back for one setting: all candidates of files up to 44 KB, and fewer
/// of longer ones, so that the time of an edit has a bound.
const MOST_READ: usize = 64 << 20;

/// Settings of a plan that an edit of this file may change; `None` without such a limit. A file whose
/// framework has no writer keeps the settings that none of its lines has.
pub fn settable(format: Format, text: &str) -> Option<BTreeSet<String>> {
    let has_flags = matches!(format, Format::MegatronScript | Format::MegatronCommand | Format::MegatronLog)
        || (format == Format::MegatronArgsYaml && model_args::ModelArgs::of(text).is_some());
    let has_writer =
        document::Document::of(format, text).is_some_and(|language| language.settings(text).is_some());
    if has_flags || has_writer {
        return None;
    }
    in_place::InPlace::of(text).map(|language| language.keys())
}

/// Edits the text of a launch file that runs `from` so that it runs `to`. `is_right` reads the edited text as
/// the caller read the original. It returns the reason if the plan is not the wanted one.
pub fn edit(
    format: Format,
    text: &str,
    from: &Run,
    to: &Run,
    is_right: &dyn Fn(&str) -> Result<(), String>,
) -> Result<Edited, Refused> {
    let refused = |reason: &str| Refused { reason: reason.to_owned(), by_hand: Vec::new() };
    let language: Box<dyn Language> = match format {
        Format::MegatronScript | Format::MegatronCommand => Box::new(megatron::Megatron { format }),
        Format::MegatronLog => {
            let language = megatron::Megatron { format: Format::MegatronScript };
            let now = megatron::Megatron::of_run(from);
            let targets = language.targets(from, to, &now, false);
            let reason = "a log cannot be edited: change the script of the run".to_owned();
            return Err(Refused { reason, by_hand: changes(&language, &targets, &now) });
        }
        Format::MegatronArgsYaml => match model_args::ModelArgs::of(text) {
            Some(language) => Box::new(language),
            None => match in_place::InPlace::of(text) {
                Some(language) => Box::new(language),
                None => return Err(refused("its flags are not under `MODEL_ARGS`")),
            },
        },
        _ => {
            match document::Document::of(format, text).filter(|language| language.settings(text).is_some()) {
                Some(language) => Box::new(language),
                None => match in_place::InPlace::of(text) {
                    Some(language) => Box::new(language),
                    None => return Err(refused("its settings cannot be changed automatically")),
                },
            }
        }
    };
    let language = language.as_ref();
    if let Some(now) = crate::manifest::script(text).and_then(|script| language.settings(&script)) {
        // A flag in the item of another one is one argument of a container.
        let reason = "a manifest has an item for each argument: change its items".to_owned();
        let targets = language.targets(from, to, &now, false);
        return Err(Refused { reason, by_hand: changes(language, &targets, &now) });
    }
    let Some(now) = language.settings(text) else {
        return Err(refused("its settings cannot be changed automatically"));
    };
    if let Some(reason) = language.refusal(to) {
        return Err(refused(&reason));
    }
    let mut first = None;
    for thorough in [false, true] {
        let targets = language.targets(from, to, &now, thorough);
        match apply(language, text, &targets).and_then(|edited| is_right(&edited).map(|()| edited)) {
            Ok(edited) => {
                let after = language.settings(&edited).unwrap_or_default();
                let changes = between(language, &now, &after);
                if let Some(reason) = conditions::broken(text, &edited, &changes) {
                    return Err(Refused { reason, by_hand: changes });
                }
                return Ok(Edited { text: edited, changes });
            }
            Err(reason) => {
                first.get_or_insert(Refused { reason, by_hand: changes(language, &targets, &now) });
            }
        }
    }
    Err(first.unwrap_or_else(|| refused("no edit was tried")))
}

/// The text with every target reached, or the first that is out of reach.
fn apply(language: &dyn Language, text: &str, targets: &[Target]) -> Result<String, String> {
    let wanted: BTreeMap<&str, Option<&Vec<String>>> =
        targets.iter().map(|(name, values)| (name.as_str(), values.as_ref())).collect();
    let mut text = text.to_owned();
    for target in targets {
        let Some(now) = language.settings(&text) else {
            return Err("the edited text cannot be read".to_owned());
        };
        if now.get(&target.0) == target.1.as_ref() {
            continue;
        }
        // Another target may pass through a third value: it is set in its turn, and the whole is read back.
        let reaches = |then: &Settings, passes: bool| {
            names(&now, then).all(|name| {
                now.get(name) == then.get(name)
                    || wanted.get(name).is_some_and(|end| passes || *end == then.get(name))
            })
        };
        // Reading a script takes most of the time of an edit, so each candidate is read once.
        let (mut found, mut passing) = (None, None);
        let most = MOST_TRIED.min(MOST_READ / text.len().max(1));
        for candidate in language.candidates(&text, target, &now).iter().take(most) {
            let candidate = candidate.applied(&text);
            let then = language.settings(&candidate);
            let Some(then) = then.filter(|then| then.get(&target.0) == target.1.as_ref()) else { continue };
            if reaches(&then, false) {
                found = Some(candidate);
                break;
            }
            if passing.is_none() && reaches(&then, true) {
                passing = Some(candidate);
            }
        }
        let Some(found) = found.or(passing) else {
            let spelled = language.spelled(&target.0);
            return Err(match &target.1 {
                Some(values) => format!("no edit of this file sets only `{}`", spelled_out(&spelled, values)),
                None => format!("no edit of this file removes only `{spelled}`"),
            });
        };
        text = found;
    }
    Ok(text)
}

fn spelled_out(name: &str, values: &[String]) -> String {
    match values {
        [only] if only == "True" => name.to_owned(),
        _ => format!("{name} {}", values.join(" ")),
    }
}

fn names<'a>(a: &'a Settings, b: &'a Settings) -> impl Iterator<Item = &'a str> {
    a.keys().chain(b.keys()).map(String::as_str).collect::<BTreeSet<&str>>().into_iter()
}

fn changes(language: &dyn Language, targets: &[Target], now: &Settings) -> Vec<Change> {
    let mut then = now.clone();
    for (name, values) in targets {
        match values {
            Some(values) => drop(then.insert(name.clone(), values.clone())),
            None => drop(then.remove(name)),
        }
    }
    between(language, now, &then)
}

/// Differences between two texts.
fn between(language: &dyn Language, now: &Settings, then: &Settings) -> Vec<Change> {
    let joined = |values: Option<&Vec<String>>| values.map(|values| values.join(" "));
    names(now, then)
        .filter(|name| now.get(*name) != then.get(*name))
        .map(|name| Change {
            name: language.spelled(name),
            before: joined(now.get(name)),
            after: joined(then.get(name)),
        })
        .collect()
}

#[cfg(test)]
mod tests;
