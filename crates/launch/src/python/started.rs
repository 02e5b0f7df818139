//! Python programs with a command line of their own.
//!
//! Responsible for: the settings that a program has when a command starts it: variables, the arguments that
//! it declares, and the fields of its classes of settings. Runs nothing: only literal values count.

use super::modules::Repository;
use super::run::Program;
use super::tree::{Expression, Kind};
use super::value::Value;
use super::{Recipe, parse, variables_of};
use crate::Context;
use crate::document::{Data, Entry, Spot, check_length};
use crate::shell::Word;
use railwright_spec::problem::Problem;
use std::collections::BTreeMap;

/// Functions that are looked at.
pub(super) const MOST_FUNCTIONS: usize = 200;
/// Ends of the names of classes whose fields are settings.
const SETTINGS: [&str; 7] =
    ["Config", "Configuration", "Args", "Arguments", "Params", "Parameters", "Settings"];
/// The section of declared arguments, as most programs name the parsed ones.
const ARGUMENTS: &str = "args";

/// Key of an argument that a program declares.
pub(crate) fn declared(name: &str) -> String {
    format!("{ARGUMENTS}.{name}")
}

/// Tests whether a key is an argument that a program declares.
pub(crate) fn is_declared(path: &str) -> bool {
    path.split_once('.').is_some_and(|(section, _)| section == ARGUMENTS)
}

/// The arguments of a command by the names that argparse gives them.
pub(crate) fn given(words: &[Word]) -> Vec<(String, Data)> {
    let mut found = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let Some(flag) = word.text.strip_prefix("--").filter(|flag| !flag.is_empty()) else { continue };
        let (name, value) = if let Some((name, value)) = flag.split_once('=') {
            (name, Some((value.to_owned(), word)))
        } else {
            let next = words.next_if(|next| !next.text.starts_with("--"));
            (flag, next.map(|next| (next.text.clone(), next)))
        };
        let data = match value {
            None => Data::Flag(true),
            Some((text, word)) if word.unknown.is_empty() => Data::of_word(&text),
            Some(_) => Data::Text("$".to_owned()),
        };
        found.push((name.replace('-', "_"), data));
    }
    found
}

/// Arguments of a command as values; one that the command does not determine is open.
pub(super) fn values(given: &[(String, Data)]) -> BTreeMap<String, Value> {
    let value = |data: &Data| match data {
        Data::Flag(flag) => Value::Flag(*flag),
        Data::Integer(n) => Value::Integer(*n),
        Data::Number(x) => Value::Number(*x),
        Data::Text(text) if !text.contains('$') => Value::Text(text.clone()),
        _ => Value::Open("is an argument whose value the command does not determine".into()),
    };
    given.iter().map(|(name, data)| (name.clone(), value(data))).collect()
}

/// The settings of a program that a command starts with these arguments.
pub(crate) fn program(
    text: &str,
    file: &str,
    given: &[(String, Data)],
    context: &Context<'_>,
) -> Result<Recipe, Problem> {
    check_length(text, file)?;
    let block = parse::parse(text).map_err(|problem| problem.in_file(file))?;
    let program = Program::started(&block, Repository::new(text, file, context, |_| false), values(given));
    let mut whole = variables_of(&program, file);
    let mut arguments = program.arguments.clone();
    // Most programs declare their arguments in a function, of their own or of an imported file.
    let lines: Vec<&str> = text.lines().collect();
    let first: Vec<usize> = program.functions.iter().map(|function| function.line).collect();
    for (index, &line) in first.iter().enumerate().take(MOST_FUNCTIONS) {
        let end = first.iter().copied().filter(|&other| other > line).min().unwrap_or(lines.len() + 1);
        let body = lines.get(line.saturating_sub(1)..(end - 1).min(lines.len())).unwrap_or_default();
        if !body.iter().any(|line| line.contains("add_argument(") || line.contains("parse_")) {
            continue;
        }
        let mut one = program.clone();
        let _ = one.call_alone(index);
        for (name, value) in one.arguments {
            arguments.entry(name).or_insert(value);
        }
    }
    let mut put = |path: String, value: &Value, line: usize| {
        let data = match value {
            Value::Flag(flag) => Data::Flag(*flag),
            Value::Integer(n) => Data::Integer(*n),
            Value::Number(x) => Data::Number(*x),
            Value::Text(text) => Data::Text(text.clone()),
            _ => return,
        };
        if whole.document.get(&path).is_none() {
            whole.document.entries.push(Entry::new(path, data, Spot { line, column: 0 }));
        }
    };
    for (name, value) in &arguments {
        put(declared(name), value, declaration(text, name));
    }
    let mut reading = program.clone();
    // Classes of other files are those of a library.
    let own = lines.len();
    for class in &program.classes {
        if !SETTINGS.iter().any(|end| class.name.ends_with(end)) {
            continue;
        }
        for statement in class.body.iter().filter(|statement| statement.line <= own) {
            let Kind::Assign(targets, value) = &statement.kind else { continue };
            let [target] = targets.as_slice() else { continue };
            let Expression::Name(name) = &target.expression else { continue };
            let value = reading.value(value);
            put(format!("{}.{name}", class.name), &value, statement.line);
        }
    }
    Ok(whole)
}

/// The line that declares an argument; 0 without one in this text.
pub(crate) fn declaration(text: &str, name: &str) -> usize {
    let dashed = name.replace('_', "-");
    let quoted =
        |line: &str, name: &str| ['"', '\''].iter().any(|quote| line.contains(&format!("--{name}{quote}")));
    text.lines().position(|line| quoted(line, name) || quoted(line, &dashed)).map_or(0, |index| index + 1)
}
