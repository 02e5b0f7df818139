//! Models that were tuned from one of the catalogue, by name.
//!
//! Responsible for: names that go on after the size of a known model, or that begin before its family.
//! Names of changed dimensions are excluded.

use railwright_spec::model::by_name;

/// Words in names of models whose dimensions differ from those of the model of the same beginning.
const RESHAPED: [&str; 16] = [
    "prun", "moe", "distil", "draft", "eagle", "medusa", "merge", "upscal", "expan", "vl", "vision", "audio",
    "omni", "lite", "layer", "x",
];

/// Words before the name of a language model that is a part of a larger one.
const AROUND: [&str; 7] = ["llava", "video", "speech", "voice", "image", "vla", "ocr"];

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
    // Mixtures of experts have the parameters of a token after all: `Qwen3-30B-A3B`.
    let active = own.get(end + 1..)?.split(['-', '_']).next().unwrap_or_default();
    let number = active.strip_prefix(['a', 'A']).and_then(|text| text.strip_suffix(['b', 'B']));
    let is_active = number.is_some_and(|number| number.parse::<f64>().is_ok());
    let end = if is_active { end + 1 + active.len() } else { end };
    let find = |stem: &str| {
        let bare = || VARIANTS.iter().fold(stem.to_owned(), |name, word| name.replace(word, ""));
        by_name(stem).or_else(|_| by_name(&bare())).ok().map(|model| model.name)
    };
    let (stem, rest) = (own.get(..end)?, own.get(end..)?.to_ascii_lowercase());
    if stem.len() <= size.len() || is_reshaped(&rest) {
        return None;
    }
    // The name of a tuner or of its data comes before that of a family with a version: `Open-Qwen2.5-7B`.
    let later = || {
        stem.match_indices(['-', '_']).find_map(|(at, _)| {
            let (before, own) = (stem[..at].to_ascii_lowercase(), &stem[at + 1..]);
            let version = own.strip_suffix(size)?;
            let is_whole = version.starts_with(|c: char| c.is_ascii_alphabetic())
                && version.contains(|c: char| c.is_ascii_digit())
                && !is_reshaped(&before)
                && !AROUND.iter().any(|word| before.contains(word));
            is_whole.then(|| find(own)).flatten()
        })
    };
    find(stem).or_else(later)
}

/// Tests whether words of a name, in small letters, indicate other dimensions.
fn is_reshaped(words: &str) -> bool {
    words.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
        RESHAPED.iter().any(|mark| if mark.len() > 2 { word.contains(mark) } else { word == *mark })
    })
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
            ("Qwen3-30B-A3B-Base-mcore", Some("qwen3-30b-a3b")),
            ("Qwen3-Omni-30B-A3B-Instruct", None),
            ("princeton-nlp/Llama-3-Base-8B-SFT", Some("llama-3-8b")),
            ("runs/Qwen2.5-7B/checkpoint-500", Some("qwen2.5-7b")),
            ("runs/Qwen2.5-7B/sft/final", None),
            ("out/Llama-3-8B-pruned/global_step10", None),
            ("out/Llama-3-8B-pruned", None),
            ("Llama-3-8B-moe-8x", None),
            ("own-2B-final-phase24", None),
            ("7B-sft", None),
            ("mesolitica/Malaysian-Qwen2.5-7B-Instruct", Some("qwen2.5-7b")),
            ("own_tuner-Llama-3.1-8B-sft", Some("llama-3-8b")),
            ("llava-onevision-qwen2-7b-ov", None),
            ("R1-Distill-Qwen2.5-7B-v2", None),
            ("own-Qwen-7B-sft", None),
            ("some/model", None),
        ] {
            assert_eq!(base(name).as_deref(), model, "{name}");
        }
    }
}
