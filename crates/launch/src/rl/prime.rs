//! prime-rl's TOML: reinforcement learning (`rl`), its trainer alone, and fine-tuning (`sft`), on FSDP 2.
//!
//! Responsible for: the trained part. The orchestrator and generation are listed. Defaults of `trainer.py`
//! changed in 2026, so they are stated only for files with keys of the later versions. (Names and defaults:
//! prime-rl `packages/prime-rl-configs`, July 2026.)

mod keys;

use super::common::model;
use crate::accelerate::software;
use crate::document::Data;
use crate::fields::Fields;
use crate::missing::missing;
use crate::narrow::pure;
use crate::{Format, Launch, RemarkKind, adapter, document, effects, features};
use keys::KNOWN;
use railwright_spec::model::by_name;
use railwright_spec::plan::{
    ContextKind, LoraTarget, Optimizer, PrecisionPreset, Recompute, RecomputeModule, Sharding,
};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;

/// Kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Trainer, orchestrator and inference.
    Rl,
    /// Fine-tuning.
    Tuning,
    /// The trainer of reinforcement learning alone.
    Trainer,
}

fn kind(text: &str) -> Option<Kind> {
    let has = |section: &str| {
        text.lines().map(str::trim_end).any(|line| {
            line.strip_prefix('[').is_some_and(|rest| {
                rest.strip_prefix(section).is_some_and(|rest| rest.starts_with(']') || rest.starts_with('.'))
            })
        })
    };
    if has("training") || has("optimizer") || has("parallelism") {
        // torchtitan's sections.
        return None;
    }
    match (has("orchestrator"), has("trainer"), has("model"), has("optim")) {
        (true, true, ..) | (true, _, true, _) => Some(Kind::Rl),
        (false, false, true, true) if has("data") => Some(Kind::Tuning),
        (false, false, true, true) if has("ckpt") || has("monitors") || has("wandb") => Some(Kind::Trainer),
        _ => None,
    }
}

/// Tests whether a text is prime-rl's.
pub(super) fn is_one(text: &str) -> bool {
    kind(text).is_some()
}

/// Reads a configuration.
pub(super) fn read(text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let mut document = document::toml(text, file).map_err(|problem| vec![problem])?;
    let kind = kind(text).unwrap_or(Kind::Tuning);
    // Fields of all parts, which one part may set again.
    let shared = [("model.name", "trainer.model.name"), ("seq_len", "trainer.model.seq_len")];
    for entry in &mut document.entries {
        if kind == Kind::Rl {
            let own = shared.iter().find(|(path, _)| *path == entry.path);
            if let Some((_, path)) = own.filter(|(_, own)| !text.contains(own)) {
                entry.path = (*path).to_owned();
            }
        } else if ["model", "optim", "data", "deployment"].iter().any(|s| starts(&entry.path, s)) {
            entry.path = format!("trainer.{}", entry.path);
        }
    }
    let mut fields = Fields::new(Format::Rl, file, text, document);
    let later = ["monitors", "orchestrator.train", "deployment", "trainer.deployment", "run"];
    let is_later = later.iter().any(|section| fields.document.has(section));
    fields.copy(KNOWN);
    model(&mut fields, "trainer.model.name");
    devices(&mut fields, kind, is_later);
    batch(&mut fields, kind);
    layout(&mut fields, is_later);
    formats(&mut fields, is_later);
    recompute(&mut fields, is_later);
    offload(&mut fields, is_later);
    adapters(&mut fields);
    optimizer(&mut fields);
    towers(&mut fields);
    if kind != Kind::Tuning {
        let message = "a step is one update of the trainer: generation and its GPUs are excluded";
        fields.draft.remark(RemarkKind::Assumed, "the run", None, message);
    }
    missing(&mut fields, "prime-rl");
    fields.document.entries.retain(|entry| entry.taken || entry.path.starts_with("trainer."));
    fields.rest(KNOWN);
    fields.finish()
}

fn starts(path: &str, section: &str) -> bool {
    path.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'))
}

/// GPUs that train: those of a node, or nodes times GPUs.
fn devices(fields: &mut Fields<'_>, kind: Kind, is_later: bool) {
    let at = |key: &str| {
        if kind == Kind::Rl { format!("deployment.{key}") } else { format!("trainer.deployment.{key}") }
    };
    let (one, nodes, each) = (at("num_train_gpus"), at("num_train_nodes"), at("gpus_per_node"));
    let listed = "trainer_gpu_ids";
    let per_node = fields.count(&each).filter(|&n| n > 0).unwrap_or(8);
    fields.take(&at("type"));
    if let Some(nodes_count) = fields.count(&nodes).filter(|&n| n > 0) {
        fields.set("cluster.devices", &nodes_count.saturating_mul(per_node), &nodes);
        fields.set(
            "cluster.devices_per_node",
            &per_node,
            if fields.document.get(&each).is_some() { &each } else { &nodes },
        );
    } else if let Some(count) = fields.count(&one).filter(|&n| n > 0) {
        fields.set("cluster.devices", &count, &one);
    } else if let Some(Data::List(ids)) = fields.take(listed).map(|entry| entry.data) {
        fields.set("cluster.devices", &(ids.len() as u64), listed);
    } else if is_later && kind == Kind::Rl {
        fields.default("cluster.devices", &1_u64, "prime-rl trains on 1 GPU by default");
    }
}

/// Samples of a step, packed into sequences.
fn batch(fields: &mut Fields<'_>, kind: Kind) {
    if kind == Kind::Tuning {
        for (key, path) in [
            ("plan.global_batch", "trainer.data.batch_size"),
            ("plan.sequence_length", "trainer.data.seq_len"),
        ] {
            if let Some(count) = fields.count(path) {
                fields.set(key, &count, path);
            }
        }
        let path = "trainer.data.micro_batch_size";
        match fields.count(path).filter(|&n| n > 0) {
            Some(micro) => fields.set("plan.micro_batch", &micro, path),
            None => fields.default("plan.micro_batch", &1_u64, "prime-rl's micro-batch is 1 by default"),
        }
        return;
    }
    let path = "trainer.model.seq_len";
    if let Some(length) = fields.count(path) {
        fields.set("plan.sequence_length", &length, path);
    }
    fields.default("plan.micro_batch", &1_u64, "prime-rl packs samples into micro-batches of one sequence");
    let path = "orchestrator.batch_size";
    if let Some(samples) = fields.count(path) {
        fields.set("plan.global_batch", &samples, path);
        let message = "all samples are assumed to have the sequence length, an upper bound: shorter ones are packed together";
        fields.remark(RemarkKind::Assumed, path, message);
    }
}

/// Parallel sizes and sharding.
fn layout(fields: &mut Fields<'_>, is_later: bool) {
    let at = |key: &str| format!("trainer.model.{key}");
    for key in ["plan.tensor_parallel", "plan.pipeline_parallel"] {
        fields.default(key, &1_u64, "prime-rl shards with FSDP alone");
    }
    fields.default("plan.context_parallel", &1_u64, "prime-rl does not shard sequences by default");
    let path = at("cp_style");
    let style = fields.word(&path);
    if fields.draft.spec().plan.context_parallel.is_some_and(|ranks| ranks > 1) {
        match style.as_deref() {
            Some("ulysses") => fields.set("plan.context_kind", &ContextKind::Ulysses, &path),
            Some("ring") => fields.set("plan.context_kind", &ContextKind::Ring, &path),
            None => fields.default(
                "plan.context_kind",
                &ContextKind::Ring,
                "ring attention is prime-rl's default",
            ),
            Some(_) => fields.remark(RemarkKind::Unresolved, &path, "unknown style, so it stays unset"),
        }
    }
    let path = at("dp_replicate");
    let copies = fields.count(&path).filter(|&n| n > 0);
    let islands =
        ["deployment", "trainer.deployment"].map(|section| format!("{section}.nodes_per_fsdp_group"));
    let island = islands.iter().find_map(|path| Some((path.clone(), fields.count(path)?)));
    let devices = fields.draft.spec().cluster.devices;
    let each = fields.draft.spec().cluster.devices_per_node;
    let reshard = fields.flag(&at("reshard_after_forward")).unwrap_or(true);
    let mut sharding = Sharding { zero_stage: 3, group: None, reshard_after_forward: reshard };
    let group = match (copies.filter(|&copies| copies > 1), island) {
        (Some(copies), _) => Some((path.clone(), devices.map(|devices| devices / copies))),
        (None, Some((path, nodes))) => Some((path, each.map(|each| each.saturating_mul(nodes)))),
        (None, None) => None,
    };
    match group {
        Some((path, Some(group))) if group > 0 => {
            sharding.group = Some(group);
            fields.set("plan.sharding", &sharding, &path);
        }
        Some((path, _)) => {
            let why = "replicas of shards over the remaining ranks, whose number is not in this file";
            let (source, line) = fields.source(&path);
            fields.draft.leave_open("plan.sharding", &source, line, why);
        }
        None => fields.default("plan.sharding", &sharding, "prime-rl shards over all ranks with FSDP 2"),
    }
    experts(fields, is_later);
}

/// Expert parallelism: `auto` is up to 8 ranks of a shard group for models with experts.
fn experts(fields: &mut Fields<'_>, is_later: bool) {
    let path = "trainer.model.ep";
    let key = "plan.expert_parallel";
    let is_set = fields.document.get(path).is_some() && !fields.is_auto(path);
    if is_set {
        if let Some(ranks) = fields.count(path) {
            fields.set(key, &ranks, path);
        }
        return;
    }
    let name = fields.draft.spec().model.name.clone();
    let dense = name
        .and_then(|name| by_name(&name).ok())
        .map(|model| model.parameters().total == model.parameters().active);
    let group = fields.draft.spec().plan.sharding.and_then(|sharding| sharding.group);
    let island = group.or(fields.draft.spec().cluster.devices);
    let why = "prime-rl's `ep`, which is not set";
    match (dense, is_later || fields.is_auto(path), island) {
        (Some(true), ..) => fields.default(key, &1_u64, "a model without experts"),
        (Some(false), true, Some(island)) => {
            fields.default(key, &island.min(8), "prime-rl's `ep = \"auto\"`");
        }
        _ => fields.draft.leave_open(key, "", None, why),
    }
}

/// Formats of numbers, and the compiler.
fn formats(fields: &mut Fields<'_>, is_later: bool) {
    let at = |key: &str| format!("trainer.model.{key}");
    fields.default("plan.precision.preset", &PrecisionPreset::Bf16, "prime-rl computes in bfloat16");
    let (own, reduce) = (at("optimization_dtype"), at("reduce_dtype"));
    let own_word = fields.word(&own);
    let reduce_format = match fields.word(&reduce).as_deref() {
        Some("bfloat16") => DataType::Bf16,
        _ => DataType::Fp32,
    };
    if own_word.as_deref() == Some("bfloat16") {
        pure(fields, &own, DataType::Bf16, reduce_format);
    } else if fields.document.get(&reduce).is_some() {
        fields.set("plan.precision.gradient_reduce", &reduce_format, &reduce);
    } else {
        let why = "prime-rl reduces gradients in float32 by default";
        fields.default("plan.precision.gradient_reduce", &reduce_format, why);
    }
    let path = at("quantization.type");
    match fields.word(&path).as_deref() {
        None => {}
        Some("fp8") => fields.set("plan.precision.compute", &DataType::Fp8, &path),
        Some("mxfp8") => fields.set("plan.precision.compute", &DataType::Mxfp8, &path),
        Some(_) => fields.remark(RemarkKind::Unresolved, &path, "unknown format, so it stays unset"),
    }
    let path = at("fp8");
    if fields.flag(&path) == Some(true) {
        fields.set("plan.precision.compute", &DataType::Fp8, &path);
    }
    match is_on(fields, "compile").or(is_later.then_some(true)) {
        Some(true) => software(fields, "torchtitan-2024-compile", "FSDP 2, compiled"),
        Some(false) => software(fields, "torchtitan-2024-eager", "FSDP 2, eager"),
        None => {
            let why = "`compile` is not set, and its default depends on the version";
            fields.draft.leave_open("plan.software", "", None, why);
        }
    }
    // The head and the loss of some tokens at a time.
    for key in ["fused_lm_head_token_chunk_size", "fused_lm_head_chunk_size"] {
        let path = at(key);
        if fields.word(&path).is_some_and(|tokens| tokens.parse::<u64>().is_ok_and(|tokens| tokens > 0)) {
            features::add(fields, features::CHUNKED, &path);
        }
    }
}

/// Tests whether a section of the model is on: present and neither `false` nor `None`. `None` if it is
/// absent.
fn is_on(fields: &mut Fields<'_>, key: &str) -> Option<bool> {
    let path = format!("trainer.model.{key}");
    if !fields.document.has(&path) {
        return None;
    }
    // A section without keys is a table, and one with keys has entries below.
    let data = fields.take(&path).map(|entry| entry.data);
    let is_off = data.is_some_and(|data| !matches!(data, Data::Table(_)) && effects::is_off(&data));
    Some(!is_off)
}

fn recompute(fields: &mut Fields<'_>, is_later: bool) {
    let at = |key: &str| format!("trainer.model.ac.{key}");
    let key = "plan.recompute";
    let on = is_on(fields, "ac").or(is_later.then_some(true));
    let (mode, freq) = (fields.word(&at("mode")), fields.count(&at("freq")));
    let targets = fields.words(&at("targets"));
    let source = if mode.is_some() { at("mode") } else { "trainer.model.ac".to_owned() };
    match (on, mode.as_deref(), freq.unwrap_or(1)) {
        (Some(false), ..) => fields.set(key, &Recompute::None, "trainer.model.ac"),
        (Some(true), None | Some("full"), 1) => fields.set(key, &Recompute::Full { layers: None }, &source),
        (Some(true), Some("selective"), 1) if targets.as_deref().is_none_or(|list| list == ["norm"]) => {
            let modules = [RecomputeModule::Norm].into_iter().collect();
            fields.set(key, &Recompute::Selective { modules, layers: None }, &source);
        }
        (Some(true), ..) => {
            let message =
                "recompute of every N-th layer, or of these targets, is not supported: it stays unset";
            fields.remark(RemarkKind::Unresolved, &source, message);
        }
        (None, ..) => {}
    }
}

fn offload(fields: &mut Fields<'_>, is_later: bool) {
    let at = |key: &str| format!("trainer.model.{key}");
    if is_on(fields, "ac_offloading").or(is_later.then_some(true)) == Some(true) {
        fields.set("plan.offload.activations", &1.0, &at("ac_offloading"));
    }
    let path = at("fsdp_cpu_offload");
    if fields.flag(&path) == Some(true) {
        fields.set("plan.offload.parameters", &1.0, &path);
        fields.set("plan.offload.optimizer", &1.0, &path);
    }
    let path = at("full_offload");
    let is_full = is_on(fields, "full_offload") == Some(true);
    if is_full {
        fields.set("plan.offload.optimizer", &1.0, &path);
    }
    let path = at("optim_cpu_offload");
    let states =
        fields.flag(&path).unwrap_or(is_later && !is_full && !fields.document.has(&at("fsdp_cpu_offload")));
    if states {
        let message = "moments are in host memory between updates only: they are estimated on the device, an upper bound on memory";
        fields.draft.remark(RemarkKind::NotModelled, "optim_cpu_offload", None, message);
    }
}

fn adapters(fields: &mut Fields<'_>) {
    use LoraTarget::{Down, Experts, Gate, Key, Output, Query, Up, Value};
    if is_on(fields, "lora") == Some(true) {
        let (source, line) = fields.source("trainer.model.lora.rank");
        adapter::lora(&mut fields.draft, &source, line);
    }
    let targets = &[Query, Key, Value, Output, Gate, Up, Down, Experts];
    let usual = adapter::Usual { of: "prime-rl", rank: 16, targets };
    adapter::read(fields, &["trainer.model.lora.rank"], &["trainer.model.lora.target_modules"], usual);
}

fn optimizer(fields: &mut Fields<'_>) {
    let path = "trainer.optim.type";
    let key = "plan.optimizer";
    let word = fields.word(path);
    if fields.draft.value(key).is_some() {
        return;
    }
    match word.as_deref() {
        None => fields.default(key, &Optimizer::Adam, "prime-rl trains with AdamW by default"),
        Some("adamw") => fields.set(key, &Optimizer::Adam, path),
        Some("muon") => fields.set(key, &Optimizer::Muon, path),
        Some("sgd") => fields.set(key, &Optimizer::Sgd, path),
        Some(_) => {
            fields.remark(RemarkKind::Unresolved, path, "this optimizer is not modelled: it stays unset");
        }
    }
}

/// Parts of the model that are not estimated.
fn towers(fields: &mut Fields<'_>) {
    for path in ["trainer.model.vlm", "model.vlm"] {
        if fields.document.has(path) {
            fields.draft.remark(RemarkKind::NotModelled, path, None, crate::lost::TOWER_IS_LEFT_OUT);
        }
    }
    let path = "trainer.model.debug.num_layers";
    if fields.count(path).is_some() {
        fields.remark(
            RemarkKind::NotModelled,
            path,
            "the model is truncated to this number of layers: all are estimated",
        );
    }
}
