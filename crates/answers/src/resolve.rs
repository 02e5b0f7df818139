//! From a specification to a resolved run: model, cluster, plan, and the defaults of unspecified settings.
//!
//! Responsible for: the start of a plan without parallel sizes, its validation, and the list of defaults.
//! Excludes prices and file access.

use crate::fits::fit;
use crate::{Refused, Texts};
use railwright_calculator::defaults;
use railwright_calculator::memory::Fit;
use railwright_spec::cluster::{Cluster, ClusterSpec};
use railwright_spec::human;
use railwright_spec::plan::{AutoSize, Plan, PlanSpec, Recompute};
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::run::{Run, RunSpec, Section as _};
use railwright_tuner::disruptions_of;

/// A run with its unspecified settings.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Resolved run.
    pub run: Run,
    /// Warnings about the plan.
    pub warnings: Vec<Warning>,
    /// Defaults of unspecified settings, as text.
    pub chosen: Vec<String>,
    /// Specified settings.
    pub spec: RunSpec,
}

/// The search over layouts of a run, as a command in addition to the run's arguments. It needs a batch that
/// does not depend on the layout.
pub fn search_command(spec: &RunSpec, run: &Run) -> String {
    match spec.plan.micro_batches {
        Some(_) => format!("`railwright search --global-batch {}`", run.plan.global_batch),
        None => "`railwright search`".to_owned(),
    }
}

/// Resolves everything of a run except its plan, which is a placeholder.
pub fn resolve_but_plan(spec: &RunSpec, texts: &dyn Texts) -> Result<Run, Problem> {
    let calibration = spec.cluster.calibration.as_deref();
    let mut run = defaults::resolve_but_plan(spec, |path| {
        if calibration == Some(path) { texts.text(path) } else { texts.model_config(path) }
    })?;
    if let Some(path) = &spec.training.part_rates {
        let table = (texts.text(path)?, path.clone());
        run.training.disruptions = Some(disruptions_of(&run.cluster, &[table])?);
    }
    Ok(run)
}

/// Resolves a specification. A plan without parallel sizes gets the fastest common layout that fits, and
/// without a number of devices the smallest number on which one does.
pub fn resolve(spec: RunSpec, texts: &dyn Texts) -> Result<Resolved, Refused> {
    on_fewest(resolve_as_specified(spec, texts)?, texts)
}

fn resolve_as_specified(spec: RunSpec, texts: &dyn Texts) -> Result<Resolved, Refused> {
    let cluster =
        spec.cluster.resolve_calibrated(|path| texts.text(path)).map_err(|problem| spec.placed(problem))?;
    // Parallel sizes chosen by the specification do not matter yet; a plan without a layout may not even
    // divide.
    let mut quiet = spec.clone();
    quiet.cluster.calibration = None;
    let mut run = resolve_but_plan(&quiet, texts)?;
    run.cluster = cluster;
    let placed = |problem| Refused::from(spec.placed(problem));
    let mut chosen = Vec::new();
    let (plan, start) = defaults::resolve_plan(&spec.plan, &run.model, &run.cluster).map_err(placed)?;
    run.plan = plan;
    chosen.extend(start.map(|start| match start.fitting {
        0 => format!(
            "layout: of {} common layouts, none of which fits, the one with the lowest memory use",
            start.possible
        ),
        fitting => {
            format!("layout: the fastest of {fitting} common layouts that fit ({} tried)", start.possible)
        }
    }));
    let (run, warnings) = spec.validated(run).map_err(Refused)?;
    if spec.plan.layers_per_stage.is_none()
        && let Some(per_stage) = &run.plan.layers_per_stage
    {
        chosen.push(format!(
            "layers per {} {}",
            if run.plan.virtual_stages > 1 { "chunk" } else { "stage" },
            human::counts(per_stage)
        ));
    }
    chosen.extend(unspecified(&spec, &run));
    Ok(Resolved { run, warnings, chosen, spec })
}

/// Maximum number of doublings of the devices: from 8 to 16,384.
const DOUBLINGS: u32 = 11;

/// Run on the smallest number of devices that fits, by doubling whole machines. Unchanged if devices or
/// layout are specified, if it fits, or if no number fits.
fn on_fewest(first: Resolved, texts: &dyn Texts) -> Result<Resolved, Refused> {
    let is_open = first.spec.cluster.devices.is_none() && defaults::is_open(&first.spec.plan);
    if !is_open || fit(&first.run)? == Fit::Fits {
        return Ok(first);
    }
    for doubling in 1..=DOUBLINGS {
        let devices = first.run.cluster.devices.saturating_mul(1 << doubling);
        let mut spec = first.spec.clone();
        spec.cluster.devices = Some(devices);
        // A batch or a cluster may be invalid for some numbers of devices.
        let Ok(mut resolved) = resolve_as_specified(spec, texts) else { continue };
        if fit(&resolved.run)? == Fit::Fits {
            let words = format!("{} GPUs: the smallest power of two that fits", human::whole(devices));
            resolved.chosen.insert(0, words);
            return Ok(resolved);
        }
    }
    Ok(first)
}

/// Defaults of unspecified settings, most important first.
pub(crate) fn unspecified(spec: &RunSpec, run: &Run) -> Vec<String> {
    let plan = &run.plan;
    let specified = &spec.plan;
    let mut chosen = Vec::new();
    let mut note = |is_open: bool, words: String| {
        if is_open {
            chosen.push(words);
        }
    };
    note(spec.cluster.devices.is_none(), format!("{} devices", human::whole(run.cluster.devices)));
    for words in usual_server(&spec.cluster, &run.cluster) {
        note(true, words);
    }
    let ones = sizes_of_one(specified, run);
    note(!ones.is_empty(), format!("{} (`auto` chooses a size)", ones.join(", ")));
    let has_batch = specified.global_batch.is_some()
        || specified.micro_batches.is_some()
        || specified.batch_tokens.is_some();
    note(
        specified.sequence_length.is_none(),
        format!("sequences of {} tokens", human::whole(plan.sequence_length)),
    );
    let published = specified.published_training(&run.model);
    let origin =
        published.map_or_else(String::new, |t| format!(", from the published training: {}", t.source));
    note(!has_batch, format!("global batch {}{origin}", human::whole(plan.global_batch)));
    note(specified.micro_batch.is_none(), format!("micro-batch {}", plan.micro_batch));
    if let Some(lora) = plan.adapters() {
        note(specified.lora_rank.is_none(), format!("LoRA rank {}", lora.rank));
        let targets: Vec<String> = lora.targets.iter().map(|target| target.name()).collect();
        note(specified.lora_targets.is_none(), format!("adapters on {}", targets.join(", ")));
    }
    let bare = specified.precision.is_none() && specified.precision_compute.is_none();
    note(bare, plan.precision.compute.name().to_owned());
    note(specified.sharding.is_none(), format!("ZeRO stage {}", plan.sharding.zero_stage));
    note(specified.recompute.is_none() && specified.stage_recompute.is_none(), recompute(plan).to_owned());
    note(
        specified.virtual_stages.is_none() && plan.pipeline_parallel > 1 && plan.virtual_stages == 1,
        "no interleaving".to_owned(),
    );
    note(
        specified.segment.is_none() && plan.segment.is_some(),
        format!(
            "segments: {} of the {} GPUs of each scale-up domain",
            plan.domain(&run.cluster),
            run.cluster.scale_up.domain_size
        ),
    );
    note(specified.software.is_none(), format!("software {}", plan.software));
    chosen
}

/// Parallel sizes that are 1 because others are set: names of those that the model and the number of devices
/// allow to be larger.
fn sizes_of_one(specified: &PlanSpec, run: &Run) -> Vec<String> {
    if defaults::is_searchable(specified) || run.plan.sharding.zero_stage == 3 || run.cluster.devices == 1 {
        return Vec::new();
    }
    let matters = |size: &AutoSize| match size {
        AutoSize::Context => run.plan.sequence_length >= 2 * defaults::FEWEST_TOKENS,
        AutoSize::Expert => run.model.is_mixture_of_experts(),
        AutoSize::Tensor | AutoSize::Pipeline => true,
    };
    let open = AutoSize::ALL.into_iter().filter(|size| specified.get(size.key()).is_none());
    open.filter(matters).map(|size| format!("{} 1", size.name())).collect()
}

/// Default server of PCIe cards: their number, their share of the network and their bridges are guesses.
pub(crate) fn usual_server(specified: &ClusterSpec, cluster: &Cluster) -> Vec<String> {
    let scale_up = &cluster.scale_up;
    let on_bus = cluster.devices_per_node > scale_up.domain_size;
    let server = (specified.devices_per_node.is_none() && on_bus).then(|| {
        format!(
            "servers of {} GPUs on PCIe, {} of network per GPU",
            cluster.devices_per_node,
            human::bandwidth(cluster.network.bandwidth)
        )
    });
    let is_bridged = scale_up.domain_size == 2 && scale_up.link.starts_with("NVLink bridge");
    let bridges = (specified.scale_up_domain.is_none() && is_bridged).then(|| {
        "pairs of GPUs with NVLink bridges (assumed; `--set cluster.scale_up.domain=1` removes them)"
            .to_owned()
    });
    server.into_iter().chain(bridges).collect()
}

/// Unspecified recompute is that of a plan that does not fit without, see [`defaults::resolve_layout`].
fn recompute(plan: &Plan) -> &'static str {
    match &plan.recompute {
        Recompute::None => "no recompute",
        Recompute::Selective { .. } => "selective recompute (does not fit without it)",
        Recompute::Full { .. } => "full recompute (does not fit without it)",
    }
}
