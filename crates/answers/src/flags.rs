//! Converts keys to flags in problems of a run described by flags: `--micro-batch` instead of
//! `plan.micro_batch`.
//!
//! Responsible for: the names in messages, hints and places. Problems of a file keep their keys.

use crate::flag_of;
use railwright_spec::problem::{Place, Problem};
use railwright_spec::run::keys;

/// An error in terms of the command line, unless it is in a file, or in a key that a run file (`has_file`)
/// may contain.
pub fn in_flags(mut problem: Problem, has_file: bool) -> Problem {
    let is_flag = match problem.place.as_deref() {
        Some(place) if place.file.is_empty() => !has_file,
        Some(place) => place.file.starts_with("--") && place.file != "--set",
        None => !has_file,
    };
    if !is_flag {
        return problem;
    }
    problem.message = translate(&problem.message);
    problem.hint = problem.hint.as_deref().map(translate);
    if let Some(place) = problem.place.as_deref_mut()
        && place.file.is_empty()
        && let Some(flag) = place.key.as_deref().and_then(flag)
    {
        *place = Place { file: flag, key: None, ..place.clone() };
    }
    problem
}

/// The flag of `plan.micro_batch`, or of `micro_batch` or `overlap.expert` alone, which are not words of
/// prose.
fn flag(word: &str) -> Option<String> {
    let is_named = |path: &str, name: &str| {
        path == word || (path.starts_with("plan.") && name == word && name.contains(['_', '.']))
    };
    let key = keys().into_iter().find(|key| is_named(&key.path(), key.name))?;
    flag_of(&key).map(|flag| format!("--{flag}"))
}

/// Command-line form of a key: `--tp VALUE`, or `--set plan.key=VALUE`.
pub fn option(key: &str) -> String {
    flag(key).map_or_else(|| format!("--set {key}=VALUE"), |flag| format!("{flag} VALUE"))
}

/// `set uneven_stages = true` becomes `pass --uneven-stages (uneven_stages = true)`, `context_kind = "ring"`
/// becomes `--context-kind ring`, `set cluster.devices to 8` becomes `pass --gpus 8`.
pub fn translate(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '-';
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if length == 0 {
            let next = rest.chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..next]);
            rest = &rest[next..];
            continue;
        }
        let word = rest[..length].trim_end_matches('.');
        let after = &rest[word.len()..];
        rest = after;
        let Some(flag) = flag(word).filter(|_| !word.is_empty()) else {
            out.push_str(if word.is_empty() { "." } else { word });
            rest = if word.is_empty() { &after[1..] } else { after };
            continue;
        };
        let is_set = out.ends_with("set ");
        if is_set {
            out.truncate(out.len() - "set ".len());
            out.push_str("pass ");
        }
        out.push_str(&flag);
        if let Some(behind) = after.strip_prefix(" = true") {
            out.extend([" (", word, " = true)"]);
            rest = behind;
        } else if let Some(behind) = after.strip_prefix(" = ") {
            let quoted = behind.strip_prefix('"').and_then(|inner| inner.split_once('"'));
            out.push(' ');
            rest = match quoted {
                Some((value, behind)) => {
                    out.push_str(value);
                    behind
                }
                None => behind,
            };
        } else if is_set && after.starts_with(" to ") {
            out.push(' ');
            rest = &after[" to ".len()..];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_flags_and_other_words_stay() {
        for (keys, flags) in [
            (
                "use 7 or 9, or set uneven_stages = true for [3, 28 x 4, 3]",
                "use 7 or 9, or pass --uneven-stages (uneven_stages = true) for [3, 28 x 4, 3]",
            ),
            ("use 2, or context_kind = \"ring\"", "use 2, or --context-kind ring"),
            (
                "use data_parallel 4, or omit it; or set cluster.devices to 4",
                "use --data-parallel 4, or omit it; or pass --gpus 4",
            ),
            (
                "`plan.global_batch` and `plan.micro_batches` both",
                "`--global-batch` and `--micro-batches` both",
            ),
            ("optimizer states... of 1.5 tokens.", "optimizer states... of 1.5 tokens."),
            ("...", "..."),
            (
                "overlap.expert helps; set plan.layers_per_stage",
                "--overlap-expert helps; pass --layers-per-stage",
            ),
        ] {
            assert_eq!(translate(keys), flags);
        }
    }

    #[test]
    fn a_file_keeps_its_keys() {
        let problem = || Problem::new("bad").at_key("plan.micro_batch").hint("lower micro_batch");
        let shown = in_flags(problem(), false);
        assert_eq!(
            (shown.to_string().as_str(), shown.hint.as_deref()),
            ("--micro-batch: bad", Some("lower --micro-batch"))
        );
        assert_eq!(in_flags(problem(), true), problem());
        let filed = || problem().in_file("run.toml");
        assert_eq!(in_flags(filed(), false), filed());
    }
}
