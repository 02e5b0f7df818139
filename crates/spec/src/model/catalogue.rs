//! Bundled models, by name.
//!
//! Responsible for: lookup of a name in its common spellings, and reading of its file. Each file in
//! `catalog/models` is a `config.json` in Hugging Face's field names with one more key, `_catalogue`
//! (aliases, source, notes, training), so one reader serves both. Contains no dimensions.

use super::{Model, from_hugging_face};
use crate::problem::{Problem, did_you_mean};
use railwright_catalog::MODELS as FILES;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Catalogue data of a model other than its dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CatalogueEntry {
    /// Name in reports.
    pub name: &'static str,
    /// Aliases.
    pub aliases: Vec<String>,
    /// Family, by `model_type`.
    pub family: String,
    /// Source of the dimensions.
    pub source: String,
    /// Remarks on the dimensions.
    pub notes: String,
    /// Published pre-training; `None` unless the publication has batch and sequence length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<PublishedTraining>,
}

/// Steps of a published pre-training, after the batch ramp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PublishedTraining {
    /// Sequences per step.
    pub global_batch: u64,
    /// Tokens per sequence.
    pub sequence_length: u64,
    /// True if the router has a bias for each expert that balances them, without an auxiliary loss.
    #[serde(default)]
    pub balances_experts_by_bias: bool,
    /// Publication with its section.
    pub source: String,
}

#[derive(Deserialize)]
struct File {
    #[serde(alias = "_class_name")]
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

/// Published pre-training of a model of the catalogue.
pub fn published_training(model: &Model) -> Option<&'static PublishedTraining> {
    // Few models have one. Every plan is resolved with it, so only their files are parsed.
    static TRAININGS: OnceLock<Vec<(&'static str, PublishedTraining)>> = OnceLock::new();
    let trainings = TRAININGS.get_or_init(|| {
        let with_training = FILES.iter().filter(|(_, text)| text.contains("\"training\""));
        with_training.filter_map(|(name, text)| Some((*name, entry(name, text).ok()?.training?))).collect()
    });
    trainings.iter().find(|(name, _)| *name == model.name).map(|(_, training)| training)
}

/// Finds a model by name. Ignores case, punctuation and an organization prefix (`meta-llama/`).
pub fn by_name(name: &str) -> Result<Model, Problem> {
    let find = |wanted: &str| {
        // Nearly every spelling differs from the name only in punctuation, so only that one file is parsed.
        let direct = names().iter().position(|known| known == wanted);
        direct.or_else(|| aliases().get(wanted).copied()).and_then(|at| FILES.get(at))
    };
    let wanted = normalise(name);
    // Names in code have no points: `qwen2_5_1_5b`.
    let split = split_size(name).map(|name| normalise(&name));
    let found = split.and_then(|wanted| find(&wanted)).or_else(|| find(&wanted));
    let Some((known, text)) = found.filter(|_| !wanted.is_empty()) else {
        return Err(unknown(name));
    };
    from_hugging_face(text, known).map_err(|problem| problem.in_file(format!("catalog/models/{known}.json")))
}

/// Normalized names of the files, in their order: each question looks one up several times.
fn names() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| FILES.iter().map(|(name, _)| normalise(name)).collect())
}

/// Index of the file of each normalized alias; the first model with an alias has it.
fn aliases() -> &'static BTreeMap<String, usize> {
    static ALIASES: OnceLock<BTreeMap<String, usize>> = OnceLock::new();
    ALIASES.get_or_init(|| {
        let mut all = BTreeMap::new();
        for entry in catalogue() {
            let Some(at) = FILES.iter().position(|(name, _)| *name == entry.name) else { continue };
            for alias in &entry.aliases {
                all.entry(normalise(alias)).or_insert(at);
            }
        }
        all
    })
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
        "use one of the {} models of the catalogue, such as {}, or the path of a config.json",
        FILES.len(),
        FILES.iter().step_by(FILES.len().div_ceil(6).max(1)).map(|(n, _)| *n).collect::<Vec<_>>().join(", ")
    );
    Problem::new(format!("unknown model `{shown}`")).hint(did_you_mean(base, names, &otherwise))
}

/// Suffixes of a name without effect on the dimensions: tuned variants, and number formats of stored weights.
/// Four-bit formats are excluded, because weights loaded in them take less memory.
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
/// Prefixes that are part of some spellings only: `Meta-Llama-3-8B`, `NVIDIA-Nemotron-Nano-9B-v2`.
const PUBLISHERS: &[&str] = &["meta", "nvidia"];

/// Normalizes a name: lower case, without punctuation, organization, date of a variant and suffixes without
/// effect on the dimensions.
fn normalise(name: &str) -> String {
    let base = name.trim().rsplit('/').next().unwrap_or(name);
    let lower: String = base.chars().take(200).map(|c| c.to_ascii_lowercase()).collect();
    let lower = pointed(&lower);
    let mut words: Vec<&str> = lower.split(['-', '_', ' ']).filter(|word| !word.is_empty()).collect();
    while let Some((last, rest)) = words.split_last()
        && !rest.is_empty()
        // Without a size, the date may be the only difference between two models: Mistral-Small-2409 and its successors.
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

/// Writes the point of a size as a letter, because punctuation is ignored: `opt-1.3b` is not `opt-13b`.
fn pointed(name: &str) -> String {
    let bytes = name.as_bytes();
    let is_size_after = |at: usize| {
        let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let unit = at + 1 + digits;
        digits > 0
            && matches!(bytes.get(unit), Some(b'b' | b'm' | b't'))
            && !bytes.get(unit + 1).is_some_and(u8::is_ascii_alphanumeric)
    };
    name.char_indices()
        .map(|(at, c)| {
            let is_point = c == '.' && at > 0 && bytes[at - 1].is_ascii_digit() && is_size_after(at);
            if is_point { 'p' } else { c }
        })
        .collect()
}

/// A name whose size is written as two numbers, `1_5b`, with a point between them; `None` for others.
fn split_size(name: &str) -> Option<String> {
    let words: Vec<&str> = name.split(['-', '_']).collect();
    let at = words.iter().rposition(|word| is_size(&word.to_ascii_lowercase()))?;
    let before = at.checked_sub(1).filter(|&before| {
        words[before].len() < 3
            && words[before].bytes().all(|b| b.is_ascii_digit())
            && !words[before].is_empty()
    })?;
    let size = format!("{}.{}", words[before], words[at]);
    let parts = words[..before].iter().copied().chain([size.as_str()]).chain(words[at + 1..].iter().copied());
    Some(parts.collect::<Vec<_>>().join("-"))
}

/// True for the year and month of a variant, as in `-2507`.
fn is_date(word: &str) -> bool {
    word.len() == 4
        && word
            .parse::<u32>()
            .is_ok_and(|date| (23..40).contains(&(date / 100)) && (1..=12).contains(&(date % 100)))
}

/// True for a number of parameters, as in `7b`, `0.5b`, `8x7b` and `a3b`.
fn is_size(word: &str) -> bool {
    word.strip_suffix(['b', 'm', 't']).is_some_and(|number| {
        let number = number.strip_prefix('a').unwrap_or(number);
        number.starts_with(|c: char| c.is_ascii_digit())
            && number.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'p' | 'x'))
    })
}
