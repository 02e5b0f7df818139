//! Estimate of a changed run, with slow members in their place, or in the place with the largest effect.

use super::changed::{Changed, SlowMember};
use super::names::Slow;
use super::summary::{Priced, parts, summarize};
use crate::flows::{OnTopology, machine_on};
use railwright_calculator::costing::Costing;
use railwright_calculator::disturbance::{Disturbance, stage_of_rank};
use railwright_calculator::estimate::{EstimateOptions, of_evaluation, tree};
use railwright_calculator::evaluate::{evaluate_with, on_stage};
use railwright_calculator::schedule::Workspace;
use railwright_spec::cluster::Cluster;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_spec::run::Run;
use std::collections::BTreeSet;

/// Prices a run.
pub(super) fn price(changed: &Changed, network: Option<&OnTopology>) -> Result<Priced, Problem> {
    let Changed { run, slow, .. } = changed;
    let machine = machine_on(network, &run.cluster)?;
    let costing = Costing::new(&run.model, &run.cluster, &run.plan, &machine)?;
    if !slow.is_empty() {
        run.cluster.require_one_kind("a slow part")?;
    }
    let mut workspace = Workspace::default();
    let mut disturbance = Disturbance::default();
    let mut notes = Vec::new();
    for member in slow {
        let (with, note) = worst(&costing, member, &disturbance, &mut workspace)?;
        disturbance = with;
        notes.push(note);
    }
    let costing = costing.disturbed(&disturbance);
    let evaluation = evaluate_with(&costing, &mut workspace)?;
    let estimate = of_evaluation(&costing, &evaluation, &EstimateOptions::of(run))?;
    let seen = |stage| parts(&tree(&costing, &on_stage(&costing, &evaluation, stage)));
    Ok(Priced {
        summary: summarize(run, &estimate)?,
        stages: (0..evaluation.busy.len()).map(seen).collect(),
        critical_stage: evaluation.critical_stage,
        warnings: [estimate.warnings, changed.warnings.clone()].concat(),
        notes,
    })
}

/// The disturbance with an additional slow member: in its place, or in the place with the largest effect on
/// the step.
fn worst(
    costing: &Costing<'_>,
    member: &SlowMember,
    before: &Disturbance,
    workspace: &mut Workspace,
) -> Result<(Disturbance, String), Problem> {
    let mut most: Option<(Seconds, Disturbance, BTreeSet<usize>)> = None;
    let places = places(costing, member);
    let choice = places.len();
    for stages in places {
        let mut disturbance = before.clone();
        for &stage in &stages {
            slow(&mut disturbance, costing, member, stage);
        }
        let total = evaluate_with(&costing.clone().disturbed(&disturbance), workspace)?.time.total;
        if most.as_ref().is_none_or(|(worst, ..)| total > *worst) {
            most = Some((total, disturbance, stages));
        }
    }
    let (_, disturbance, stages) = most.ok_or_else(|| Problem::new("the run has no devices"))?;
    Ok((disturbance, described(costing, member, &stages, choice)))
}

fn slow(disturbance: &mut Disturbance, costing: &Costing<'_>, member: &SlowMember, stage: usize) {
    match member.what {
        Slow::Rank | Slow::Node | Slow::Stage => disturbance.slow_device(stage, member.rate),
        Slow::Host => disturbance.slow_host(stage, member.rate),
        Slow::Nic => disturbance.slow_links(stage, costing.cluster, member.rate, 1.0),
        Slow::ScaleUp => disturbance.slow_links(stage, costing.cluster, 1.0, member.rate),
    }
}

/// Name and number of the members of a kind.
fn members(plan: &Plan, cluster: &Cluster, what: Slow) -> (&'static str, u64) {
    match what {
        Slow::Stage => ("stage", plan.pipeline_parallel),
        Slow::Rank => ("rank", plan.world_size()),
        Slow::Node | Slow::Host | Slow::Nic | Slow::ScaleUp => {
            ("node", plan.world_size().div_ceil(cluster.devices_per_node.max(1)))
        }
    }
}

/// Problem of a member that the run does not have. `None` if it exists.
pub(super) fn absent(run: &Run, member: &SlowMember) -> Option<Problem> {
    let (kind, count) = members(&run.plan, &run.cluster, member.what);
    let index = member.index.filter(|index| *index >= count)?;
    let problem = Problem::new(format!("there is no {kind} {index}")).in_file("--change");
    Some(match count {
        0 | 1 => problem.hint(format!("the only {kind} is {kind} 0")),
        count => problem.hint(format!("{kind}s go from 0 to {}", count - 1)),
    })
}

/// The sets of stages that the member may delay: one if its place is set, else all.
fn places(costing: &Costing<'_>, member: &SlowMember) -> Vec<BTreeSet<usize>> {
    let plan = costing.plan;
    let (_, count) = members(plan, costing.cluster, member.what);
    let stages = |index: u64| -> BTreeSet<usize> {
        match member.what {
            Slow::Stage => BTreeSet::from([index as usize]),
            Slow::Rank => BTreeSet::from([stage_of_rank(plan, index)]),
            Slow::Node | Slow::Host | Slow::Nic | Slow::ScaleUp => {
                let size = costing.cluster.devices_per_node.max(1);
                let first = index.saturating_mul(size);
                (first..(first + size).min(plan.world_size())).map(|rank| stage_of_rank(plan, rank)).collect()
            }
        }
    };
    if let Some(index) = member.index {
        return vec![stages(index)];
    }
    // Members of one stage are equivalent, so one of each distinct set is sufficient; ranks of a stage start
    // at its first.
    let distinct: BTreeSet<BTreeSet<usize>> = match member.what {
        Slow::Rank | Slow::Stage => {
            (0..plan.pipeline_parallel as usize).map(|stage| BTreeSet::from([stage])).collect()
        }
        _ => (0..count).map(stages).collect(),
    };
    distinct.into_iter().collect()
}

fn described(costing: &Costing<'_>, member: &SlowMember, stages: &BTreeSet<usize>, choice: usize) -> String {
    let what = match (member.what, member.index) {
        (Slow::Rank, Some(index)) => format!("rank {index}"),
        (Slow::Rank, None) => "one device".to_owned(),
        (Slow::Stage, index) => format!("every device of stage {}", index.unwrap_or(0)),
        (Slow::Node, Some(index)) => format!("node {index}"),
        (Slow::Node, None) => "one node".to_owned(),
        (Slow::Host, Some(index)) => format!("the host of node {index}"),
        (Slow::Host, None) => "one host".to_owned(),
        (Slow::Nic, Some(index)) => format!("a NIC of node {index}"),
        (Slow::Nic, None) => "one NIC".to_owned(),
        (Slow::ScaleUp, Some(index)) => format!("a scale-up link of node {index}"),
        (Slow::ScaleUp, None) => "one scale-up link".to_owned(),
    };
    let rate = railwright_spec::human::percent(member.rate);
    if costing.plan.pipeline_parallel <= 1 {
        return format!("{what} at {rate} of its rate: it delays all ranks");
    }
    let names = stages.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
    let where_it_is = match (choice, stages.len()) {
        (_, _) if member.what == Slow::Stage => String::new(),
        (1, 1) => format!(" on stage {names}"),
        (1, _) => format!(" on stages {names}"),
        (_, 1) => format!(" on stage {names} (most expensive position)"),
        _ => format!(" on stages {names} (most expensive position)"),
    };
    format!(
        "{what} at {rate} of its rate{where_it_is}: it delays its stage in every collective and the other \
         replicas at the gradient reduction"
    )
}
