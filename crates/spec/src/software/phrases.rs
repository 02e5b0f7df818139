//! Phrases in free text that name a part of a software stack.
//!
//! Responsible for: whether a text contains a phrase, or denies it there.

/// Words that deny what follows them.
const BEFORE: &[&str] = &["no", "not", "without", "non", "never", "disabled", "un"];
/// Words that deny what they follow, or leave it unspecified.
const AFTER: &[&str] = &["not", "disabled", "off", "unspecified", "unstated", "unknown", "false", "0"];
/// Words that may stand between a denial and what it denies.
const BETWEEN: &[&str] = &["using", "use", "any", "the", "a", "with"];
/// Most words of a list that one denial after it covers: "compile and activation checkpointing not stated".
const LISTED: usize = 5;

/// True if `text` contains `phrase`, both in lowercase, where the same clause neither denies it nor states
/// that it is unknown: "no torch.compile", "compile disabled", "`compile=false`", "compile and checkpointing
/// not stated".
pub fn names(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| !is_denied(text, at, phrase.len()))
}

/// True if the clause denies the phrase at byte `at` of `text`.
pub fn is_denied(text: &str, at: usize, length: usize) -> bool {
    let clause_end = |c: char| matches!(c, ',' | ';' | '(' | ')' | '[' | ']' | '.');
    // A full stop within a name, as in `torch.compile`, ends no clause.
    let before = text[..at].rsplit([',', ';', '(', ')', '[', ']']).next().unwrap_or_default();
    let before = before.rsplit(". ").next().unwrap_or_default();
    let after = &text[at + length..];
    let after = after.split([',', ';', '(', ')', '[', ']']).next().unwrap_or_default();
    let after = after.split(". ").next().unwrap_or_default().trim_end_matches(clause_end);
    denies_next(before) || denies_previous(after)
}

/// True if the last words of a clause deny what follows: "without torch.", "no-", "un".
fn denies_next(before: &str) -> bool {
    let separated: Vec<&str> = before.split(|c: char| c.is_whitespace() || c == '-').collect();
    // The last is the part of the phrase's own word that stands before it.
    let Some((own, words)) = separated.split_last() else { return false };
    BEFORE.contains(own)
        || words
            .iter()
            .rev()
            .find(|word| !word.is_empty() && !BETWEEN.contains(word))
            .is_some_and(|word| BEFORE.contains(word))
}

/// True if the first words of the rest of a clause deny what precedes them: "=false", "d off", " and
/// checkpointing not stated".
fn denies_previous(after: &str) -> bool {
    let end = after.find(|c: char| c.is_whitespace() || c == '=' || c == ':').unwrap_or(after.len());
    let mut words = after[end..]
        .split(|c: char| c.is_whitespace() || c == '=' || c == ':')
        .filter(|word| !word.is_empty());
    match words.next() {
        Some("and" | "or") => words.take(LISTED).any(|word| AFTER.contains(&word)),
        Some("is" | "are" | "was" | "were") => words.next().is_some_and(|word| AFTER.contains(&word)),
        Some(word) => AFTER.contains(&word),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denied_phrase_is_not_named() {
        for text in [
            "no torch.compile",
            "without torch.compile",
            "torch.compile disabled",
            "torchtitan (fsdp2); not using torch.compile",
            "compile=false",
            "compile: off",
            "uncompiled",
            "no-compile",
            "layers are not compiled",
            "torch.compile and activation checkpointing not in the script",
            "fsdp, compile not stated",
            "compile was disabled.",
        ] {
            assert!(!names(text, "compile"), "{text}");
        }
    }

    #[test]
    fn a_denial_of_something_else_denies_nothing() {
        for text in [
            "no accumulation; torch.compile",
            "no recompute with torch.compile, not tuned",
            "torch.compile (not in the paper)",
            "compile on, no float8",
            "torch.compile, fsdp2",
            "compile. no liger",
            "no compile in the first table; torch.compile in the second",
            "compile and fp8 with dynamic scaling",
        ] {
            assert!(names(text, "compile"), "{text}");
        }
    }
}
