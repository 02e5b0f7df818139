//! Command line to a resolved run: run file, model, cluster, flags, settings; then defaults of the
//! generation.
//!
//! Responsible for: the order of these layers (later ones override) and the report of defaults. Does not
//! price.

pub mod convention;
pub mod launch;
pub mod slots;
mod sources;

use crate::Refused;
pub use railwright_answers::{Resolved, describe};
use railwright_calculator::valid_values::{Valid, valid_values};
use railwright_spec::cluster::ClusterSpec;
use railwright_spec::problem::Problem;
use railwright_spec::run::{ModelSpec, RunSpec, Sheet, key};
pub use sources::Sources;

/// Default cluster of a run without one: by far most measured runs used it.
pub const USUAL_CLUSTER: &str = "dgx-h100";

/// Resolves the command line; problems refer to its flags.
pub fn resolve(arguments: impl Into<Sources>) -> Result<Resolved, Refused> {
    resolve_as(&arguments.into(), |_| ())
}

/// The same; layers that do not divide evenly are spread as evenly as possible, unless that is disabled.
pub fn resolve_spread(arguments: impl Into<Sources>) -> Result<Resolved, Refused> {
    resolve_as(&arguments.into(), railwright_answers::spread)
}

fn resolve_as(arguments: &Sources, prepare: impl FnOnce(&mut RunSpec)) -> Result<Resolved, Refused> {
    let arguments = &slots::sorted(arguments)?;
    resolve_layers(arguments, prepare).map_err(|Refused(problems)| {
        Refused(problems.into_iter().map(|problem| in_words(arguments, problem)).collect())
    })
}

/// A problem in the words in which the run was typed.
fn in_words(arguments: &Sources, problem: Problem) -> Problem {
    railwright_answers::in_flags(problem, arguments.run.is_some())
}

/// The values of each setting that are valid with the rest of a run. The run itself may be invalid; its model
/// and cluster must be valid.
pub fn valid_values_of(arguments: impl Into<Sources>) -> Result<Vec<Valid>, Refused> {
    let arguments = &arguments.into();
    let spec = layered(arguments)?;
    let cluster = spec.cluster.resolve().map_err(|problem| in_words(arguments, spec.placed(problem)))?;
    let model = spec.model.resolve(crate::config_text);
    let model = model.map_err(|problem| in_words(arguments, spec.placed(problem)))?;
    Ok(valid_values(&spec, &model, &cluster))
}

fn resolve_layers(arguments: &Sources, prepare: impl FnOnce(&mut RunSpec)) -> Result<Resolved, Refused> {
    let mut spec = layered(arguments)?;
    prepare(&mut spec);
    if let Some(launch) = launch::find(arguments)? {
        launch::ask_for_the_open(&launch, &spec)?;
        launch::ask_for_devices(&launch, &spec)?;
    }
    railwright_answers::resolve(spec, &crate::Disk)
}

/// The validated settings as the start of a run file; a small run if there are none.
pub fn starting_point(arguments: impl Into<Sources>) -> Result<RunSpec, Refused> {
    let arguments = &arguments.into();
    let is_silent = arguments.run.is_none()
        && arguments.launch.is_none()
        && arguments.model.is_none()
        && arguments.cluster.is_none()
        && arguments.set.is_empty()
        && arguments.settings.is_empty();
    if is_silent {
        let mut spec = RunSpec::default();
        for setting in ["model.name=llama-3-8b", "cluster.preset=dgx-h100", "cluster.devices=8"] {
            spec.set(setting)?;
        }
        return Ok(spec);
    }
    resolve(arguments)?;
    layered(arguments)
}

/// Settings of all layers, unresolved.
pub fn layered(arguments: impl Into<Sources>) -> Result<RunSpec, Refused> {
    let arguments = &slots::sorted(arguments)?;
    let conventional = if arguments.run.is_none() { convention::run_file() } else { None };
    let mut spec = match arguments.run.as_deref().or(conventional) {
        Some(path) => from_file(path)?,
        None => RunSpec::default(),
    };
    let launch = launch::find(arguments)?;
    if let Some(launch) = &launch {
        if launch.has_model() {
            spec.model = ModelSpec::default();
        }
        spec.overlay(&launch.spec);
        if spec.model.layers.is_some() || launch.model_config.is_some() {
            spec.model.name.get_or_insert_with(|| launch::name_of(&launch.file));
        }
    }
    if let Some(word) = arguments.model.as_ref().filter(|_| arguments.launch.is_some() || launch.is_none()) {
        spec.model = ModelSpec::default();
        match crate::path_of(word)? {
            Some(path) => {
                spec.model.name = (path == "-").then(|| "stdin".to_owned());
                spec.model.config = Some(path);
            }
            None => spec.set_flag("MODEL", "model.name", word)?,
        }
    }
    let named_run = arguments.run.as_ref().map(|_| &spec);
    if let Some(word) = arguments.cluster.as_deref().or_else(|| conventional_cluster(named_run)) {
        let (devices, per_node) = (spec.cluster.devices, spec.cluster.devices_per_node);
        spec.use_cluster(cluster(word)?);
        spec.cluster.devices = spec.cluster.devices.or(devices);
        if launch.is_some() {
            spec.cluster.devices_per_node = spec.cluster.devices_per_node.or(per_node);
        }
    }
    let typed = arguments.settings.iter().map(|(_, path, _)| path.clone());
    let set =
        arguments.set.iter().filter_map(|setting| Some(key(setting.split_once('=')?.0.trim()).ok()?.path()));
    let later: Vec<String> = typed.chain(set).collect();
    spec.clear_replaced(&later.iter().map(String::as_str).collect::<Vec<_>>());
    for (flag, path, value) in &arguments.settings {
        spec.set_flag(flag, path, value)?;
    }
    if let Some((flag, value)) = &arguments.sharding {
        spec.set_flag(flag, "plan.sharding", value)?;
    }
    for setting in &arguments.set {
        spec.set(setting)?;
    }
    if let Some(launch) = &launch {
        launch::ask_for_the_rest(launch, &spec)?;
    }
    if spec.model == ModelSpec::default() {
        let problem = in_named_file(arguments, Problem::new("no model is set"));
        return Err(problem.hint("pass a model, such as `llama-3.1-8b`, or a run file with --run").into());
    }
    if !spec.cluster.has_machine() {
        let hint = "set the cluster, as in `--cluster dgx-h100 --gpus 64`; `railwright clusters list` shows \
            the catalogue";
        // An unknown model would stay unknown with a cluster.
        spec.model.resolve(crate::config_text).map_err(|problem| spec.placed(problem))?;
        return Err(in_named_file(arguments, Problem::new("no cluster is set")).hint(hint).into());
    }
    Ok(spec)
}

/// A problem of a run as a whole, in its file if one is named.
fn in_named_file(arguments: &Sources, problem: Problem) -> Problem {
    match &arguments.run {
        Some(path) => problem.in_file(path),
        None => problem,
    }
}

/// The cluster that applies if none is named; that of a named run file takes precedence.
pub fn conventional_cluster(named_run: Option<&RunSpec>) -> Option<&'static str> {
    if named_run.is_some_and(|spec| spec.cluster.has_machine()) { None } else { convention::cluster() }
}

/// Reads a run file.
pub fn from_file(path: &str) -> Result<RunSpec, Problem> {
    railwright_answers::run_file(path, &crate::Disk)
}

/// The cluster for a word: a preset, a file, or the usual system of an accelerator.
pub fn cluster(word: &str) -> Result<Sheet<ClusterSpec>, Problem> {
    railwright_answers::cluster(word, &crate::Disk)
}
