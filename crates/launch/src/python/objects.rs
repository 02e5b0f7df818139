//! Objects that a text creates by calls of other code, wherever it creates them.
//!
//! Responsible for: scripts that build their settings inside functions and pass them on, instead of returning
//! a configuration. Modules of the same repository are not followed.

use super::modules::Repository;
use super::run::Program;
use super::started::{self, MOST_FUNCTIONS};
use super::value::Value;
use super::{Recipe, parse, recipe};
use crate::Context;
use crate::document::{Data, check_length};
use railwright_spec::problem::Problem;

/// Objects whose class or function `wanted` selects by its whole name, in the order of the text. Functions
/// are called alone if the text itself creates none.
/// `given` are the arguments of the command that starts the text.
pub(crate) fn objects(
    text: &str,
    file: &str,
    given: &[(String, Data)],
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<Recipe>, Problem> {
    check_length(text, file)?;
    let block = parse::parse(text).map_err(|problem| problem.in_file(file))?;
    let alone = Context::default();
    let program =
        Program::started(&block, Repository::new(text, file, &alone, |_| true), started::values(given));
    let found = created(&program, wanted);
    if !found.is_empty() {
        return Ok(found);
    }
    let functions = 0..program.functions.len().min(MOST_FUNCTIONS);
    let mut best = Vec::new();
    for index in functions {
        let mut program = program.clone();
        let _ = program.call_with(index, &[]);
        let found = created(&program, wanted);
        if found.len() > best.len() {
            best = found;
        }
    }
    Ok(best)
}

fn created(program: &Program<'_>, wanted: &dyn Fn(&str) -> bool) -> Vec<Recipe> {
    let objects = program.heap.objects.iter().enumerate();
    objects
        .filter(|(_, object)| wanted(&object.callee))
        .map(|(id, object)| recipe(program, &object.callee, &Value::Object(id)))
        .collect()
}
