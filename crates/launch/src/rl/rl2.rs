//! RL2: fine-tuning, preferences and reinforcement learning with FSDP, as overrides of a command.
//!
//! Responsible for: `RL2/trainer/config/*.yaml` of 2025, whose names changed once (`sp_size` became
//! `cp_size`). Samples are packed up to a number of tokens.

use super::common::has_module;
use crate::document::{Data, Document, Entry, Spot};
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::shell::{self, Script};
use crate::{Context, Format, Launch, RemarkKind, trainers};
use Meaning::{Ignored, Key, Lost, Read};
use railwright_spec::plan::{ContextKind, Optimizer, PrecisionPreset, Recompute, Sharding};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;

pub(super) const WHY: &str = "a command that starts `RL2.trainer`";

const PROGRAMS: [&str; 4] = ["RL2.trainer.sft", "RL2.trainer.dpo", "RL2.trainer.rm", "RL2.trainer.ppo"];

const KNOWN: &[Known] = &[
    ("actor.model_name", Read),
    ("actor.tp_size", Key("plan.tensor_parallel")),
    ("actor.sp_size", Key("plan.context_parallel")),
    ("actor.cp_size", Key("plan.context_parallel")),
    ("actor.ddp_size", Read),
    ("actor.max_length_per_device", Read),
    ("actor.gradient_checkpointing", Read),
    ("actor.enable_gradient_checkpointing", Read),
    ("actor.offload_optimizer", Lost(&["false"], "is offloaded only between updates, not during the update")),
    ("actor.offload_model", Lost(&["false"], "is offloaded only between updates, not during the update")),
    (
        "actor.use_liger_kernel",
        Lost(&["false"], "the loss kernels are fused: the memory of logits is an upper bound"),
    ),
    ("actor.use_lora", Read),
    ("actor.lora.r", Read),
    ("actor.lora.*", Ignored),
    ("actor.update_per_rollout", Read),
    ("actor.dtype", Ignored),
    ("data.batch_size", Read),
    ("data.train.batch_size", Read),
    ("data.max_length", Key("plan.sequence_length")),
    ("data.train.max_length", Key("plan.sequence_length")),
    ("train_data.prompts_per_rollout", Read),
    ("train_data.responses_per_prompt", Read),
    ("rollout.train.prompts_per_rollout", Read),
    ("rollout.train.responses_per_prompt", Read),
    ("actor.*", Ignored),
    ("data.*", Ignored),
    ("train_data.*", Ignored),
    ("test_data.*", Ignored),
    ("rollout.*", Ignored),
    ("ref_actor.*", Ignored),
    ("critic.*", Lost(&[""], "a further trained model: its time and memory are not estimated")),
    ("adv.*", Ignored),
    ("trainer.*", Ignored),
];

pub(super) fn is_one(text: &str) -> bool {
    PROGRAMS.iter().any(|program| has_module(text, program))
}

pub(super) fn read(text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
    let script = shell::read(text, file, context, |_| Vec::new());
    let Some((document, program, devices)) = parse(&script) else {
        return Err(vec![Problem::new("no command in this file starts RL2").in_file(file)]);
    };
    let mut fields = Fields::new(Format::Rl, file, text, document);
    fields.draft.lines_of(script.sources.clone());
    for (line, what, why) in &script.open {
        fields.draft.remark(RemarkKind::Unresolved, what, Some(*line), why.clone());
    }
    if let Some((devices, source, line)) = devices {
        fields.draft.set("cluster.devices", &devices, &source, Some(line));
    }
    let path = "actor.model_name";
    if let Some(name) = fields.word(path) {
        fields.named_model(path, &name);
    }
    fields.copy(KNOWN);
    parallel(&mut fields);
    batch(&mut fields, &program);
    settings(&mut fields);
    missing(&mut fields, "RL2");
    fields.rest(KNOWN);
    fields.finish()
}

type Started = (Document, String, Option<(u64, String, usize)>);

/// The overrides of the last command that starts RL2, its program and its processes.
fn parse(script: &Script) -> Option<Started> {
    let (launcher, words) = script.last_with(|word| PROGRAMS.contains(&word))?;
    let (program, overrides) = words.split_first()?;
    let mut document = Document::default();
    for word in overrides {
        let Some((name, value)) = word.text.trim_start_matches(['+', '~']).split_once('=') else { continue };
        // `auto` keeps a value open, so that no default is stated for it.
        let data = if word.unknown.is_empty() {
            Data::of_word(value.trim_matches(['"', '\'']))
        } else {
            Data::Text("auto".to_owned())
        };
        let mut entry = Entry::new(name.to_owned(), data, Spot { line: word.line, column: 0 });
        // A reward model is a critic without an actor (`RL2/trainer/rm.py`): the one trained model.
        if let Some(rest) = name.strip_prefix("critic.").filter(|_| program.text == "RL2.trainer.rm") {
            entry.path = format!("actor.{rest}");
        }
        document.entries.push(entry);
    }
    Some((document, program.text.clone(), trainers::processes(launcher)))
}

fn parallel(fields: &mut Fields<'_>) {
    let why = "RL2 uses no parallelism by default";
    fields.default("plan.tensor_parallel", &1_u64, why);
    fields.default("plan.pipeline_parallel", &1_u64, "FSDP does not support pipeline parallelism");
    fields.default("plan.context_parallel", &1_u64, why);
    if fields.draft.spec().plan.context_parallel.is_some_and(|ranks| ranks > 1) {
        // `ring_flash_attn.llama3_flash_attn_varlen`
        fields.default("plan.context_kind", &ContextKind::AllGather, "RL2 gathers keys and values");
    }
    let (key, path) = ("plan.sharding", "actor.ddp_size");
    let full = Sharding { zero_stage: 3, group: None, reshard_after_forward: true };
    match fields.count(path) {
        Some(copies) if copies > 1 => {
            let plan = &fields.draft.spec().plan;
            let devices = fields.draft.spec().cluster.devices;
            let group = devices.zip(plan.tensor_parallel).and_then(|(all, parts)| {
                let others = copies.checked_mul(parts)?;
                all.is_multiple_of(others).then(|| all / others)
            });
            match group {
                Some(1) => fields.set(key, &Sharding::zero(0), path),
                Some(_) => fields.set(key, &Sharding { group, ..full }, path),
                None => {
                    let (source, line) = fields.source(path);
                    fields.draft.leave_open(key, &source, line, "replicas depend on the devices");
                }
            }
        }
        _ => fields.default(key, &full, "RL2 shards all states by default"),
    }
}

/// The batch of an update, and as many samples of maximum length as fit into the tokens of a data-parallel
/// rank: `max_length_per_device` x ranks of a sequence x ranks of tensor parallelism
/// (`RL2/utils/sequences.py`).
fn batch(fields: &mut Fields<'_>, program: &str) {
    if program.ends_with("ppo") {
        let prompts =
            fields.first_count(["train_data.prompts_per_rollout", "rollout.train.prompts_per_rollout"]);
        let each =
            fields.first_count(["train_data.responses_per_prompt", "rollout.train.responses_per_prompt"]);
        let updates = fields.count("actor.update_per_rollout").unwrap_or(1).max(1);
        if let Some((path, prompts)) = prompts {
            let samples = prompts.saturating_mul(each.map_or(1, |(_, each)| each)) / updates;
            fields.set("plan.global_batch", &samples.max(1), path);
        }
        let why = "a prompt and its response, whose tokens are not in this file";
        fields.draft.leave_open("plan.sequence_length", "", None, why);
        fields.draft.leave_open("plan.micro_batch", "", None, "samples are packed up to a number of tokens");
        let message = "a step is one actor update: generation, rewards and log-probabilities are excluded";
        return fields.draft.remark(RemarkKind::Assumed, "the run", None, message);
    }
    match fields.first_count(["data.batch_size", "data.train.batch_size"]) {
        Some((path, samples)) => fields.set("plan.global_batch", &samples, path),
        None => fields.default("plan.global_batch", &128_u64, "RL2's default"),
    }
    if !program.ends_with("sft") {
        let message = "a batch of pairs: two samples are estimated as one";
        fields.draft.remark(RemarkKind::NotModelled, program, None, message);
    }
    let path = "actor.max_length_per_device";
    let plan = &fields.draft.spec().plan;
    let (length, ranks) = (
        plan.sequence_length,
        plan.context_parallel.unwrap_or(1).saturating_mul(plan.tensor_parallel.unwrap_or(1)),
    );
    if let (Some(tokens), Some(length)) = (fields.count(path), length.filter(|&length| length > 0)) {
        let samples = tokens.saturating_mul(ranks) / length;
        fields.set("plan.micro_batch", &samples.max(1), path);
        let message = "samples are packed up to this number of tokens: estimated with as many samples of maximum length as fit";
        fields.remark(RemarkKind::Assumed, path, message);
    }
}

fn settings(fields: &mut Fields<'_>) {
    let why = "RL2 computes in bfloat16 with weights in fp32";
    fields.default("plan.precision.preset", &PrecisionPreset::Bf16, why);
    fields.default("plan.precision.gradient_reduce", &DataType::Bf16, "FSDP reduces in bfloat16 under RL2");
    fields.default("plan.optimizer", &Optimizer::Adam, "RL2 trains with AdamW");
    let paths = ["actor.gradient_checkpointing", "actor.enable_gradient_checkpointing"];
    let full = Recompute::Full { layers: None };
    match paths.into_iter().find_map(|path| Some((path, fields.flag(path)?))) {
        Some((path, true)) => fields.set("plan.recompute", &full, path),
        Some((path, false)) => fields.set("plan.recompute", &Recompute::None, path),
        None => fields.default("plan.recompute", &full, "RL2 checkpoints every layer by default"),
    }
    let path = "actor.use_lora";
    if fields.flag(path) == Some(true) {
        let (source, line) = fields.source(path);
        crate::adapter::lora(&mut fields.draft, &source, line);
        if let Some(rank) = fields.count("actor.lora.r").filter(|&rank| rank > 0) {
            fields.set("plan.lora_rank", &rank, "actor.lora.r");
        }
    }
    let (key, why) = ("plan.software", "PyTorch's FSDP under RL2, eager");
    fields.default(key, &"fsdp1-2023".to_owned(), why);
}
