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

/// Lower case without punctuation, the organisation and the words that name the same dimensions.
fn normalise(name: &str) -> String {
    let base = name.trim().rsplit('/').next().unwrap_or(name);
    let mut plain: String =
        base.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).take(200).collect();
    // Tuned variants have the dimensions of their base.
    for suffix in ["instruct", "chat", "base", "hf", "it"] {
        if let Some(stem) = plain.strip_suffix(suffix).filter(|stem| stem.len() > 3) {
            plain = stem.to_owned();
        }
    }
    plain
}
