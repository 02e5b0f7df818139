//! Programs without a reader of their own: settings whose names mean the same everywhere.
//!
//! Responsible for: configurations (YAML, TOML, JSON, variables in Python) and arguments of unknown programs.
//! Only names without a second meaning are read; a setting with two values is open, and no default of the
//! program is stated. Every other key is listed.

mod adapters;
mod composed;
mod found;
mod listed;
mod memory;
mod names;
mod parts;
mod settings;

#[cfg(test)]
mod tests;

use crate::document::{self, Data, Document, Entry, Spot};
use crate::fields::Fields;
use crate::python::{self, Recipe};
use crate::shell::Word;
use crate::{Context, Evidence, Format, Launch, RemarkKind, Strength, accelerate, features, trainers};
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;

/// Settings without which an estimate is impossible, and those that change it most: open unless the file sets
/// them.
const OPEN: &[&str] = &[
    "plan.tensor_parallel",
    "plan.pipeline_parallel",
    "plan.context_parallel",
    "plan.expert_parallel",
    "plan.sharding",
    "plan.sequence_length",
    "plan.micro_batch",
    "plan.global_batch",
    "plan.precision.preset",
    "plan.recompute",
    "plan.optimizer",
    "plan.software",
];

/// Beginning of the source of a setting that an argument sets.
pub(crate) const ARGUMENT: &str = "argument ";

/// The evidence for a configuration of an unknown program.
pub(crate) fn recognise(text: &str) -> Option<Evidence> {
    let (document, _) = parse(text, "", &[], &Context::default())?;
    let found = parts::evidence(&document)?;
    Some(Evidence::new(Strength::Weak, found))
}

/// A configuration as keys, with the recipe if it is one in Python, started with these arguments; `None` for
/// texts in other syntaxes.
fn parse(
    text: &str,
    file: &str,
    arguments: &[Word],
    context: &Context<'_>,
) -> Option<(Document, Option<Recipe>)> {
    let has = |mark: &str| text.lines().any(|line| line.starts_with(mark));
    let is_python = has("import ") || has("from ") || text.contains("= dict(") || text.contains("={\n");
    if is_python {
        let recipe = python::program(text, file, &python::given(arguments), context).ok()?;
        let mut document = recipe.document.clone();
        // The called code is no setting, and a negative default stands for none.
        let is_none = |data: &Data| matches!(data, Data::Integer(n) if *n < 0);
        document.entries.retain(|entry| {
            let is_call = matches!(parts::last(&entry.path).as_str(), "_target_" | "_args_");
            let is_unset = python::is_declared(&entry.path) && is_none(&entry.data);
            !is_call && !is_unset
        });
        return Some((document, Some(recipe)));
    }
    data(text, file).map(|document| (document, None))
}

fn data(text: &str, file: &str) -> Option<Document> {
    let start = text.trim_start();
    if start.starts_with('{') {
        return document::json(text, file).ok();
    }
    let is_toml = text.lines().any(|line| line.starts_with('['))
        || text.lines().any(|line| line.split_once(" = ").is_some_and(|(key, _)| !key.contains([':', ' '])));
    let toml = is_toml.then(|| document::toml(text, file).ok()).flatten();
    toml.or_else(|| document::yaml(text, file).ok())
}

/// Reads a configuration, with the arguments of a command that starts the program with it.
pub(crate) fn read(
    text: &str,
    file: &str,
    arguments: &[Word],
    context: &Context<'_>,
) -> Result<Launch, Vec<Problem>> {
    let refused = || vec![Problem::new("not a configuration of a training run").in_file(file)];
    let parsed = parse(text, file, arguments, context).ok_or_else(refused)?;
    read_parsed(parsed, (text, file), arguments, context)
}

fn read_parsed(
    (mut document, recipe): (Document, Option<Recipe>),
    (text, file): (&str, &str),
    arguments: &[Word],
    context: &Context<'_>,
) -> Result<Launch, Vec<Problem>> {
    // Colossal-AI's own sections (before its booster) have shorter names.
    if document.has("parallel.tensor.mode") {
        document.rename(&[
            ("parallel.pipeline", "parallel.pipeline_parallel_size"),
            ("parallel.tensor.size", "parallel.tensor_parallel_size"),
        ]);
    }
    let missing = composed::add(&mut document, arguments, file, context);
    let given = keys(arguments);
    // Further arguments, in a variable that another file sets, may replace any default.
    let is_rest = |entry: &Entry| entry.path == "argument" && entry.data.plain().contains('$');
    if given.entries.iter().any(is_rest) {
        document.entries.retain(|entry| !python::is_declared(&entry.path));
    }
    for mut entry in given.entries {
        // An argument replaces the key of the same path, or of the same last part if that is unique.
        let own: Vec<usize> =
            (0..document.entries.len()).filter(|&at| document.entries[at].path == entry.path).collect();
        entry.spot = Spot::default();
        entry.name = format!("{ARGUMENT}{}", entry.name);
        let declared = python::declared(&entry.path);
        document
            .entries
            .retain(|old| old.path != entry.path && old.path != declared && !below(&old.path, &entry.path));
        document.entries.insert(
            own.first().copied().unwrap_or(document.entries.len()).min(document.entries.len()),
            entry,
        );
    }
    let unresolved = document::interpolate(&mut document);
    let mut fields = Fields::new(Format::Other, file, text, document);
    for (path, value, spot, why) in unresolved {
        let message = format!("cannot be resolved, so it stays unset: {why}");
        fields.draft.remark(RemarkKind::Unresolved, &format!("{path}: {value}"), spot.line(), message);
    }
    for (name, why) in missing {
        let message = format!("settings of this file are not read: {why}");
        fields.draft.remark(RemarkKind::Unresolved, &name, None, message);
    }
    if let Some(recipe) = recipe {
        fields.draft.lines_of(recipe.sources.clone());
        recipe.remarks(&mut fields.draft, &parts::is_setting, &|_| false);
    }
    fill(&mut fields);
    fields.finish()
}

fn below(path: &str, section: &str) -> bool {
    path.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'))
}

/// The arguments of a command as keys: `--name value`, `--name=value`, `name=value`.
fn keys(words: &[Word]) -> Document {
    let mut document = Document::default();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let mut put = |name: &str, value: &str, is_known: bool, line: usize| {
            let data = if is_known {
                Data::of_word(value.trim_matches(['"', '\'']))
            } else {
                // A value that the script does not determine keeps its `$`.
                Data::Text(if value.contains('$') { value.to_owned() } else { format!("${value}") })
            };
            let path = name.trim_start_matches('+').replace('-', "_");
            document.entries.push(Entry::new(path, data, Spot { line, column: 0 }));
        };
        let is_short = |text: &str| {
            text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
        };
        let flag = word
            .text
            .strip_prefix("--")
            .or_else(|| word.text.strip_prefix('-').filter(|_| is_short(&word.text)));
        if let Some(flag) = flag.filter(|flag| !flag.is_empty()) {
            if let Some((name, value)) = flag.split_once('=') {
                put(name, value, word.unknown.is_empty(), word.line);
            } else if let Some(next) =
                words.next_if(|next| !next.text.starts_with("--") && !is_short(&next.text))
            {
                put(flag, &next.text, next.unknown.is_empty(), word.line);
            } else {
                put(flag, "true", true, word.line);
            }
        } else if let Some((name, value)) = word.text.split_once('=')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c))
        {
            put(name, value, word.unknown.is_empty(), word.line);
        } else {
            put("argument", &word.text, true, word.line);
        }
    }
    document
}

/// Tests whether the arguments of a program describe a training run.
pub(crate) fn describes_training(arguments: &[Word]) -> bool {
    parts::evidence(&keys(arguments)).is_some()
}

/// Reads a file that a command starts, an unknown program in Python or its configuration: the arguments, with
/// the values of the file for the others. `None` if they do not describe a training run together.
pub(crate) fn read_program(
    text: &str,
    file: &str,
    arguments: &[Word],
    context: &Context<'_>,
) -> Option<Result<Launch, Vec<Problem>>> {
    let parsed = parse(text, file, arguments, context)?;
    let mut document = parsed.0.clone();
    document.entries.extend(keys(arguments).entries);
    if !parts::is_training(&document) {
        return None;
    }
    Some(read_parsed(parsed, (text, file), arguments, context))
}

/// Reads the arguments of an unknown program; `None` if they do not describe a training run. `processes` are
/// those of its launcher.
pub(crate) fn read_arguments(
    program: &str,
    script: &crate::shell::Script,
    (launcher, arguments): (&[Word], &[Word]),
    (text, file): (&str, &str),
) -> Option<Result<Launch, Vec<Problem>>> {
    let document = keys(arguments);
    if !parts::is_training(&document) {
        return None;
    }
    let mut fields = Fields::new(Format::Other, file, text, document);
    fields.draft.lines_of(script.sources.clone());
    for (line, what, why) in &script.open {
        fields.draft.remark(RemarkKind::Unresolved, what, Some(*line), why.clone());
    }
    if let Some((devices, source, line)) = trainers::processes(launcher) {
        fields.draft.set("cluster.devices", &devices, &source, Some(line));
    }
    let message = "no reader knows this program: its arguments are read by their names";
    fields.draft.remark(RemarkKind::Assumed, &shorten(program), None, message);
    fill(&mut fields);
    Some(fields.finish())
}

/// A program that loads one of Hugging Face's models by name, and divides no layers, runs Transformers'
/// modules. Jobs of several models are trained by frameworks of their own.
fn software(fields: &mut Fields<'_>) {
    let draft = &fields.draft;
    let is_divided = ["plan.tensor_parallel", "plan.pipeline_parallel", "plan.expert_parallel"]
        .iter()
        .any(|key| draft.value(key).is_some() || draft.is_open(key));
    let names_model = draft.spec().model.name.is_some() && fields.document.entries.iter().any(is_model_name);
    if names_model && !is_divided && parts::several(&fields.document).is_none() {
        accelerate::software(fields, "transformers-2026", "a model of Hugging Face by name, taken as eager");
        features::switches(fields);
    }
}

fn is_model_name(entry: &Entry) -> bool {
    names::MODEL.contains(&parts::last(&entry.path).as_str())
}

fn fill(fields: &mut Fields<'_>) {
    let part = "settings are read by names that mean the same in most programs, and no default of this program is known";
    fields.draft.partial(part);
    settings::model(fields);
    settings::parallel(fields);
    settings::batch(fields);
    memory::read(fields);
    settings::devices(fields);
    software(fields);
    listed::rest(fields);
    for key in OPEN {
        let is_unset = fields.draft.value(key).is_none();
        if is_unset && !fields.draft.is_open(key) {
            fields.draft.leave_open(key, "", None, "no key with a recognized name");
        }
    }
}
