//! Primus' YAML: Megatron-LM's arguments as overrides of a module and a model.
//!
//! Responsible for: a module's overrides over its base files, under the names of its framework, and defaults
//! of environment variables. Without these files settings stay open. Modules of frameworks without a reader
//! are errors.

mod inherit;
mod variables;

#[cfg(test)]
mod tests;

use crate::document::{self, Data, Document, Entry, Spot};
use crate::fields::Fields;
use crate::megatron::arguments::{Arguments, OpenArgument};
use crate::megatron::world::World;
use crate::megatron::{flags, partial};
use crate::nemo::{argument, transfer};
use crate::shell::{Exported, Word};
use crate::{
    Context, Draft, Evidence, Format, Launch, Reader, RemarkKind, Strength, adapter, effects, maxtext,
    torchtitan,
};
use inherit::Inherited;
use railwright_spec::model::by_name;
use railwright_spec::plan::Optimizer;
use railwright_spec::problem::Problem;
use std::collections::{BTreeMap, BTreeSet};
use variables::{UNSET, environment};

/// Reads Primus' YAML.
#[derive(Clone, Copy, Debug)]
pub struct PrimusReader;

impl Reader for PrimusReader {
    fn format(&self) -> Format {
        Format::Primus
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        let starts = |key: &str| text.lines().any(|line| line.trim_end() == key);
        let has = |key: &str| text.lines().any(|line| line.trim_start().starts_with(key));
        (starts("modules:") && has("framework:") && (has("overrides:") || has("model:")))
            .then(|| Evidence::new(Strength::Certain, "the key `modules` with a `framework`"))
    }

    fn read_with(&self, text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        read_started(text, file, context, (&[], &[]))
    }
}

/// Reads a configuration under the arguments of Primus's command line, which are overrides of its module, and
/// variables that a script exports.
pub(crate) fn read_started(
    text: &str,
    file: &str,
    context: &Context<'_>,
    (arguments, exported): (&[Word], &[Exported]),
) -> Result<Launch, Vec<Problem>> {
    let unset = |exported: &Exported| exported.value.clone().unwrap_or_else(|| UNSET.to_owned());
    // The last of several values is that of the program.
    let variables: BTreeMap<String, String> = exported
        .iter()
        .map(|exported| (exported.name.clone(), unset(exported)))
        .chain(context.variables.iter().cloned())
        .collect();
    let document = document::yaml(text, file).map_err(|problem| vec![problem])?;
    let module = document.entries.iter().find_map(|entry| {
        let name = entry.path.strip_prefix("modules.")?.strip_suffix(".framework")?;
        Some((name.to_owned(), entry.data.plain()))
    });
    let Some((module, framework)) = module else {
        return Err(vec![Problem::new("no module of `modules` has a `framework`").in_file(file)]);
    };
    let mut merged = merged(&document, (&module, &framework), (text, file), &variables, context)
        .map_err(|problem| vec![problem])?;
    override_with(arguments, &mut merged);
    merged.world = ranks(arguments, &variables, merged.command);
    match framework.as_str() {
        "megatron" | "megatron_bridge" => megatron(&merged, &framework, file),
        "torchtitan" | "maxtext" => other(&merged, &framework, text, file),
        _ => {
            let message = format!("modules of {framework} are not supported");
            let problem = Problem::new(message).hint("pass the configuration of that framework itself");
            Err(vec![problem.in_file(file)])
        }
    }
}

/// Puts arguments in place of the overrides of a module. A value that the script does not determine stays as
/// its variable.
fn override_with(arguments: &[Word], merged: &mut Merged) {
    // The launcher's words precede the verb.
    let first = arguments.iter().position(|word| word.text == "train").unwrap_or(0);
    let arguments = &arguments[first..];
    let words: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    if words.is_empty() {
        return;
    }
    let base = merged.settings.sources.add("the command line", &words.join("\n"));
    merged.command = base;
    for (at, word) in arguments.iter().enumerate() {
        let Some(text) = word.text.strip_prefix("--").filter(|text| !text.is_empty()) else { continue };
        let next = arguments.get(at + 1).filter(|next| !next.text.starts_with("--"));
        let (name, data) = match (text.split_once('='), next) {
            (Some((name, value)), _) => (name, Data::of_word(value)),
            (None, Some(value)) => (text, Data::of_word(&value.text)),
            (None, None) => (text, Data::Flag(true)),
        };
        let is_known = word.unknown.is_empty() && next.is_none_or(|next| next.unknown.is_empty());
        let data = if is_known { data } else { Data::Text(UNSET.to_owned()) };
        let spot = Spot { line: base + at, column: 0 };
        merged.settings.put(Entry::new(name.replace('-', "_"), data, spot));
    }
}

/// Ranks of `primus-cli slurm srun -N 4 -- train ...`: nodes of 8 GPUs, unless `GPUS_PER_NODE` is set
/// (`primus-cli-direct.sh`).
fn ranks(arguments: &[Word], variables: &BTreeMap<String, String>, command: usize) -> World {
    let options: Vec<&Word> = arguments.iter().take_while(|word| word.text != "train").collect();
    let nodes = options.windows(2).find_map(|pair| {
        let is_nodes = matches!(pair[0].text.as_str(), "-N" | "--nodes") && pair[1].unknown.is_empty();
        pair[1].text.parse::<u64>().ok().filter(|&n| n > 0 && is_nodes)
    });
    let Some(nodes) = nodes else { return World::default() };
    let per_node = match variables.get("GPUS_PER_NODE").map(|value| value.parse::<u64>()) {
        None => 8,
        Some(Ok(own)) => own,
        Some(Err(_)) => return World::default(),
    };
    let source = format!("-N {nodes} x {per_node} GPUs of a node");
    World { ranks: nodes.checked_mul(per_node), per_node: Some(per_node), source, line: Some(command) }
}

/// A module's settings: those of the files that it builds on, under its own.
struct Merged {
    /// Lines of this file itself.
    own: usize,
    settings: Inherited,
    /// The model's file, as the module names it.
    model: Option<Entry>,
    /// Values of the environment, as remarks: kind, source, line, message.
    remarks: Vec<(RemarkKind, String, Option<usize>, String)>,
    /// The first line of the command's arguments, after those of all files.
    command: usize,
    /// Ranks of the job that the command starts.
    world: World,
}

/// Settings of pipelines without bubbles.
const ZERO_BUBBLE: &[&str] = &["enable_zero_bubble", "zero_bubble_v_schedule", "enable_1f1b_v"];

/// Folder of the files that modules and models of all frameworks have in Primus' repository.
const CONFIGS: &str = "primus/configs";

fn merged(
    document: &Document,
    (module, framework): (&str, &str),
    (text, file): (&str, &str),
    variables: &BTreeMap<String, String>,
    context: &Context<'_>,
) -> Result<Merged, Problem> {
    let mut remarks = Vec::new();
    let mut settings = Inherited::new(text, file);
    let prefix = format!("modules.{module}.");
    let mut named = BTreeMap::new();
    for kind in ["config", "model"] {
        let Some(entry) = document.get(&format!("{prefix}{kind}")) else { continue };
        let mut entry = entry.clone();
        environment(&mut entry, variables, &mut remarks);
        if let Data::Text(name) = &entry.data {
            let folder = if kind == "config" { "modules" } else { "models" };
            settings.add(&format!("{CONFIGS}/{folder}/{framework}/{name}"), file, context)?;
        }
        named.insert(kind, entry);
    }
    for entry in settings.entries.values_mut() {
        environment(entry, variables, &mut Vec::new());
    }
    let overrides = format!("{prefix}overrides.");
    for entry in &document.entries {
        let Some(path) = entry.path.strip_prefix(&overrides) else { continue };
        let mut entry = entry.clone();
        environment(&mut entry, variables, &mut remarks);
        settings.put(Entry { path: path.to_owned(), name: path.to_owned(), ..entry });
    }
    let own = text.lines().count();
    Ok(Merged {
        own,
        settings,
        model: named.remove("model"),
        remarks,
        command: usize::MAX,
        world: World::default(),
    })
}

impl Merged {
    /// Tests whether a line is one of the configuration itself or of the command.
    fn is_of_user(&self, line: Option<usize>) -> bool {
        line.is_some_and(|line| line <= self.own || line >= self.command)
    }

    /// The builder of the model, if it is none of Megatron-LM's.
    fn own_kind(&self) -> Option<&Entry> {
        let entry = self.settings.entries.get(MODEL_TYPE)?;
        let Data::Text(kind) = &entry.data else { return None };
        (!OF_MEGATRON.contains(&kind.as_str())).then_some(entry)
    }

    fn is_whole(&self) -> bool {
        let files = self.settings.sources.count() - usize::from(self.command < usize::MAX);
        self.settings.missing.is_none() && files > 1
    }

    fn remark(&self, draft: &mut Draft) {
        draft.lines_of(self.settings.sources.clone());
        for (kind, source, line, message) in &self.remarks {
            draft.remark(*kind, source, *line, message.clone());
        }
        if !self.is_whole() {
            let why = self.settings.missing.as_ref().map(|(path, why)| format!(" (`{path}`: {why})"));
            let message = format!(
                "only overrides in this file: other settings stay unset, because their defaults are in files of \
                 Primus{}",
                why.unwrap_or_default()
            );
            draft.remark(RemarkKind::Assumed, "overrides", None, message);
        }
    }

    /// Sets the model by the name of its file, if the file itself is missing.
    fn name_model(&self, draft: &mut Draft) {
        let Some(entry) = &self.model else { return };
        let (source, line) = (format!("{} = {}", entry.name, entry.data.shown()), entry.spot.line());
        let name = entry.data.plain();
        let stem = name.trim_end_matches(".yaml").trim_end_matches(".yml");
        match by_name(stem) {
            Ok(model) => draft.set("model.name", &model.name, &source, line),
            Err(_) => draft.unknown_model(stem, &source, line),
        }
    }
}

/// A module of Megatron, or of Megatron-Bridge, which has the same settings under the same names and its own
/// defaults.
fn megatron(merged: &Merged, framework: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let is_bridge = framework == "megatron_bridge";
    let is_whole = merged.is_whole() && !is_bridge;
    let mut draft = Draft::new(Format::Primus, file);
    merged.remark(&mut draft);
    let (mut arguments, mut rank) = (Arguments::default(), None);
    let is_on =
        |name: &str| merged.settings.entries.get(name).is_some_and(|entry| entry.data == Data::Flag(true));
    for (name, entry) in &merged.settings.entries {
        // Primus installs these schedules only on request.
        if ZERO_BUBBLE.contains(&name.as_str()) && !is_on("patch_zero_bubble") {
            continue;
        }
        // Megatron-LM itself turns it on for bf16, unless gradients are reduced in bf16.
        if name == "accumulate_allreduce_grads_in_fp32" && entry.data == Data::Flag(false) {
            continue;
        }
        let (source, line) = (format!("{name} = {}", entry.data.shown()), entry.spot.line());
        let is_adapter = match name.as_str() {
            "lora.enabled" => entry.data == Data::Flag(true),
            "peft" => !matches!(entry.data.plain().as_str(), "none" | "null"),
            _ => false,
        };
        if is_adapter {
            adapter::lora(&mut draft, &source, line);
            adapter::defaults(&mut draft, adapter::BRIDGE);
            continue;
        }
        if name == "peft_dim" && is_bridge {
            rank = entry.data.count().map(|rank| (rank, source, line));
            continue;
        }
        if name == "precision_config" && is_bridge {
            let is_bf16 = entry.data.plain().starts_with("bf16");
            let flags: &[&str] =
                if is_bf16 { &["bf16", "accumulate_allreduce_grads_in_fp32"] } else { &["fp16"] };
            for flag in flags {
                arguments.insert(flag, argument(&Data::Flag(true), source.clone(), line), &mut draft);
            }
            continue;
        }
        match flags::by_name(name) {
            Some(flag) if is_variable(&entry.data) => {
                let why = "the value is a variable of the script without a value";
                draft.remark(RemarkKind::Unresolved, &source, line, format!("{why}, so it stays unset"));
                let open = OpenArgument { source, line, why: why.to_owned(), alternatives: Vec::new() };
                arguments.leave_open(flag.name, open);
            }
            Some(flag) => arguments.insert(flag.name, argument(&entry.data, source, line), &mut draft),
            None if effects::is_off(&entry.data) || name == MODEL_TYPE => {}
            None if merged.settings.is_of_model(line) => {
                draft.remark(
                    RemarkKind::Unknown,
                    &source,
                    line,
                    "a key of the model's file that is not read",
                );
            }
            None if !merged.is_of_user(line) => {}
            None => draft.remark(RemarkKind::Unknown, &source, line, "unknown, ignored"),
        }
    }
    if let Some((rank, source, line)) = rank
        && draft.spec().plan.optimizer == Some(Optimizer::Lora)
    {
        draft.set("plan.lora_rank", &rank, &source, line);
    }
    let none = BTreeSet::new();
    transfer(Format::Primus, file, &arguments, &merged.world, &mut draft, is_whole.then_some(&none));
    if is_whole {
        let is_stated = |line| merged.is_of_user(line) || merged.settings.is_of_model(line);
        partial::audit_lines(&arguments, &merged.world, &mut draft, &is_stated);
    }
    if let Some(kind) = merged.own_kind() {
        leave_model_open(kind, &mut draft);
        return draft.finish();
    }
    let has_model = draft.spec().model.layers.is_some() || draft.value("model.config").is_some();
    if !(is_whole && has_model) {
        merged.name_model(&mut draft);
    }
    draft.finish()
}

/// The key that selects the builder of a model.
const MODEL_TYPE: &str = "model_type";
/// Builders with the layers of Megatron-LM (`primus/configs/models/megatron/language_model.yaml`).
const OF_MEGATRON: [&str; 2] = ["gpt", "mamba"];

/// Leaves a model open whose builder is Primus's own: Megatron-LM's keys do not describe its layers.
fn leave_model_open(kind: &Entry, draft: &mut Draft) {
    let dimensions: Vec<String> = draft
        .origins()
        .iter()
        .map(|origin| origin.key.clone())
        .filter(|key| key.starts_with("model."))
        .collect();
    draft.take_back(&dimensions);
    let (source, line) = (format!("{} = {}", kind.name, kind.data.shown()), kind.spot.line());
    let why = "a custom kind of model, whose layers the keys of Megatron-LM do not describe: pass the model or its config.json";
    draft.remark(RemarkKind::Unresolved, &source, line, why);
    draft.leave_open("model.name", &source, line, why);
}

/// Tests whether a value is a variable of the shell.
fn is_variable(data: &Data) -> bool {
    matches!(data, Data::Text(text) if text == UNSET)
}

/// A module of a framework with its own reader.
fn other(merged: &Merged, framework: &str, text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let is_known = |path: &str| match framework {
        "torchtitan" => torchtitan::knows(path),
        _ => maxtext::knows(path),
    };
    let mut document = Document::default();
    // Other content of Primus's files concerns Primus alone.
    let own = merged.own;
    document.entries.extend(
        merged
            .settings
            .entries
            .values()
            .filter(|entry| is_known(&entry.path) || entry.spot.line <= own)
            .filter(|entry| entry.spot.line > own || !matches!(entry.data, Data::Null))
            .cloned(),
    );
    let mut fields = Fields::new(Format::Primus, file, text, document);
    merged.remark(&mut fields.draft);
    if framework == "torchtitan" {
        torchtitan::fill(&mut fields, merged.is_whole(), false);
    } else {
        maxtext::fill(&mut fields);
    }
    let has_model = fields.draft.spec().model.layers.is_some() || fields.draft.spec().model.name.is_some();
    if !has_model && !fields.draft.is_open("model.name") {
        merged.name_model(&mut fields.draft);
    }
    fields.finish()
}
