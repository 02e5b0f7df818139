//! Adapters from keys with clear names.
//!
//! Responsible for: whether adapters are trained, their rank and their modules. A key of adapters without a
//! rank and without a switch that is off leaves open which parameters are trained. States no rank of the
//! program.

use super::found::{is_unknown, one, open, paths};
use super::{names, parts};
use crate::adapter;
use crate::document::{Data, Entry};
use crate::effects;
use crate::fields::Fields;

/// Key of the trained parameters.
const KEY: &str = "plan.optimizer";

/// Words in the path of a key of adapters.
const WORDS: &[&str] = &["lora", "qlora", "dora", "peft"];

/// Names of switches of adapters.
const SWITCHES: &[&str] = &[
    "enabled",
    "enable",
    "use_lora",
    "enable_lora",
    "lora_enable",
    "lora",
    "use_peft",
    "use_qlora",
    "qlora",
];

/// Reads adapters, and tests whether they decide which parameters are trained.
pub(super) fn read(fields: &mut Fields<'_>) -> bool {
    let is_adapter = |entry: &Entry| {
        let mut words = entry.path.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
        parts::side(&entry.path).is_none() && words.any(|word| WORDS.contains(&word.as_str()))
    };
    let entries: Vec<Entry> =
        fields.document.entries.iter().filter(|entry| is_adapter(entry)).cloned().collect();
    let is_switch = |entry: &&Entry| SWITCHES.contains(&parts::last(&entry.path).as_str());
    if entries.iter().filter(is_switch).any(|entry| effects::is_off(&entry.data)) {
        return false;
    }
    if let Some((path, rank)) = rank(fields, &entries) {
        if rank == 0 {
            return false;
        }
        let (source, line) = fields.source(&path);
        adapter::lora(&mut fields.draft, &source, line);
        fields.set("plan.lora_rank", &rank, &path);
        targets(fields, &path);
        return true;
    }
    let switch = entries.iter().filter(is_switch).chain(&entries).find(|entry| !effects::is_off(&entry.data));
    let Some(switch) = switch.map(|entry| entry.path.clone()).filter(|_| !fields.draft.is_open(KEY)) else {
        return fields.draft.is_open(KEY);
    };
    fields.take(&switch);
    open(fields, KEY, &switch, "adapters may be trained, and their rank is not in this file");
    true
}

/// The rank with its key: by a clear name, or `r` and `rank` next to other keys of adapters.
fn rank(fields: &mut Fields<'_>, entries: &[Entry]) -> Option<(String, u64)> {
    let parent = |path: &str| path.rsplit_once('.').map_or(String::new(), |(parent, _)| parent.to_owned());
    let parents: Vec<String> = entries.iter().map(|entry| parent(&entry.path)).collect();
    let short = paths(fields, &["r", "rank"]).into_iter().find(|path| parents.contains(&parent(path)));
    let path = if paths(fields, names::RANK).is_empty() {
        let path = short?;
        fields.take(&path);
        let data = fields.document.get(&path).map(|entry| entry.data.clone());
        if data.as_ref().is_some_and(is_unknown) {
            open(fields, KEY, &path, "its value is not in this file");
            return None;
        }
        path
    } else {
        one(fields, KEY, names::RANK)?
    };
    let rank = fields.document.get(&path).and_then(|entry| entry.data.count());
    if rank.is_none() {
        open(fields, KEY, &path, "its value is not a count");
    }
    rank.map(|rank| (path, rank))
}

/// The modules with adapters.
fn targets(fields: &mut Fields<'_>, rank: &str) {
    let key = "plan.lora_targets";
    if let Some(path) = one(fields, key, names::TARGETS) {
        let listed = match fields.document.get(&path).map(|entry| entry.data.clone()) {
            Some(Data::List(items)) => items.iter().map(|item| item.data.plain()).collect(),
            Some(data) => data.plain().split(',').map(|name| name.trim().to_owned()).collect(),
            None => Vec::new(),
        };
        let (source, line) = fields.source(&path);
        adapter::set_targets(&mut fields.draft, &listed, &source, line);
    }
    if fields.draft.value(key).is_none() && !fields.draft.is_open(key) {
        open(fields, key, rank, "the modules with adapters are set elsewhere");
    }
}
