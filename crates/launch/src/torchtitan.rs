//! torchtitan: its TOML, its Python, the JSON that newer versions save, and lists of overrides in; TOML out.
//!
//! Responsible for: the meaning of torchtitan's keys for a plan, and defaults of absent keys. Does not run
//! the Python in which newer versions keep their configurations: literals are read, and names of models are
//! looked up in a table.

mod keys;
mod models;
mod parallel;
mod pipeline;
mod python;
mod registry;
mod script;
mod versions;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use keys::{OLDER, accepts, knows};
pub(crate) use versions::{is_latest, lacks};
pub use write::TorchtitanWriter;

use crate::document::{self, Data, Document};
use crate::fields::Fields;
use crate::{Context, Evidence, Format, Launch, Reader, RemarkKind, Strength, features};
use railwright_spec::plan::{Master, Optimizer, PrecisionPreset, Recompute, RecomputeModule};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;
use railwright_spec::run::Amount;
use std::collections::BTreeSet;

/// Reads torchtitan's configurations.
#[derive(Clone, Copy, Debug)]
pub struct TorchtitanReader;

impl Reader for TorchtitanReader {
    fn format(&self) -> Format {
        Format::Torchtitan
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        let certain = |why: &str| Some(Evidence::new(Strength::Certain, why));
        if registry::is_one(text) {
            return certain("Python that imports torchtitan");
        }
        let start = text.trim_start();
        if start.starts_with('{') {
            let has = |key: &str| text.contains(&format!("\"{key}\""));
            let marks =
                has("parallelism") && has("training") && (has("activation_checkpoint") || has("flavor"));
            return if marks { certain("JSON with the keys `parallelism` and `training`") } else { None };
        }
        let has = |section: &str| text.lines().any(|line| line.trim_end() == section);
        if has("[parallelism]") && (has("[training]") || has("[model]")) {
            return certain("TOML with the section `[parallelism]`");
        }
        if has("[training]") && (has("[activation_checkpoint]") || has("[experimental]") || has("[job]")) {
            return certain("TOML with the sections of torchtitan's configuration");
        }
        let flags = ["--parallelism.", "--training.", "--job.config_file", "--activation_checkpoint."];
        if script::has_registry(text) {
            return certain("torchtitan's `--module` and `--config`");
        }
        let mut seen = flags.iter().filter(|flag| text.contains(**flag));
        let first = seen.next()?;
        // A single section can be that of another framework: MindSpeed's `train_fsdp2.py
        // --training.output_dir`.
        if *first == "--training." && seen.next().is_none() && !text.contains("torchtitan") {
            return None;
        }
        certain(&format!("flags such as `{first}`"))
    }

    fn read_with(&self, text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        let mut recipe = None;
        let started =
            if script::is_one(text) { script::read(text, file, context).map_err(|p| vec![p])? } else { None };
        let (mut of_script, mut unset) = (None, Vec::new());
        let parsed = if let Some(started) = started {
            of_script = Some((started.sources, started.open));
            unset = started.unset;
            Ok((started.document, started.is_whole))
        } else if registry::is_one(text) {
            registry::read(text, file, context).map(|(document, is_whole, found)| {
                recipe = Some(found);
                (document, is_whole)
            })
        } else {
            parse(text, file)
        };
        let (document, is_whole) = parsed.map_err(|problem| vec![problem])?;
        let mut fields = Fields::new(Format::Torchtitan, file, text, document);
        if let Some(recipe) = &recipe {
            fields.draft.lines_of(recipe.sources.clone());
        }
        if let Some((sources, open)) = of_script {
            fields.draft.lines_of(sources);
            for (source, line, why) in open {
                fields.draft.remark(RemarkKind::Unresolved, &source, Some(line), why);
            }
        }
        let path = "_target_";
        let class = recipe.as_ref().and_then(|recipe| recipe.document.get(path));
        if class.is_some_and(|entry| entry.data.plain().contains("AutoParallel")) {
            // `torchtitan/experiments/autoparallel`: the degrees only give the mesh.
            let message = "a solver places the weights, and this layout is not read: estimated as the plain trainer's, \
                with its precision and compilation";
            fields.remark(RemarkKind::NotModelled, path, message);
        }
        if class.is_some_and(|entry| entry.data.plain().contains("RLTrainer")) {
            let message = "a step is one update of the trainer: generation and rewards are excluded, and their devices are separate";
            fields.draft.remark(RemarkKind::Assumed, "RLTrainer", None, message);
        }
        fill(&mut fields, is_whole, recipe.is_some());
        // A default would stand for a value that another file or the environment sets.
        for (path, source, line) in unset {
            for key in keys::determined(&path) {
                fields.draft.leave_open(key, &source, Some(line), "it has no value in this file");
            }
        }
        if let Some(recipe) = recipe {
            recipe.remarks(&mut fields.draft, &registry::is_wanted, &|_| false);
        }
        fields.finish()
    }
}

/// Last parts of keys of models that read images, in forks of torchtitan.
const OF_IMAGES: [&str; 6] = ["crop_size", "num_classes", "image_size", "img_size", "patch_size", "backbone"];

/// A configuration of a vision model has neither a flavour nor a length of sequences.
fn of_images(fields: &mut Fields<'_>) {
    if ["model.flavor", "model.name", "training.seq_len"].iter().any(|path| fields.document.has(path)) {
        return;
    }
    let entries = fields.document.entries.iter();
    let marks: Vec<String> = entries
        .filter(|entry| OF_IMAGES.contains(&entry.path.rsplit('.').next().unwrap_or_default()))
        .map(|entry| entry.path.clone())
        .collect();
    if let [first, _, ..] = marks.as_slice() {
        let problem = Problem::new(
            "this configuration trains a vision model: not supported as a language model",
        )
        .hint("set model and layout with flags, as in `railwright estimate llama-3.1-8b --sharding fsdp`");
        fields.problem(problem, first);
    }
}

/// Applies a configuration's keys to a plan and, for a whole configuration, its defaults.
pub(crate) fn fill(fields: &mut Fields<'_>, is_whole: bool, is_python: bool) {
    of_images(fields);
    fields.document.rename(keys::OLDER);
    fields.copy(keys::KNOWN);
    models::read(fields);
    software(fields, is_whole);
    if fields.draft.spec().plan.software.as_deref() == Some("torchtitan-2024-eager") {
        fields.draft.front_end("torchtitan-eager");
    }
    precision(fields, is_whole);
    optimizer(fields);
    parallel::read(fields, is_whole);
    pipeline::read(fields, is_whole);
    recompute(fields, is_whole, is_python);
    tokens(fields);
    if is_whole || is_python {
        framework_defaults(fields);
    }
    if is_whole {
        fields.default("plan.overlap.tensor", &false, "async tensor parallelism is off by default");
    }
    fields.rest(keys::KNOWN);
}

/// Gives the launcher's numbers the values of the script's variables and of Slurm's; one that is known at run
/// time alone is `auto`. Other variables of the shell are not settings.
fn ranks(document: &mut Document, text: &str) {
    let slurm = crate::megatron::Batch::read(text, 1).variables();
    let set: Vec<(String, Data)> =
        document.entries.iter().map(|entry| (entry.path.clone(), entry.data.clone())).collect();
    for entry in &mut document.entries {
        let Data::Text(word) = &entry.data else { continue };
        let Some(name) =
            word.strip_prefix('$').filter(|_| matches!(entry.path.as_str(), "nnodes" | "nproc_per_node"))
        else {
            continue;
        };
        let name = name.trim_matches(['{', '}']);
        let of_script = set.iter().find(|(path, data)| path == name && matches!(data, Data::Integer(_)));
        let of_slurm = || slurm.iter().find(|(known, _)| *known == name);
        entry.data = match of_script {
            Some((_, data)) => data.clone(),
            None => of_slurm().map_or(Data::Text("auto".to_owned()), |(_, value)| Data::of_word(value)),
        };
    }
    script::variables(document);
}

/// The configuration, and whether it is complete: settings missing in an override are in another file, not
/// defaults.
fn parse(text: &str, file: &str) -> Result<(Document, bool), Problem> {
    let start = text.trim_start();
    if start.starts_with('{') {
        return Ok((document::json(text, file)?, true));
    }
    if text.lines().any(|line| line.starts_with('[') && line.trim_end().ends_with(']')) {
        return Ok((document::toml(text, file)?, true));
    }
    let mut found = document::overrides(text, file)?.document;
    found.rename(&script::FROM_ENVIRONMENT);
    ranks(&mut found, text);
    Ok((found, false))
}

/// Properties common to all runs of torchtitan, which no setting changes.
fn framework_defaults(fields: &mut Fields<'_>) {
    fields.default("plan.vocabulary_multiple", &1_u64, "torchtitan does not pad the vocabulary");
    fields.default("plan.overlap.gradient_reduce", &true, "FSDP overlaps reduction with the backward pass");
    fields.default("plan.overlap.parameter_gather", &true, "FSDP prefetches parameters");
    fields.default("plan.overlap.pipeline", &true, "PyTorch's pipelines overlap sends with compute");
    fields.default("plan.overlap.expert", &false, "torchtitan does not overlap the expert all-to-all");
}

/// Compiled or eager: the two behave as two generations.
fn software(fields: &mut Fields<'_>, is_whole: bool) {
    let compiled = fields.flag("compile.enable");
    if compiled.is_none() && !is_whole {
        return;
    }
    let components = fields.words("compile.components").unwrap_or_default();
    let has = |name: &str| components.is_empty() || components.iter().any(|component| component == name);
    let (id, why) = if compiled == Some(true) && has("model") {
        ("torchtitan-2024-compile", "compiled torchtitan")
    } else if compiled == Some(true) {
        ("torchtitan-2024-eager", "the model is not compiled")
    } else {
        ("torchtitan-2024-eager", "torchtitan does not compile by default")
    };
    // Without loss parallelism each rank of the tensor group has the logits of the whole vocabulary.
    let is_gathered = fields.flag("parallelism.disable_loss_parallel") == Some(true)
        || fields.flag("parallelism.enable_loss_parallel") == Some(false);
    let id = if is_gathered { format!("{id}+gathered-loss") } else { id.to_owned() };
    let is_loss_alone = compiled == Some(true) && has("loss") && !has("model");
    let id = if is_loss_alone { format!("{id}+compiled-loss") } else { id };
    if compiled.is_some() {
        fields.set("plan.software", &id, "compile.enable");
    } else {
        fields.default("plan.software", &id, why);
    }
    fields.draft.remark(RemarkKind::Assumed, "plan.software", None, format!("inferred: `{id}`, {why}"));
    features::loss(fields, "loss.name");
    let path = "model.moe_comm_backend";
    let names = ["deepep", "hybridep"];
    if fields.document.get(path).is_some_and(|entry| names.contains(&entry.data.plain().as_str())) {
        let _ = fields.take(path);
        features::add(fields, features::FUSED_DISPATCH, path);
    }
    let path = "parallelism.context_parallel_load_balancer";
    let none = ["null", "none", ""];
    let is_none = |word: &str| none.contains(&word.to_ascii_lowercase().as_str());
    if fields.document.get(path).is_some_and(|entry| is_none(&entry.data.plain())) {
        let _ = fields.take(path);
        if fields.draft.spec().plan.context_parallel.unwrap_or(1) > 1 {
            features::add(fields, "contiguous-context", path);
        }
    }
    // Versions that count tokens of a micro-batch capture the step in graphs, unless they are switched off.
    let switched = fields.flag("training.disable_cuda_graphs");
    let has_graphs =
        fields.document.has("training.num_tokens_per_microbatch_per_dp_rank") && switched != Some(true);
    let is_pipelined = fields.draft.spec().plan.pipeline_parallel.unwrap_or(1) > 1;
    if has_graphs && is_pipelined && (is_whole || switched.is_some()) {
        let message =
            "torchtitan rejects CUDA graphs of a pipeline: estimated without; disable them to start";
        fields.draft.remark(RemarkKind::Invalid, "training.disable_cuda_graphs", None, message);
    } else if has_graphs && switched == Some(false) {
        features::add(fields, "cuda-graphs", "training.disable_cuda_graphs");
    } else if has_graphs && is_whole {
        features::add(fields, "cuda-graphs", "training.num_tokens_per_microbatch_per_dp_rank");
        let message = "this version captures the step in CUDA graphs by default: estimated with them";
        fields.draft.remark(RemarkKind::Assumed, "training.disable_cuda_graphs", None, message);
    }
}

fn precision(fields: &mut Fields<'_>, is_whole: bool) {
    let parameters = fields.word("training.mixed_precision_param");
    let reduce = fields.word("training.mixed_precision_reduce");
    let stored = fields.word("training.dtype");
    let format = |fields: &mut Fields<'_>, path: &str, text: Option<String>| {
        let text = text?;
        let known = DataType::from_name(&text).filter(|t| matches!(t, DataType::Bf16 | DataType::Fp32));
        if known.is_none() {
            let problem = Problem::new(format!("expected `bfloat16` or `float32`, found `{text}`"));
            fields.problem(problem, path);
        }
        known
    };
    let parameters = format(fields, "training.mixed_precision_param", parameters);
    let reduce = format(fields, "training.mixed_precision_reduce", reduce);
    let stored = format(fields, "training.dtype", stored);

    let narrow = converters(fields);
    let single = parameters == Some(DataType::Fp32);
    if let Some((preset, path)) = &narrow {
        fields.set("plan.precision.preset", preset, path);
    } else if single {
        fields.set("plan.precision.preset", &PrecisionPreset::Fp32, "training.mixed_precision_param");
    } else if parameters.is_some() {
        fields.set("plan.precision.preset", &PrecisionPreset::Bf16, "training.mixed_precision_param");
    } else if is_whole {
        fields.default("plan.precision.preset", &PrecisionPreset::Bf16, "torchtitan computes in bfloat16");
    }
    if stored == Some(DataType::Bf16) && !single {
        let path = "training.dtype";
        fields.set("plan.precision.master", &Master(None), path);
        fields.set("plan.precision.moments", &DataType::Bf16, path);
        fields.set("plan.precision.gradients", &DataType::Bf16, path);
    }
    match reduce {
        Some(reduce) => {
            fields.set("plan.precision.gradient_reduce", &reduce, "training.mixed_precision_reduce");
        }
        None if is_whole => fields.default(
            "plan.precision.gradient_reduce",
            &DataType::Fp32,
            "torchtitan reduces gradients in float32",
        ),
        None => {}
    }
}

/// The low-precision format of a converter, and its key.
fn converters(fields: &mut Fields<'_>) -> Option<(PrecisionPreset, String)> {
    let mut found = None;
    for converter in fields.words("model.converters").unwrap_or_default() {
        let name = converter.to_ascii_lowercase();
        if name == "float8" || name.ends_with("linear.float8") {
            found = Some((PrecisionPreset::Fp8, "model.converters".to_owned()));
        } else if name == "mx" || name == "mxfp8" || name.ends_with("linear.mx") {
            found = Some((PrecisionPreset::Mxfp8, "model.converters".to_owned()));
        } else {
            let message = format!("`{converter}` is not modelled: estimated without it");
            fields.remark(RemarkKind::NotModelled, "model.converters", message);
        }
    }
    if fields.flag("float8.enable_float8_linear") == Some(true) {
        found.get_or_insert((PrecisionPreset::Fp8, "float8.enable_float8_linear".to_owned()));
    }
    // The recipe has little effect on time: the constants are fitted to both.
    for path in ["quantize.linear.float8.recipe_name", "quantize.linear.mx.recipe_name"] {
        if let Some(recipe) = fields.word(path)
            && recipe.contains("fp4")
        {
            fields.remark(RemarkKind::NotModelled, path, "estimated in 8 bits");
        }
    }
    found
}

fn optimizer(fields: &mut Fields<'_>) {
    if let Some(name) = fields.word("optimizer.name") {
        match name.to_ascii_lowercase().as_str() {
            "adam" | "adamw" => fields.set("plan.optimizer", &Optimizer::Adam, "optimizer.name"),
            "sgd" => fields.set("plan.optimizer", &Optimizer::Sgd, "optimizer.name"),
            "lion" => fields.set("plan.optimizer", &Optimizer::Lion, "optimizer.name"),
            other if other.contains("muon") => {
                fields.set("plan.optimizer", &Optimizer::Muon, "optimizer.name");
            }
            _ => fields.remark(RemarkKind::NotModelled, "optimizer.name", "estimated as adam"),
        }
    }
    if fields.flag("training.enable_cpu_offload") == Some(true) {
        fields.set("plan.offload.optimizer", &1.0, "training.enable_cpu_offload");
        fields.set("plan.offload.parameters", &1.0, "training.enable_cpu_offload");
    }
}

fn recompute(fields: &mut Fields<'_>, is_whole: bool, is_python: bool) {
    let path = "activation_checkpoint.mode";
    let option_path = "activation_checkpoint.selective_ac_option";
    let mode = fields.word(path);
    let option = fields.word(option_path);
    let (mode, source) = match mode {
        Some(mode) => (mode, path),
        None if is_whole => ("selective".to_owned(), "torchtitan checkpoints selectively by default"),
        None if option.is_some() => ("selective".to_owned(), option_path),
        None => return,
    };
    let recompute = match mode.to_ascii_lowercase().as_str() {
        "none" => Recompute::None,
        "full" => Recompute::Full { layers: None },
        "selective" => match option.as_deref().unwrap_or(if is_python { "op" } else { "2" }) {
            "op" => {
                Recompute::Selective { modules: BTreeSet::from([RecomputeModule::Operators]), layers: None }
            }
            number => {
                let Some(every) = number.parse::<u64>().ok().filter(|&n| n > 0) else {
                    let problem =
                        Problem::new(format!("expected `op` or a number of 1 or more, found `{number}`"));
                    fields.problem(problem, option_path);
                    return;
                };
                match every_nth(fields, every) {
                    Some(recompute) => recompute,
                    None => return,
                }
            }
        },
        "memory_budget" => {
            fields.remark(
                RemarkKind::NotModelled,
                path,
                "the compiler determines recompute: unset, so none is assumed",
            );
            return;
        }
        _ => {
            let problem = Problem::new(format!(
                "expected `none`, `selective`, `full` or `memory_budget`, found `{mode}`"
            ));
            fields.problem(problem, path);
            return;
        }
    };
    if source == path || source == option_path {
        fields.set("plan.recompute", &recompute, source);
    } else {
        fields.default("plan.recompute", &recompute, source);
    }
}

/// Full recompute of every n-th layer, as layers per stage.
fn every_nth(fields: &mut Fields<'_>, every: u64) -> Option<Recompute> {
    let path = "activation_checkpoint.selective_ac_option";
    if every == 1 {
        return Some(Recompute::Full { layers: None });
    }
    let Some(layers) = models::layers(fields) else {
        fields.remark(
            RemarkKind::Unresolved,
            path,
            format!(
                "one layer of {every} has full recompute, but the model is unknown: recompute stays unset"
            ),
        );
        return None;
    };
    let stages = fields.draft.spec().plan.pipeline_parallel.unwrap_or(1).max(1);
    let each = layers / stages / every;
    Some(if each == 0 { Recompute::None } else { Recompute::Full { layers: Some(each) } })
}

/// Total tokens, if steps and batch are both set.
fn tokens(fields: &mut Fields<'_>) {
    let Some(steps) = fields.count("training.steps") else { return };
    let plan = &fields.draft.spec().plan;
    let Some(sequence) = plan.sequence_length else { return };
    let per_step = match (plan.global_batch, plan.micro_batches, plan.micro_batch, plan.data_parallel) {
        (Some(batch), ..) => batch as f64,
        (None, Some(count), Some(micro), Some(data)) => count as f64 * micro as f64 * data as f64,
        _ => return,
    };
    let total = steps as f64 * per_step * sequence as f64;
    if total >= 1.0 {
        fields.set("training.tokens", &Amount(total), "training.steps");
    }
}
