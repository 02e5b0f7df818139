//! Edits of files with a reader and without a writer: a value is replaced where the reader found it.
//!
//! Responsible for: the settings of a plan that lines of the file set, and texts with one value replaced on
//! its line or in the variable that the line uses. Settings that the file leaves to the framework are changes
//! by hand.

use super::language::{Language, Settings, Splice, Target};
use crate::{Launch, differences};
use railwright_spec::plan::PlanSpec;
use railwright_spec::run::{Run, Section, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Settings that a user changes by hand if the file does not set them.
const MAIN: [&str; 8] = [
    "plan.tensor_parallel",
    "plan.pipeline_parallel",
    "plan.context_parallel",
    "plan.expert_parallel",
    "plan.sharding",
    "plan.micro_batch",
    "plan.recompute",
    "plan.offload.optimizer",
];

/// Degrees, which are one if no line sets them.
const DEGREES: [&str; 4] =
    ["plan.tensor_parallel", "plan.context_parallel", "plan.expert_parallel", "plan.expert_tensor_parallel"];

const MICRO_BATCHES: &str = "plan.micro_batches";

/// Words of the same choice: those of a stage of sharding, and those of a switch.
const STAGES: [[&str; 4]; 3] = [
    ["0", "1", "2", "3"],
    ["zero0", "zero1", "zero2", "zero3"],
    ["NO_SHARD", "", "SHARD_GRAD_OP", "FULL_SHARD"],
];
const SWITCHES: [[&str; 2]; 3] = [["false", "true"], ["False", "True"], ["none", "full"]];

/// A launch file by the settings that its reader finds.
pub(super) struct InPlace {
    /// The framework's words for the keys that the file sets.
    names: BTreeMap<String, String>,
}

/// A text as its reader reads it, without other files.
fn read(text: &str) -> Option<Launch> {
    crate::read(text, "file")?.ok()
}

/// The keys of a plan that the text itself sets, with the lines.
fn lines(launch: &Launch) -> BTreeMap<&str, (usize, &str)> {
    let own = launch.origins.iter().filter(|origin| origin.file.is_none() && origin.key.starts_with("plan."));
    own.filter_map(|origin| Some((origin.key.as_str(), (origin.line?, origin.source.as_str())))).collect()
}

impl InPlace {
    /// The language of a text; `None` if no reader finds a setting in it.
    pub(super) fn of(text: &str) -> Option<Self> {
        let launch = read(text)?;
        // A file's number may be another quantity, such as tokens: then the name of the setting is that of a
        // plan.
        let name = |key: &str, source: &str| {
            let name = source.split([' ', '=']).next().unwrap_or_default();
            let own = source.rsplit([' ', '=']).next().unwrap_or_default();
            let value = launch.spec.get(key).map(|value| value.to_toml()).unwrap_or_default();
            let is_same = own.parse::<u64>().is_err() || own == value || value.starts_with('"');
            if is_same { name.to_owned() } else { format!("{key} (by `{name}`)") }
        };
        let names: BTreeMap<String, String> = lines(&launch)
            .into_iter()
            .map(|(key, (_, source))| (key.to_owned(), name(key, source)))
            .collect();
        (!names.is_empty()).then_some(Self { names })
    }
}

impl InPlace {
    /// Tests whether a setting of the file is `null` without division: Megatron-Core takes any number of
    /// virtual stages, even 1, for an interleaved schedule, which one stage cannot have.
    fn has_null(&self, key: &str) -> bool {
        key == "plan.virtual_stages"
            && self.names.get(key).is_some_and(|name| name.contains("virtual_pipeline"))
    }

    /// Names of the settings of a plan that lines of the file set. The micro-batch counts with the batch or
    /// its number of micro-batches alone: otherwise a change of it would change the batch.
    pub(super) fn keys(&self) -> BTreeSet<String> {
        let mut keys: BTreeSet<String> =
            self.names.keys().filter_map(|key| key.strip_prefix("plan.")).map(str::to_owned).collect();
        if !["global_batch", "micro_batches"].iter().any(|key| keys.contains(*key)) {
            keys.remove("micro_batch");
        }
        keys
    }
}

/// The value of a key in a plan, as in a run file.
fn of_plan(run: &Run, key: &str) -> Option<String> {
    if key == MICRO_BATCHES {
        return Some(run.plan.micro_batches().to_string());
    }
    PlanSpec::from_plan(&run.plan).get(key.trim_start_matches("plan.")).as_ref().map(Value::to_toml)
}

impl Language for InPlace {
    fn settings(&self, text: &str) -> Option<Settings> {
        let launch = read(text)?;
        let value = |key: &str| Some((key.to_owned(), vec![launch.spec.get(key)?.to_toml()]));
        let mut settings: Settings = lines(&launch).into_keys().filter_map(value).collect();
        // A reader may leave out a degree of one.
        for key in DEGREES.into_iter().filter(|key| self.names.contains_key(*key)) {
            settings.entry(key.to_owned()).or_insert_with(|| vec!["1".to_owned()]);
        }
        Some(settings)
    }

    fn candidates(&self, text: &str, (key, values): &Target, now: &Settings) -> Vec<Splice> {
        let new = match values {
            Some(values) => values.first().map(String::as_str),
            None => self.has_null(key).then_some("null"),
        };
        let (Some(old), Some(new)) = (now.get(key).and_then(|old| old.first()), new) else {
            return Vec::new();
        };
        let Some(launch) = read(text) else { return Vec::new() };
        let Some((line, source)) = lines(&launch).get(key.as_str()).copied() else { return Vec::new() };
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        let starts: Vec<usize> = all
            .iter()
            .scan(0, |next, line| {
                let start = *next;
                *next += line.len();
                Some(start)
            })
            .collect();
        let sets =
            |line: &str| !line.trim_start().starts_with('#') && (line.contains('=') || line.contains(':'));
        // The line of the setting, then the variables that it may use.
        let own = line.checked_sub(1).filter(|&at| at < all.len());
        let order = own.into_iter().chain((0..all.len()).filter(|&at| Some(at) != own && sets(all[at])));
        let mut pairs = words(old, new);
        pairs.extend(scaled(source, old, new));
        let mut found = Vec::new();
        for at in order {
            for (before, after) in &pairs {
                for place in places(all[at], before) {
                    let from = starts[at] + place;
                    found.push(Splice::new(from, from + before.len(), after));
                }
            }
        }
        found
    }

    fn spelled(&self, name: &str) -> String {
        self.names.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    fn targets(&self, from: &Run, to: &Run, now: &Settings, _: bool) -> Vec<Target> {
        let mut keys = differences(&from.plan, &to.plan);
        keys.push(MICRO_BATCHES.to_owned());
        keys.retain(|key| now.contains_key(key) || MAIN.contains(&key.as_str()));
        // One line may set both: without division of sequences there is no exchange.
        let kind = "plan.context_kind";
        let is_undivided = to.plan.context_parallel == 1;
        keys.retain(|key| key != kind || !is_undivided);
        let target = |key: String| {
            let value = of_plan(to, &key)?;
            let is_absent = value == "1" && self.has_null(&key) && now.contains_key(&key);
            Some((key, (!is_absent).then(|| vec![value])))
        };
        let last = (is_undivided && now.contains_key(kind)).then(|| (kind.to_owned(), None));
        let changed =
            keys.into_iter().filter_map(target).filter(|(key, values)| now.get(key) != values.as_ref());
        changed.chain(last).collect()
    }
}

/// Words that stand for a value in files, with those of its replacement.
fn words(old: &str, new: &str) -> Vec<(String, String)> {
    let bare = |text: &str| text.trim_matches('"').to_owned();
    let (old, new) = (bare(old), bare(new));
    let stage = |text: &str| match text {
        "none" => Some(0),
        "fsdp" | "zero3" => Some(3),
        // Parameters stay gathered after the forward pass: FSDP's `SHARD_GRAD_OP`.
        "fsdp-no-reshard" => Some(2),
        text => {
            text.strip_prefix("zero").and_then(|stage| stage.parse::<usize>().ok()).filter(|&stage| stage < 4)
        }
    };
    let mut pairs = vec![(old.clone(), new.clone())];
    if let (Some(a), Some(b)) = (stage(&old), stage(&new)) {
        let of_stages = STAGES.iter().flat_map(|names| {
            let lower = [names[a].to_lowercase(), names[b].to_lowercase()];
            [(names[a].to_owned(), names[b].to_owned()), (lower[0].clone(), lower[1].clone())]
        });
        pairs.extend(of_stages);
    }
    let switch = |text: &str| match text {
        "none" | "false" => Some(0),
        "full" | "true" => Some(1),
        _ => None,
    };
    if let (Some(a), Some(b)) = (switch(&old), switch(&new)) {
        pairs.extend(SWITCHES.iter().map(|names| (names[a].to_owned(), names[b].to_owned())));
    }
    // Megatron's distributed optimizer is a switch.
    let is_switch = |text: &str| matches!(text, "none" | "zero1");
    if is_switch(&old) && is_switch(&new) {
        let at = usize::from(old == "zero1");
        pairs.extend(SWITCHES[..2].iter().map(|names| (names[at].to_owned(), names[1 - at].to_owned())));
    }
    let size = |text: &str| text.strip_prefix("hsdp:").map(str::to_owned);
    match (size(&old), size(&new)) {
        (Some(a), Some(b)) => pairs.push((a, b)),
        // -1 stands for all ranks.
        (Some(a), None) if new == "fsdp" => pairs.push((a, "-1".to_owned())),
        (None, Some(b)) if old == "fsdp" => pairs.push(("-1".to_owned(), b)),
        _ => {}
    }
    pairs.retain(|(before, after)| !before.is_empty() && !after.is_empty() && before != after);
    pairs.dedup();
    pairs
}

/// The number of a file that is a multiple of the setting, such as the tokens of a micro-batch, and the same
/// multiple of its new value.
fn scaled(source: &str, old: &str, new: &str) -> Option<(String, String)> {
    let word = source.rsplit([' ', '=']).next()?;
    let [own, old, new] = [word, old, new].map(|word| word.parse::<u64>().ok());
    let (own, old, new) = (own?, old.filter(|&old| old > 0)?, new?);
    let is_multiple = own != old && own.is_multiple_of(old);
    is_multiple.then(|| (own.to_string(), (own / old).saturating_mul(new).to_string()))
}

/// The places of a word in a line, not inside another word, the last first: values follow their names.
fn places(line: &str, word: &str) -> Vec<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let mut found: Vec<usize> = line
        .match_indices(word)
        .filter(|(at, _)| !line[..*at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part))
        .map(|(at, _)| at)
        .collect();
    found.reverse();
    found
}
