//! A run as a script that starts Megatron-LM.
//!
//! Responsible for: a complete list of flags in groups, one per line, and the line that starts it all. Omits
//! flags that Megatron rejects: settings that are not expressible are reported as lost.

mod choices;
mod group;
pub(super) mod kernels;
mod model;
mod plan;
mod structure;
mod version;
mod weights;

use self::choices::Sharded;
use self::structure::Structure;
use super::{ScriptReader, generation};
use crate::lost::{Reasons, lost};
use crate::{Format, Lost, Reader, Writer, Written, WrittenFile, annotation};
pub(super) use group::Group;
use railwright_spec::model::{Model, Position};
use railwright_spec::run::Run;
use std::fmt::Write as _;

/// Reason why a key is lost.
const REASONS: Reasons = &[
    ("plan.schedule", "Megatron-LM runs 1F1B, plain or interleaved"),
    (
        "plan.overlap.pipeline",
        "Megatron-LM overlaps stage-to-stage transfers only with interleaved stages, and always between two \
         stages",
    ),
    (
        "plan.overlap.parameter_gather",
        "Megatron-LM overlaps the all-gather only with sharded parameters and overlapped reduction",
    ),
    ("plan.overlap.gradient_reduce", "Megatron-LM's FSDP always overlaps"),
    (
        "plan.overlap.tensor",
        "Megatron-LM overlaps tensor-parallel communication only with sequence parallelism",
    ),
    (
        "plan.overlap.expert",
        "Megatron-LM overlaps expert communication only with interleaved pipelines, in 16 bits, without full recompute",
    ),
    ("plan.sequence_parallel", "Megatron-LM requires it for experts with tensor parallelism"),
    ("plan.offload.optimizer", "Megatron-LM offloads states only of Adam, with its distributed optimizer"),
    (
        "plan.precision.parameters",
        "Megatron-LM keeps fp8 parameters only with fp8 GEMMs and its distributed optimizer",
    ),
    (
        "plan.precision.moments",
        "Megatron-LM has low-precision states only for Adam, with its distributed \
        optimizer",
    ),
    (
        "plan.precision.master",
        "Megatron-LM has low-precision states only for Adam, with its distributed \
        optimizer",
    ),
    ("plan.offload.activations", "Megatron-LM offloads whole layers, without pipeline stages and recompute"),
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
    ("plan.optimizer", "Megatron-LM does not support it"),
    ("plan.software", generation::NATIVE),
    ("plan.precision.compute", "Megatron-LM does not support it"),
    ("plan.precision.gradient_reduce", "Megatron-LM reduces gradients as it accumulates them"),
    ("plan.attention_kernel", "Megatron-LM chooses it"),
];

/// Writes scripts.
#[derive(Debug)]
pub struct FlagsWriter;

impl FlagsWriter {
    /// The flags of the plan, without those for the model, its data and the processes; and the omitted
    /// settings.
    pub(crate) fn flags_of(run: &Run) -> Result<(Vec<String>, Vec<Lost>), Lost> {
        /// Fields of another description of the model.
        const MODEL: &[&str] = &["MODEL_ARGS", "DATA_ARGS"];
        /// Flags of a plan's expert settings.
        const EXPERTS: &[&str] = &[
            "--expert-model-parallel-size",
            "--expert-tensor-parallel-size",
            "--moe-grouped-gemm",
            "--moe-expert-capacity-factor",
        ];
        let structure = Structure::of(&run.model, &run.plan).map_err(|why| no_such_model(run, &why))?;
        let (groups, left_out) = groups(run, &structure);
        let is_of_plan = |group: &Group, flag: &str| {
            group.name != "MOE_ARGS" || EXPERTS.contains(&flag.split(' ').next().unwrap_or_default())
        };
        let flags = groups
            .iter()
            .filter(|group| !MODEL.contains(&group.name))
            .flat_map(|group| group.flags.iter().filter(|flag| is_of_plan(group, flag)))
            .cloned()
            .collect();
        Ok((flags, left_out))
    }

    /// The scaling of fp8 products.
    pub(crate) fn scaling(run: &Run) -> &'static str {
        choices::fp8_recipe(run)
    }
}

impl Writer for FlagsWriter {
    fn format(&self) -> Format {
        Format::MegatronScript
    }

    fn name(&self) -> &'static str {
        "megatron"
    }

    fn versions(&self) -> &'static [&'static str] {
        version::ALL
    }

    fn compose(&self, run: &Run) -> Written {
        self.compose_for(run, version::NEWEST)
    }

    fn compose_for(&self, run: &Run, version: &str) -> Written {
        let name = "run_megatron.sh";
        let (planned, run) = (run, &generation::native(run));
        let structure = match Structure::of(&run.model, &run.plan) {
            Ok(structure) => structure,
            Err(why) => return Written::refused(no_such_model(run, &why)),
        };
        let (mut groups, mut left_out) = groups(run, &structure);
        match version::fit(version, run, &mut groups) {
            Ok(dropped) => left_out.extend(dropped),
            Err(refused) => return Written::refused(refused),
        }
        let text = script(run, &structure, &groups, version);
        if let Some(lost) = lost_model(&text, name, run) {
            return Written::refused(lost);
        }
        let mut not_expressed = lost(&ScriptReader, &text, name, planned, REASONS);
        not_expressed.extend(left_out);
        not_expressed.extend(unfilled_nodes(planned));
        let written = WrittenFile { name: name.to_owned(), text, version: version::known(version) };
        Written { files: vec![written], not_expressed, refused: Vec::new() }
    }
}

/// The error for a model that Megatron-LM does not support.
fn no_such_model(run: &Run, why: &str) -> Lost {
    Lost { key: "model".to_owned(), message: format!("Megatron-LM does not have {}: {why}", run.model.name) }
}

/// Layers of each chunk, in pipeline order.
fn chunks_of(run: &Run) -> Vec<u64> {
    let plan = &run.plan;
    if let Some(list) = &plan.layers_per_stage {
        return plan::per_chunk(list, plan);
    }
    let chunks = (plan.pipeline_parallel * plan.virtual_stages).max(1);
    railwright_spec::plan::balanced_layers(run.model.num_layers(), chunks)
}

/// Every flag, and the omitted settings.
fn groups(run: &Run, structure: &Structure) -> (Vec<Group>, Vec<Lost>) {
    let mut groups = vec![model::shape(run, structure, &chunks_of(run))];
    groups.extend(model::experts(run, structure));
    groups.extend(plan::groups(run, structure));
    let (kernels, left_out) = kernels::flags(run);
    groups.extend((!kernels.flags.is_empty()).then_some(kernels));
    groups.push(data(&run.model));
    (groups, left_out)
}

fn script(run: &Run, structure: &Structure, groups: &[Group], version: &str) -> String {
    let (model, plan) = (&run.model, &run.plan);
    let world = plan.world_size();
    let per_node = processes_per_node(world, run.cluster.devices_per_node);
    let mut out = String::from("#!/bin/bash\n");
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "# Megatron-LM{}: {}, {} parameters, on {world} x {}.",
        version::shown(version),
        model.name,
        railwright_spec::human::count(model.parameters().total as f64),
        run.cluster.accelerator.id
    );
    out.push_str("# Written by railwright. Add data, checkpoints, learning rate and logging.\n");
    let _ = writeln!(out, "# Not written, add if needed: {}.", not_carried(run).join(", "));
    out.push_str(&annotation::write(plan, &run.model, &run.cluster));
    let is_fsdp = matches!(Sharded::of(run), Sharded::Torch | Sharded::Megatron);
    if choices::overlaps_experts(run) {
        out.push_str(
            "\n# Allows communication of experts to overlap with compute.\nexport CUDA_DEVICE_MAX_CONNECTIONS=32\n",
        );
    } else if !is_fsdp && (plan.tensor_parallel > 1 || plan.context_parallel > 1) {
        out.push_str("\n# Keeps communication and compute in the order in which they were issued.\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\n");
    }
    let _ = write!(
        out,
        "\nGPUS_PER_NODE={per_node}\nNUM_NODES={}\nNODE_RANK=${{NODE_RANK:-0}}\nMASTER_ADDR=${{MASTER_ADDR:-localhost}}\n\
         MASTER_PORT=${{MASTER_PORT:-6000}}\n\nDISTRIBUTED_ARGS=(\n    --nproc_per_node $GPUS_PER_NODE\n    --nnodes $NUM_NODES\n    \
         --node_rank $NODE_RANK\n    --master_addr $MASTER_ADDR\n    --master_port $MASTER_PORT\n)\n",
        world / per_node
    );
    for group in groups {
        let _ = write!(out, "\n{}=(\n", group.name);
        for flag in &group.flags {
            let _ = writeln!(out, "    {flag}");
        }
        out.push_str(")\n");
    }
    let _ = write!(out, "\ntorchrun \"${{DISTRIBUTED_ARGS[@]}}\" {}", structure.entry());
    for group in groups {
        let _ = write!(out, " \\\n    \"${{{}[@]}}\"", group.name);
    }
    out.push_str(" \\\n    \"$@\"\n");
    out
}

/// Properties left to Megatron's defaults, because they affect neither time nor memory and a run does not
/// contain them.
fn not_carried(run: &Run) -> Vec<&'static str> {
    let mut out = vec!["norm epsilon"];
    if run.model.position == Position::Rotary {
        out.extend(["rotary base", "rope scaling"]);
    }
    if run.model.is_mixture_of_experts() {
        out.extend(["router score function", "router load balancing"]);
    }
    out
}

/// Processes of a node: as many as it has devices, fewer if the world size is not divisible.
fn processes_per_node(world: u64, devices: u64) -> u64 {
    (1..=devices.min(world).max(1)).rev().find(|n| world.is_multiple_of(*n)).unwrap_or(1)
}

/// The warning for devices that do not fill the cluster's nodes: torchrun starts as many processes on every
/// node.
fn unfilled_nodes(run: &Run) -> Option<Lost> {
    let (world, node) = (run.plan.world_size(), run.cluster.devices_per_node);
    let written = processes_per_node(world, node);
    (written < node.min(world)).then(|| Lost {
        key: "cluster.devices_per_node".to_owned(),
        message: format!(
            "{world} devices do not fill nodes of {node}: {} nodes of {written} are written, which can be slower",
            world / written
        ),
    })
}

fn data(model: &Model) -> Group {
    let mut group = Group::new("DATA_ARGS");
    group.flag("--mock-data");
    group.value("--tokenizer-type", "NullTokenizer");
    // This tokenizer adds an end-of-document token to the given vocabulary.
    group.value("--vocab-size", model.vocabulary.saturating_sub(1));
    group
}

/// Reads the written flags and checks that they describe the same model. `None` if they do.
fn lost_model(text: &str, name: &str, run: &Run) -> Option<Lost> {
    let lost = |message: String| Some(Lost { key: "model".to_owned(), message });
    let launch = match ScriptReader.read(text, name) {
        Ok(launch) => launch,
        Err(problems) => return lost(problems.first()?.to_string()),
    };
    let config = launch.model_config.clone();
    let back = launch.spec.model.resolve(|path| {
        config.ok_or_else(|| railwright_spec::problem::Problem::new(format!("`{path}` is missing")))
    });
    let back = match back {
        Ok(back) => back,
        Err(problem) => return lost(format!("not expressible in Megatron-LM flags: {problem}")),
    };
    let (meant, read_back) = (run.model.parameters().total, back.parameters().total);
    let same = model::shapes(&run.model) == model::shapes(&back);
    (!same).then(|| Lost {
        key: "model".to_owned(),
        message: format!(
            "not expressible in Megatron-LM flags: they result in {} parameters instead of {}",
            railwright_spec::human::whole(read_back),
            railwright_spec::human::whole(meant)
        ),
    })
}
