//! Vocabularies of tokenizers, by their kind or by the path of their file.
//!
//! Responsible for: the rows that a name determines. Reads no tokenizer; unknown names have no rows.

use railwright_spec::model::by_name;

/// Vocabularies that belong to a kind of tokenizer, or to a name in the path of its file.
const VOCABULARIES: &[(&str, u64)] = &[
    ("GPT2BPETokenizer", 50_257),
    ("gpt2-vocab", 50_257),
    // GPT-NeoX-20B's, which Pythia has too.
    ("20B_tokenizer", 50_277),
    ("Llama2Tokenizer", 32_000),
    ("Llama-2", 32_000),
    ("Llama-3", 128_256),
    ("llama3", 128_256),
    ("Mixtral-8x7B", 32_000),
    ("Mixtral-8x22B", 32_768),
    ("Mistral-7B-v0.3", 32_768),
    ("Mistral-7B", 32_000),
    ("Qwen2.5", 151_936),
    ("Qwen2", 151_936),
    ("Qwen3", 151_936),
    ("DeepSeek-V3", 129_280),
    ("DeepSeek-V2", 102_400),
];

/// Rows of the vocabulary of a tokenizer with this kind or path; `None` if unknown.
pub(crate) fn rows(name: &str) -> Option<u64> {
    let name = name.to_lowercase();
    // A tokenizer is mostly named by the model that it belongs to.
    let of_model = name.contains('/').then(|| by_name(&name).ok()).flatten().map(|model| model.vocabulary);
    let known = || VOCABULARIES.iter().find(|(known, _)| name.contains(&known.to_lowercase()));
    of_model.or_else(|| known().map(|(_, rows)| *rows))
}
