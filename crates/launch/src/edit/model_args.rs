//! Edits of YAML files of flags: a flag of `MODEL_ARGS` in each line.
//!
//! Responsible for: texts with one flag set, added after the last or removed; comments, variables and order
//! are kept. [`super::megatron`] determines the changes of a plan. Files whose flags are in other sections
//! are rejected.

use super::language::{Language, Settings, Splice, Target};
use super::megatron::Megatron;
use crate::Format;
use crate::megatron::model_args::{lines_of, script_of};
use crate::megatron::{arguments_of, flags};
use railwright_spec::run::Run;

/// A file with the section `MODEL_ARGS`.
pub(super) struct ModelArgs;

const SCRIPT: Megatron = Megatron { format: Format::MegatronScript };

impl ModelArgs {
    /// The language of a text; `None` without the section.
    pub(super) fn of(text: &str) -> Option<Self> {
        (!lines_of(text).is_empty()).then_some(Self)
    }
}

/// The place of the value at a line: from the key's colon to the comment or the end of the line.
fn value_at(text: &str, line: usize) -> Option<(usize, usize)> {
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let written = text.get(start..)?.split('\n').next()?;
    let colon = written.find(": ").or_else(|| written.trim_end().strip_suffix(':').map(str::len))?;
    let comment = written.find(" #").filter(|at| *at > colon).unwrap_or(written.trim_end().len());
    Some((start + colon + 1, start + comment.max(colon + 1)))
}

/// Values in the syntax of such files.
fn literal(values: &[String]) -> String {
    match values {
        [only] if only == "True" => "true".to_owned(),
        _ => values.join(" "),
    }
}

impl Language for ModelArgs {
    fn settings(&self, text: &str) -> Option<Settings> {
        let mut settings = arguments_of(Format::MegatronScript, &script_of(text))?;
        settings.retain(|name, _| flags::by_name(name).is_none_or(|flag| flag.effect != flags::Effect::None));
        Some(settings)
    }

    fn candidates(&self, text: &str, target: &Target, now: &Settings) -> Vec<Splice> {
        let (name, wanted) = target;
        let lines = lines_of(text);
        let is_named = |key: &str| flags::by_spelling(key).is_some_and(|flag| flag.name == name);
        let mut out = Vec::new();
        for (_, line) in lines.iter().filter(|(key, _)| is_named(key)) {
            if let Some(values) = wanted {
                if let Some((from, to)) = value_at(text, *line) {
                    out.push(Splice::new(from, to, format!(" {}", literal(values))));
                }
            } else {
                let before: usize =
                    text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
                let own = text[before..].split_inclusive('\n').next().map_or(0, str::len);
                out.push(Splice::new(before, before + own, ""));
            }
        }
        if let (Some(values), Some((_, last))) = (wanted, lines.last()) {
            let start: usize = text.split_inclusive('\n').take(*last).map(str::len).sum();
            let written = text.split_inclusive('\n').nth(last - 1).unwrap_or_default();
            let indent = &written[..written.len() - written.trim_start().len()];
            let gap = if text[..start].ends_with('\n') { "" } else { "\n" };
            let line = format!("{gap}{indent}{}: {}\n", self.spelled(name), literal(values));
            if !now.contains_key(name) {
                out.push(Splice::new(start, start, line));
            }
        }
        out
    }

    fn spelled(&self, name: &str) -> String {
        SCRIPT.spelled(name)
    }

    fn targets(&self, from: &Run, to: &Run, now: &Settings, thorough: bool) -> Vec<Target> {
        SCRIPT.targets(from, to, now, thorough)
    }
}
