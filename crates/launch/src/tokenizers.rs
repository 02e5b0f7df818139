//! Vocabularies of tokenizers, by the path of their file or by their kind.
//!
//! Responsible for: the rows that a name determines, and numbers in a path, which are a hint only. Reads no
//! tokenizer; unknown names have no rows.

use railwright_spec::model::by_name;

/// Vocabularies of Megatron's kinds whose file may have any vocabulary: byte pairs, and SentencePiece's
/// pieces.
const KINDS: &[(&str, u64)] = &[("GPT2BPETokenizer", 50_257), ("Llama2Tokenizer", 32_000)];

/// Vocabularies that belong to a name in the path of a tokenizer's file.
const VOCABULARIES: &[(&str, u64)] = &[
    ("gpt2-vocab", 50_257),
    // GPT-NeoX-20B's, which Pythia has too.
    ("20B_tokenizer", 50_277),
    ("pythia-", 50_277),
    ("Llama-2", 32_000),
    ("Llama-3", 128_256),
    ("Llama-3.1", 128_256),
    ("Llama-3.2", 128_256),
    ("Llama-3.3", 128_256),
    ("llama3", 128_256),
    ("llama3.1", 128_256),
    ("llama3.2", 128_256),
    ("llama3.3", 128_256),
    ("Mixtral-8x7B", 32_000),
    ("Mixtral-8x22B", 32_768),
    ("Mistral-7B-v0.3", 32_768),
    ("Mistral-7B", 32_000),
    ("Qwen2.5", 151_936),
    ("Qwen2", 151_936),
    ("Qwen3", 151_936),
    ("DeepSeek-V3", 129_280),
    ("DeepSeek-V3.1", 129_280),
    ("DeepSeek-V3.2", 129_280),
    // Nemotron-4 (NVIDIA 2024, section 2): 256,000 tokens.
    ("nemotron_2_256k", 256_000),
    ("starcoder2", 49_152),
    ("DeepSeek-V2", 102_400),
    ("DeepSeek-V2.5", 102_400),
];

/// Rows of the vocabulary of a tokenizer with this path, or of a kind that has the name of a model; `None` if
/// unknown.
pub(crate) fn rows(name: &str) -> Option<u64> {
    if is_any(name) {
        return None;
    }
    let name = name.trim_end_matches('/').to_lowercase();
    // Tokens were added to the vocabulary of the model in the name.
    if ["merged", "extended", "expanded"].iter().any(|word| name.contains(word)) {
        return None;
    }
    let known = VOCABULARIES.iter().find(|(known, _)| has_name(&name, &known.to_lowercase()));
    // A tokenizer is mostly named by the model that it belongs to. The rows of a model may be padded.
    let bare = name.trim_end_matches("tokenizer").trim_end_matches(['-', '_']);
    let of_model =
        |name: &str| name.contains('/').then(|| by_name(name).ok()).flatten().map(|model| model.vocabulary);
    known.map(|(_, rows)| *rows).or_else(|| of_model(&name)).or_else(|| of_model(bare))
}

/// Tests whether a text has a name that no version number follows: `Qwen3` is not in `Qwen3.5`.
fn has_name(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let mut rest = text[at + name.len()..].chars();
        let next = rest.next();
        let is_number = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        !(next == Some('.') && is_number(rest.next()) || name.ends_with(char::is_numeric) && is_number(next))
    })
}

/// Tests whether a kind reads files with any vocabulary.
pub(crate) fn is_any(kind: &str) -> bool {
    KINDS.iter().any(|(known, _)| *known == kind)
}

/// Rows of the usual file of a kind, for a run that names no file.
pub(crate) fn usual(kind: &str) -> Option<u64> {
    KINDS.iter().find(|(known, _)| *known == kind).map(|(_, rows)| *rows).or_else(|| rows(kind))
}

/// A number in a path that may be the rows, such as `262144` or `100k`. It may as well be a date or a step.
pub(crate) fn number(path: &str) -> Option<&str> {
    let is_size = |word: &&str| {
        let digits = word.trim_end_matches(['k', 'K']);
        let expected = if digits.len() == word.len() { 5..=6 } else { 2..=3 };
        expected.contains(&digits.len())
            && digits.bytes().all(|b| b.is_ascii_digit())
            && word.len() - digits.len() <= 1
    };
    path.split(|c: char| !c.is_ascii_alphanumeric()).find(is_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A version after a name is another vocabulary.
    #[test]
    fn a_name_ends_before_a_version() {
        assert_eq!(rows("Qwen/Qwen3.5-4B"), by_name("Qwen/Qwen3.5-4B").ok().map(|model| model.vocabulary));
        assert_eq!(rows("/data/qwen3.5/tokenizer.json"), None);
        assert_eq!(rows("/data/Qwen3-8B/tokenizer.json"), Some(151_936));
        assert_eq!(rows("/data/Llama-3.1-8B/tokenizer.model"), Some(128_256));
        assert_eq!(rows("meta-llama/Llama-2-7b-hf"), Some(32_000));
        assert_eq!(rows("bigcode/starcoder2-tokenizer"), Some(49_152));
    }
}
