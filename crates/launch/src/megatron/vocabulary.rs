//! Rows of the vocabulary.
//!
//! Responsible for: those of flags and logs, or the known ones of the tokenizer's kind, with a remark. Does
//! not read tokenizers.

use super::arguments::Arguments;
use super::filler::Filler;
use crate::{RemarkKind, tokenizers};

/// Arguments that name the tokenizer's file, for its kind.
fn files_of_tokenizer(arguments: &Arguments) -> &'static [&'static str] {
    const PAIRS: &[&str] = &["vocab_file", "tokenizer_model"];
    const MODEL: &[&str] = &["tokenizer_model", "tokenizer_name_or_path"];
    match arguments.word("tokenizer_type") {
        Some(kind) if kind.contains("BPE") || kind.starts_with("Bert") => PAIRS,
        // Merges are only of byte-pair encodings.
        None if arguments.mentions("merge_file") => PAIRS,
        _ => MODEL,
    }
}

/// Rows of the tokenizer, and the argument that determines them: a file with a known name, or the kind of a
/// run without a file.
fn rows_of_tokenizer(arguments: &Arguments) -> Option<(u64, &'static str)> {
    let files = files_of_tokenizer(arguments);
    let of_file = files.iter().find_map(|field| Some((tokenizers::rows(arguments.word(field)?)?, *field)));
    let kind = || {
        let word = arguments.word("tokenizer_type")?;
        let is_decided = !tokenizers::is_any(word) || !files.iter().any(|field| arguments.mentions(field));
        Some((tokenizers::usual(word).filter(|_| is_decided)?, "tokenizer_type"))
    };
    of_file.or_else(kind)
}

/// The same, with a remark.
pub(super) fn of_tokenizer(f: &mut Filler<'_>) -> Option<(u64, &'static str)> {
    let (rows, field) = rows_of_tokenizer(f.arguments)?;
    let shown = railwright_spec::human::whole(rows);
    let message = format!("no vocabulary size is set; {shown} rows are inferred from the tokenizer");
    f.remark(RemarkKind::Assumed, field, message);
    Some((rows, field))
}

/// A remark that names a number in the path of the tokenizer's file.
fn hint(arguments: &Arguments) -> String {
    let path = files_of_tokenizer(arguments).iter().find_map(|field| arguments.word(field));
    path.and_then(tokenizers::number)
        .map_or_else(String::new, |number| format!("; its path has the number `{number}`"))
}

pub(super) fn vocabulary(f: &mut Filler<'_>) {
    let multiple = f.count("make_vocab_size_divisible_by").filter(|n| *n > 0).unwrap_or(128);
    f.set("plan.vocabulary_multiple", &multiple, "make_vocab_size_divisible_by");
    if let Some(rows) = f.count("vocab_size") {
        if has_own_rows(f.arguments) {
            return ignored_rows(f, rows);
        }
        // A tokenizer without a file adds a token that ends documents.
        let is_null = f.arguments.word("tokenizer_type").is_some_and(|word| word.starts_with("Null"));
        f.set("model.vocab", &rows.saturating_add(u64::from(is_null)), "vocab_size");
        return;
    }
    for padded in ["padded_vocab_size", "pad_vocab_size_to"] {
        if f.copy(padded, "model.vocab").is_some() {
            f.set("plan.vocabulary_multiple", &1, padded);
            return;
        }
    }
    if let Some((rows, field)) = of_tokenizer(f) {
        return f.set("model.vocab", &rows, field);
    }
    let message = format!(
        "the vocabulary depends on the tokenizer, which is not in this file: pass --vocab{}",
        hint(f.arguments)
    );
    let named = files_of_tokenizer(f.arguments).iter().find(|field| f.arguments.mentions(field));
    if let Some(field) = named.copied().filter(|_| f.draft.value("model.vocab").is_none()) {
        let (source, line) = f.arguments.origin(field);
        f.draft.leave_open("model.vocab", &source, line, "the tokenizer has its own vocabulary");
        return f.remark(RemarkKind::Unresolved, field, message);
    }
    f.remark(RemarkKind::Unresolved, "vocab_size", message);
}

/// Whether the tokenizer has its own vocabulary, so that Megatron ignores `--vocab-size`: only tokenizers
/// without a file take it (`megatron/training/tokenizer/tokenizer.py`). Settings of formats other than flags
/// and dumps have their own rules.
pub(super) fn has_own_rows(arguments: &Arguments) -> bool {
    const OWN: [&str; 7] = [
        "HuggingFaceTokenizer",
        "Llama2Tokenizer",
        "SentencePieceTokenizer",
        "GPTSentencePieceTokenizer",
        "GPT2BPETokenizer",
        "BertWordPieceLowerCase",
        "BertWordPieceCase",
    ];
    let source = arguments.origin("vocab_size").0;
    (source.starts_with("--vocab-size") || source.starts_with("vocab_size "))
        && arguments.word("tokenizer_type").is_some_and(|word| OWN.contains(&word))
}

/// `--vocab-size` of a run whose tokenizer has its own vocabulary; its rows may be known from its name.
fn ignored_rows(f: &mut Filler<'_>, given: u64) {
    if let Some((rows, field)) = rows_of_tokenizer(f.arguments) {
        if rows != given {
            let shown = railwright_spec::human::whole(rows);
            let message = format!("has no effect: the tokenizer has its own vocabulary, of {shown} rows");
            f.remark(RemarkKind::Conflict, "vocab_size", message);
        }
        f.set("model.vocab", &rows, field);
    } else {
        let (source, line) = f.arguments.origin("vocab_size");
        f.draft.leave_open("model.vocab", &source, line, "the tokenizer has its own vocabulary");
        let message = format!(
            "has no effect: the tokenizer has its own vocabulary, which is not in this file: pass --vocab{}",
            hint(f.arguments)
        );
        f.remark(RemarkKind::Unresolved, "vocab_size", message);
    }
}
