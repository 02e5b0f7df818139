//! A run as a script that starts Megatron-LM.
//!
//! Responsible for: a complete list of flags in groups, one a line, and the line that starts it all. Refuses flags that Megatron would
//! refuse: what cannot be said is reported as lost.

mod model;
mod plan;

use super::ScriptReader;
use crate::lost::{Reasons, lost};
use crate::{Format, Lost, Reader, Writer, Written, WrittenFile, annotation};
use railwright_spec::model::{Model, Position};
use railwright_spec::precision::DataType;
use railwright_spec::run::Run;
use std::fmt::Write as _;

/// Why a key is lost.
const REASONS: Reasons = &[
    ("plan.schedule", "Megatron-LM runs 1F1B, plain or interleaved"),
    (
        "plan.overlap.pipeline",
        "Megatron-LM overlaps stage-to-stage transfers only where stages are interleaved",
    ),
    (
        "plan.overlap.parameter_gather",
        "Megatron-LM overlaps gathering only of sharded parameters and beside reduction",
    ),
    ("plan.overlap.gradient_reduce", "Megatron-LM's FSDP always overlaps"),
    (
        "plan.overlap.tensor",
        "Megatron-LM overlaps tensor-parallel communication only with sequence parallelism",
    ),
    (
        "plan.overlap.expert",
        "Megatron-LM overlaps experts' communication only with virtual stages beside stages, in 16 bits, without full recompute",
    ),
    ("plan.sequence_parallel", "Megatron-LM refuses experts beside tensor parallelism without it"),
    ("plan.offload.optimizer", "Megatron-LM offloads states only with its distributed optimizer"),
    ("plan.precision.parameters", "Megatron-LM keeps fp8 parameters only where they are sharded"),
    ("plan.precision.moments", "Megatron-LM narrows them only with its distributed optimizer"),
    ("plan.precision.master", "Megatron-LM narrows them only with its distributed optimizer"),
    ("plan.offload.activations", "Megatron-LM offloads whole layers"),
    ("plan.offload.parameters", "Megatron-LM keeps parameters on the device"),
    (
        "plan.sharding",
        "Megatron-LM keeps gathered parameters only with torch's FSDP, which allows neither pipeline stages nor experts nor tied embeddings nor fp16",
    ),
    (
        "plan.recompute",
        "Megatron-LM recomputes some modules of all layers, or whole layers of the first of each chunk",
    ),
    ("plan.stage_recompute", "Megatron-LM recomputes the same on every stage"),
    ("plan.optimizer", "Megatron-LM does not have it"),
    ("plan.precision.compute", "Megatron-LM does not have it"),
    ("plan.precision.gradient_reduce", "Megatron-LM reduces gradients as it accumulates them"),
    ("plan.attention_kernel", "Megatron-LM chooses it"),
];

/// Writes scripts.
#[derive(Debug)]
pub struct FlagsWriter;

/// A group of flags: the array's name and its flags.
pub(super) struct Group {
    name: &'static str,
    flags: Vec<String>,
}

impl Group {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, flags: Vec::new() }
    }

    pub(super) fn flag(&mut self, flag: &str) {
        self.flags.push(flag.to_owned());
    }

    pub(super) fn value(&mut self, flag: &str, value: impl std::fmt::Display) {
        self.flags.push(format!("{flag} {value}"));
    }

    pub(super) fn flag_if(&mut self, condition: bool, flag: &str) {
        if condition {
            self.flag(flag);
        }
    }
}

impl Writer for FlagsWriter {
    fn format(&self) -> Format {
        Format::MegatronScript
    }

    fn name(&self) -> &'static str {
        "megatron"
    }

    fn write(&self, run: &Run) -> Written {
        let name = "run_megatron.sh";
        let text = script(run);
        let mut not_expressed = lost(&ScriptReader, &text, name, run, REASONS);
        not_expressed.extend(lost_model(&text, name, run));
        Written { files: vec![WrittenFile { name: name.to_owned(), text }], not_expressed }
    }
}

fn script(run: &Run) -> String {
    let (model, plan) = (&run.model, &run.plan);
    let world = plan.world_size();
    let per_node = processes_per_node(world, run.cluster.devices_per_node);
    let mut groups = vec![model::shape(model)];
    groups.extend(model::experts(model, plan));
    groups.extend(plan::groups(run));
    groups.push(data(model));
    let mut out = String::from("#!/bin/bash\n");
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "# Megatron-LM: {}, {} parameters, on {world} x {}.",
        model.name,
        railwright_spec::human::count(model.parameters().total as f64),
        run.cluster.accelerator.id
    );
    out.push_str("# Written by railwright; data, checkpoints, learning rate and logging are yours to add.\n");
    let _ = writeln!(out, "# Not carried over, and yours to add: {}.", not_carried(run).join(", "));
    out.push_str(&annotation::write(plan));
    let fsdp = plan.sharding.zero_stage >= 2;
    if !fsdp && (plan.tensor_parallel > 1 || plan.context_parallel > 1) {
        out.push_str("\n# Keeps communication and compute in the order in which they were issued.\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\n");
    }
    let _ = write!(
        out,
        "\nGPUS_PER_NODE={per_node}\nNUM_NODES={}\nNODE_RANK=${{NODE_RANK:-0}}\nMASTER_ADDR=${{MASTER_ADDR:-localhost}}\n\
         MASTER_PORT=${{MASTER_PORT:-6000}}\n\nDISTRIBUTED_ARGS=(\n    --nproc_per_node $GPUS_PER_NODE\n    --nnodes $NUM_NODES\n    \
         --node_rank $NODE_RANK\n    --master_addr $MASTER_ADDR\n    --master_port $MASTER_PORT\n)\n",
        world / per_node
    );
    for group in &groups {
        let _ = write!(out, "\n{}=(\n", group.name);
        for flag in &group.flags {
            let _ = writeln!(out, "    {flag}");
        }
        out.push_str(")\n");
    }
    out.push_str("\ntorchrun \"${DISTRIBUTED_ARGS[@]}\" pretrain_gpt.py");
    for group in &groups {
        let _ = write!(out, " \\\n    \"${{{}[@]}}\"", group.name);
    }
    out.push_str(" \\\n    \"$@\"\n");
    out
}

/// What the flags leave to Megatron's defaults, because it moves neither time nor memory and a run does not know it.
fn not_carried(run: &Run) -> Vec<&'static str> {
    let mut out = vec!["norm epsilon"];
    if run.model.position == Position::Rotary {
        out.extend(["rotary base", "rope scaling"]);
    }
    if run.model.is_mixture_of_experts() {
        out.extend(["router score function", "router load balancing"]);
    }
    if run.plan.precision.compute == DataType::Fp8 {
        out.push("FP8 recipe (scaling)");
    }
    out
}

/// Processes of a node: as many as it has devices, fewer where the world does not divide.
fn processes_per_node(world: u64, devices: u64) -> u64 {
    (1..=devices.min(world).max(1)).rev().find(|n| world.is_multiple_of(*n)).unwrap_or(1)
}

fn data(model: &Model) -> Group {
    let mut group = Group::new("DATA_ARGS");
    group.flag("--mock-data");
    group.value("--tokenizer-type", "NullTokenizer");
    // This tokenizer adds a token that ends documents to the vocabulary that it is told.
    group.value("--vocab-size", model.vocabulary.saturating_sub(1));
    group
}

/// Whether the flags describe the same model, found out by reading them.
fn lost_model(text: &str, name: &str, run: &Run) -> Option<Lost> {
    let lost = |message: String| Some(Lost { key: "model".to_owned(), message });
    let launch = match ScriptReader.read(text, name) {
        Ok(launch) => launch,
        Err(problems) => return lost(problems.first()?.to_string()),
    };
    let config = launch.model_config.clone();
    let back = launch.spec.model.resolve(|path| {
        config.ok_or_else(|| railwright_spec::problem::Problem::new(format!("`{path}` is not there")))
    });
    let back = match back {
        Ok(back) => back,
        Err(problem) => return lost(format!("Megatron-LM's flags do not describe it: {problem}")),
    };
    let (meant, said) = (run.model.parameters().total, back.parameters().total);
    let same = meant == said && model::shapes(&run.model) == model::shapes(&back);
    (!same).then(|| Lost {
        key: "model".to_owned(),
        message: format!(
            "Megatron-LM's flags do not describe it exactly: {} parameters instead of {}",
            railwright_spec::human::whole(said),
            railwright_spec::human::whole(meant)
        ),
    })
}
