//! Configurations written in Python, read literally: assigned values, not computed ones.
//!
//! Responsible for: finding the configuration that a text builds, as dotted keys with lines, the open keys,
//! and the calls of other code that may change it. Functions and constants of modules in the same repository
//! are followed. Runs nothing, and does not choose among several configurations.

mod calls;
mod compute;
mod expression;
mod flatten;
mod follow;
mod lex;
mod modules;
mod objects;
mod parse;
mod run;
mod started;
mod tree;
mod value;

#[cfg(test)]
mod tests;

use crate::context::{Context, Sources};
use crate::document::{Document, check_length};
use crate::{Draft, RemarkKind, shell};
use flatten::OpenKey;
use modules::Repository;
pub(crate) use objects::objects;
use railwright_spec::human::shorten;
use railwright_spec::problem::{Problem, did_you_mean};
pub(crate) use run::Given;
use run::{Escape, Program};
pub(crate) use started::{declaration, declared, given, is_declared, program};
use value::Value;

/// The comment with which a text chooses one of its configurations.
const MARK: &str = "# railwright: recipe =";

/// A text that chooses one of its configurations.
pub(crate) fn chosen(text: &str, name: &str) -> String {
    format!("{text}\n{MARK} \"{name}\"\n")
}

/// Functions that are looked at, and names that are listed.
const MOST_FUNCTIONS: usize = 400;
const MOST_NAMED: usize = 40;

/// A configuration.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    /// The function or variable that contains it.
    pub(crate) name: String,
    pub(crate) document: Document,
    /// Keys with unknown values.
    open: Vec<OpenKey>,
    /// Calls of other code that may change it.
    calls: Vec<Call>,
    /// Lines that were not understood.
    others: Vec<usize>,
    /// Environment variables that are read as unset, with their lines.
    unset: Vec<(String, usize)>,
    /// The files that were followed, with their lines.
    pub(crate) sources: Sources,
}

/// A call of other code.
#[derive(Clone, Debug)]
struct Call {
    name: String,
    /// The key of its argument, empty for the whole.
    path: String,
    line: usize,
}

/// Calls that only read a configuration, or set where it is saved.
const HARMLESS: &[&str] = &[
    "validate",
    "finalize",
    "print_yaml",
    "to_yaml",
    "to_dict",
    "info",
    "print",
    "warning",
    "append",
    "main",
    "keys",
    "items",
    "get",
    "pop",
    "add",
    "decoder_vocab_size",
    "save_as_yaml",
    "is_dataclass",
    "asdict",
    "fields",
];

/// Tests whether a text is Python that imports a module or one of its submodules.
pub(crate) fn imports(text: &str, module: &str) -> bool {
    // A quick search for long texts that never name the module. A script of a shell may contain a program in
    // Python.
    text.contains(module)
        && !shell::is_marked(text)
        && text.lines().any(|line| {
            let line = line.trim_start();
            line.strip_prefix("from ").or_else(|| line.strip_prefix("import ")).is_some_and(|rest| {
                rest.trim_start()
                    .strip_prefix(module)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ' ', ',']))
            })
        })
}

/// The configuration of a text. `accepts` checks whether keys are a configuration of the required kind.
/// `keeps` selects functions of other files whose result the reader supports by name.
pub(crate) fn read(
    text: &str,
    file: &str,
    context: &Context<'_>,
    keeps: fn(&str) -> bool,
    accepts: &dyn Fn(&Recipe) -> bool,
) -> Result<Recipe, Problem> {
    check_length(text, file)?;
    let block = parse::parse(text).map_err(|problem| problem.in_file(file))?;
    let program = Program::of(&block, Repository::new(text, file, context, keeps));
    let chosen = text.lines().rev().find_map(|line| line.trim().strip_prefix(MARK));
    if let Some(chosen) = chosen.map(|name| name.trim().trim_matches(['"', '\''])) {
        return choose(&program, chosen).map_err(|problem| problem.in_file(file));
    }
    // The argument of a training function is the recipe that runs.
    let started = program.escapes.iter().rev().find_map(|escape| started(&program, escape, accepts));
    if let Some(recipe) = started {
        return Ok(recipe);
    }
    let mut found: Vec<Recipe> = functions(&program)
        .filter_map(|(name, index)| of_function(&program, name, index))
        .filter(|recipe| accepts(recipe))
        .collect();
    if found.is_empty() {
        let named = program.names().filter(|(_, value)| matches!(value, Value::Object(_)));
        found = named
            .map(|(name, value)| recipe(&program, name, value))
            .filter(|recipe| accepts(recipe))
            .collect();
    }
    if found.len() > 1 {
        return Err(several(&found, file));
    }
    found.pop().ok_or_else(|| {
        Problem::new("no function or variable of this file contains a configuration with literal values")
            .hint("pass the file that builds the configuration, or one saved by the framework")
            .in_file(file)
    })
}

fn several(found: &[Recipe], file: &str) -> Problem {
    let names: Vec<&str> = found.iter().take(MOST_NAMED).map(|recipe| recipe.name.as_str()).collect();
    let more = if found.len() > names.len() { ", ..." } else { "" };
    let example = names.first().copied().unwrap_or_default();
    Problem::new(format!("this file contains {} configurations: {}{more}", found.len(), names.join(", ")))
        .hint(format!("choose one, as in `{file}:{example}`, or with a line `{MARK} \"{example}\"`"))
        .in_file(file)
}

/// Public functions, in the order of the text.
fn functions<'p>(program: &'p Program<'_>) -> impl Iterator<Item = (&'p str, usize)> {
    let mut found: Vec<(&'p str, usize)> = program
        .names()
        .filter_map(|(name, value)| match value {
            Value::Function(index) if !name.starts_with('_') => Some((name, *index)),
            _ => None,
        })
        .collect();
    found.sort_by_key(|(_, index)| *index);
    found.into_iter().take(MOST_FUNCTIONS)
}

fn of_function(program: &Program<'_>, name: &str, index: usize) -> Option<Recipe> {
    let mut program = program.clone();
    program.escapes.clear();
    let value = program.call_alone(index);
    matches!(value, Value::Object(_)).then(|| recipe(&program, name, &value))
}

fn choose(program: &Program<'_>, chosen: &str) -> Result<Recipe, Problem> {
    let found = program.names().find(|(name, _)| *name == chosen).map(|(_, value)| value.clone());
    let recipe = match found {
        Some(Value::Function(index)) => of_function(program, chosen, index),
        Some(value @ Value::Object(_)) => Some(recipe(program, chosen, &value)),
        Some(_) | None => None,
    };
    recipe.ok_or_else(|| {
        let names = functions(program).map(|(name, _)| name);
        let hint = did_you_mean(chosen, names, "choose a function that returns one");
        let message =
            format!("no function or variable `{}` of this file contains a configuration", shorten(chosen));
        Problem::new(message).hint(hint)
    })
}

/// The configuration that a call starts a run with.
fn started(program: &Program<'_>, escape: &Escape, accepts: &dyn Fn(&Recipe) -> bool) -> Option<Recipe> {
    let last = escape.callee.rsplit('.').next().unwrap_or(&escape.callee);
    if !matches!(last, "pretrain" | "finetune" | "train" | "run" | "main") {
        return None;
    }
    // The configuration, or the call itself if its arguments are the configuration's sections.
    let handed = escape.values.iter().chain([&escape.result]);
    handed.map(|value| recipe(program, last, value)).find(|recipe| accepts(recipe))
}

fn recipe(program: &Program<'_>, name: &str, value: &Value) -> Recipe {
    let flat = flatten::flatten(program, value);
    let last = |callee: &str| callee.rsplit('.').next().unwrap_or(callee).to_owned();
    let calls = program
        .escapes
        .iter()
        .map(|escape| (last(&escape.callee), escape))
        .filter(|(name, _)| !matches!(name.as_str(), "pretrain" | "finetune" | "run"))
        .filter_map(|(name, escape)| {
            let path = escape.values.iter().find_map(|handed| match handed {
                Value::Object(id) => flatten::path_of(program, value, *id),
                _ => None,
            })?;
            Some(Call { name, path, line: escape.line })
        })
        .collect();
    let others = program.others.clone();
    let (unset, sources) = (program.unset.clone(), program.repository.sources());
    Recipe { name: name.to_owned(), document: flat.document, open: flat.open, calls, others, unset, sources }
}

impl Recipe {
    /// Line at which the value of a key is open; `None` if it is not.
    pub(crate) fn open_line(&self, path: &str) -> Option<usize> {
        self.open.iter().find(|open| open.path == path).map(|open| open.line)
    }

    /// The keys with unknown values.
    pub(crate) fn open_keys(&self) -> impl Iterator<Item = &OpenKey> {
        self.open.iter()
    }

    /// Replaces keys by those of a command line, which is applied last.
    pub(crate) fn override_with(&mut self, document: &Document) {
        for entry in &document.entries {
            let is_same = |path: &str| {
                path.strip_prefix(entry.path.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            self.document.entries.retain(|known| !is_same(&known.path));
            self.open.retain(|known| !is_same(&known.path));
        }
        self.document.entries.extend(document.entries.iter().cloned());
    }

    /// Reports open keys selected by `is_wanted`, calls of other code except those that `is_known` selects by
    /// name, and assumptions.
    pub(crate) fn remarks(
        &self,
        draft: &mut Draft,
        is_wanted: &dyn Fn(&str) -> bool,
        is_known: &dyn Fn(&str) -> bool,
    ) {
        let mut unresolved = |source: &str, line: usize, message: String| {
            draft.remark(RemarkKind::Unresolved, source, Some(line), message);
        };
        for open in self.open.iter().filter(|open| open.path.is_empty() || is_wanted(&open.path)) {
            let source = if open.path.is_empty() { "the configuration" } else { open.path.as_str() };
            unresolved(source, open.line, format!("{}, so it stays unset", open.why));
        }
        let matters = |path: &str| path.is_empty() || is_wanted(path);
        for call in self.calls.iter().filter(|call| matters(&call.path)) {
            if HARMLESS.contains(&call.name.as_str()) {
                continue;
            }
            let with = if call.path.is_empty() { "the configuration" } else { call.path.as_str() };
            let message =
                format!("is called with {with} and defined in another file: its changes are unknown");
            unresolved(&format!("{}(...)", call.name), call.line, message);
        }
        for line in &self.others {
            unresolved("a statement", *line, "is unknown and ignored".to_owned());
        }
        for entry in &self.document.entries {
            let Some(path) = entry.path.strip_suffix("_target_") else { continue };
            let path = path.trim_end_matches('.');
            let callee = entry.data.plain();
            let last = callee.rsplit('.').next().unwrap_or(&callee);
            let is_function = last.starts_with(|c: char| c.is_lowercase() || c == '_');
            let starts = matches!(last, "pretrain" | "finetune" | "train" | "validate");
            if is_function && !starts && matters(path) && !is_known(last) {
                let what = if path.is_empty() { "the configuration" } else { path };
                let message =
                    format!("creates {what} in another file: settings only in that file stay unset");
                unresolved(&format!("{last}(...)"), entry.spot.line, message);
            }
        }
        for (name, line) in &self.unset {
            let source = format!("os.environ[\"{}\"]", shorten(name));
            draft.remark(RemarkKind::Assumed, &source, Some(*line), "is assumed unset: its default applies");
        }
        let message = "read with the defaults of its parameters; no code is executed";
        draft.remark(RemarkKind::Assumed, &self.name, None, message);
    }
}

/// The result of every public function of a text that returns an object, called with fields of its
/// parameters. Arguments that the text declares for its command line have their defaults.
pub(crate) fn results(text: &str, file: &str, given: &[Given<'_>]) -> Result<Vec<Recipe>, Problem> {
    check_length(text, file)?;
    let block = parse::parse(text).map_err(|problem| problem.in_file(file))?;
    // Classes of the framework are known by name: their code is not followed.
    let alone = Context::default();
    let mut program = Program::of(&block, Repository::new(text, file, &alone, |_| true));
    let mut declaring = program.clone();
    for (_, index) in functions(&program) {
        let _ = declaring.call_alone(index);
    }
    program.arguments = declaring.arguments;
    let called = functions(&program).filter_map(|(name, index)| {
        let mut program = program.clone();
        program.escapes.clear();
        let value = program.call_with(index, given);
        matches!(value, Value::Object(_)).then(|| recipe(&program, name, &value))
    });
    Ok(called.collect())
}

/// All variables of a text, each under its name: configurations that are modules, as of MMEngine.
pub(crate) fn variables(text: &str, file: &str, context: &Context<'_>) -> Result<Recipe, Problem> {
    check_length(text, file)?;
    let block = parse::parse(text).map_err(|problem| problem.in_file(file))?;
    Ok(variables_of(&Program::of(&block, Repository::new(text, file, context, |_| false)), file))
}

fn variables_of(program: &Program<'_>, file: &str) -> Recipe {
    let mut whole = recipe(program, file, &Value::None);
    whole.document = Document::default();
    let names: Vec<(String, Value)> = program
        .names()
        .filter(|(name, value)| {
            let is_code = matches!(value, Value::Function(_) | Value::Class(_) | Value::Name(_));
            !is_code && !name.starts_with("__")
        })
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    for (name, value) in names {
        let flat = flatten::flatten(program, &value);
        let below = |path: &str| if path.is_empty() { name.clone() } else { format!("{name}.{path}") };
        whole.document.entries.extend(flat.document.entries.into_iter().map(|mut entry| {
            entry.path = below(&entry.path);
            entry.name.clone_from(&entry.path);
            entry
        }));
        whole.open.extend(flat.open.into_iter().map(|open| OpenKey { path: below(&open.path), ..open }));
    }
    whole
}
