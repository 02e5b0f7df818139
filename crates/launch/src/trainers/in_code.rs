//! Python programs that set the arguments of Transformers' trainer, TRL or Unsloth themselves.
//!
//! Responsible for: the literal arguments of the trainer, of the model and of its adapters, as the keys that
//! their command lines have. Values that the program computes are open. Programs with several sets of
//! arguments are errors.

use super::command::Keys;
use super::common::{Dialect, put};
use super::keys;
use crate::document::{Data, Document, Entry};
use crate::effects;
use crate::python::{self, Recipe};
use railwright_spec::problem::Problem;

/// Classes of the trainer's arguments.
const TRANSFORMERS: &[&str] = &["TrainingArguments", "Seq2SeqTrainingArguments", "UnslothTrainingArguments"];
const TRL: &[&str] = &[
    "SFTConfig",
    "DPOConfig",
    "KTOConfig",
    "ORPOConfig",
    "CPOConfig",
    "GRPOConfig",
    "RLOOConfig",
    "RewardConfig",
    "GKDConfig",
];

/// Keys of the trainer itself, in versions that lack them in its arguments.
const OF_TRAINER: &[&str] = &["max_seq_length", "packing"];

/// Keys of the loaded model, and the trainer's.
const OF_MODEL: &[(&str, &str)] = &[
    ("torch_dtype", "torch_dtype"),
    ("dtype", "torch_dtype"),
    ("load_in_4bit", "load_in_4bit"),
    ("load_in_8bit", "load_in_8bit"),
    ("quantization_config.load_in_4bit", "load_in_4bit"),
    ("quantization_config.load_in_8bit", "load_in_8bit"),
    ("max_seq_length", "max_seq_length"),
    ("use_liger_kernel", "use_liger_kernel"),
    ("attn_implementation", "attn_implementation"),
];

/// Arguments of the loaded model without effect on a step: where its files are and how it is loaded.
const LOADING: &[&str] = &[
    "pretrained_model_name_or_path",
    "model_name",
    "trust_remote_code",
    "token",
    "use_auth_token",
    "revision",
    "cache_dir",
    "device_map",
    "low_cpu_mem_usage",
    "use_cache",
    "local_files_only",
    "use_safetensors",
    "num_labels",
    "ignore_mismatched_sizes",
];

/// Keys of the adapters, and those of a command.
const OF_ADAPTERS: &[(&str, &str)] = &[
    ("r", "lora_r"),
    ("target_modules", "lora_target_modules"),
    ("modules_to_save", "modules_to_save"),
    ("use_gradient_checkpointing", "gradient_checkpointing"),
];

/// The key and the value of a format of computation that the program computes.
pub(super) const COMPUTED: (&str, &str) = ("mixed_precision", "computed");

/// Tests whether a program in Python sets the arguments of a trainer itself.
pub(crate) fn is_program(text: &str) -> bool {
    find(text).is_some()
}

/// Trainer of a program, with the class of its arguments.
pub(super) fn find(text: &str) -> Option<(Dialect, &'static str)> {
    let imports = ["transformers", "trl", "unsloth"].into_iter().any(|module| python::imports(text, module));
    // The trainer may be handed to a function of another file.
    let trains = text.contains(".train(")
        || text.lines().any(|line| line.contains("train") && line.contains("(trainer"));
    if !imports || !trains {
        return None;
    }
    let calls = |class: &&&str| {
        text.lines().filter(|line| !line.trim_start().starts_with("class ")).any(|line| {
            line.match_indices(**class).any(|(at, _)| {
                let is_inside = line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                !is_inside && line[at + class.len()..].starts_with('(')
            })
        })
    };
    let trl = TRL.iter().find(calls).map(|class| (Dialect::Trl, *class));
    trl.or_else(|| TRANSFORMERS.iter().find(calls).map(|class| (Dialect::Transformers, *class)))
}

/// The keys of a program that a command starts with these arguments.
pub(super) fn parse(class: &str, text: &str, file: &str, given: &[(String, Data)]) -> Result<Keys, Problem> {
    // Fields of a class, or another file, may declare it: what it sets is unknown.
    if let Some((name, _)) = given.iter().find(|(name, _)| python::declaration(text, name) == 0) {
        let message = format!("the command sets `--{name}`, which this program does not declare by name");
        let hint = "pass the program itself, with options for the settings of the command";
        return Err(Problem::new(message).hint(hint).in_file(file));
    }
    let found = python::objects(text, file, given, &|callee| {
        let last = last(callee);
        (last == class && is_own(callee)) || is_model(callee) || is_adapter(last) || last.ends_with("Trainer")
    })?;
    let arguments: Vec<&Recipe> = found.iter().filter(|object| last(&object.name) == class).collect();
    let own = match arguments.as_slice() {
        [own] => *own,
        [] => {
            let message = format!("no call of `{class}` in this program has literal arguments");
            let hint = "pass the command that starts it, with its arguments";
            return Err(Problem::new(message).hint(hint).in_file(file));
        }
        [_, ..] => {
            let message = format!("this program has {} calls of `{class}`", arguments.len());
            return Err(Problem::new(message).hint("keep one of them in a separate file").in_file(file));
        }
    };
    let mut keys = Keys::default();
    // The name of a class indicates its purpose, as that of a program does.
    put(&mut keys.document, "program", Data::Text(format!("{class} train")), 0);
    // `bf16=torch.cuda.is_bf16_supported()`: the device decides, and all devices of the catalogue have
    // bfloat16.
    let asks = ["bf16_supported", "bfloat16_supported"].iter().any(|name| text.contains(name));
    if asks && (own.document.has("bf16") || own.open_line("bf16").is_some()) {
        put(
            &mut keys.document,
            "bf16",
            Data::Text("auto".to_owned()),
            own.open_line("bf16").unwrap_or_default(),
        );
        put(&mut keys.document, "fp16", Data::Flag(false), 0);
    }
    take(own, &|path| Some(path.to_owned()), &mut keys);
    for trainer in found.iter().filter(|object| last(&object.name).ends_with("Trainer")) {
        take(trainer, &|path| OF_TRAINER.contains(&path).then(|| path.to_owned()), &mut keys);
        let model = trainer.document.get("model").filter(|entry| matches!(entry.data, Data::Text(_)));
        if let Some(model) = model.filter(|_| !found.iter().any(|object| is_model(&object.name))) {
            add("model_name_or_path", model, &mut keys.document);
        }
    }
    model(&found, &mut keys);
    for adapter in found.iter().filter(|object| is_adapter(last(&object.name))) {
        put(&mut keys.document, "use_peft", Data::Flag(true), line(adapter));
        take(adapter, &|path| renamed(OF_ADAPTERS, path), &mut keys);
    }
    if let Some(index) = text.lines().position(|line| line.contains(".parse_args(")) {
        let why = if given.is_empty() {
            "arguments of its command line have their defaults: pass the command that starts it, if it has \
             some"
        } else {
            "arguments that the command omits have their defaults"
        };
        keys.unknown.push(("parse_args()".to_owned(), index + 1, why.to_owned()));
    }
    checkpointing(text, &mut keys.document);
    if let Some(index) = text.lines().position(|line| line.contains("requires_grad = False")) {
        let why = "parts may be frozen: all are assumed to be trained, an upper bound".to_owned();
        keys.unknown.push(("requires_grad = False".to_owned(), index + 1, why));
    }
    Ok(keys)
}

/// Calls that switch recomputation on, on the model itself: Transformers' method, and PEFT's preparation of a
/// quantized model, which has it on by default.
fn checkpointing(text: &str, document: &mut Document) {
    if document.has("gradient_checkpointing") {
        return;
    }
    let is_call = |line: &&str| {
        let line = line.split('#').next().unwrap_or_default();
        line.contains(".gradient_checkpointing_enable(")
            || (line.contains("prepare_model_for_kbit_training(")
                && !line.contains("import")
                && !line.contains("use_gradient_checkpointing=False"))
    };
    let found = text.lines().enumerate().find(|(_, line)| is_call(line));
    if let Some((index, line)) = found {
        // A call in a branch runs only if its condition holds: the block of a function at the top level has
        // one step of indentation.
        let is_inside = line.starts_with(' ') || line.starts_with('\t');
        let before = text.lines().take(index).filter(|line| !line.trim().is_empty());
        let outer = before.filter(|other| indent(other) < indent(line)).last();
        let is_branch = is_inside
            && outer.is_some_and(|line| {
                ["if ", "elif ", "else"].iter().any(|word| line.trim_start().starts_with(word))
            });
        let value = if is_branch { Data::Text("auto".to_owned()) } else { Data::Flag(true) };
        put(document, "gradient_checkpointing", value, index + 1);
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The trained model is the first that the program loads; others of the same name are its references.
fn model(found: &[Recipe], keys: &mut Keys) {
    let mut models = found.iter().filter(|object| is_model(&object.name));
    let Some(model) = models.next() else { return };
    let name_of = |model: &Recipe| {
        let paths = ["pretrained_model_name_or_path", "model_name"];
        let named = paths.iter().find_map(|path| model.document.get(path).cloned());
        named.or_else(|| {
            let entry = model.document.get("_args_")?;
            let Data::List(items) = &entry.data else { return None };
            let data = items.first()?.data.clone();
            Some(Entry { data, ..entry.clone() })
        })
    };
    let name = name_of(model);
    let differs =
        models.any(|other| name_of(other).map(|entry| entry.data) != name.as_ref().map(|e| e.data.clone()));
    match name {
        Some(_) if differs => {
            let why = "several models are loaded, so the trained one is unknown".to_owned();
            keys.unknown.push(("from_pretrained(...)".to_owned(), line(model), why));
        }
        Some(name) => add("model_name_or_path", &name, &mut keys.document),
        None => {
            let why = "the model's name is computed, so the model is unknown".to_owned();
            keys.unknown.push(("from_pretrained(...)".to_owned(), line(model), why));
        }
    }
    take(model, &|path| renamed(OF_MODEL, path), keys);
    let class = model.name.strip_suffix(".from_pretrained").map_or("", last);
    if ["ImageTextToText", "Vision2Seq"].iter().any(|kind| class.ends_with(kind)) {
        put(&mut keys.document, "vision_tower", Data::Text(class.to_owned()), line(model));
    }
    unread(model, keys);
    if model.name.contains("Fast") {
        put(&mut keys.document, "use_unsloth", Data::Flag(true), line(model));
        let switches = ["load_in_4bit", "load_in_8bit", "full_finetuning"];
        // Unsloth loads four bits by default.
        if !switches.iter().any(|path| model.document.has(path)) {
            put(&mut keys.document, "load_in_4bit", Data::Flag(true), line(model));
        }
    }
}

/// Lists arguments of the loaded model that no key of the trainer has.
fn unread(model: &Recipe, keys: &mut Keys) {
    for entry in &model.document.entries {
        let first = entry.path.split('.').next().unwrap_or_default();
        let is_known = renamed(OF_MODEL, &entry.path).is_some()
            || LOADING.contains(&first)
            || first == "quantization_config"
            || entry.path.split('.').any(|part| matches!(part, "_target_" | "_args_"));
        if !is_known && !effects::is_off(&entry.data) {
            let source = format!("{} = {}", entry.path, entry.data.shown());
            let why = "an argument of the loaded model that is not read".to_owned();
            keys.unknown.push((source, entry.spot.line().unwrap_or_default(), why));
        }
    }
}

/// Takes the keys of an object that have a name as the trainer's; computed ones are open.
fn take(object: &Recipe, name: &dyn Fn(&str) -> Option<String>, keys: &mut Keys) {
    let is_plumbing = |path: &str| path.split('.').any(|part| matches!(part, "_target_" | "_args_"));
    for entry in object.document.entries.iter().filter(|entry| !is_plumbing(&entry.path)) {
        if let Some(name) = name(&entry.path).filter(|name| !keys.document.has(name)) {
            // The settings of DeepSpeed may be in the program.
            let name =
                name.strip_prefix("deepspeed.").map_or(name.clone(), |key| format!("deepspeed_file.{key}"));
            add(&name, entry, &mut keys.document);
        }
    }
    let mut computed: Vec<(&str, usize, &str)> =
        object.open_keys().map(|open| (open.path.as_str(), open.line, open.why.as_str())).collect();
    computed.extend(object.document.entries.iter().filter_map(|entry| {
        let path = entry.path.strip_suffix("._target_")?;
        Some((path, entry.spot.line().unwrap_or_default(), "is the result of a call"))
    }));
    for (path, line, why) in computed {
        let Some(name) = name(path).filter(|name| !keys.document.has(name)) else { continue };
        if matches!(name.as_str(), "bf16" | "fp16") {
            put(&mut keys.document, COMPUTED.0, Data::Text(COMPUTED.1.to_owned()), line);
            keys.unknown.push((name, line, format!("{why}, so the format stays unset")));
        } else if keys::is_known(&name) {
            put(&mut keys.document, &name, Data::Text("auto".to_owned()), line);
            keys.unknown.push((name, line, format!("{why}, so it stays unset")));
        }
    }
}

fn add(path: &str, entry: &Entry, document: &mut Document) {
    document.entries.push(Entry { path: path.to_owned(), name: path.to_owned(), ..entry.clone() });
}

fn renamed(names: &[(&str, &str)], path: &str) -> Option<String> {
    names.iter().find(|(own, _)| *own == path).map(|(_, name)| (*name).to_owned())
}

/// Classes of other packages have the same names.
fn is_own(callee: &str) -> bool {
    matches!(callee.split('.').next(), Some("transformers" | "trl" | "unsloth"))
}

fn last(callee: &str) -> &str {
    callee.rsplit('.').next().unwrap_or(callee)
}

fn is_model(callee: &str) -> bool {
    callee.strip_suffix(".from_pretrained").is_some_and(|class| {
        let class = last(class);
        class.contains("Model") || class.contains("ForCausalLM") || class.contains("ForConditionalGeneration")
    })
}

fn is_adapter(last: &str) -> bool {
    matches!(last, "LoraConfig" | "get_peft_model")
}

fn line(object: &Recipe) -> usize {
    object.document.get("_target_").map_or(0, |entry| entry.spot.line().unwrap_or_default())
}
