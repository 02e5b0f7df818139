//! Names of settings: flags of the command line and keyword arguments of the Python package.
//!
//! Responsible for: the name of every key, its aliases, and the key of a word. Excludes values.

use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::run::{Key, RunSpec, Value, keys};
use railwright_tuner::search::DIMENSIONS;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Aliases of flags: common abbreviations, and the names in frameworks.
const ALIASES: &[(&str, &[&str])] = &[
    ("plan.tensor_parallel", &["tp"]),
    ("plan.sequence_parallel", &["sp"]),
    ("plan.pipeline_parallel", &["pp"]),
    ("plan.virtual_stages", &["vp", "vpp"]),
    ("plan.context_parallel", &["cp"]),
    ("plan.data_parallel", &["dp"]),
    ("plan.expert_parallel", &["ep"]),
    ("plan.expert_tensor_parallel", &["etp"]),
    ("plan.micro_batch", &["mbs", "micro-batch-size"]),
    ("plan.global_batch", &["gbs", "global-batch-size"]),
    ("plan.micro_batches", &["gradient-accumulation-steps"]),
    ("plan.sequence_length", &["seq", "seq-length"]),
    ("plan.sharding", &["zero"]),
    ("plan.uneven_stages", &["uneven"]),
    ("plan.software", &["framework"]),
    ("cluster.devices", &["devices", "num-gpus"]),
    ("cluster.accelerator", &["gpu"]),
];

/// Flag of a key, without dashes; `None` if the key is set in another way.
pub fn flag_of(key: &Key) -> Option<String> {
    let name = match (key.section, key.name) {
        // Set by the positional argument and by `--cluster`, which also take paths.
        ("model", "name" | "config") | ("cluster", "preset") => return None,
        ("cluster", "devices") => "gpus",
        ("cluster", "name") => "cluster-name",
        ("cluster", "source") => "cluster-source",
        (_, "precision.preset") => "precision",
        (_, name) => name,
    };
    Some(name.replace(['_', '.'], "-"))
}

/// Aliases of a key's flag, without dashes.
pub fn aliases_of(key: &Key) -> &'static [&'static str] {
    let path = key.path();
    ALIASES.iter().find(|(known, _)| *known == path).map_or(&[][..], |(_, aliases)| aliases)
}

/// Shortest flag of a key, without dashes: `tp`.
pub fn short_flag_of(key: &Key) -> Option<String> {
    let short = aliases_of(key).first().filter(|alias| alias.len() <= 3).map(|alias| (*alias).to_owned());
    short.or_else(|| flag_of(key))
}

/// All keyword arguments and their keys.
fn keywords() -> &'static BTreeMap<String, Key> {
    static KEYWORDS: OnceLock<BTreeMap<String, Key>> = OnceLock::new();
    KEYWORDS.get_or_init(|| {
        let mut all = BTreeMap::new();
        for key in keys() {
            let names =
                flag_of(&key).into_iter().chain(aliases_of(&key).iter().map(|alias| (*alias).to_owned()));
            all.extend(names.map(|name| (name.replace('-', "_"), key.clone())));
        }
        all
    })
}

/// Key of a keyword argument: a flag or an alias with underscores, as in `tp`, `micro_batch`,
/// `overlap_expert`.
pub fn key_of_keyword(word: &str) -> Result<&'static Key, Problem> {
    let all = keywords();
    all.get(word).ok_or_else(|| {
        let hint = did_you_mean(
            word,
            all.keys().map(String::as_str),
            "settings have the names of `railwright estimate` flags, with underscores: `tp`, `micro_batch`",
        );
        Problem::new(format!("`{}` is not a setting of a run", human::shorten(word))).hint(hint)
    })
}

/// Key of `plan` for a word: `tp`, `tensor-parallel`, `tensor_parallel`, `plan.tensor_parallel`.
pub fn plan_key(word: &str) -> Result<String, Problem> {
    let plain = word.trim().trim_start_matches("--").to_ascii_lowercase().replace('-', "_");
    let plain = plain.strip_prefix("plan.").unwrap_or(&plain).to_owned();
    let mut known: Vec<(String, String)> = Vec::new();
    for key in keys().into_iter().filter(|key| key.section == "plan") {
        known.push((key.name.to_owned(), key.name.to_owned()));
        known.push((key.name.replace('.', "_"), key.name.to_owned()));
        known.extend(flag_of(&key).map(|flag| (flag.replace('-', "_"), key.name.to_owned())));
        known.extend(aliases_of(&key).iter().map(|alias| (alias.replace('-', "_"), key.name.to_owned())));
    }
    known.extend(DIMENSIONS.iter().map(|name| ((*name).to_owned(), (*name).to_owned())));
    if let Some((_, key)) = known.iter().find(|(name, _)| *name == plain) {
        return Ok(key.clone());
    }
    let shown = human::shorten(word);
    let names = known.iter().map(|(name, _)| name.as_str());
    Err(Problem::new(format!("`{shown}` is not a dimension of a plan")).hint(did_you_mean(
        &plain,
        names,
        "dimensions have the names of flags or of `plan` keys: `tp`, `micro_batch`",
    )))
}

/// Dimension of the plan and its values, from `tp=2..8` or `plan.micro_batch=1,2`: the key without `plan.`,
/// and the text after `=`.
pub fn dimension(text: &str) -> Result<(String, &str), Problem> {
    let shown = human::shorten(text);
    let Some((word, values)) = text.split_once('=') else {
        return Err(Problem::new(format!("`{shown}` has no `=`"))
            .in_file("--space")
            .hint("use --space tp=2..8"));
    };
    let key = plan_key(word.trim()).map_err(|problem| problem.in_file("--space"))?;
    Ok((key, values))
}

/// Value of a key from the text of a flag; `None` if the text is refused.
fn parsed(key: &str, text: &str) -> Option<Value> {
    let mut spec = RunSpec::default();
    spec.set_flag("", key, text).ok()?;
    spec.get(key)
}

/// True if two texts of a flag give its key the same value: `1k` and `1024` of a count. Texts that are
/// invalid are compared as text.
pub fn is_same_value(key: &str, one: &str, other: &str) -> bool {
    one == other || parsed(key, one).is_some_and(|value| Some(value) == parsed(key, other))
}

/// The first of the typed flags, with its value, that sets a key to a different value; `None` without one.
pub fn other_value(key: &str, value: &Value, typed: &[&str]) -> Option<String> {
    let known = keys().into_iter().find(|known| known.path() == key)?;
    let own = flag_of(&known);
    let is_own = |word: &str| {
        let name = word.strip_prefix("--").unwrap_or_default();
        aliases_of(&known).contains(&name) || own.as_deref() == Some(name)
    };
    let differs = |other: &str| parsed(key, other).is_some_and(|other| other != *value);
    typed.iter().enumerate().find_map(|(at, word)| {
        let (name, other) = word.split_once('=').or_else(|| Some((*word, *typed.get(at + 1)?)))?;
        (is_own(name) && differs(other)).then(|| format!("{name} {other}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_key_has_a_flag_of_its_own() {
        let mut seen = BTreeSet::new();
        for key in keys() {
            if let Some(flag) = flag_of(&key) {
                assert!(seen.insert(flag.clone()), "--{flag} occurs twice");
            }
        }
        for (path, aliases) in ALIASES {
            assert!(keys().iter().any(|key| key.path() == *path), "{path}");
            for alias in *aliases {
                assert!(seen.insert((*alias).to_owned()), "--{alias} occurs twice");
            }
        }
        assert!(seen.len() > 80);
    }

    /// Run files and `whatif --change` accept the aliases of the command line.
    #[test]
    fn aliases_of_flags_are_aliases_of_keys() {
        for (path, aliases) in ALIASES {
            let section = path.split('.').next().expect("a section");
            for alias in *aliases {
                let word = format!("{section}.{}", alias.replace('-', "_"));
                assert_eq!(railwright_spec::run::key(&word).expect("a key").path(), *path, "{word}");
            }
        }
    }

    #[test]
    fn keywords_are_flags_with_underscores() {
        for (word, path) in [
            ("tp", "plan.tensor_parallel"),
            ("micro_batch_size", "plan.micro_batch"),
            ("overlap_expert", "plan.overlap.expert"),
            ("gpus", "cluster.devices"),
            ("layers", "model.layers"),
        ] {
            assert_eq!(key_of_keyword(word).expect("a key").path(), path);
        }
        let problem = key_of_keyword("tensor_paralel").expect_err("a typo");
        assert!(problem.hint.expect("a hint").contains("tensor_parallel"));
    }
}
