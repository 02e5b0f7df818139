//! Settings of a dialect other than Megatron's fields.

use crate::shell::Word;
use crate::{Draft, RemarkKind, adapter};
use railwright_spec::plan::Optimizer;

/// Settings of a dialect other than Megatron's fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stated {
    /// A model by name: text and place.
    pub(super) model: Option<(String, String, Option<usize>)>,
    /// Only adapters are trained: text and place.
    pub(super) adapter: Option<(String, Option<usize>)>,
    /// Their rank.
    pub(super) rank: Option<(u64, String, Option<usize>)>,
    /// Their targets.
    pub(super) targets: Option<(Vec<String>, String, Option<usize>)>,
}

/// The value after a flag that is not Megatron's.
pub(super) fn value<'a>(words: &'a [Word], spellings: &[&str]) -> Option<(&'a Word, String, String)> {
    let at = words.iter().rposition(|word| {
        let name = word.text.split('=').next().unwrap_or_default().replace('_', "-");
        spellings.contains(&name.as_str())
    })?;
    let word = &words[at];
    if let Some((_, value)) = word.text.split_once('=') {
        return Some((word, value.to_owned(), word.text.clone()));
    }
    let behind = words.get(at + 1).filter(|behind| behind.unknown.is_empty())?;
    Some((word, behind.text.clone(), format!("{} {}", word.text, behind.text)))
}

/// All values after a flag that is not Megatron's: `--target_modules q_proj v_proj`.
pub(super) fn values<'a>(words: &'a [Word], spelling: &str) -> Option<(&'a Word, Vec<String>, String)> {
    let (word, first, source) = value(words, &[spelling])?;
    let mut list = vec![first];
    if !word.text.contains('=') {
        let at = words.iter().position(|other| std::ptr::eq(other, word))?;
        let more = words.iter().skip(at + 2).take_while(|word| !word.text.starts_with('-'));
        list.extend(more.map(|word| word.text.clone()));
    }
    let source = list.iter().skip(1).fold(source, |source, name| format!("{source} {name}"));
    Some((word, list, source))
}

impl Stated {
    /// Tests whether the command describes its whole run without a flag for the number of layers.
    pub(crate) fn names_a_model(&self) -> bool {
        self.model.is_some()
    }

    /// Number of layers of the named model; `None` if the model is unknown.
    pub(crate) fn layers(&self) -> Option<u64> {
        let (name, ..) = self.model.as_ref()?;
        let model = by_hub_name(name)?;
        Some(model.1)
    }

    /// Sets the model and the adapter of a draft that Megatron's fields have filled.
    pub(crate) fn finish(&self, draft: &mut Draft) {
        if let Some((name, source, line)) = &self.model {
            let keys: Vec<String> = draft
                .origins()
                .iter()
                .filter(|origin| origin.key.starts_with("model.") || origin.key == "plan.vocabulary_multiple")
                // Prediction modules are trained if a flag adds them, even those that the checkpoint lacks.
                .filter(|origin| origin.key != "model.mtp" || origin.line.is_none())
                .map(|origin| origin.key.clone())
                .collect();
            draft.take_back(&keys);
            draft.forget(&["no --vocab-size", "vocab_size"]);
            match by_hub_name(name) {
                Some((known, _)) => {
                    draft.set("model.name", &known, source, *line);
                    predicted(draft, &known);
                }
                None => {
                    draft.leave_open("model.name", source, *line, "the catalogue has no model of this name");
                }
            }
        }
        if let Some((source, line)) = &self.adapter {
            draft.set("plan.optimizer", &Optimizer::Lora, source, *line);
            if let Some((rank, source, line)) = &self.rank {
                draft.set("plan.lora_rank", rank, source, *line);
            }
            if let Some((targets, source, line)) = &self.targets {
                adapter::set_targets(draft, targets, source, *line);
            }
            adapter::defaults(draft, adapter::ALL_OF_RANK_8);
        }
    }
}

/// The catalogue's model for a name of Hugging Face, tuned or not, and its layers.
pub(super) fn by_hub_name(name: &str) -> Option<(String, u64)> {
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
    // A checkpoint that was converted to Megatron-Core has the model's name with this ending.
    let last = ["-mcore", "_mcore"].iter().find_map(|ending| last.strip_suffix(ending)).unwrap_or(last);
    let bare = ["-Instruct", "-Base", "-Chat", "-it", "-Instruct-2507", "-Thinking-2507"]
        .iter()
        .find_map(|ending| last.strip_suffix(ending));
    [Some(last), bare].into_iter().flatten().find_map(|name| {
        let model = railwright_spec::model::by_name(name).ok()?;
        Some((name.to_owned(), model.layers.len() as u64))
    })
}

/// Prediction modules that a flag adds to a named model: those of the catalogue's configuration, or none.
fn predicted(draft: &mut Draft, name: &str) {
    let Some(depth) = draft.spec().model.mtp else { return };
    let origin = draft.origins().iter().find(|origin| origin.key == "model.mtp").cloned();
    draft.take_back(&["model.mtp".to_owned()]);
    let own = railwright_spec::model::by_name(name).ok().and_then(|model| model.multi_token_prediction);
    if own.map_or(0, |own| own.depth) != depth {
        let (source, line) = origin.map_or_else(Default::default, |origin| (origin.source, origin.line));
        let message = "multi-token-prediction modules of a named model are not estimated: a lower bound";
        draft.remark(RemarkKind::NotModelled, &source, line, message);
    }
}
