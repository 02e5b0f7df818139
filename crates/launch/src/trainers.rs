//! Trainers on Hugging Face models: LLaMA-Factory, Axolotl, TRL, ms-swift, llm-foundry, LitGPT, OpenRLHF,
//! VeOmni and scripts of Transformers' Trainer.
//!
//! Responsible for: mapping their keys to common ones (model, batch, parallelism, adapter), and
//! distinguishing adapters, adapters on quantized weights and full fine-tuning. A DeepSpeed or accelerate
//! file that cannot be opened is listed, and can be passed separately.

mod adapters;
mod arctic;
mod attention;
mod automodel;
mod command;
mod common;
mod documented;
mod factory_v1;
mod foundry;
mod in_code;
mod keys;
mod launcher;
mod litgpt;
mod openrlhf;
mod parallel;
mod purpose;
mod related;
mod swift_log;
mod trainer_log;
mod veomni;
mod write;
mod xtuner;

pub use write::{AxolotlWriter, LlamaFactoryWriter};

#[cfg(test)]
mod tests;

pub(crate) use self::command::{assigned, is_override};
pub(crate) use self::in_code::is_program;
pub(crate) use self::litgpt::overridden;
pub(crate) use launcher::processes;

use self::common::{Dialect, is_trainer, named};
use crate::accelerate::{set_optimizer, software, unpadded};
use crate::document::{self, Data};
use crate::fields::Fields;
use crate::missing::missing;
use crate::narrow::pure;
use crate::shell::Word;
use crate::{Context, Evidence, Format, Launch, Reader, RemarkKind, Strength, features, samples, shell};
use railwright_spec::plan::{Optimizer, PrecisionPreset, Recompute};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;

/// Reads configurations of trainers on Hugging Face models.
#[derive(Clone, Copy, Debug)]
pub struct TrainersReader;

/// Trainer of a text, with the evidence.
fn dialect(text: &str) -> Option<(Dialect, String)> {
    command::find(text).or_else(|| configuration(text))
}

/// Trainer configured by a text that is not a command, with the evidence.
fn configuration(text: &str) -> Option<(Dialect, String)> {
    // A script may write a configuration, and is none.
    let (text, _) = shell::documents(text);
    let text = foundry::settings(&text);
    let has =
        |key: &str| text.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')));
    let all = |keys: &[&str]| keys.iter().all(|key| has(key));
    if has("distributed_type") || has("compute_environment") {
        // accelerate's own file, which may contain arguments of the trainer.
        return None;
    }
    let any = |keys: &[&'static str]| keys.iter().copied().find(|key| has(key));
    if all(&["base_model", "micro_batch_size"]) && any(&["sequence_len", "datasets", "adapter"]).is_some() {
        return Some((Dialect::Axolotl, "YAML with the keys `base_model` and `micro_batch_size`".to_owned()));
    }
    if let Some(key) = any(&["finetuning_type", "cutoff_len", "stage", "template"])
        && has("model_name_or_path")
    {
        let why = format!("YAML with the keys `model_name_or_path` and `{key}`");
        return Some((Dialect::LlamaFactory, why));
    }
    let foundry = ["device_train_microbatch_size", "global_train_batch_size"];
    if all(&["model", "max_seq_len"])
        && let Some(key) = any(&foundry)
    {
        return Some((Dialect::Foundry, format!("YAML with the keys `max_seq_len` and `{key}`")));
    }
    if all(&["out_dir", "precision", "train"])
        && let Some(key) = any(&["checkpoint_dir", "model_name"])
    {
        return Some((Dialect::LitGpt, format!("YAML with the keys `out_dir`, `train` and `{key}`")));
    }
    if has("model")
        && (has("tuner_type") || has("train_type") || has("sft_type"))
        && let Some(key) = any(&["dataset", "per_device_train_batch_size", "learning_rate"])
    {
        return Some((Dialect::Swift, format!("YAML with the keys `model`, a method of tuning and `{key}`")));
    }
    let trainer = [
        "per_device_train_batch_size",
        "gradient_accumulation_steps",
        "dataset_name",
        "num_train_epochs",
        "num_generations",
        "max_completion_length",
        "save_strategy",
    ];
    if has("model_name_or_path")
        && let Some(key) = any(&trainer)
    {
        return Some((Dialect::Trl, format!("YAML with the keys `model_name_or_path` and `{key}`")));
    }
    None
}

/// The writer of a text's trainer; `None` for trainers without a writer.
pub(crate) fn writer_of(text: &str) -> Option<&'static dyn crate::Writer> {
    match dialect(text)?.0 {
        Dialect::LlamaFactory => Some(&LlamaFactoryWriter),
        Dialect::Axolotl => Some(&AxolotlWriter),
        Dialect::Trl
        | Dialect::Swift
        | Dialect::Foundry
        | Dialect::OpenRlhf
        | Dialect::LitGpt
        | Dialect::Transformers => None,
    }
}

impl Reader for TrainersReader {
    fn format(&self) -> Format {
        Format::HfTrainer
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        if automodel::is_one(text) {
            return Some(Evidence::new(Strength::Certain, format!("NeMo Automodel: {}", automodel::WHY)));
        }
        if xtuner::is_one(text) {
            return Some(Evidence::new(Strength::Certain, format!("xtuner: {}", xtuner::WHY)));
        }
        if veomni::is_one(text) {
            return Some(Evidence::new(Strength::Certain, format!("VeOmni: {}", veomni::WHY)));
        }
        if arctic::is_one(text) {
            return Some(Evidence::new(Strength::Certain, format!("ArcticTraining: {}", arctic::WHY)));
        }
        if factory_v1::is_one(text) {
            return Some(Evidence::new(Strength::Certain, format!("LLaMA-Factory v1: {}", factory_v1::WHY)));
        }
        if swift_log::is_one(text) {
            return Some(Evidence::new(Strength::Certain, "ms-swift: a log with its arguments"));
        }
        if trainer_log::is_one(text) {
            let name = trainer_log::dialect(text).name();
            return Some(Evidence::new(
                Strength::Certain,
                format!("{name}: a log with parts of its settings"),
            ));
        }
        if in_code::find(text).is_none() && documented::is_one(text) {
            let why = "Python with the command of its training in its documentation";
            return Some(Evidence::new(Strength::Certain, why));
        }
        let found = dialect(text).or_else(|| {
            in_code::find(text).map(|(dialect, class)| (dialect, format!("Python that calls `{class}`")))
        });
        found.map(|(dialect, why)| Evidence::new(Strength::Certain, format!("{}: {why}", dialect.name())))
    }

    fn read_with(&self, text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        read_started(text, file, context, (&[], &[]))
    }
}

/// Reads a configuration with the sharding and the precision that the words of its launcher set, and LitGPT's
/// with its arguments.
pub(crate) fn read_started(
    text: &str,
    file: &str,
    context: &Context<'_>,
    (launcher, arguments): (&[Word], &[Word]),
) -> Result<Launch, Vec<Problem>> {
    if automodel::is_one(text) {
        return automodel::read(text, file);
    }
    if veomni::is_one(text) {
        return veomni::read(text, file);
    }
    if arctic::is_one(text) {
        return arctic::read(text, file);
    }
    if factory_v1::is_one(text) {
        return factory_v1::read(text, file, context);
    }
    if xtuner::is_one(text) {
        return xtuner::read(text, file, context);
    }
    if in_code::find(text).is_none() && documented::is_one(text) {
        let command = documented::command(text, file).map_err(|problem| vec![problem])?;
        return match command::find(&command) {
            Some((dialect, _)) => {
                let keys =
                    command::parse(dialect, &command, file, context).map_err(|problem| vec![problem])?;
                filled(dialect, keys, &command, file, context)
            }
            None => Err(vec![Problem::new("the command starts no known trainer").in_file(file)]),
        };
    }
    let (dialect, read) = if swift_log::is_one(text) {
        (Dialect::Swift, swift_log::parse(text, file))
    } else if trainer_log::is_one(text) {
        (trainer_log::dialect(text), Ok(trainer_log::parse(text)))
    } else if let Some((dialect, _)) = command::find(text) {
        (dialect, command::parse(dialect, text, file, context))
    } else if let Some((dialect, _)) = configuration(text) {
        let keys = |document| command::Keys { document: foundry::unwrapped(document), ..Default::default() };
        (dialect, document::yaml(text, file).map(keys))
    } else if let Some((dialect, class)) = in_code::find(text) {
        (dialect, in_code::parse(class, text, file, &crate::python::given(arguments)))
    } else {
        return Err(vec![Problem::new("not a configuration of a known trainer").in_file(file)]);
    };
    let mut keys = read.map_err(|problem| vec![problem])?;
    launcher::settings(launcher, &mut keys.document);
    command::override_with(dialect, (launcher, arguments), &mut keys.document);
    filled(dialect, keys, text, file, context)
}

/// Tests whether words start a trainer with its flags.
pub(crate) fn starts(words: &[Word]) -> bool {
    command::is_start(words)
}

/// Reads a script that starts a trainer with flags of the files that it reads; `None` if it starts no known
/// one.
pub(crate) fn read_script(
    script: &shell::Script,
    text: &str,
    file: &str,
    context: &Context<'_>,
) -> Option<Result<Launch, Vec<Problem>>> {
    let dialect = command::dialect(script)?;
    let keys = command::parse(dialect, text, file, context).map_err(|problem| vec![problem]);
    Some(keys.and_then(|keys| filled(dialect, keys, text, file, context)))
}

fn filled(
    dialect: Dialect,
    keys: command::Keys,
    text: &str,
    file: &str,
    context: &Context<'_>,
) -> Result<Launch, Vec<Problem>> {
    let command::Keys { mut document, unknown, sources } = keys;
    // An empty key of YAML is as good as absent, also as a section.
    document.entries.retain(|entry| entry.data != Data::Null);
    let model = related::model(&document, file, context);
    related::open(&mut document, file, context);
    let open = document::interpolate(&mut document);
    let mut fields = Fields::new(Format::HfTrainer, file, text, document);
    fields.draft.lines_of(sources);
    for (path, value, spot, why) in open.into_iter().filter(|(path, ..)| keys::is_known(path)) {
        let message = format!("cannot be resolved, so it stays unset: {why}");
        fields.draft.remark(RemarkKind::Unresolved, &format!("{path}: {value}"), spot.line(), message);
    }
    for (word, line, why) in unknown {
        fields.draft.remark(RemarkKind::Unresolved, &word, Some(line), why);
    }
    if let Some((path, config)) = model {
        let (source, line) = fields.source(path);
        fields.take(path);
        fields.draft.model_config(config, &source, line);
    }
    fields.document.rename(keys::renamed(dialect));
    fill(&mut fields, dialect);
    if trainer_log::is_one(text) {
        trainer_log::finish(&mut fields);
    }
    missing(&mut fields, dialect.name());
    fields.rest(keys::KNOWN);
    fields.finish()
}

fn fill(fields: &mut Fields<'_>, dialect: Dialect) {
    let is_log = fields.document.has(trainer_log::TOTAL) || fields.document.has("num_processes");
    if dialect == Dialect::LlamaFactory && !is_log && fields.flag("do_train") != Some(true) {
        let other = ["do_predict", "do_eval"].into_iter().find(|path| fields.flag(path) == Some(true));
        if let Some(path) = other {
            let problem = Problem::new("this run only evaluates: `do_train` is not set");
            return fields.problem(problem.hint("pass the training configuration"), path);
        }
        // Without data there is no training: a configuration of `llamafactory-cli chat`, `api` or `export`.
        let data =
            ["stage", "dataset", "cutoff_len", "per_device_train_batch_size", "learning_rate", "output_dir"];
        if !data.iter().any(|path| fields.document.has(path)) {
            let problem =
                Problem::new("this file does not start training: neither `do_train` nor a data set is set");
            let hint = "pass the training configuration";
            return fields.problem(problem.hint(hint), "model_name_or_path");
        }
    }
    if let Some(id) = dialect.front_end(fields.document.has("use_distributed_optimizer")) {
        fields.draft.front_end(id);
    }
    launcher::devices(fields);
    fields.copy(keys::KNOWN);
    model(fields, dialect);
    batch(fields, dialect);
    adapters::read(fields, dialect);
    optimizer(fields, dialect);
    recompute(fields, dialect);
    parallel::read(fields, dialect);
    if dialect == Dialect::Transformers {
        parallel::of_own_loop(fields);
    }
    fields.undivided(dialect.name());
    precision(fields, dialect);
    packing(fields, dialect);
    if dialect == Dialect::Transformers {
        purpose::program(fields);
    }
    for path in ["vision_tower", "image_tower", "video_tower"] {
        if fields.take(path).is_some() {
            fields.remark(RemarkKind::NotModelled, path, crate::lost::TOWER_IS_LEFT_OUT);
        }
    }
    let path = "grad_cache";
    if fields.flag(path) == Some(true) {
        // Gao 2021 (GradCache): representations of the whole batch first, then gradients in chunks of it.
        let message =
            "the second forward pass is not modelled, nor are chunks of the batch: memory is an upper bound";
        fields.remark(RemarkKind::NotModelled, path, message);
    }
    for path in ["stage", "rl", "rlhf_type"] {
        let Some(stage) = fields.word(path) else { continue };
        if !matches!(stage.as_str(), "sft" | "pt") {
            let message =
                "estimated as plain training: reference models, pairs and generation are not modelled";
            fields.remark(RemarkKind::NotModelled, path, message);
        }
    }
    if dialect == Dialect::OpenRlhf {
        openrlhf::remarks(fields);
    } else {
        purpose::rewards(fields, dialect);
    }
    if fields.draft.spec().plan.sequence_length.is_none()
        && !fields.is_auto("max_length")
        && dialect != Dialect::Foundry
    {
        samples::unknown(&mut fields.draft);
    }
    unpadded(fields);
}

fn model(fields: &mut Fields<'_>, dialect: Dialect) {
    if dialect == Dialect::Foundry {
        return foundry::model(fields);
    }
    if dialect == Dialect::LitGpt && litgpt::has_own_model(fields) {
        return;
    }
    let path = "model_name_or_path";
    let Some(name) = fields.word(path) else { return };
    if fields.draft.config_text().is_none() {
        named(fields, path, &name);
    }
}

fn batch(fields: &mut Fields<'_>, dialect: Dialect) {
    if fields.is_auto("per_device_train_batch_size") || fields.is_auto("gradient_accumulation_steps") {
        return;
    }
    match dialect {
        Dialect::Foundry => foundry::batch(fields),
        Dialect::OpenRlhf => openrlhf::batch(fields),
        Dialect::LitGpt => {}
        // A custom training loop has other defaults.
        Dialect::Transformers if !is_trainer(fields) => {}
        Dialect::LlamaFactory | Dialect::Trl | Dialect::Transformers => {
            if common::has_own_batch(fields, keys::is_known) {
                return;
            }
            fields.default(
                "plan.micro_batches",
                &1_u64,
                "Hugging Face's trainer has 1 accumulation step by default",
            );
            fields.default("plan.micro_batch", &8_u64, "Hugging Face's trainer uses 8 samples by default");
        }
        Dialect::Axolotl => {
            // The older key: samples of a device in a step.
            let path = "batch_size";
            if let (Some(samples), Some(micro)) = (fields.count(path), fields.draft.spec().plan.micro_batch)
                && fields.draft.spec().plan.micro_batches.is_none()
            {
                fields.set("plan.micro_batches", &(samples / micro.max(1)).max(1), path);
            }
            fields.default("plan.micro_batches", &1_u64, "Axolotl has 1 accumulation step by default");
        }
        Dialect::Swift => {
            fields.default("plan.micro_batch", &1_u64, "ms-swift uses 1 sample by default");
            swift_accumulation(fields);
        }
    }
}

/// Accumulation without its key: `max(1, ceil(16 / samples of a rank / ranks))`, and 1 for GRPO (ms-swift,
/// `trainers/arguments.py` and `arguments/rlhf_args.py`, November 2026).
fn swift_accumulation(fields: &mut Fields<'_>) {
    let (plan, ranks) = (&fields.draft.spec().plan, fields.draft.spec().cluster.devices);
    if plan.micro_batches.is_some() || plan.global_batch.is_some() {
        return;
    }
    let samples = plan.micro_batch.unwrap_or(1);
    let is_grpo = fields.word("rlhf_type").as_deref() == Some("grpo");
    let each = ranks.map(|ranks| samples.saturating_mul(ranks)).filter(|&each| each > 0);
    match each {
        _ if is_grpo => fields.default("plan.micro_batches", &1_u64, "ms-swift accumulates nothing for GRPO"),
        Some(each) => {
            let why = "ms-swift accumulates 16 samples over all ranks by default";
            fields.default("plan.micro_batches", &16_u64.div_ceil(each), why);
        }
        None => {
            let message = "not set: ms-swift accumulates up to 16 samples over all ranks";
            fields.draft.remark(RemarkKind::Unresolved, "gradient_accumulation_steps", None, message);
        }
    }
}

fn optimizer(fields: &mut Fields<'_>, dialect: Dialect) {
    // LLaMA-Factory's switch: Muon on matrices, AdamW on the rest.
    let path = "use_muon";
    if fields.flag(path) == Some(true) && fields.draft.spec().plan.optimizer.is_none() {
        fields.set("plan.optimizer", &Optimizer::Muon, path);
        fields.take("optim");
        return;
    }
    let path = "optim";
    let Some(name) = fields.word(path).map(|name| name.to_ascii_lowercase()) else { return };
    let is_lora = fields.draft.spec().plan.optimizer == Some(Optimizer::Lora);
    set_optimizer(fields, path, &name);
    if !is_lora && (name.contains("8bit") || name.contains("paged") || name.contains("4bit")) {
        fields.remark(
            RemarkKind::NotModelled,
            path,
            "moments are estimated in 32 bits on the device, an upper bound",
        );
    }
    if !is_lora && dialect == Dialect::Axolotl {
        let message = "Axolotl loads weights in the compute format: 32-bit copies are estimated, an upper \
            bound on memory";
        fields.draft.remark(RemarkKind::Assumed, "optimizer", None, message);
    }
}

fn recompute(fields: &mut Fields<'_>, dialect: Dialect) {
    let path = "gradient_checkpointing";
    if let Some(data) = fields.document.get(path).map(|entry| entry.data.clone())
        && matches!(data, Data::Text(_))
        && !fields.is_auto(path)
    {
        // Axolotl: `offload`, `unsloth`.
        let word = fields.word(path).unwrap_or_default();
        if !matches!(word.to_ascii_lowercase().as_str(), "true" | "false") {
            fields.set("plan.recompute", &Recompute::Full { layers: None }, path);
            let message = "kept inputs of layers are estimated on the device";
            return fields.remark(RemarkKind::NotModelled, path, message);
        }
    }
    match fields.flag(path) {
        Some(true) => return fields.set("plan.recompute", &Recompute::Full { layers: None }, path),
        Some(false) if dialect != Dialect::LlamaFactory => {
            return fields.set("plan.recompute", &Recompute::None, path);
        }
        _ => {}
    }
    if fields.is_auto(path) {
        return;
    }
    let off = "disable_gradient_checkpointing";
    let full = Recompute::Full { layers: None };
    match (dialect, fields.flag(off)) {
        (Dialect::LlamaFactory, Some(true)) => fields.set("plan.recompute", &Recompute::None, off),
        (Dialect::LlamaFactory, _) => {
            fields.default("plan.recompute", &full, "LLaMA-Factory checkpoints every layer by default");
        }
        // open-instruct has the same names, and no checkpointing by default.
        (Dialect::Trl, _)
            if ["with_tracking", "checkpointing_steps", "use_slow_tokenizer"]
                .iter()
                .any(|key| fields.document.has(key)) => {}
        (Dialect::Trl, _) => {
            fields.default("plan.recompute", &full, "TRL checkpoints every layer by default");
        }
        (Dialect::Transformers, _) if is_trainer(fields) => {
            let why = "Transformers' Trainer does not checkpoint by default";
            fields.default("plan.recompute", &Recompute::None, why);
        }
        (Dialect::OpenRlhf, _) => {
            fields.default("plan.recompute", &Recompute::None, "OpenRLHF does not checkpoint by default");
        }
        (Dialect::Swift, _) => {
            fields.default("plan.recompute", &full, "ms-swift checkpoints every layer by default");
        }
        (Dialect::Axolotl, _) if !fields.document.has("fsdp_config.fsdp_activation_checkpointing") => {
            fields.default("plan.recompute", &Recompute::None, "Axolotl does not checkpoint by default");
        }
        _ => {}
    }
}

fn precision(fields: &mut Fields<'_>, dialect: Dialect) {
    let is_on = |fields: &mut Fields<'_>, path: &str| {
        let word = fields.word(path).map(|word| word.to_ascii_lowercase());
        // `bf16: auto` and `full` are on if the device supports them, as all current ones do.
        word.is_some_and(|word| matches!(word.as_str(), "true" | "full" | "yes")) || fields.is_auto(path)
    };
    // LLaMA-Factory's `pure_bf16` keeps 16-bit states, also with `bf16` of the trainer's own arguments.
    for (path, preset) in [
        ("pure_bf16", PrecisionPreset::Bf16),
        ("bf16", PrecisionPreset::Bf16),
        ("bfloat16", PrecisionPreset::Bf16),
        ("fp16", PrecisionPreset::Fp16),
        ("float16", PrecisionPreset::Fp16),
    ] {
        if is_on(fields, path) && fields.draft.value("plan.precision.preset").is_none() {
            fields.set("plan.precision.preset", &preset, path);
            if path == "pure_bf16" {
                pure(fields, path, DataType::Bf16, DataType::Bf16);
            }
        }
    }
    if is_on(fields, "fp8") {
        fields.set("plan.precision.preset", &PrecisionPreset::Fp8, "fp8");
    }
    for path in ["torch_dtype", "dtype", "precision"] {
        let Some(word) = fields.word(path).map(|word| word.to_ascii_lowercase()) else { continue };
        let preset = match word.as_str() {
            w if w.contains("fp8") => PrecisionPreset::Fp8,
            w if w.contains("bf16") || w.contains("bfloat16") => PrecisionPreset::Bf16,
            w if w.contains("fp16") || w.contains("float16") => PrecisionPreset::Fp16,
            "fp32" | "float32" => PrecisionPreset::Fp32,
            _ => continue,
        };
        if fields.draft.value("plan.precision.preset").is_none() {
            fields.set("plan.precision.preset", &preset, path);
        }
    }
    let path = "mixed_precision";
    if let Some(word) = fields.word(path).map(|word| word.to_ascii_lowercase())
        && fields.draft.value("plan.precision.preset").is_none()
    {
        match word.as_str() {
            "bf16" => fields.set("plan.precision.preset", &PrecisionPreset::Bf16, path),
            "fp16" => fields.set("plan.precision.preset", &PrecisionPreset::Fp16, path),
            "fp8" => fields.set("plan.precision.preset", &PrecisionPreset::Fp8, path),
            "no" | "false" => fields.set("plan.precision.preset", &PrecisionPreset::Fp32, path),
            _ => fields.remark(RemarkKind::Unresolved, path, "unknown format, so it stays unset"),
        }
    }
    purpose::precision(fields);
    // accelerate's own file may set the format.
    let is_computed = fields
        .document
        .get(in_code::COMPUTED.0)
        .is_some_and(|entry| entry.data == Data::Text(in_code::COMPUTED.1.to_owned()));
    let is_given = is_computed || fields.document.has("accelerate");
    if dialect == Dialect::Transformers && is_trainer(fields) && !is_given {
        let why = "Transformers' Trainer computes in fp32 by default";
        fields.default("plan.precision.preset", &PrecisionPreset::Fp32, why);
    }
    if matches!(dialect, Dialect::Trl | Dialect::Swift | Dialect::OpenRlhf) && !is_computed {
        let why = "computes in bfloat16 by default";
        fields.default("plan.precision.preset", &PrecisionPreset::Bf16, &format!("{} {why}", dialect.name()));
    }
    if fields.draft.value("plan.software").is_none() {
        software(fields, "transformers-2026", "Hugging Face's models, eager");
    }
    attention::read(fields, dialect);
    features::switches(fields);
    features::trainers(fields);
}

fn packing(fields: &mut Fields<'_>, dialect: Dialect) {
    let mut packs = dialect == Dialect::Foundry;
    for path in ["packing", "sample_packing", "neat_packing", "use_packed_ds"] {
        packs |= fields.flag(path) == Some(true);
    }
    // open-instruct packs prompts with their responses.
    packs |= fields.document.get("max_length").is_some_and(|entry| entry.name == "pack_length");
    packs |= fields.count("pack_len").is_some_and(|length| length > 0);
    if !packs && fields.draft.spec().plan.sequence_length.is_some() {
        samples::unpacked(&mut fields.draft);
    }
}
