//! One loader for every command: a file's content determines its kind, regardless of its slot.
//!
//! Responsible for: moving a run file, a launch file, a log or a model to the slot for its kind. `--run`,
//! `--launch` and MODEL thus accept any of them. Two files of one kind are an error: the choice is the
//! user's.

use super::sources::Sources;
use crate::{LOG_LIMIT, Refused, launch_files, path_of, read};
use railwright_launch::Format;
use railwright_spec::problem::Problem;
use railwright_spec::{model, run};

/// Kind of a word on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A run file, or a file that only its reader can reject.
    Run,
    /// A launch file, or a log that prints its arguments.
    Launch,
    /// A name of the catalogue, or a model's configuration.
    Model,
    /// Another kind; the reader of its slot rejects it.
    Other,
}

/// The arguments with every file in the slot of its kind.
pub fn sorted(arguments: impl Into<Sources>) -> Result<Sources, Refused> {
    let arguments = arguments.into();
    let mut out = arguments.clone();
    if let Some(word) = &arguments.run {
        match kind_behind_run(word)? {
            Kind::Launch => put(&mut out.launch, &mut out.run, "--run", "launch file")?,
            Kind::Model => put(&mut out.model, &mut out.run, "--run", "model")?,
            Kind::Run | Kind::Other => {}
        }
    }
    if let Some(path) = &arguments.launch {
        // A name of the catalogue is not a file.
        let is_name = path_of(path)?.is_none() && model::by_name(path).is_ok();
        match if is_name { Kind::Model } else { kind_of(path)? } {
            Kind::Run => put(&mut out.run, &mut out.launch, "--launch", "run file")?,
            Kind::Model => put(&mut out.model, &mut out.launch, "--launch", "model")?,
            Kind::Launch | Kind::Other => {}
        }
    }
    if let Some(word) = &arguments.model
        && out.model.as_ref() == Some(word)
        && let Some(path) = path_of(word)?
        && kind_of(&path)? == Kind::Run
    {
        out.model = Some(path);
        put(&mut out.run, &mut out.model, "MODEL", "run file")?;
    }
    Ok(out)
}

/// Moves a word from the slot in which it was named to the slot of its kind.
fn put(to: &mut Option<String>, from: &mut Option<String>, named: &str, what: &str) -> Result<(), Refused> {
    let word = from.take();
    if let (Some(first), Some(second)) = (to.as_deref(), word.as_deref())
        && first != second
    {
        let problem = Problem::new(format!("`{first}` and `{second}` are both a {what}")).in_file(named);
        return Err(problem.hint("pass only one of them").into());
    }
    *to = word.or_else(|| to.take());
    Ok(())
}

/// With `--run`, a valid run file is one, even if it resembles another format.
fn kind_behind_run(word: &str) -> Result<Kind, Refused> {
    let Some(path) = path_of(word)? else {
        // `--run run` names a file without an ending; a name of the catalogue is a model.
        return Ok(if model::by_name(word).is_ok() { Kind::Model } else { Kind::Run });
    };
    let text = read(&path, LOG_LIMIT)?;
    if run::parse(&text, &path).is_ok() {
        return Ok(Kind::Run);
    }
    Ok(match kind_of(&path)? {
        Kind::Other => Kind::Run,
        kind => kind,
    })
}

fn kind_of(path: &str) -> Result<Kind, Refused> {
    // One with errors is found by its format below.
    if let Ok(Some(_)) = launch_files::of_path(path) {
        return Ok(Kind::Launch);
    }
    let text = read(path, LOG_LIMIT)?;
    Ok(match launch_files::format(&text) {
        Some(Format::RunFile) => Kind::Run,
        Some(Format::HuggingFace) => Kind::Model,
        Some(Format::Trace | Format::NcclTests | Format::Topology) | None => Kind::Other,
        Some(_) => Kind::Launch,
    })
}
