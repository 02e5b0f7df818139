//! Megatron-Bridge's and NeMo's YAML, and overrides of either.
//!
//! Responsible for: translation of both vocabularies to Megatron-LM's, which [`crate::megatron`] reads, and
//! references inside a file. Does not follow references out of it. Sets no defaults for a file that only
//! overrides another one.

mod formats;
mod helpers;
mod launcher;
mod limits;
mod names;
mod offload;
mod performance;
mod recipe;
mod script;
mod started;
mod tuning;
mod world;
mod write;

pub use write::BridgeWriter;

#[cfg(test)]
mod tests;

use crate::document::{self, Data, Document, Entry};
use crate::megatron::arguments::{Argument, Arguments};
use crate::megatron::world::World;
use crate::megatron::{flags, meaning};
use crate::{
    Context, Draft, Evidence, Format, Launch, Reader, RemarkKind, Strength, annotation, effects, tokenizers,
};
use names::Name;
use railwright_spec::human::shorten;
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;
pub(crate) use script::hydra;
use std::collections::BTreeSet;

/// Reads Megatron-Bridge's YAML.
#[derive(Clone, Copy, Debug)]
pub struct BridgeReader;

/// Reads NeMo's YAML.
#[derive(Clone, Copy, Debug)]
pub struct NemoReader;

impl Reader for BridgeReader {
    fn format(&self) -> Format {
        Format::MegatronBridge
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        if recipe::format_of(text) == Some(Format::MegatronBridge) {
            return Some(Evidence::new(Strength::Certain, "Python that imports `megatron.bridge`"));
        }
        if crate::megatron::stranger::starts_recipe(text) {
            return Some(Evidence::new(Strength::Certain, "a performance script with the name of a recipe"));
        }
        if crate::foreign::owner(text).is_some() {
            return None;
        }
        let has = |key: &str| has_section(text, key);
        let beside = ["ddp:", "dist:", "checkpoint:", "scheduler:", "mixed_precision:", "comm_overlap:"];
        if has("model:")
            && has("train:")
            && (beside.iter().any(|key| has(key)) || text.contains("_parallel_size"))
        {
            return Some(Evidence::new(Strength::Certain, "YAML with the keys `model` and `train`"));
        }
        let overrides = launcher::is_override(text, "model.")
            && (launcher::is_override(text, "train.") || launcher::is_override(text, "ddp."))
            && are_of_bridge(text);
        overrides.then(|| Evidence::new(Strength::Likely, "overrides of `model.` and `train.`"))
    }

    fn read_with(&self, text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        read(Format::MegatronBridge, text, file, context)
    }
}

impl Reader for NemoReader {
    fn format(&self) -> Format {
        Format::Nemo
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        if recipe::format_of(text) == Some(Format::Nemo) {
            return Some(Evidence::new(Strength::Certain, "Python that imports NeMo"));
        }
        if crate::foreign::owner(text).is_some() {
            return None;
        }
        // verl's trainers for supervised fine-tuning have overrides of the same sections.
        if text.contains("verl.trainer") || crate::rl::sft::is_configuration(text) {
            return None;
        }
        let has = |key: &str| has_section(text, key);
        let sizes = ["micro_batch_size", "encoder_seq_length", "tensor_model_parallel_size"];
        if has("trainer:") && has("model:") && sizes.iter().any(|size| text.contains(size)) {
            return Some(Evidence::new(Strength::Certain, "YAML with the keys `trainer` and `model`"));
        }
        if launcher::is_one(text) {
            return Some(Evidence::new(Strength::Likely, "overrides of a stage of NeMo's launcher"));
        }
        (launcher::is_override(text, "model.")
            && (launcher::is_override(text, "trainer.") || text.contains("_model_parallel_size=")))
        .then(|| Evidence::new(Strength::Likely, "overrides of `trainer.` and `model.`"))
    }

    fn read_with(&self, text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        read(Format::Nemo, text, file, context)
    }
}

/// Tests whether a section begins at a line: `key:` alone, or followed by its content in braces.
fn has_section(text: &str, key: &str) -> bool {
    text.lines().filter_map(|line| line.strip_prefix(key)).any(|rest| {
        let inside = rest.trim();
        inside.is_empty() || (rest.starts_with(char::is_whitespace) && inside.starts_with(['{', '#', '&']))
    })
}

/// Tests whether most overrides of the sections that other programs have as well are fields of
/// Megatron-Bridge.
fn are_of_bridge(text: &str) -> bool {
    let words = text.split_whitespace().map(|word| word.trim_start_matches(['+', '\'', '"']));
    let paths: Vec<&str> = words
        .filter_map(|word| word.split_once('=').map(|(path, _)| path))
        .filter(|path| ["model.", "train.", "ddp."].iter().any(|section| path.starts_with(section)))
        .collect();
    let known = paths.iter().filter(|path| names::of(Format::MegatronBridge, path).is_some()).count();
    known * 2 >= paths.len()
}

fn read(format: Format, text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
    let is_yaml = has_section(text, "model:") || text.trim_start().starts_with('{');
    let mut draft = Draft::new(format, file);
    let mut recipe = None;
    let mut started = None;
    let document = if recipe::format_of(text) == Some(format) {
        recipe::read(format, text, file, context).map(|found| recipe.insert(found).document.clone())
    } else if is_yaml {
        document::yaml(text, file)
    } else if let Some(found) = script::read(text, file, context, &mut draft) {
        let found = started.insert(found);
        match found.recipe.as_ref().and_then(|(name, _)| recipe::of_name(format, name, text, file, context)) {
            Some(of_name) => {
                let of_name = recipe.insert(of_name);
                of_name.override_with(&found.document);
                Ok(of_name.document.clone())
            }
            None => Ok(found.document.clone()),
        }
    } else if text.starts_with("#!") {
        // The assignments of a shell are not overrides.
        let problem =
            Problem::new("no command in this script starts a program with overrides that can be read");
        Err(problem.hint("pass the configuration, or the script with the overrides and its variables: `--launch-args \"VAR=value\"`").in_file(file.to_owned()))
    } else {
        document::overrides(text, file).map(|found| found.document)
    };
    let mut document = document.map_err(|problem| vec![problem])?;
    formats::number_formats(&mut document);
    let is_nemo_2 = recipe::is_nemo_2(&mut document);
    if recipe.is_some() || is_nemo_2 {
        recipe::sections(&mut document);
        recipe::by_names(&mut document);
    }
    if let Some(recipe) = &recipe {
        draft.lines_of(recipe.sources.clone());
    }
    if let Some(sources) = started.as_ref().and_then(|started| started.sources.clone()) {
        draft.lines_of(sources);
    }
    // What the recipe sets is overridden.
    let unset: Vec<(String, usize)> = started.iter().flat_map(|started| started.open.clone()).collect();
    for (word, line) in started.iter().flat_map(|started| &started.unknown) {
        draft.remark(RemarkKind::Unknown, word, Some(*line), "unknown, ignored");
    }
    for (word, line) in &unset {
        let message = "no value in this file, or only in one branch, so it stays unset";
        draft.remark(RemarkKind::Unresolved, word, Some(*line), message);
        document.entries.retain(|entry| entry.path != script::path_of(word));
    }
    let mut open = BTreeSet::new();
    for (path, value, spot, why) in document::interpolate(&mut document) {
        // Paths of data and of checkpoints are irrelevant.
        if names::of(format, &path).is_some_and(|name| !matches!(name, Name::Ignored)) {
            let message = format!("cannot be resolved, so it stays unset: {why}");
            draft.remark(RemarkKind::Unresolved, &format!("{path}: {value}"), spot.line(), message);
            open.insert(path);
        }
    }
    if let Some((entry, what)) =
        document.entries.iter().find_map(|entry| limits::unsupported(entry).map(|what| (entry, what)))
    {
        let problem =
            Problem::new(format!("`{} = {}`: {what} is not supported", entry.name, entry.data.shown()));
        draft.problem(
            problem.hint(
                "a causal language model is supported, as in `railwright estimate llama-3.1-8b --tp 8`",
            ),
        );
        return draft.finish();
    }
    // A file that leaves one of them to another file may also leave other settings to it.
    let sizes = ["model.num_layers", "model.hidden_size", "model.num_attention_heads"];
    let absent = sizes.into_iter().find(|path| document.get(path).is_none());
    // Overrides of a command change a configuration, which is whole only if its text was read.
    let has_configuration = started.as_ref().is_none_or(|started| started.sources.is_some());
    let is_whole = recipe.is_none() && absent.is_none() && has_configuration;
    let mut arguments = Arguments::default();
    let is_off = |entry: &Entry| offload::is_off(&document, entry);
    for entry in document.entries.iter().filter(|entry| !is_off(entry)) {
        take(format, entry, &mut arguments, &mut draft);
    }
    derived(&document, &mut arguments, &mut draft);
    let world = match &started {
        // Without a launcher of its own, a program starts the ranks of its trainer.
        Some(started) if started.world.ranks.is_none() && document.get("trainer.num_nodes").is_some() => {
            world::of(&document)
        }
        Some(started) => started.world.clone(),
        None if recipe.is_some() => world::of(&document),
        None => world::of_file(&document, &mut draft),
    };
    if is_whole {
        transfer(format, file, &arguments, &world, &mut draft, Some(&unwanted(format, &open, &arguments)));
        generation(format, &arguments, &mut draft);
        limits::conflicts(&mut draft);
    } else {
        // An override of another file sets its values, but no defaults.
        transfer(format, file, &arguments, &world, &mut draft, None);
        match &recipe {
            Some(recipe) => {
                recipe::model(&document, &recipe.name, &mut draft);
                recipe::remarks(format, recipe, &mut draft);
            }
            None if is_nemo_2 => recipe::model(&document, "", &mut draft),
            None => {
                // The recipe itself is in another file.
                if let Some((name, line)) = started.as_ref().and_then(|started| started.recipe.as_ref()) {
                    recipe::model(&document, name, &mut draft);
                    let model = &draft.spec().model;
                    if model.name.is_none() && model.layers.is_none() && !draft.is_open("model.name") {
                        let why = "the recipe is in another file, and no model of the catalogue has its name";
                        draft.leave_open("model.name", &format!("--recipe {name}"), Some(*line), why);
                    }
                }
            }
        }
        reduction(&document, &mut draft);
        offload::share(&arguments, &mut draft);
        limits::whole_models_only(&mut draft);
        if recipe.is_none() {
            let message = match absent {
                Some(absent) => format!("`{absent}` is not set, so this file overrides another one"),
                None => "the configuration that these settings override was not read".to_owned(),
            };
            let message = format!("{message}: settings that it omits stay unset");
            draft.remark(RemarkKind::Assumed, "model", None, message);
            if let (None, Some(started)) = (absent, &started) {
                limits::unread(started, &mut draft);
            }
        }
    }
    if recipe.is_none() {
        if format == Format::Nemo && !is_nemo_2 {
            tuning::read(&document, &mut draft);
        } else {
            recipe::adapters(&document, &mut draft);
        }
    }
    for (word, line) in &unset {
        if let Some(key) = script::key_of(word) {
            draft.leave_open(key, word, Some(*line), "it has no value in this file, or only in one branch");
        }
    }
    annotation::read(text, &mut draft);
    draft.finish()
}

/// Remarks of Megatron's reader on defaults of keys that are set but could not be resolved.
fn unwanted(format: Format, open: &BTreeSet<String>, arguments: &Arguments) -> BTreeSet<String> {
    open.iter()
        .filter_map(|path| match names::of(format, path)? {
            Name::Is(name) | Name::Not(name) => Some(name),
            Name::Derived | Name::Ignored => None,
        })
        .filter(|name| arguments.get(name).is_none())
        .map(|name| shorten(&arguments.origin(&name).0))
        .collect()
}

/// Takes one key into the arguments, under Megatron's name.
fn take(format: Format, entry: &Entry, arguments: &mut Arguments, draft: &mut Draft) {
    let line = entry.spot.line();
    let source = format!("{} = {}", entry.name, entry.data.shown());
    let mut put = |name: &str, values: Vec<String>, draft: &mut Draft| {
        // Two keys may have one meaning: an empty one sets nothing.
        let is_endless = name == "train_iters" && matches!(entry.data, Data::Integer(-1));
        if is_endless || (entry.data == Data::Null && arguments.get(name).is_some()) {
            return;
        }
        arguments.insert(name, Argument { values, source: source.clone(), line }, draft);
    };
    if let Some((field, _)) = entry.path.rsplit_once('.')
        && matches!(names::of(format, field), Some(Name::Is(_) | Name::Not(_)))
    {
        // An object instead of a value: its meaning is in the code.
        return draft.remark(
            RemarkKind::Unresolved,
            &source,
            line,
            format!("`{field}` is an object in this file; ignored"),
        );
    }
    match names::of(format, &entry.path) {
        None => unknown(entry, draft),
        // Sections of data and of the trainer have keys with an effect as well.
        Some(Name::Ignored) if affects(entry) => unknown(entry, draft),
        // Of NeMo 1: parameters stay in FP32, and each layer casts them.
        Some(Name::Ignored) if entry.path == "model.megatron_amp_O2" && effects::is_off(&entry.data) => {
            let message =
                "parameters stay in FP32 under 16-bit GEMMs: not modelled, a lower bound on memory and time";
            draft.remark(RemarkKind::NotModelled, &source, line, message);
        }
        Some(Name::Ignored | Name::Derived) => {}
        Some(Name::Is(name)) if name == "normalization" => put(&name, norm(&entry.data), draft),
        // Both the kind of a tokenizer and its file may be under `type`.
        Some(Name::Is(name)) if name == "tokenizer_model" && tokenizers::is_any(&entry.data.plain()) => {
            put("tokenizer_type", words(&entry.data), draft);
        }
        Some(Name::Is(name)) => put(&name, words(&entry.data), draft),
        Some(Name::Not(name)) => match &entry.data {
            Data::Flag(flag) => put(&name, vec![python(!flag)], draft),
            Data::Null => {}
            _ => draft.remark(RemarkKind::Unresolved, &source, line, "expected `true` or `false`; ignored"),
        },
    }
}

/// Tests whether a key of a section without effect has a name that indicates one.
fn affects(entry: &Entry) -> bool {
    let (section, last) = (entry.path.split('.').next(), entry.path.rsplit('.').next().unwrap_or_default());
    matches!(section, Some("dataset" | "trainer" | "comm_overlap" | "mixed_precision"))
        && flags::by_name(last).is_none()
        && (effects::named(last) || last.starts_with("seq_length_"))
        && !effects::is_off(&entry.data)
}

fn unknown(entry: &Entry, draft: &mut Draft) {
    let is_off = matches!(entry.data, Data::Null | Data::Flag(false)) || entry.data == Data::List(Vec::new());
    let last = entry.path.rsplit('.').next().unwrap_or(&entry.path);
    // Configuration classes have many more fields than there are flags; those that are off are not reported.
    if is_off && entry.path.starts_with("model.") {
        return;
    }
    let source = format!("{} = {}", entry.name, entry.data.shown());
    let message = match flags::near(last) {
        Some(near) => {
            let near = near.trim_start_matches('-').replace('-', "_");
            format!("unknown, ignored; did you mean `{near}`?")
        }
        None => "unknown, ignored".to_owned(),
    };
    draft.remark(RemarkKind::Unknown, &source, entry.spot.line(), message);
}

/// Settings of classes that differ from flags.
fn derived(document: &Document, arguments: &mut Arguments, draft: &mut Draft) {
    let source = |path: &str| {
        let entry = document.get(path);
        let source = entry.map_or_else(|| path.to_owned(), |e| format!("{} = {}", e.name, e.data.shown()));
        (source, entry.and_then(|e| e.spot.line()))
    };
    let mut add = |name: &str, value: String, path: &str, draft: &mut Draft| {
        let (source, line) = source(path);
        if arguments.get(name).is_none() {
            arguments.insert(name, Argument { values: vec![value], source, line }, draft);
        }
    };
    let text = |path: &str| document.get(path).map(|entry| entry.data.plain().to_ascii_lowercase());
    let is_on = |path: &str| document.get(path).is_some_and(|entry| entry.data == Data::Flag(true));
    if document.get("model.num_query_groups").is_some_and(|entry| matches!(entry.data, Data::Integer(_))) {
        add("group_query_attention", "True".to_owned(), "model.num_query_groups", draft);
    }
    // The only model class of Megatron-Bridge whose embedding and head are not shared by default.
    let is_hybrid = text("model._target_").is_some_and(|class| class.ends_with("hybridmodelprovider"));
    if is_hybrid && document.get("model.share_embeddings_and_output_weights").is_none() {
        add("untie_embeddings_and_output_weights", "True".to_owned(), "model._target_", draft);
    }
    let gated = is_on("model.gated_linear_unit");
    for path in ["model.activation", "model.activation_func", "model.activation_func._target_"] {
        let Some(activation) = text(path) else { continue };
        let flag = match activation.as_str() {
            a if a.contains("swiglu") => "swiglu",
            a if a.contains("geglu") => "geglu",
            a if a.contains("squared") && a.contains("relu") => "squared_relu",
            a if gated && a.ends_with("silu") => "swiglu",
            a if gated && a.ends_with("gelu") => "geglu",
            _ => continue,
        };
        add(flag, "True".to_owned(), path, draft);
    }
    let precision = text("trainer.precision").map(|p| ("trainer.precision", p));
    let precision = precision.or_else(|| text("mixed_precision").map(|p| ("mixed_precision", p)));
    if let Some((path, precision)) = precision {
        if precision.contains("bf16") {
            add("bf16", "True".to_owned(), path, draft);
        } else if precision.starts_with("16") || precision.contains("fp16") {
            add("fp16", "True".to_owned(), path, draft);
        }
        let is_narrow = precision.contains("fp8") || precision.contains("fp4") || precision.contains("_mx");
        if is_narrow && !precision.contains("16") {
            // A narrow format alone is based on bf16.
            add("bf16", "True".to_owned(), path, draft);
        }
        if precision.contains("mxfp8") || precision.contains("fp8_mx") {
            add("fp8", "hybrid".to_owned(), path, draft);
            add("fp8_recipe", "mxfp8".to_owned(), path, draft);
        } else if precision.contains("fp8") {
            add("fp8", "hybrid".to_owned(), path, draft);
        } else if precision.contains("fp4") {
            add("fp4", "e2m1".to_owned(), path, draft);
        }
    }
    for path in ["mixed_precision.grad_reduce_in_fp32", "ddp.grad_reduce_in_fp32"] {
        match document.get(path).map(|entry| &entry.data) {
            Some(Data::Flag(true)) => {
                add("accumulate_allreduce_grads_in_fp32", "True".to_owned(), path, draft);
            }
            Some(Data::Flag(false)) => add("grad_reduce_in_bf16", "True".to_owned(), path, draft),
            _ => continue,
        }
        // Precision settings override those of the gradient classes.
        break;
    }
    let path = "model.optim.name";
    if let Some(name) = text(path) {
        if name.contains("distributed") {
            add("use_distributed_optimizer", "True".to_owned(), path, draft);
        }
        let known = ["adam", "sgd", "lion", "muon"].into_iter().find(|known| name.contains(known));
        add("optimizer", known.unwrap_or(&name).to_owned(), path, draft);
    }
    if text("model.optim.grad_sync_dtype").is_some_and(|format| format.contains("16")) {
        add("grad_reduce_in_bf16", "True".to_owned(), "model.optim.grad_sync_dtype", draft);
    }
    if is_on("model.fp8") && is_on("model.fp8_hybrid") {
        add("fp8_hybrid", "True".to_owned(), "model.fp8_hybrid", draft);
    } else if is_on("model.fp8") && is_on("model.fp8_e4m3") {
        add("fp8_e4m3", "True".to_owned(), "model.fp8_e4m3", draft);
    } else if is_on("model.fp8") {
        add("fp8", "hybrid".to_owned(), "model.fp8", draft);
    }
    if is_on("ddp.use_megatron_fsdp") || is_on("ddp.use_custom_fsdp") {
        add("use_megatron_fsdp", "True".to_owned(), "ddp.use_megatron_fsdp", draft);
    }
}

/// The format of gradients in an override of another file, which has the precision. That of its base
/// replaces the gradient class's own (`MixedPrecisionConfig.setup` of Megatron-Bridge); all bf16 ones are
/// fp32.
fn reduction(document: &Document, draft: &mut Draft) {
    let Some(entry) = document.get("ddp.grad_reduce_in_fp32") else { return };
    let key = "plan.precision.gradient_reduce";
    if draft.value(key).is_some() || document.get("mixed_precision").is_some() {
        return;
    }
    let (source, line) = (format!("{} = {}", entry.name, entry.data.shown()), entry.spot.line());
    if entry.data == Data::Flag(true) {
        draft.set("plan.precision.gradients", &DataType::Fp32, &source, line);
        draft.set(key, &DataType::Fp32, &source, line);
    } else {
        let message =
            "depends on the precision of the configuration that this file overrides, which is not read";
        draft.remark(RemarkKind::Unresolved, &source, line, message);
    }
}

/// Converts the arguments with Megatron's reader; `unwanted` are the excluded defaults, `None` for all.
/// Megatron's flags do not determine the generation here, because the classes of both frameworks had such
/// fields before the flags existed.
pub(crate) fn transfer(
    format: Format,
    file: &str,
    arguments: &Arguments,
    world: &World,
    draft: &mut Draft,
    unwanted: Option<&BTreeSet<String>>,
) {
    let mut whole = Draft::new(format, file);
    meaning::fill(arguments, world, &mut whole);
    let launch = match whole.finish() {
        Ok(launch) => launch,
        Err(problems) => return problems.into_iter().for_each(|problem| draft.problem(problem)),
    };
    let wanted = |line: Option<usize>| line.is_some() || unwanted.is_some();
    for origin in launch.origins.iter().filter(|o| {
        wanted(o.line)
            && o.key != "plan.software"
            && unwanted.is_none_or(|unwanted| !unwanted.contains(&o.source))
    }) {
        if let Some(value) = launch.spec.get(&origin.key) {
            draft.set_value(&origin.key, &value, &origin.source, origin.line);
        }
    }
    for remark in launch.remarks.into_iter().filter(|r| {
        wanted(r.line)
            && !r.message.contains(
                "the software is \
            inferred",
            )
    }) {
        draft.remark(remark.kind, &remark.source, remark.line, remark.message);
    }
    for open in launch.open.into_iter().filter(|open| open.line.is_some() && !open.source.is_empty()) {
        if draft.value(&open.key).is_none() {
            draft.leave_open(&open.key, &open.source, open.line, open.why);
        }
    }
    if let Some(config) = launch.model_config {
        draft.model_config(config, "model", None);
    }
}

/// The generation: NeMo's last, or Bridge's; this year's if its newest fields are used.
fn generation(format: Format, arguments: &Arguments, draft: &mut Draft) {
    let is_new = |name: &str| flags::by_name(name).is_some_and(|flag| flag.since == "2026");
    let newest = arguments.iter().find(|(name, argument)| {
        is_new(name)
            && argument.values.iter().any(|value| !matches!(value.as_str(), "None" | "False" | "none"))
    });
    let (id, why) = match (format, newest) {
        (Format::Nemo, _) => ("megatron-core-2024", "the version of NeMo 1".to_owned()),
        (_, Some((name, _))) => ("megatron-core-2026", format!("as `{name}` is in use")),
        _ => ("megatron-core-2025", "the first version with Megatron-Bridge".to_owned()),
    };
    draft.set("plan.software", &id.to_owned(), "the framework's version", None);
    draft.remark(RemarkKind::Assumed, "plan.software", None, format!("inferred: `{id}`, {why}"));
}

/// NeMo writes norms in small letters.
fn norm(data: &Data) -> Vec<String> {
    let plain = data.plain().to_ascii_lowercase();
    vec![if plain.starts_with("rms") { "RMSNorm".to_owned() } else { "LayerNorm".to_owned() }]
}

fn python(flag: bool) -> String {
    if flag { "True" } else { "False" }.to_owned()
}

/// A value as an argument of Megatron.
pub(crate) fn argument(data: &Data, source: String, line: Option<usize>) -> Argument {
    Argument { values: words(data), source, line }
}

fn words(data: &Data) -> Vec<String> {
    match data {
        Data::Null => vec!["None".to_owned()],
        Data::Flag(flag) => vec![python(*flag)],
        Data::List(items) => items.iter().take(1000).flat_map(|item| words(&item.data)).collect(),
        Data::Text(text) => vec![text.clone()],
        Data::Table(_) => Vec::new(),
        data => vec![data.plain()],
    }
}
