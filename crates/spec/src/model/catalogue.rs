//! The models that come with the program, by name.
//!
//! Responsible for: finding a name, in the spellings that people use, and reading the one file that it stands for.
//! Each file in `catalog/models` is a `config.json` in Hugging Face's field names with one more key, `_catalogue`
//! (aliases, source, notes, training), so one reader serves both. Refuses to hold dimensions of its own.

use super::{Model, from_hugging_face};
use crate::problem::{Problem, did_you_mean};
use railwright_catalog::MODELS as FILES;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Catalogue data of a model other than its dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CatalogueEntry {
    /// The name that output uses.
    pub name: &'static str,
    /// Other names that find it.
    pub aliases: Vec<String>,
    /// The family, as `model_type` names it.
    pub family: String,
    /// Where the dimensions come from.
    pub source: String,
    /// What to know about them.
    pub notes: String,
    /// How it was trained, where its publication has both figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<PublishedTraining>,
}

/// The steps of a published pre-training, after the ramp of the batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PublishedTraining {
    /// Sequences of a step.
    pub global_batch: u64,
    /// Tokens of a sequence.
    pub sequence_length: u64,
    /// The publication, with its section.
    pub source: String,
}

#[derive(Deserialize)]
struct File {
    model_type: String,
    _catalogue: About,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct About {
    aliases: Vec<String>,
    source: String,
    notes: String,
    training: Option<PublishedTraining>,
}

/// All models, in the catalogue's order (by family, then by size).
pub fn catalogue() -> &'static [CatalogueEntry] {
    static ENTRIES: OnceLock<Vec<CatalogueEntry>> = OnceLock::new();
    ENTRIES.get_or_init(|| FILES.iter().filter_map(|(name, text)| entry(name, text).ok()).collect())
}

fn entry(name: &'static str, text: &str) -> serde_json::Result<CatalogueEntry> {
    let File { model_type, _catalogue: About { aliases, source, notes, training } } =
        serde_json::from_str(text)?;
    Ok(CatalogueEntry { name, aliases, family: model_type, source, notes, training })
}

/// The published pre-training of a model of the catalogue.
pub fn published_training(model: &Model) -> Option<&'static PublishedTraining> {
    catalogue().iter().find(|entry| entry.name == model.name)?.training.as_ref()
}

/// The model of a name. Case, punctuation and an organisation in front (`meta-llama/`) do not matter.
pub fn by_name(name: &str) -> Result<Model, Problem> {
    let wanted = normalise(name);
    // Nearly every spelling is the name itself but for punctuation: then only that one file is parsed.
    let direct = FILES.iter().find(|(known, _)| normalise(known) == wanted);
    let found = direct.or_else(|| {
        let entry = catalogue().iter().find(|e| e.aliases.iter().any(|alias| normalise(alias) == wanted))?;
        FILES.iter().find(|(known, _)| *known == entry.name)
    });
    let Some((known, text)) = found.filter(|_| !wanted.is_empty()) else {
        return Err(unknown(name));
    };
    from_hugging_face(text, known).map_err(|problem| problem.in_file(format!("catalog/models/{known}.json")))
}

fn unknown(name: &str) -> Problem {
    let shown: String = name.chars().take(80).collect();
    let base = shown.rsplit('/').next().unwrap_or(&shown);
    let names = catalogue().iter().flat_map(|entry| {
        std::iter::once(entry.name)
            .chain(entry.aliases.iter().map(String::as_str))
            .filter(|n| !n.contains('/'))
    });
    let otherwise = format!(
        "the catalogue has {} models, such as {}; a path to a config.json works too",
        FILES.len(),
        FILES.iter().step_by(FILES.len().div_ceil(6).max(1)).map(|(n, _)| *n).collect::<Vec<_>>().join(", ")
    );
    Problem::new(format!("unknown model `{shown}`")).hint(did_you_mean(base, names, &otherwise))
}

/// Words at the end of a name that leave the dimensions as they are: tuned variants, and number formats of stored weights. Formats of
/// four bits are not among them: weights that are loaded so take less memory.
const SAME_DIMENSIONS: &[&str] = &[
    "instruct",
    "chat",
    "base",
    "hf",
    "it",
    "pt",
    "thinking",
    "reasoning",
    "deduped",
    "sft",
    "dpo",
    "bf16",
    "fp8",
];
/// Words at the start that are part of some spellings only: `Meta-Llama-3-8B`, `NVIDIA-Nemotron-Nano-9B-v2`.
const PUBLISHERS: &[&str] = &["meta", "nvidia"];

/// Lower case without punctuation, the organisation, the date of a variant and the words that name the same dimensions.
fn normalise(name: &str) -> String {
    let base = name.trim().rsplit('/').next().unwrap_or(name);
    let lower: String = base.chars().take(200).map(|c| c.to_ascii_lowercase()).collect();
    let mut words: Vec<&str> = lower.split(['-', '_', ' ']).filter(|word| !word.is_empty()).collect();
    while let Some((last, rest)) = words.split_last()
        && !rest.is_empty()
        // Without a size, a date may be the only difference of two models: Mistral-Small-2409 and its successors.
        && (SAME_DIMENSIONS.contains(last) || (is_date(last) && rest.iter().any(|word| is_size(word))))
    {
        words.pop();
    }
    if words.len() > 1 && PUBLISHERS.contains(&words[0]) {
        words.remove(0);
    }
    let mut plain: String = words.concat().chars().filter(char::is_ascii_alphanumeric).collect();
    // Tuned variants have the dimensions of their base.
    for suffix in ["instruct", "chat", "base", "hf", "it"] {
        if let Some(stem) = plain.strip_suffix(suffix).filter(|stem| stem.len() > 3) {
            plain = stem.to_owned();
        }
    }
    plain
}

/// Year and month of a variant, as in `-2507`.
fn is_date(word: &str) -> bool {
    word.len() == 4
        && word
            .parse::<u32>()
            .is_ok_and(|date| (23..40).contains(&(date / 100)) && (1..=12).contains(&(date % 100)))
}

/// A number of parameters, as in `7b`, `0.5b`, `8x7b` and `a3b`.
fn is_size(word: &str) -> bool {
    word.strip_suffix(['b', 'm', 't']).is_some_and(|number| {
        let number = number.strip_prefix('a').unwrap_or(number);
        number.starts_with(|c: char| c.is_ascii_digit())
            && number.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'x'))
    })
}
