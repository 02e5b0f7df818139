//! Libraries that pretrain a model from its dimensions: Levanter, lingua, InternEvo.
//!
//! Responsible for: their keys and defaults, and models whose layers a plan can express. Models with layers of other kinds are open, never read
//! as transformers. Each library has a module; this one has the common parts.

mod internevo;
mod levanter;
mod lingua;

#[cfg(test)]
mod tests;

use crate::fields::Fields;
use crate::{Evidence, Format, Launch, Reader, RemarkKind, Strength, tokenizers};
use railwright_spec::plan::Sharding;
use railwright_spec::problem::Problem;

/// Reads configurations of libraries that pretrain models.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PretrainersReader;

/// A library: its name, the test of a text with the evidence, and its reader.
type Library = (&'static str, fn(&str) -> bool, &'static str, fn(&str, &str) -> Result<Launch, Vec<Problem>>);

const LIBRARIES: &[Library] = &[
    ("Levanter", levanter::is_one, levanter::WHY, levanter::read),
    ("lingua", lingua::is_one, lingua::WHY, lingua::read),
    ("InternEvo", internevo::is_one, internevo::WHY, internevo::read),
];

impl Reader for PretrainersReader {
    fn format(&self) -> Format {
        Format::Pretrainer
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        let (name, _, why, _) = LIBRARIES.iter().find(|(_, is_one, ..)| is_one(text))?;
        Some(Evidence::new(Strength::Certain, format!("{name}: {why}")))
    }

    fn read(&self, text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
        match LIBRARIES.iter().find(|(_, is_one, ..)| is_one(text)) {
            Some((.., read)) => read(text, file),
            None => Err(vec![Problem::new("not a configuration of a known library").in_file(file)]),
        }
    }
}

/// Tests whether a text has each of some keys at the start of a line.
fn has_sections(text: &str, keys: &[&str]) -> bool {
    keys.iter()
        .all(|key| text.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'))))
}

/// Tests whether a text has a key inside of a section.
fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| {
        line.starts_with(' ') && line.trim_start().strip_prefix(key).is_some_and(|rest| rest.starts_with(':'))
    })
}

/// Leaves the model open: its layers have no counterpart. Dimensions that were set are removed.
fn open_model(fields: &mut Fields<'_>, path: &str, why: &str) {
    let set: Vec<String> = fields
        .draft
        .origins()
        .iter()
        .map(|origin| &origin.key)
        .filter(|key| key.starts_with("model."))
        .cloned()
        .collect();
    fields.draft.take_back(&set);
    let (source, line) = fields.source(path);
    fields.draft.leave_open("model.name", &source, line, why);
    fields.remark(RemarkKind::Unresolved, path, format!("{why}: pass the model's config.json"));
}

/// Copies dimensions: a key of the file each, or the default of the library.
fn dimensions(fields: &mut Fields<'_>, of: &str, keys: &[(&str, &str, Option<u64>)]) {
    for (path, key, usual) in keys {
        match (fields.count(path), usual) {
            (Some(n), _) => fields.set(key, &n, path),
            (None, Some(n)) => fields.default(key, n, &format!("the default of {of}")),
            (None, None) => {}
        }
    }
}

/// Rows of the vocabulary of a tokenizer with a known name; others are a remark.
fn vocabulary(fields: &mut Fields<'_>, path: &str) {
    let name = fields.word(path);
    if let Some(rows) = name.as_deref().and_then(tokenizers::rows) {
        return fields.set("model.vocab", &rows, path);
    }
    let message = "the vocabulary depends on the tokenizer, which is not in this file: pass --vocab";
    fields.remark(RemarkKind::Unresolved, path, message);
}

/// Degrees that a file does not set are 1.
fn undivided(fields: &mut Fields<'_>, of: &str) {
    for key in
        ["plan.tensor_parallel", "plan.pipeline_parallel", "plan.context_parallel", "plan.expert_parallel"]
    {
        fields.default(key, &1_u64, &format!("{of} does not shard a model by default"));
    }
}

/// Sharding of a stage, over all replicas or in groups.
const fn sharding(zero_stage: u8, group: Option<u64>) -> Sharding {
    Sharding { zero_stage, group, reshard_after_forward: zero_stage == 3 }
}
