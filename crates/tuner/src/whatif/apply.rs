//! Applies a change to a run, with everything else kept.
//!
//! Responsible for: the meaning of "everything else". Layout, batch in sequences, sequence length and number
//! of devices are kept, whether set or default; derived values (data parallelism from other sizes, formats
//! from a preset, links of another accelerator) follow. Does not search: a layout that becomes invalid is
//! reported, not replaced.

use super::change::{Amount, Change, Setting};
use super::changed::{Changed, SlowMember};
use super::{facts, price};
use crate::flows::OnTopology;
use railwright_calculator::defaults;
use railwright_spec::cluster::{Cluster, accelerator_by_name, preset_names};
use railwright_spec::plan::validate;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::run::{ModelSpec, Run, RunSpec, Value};

/// Returns the text of a model's `config.json` by its path.
pub type ReadConfig<'a> = &'a dyn Fn(&str) -> Result<String, Problem>;

/// The run to which changes are applied.
#[derive(Clone, Copy)]
pub struct Baseline<'a> {
    /// Specification of the run.
    pub spec: &'a RunSpec,
    /// The resolved run.
    pub run: &'a Run,
    /// Reader for a model's file, if a change contains one.
    pub read: ReadConfig<'a>,
    /// The topology on which collectives are simulated. `None` selects the closed form.
    pub network: Option<&'a OnTopology>,
}

/// Reason why a change cannot be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Refusal {
    /// Invalid change: a value out of range, an unknown name, a missing stage.
    Wrong(Vec<Problem>),
    /// The change is valid, but the run is impossible with it.
    Impossible(Vec<Problem>),
}

/// Applies a change to a run. Fails with all problems if the change is invalid or makes the run impossible.
pub(super) fn apply(baseline: &Baseline<'_>, change: &Change) -> Result<Changed, Refusal> {
    let wrong = |problem| Refusal::Wrong(vec![renamed(problem)]);
    let mut spec = pinned(baseline);
    make_room(&mut spec, baseline, change);
    let mut slow = Vec::new();
    let mut nodes = None;
    // Multiples last: `cluster=dgx-b200,hbm=x2` doubles the new cluster's bandwidth.
    let is_multiple = |setting: &&Setting| matches!(setting, Setting::Key { value: Amount::Times(_), .. });
    let (multiples, values): (Vec<&Setting>, Vec<&Setting>) = change.settings.iter().partition(is_multiple);
    for setting in values.into_iter().chain(multiples) {
        match setting {
            Setting::Key { key, value } => {
                let path = key.path();
                let text = match value {
                    Amount::Is(text) => text.clone(),
                    Amount::Times(factor) => times(&spec, baseline.run, &path, *factor).map_err(wrong)?,
                };
                set(&mut spec, &path, &text).map_err(wrong)?;
            }
            Setting::Nodes(amount) => nodes = Some(amount),
            Setting::Slow { what, index, rate } => {
                slow.push(SlowMember { what: *what, index: *index, rate: *rate });
            }
        }
    }
    if spec.cluster.devices.is_none() {
        let plan = &spec.plan;
        let degrees =
            [plan.tensor_parallel, plan.pipeline_parallel, plan.context_parallel, plan.data_parallel];
        spec.cluster.devices =
            Some(degrees.iter().fold(1_u64, |product, degree| product.saturating_mul(degree.unwrap_or(1))));
    }
    if let Some(amount) = nodes {
        set_nodes(&mut spec, baseline, amount).map_err(wrong)?;
    }
    let placed = |problems: Vec<Problem>| {
        problems.into_iter().map(|problem| renamed(spec.placed(problem))).collect::<Vec<_>>()
    };
    let (run, warnings) = resolve(&spec, baseline).map_err(|refusal| match refusal {
        Refusal::Wrong(problems) => Refusal::Wrong(placed(problems)),
        Refusal::Impossible(problems) => Refusal::Impossible(placed(problems)),
    })?;
    let absent: Vec<Problem> = slow.iter().filter_map(|member| price::absent(&run, member)).collect();
    if !absent.is_empty() {
        return Err(Refusal::Wrong(absent));
    }
    Ok(Changed { run, slow, warnings })
}

/// The specification with everything fixed that a change of another setting must not affect.
fn pinned(baseline: &Baseline<'_>) -> RunSpec {
    let mut spec = baseline.spec.clone();
    let (run, specified) = (baseline.run, &mut spec.plan);
    let plan = &run.plan;
    if specified.layers_per_stage.is_none() && plan.layers_per_stage.is_some() {
        specified.uneven_stages = Some(true);
    }
    if defaults::is_open(specified) {
        // The layout was a default.
        specified.virtual_stages = Some(plan.virtual_stages);
    }
    if specified.stage_recompute.is_none() {
        // The default of a plan depends on its memory, so it would hide the effect of a change of the memory.
        specified.recompute = Some(plan.recompute.clone());
    }
    specified.tensor_parallel = Some(plan.tensor_parallel);
    specified.pipeline_parallel = Some(plan.pipeline_parallel);
    specified.context_parallel = Some(plan.context_parallel);
    specified.expert_parallel = Some(plan.expert_parallel);
    specified.micro_batch = Some(plan.micro_batch);
    (specified.global_batch, specified.micro_batches, specified.batch_tokens) =
        (Some(plan.global_batch), None, None);
    specified.sequence_length = Some(plan.sequence_length);
    spec.cluster.devices = Some(run.cluster.devices);
    spec
}

/// Opens settings that the change itself determines.
fn make_room(spec: &mut RunSpec, baseline: &Baseline<'_>, change: &Change) {
    let later: Vec<String> = change
        .settings
        .iter()
        .filter_map(|setting| match setting {
            Setting::Key { key, .. } => Some(key.path()),
            Setting::Nodes(_) => Some("cluster.devices".to_owned()),
            Setting::Slow { .. } => None,
        })
        .collect();
    let later: Vec<&str> = later.iter().map(String::as_str).collect();
    let sets = |path: &str| later.contains(&path);
    spec.clear_replaced(&later);
    if sets("plan.stage_recompute") {
        spec.plan.recompute = None;
    }
    if sets("plan.data_parallel") && !sets("cluster.devices") {
        // More replicas are more devices; see `apply`.
        spec.cluster.devices = None;
    }
    let is_by_name = ModelSpec { name: None, ..baseline.spec.model.clone() } == ModelSpec::default();
    if (sets("model.name") && !is_by_name) || sets("model.config") {
        spec.model = ModelSpec::default();
    }
    if sets("cluster.preset") && !sets("cluster.accelerator") {
        spec.cluster.accelerator = None;
    }
}

fn set(spec: &mut RunSpec, path: &str, text: &str) -> Result<(), Problem> {
    if path == "cluster.preset" {
        let plain = text.trim().to_ascii_lowercase().replace(['_', ' '], "-");
        if let (false, Ok(accelerator)) =
            (preset_names().contains(&plain.as_str()), accelerator_by_name(text))
        {
            spec.cluster.preset = None;
            return spec.set(&format!("cluster.accelerator={}", accelerator.id));
        }
    }
    spec.set(&format!("{path}={text}"))
}

/// The value of a key multiplied by a factor, as text.
fn times(spec: &RunSpec, run: &Run, path: &str, factor: f64) -> Result<String, Problem> {
    let nothing = || {
        Problem::new("has no numeric value to scale")
            .in_file("--change")
            .at_key(path)
            .hint("use an absolute value")
    };
    let mut run = run.clone();
    if let Ok(cluster) = spec.cluster.resolve() {
        run.cluster = cluster;
    }
    let facts = facts::facts(&run);
    let (_, value) = facts.iter().find(|fact| fact.0 == path).ok_or_else(nothing)?;
    match value {
        Value::Integer(n) => Ok(format!("{}", *n as f64 * factor)),
        Value::Number(x) => Ok(rounded(x * factor)),
        Value::Text(text) => {
            let (number, unit) = text.split_once(' ').ok_or_else(nothing)?;
            let number: f64 = number.parse().map_err(|_| nothing())?;
            Ok(format!("{} {unit}", rounded(number * factor)))
        }
        Value::Flag(_) | Value::List(_) => Err(nothing()),
    }
}

/// Removes the last digits, which are rounding of the multiplication.
fn rounded(x: f64) -> String {
    format!("{x:.12e}").parse::<f64>().unwrap_or(x).to_string()
}

fn set_nodes(spec: &mut RunSpec, baseline: &Baseline<'_>, amount: &Amount) -> Result<(), Problem> {
    let per_node = spec.cluster.resolve()?.devices_per_node;
    let before = baseline.run.cluster.devices as f64 / baseline.run.cluster.devices_per_node.max(1) as f64;
    let nodes = match amount {
        Amount::Is(text) => text.parse::<f64>().unwrap_or(f64::NAN),
        Amount::Times(factor) => before * factor,
    };
    if !(1.0..=1e9).contains(&nodes) || nodes.fract() != 0.0 {
        return Err(Problem::new(format!("`nodes`: expected a whole number of 1 or more, found {nodes}"))
            .in_file("--change"));
    }
    spec.set(&format!("cluster.devices={}", (nodes as u64).saturating_mul(per_node)))
}

fn resolve(spec: &RunSpec, baseline: &Baseline<'_>) -> Result<(Run, Vec<Warning>), Refusal> {
    let wrong = |problem: Problem| Refusal::Wrong(vec![problem]);
    let model = if spec.model == baseline.spec.model {
        baseline.run.model.clone()
    } else {
        spec.model.resolve(baseline.read).map_err(wrong)?
    };
    let (cluster, dropped) = calibrated(spec, baseline).map_err(wrong)?;
    let training = spec.training.resolve().map_err(wrong)?;
    let cost = spec.cost.resolve().map_err(wrong)?;
    let plan = defaults::resolve_layout(&spec.plan, &model, &cluster)
        .map_err(|problem| Refusal::Impossible(vec![problem]))?;
    let problems = validate(&model, &cluster, &plan);
    if !problems.is_empty() {
        return Err(Refusal::Impossible(problems));
    }
    let run = Run {
        model,
        cluster,
        plan,
        training,
        cost,
        software_origin: spec.software_origin(),
        open_settings: spec.plan.open_settings(),
    };
    Ok((run, dropped.into_iter().collect()))
}

/// The cluster with its calibration file. The baseline's calibration does not apply to another accelerator:
/// the catalogue's values are used there, with a warning.
fn calibrated(spec: &RunSpec, baseline: &Baseline<'_>) -> Result<(Cluster, Option<Warning>), Problem> {
    let plain = spec.cluster.resolve()?;
    let is_other = plain.accelerator.id != baseline.run.cluster.accelerator.id;
    if is_other
        && spec.cluster.calibration.is_some()
        && spec.cluster.calibration == baseline.spec.cluster.calibration
    {
        let message = format!(
            "the calibration is for {}; {} uses catalogue constants, so the difference includes the difference between the constants",
            baseline.run.cluster.accelerator.id, plain.accelerator.id
        );
        return Ok((plain, Some(Warning::new("calibration-left-out", message))));
    }
    Ok((spec.cluster.resolve_calibrated(baseline.read)?, None))
}

/// Settings of a change are parsed as settings of the command line; messages contain the user's input.
fn renamed(mut problem: Problem) -> Problem {
    if let Some(place) = problem.place.as_deref_mut()
        && (place.file == "--set" || place.file.is_empty())
    {
        "--change".clone_into(&mut place.file);
    }
    problem
}
