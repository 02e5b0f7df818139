//! Models that were tuned from one of the catalogue, by their names.
//!
//! Responsible for: names that go on after the size of a known model. Names of changed dimensions are
//! excluded.

use railwright_spec::model::by_name;

/// Words in names of models whose dimensions differ from those of the model of the same beginning.
const RESHAPED: [&str; 16] = [
    "prun", "moe", "distil", "draft", "eagle", "medusa", "merge", "upscal", "expan", "vl", "vision", "audio",
    "omni", "lite", "layer", "x",
];

/// Beginnings of folders in which a run keeps its states.
const STATES: [&str; 9] =
    ["checkpoint", "global_step", "step", "epoch", "iter", "final", "last", "latest", "best"];

/// Words of tuned variants between the name of a family and the size: `Llama-3-Base-8B`.
const VARIANTS: [&str; 6] = ["-Base", "-base", "-Instruct", "-instruct", "-Chat", "-chat"];

/// The model from which one of a longer name was tuned: `TinyLlama-1.1B-intermediate-step-480k-1T`. Names up
/// to the size are compared. The folder of a run's states has the name of the model:
/// `Qwen2.5-7B/checkpoint-500`.
pub(crate) fn base(name: &str) -> Option<String> {
    let is_state = |part: &str| {
        let part = part.to_ascii_lowercase();
        !part.is_empty()
            && (STATES.iter().any(|start| part.starts_with(start))
                || part.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut own = name.trim_end_matches('/');
    for _ in 0..2 {
        match own.rsplit_once('/') {
            Some((folder, part)) if is_state(part) => own = folder,
            _ => break,
        }
    }
    let is_folder = own.len() < name.trim_end_matches('/').len();
    let own = own.rsplit('/').next()?;
    if is_folder && let Ok(model) = by_name(own) {
        return Some(model.name);
    }
    let (end, size) =
        own.char_indices().filter(|(_, c)| matches!(c, '-' | '_')).map(|(at, _)| at).find_map(|at| {
            let size = own.get(..at)?.rsplit(['-', '_']).next()?;
            let number = size.strip_suffix(['b', 'B', 'm', 'M'])?;
            number.parse::<f64>().is_ok().then_some((at, size))
        })?;
    let find = |stem: &str| {
        let bare = || VARIANTS.iter().fold(stem.to_owned(), |name, word| name.replace(word, ""));
        by_name(stem).or_else(|_| by_name(&bare())).ok().map(|model| model.name)
    };
    let (stem, rest) = (own.get(..end)?, own.get(end..)?.to_ascii_lowercase());
    let is_reshaped = rest.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
        RESHAPED.iter().any(|mark| if mark.len() > 2 { word.contains(mark) } else { word == *mark })
    });
    (stem.len() > size.len() && !is_reshaped).then(|| find(stem)).flatten()
}

#[cfg(test)]
mod tests {
    use super::base;

    #[test]
    fn names_go_on_after_the_size_of_a_known_model() {
        for (name, model) in [
            ("PY007/TinyLlama-1.1B-intermediate-step-480k-1T", Some("tinyllama-1.1b")),
            ("/models/Qwen2-Math-7B-QFT", Some("qwen2.5-7b")),
            ("out/SmolLM2-360M-Instruct-ft", Some("smollm2-360m")),
            ("princeton-nlp/Llama-3-Base-8B-SFT", Some("llama-3-8b")),
            ("runs/Qwen2.5-7B/checkpoint-500", Some("qwen2.5-7b")),
            ("runs/Qwen2.5-7B/sft/final", None),
            ("out/Llama-3-8B-pruned/global_step10", None),
            ("out/Llama-3-8B-pruned", None),
            ("Llama-3-8B-moe-8x", None),
            ("own-2B-final-phase24", None),
            ("7B-sft", None),
            ("some/model", None),
        ] {
            assert_eq!(base(name).as_deref(), model, "{name}");
        }
    }
}
