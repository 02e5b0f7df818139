//! Words of a launcher: `torchrun`, `deepspeed`, `accelerate launch`.
//!
//! Responsible for: its ranks, and the files and formats that it names, as keys.

use super::common::put;
use super::keys;
use crate::RemarkKind;
use crate::document::{Data, Document, Spot};
use crate::fields::Fields;
use crate::megatron::included;
use crate::shell::Word;

/// What is not known, with its line and the reason.
pub(super) type Unknown = Vec<(String, usize, String)>;

/// Reason for a setting with a variable without a value.
pub(super) const NO_VALUE: &str = "no value in this file, so it stays unset";

/// Flags of launchers, and the keys that they become.
const RANKS: &[(&str, &str)] = &[
    ("nproc_per_node", "NPROC_PER_NODE"),
    ("num_gpus", "NPROC_PER_NODE"),
    ("gpus", "gpus"),
    ("nnodes", "NNODES"),
    ("num_nodes", "NNODES"),
    ("num_processes", "num_processes"),
    ("config_file", "accelerate"),
    ("mixed_precision", "mixed_precision"),
    ("zero_stage", "deepspeed_config.zero_stage"),
    ("deepspeed_config_file", "deepspeed"),
];

/// The name of a flag as in its parser.
pub(super) fn flag(word: &Word) -> Option<String> {
    Some(word.text.strip_prefix("--")?.split('=').next()?.replace('-', "_"))
}

/// Processes that the words of a launcher start on all nodes, with the flag and its line; `None` if a number
/// is not known.
pub(crate) fn processes(words: &[Word]) -> Option<(u64, String, usize)> {
    let (mut document, mut unknown) = (Document::default(), Vec::new());
    launcher(words, &mut document, &mut unknown);
    let number = |path: &str| match document.get(path).map(|entry| &entry.data) {
        Some(Data::Integer(n)) => u64::try_from(*n).ok(),
        _ => None,
    };
    let (path, is_all) =
        if document.has("num_processes") { ("num_processes", true) } else { ("NPROC_PER_NODE", false) };
    let nodes = if document.has("NNODES") { number("NNODES")? } else { 1 };
    let count = number(path).filter(|&count| count > 0)?;
    let line = document.get(path).and_then(|entry| entry.spot.line()).unwrap_or(1);
    let all = if is_all { count } else { count.saturating_mul(nodes.max(1)) };
    Some((all, format!("{count} processes x {nodes} nodes"), line))
}

/// Adds the sharding and the precision that the words of a launcher set; ranks are the caller's, and a
/// configuration's own keys take precedence.
pub(super) fn settings(words: &[Word], document: &mut Document) {
    let (mut found, mut unknown) = (Document::default(), Vec::new());
    launcher(words, &mut found, &mut unknown);
    let own: Vec<String> = document.entries.iter().map(|entry| entry.path.clone()).collect();
    for mut entry in found.entries {
        let section = entry.path.split('.').next().unwrap_or_default();
        let is_wanted = matches!(
            section,
            "accelerate" | "deepspeed" | "mixed_precision" | "deepspeed_config" | "fsdp_config"
        );
        if is_wanted && !own.contains(&entry.path) {
            // Its line is one of the script, not of the configuration.
            entry.spot = Spot { line: 0, column: 0 };
            document.entries.push(entry);
        }
    }
}

/// Reads the words of a launcher; assignments before it are settings too.
pub(super) fn launcher(words: &[Word], document: &mut Document, unknown: &mut Unknown) {
    let is_accelerate =
        words.iter().any(|word| word.text == "accelerate" || word.text.ends_with("/accelerate"));
    if is_accelerate {
        put(document, "accelerate", Data::Flag(true), words.first().map_or(0, |word| word.line));
    }
    tasks(words, document);
    for (index, word) in words.iter().enumerate() {
        let Some(name) = flag(word) else {
            if let Some((name, value)) = word.text.split_once('=').filter(|(name, _)| keys::is_known(name)) {
                put(document, name, Data::of_word(value), word.line);
            }
            continue;
        };
        if name == "include" && words.iter().any(|word| word.text.ends_with("deepspeed")) {
            let listed = word.text.split_once('=').map(|(_, list)| list);
            let list =
                listed.or_else(|| words.get(index + 1).map(|word| word.text.as_str())).unwrap_or_default();
            if let Some(devices) = included(list).and_then(|devices| i64::try_from(devices).ok()) {
                put(document, "num_processes", Data::Integer(devices), word.line);
            }
            continue;
        }
        let (value, place) = match word.text.split_once('=') {
            Some((_, value)) => (value.to_owned(), word),
            None => match words.get(index + 1) {
                Some(next) => (next.text.clone(), next),
                None => continue,
            },
        };
        let key = match RANKS.iter().find(|(known, _)| *known == name) {
            Some((_, key)) => (*key).to_owned(),
            None if name.starts_with("fsdp_") => format!("fsdp_config.{name}"),
            None if name.starts_with("offload_") => format!("deepspeed_config.{name}"),
            None => continue,
        };
        // Numbers of nodes may be a range, and `gpu` or `auto` is the number of the machine.
        let is_number = matches!(key.as_str(), "NPROC_PER_NODE" | "NNODES" | "num_processes" | "gpus");
        if !place.unknown.is_empty() || (is_number && value.parse::<u64>().is_err()) {
            unknown.push((format!("--{name} {value}"), word.line, NO_VALUE.to_owned()));
            put(document, &key, Data::Text("auto".to_owned()), word.line);
        } else {
            put(document, &key, Data::of_word(&value), word.line);
        }
    }
}

/// Programs that start a process on each device themselves.
const STARTERS: [&str; 6] =
    ["torchrun", "deepspeed", "accelerate", "composer", "torch.distributed.run", "torch.distributed.launch"];

/// Slurm starts one process on each device if nothing else does: `srun --ntasks=16 python train.py`.
fn tasks(words: &[Word], document: &mut Document) {
    let Some(at) = words.iter().position(|word| word.file_name() == "srun") else { return };
    if words.iter().any(|word| STARTERS.contains(&word.file_name())) {
        return;
    }
    let value = |name: &str| {
        words[at..].iter().enumerate().find_map(|(index, word)| {
            let found = flag(word).filter(|found| found == name)?;
            let text = match word.text.split_once('=') {
                Some((_, value)) => value,
                None => words.get(at + index + 1)?.text.as_str(),
            };
            Some((found, text.parse::<i64>().ok().filter(|&n| n > 0)?, word.line))
                .filter(|_| word.unknown.is_empty())
        })
    };
    let of_nodes = || {
        let (nodes, each) = (value("nodes")?, value("ntasks_per_node")?);
        Some((nodes.0, nodes.1.saturating_mul(each.1), nodes.2))
    };
    if let Some((_, count, line)) = value("ntasks").or_else(of_nodes) {
        put(document, "num_processes", Data::Integer(count), line);
    }
}

/// The devices that train.
pub(super) fn devices(fields: &mut Fields<'_>) {
    // open-instruct: learners of each node; the other devices generate.
    let path = "num_learners_per_node";
    let learners = fields.word(path).or_else(|| fields.count(path).map(|count| count.to_string()));
    let counts: Option<Vec<u64>> =
        learners.and_then(|list| list.split(',').map(|count| count.trim().parse().ok()).collect());
    if let Some(all) = counts.map(|counts| counts.iter().sum::<u64>()).filter(|&all| all > 0) {
        return fields.set("cluster.devices", &all, path);
    }
    // accelerate counts the processes of all machines.
    let path = "num_processes";
    // A variable of this name can also hold a list of devices.
    let is_count = fields.document.get("gpus").is_some_and(|entry| matches!(entry.data, Data::Integer(_)));
    let gpus = if is_count { fields.count("gpus") } else { None };
    let of_wrapper = gpus.zip(fields.count("NNODES").filter(|&nodes| nodes > 1));
    if let Some(all) = fields.count(path).filter(|&n| n > 0) {
        // A program that starts accelerate on several nodes may multiply its processes (open-instruct's
        // `mason.py`).
        if of_wrapper.is_some_and(|(gpus, nodes)| gpus.saturating_mul(nodes) != all) {
            let message = "differs from the nodes x GPUs of the program that starts accelerate: pass --gpus";
            fields.remark(RemarkKind::Unresolved, path, message);
            let (source, line) = fields.source(path);
            let why = "the number of processes is set twice, to different values";
            return fields.draft.leave_open("cluster.devices", &source, line, why);
        }
        fields.set("cluster.devices", &all, path);
        return;
    }
    let per_node = fields.count("NPROC_PER_NODE").filter(|&n| n > 0);
    if fields.is_auto("NNODES") {
        if let Some(per_node) = per_node {
            fields.set("cluster.devices_per_node", &per_node, "NPROC_PER_NODE");
        }
        let why = "the number of nodes has no value in this file";
        return fields.draft.leave_open("cluster.devices", "", None, why);
    }
    let nodes = fields.count("NNODES").filter(|&n| n > 0).unwrap_or(1);
    // ms-swift spreads the model of each process over its share of the visible devices (`patch_ddp_mp` of its
    // trainers).
    let is_swift = fields.word("program").is_some_and(|program| program.starts_with("swift"));
    let visible = fields.document.get("CUDA_VISIBLE_DEVICES").map(|entry| entry.data.plain());
    let visible = visible.map_or(0, |list| list.split(',').count() as u64);
    if let Some(per_node) = per_node.filter(|&count| is_swift && visible > count) {
        let why = format!(
            "{visible} visible devices for {per_node} processes: each process has its layers on several devices"
        );
        let (source, line) = fields.source("NPROC_PER_NODE");
        fields.draft.remark(RemarkKind::Unresolved, &source, line, format!("{why}, which has no equivalent"));
        return fields.draft.leave_open("cluster.devices", &source, line, &why);
    }
    if let Some(per_node) = per_node {
        fields.set("cluster.devices", &per_node.saturating_mul(nodes), "NPROC_PER_NODE");
        if nodes > 1 {
            fields.set("cluster.devices_per_node", &per_node, "NPROC_PER_NODE");
        }
        return;
    }
    // LLaMA-Factory's program launches a process for each visible device (`src/llamafactory/launcher.py`).
    // Elsewhere one process trains, which spreads the model over several visible devices.
    let path = "CUDA_VISIBLE_DEVICES";
    let Some(visible) = fields.take(path).map(|entry| entry.data.plain()) else { return };
    let is_list = visible.split(',').all(|device| device.trim().parse::<u32>().is_ok());
    let count = visible.split(',').count() as u64;
    let launches = fields.word("program").is_some_and(|program| program.starts_with("llamafactory-cli"));
    if is_list && (launches || (nodes == 1 && count == 1)) {
        fields.set("cluster.devices", &count.saturating_mul(nodes), path);
    }
}
