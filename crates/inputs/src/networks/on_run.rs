//! A run on network designs: defaults of a design from the run, and the step on the design.
//!
//! Responsible for: reading the run, completing designs, and steps from the tuner. Does not search: the plan
//! of the run is kept.

use crate::run::{self, Sources};
use railwright_answers::{Refused, placed_in_flags};
use railwright_network::bill::compare::OnRun;
use railwright_network::failures::Outages;
use railwright_network::topology::{Design, DesignSpec, Kind};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_spec::run::{Run, RunSpec, Sheet};
use railwright_tuner::codesign::fabric::{cluster_on, share_of, slowdown, step_time, unlimited_time};
use railwright_tuner::codesign::{MOST_FLOWS, simulated_step};
use railwright_tuner::flows::server_of;
use railwright_tuner::simulate::Extent;
use std::ops::ControlFlow;

/// Reads a run file with settings on top, and its specification.
pub fn read(path: &str, set: &[String]) -> Result<(Run, RunSpec), Refused> {
    let arguments = Sources { run: Some(path.to_owned()), set: set.to_vec(), ..Sources::default() };
    // Here `--cluster` and `--gpus` would describe the network: the run is completed with settings.
    let in_settings = |Refused(problems)| Refused(problems.into_iter().map(in_settings).collect());
    run::resolve_spread(&arguments)
        .map(|resolved| (resolved.run.as_used(), resolved.spec))
        .map_err(in_settings)
}

/// A problem with the options that these commands have.
fn in_settings(mut problem: Problem) -> Problem {
    let known = [
        ("--cluster dgx-h100 --gpus 64", "--set cluster.preset=dgx-h100 --set cluster.devices=64"),
        ("--cluster dgx-h100", "--set cluster.preset=dgx-h100"),
        ("--gpus 64", "--set cluster.devices=64"),
    ];
    if let Some(hint) = &mut problem.hint {
        for (flag, setting) in known {
            *hint = hint.replace(flag, setting);
        }
    }
    problem
}

/// Devices, domains and speed default to those of the run's cluster.
pub fn fill(sheet: &mut Sheet<DesignSpec>, run: &Run) {
    let (spec, cluster) = (&mut sheet.spec, &run.cluster);
    spec.devices.get_or_insert(cluster.devices);
    if !matches!(spec.kind, Some(Kind::ScaleUp | Kind::Torus)) {
        spec.domain.get_or_insert(cluster.scale_up.domain_size);
    }
    spec.domain_bandwidth.get_or_insert(cluster.domain_bandwidth());
    spec.speed.get_or_insert(cluster.network.bandwidth);
    spec.server = spec.server.or_else(|| server_of(cluster, spec.domain.unwrap_or(1)));
}

/// Checks that a design has exactly the devices that the run fills.
pub fn check(sheet: &Sheet<DesignSpec>, design: &Design, run: &Run) -> Result<(), Problem> {
    if design.devices == run.cluster.devices {
        return Ok(());
    }
    let problem = Problem::new(format!(
        "the network has {} devices, but the run uses {}",
        human::whole(design.devices),
        human::whole(run.cluster.devices)
    ));
    Err(placed_in_flags(
        sheet,
        problem.at_key("design.gpus").hint("omit design.gpus, or set cluster.devices of the run"),
    ))
}

/// The run's step on a design, or the reason why it is not comparable. It is simulated with the plan of the
/// run, as `network design` does.
pub fn step(
    design: &Design,
    (run, outages): (&Run, &Outages),
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<OnRun, Problem> {
    let cluster = cluster_on(design, &run.cluster)?;
    let closed_form = step_time(&run.model, &cluster, &run.plan)?;
    let unlimited = unlimited_time(&run.model, &cluster, &run.plan)?;
    let extent = Extent { most_flows: MOST_FLOWS, ..Extent::WHOLE };
    let simulated = simulated_step((&run.model, &run.cluster, &run.plan), design, extent, watch);
    let (step_time, unsimulated) = match simulated {
        Ok(Some(([_, median, _], _))) => (median, None),
        Ok(None) => (closed_form, Some("the simulation does not finish".to_owned())),
        Err(problem) => (closed_form, Some(problem.message)),
    };
    Ok(OnRun {
        step_time,
        closed_form,
        unsimulated,
        kept: outages.kept(design, share_of(closed_form, unlimited))?,
        network_share: share_of(step_time, unlimited),
        tokens_per_second: run.plan.tokens_per_step() as f64 / step_time.get(),
    })
}

/// Share of exposed network time in the run's step on a design: in the simulated step, if there is one.
pub fn exposed_share(design: &Design, run: &Run, simulated: Option<Seconds>) -> Result<f64, Problem> {
    let cluster = cluster_on(design, &run.cluster)?;
    let step = simulated.map_or_else(|| step_time(&run.model, &cluster, &run.plan), Ok)?;
    Ok(share_of(step, unlimited_time(&run.model, &cluster, &run.plan)?))
}

/// Slowdown of the run's step on a design with a share of its bandwidth; `None` if no bandwidth remains. An
/// error if the design has no step of this run.
pub fn slower(design: &Design, run: &Run, kept: f64) -> Result<Option<f64>, Problem> {
    let cluster = cluster_on(design, &run.cluster)?;
    slowdown(&run.model, &cluster, &run.plan, kept)
}
