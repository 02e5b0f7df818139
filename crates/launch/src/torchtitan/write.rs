//! A run as torchtitan's TOML, and as Python for versions that have no TOML any more.
//!
//! Responsible for: every key that the reader supports. Lists settings that torchtitan cannot express: see
//! [`crate::Written`].

use super::{TorchtitanReader, models, pipeline, python};
use crate::lost::{Reasons, lost};
use crate::{Format, Lost, Writer, Written, WrittenFile};
use railwright_spec::plan::{ContextKind, Optimizer, Recompute, module_parts};
use railwright_spec::precision::DataType;
use railwright_spec::run::{Run, Value};
use std::fmt::Write as _;

/// Writes torchtitan's TOML.
#[derive(Clone, Copy, Debug)]
pub struct TorchtitanWriter;

const REASONS: Reasons = &[
    ("plan.schedule", "unsupported schedule"),
    ("plan.rank_order", "torchtitan's mesh has one order"),
    ("plan.software", "set by the framework"),
    ("plan.dropout", "torchtitan's models have no dropout"),
    ("plan.vocabulary_multiple", "torchtitan does not pad the vocabulary"),
    ("plan.offload.activations", "torchtitan keeps activations on the device"),
    ("plan.offload.optimizer", "torchtitan offloads all parameters and states, or none"),
    ("plan.offload.parameters", "torchtitan offloads all parameters and states, or none"),
    ("plan.overlap.gradient_reduce", "FSDP always overlaps reduction with the backward pass"),
    ("plan.overlap.parameter_gather", "FSDP always prefetches parameters"),
    ("plan.sharding", "torchtitan shards parameters, gradients and states together or replicates"),
    ("plan.context_kind", "torchtitan passes keys and values in a ring, or all-gathers them"),
    (
        "plan.sequence_parallel",
        "torchtitan's TOML has no switch, sequence parallelism comes with tensor parallelism; the Python configuration has one",
    ),
    ("plan.attention_kernel", "PyTorch selects the kernel"),
    (
        "plan.recompute",
        "torchtitan recomputes all layers or by operators, and every n-th layer until February 2026",
    ),
];

/// The last version that reads TOML.
const TOML: &str = "2026-02";

/// Sections, their keys, their values as TOML.
#[derive(Default)]
struct Sections(Vec<(&'static str, Vec<(&'static str, String)>)>);

impl Sections {
    fn put(&mut self, section: &'static str, key: &'static str, value: String) {
        match self.0.iter_mut().find(|(name, _)| *name == section) {
            Some((_, pairs)) => pairs.push((key, value)),
            None => self.0.push((section, vec![(key, value)])),
        }
    }

    fn text(&mut self, section: &'static str, key: &'static str, value: &str) {
        self.put(section, key, Value::Text(value.to_owned()).to_toml());
    }

    fn count(&mut self, section: &'static str, key: &'static str, value: u64) {
        self.put(section, key, value.to_string());
    }

    fn flag(&mut self, section: &'static str, key: &'static str, value: bool) {
        self.put(section, key, value.to_string());
    }

    fn toml(&self) -> String {
        let mut out = String::new();
        for (section, pairs) in &self.0 {
            let gap = if out.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{gap}[{section}]");
            for (key, value) in pairs {
                let _ = writeln!(out, "{key} = {value}");
            }
        }
        out
    }
}

impl Writer for TorchtitanWriter {
    fn format(&self) -> Format {
        Format::Torchtitan
    }

    fn name(&self) -> &'static str {
        "torchtitan"
    }

    fn versions(&self) -> &'static [&'static str] {
        &["2026-08", TOML]
    }

    fn compose_for(&self, run: &Run, version: &str) -> Written {
        let mut written = self.compose(run);
        written.files.retain(|file| file.version == version);
        if written.files.is_empty() && written.refused.is_empty() {
            let is_flavour = |lost: &Lost| lost.key == "model.name";
            let (flavour, rest) = written.not_expressed.into_iter().partition(is_flavour);
            (written.refused, written.not_expressed) = (flavour, rest);
        }
        if let [file] = &written.files[..] {
            written.not_expressed = lost(&TorchtitanReader, &file.text, &file.name, run, REASONS);
        }
        written
    }

    fn compose(&self, run: &Run) -> Written {
        let plan = &run.plan;
        let mut out = Sections::default();
        let Some((name, size)) = models::flavour(&run.model) else {
            let message = format!("torchtitan has no model flavour for {}", run.model.name);
            return Written::refused(Lost { key: "model".to_owned(), message });
        };
        out.text("model", "name", name);
        out.text("model", "flavor", size);
        match plan.precision.compute {
            // Under the names that belong to the sections `[quantize.linear...]`.
            DataType::Fp8 => out.put("model", "converters", "[\"quantize.linear.float8\"]".to_owned()),
            DataType::Mxfp8 => out.put("model", "converters", "[\"quantize.linear.mx\"]".to_owned()),
            _ => {}
        }
        let optimizer = match plan.optimizer {
            Optimizer::Muon => "Muon",
            Optimizer::Sgd => "SGD",
            Optimizer::Lion => "Lion",
            _ => "AdamW",
        };
        out.text("optimizer", "name", optimizer);
        training(run, &mut out);
        parallelism(run, &mut out);
        recompute(run, &mut out);
        match plan.precision.compute {
            DataType::Fp8 => out.flag("quantize.linear.float8", "enable_fsdp_float8_all_gather", false),
            DataType::Mxfp8 => out.text("quantize.linear.mx", "recipe_name", "mxfp8_cublas"),
            _ => {}
        }
        out.flag("compile", "enable", plan.software != "torchtitan-2024-eager");
        let mut head = "# Written by railwright. Add data, checkpoints and learning rate.\n\
             # For versions of torchtitan that read TOML (until February 2026).\n"
            .to_owned();
        if plan.pipeline_parallel > 1 {
            head.push_str(
                "# The pipeline runs all micro-batches of a step in one pass,\n\
                 # so local_batch_size is a rank's part of the whole batch.\n",
            );
        }
        let text = format!("{head}{}", out.toml());
        let file = "torchtitan.toml".to_owned();
        let mut not_expressed = lost(&TorchtitanReader, &text, &file, run, REASONS);
        let mut files = vec![WrittenFile { name: file, text, version: TOML }];
        match python::write(run, name, size, &mesh(run)) {
            Some(text) => {
                let file = "railwright_plan.py".to_owned();
                let of_python = lost(&TorchtitanReader, &text, &file, run, REASONS);
                not_expressed = of_either(&not_expressed, &of_python, &file);
                files.push(WrittenFile { name: file, text, version: "2026-08" });
            }
            None => not_expressed.push(Lost {
                key: "model.name".to_owned(),
                message: format!(
                    "torchtitan of August 2026 has no flavour {size} of {name}: only the TOML is \
                    written"
                ),
            }),
        }
        Written { files, not_expressed, refused: Vec::new() }
    }
}

/// What the TOML or the Python lacks; what only one of them lacks names it.
fn of_either(toml: &[Lost], python: &[Lost], file: &str) -> Vec<Lost> {
    let has = |list: &[Lost], lost: &Lost| list.iter().any(|other| other.key == lost.key);
    let only = |lost: &Lost, file: &str| Lost {
        key: lost.key.clone(),
        message: format!("in {file} alone: {}", lost.message),
    };
    let mut out: Vec<Lost> = toml
        .iter()
        .map(|lost| if has(python, lost) { lost.clone() } else { only(lost, "torchtitan.toml") })
        .collect();
    out.extend(python.iter().filter(|lost| !has(toml, lost)).map(|lost| only(lost, file)));
    out
}

fn training(run: &Run, out: &mut Sections) {
    let plan = &run.plan;
    let data = plan.data_parallel.max(1);
    let local = if plan.pipeline_parallel > 1 { plan.global_batch / data } else { plan.micro_batch };
    out.count("training", "seq_len", plan.sequence_length);
    out.count("training", "local_batch_size", local);
    out.count("training", "global_batch_size", plan.global_batch);
    if let Some(tokens) = run.training.tokens {
        let steps = (tokens / plan.tokens_per_step().max(1) as f64).round().max(1.0);
        out.put("training", "steps", format!("{steps:.0}"));
    }
    let single = matches!(plan.precision.compute, DataType::Fp32 | DataType::Tf32);
    out.text("training", "mixed_precision_param", if single { "float32" } else { "bfloat16" });
    let reduce = if plan.precision.gradient_reduce == DataType::Bf16 { "bfloat16" } else { "float32" };
    out.text("training", "mixed_precision_reduce", reduce);
    if !single && plan.precision.master.is_none() {
        out.text("training", "dtype", "bfloat16");
    }
    let offloaded = plan.offload.optimizer >= 1.0 && plan.offload.parameters >= 1.0;
    out.flag("training", "enable_cpu_offload", offloaded);
}

/// Division of replicas into copies and shards.
fn mesh(run: &Run) -> python::Mesh {
    let plan = &run.plan;
    let (data, context) = (plan.data_parallel.max(1), plan.context_parallel.max(1));
    let wanted = match plan.sharding.zero_stage {
        0 => 1,
        _ => plan.shard_group() / context,
    };
    // Experts borrow ranks of one shard group, so it must contain them all.
    let cut = plan.expert_tensor_parallel == plan.tensor_parallel;
    let expert_tensor = if cut { plan.tensor_parallel } else { 1 };
    let expert_ranks = plan.expert_parallel.max(1) * if plan.expert_parallel > 1 { expert_tensor } else { 1 };
    let holds = |shard: u64| (shard * context * plan.tensor_parallel).is_multiple_of(expert_ranks);
    let shard = (wanted.max(1)..=data)
        .filter(|shard| data.is_multiple_of(*shard))
        .find(|shard| holds(*shard))
        .unwrap_or(data);
    python::Mesh { replicate: data / shard, shard }
}

fn parallelism(run: &Run, out: &mut Sections) {
    let plan = &run.plan;
    let section = "parallelism";
    let (context, mesh) = (plan.context_parallel.max(1), mesh(run));
    let cut = plan.expert_tensor_parallel == plan.tensor_parallel;
    let expert_tensor = if cut { plan.tensor_parallel } else { 1 };
    out.count(section, "data_parallel_replicate_degree", mesh.replicate);
    out.count(section, "data_parallel_shard_degree", mesh.shard);
    let reshard = plan.sharding.reshard_after_forward;
    out.text(section, "fsdp_reshard_after_forward", if reshard { "always" } else { "never" });
    out.count(section, "tensor_parallel_degree", plan.tensor_parallel);
    // Without compilation torchtitan refuses it (`torchtitan/distributed/tensor_parallel.py`).
    let compiles = plan.software != "torchtitan-2024-eager";
    out.flag(section, "enable_async_tensor_parallel", compiles && plan.overlap.tensor);
    out.count(section, "context_parallel_degree", context);
    if context > 1 || plan.context_kind != ContextKind::Ring {
        let rotate = if plan.context_kind == ContextKind::Ring { "alltoall" } else { "allgather" };
        out.text(section, "context_parallel_rotate_method", rotate);
    }
    out.count(section, "expert_parallel_degree", plan.expert_parallel);
    if plan.expert_parallel > 1 {
        out.count(section, "expert_tensor_parallel_degree", expert_tensor);
    }
    out.count(section, "pipeline_parallel_degree", plan.pipeline_parallel);
    if plan.pipeline_parallel <= 1 {
        return;
    }
    out.text(section, "pipeline_parallel_schedule", pipeline::name_of(plan.schedule, plan.virtual_stages));
    out.count(section, "pipeline_parallel_microbatch_size", plan.micro_batch);
    let chunks = plan.pipeline_parallel * plan.virtual_stages;
    let each = run.model.num_layers().div_ceil(chunks.max(1));
    if let Some(counts) = &plan.layers_per_stage {
        return out.put(section, "module_fqns_per_model_part", module_parts(counts, "output"));
    }
    out.count(section, "pipeline_parallel_layers_per_stage", each);
    out.count(section, "pipeline_parallel_first_stage_less_layers", 0);
    out.count(section, "pipeline_parallel_last_stage_less_layers", 0);
}

fn recompute(run: &Run, out: &mut Sections) {
    let section = "activation_checkpoint";
    match &run.plan.recompute {
        Recompute::None => out.text(section, "mode", "none"),
        Recompute::Full { layers } => match layers.and_then(|count| every_nth(run, count)) {
            Some(every) => {
                out.text(section, "mode", "selective");
                out.text(section, "selective_ac_option", &every.to_string());
            }
            None => out.text(section, "mode", "full"),
        },
        Recompute::Selective { .. } => {
            out.text(section, "mode", "selective");
            // torchtitan's only selective policy is by operators; it is also the nearest to any other policy.
            out.text(section, "selective_ac_option", "op");
        }
    }
}

/// The n of "every n-th layer" for a number of layers of a stage, if it exists.
fn every_nth(run: &Run, count: u64) -> Option<u64> {
    let stage = run.model.num_layers() / run.plan.pipeline_parallel.max(1);
    let every = stage.checked_div(count)?;
    (every > 1 && stage / every == count).then_some(every)
}
