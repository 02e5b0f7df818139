//! Launch files as a layer of a run: from `--launch` or MODEL, detected by content.
//!
//! Responsible for: errors for missing settings, and remarks on stderr. Independent of frameworks.

use super::slots;
pub use crate::launch_files::{forget, of_path};
use crate::run::Sources;
use crate::{Caller, LOG_LIMIT, Refused, launch_files, path_of, read};
use railwright_launch::{Format, Launch, Open, RemarkKind};
use railwright_spec::problem::{Place, Problem, Warning, did_you_mean};
use railwright_spec::run::{ModelSpec, RunSpec};
use std::path::Path;

/// The launch file of a command line, if there is one.
pub fn find(arguments: impl Into<Sources>) -> Result<Option<Launch>, Refused> {
    let arguments = arguments.into();
    let given = arguments.launch_args.as_deref().map(launch_files::Given::of_text).transpose()?;
    let given = given.unwrap_or_default();
    if given != launch_files::given() {
        forget();
        launch_files::give(given);
    }
    let arguments = &slots::sorted(arguments)?;
    if let Some(path) = &arguments.launch {
        return match of_path(path)? {
            Some(launch) => Ok(Some(launch)),
            None => Err(none_in(path)?.into()),
        };
    }
    let Some(word) = &arguments.model else { return Ok(None) };
    let Some(path) = path_of(word)? else { return Ok(None) };
    match of_path(&path)? {
        Some(launch) => Ok(Some(launch)),
        None if looks_like_a_config(&path)? => Ok(None),
        None => Err(none_in(&path)?.into()),
    }
}

/// Name of a model without a name: that of its launch file.
pub fn name_of(file: &str) -> String {
    let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.filter(|stem| file != "standard input" && !stem.is_empty()).unwrap_or_else(|| "custom".to_owned())
}

/// Tests whether the file is a model's configuration, even an invalid one. Its reader then reports the
/// errors.
fn looks_like_a_config(path: &str) -> Result<bool, Refused> {
    let text = read(path, LOG_LIMIT)?;
    let is_json = Path::new(path).extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    Ok(is_json || text.trim_start().starts_with(['{', '<']) || text.trim().is_empty())
}

/// The complaint about a file that is not a launch file.
fn none_in(path: &str) -> Result<Problem, Refused> {
    let text = read(path, LOG_LIMIT)?;
    let label = if path == "-" { "standard input" } else { path };
    if path != "-" && crate::jobs_found::format(path) == Some("training log") {
        let problem = Problem::new("this training log does not contain the configuration of its run");
        return Ok(problem.in_file(label).hint(format!(
            "pass the launch file of the run; `railwright compare {label} --launch FILE` \
                compares the log with it"
        )));
    }
    Ok(match launch_files::format(&text) {
        Some(Format::RunFile) => {
            Problem::new("this is a run file, not a launch file").hint("pass it with --run")
        }
        Some(Format::HuggingFace) => {
            Problem::new("this is a model's config.json, not a launch file").hint("pass it as MODEL")
        }
        Some(other) => Problem::new(format!("this is {}, not a launch file", other.title()))
            .hint("run `railwright detect` to see how a file is interpreted"),
        None if railwright_launch::expands_beyond_the_limit(&text) => {
            Problem::new("the expanded text of this script exceeds the limit, so its commands are unknown")
                .hint("pass the command that it starts")
        }
        None => Problem::new("unknown format: neither a launch file, a log nor a model's config.json").hint(
            "run `railwright detect --help` for the formats; pass the script with the training \
                arguments",
        ),
    }
    .in_file(label))
}

/// Required settings that are still open: model and cluster.
pub fn ask_for_the_rest(launch: &Launch, spec: &RunSpec) -> Result<(), Refused> {
    let mut problems = Vec::new();
    if spec.model == ModelSpec::default() {
        problems.push(open_model(launch));
    }
    if !spec.cluster.has_machine() {
        problems.push(
            Problem::new("launch files do not set the hardware").in_file(launch.file.clone()).hint(
                "add the machine, as in `--cluster dgx-h100`; `railwright clusters list` shows the catalogue",
            ),
        );
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// The model is missing from the file, or from the catalogue.
fn open_model(launch: &Launch) -> Problem {
    match launch.open.iter().find(|open| open.key == "model.name" && !open.source.is_empty()) {
        Some(open) => {
            let place = Place {
                file: open.file.clone().unwrap_or_else(|| launch.file.clone()),
                line: open.line,
                key: Some(open.source.clone()),
                ..Place::default()
            };
            let mut problem = Problem::new(open.why.clone()).hint(format!(
                "pass the model's config.json, as in `railwright estimate config.json --launch {}`",
                launch.file
            ));
            problem.place = Some(Box::new(place));
            problem
        }
        None => Problem::new(format!("this file ({}) does not set a model", launch.format.title()))
            .in_file(launch.file.clone())
            .hint(format!(
                "pass the model, as in `railwright estimate llama-3.1-8b --launch {}`, or with `--set \
                 model.name=llama-3.1-8b`",
                launch.file
            )),
    }
}

/// Keys that an estimate requires, and for which no default may apply in a file that shows only a part of its
/// run.
const NEEDED: &[&str] = &[
    "plan.tensor_parallel",
    "plan.pipeline_parallel",
    "plan.sequence_length",
    "plan.micro_batch",
    "plan.global_batch",
];

/// Settings of a launch file that could not be resolved, and those hidden by a partial file.
pub fn ask_for_the_open(launch: &Launch, spec: &RunSpec) -> Result<(), Refused> {
    // No default of an unknown program is known, and sharding decides whether it fits.
    let is_unknown = matches!(launch.format, Format::Other | Format::Script);
    let shards = is_unknown && spec.cluster.devices.is_none_or(|devices| devices > 1);
    let needs = |open: &Open| Launch::needs(open, spec) || shards && open.key == "plan.sharding";
    let open: Vec<&Open> = launch
        .open
        .iter()
        .filter(|open| spec.get(&open.key).is_none() && open.key != "cluster.devices")
        // How long a training lasts changes no step.
        .filter(|open| open.key != "training.tokens")
        .filter(|open| !open.key.starts_with("model.") || spec.model == ModelSpec::default() || needs(open))
        .filter(|open| !open.source.is_empty() || NEEDED.contains(&open.key.as_str()) || needs(open))
        .filter(|open| !open.key.starts_with("model.") || open.source.is_empty() || launch.has_model())
        // Micro-batches of a step and their size give the global batch.
        .filter(|open| open.key != "plan.global_batch" || spec.plan.micro_batches.is_none())
        .take(12)
        .collect();
    let problems = railwright_launch::ask_for(launch, &open, &railwright_answers::option);
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// The number of devices, which only some launch files have.
pub fn ask_for_devices(launch: &Launch, spec: &RunSpec) -> Result<(), Refused> {
    if spec.cluster.devices.is_some() || spec.plan.data_parallel.is_some() {
        return Ok(());
    }
    let open = launch.open.iter().find(|open| open.key == "cluster.devices" && !open.source.is_empty());
    let source = open.map_or_else(String::new, |open| format!(" (`{}`)", open.source));
    let message = format!("the number of devices is not set{source}");
    Err(Problem::new(message).in_file(launch.file.clone()).hint(Launch::devices_hint(spec)).into())
}

/// Prints the settings that were read, and those that were not, to stderr.
pub fn print_remarks(launch: &Launch, printer: &dyn Caller) {
    printer.note(&format!(
        "{} is {}; `railwright detect {}` shows the meaning of each line",
        launch.file,
        launch.format.title(),
        launch.file
    ));
    let doubtful: Vec<Warning> = launch
        .remarks
        .iter()
        .filter(|remark| !matches!(remark.kind, RemarkKind::Ignored | RemarkKind::Assumed))
        .map(|remark| remark.warning(&launch.file))
        .collect();
    printer.warnings(&doubtful);
    for remark in launch.remarks_of(RemarkKind::Assumed) {
        printer.note(&format!("`{}`: {}", remark.source, remark.message));
    }
    let ignored: Vec<&str> =
        launch.remarks_of(RemarkKind::Ignored).map(|remark| remark.source.as_str()).collect();
    if !ignored.is_empty() {
        let some = ignored.iter().take(3).map(|source| format!("`{source}`")).collect::<Vec<_>>().join(", ");
        printer.note(&format!(
            "no effect on step time or memory: {some}{}",
            match ignored.len() {
                0..=3 => String::new(),
                all => format!(" and {} more", all - 3),
            }
        ));
    }
}

/// A writer by its name, or an error with the available ones.
pub fn writer(name: &str) -> Result<&'static dyn railwright_launch::Writer, Problem> {
    let writers = railwright_launch::writers();
    writers.iter().find(|writer| writer.name() == name.to_ascii_lowercase()).copied().ok_or_else(|| {
        let names: Vec<&str> = writers.iter().map(|writer| writer.name()).collect();
        let list = format!(
            "use one of {}",
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        );
        let message = match railwright_spec::human::shorten(name) {
            none if none.is_empty() => "the framework is not set".to_owned(),
            name => format!("`{name}` is not an export format"),
        };
        Problem::new(message).in_file("--to").hint(did_you_mean(name, names, &list))
    })
}

/// A version of a writer's framework, or an error with the available ones.
pub fn version(writer: &dyn railwright_launch::Writer, name: &str) -> Result<&'static str, Problem> {
    let versions = writer.versions();
    versions.iter().copied().find(|version| *version == name).ok_or_else(|| {
        let shown = railwright_spec::human::shorten(name);
        let problem = Problem::new(format!("version `{shown}` of {} is not supported", writer.name()));
        let hint = if versions.is_empty() {
            format!("all known versions of {} read the same files: omit --target-version", writer.name())
        } else {
            format!("use one of {}", versions.join(", "))
        };
        problem.in_file("--target-version").hint(hint)
    })
}
