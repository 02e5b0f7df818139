//! Models that were tuned from one of the catalogue, by their names.
//!
//! Responsible for: names that go on after the size of a known model. Names of changed dimensions are excluded.

use railwright_spec::model::by_name;

/// Words in names of models with other dimensions than the model of the same beginning.
const RESHAPED: [&str; 16] = [
    "prun", "moe", "distil", "draft", "eagle", "medusa", "merge", "upscal", "expan", "vl", "vision", "audio",
    "omni", "lite", "layer", "x",
];

/// The model from which one of a longer name was tuned: `TinyLlama-1.1B-intermediate-step-480k-1T`. Names up to the size are compared.
pub(crate) fn base(name: &str) -> Option<String> {
    let own = name.trim_end_matches('/').rsplit('/').next()?;
    let (end, size) =
        own.char_indices().filter(|(_, c)| matches!(c, '-' | '_')).map(|(at, _)| at).find_map(|at| {
            let size = own.get(..at)?.rsplit(['-', '_']).next()?;
            let number = size.strip_suffix(['b', 'B'])?;
            number.parse::<f64>().is_ok().then_some((at, size))
        })?;
    let (stem, rest) = (own.get(..end)?, own.get(end..)?.to_ascii_lowercase());
    let is_reshaped = rest.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
        RESHAPED.iter().any(|mark| if mark.len() > 2 { word.contains(mark) } else { word == *mark })
    });
    (stem.len() > size.len() && !is_reshaped).then(|| by_name(stem).ok()).flatten().map(|model| model.name)
}

#[cfg(test)]
mod tests {
    use super::base;

    #[test]
    fn names_go_on_after_the_size_of_a_known_model() {
        for (name, model) in [
            ("PY007/TinyLlama-1.1B-intermediate-step-480k-1T", Some("tinyllama-1.1b")),
            ("/models/Qwen2-Math-7B-QFT", Some("qwen2.5-7b")),
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
