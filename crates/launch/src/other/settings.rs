//! Settings of a plan from keys with clear names.
//!
//! Responsible for: model, parallel sizes, sharding, batch, length and devices. A key with a value that is
//! not understood leaves its setting open.

use super::found::{count, one, open, paths};
use super::{names, parts};
use crate::RemarkKind;
use crate::document::Data;
use crate::fields::Fields;
use railwright_spec::model::by_name;
use railwright_spec::plan::{ContextKind, Sharding};

/// Samples in a step of all devices. Published batches have at most tens of thousands; more than this are
/// tokens.
const MOST_SAMPLES: u64 = 1 << 17;

/// The model by name. Dimensions without a name leave it open: they do not show its architecture.
pub(super) fn model(fields: &mut Fields<'_>) {
    let key = "model.name";
    let is_text =
        |path: &String| fields.document.get(path).is_some_and(|entry| matches!(entry.data, Data::Text(_)));
    let named: Vec<String> = paths(fields, names::MODEL).into_iter().filter(is_text).collect();
    let known: Vec<String> = paths(fields, names::MODEL_IF_KNOWN)
        .into_iter()
        .filter(|path| {
            let is_path = |text: &str| text.contains('/') && by_name(text).is_ok();
            fields
                .document
                .get(path)
                .is_some_and(|entry| matches!(&entry.data, Data::Text(text) if is_path(text)))
        })
        .collect();
    let text = |fields: &Fields<'_>, path: &str| {
        fields.document.get(path).map(|entry| entry.data.plain()).unwrap_or_default()
    };
    let mut all: Vec<String> = named.into_iter().chain(known).collect();
    // A name and a path of one model are not two models.
    let base = |name: &str| by_name(name).map_or_else(|_| name.to_owned(), |model| model.name);
    all.dedup_by_key(|path| base(&text(fields, path)));
    for path in &all {
        fields.take(path);
    }
    match all.as_slice() {
        [] => {}
        [path] => {
            let data = fields.document.get(path).map(|entry| entry.data.clone());
            match data {
                Some(Data::Text(name)) if !super::found::is_unknown(&Data::Text(name.clone())) => {
                    fields.named_model(path, &name);
                }
                _ => open(fields, key, path, "its value is not in this file"),
            }
        }
        [path, other, ..] => {
            let why = format!("`{other}` names another model");
            open(fields, key, &path.clone(), &why);
        }
    }
    let dimensions = paths(fields, names::DIMENSIONS);
    let Some(first) = dimensions.first() else { return };
    if let Some(name) = fields.draft.spec().model.name.clone() {
        return reshaped(fields, &name, &dimensions);
    }
    for path in &dimensions {
        fields.take(path);
    }
    let list: Vec<String> = dimensions.iter().take(8).map(|path| fields.source(path).0).collect();
    let (_, line) = fields.source(first);
    let why = "its keys set dimensions, not the architecture: pass the model or its config.json, as in `estimate config.json --launch FILE`";
    fields.draft.leave_open(key, &list.join(", "), line, why);
    fields.draft.remark(RemarkKind::Unresolved, &list.join(", "), line, why);
}

/// Layers or a width that a named model lacks: the name is that of a base, or of a tokenizer.
fn reshaped(fields: &mut Fields<'_>, name: &str, dimensions: &[String]) {
    const LAYERS: [&str; 4] = ["num_layers", "num_hidden_layers", "n_layers", "n_layer"];
    const WIDTH: [&str; 5] = ["hidden_size", "d_model", "n_embd", "hidden_dim", "hidden_width"];
    let Ok(model) = by_name(name) else { return };
    let differs = dimensions.iter().find(|path| {
        let last = parts::last(path);
        let own = match () {
            () if LAYERS.contains(&last.as_str()) => model.layers.len() as u64,
            () if WIDTH.contains(&last.as_str()) => model.hidden_size,
            () => return false,
        };
        fields.document.get(path).and_then(|entry| entry.data.count()).is_some_and(|count| count != own)
    });
    if let Some(path) = differs.cloned() {
        open(fields, "model.name", &path, &format!("`{name}` has other dimensions: pass its config.json"));
    }
}

/// Parallel sizes and sharding.
pub(super) fn parallel(fields: &mut Fields<'_>) {
    let several = parts::several(&fields.document).is_some();
    for (key, list) in names::DEGREES {
        if let Some((path, ranks)) = count(fields, key, list) {
            // The name that inference engines use, without a section.
            if several
                && path.ends_with("parallel_size")
                && !path.contains("model_parallel")
                && !path.contains('.')
            {
                open(fields, key, &path, "may be that of the generation engine");
            } else {
                fields.set(key, &ranks, &path);
            }
        }
    }
    let key = "plan.virtual_stages";
    if let Some((path, chunks)) = count(fields, key, &["virtual_pipeline_model_parallel_size"]) {
        fields.set(key, &chunks, &path);
    }
    let key = "plan.sequence_parallel";
    if let Some(path) = one(fields, key, &["sequence_parallel"]) {
        match fields.document.get(&path).map(|entry| entry.data.clone()) {
            Some(Data::Flag(flag)) => fields.set(key, &flag, &path),
            _ => open(fields, key, &path, "its value is neither true nor false"),
        }
    }
    let key = "plan.context_parallel";
    if let Some((path, ranks)) = count(fields, key, names::ULYSSES) {
        fields.set(key, &ranks, &path);
        if ranks > 1 {
            fields.set("plan.context_kind", &ContextKind::Ulysses, &path);
        }
    }
    let kind = "plan.context_kind";
    if let Some(path) = one(fields, kind, names::CONTEXT_KIND) {
        match fields.document.get(&path).map(|entry| entry.data.plain()).as_deref() {
            Some("ulysses" | "a2a" | "ulysses_cp_algo") => fields.set(kind, &ContextKind::Ulysses, &path),
            Some("ring" | "p2p" | "megatron_cp_algo") => fields.set(kind, &ContextKind::Ring, &path),
            _ => open(fields, kind, &path, "unknown sequence-parallel method"),
        }
    }
    if let Some((path, _)) = count(fields, key, names::SEQUENCE).filter(|(_, ranks)| *ranks > 1) {
        open(
            fields,
            key,
            &path,
            "sequences are divided by heads, in a ring, or along with tensor parallelism",
        );
    }
    sharding(fields);
}

fn sharding(fields: &mut Fields<'_>) {
    let key = "plan.sharding";
    let mut found: Vec<(String, Option<Sharding>)> = Vec::new();
    if let Some(path) = one(fields, key, names::STAGE) {
        let stage = match fields.document.get(&path).map(|entry| entry.data.clone()) {
            Some(Data::Integer(stage)) if path.ends_with("zero_stage") => {
                u8::try_from(stage).ok().filter(|&stage| stage <= 3)
            }
            Some(Data::Flag(flag)) => Some(u8::from(flag)),
            _ => None,
        };
        found.push((path, stage.map(Sharding::zero)));
    }
    if let Some(path) = one(fields, key, names::DISTRIBUTED) {
        let flag =
            matches!(fields.document.get(&path).map(|entry| entry.data.clone()), Some(Data::Flag(true)));
        found.push((path, flag.then(|| Sharding::zero(1))));
    }
    if let Some(path) = one(fields, key, names::STRATEGY) {
        let word = fields.document.get(&path).map(|entry| entry.data.plain().to_ascii_lowercase());
        let sharding = match word.as_deref() {
            Some("full" | "full_shard") => Some(Sharding::zero(3)),
            Some("shard_grad_op") => Some(Sharding::zero(2)),
            Some("no_shard") => Some(Sharding::zero(0)),
            _ => None,
        };
        found.push((path, sharding));
    }
    let mut found = found.into_iter();
    let Some((path, sharding)) = found.next() else { return };
    match sharding {
        Some(sharding) if found.all(|(_, other)| other == Some(sharding)) => {
            fields.set(key, &sharding, &path);
        }
        _ => open(fields, key, &path, "the keys do not determine which states are sharded"),
    }
}

/// Batch and length. In jobs with several models a batch may count prompts, so it stays open.
pub(super) fn batch(fields: &mut Fields<'_>) {
    let several = parts::several(&fields.document);
    if let Some((path, samples)) = count(fields, "plan.micro_batch", names::MICRO_BATCH) {
        fields.set("plan.micro_batch", &samples, &path);
    }
    let global = count(fields, "plan.global_batch", names::GLOBAL_BATCH);
    if let Some((path, _)) = global.iter().find(|(_, samples)| *samples > MOST_SAMPLES) {
        // OLMo-core's `GLOBAL_BATCH_SIZE`.
        open(fields, "plan.global_batch", path, "counts tokens, judged by its size");
    }
    let global = global.filter(|(_, samples)| *samples <= MOST_SAMPLES);
    // Without a micro-batch of a device, some programs count the steps of all devices.
    let counts = !paths(fields, names::MICRO_BATCH).is_empty();
    let steps = counts.then(|| count(fields, "plan.micro_batches", names::ACCUMULATION)).flatten();
    if let Some(mark) = several {
        for (path, _) in global.iter().chain(&steps) {
            let why = format!("`{mark}` shows a job in which a batch may count prompts or pairs");
            open(fields, "plan.global_batch", path, &why);
        }
        let message = "a job with several models, or on pairs or completions: a step is one update of the trained model, and memory of the \
            others is not modelled";
        fields.remark(RemarkKind::NotModelled, &mark, message);
    } else if let Some((path, samples)) = global {
        fields.set("plan.global_batch", &samples, &path);
        if let Some((path, _)) = steps {
            fields.remark(RemarkKind::Ignored, &path, "computed from the global batch");
        }
    } else if let Some((path, steps)) = steps {
        fields.set("plan.micro_batches", &steps, &path);
    }
    for path in paths(fields, names::EITHER) {
        fields.take(&path);
        let message = "counts samples of a device, of all devices, prompts or tokens, depending on the \
            program: not read; pass `--micro-batch` and `--global-batch`";
        fields.remark(RemarkKind::Unresolved, &path, message);
    }
    if !counts {
        for path in paths(fields, names::ACCUMULATION) {
            fields.take(&path);
            let message = "accumulates a batch that is not read: pass `--micro-batch` and `--global-batch`";
            fields.remark(RemarkKind::Unresolved, &path, message);
        }
    }
    let key = "plan.sequence_length";
    if let Some((path, length)) = count(fields, key, names::LENGTH) {
        fields.set(key, &length, &path);
    } else if !fields.draft.is_open(key)
        && let Some((_, prompt)) = count(fields, key, names::PROMPT)
        && let Some((path, response)) = count(fields, key, names::RESPONSE)
    {
        fields.set(key, &prompt.saturating_add(response), &path);
        fields.remark(
            RemarkKind::Assumed,
            &path,
            "the longest prompt plus the longest response, an upper bound",
        );
    }
    for path in paths(fields, names::LONGEST) {
        if fields.draft.value(key).is_none() {
            open(fields, key, &path, "the longest sample, prompt or response, depending on the program");
        }
        fields.take(&path);
    }
}

/// Devices: those of a node times the nodes. Jobs with several models may train on a part of them.
pub(super) fn devices(fields: &mut Fields<'_>) {
    let key = "cluster.devices";
    if fields.draft.value(key).is_some() {
        return;
    }
    let each = count(fields, "cluster.devices_per_node", names::PER_NODE);
    let nodes = count(fields, key, names::NODES);
    let Some((path, each)) = each else { return };
    fields.set("cluster.devices_per_node", &each, &path);
    let Some((nodes_path, nodes)) = nodes else { return };
    if parts::several(&fields.document).is_some() {
        return open(fields, key, &nodes_path, "several models may share these devices, or have their own");
    }
    fields.set(key, &each.saturating_mul(nodes), &path);
}
