//! OLMo-core's configurations in Python: training modules of transformers on PyTorch's FSDP 2.
//!
//! Responsible for: the two forms of its scripts (one function that returns an experiment, and one builder
//! per section), batches that count tokens, and the division of replicas. Every setting that depends on the
//! number of ranks or on arguments of the script is open.

mod model;
mod parallel;
mod parts;
mod values;

#[cfg(test)]
mod tests;

use self::values::{last, name, whole};
use crate::document::Data;
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::{Context, Evidence, Format, Launch, Reader, RemarkKind, Strength, python};
use railwright_spec::plan::{Master, Optimizer, PrecisionPreset, Recompute, RecomputeModule};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;
use std::collections::BTreeSet;

/// Reads OLMo-core's configurations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OlmoReader;

impl Reader for OlmoReader {
    fn format(&self) -> Format {
        Format::OlmoCore
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        // Code of the library itself defines the class.
        let configures =
            text.contains("TransformerTrainModuleConfig(") && !text.contains("class TransformerTrainModule");
        (configures && python::imports(text, "olmo_core")).then(|| {
            let why = "Python that imports `olmo_core` and configures a training module";
            Evidence::new(Strength::Certain, why)
        })
    }

    fn read_with(&self, text: &str, file: &str, _: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        let parts = parts::of(text, file).map_err(|problem| vec![problem])?;
        let mut fields = Fields::new(Format::OlmoCore, file, text, parts.document);
        for (path, line, why) in &parts.open {
            let Some((section, key)) = OPEN.iter().find(|(section, _)| parts::is_of(path, section)) else {
                continue;
            };
            // Of an optimizer, its class alone matters.
            if *section == OPTIMIZER && path != section {
                continue;
            }
            let message = format!("{why}, so it stays unset");
            fields.draft.remark(RemarkKind::Unresolved, path, Some(*line), message);
            fields.draft.leave_open(key, path, Some(*line), why.clone());
        }
        for (source, message) in &parts.assumed {
            fields.draft.remark(RemarkKind::Assumed, source, None, message.clone());
        }
        model::read(&mut fields);
        batch(&mut fields);
        parallel::devices(&mut fields);
        parallel::read(&mut fields);
        recompute(&mut fields);
        precision(&mut fields);
        optimizer(&mut fields);
        software(&mut fields);
        missing(&mut fields, "OLMo-core");
        fields.rest(KNOWN);
        fields.finish()
    }
}

/// The section of the optimizer.
const OPTIMIZER: &str = "train_module.optim";

/// Sections and keys with computed values, and the setting that they leave open. The most special come first.
const OPEN: &[(&str, &str)] = &[
    ("model", "model.name"),
    ("data_loader.global_batch_size", "plan.global_batch"),
    ("train_module.rank_microbatch_size", "plan.micro_batch"),
    ("train_module.max_sequence_length", "plan.sequence_length"),
    ("train_module.dp_config.param_dtype", "plan.precision.preset"),
    ("train_module.dp_config.reduce_dtype", "plan.precision.gradient_reduce"),
    ("train_module.dp_config", "plan.sharding"),
    ("train_module.tp_config", "plan.tensor_parallel"),
    ("train_module.cp_config", "plan.context_parallel"),
    ("train_module.pp_config", "plan.pipeline_parallel"),
    ("train_module.ep_config", "plan.expert_parallel"),
    ("train_module.ac_config", "plan.recompute"),
    ("train_module.float8_config", "plan.precision.preset"),
    ("train_module.autocast_precision", "plan.precision.preset"),
    (OPTIMIZER, "plan.optimizer"),
    ("train_module.compile_model", "plan.software"),
];

/// Keys without effect on a step; those that are read are taken before.
const KNOWN: &[Known] = &[
    ("_target_", Meaning::Ignored),
    ("init_seed", Meaning::Ignored),
    ("load_path", Meaning::Ignored),
    ("dataset.*", Meaning::Ignored),
    ("data_loader.*", Meaning::Ignored),
    ("trainer.*", Meaning::Ignored),
    ("launch.*", Meaning::Ignored),
    ("run_name", Meaning::Ignored),
    ("model.*", Meaning::Ignored),
    ("train_module._target_", Meaning::Ignored),
    ("train_module.optim.*", Meaning::Ignored),
    ("train_module.scheduler.*", Meaning::Ignored),
    ("train_module.float8_config.*", Meaning::Ignored),
    ("train_module.ac_config.*", Meaning::Ignored),
    ("train_module.dp_config.*", Meaning::Ignored),
    ("train_module.cp_config.*", Meaning::Ignored),
    ("train_module.tp_config.*", Meaning::Ignored),
    ("train_module.pp_config.*", Meaning::Ignored),
    ("train_module.ep_config.*", Meaning::Ignored),
    ("train_module.z_loss_multiplier", Meaning::Ignored),
    ("train_module.max_grad_norm", Meaning::Ignored),
    ("train_module.label_ignore_index", Meaning::Ignored),
    ("train_module.state_dict_save_opts.*", Meaning::Ignored),
    ("train_module.state_dict_load_opts.*", Meaning::Ignored),
    ("train_module.load_key_mapping", Meaning::Ignored),
];

/// Batches count tokens: of all ranks for an update, of a rank and its group for a micro-batch.
fn batch(fields: &mut Fields<'_>) {
    let lengths = ["train_module.max_sequence_length", "dataset.sequence_length"];
    let found = lengths.iter().find_map(|path| Some((*path, fields.count(path)?)));
    if let Some((path, length)) = found.filter(|_| !fields.draft.is_open("plan.sequence_length")) {
        fields.set("plan.sequence_length", &length, path);
    }
    let length = fields.draft.spec().plan.sequence_length.filter(|&length| length > 0);
    for (path, key) in [
        ("data_loader.global_batch_size", "plan.global_batch"),
        ("train_module.rank_microbatch_size", "plan.micro_batch"),
    ] {
        let Some(tokens) = fields.count(path) else { continue };
        match length {
            Some(length) if tokens >= length && tokens.is_multiple_of(length) => {
                fields.set(key, &(tokens / length), path);
            }
            _ => {
                let why = "counts tokens, but is not a multiple of a known sequence length";
                let (source, line) = fields.source(path);
                fields.draft.leave_open(key, &source, line, why);
                fields.remark(RemarkKind::Unresolved, path, format!("{why}, so it stays unset"));
            }
        }
    }
}

fn recompute(fields: &mut Fields<'_>) {
    let section = "train_module.ac_config";
    if fields.draft.is_open("plan.recompute") {
        return;
    }
    let target = format!("{section}._target_");
    if fields.take(&target).is_none() {
        let _ = fields.take(section);
        let why = "OLMo-core keeps all activations without `ac_config`";
        return fields.default("plan.recompute", &Recompute::None, why);
    }
    let (mode, modules) = (format!("{section}.mode"), format!("{section}.modules"));
    let positional = format!("{section}._args_");
    let path = if fields.document.has(&mode) { mode } else { positional };
    let named = fields.take(&path).and_then(|entry| match &entry.data {
        Data::List(items) => items.first().and_then(|item| whole(&item.data)).map(str::to_owned),
        data => whole(data).map(str::to_owned),
    });
    let names = fields.document.has(&modules).then(|| fields.words(&modules)).flatten().unwrap_or_default();
    let is_mlp = !names.is_empty() && names.iter().all(|name| name == "blocks.*.feed_forward");
    match named.as_deref().map(last) {
        Some("full") => fields.set("plan.recompute", &Recompute::Full { layers: None }, &path),
        Some("selected_modules") if is_mlp => {
            let modules = BTreeSet::from([RecomputeModule::Mlp]);
            fields.set("plan.recompute", &Recompute::Selective { modules, layers: None }, &path);
        }
        _ => {
            let why = "its blocks, modules or operators have no equivalent";
            fields.draft.leave_open("plan.recompute", &path, fields.source(&path).1, why);
            fields.remark(RemarkKind::Unresolved, &path, format!("{why}, so recompute stays unset"));
        }
    }
}

/// Parameters are kept in 32 bits and cast by FSDP or by autocast.
fn precision(fields: &mut Fields<'_>) {
    if fields.draft.is_open("plan.precision.preset") {
        return;
    }
    let paths = ["train_module.dp_config.param_dtype", "train_module.autocast_precision"];
    let cast = paths.iter().find_map(|path| Some((*path, name(fields, path)?)));
    let format = cast.as_ref().map_or(Some(DataType::Fp32), |(_, name)| DataType::from_name(name));
    let enabled = "train_module.float8_config.enabled";
    let has_float8 = fields.document.has("train_module.float8_config._target_");
    // The class is on unless it is switched off.
    let is_float8 = has_float8 && (!fields.document.has(enabled) || fields.flag(enabled) == Some(true));
    let path = cast.as_ref().map_or("train_module", |(path, _)| path);
    match format {
        Some(DataType::Bf16) if is_float8 => {
            fields.set("plan.precision.preset", &PrecisionPreset::Fp8, "train_module.float8_config._target_");
        }
        Some(DataType::Bf16) => fields.set("plan.precision.preset", &PrecisionPreset::Bf16, path),
        Some(DataType::Fp32) if !is_float8 && cast.is_some() => {
            fields.set("plan.precision.preset", &PrecisionPreset::Fp32, path);
        }
        Some(DataType::Fp32) if !is_float8 => {
            let why = "OLMo-core computes in 32 bits without `param_dtype` and `autocast_precision`";
            fields.default("plan.precision.preset", &PrecisionPreset::Fp32, why);
        }
        _ => {
            let why = "the formats of parameters and GEMMs have no equivalent";
            fields.draft.leave_open("plan.precision.preset", path, fields.source(path).1, why);
            fields.remark(RemarkKind::Unresolved, path, format!("{why}, so the precision stays unset"));
            return;
        }
    }
    let path = "train_module.dp_config.reduce_dtype";
    match name(fields, path).and_then(|name| DataType::from_name(&name)) {
        Some(reduce) => fields.set("plan.precision.gradient_reduce", &reduce, path),
        None if !fields.draft.is_open("plan.precision.gradient_reduce") => {
            let why = "OLMo-core reduces gradients in 32 bits";
            fields.default("plan.precision.gradient_reduce", &DataType::Fp32, why);
        }
        None => {}
    }
    if fields.draft.spec().plan.precision != Some(PrecisionPreset::Fp32) {
        let why = "OLMo-core keeps parameters in 32 bits";
        fields.default("plan.precision.master", &Master(Some(DataType::Fp32)), why);
    }
}

fn optimizer(fields: &mut Fields<'_>) {
    let path = OPTIMIZER;
    let Some(class) = name(fields, path) else { return };
    let lower = class.to_ascii_lowercase();
    let found = [("adam", Optimizer::Adam), ("lion", Optimizer::Lion), ("muon", Optimizer::Muon)]
        .into_iter()
        .find(|(word, _)| lower.contains(word));
    let target = format!("{path}._target_");
    let Some((_, optimizer)) = found else {
        let why = "this optimizer has no equivalent";
        fields.draft.leave_open("plan.optimizer", &class, fields.source(&target).1, why);
        return fields.remark(RemarkKind::Unresolved, &target, format!("{why}, so it stays unset"));
    };
    fields.set("plan.optimizer", &optimizer, &target);
}

/// FSDP 2 with or without `torch.compile`: torchtitan's generations are the nearest that are measured.
fn software(fields: &mut Fields<'_>) {
    let path = "train_module.compile_model";
    if fields.draft.is_open("plan.software") {
        return;
    }
    let (id, why) = match fields.flag(path) {
        Some(true) => ("torchtitan-2024-compile", "FSDP 2 with compiled blocks"),
        _ => ("torchtitan-2024-eager", "FSDP 2, eager"),
    };
    fields.default("plan.software", &id.to_owned(), why);
    let message = format!("inferred: `{id}`, {why}: no generation of OLMo-core is measured");
    fields.draft.remark(RemarkKind::Assumed, "plan.software", None, message);
}
