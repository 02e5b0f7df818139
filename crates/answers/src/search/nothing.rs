//! Result if nothing fits: closest layouts and remedies. If nothing is possible: the reasons.

use super::batches::plan_of;
use crate::names::dimension;
use crate::question::Question;
use crate::searcher::{SearchResults, Searcher};
use crate::setting::Setting;
use railwright_calculator::memory::FUSED_LOSS;
use railwright_spec::plan::{Plan, PlanSpec, validate};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_spec::software::{Software, by_id};
use railwright_tuner::remedies::{Change, Remedy, remedies};
use railwright_tuner::search::{Miss, Options, Search};
use serde::Serialize;

/// Result of a search in which nothing fits.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nothing {
    /// Closest layouts.
    #[serde(rename = "nearest_misses")]
    pub misses: Vec<Missed>,
    /// Changes that make the run fit, with their step time.
    pub remedies: Vec<Remedied>,
    /// Number of remedies tried.
    #[serde(rename = "remedies_tried")]
    pub tried: usize,
    /// True if all remedies were tried.
    #[serde(rename = "complete")]
    pub is_complete: bool,
}

/// A layout that almost fits.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missed {
    /// Missing memory.
    pub miss: Miss,
    /// Layout as flags.
    pub layout: String,
}

/// A remedy that makes the run fit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remedied {
    /// Change of the run.
    pub change: Change,
    /// Number of devices.
    pub devices: u64,
    /// Step time of the best layout after the change.
    pub step_time: Seconds,
    /// Best layout after the change, as flags.
    pub layout: String,
    /// The stack after a change of the software.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub software: Option<String>,
}

/// Maximum number of reported near misses.
const MISSES: usize = 3;
/// Number of working remedies after which the search ends.
const ENOUGH: usize = 2;

impl Nothing {
    /// Searches again with each remedy, on the setting closest to fitting.
    pub(super) fn find(
        asked: &dyn Question,
        searcher: &Searcher<'_>,
        searches: &[Search<'_>],
        indices: &[usize],
        ran: &[SearchResults],
        batches: &[Option<u64>],
    ) -> Self {
        let mut misses: Vec<(usize, Miss)> = Vec::new();
        for ((search, &index), ran) in searches.iter().zip(indices).zip(ran) {
            misses.extend(search.outcome(&ran.results).nearest_misses.into_iter().map(|miss| (index, miss)));
        }
        misses.sort_by(|(_, a), (_, b)| a.missing.get().total_cmp(&b.missing.get()));
        let nearest = misses.first().map_or(0, |(index, _)| *index);
        misses.truncate(MISSES);
        let setting = &asked.settings()[nearest];
        let fused = misses.first().and_then(|(_, miss)| with_fused_loss(&miss.plan, setting));
        // The batch is fixed; more devices must not change it.
        let of_nearest = indices.iter().position(|index| *index == nearest).and_then(|at| searches.get(at));
        let batch = batches[nearest].or_else(|| of_nearest.map(|search| search.space.base.global_batch));
        let plan = PlanSpec { batch_tokens: None, ..plan_of(setting, batch) };
        let all = remedies(&plan, fused);
        searcher.remedies(all.len(), ENOUGH);
        let mut tried = 0;
        let mut works: Vec<Remedied> = Vec::new();
        for remedy in all {
            let is_more = remedy.change == Change::MoreDevices;
            // More devices are always tried; only the smallest sufficient number is reported.
            if is_more && works.iter().any(|r| r.change == Change::MoreDevices) {
                break;
            }
            if !is_more && works.len() >= ENOUGH {
                continue;
            }
            let found = attempt(asked, searcher, setting, &remedy);
            // Only completed searches count as failed.
            if searcher.is_stopped() {
                break;
            }
            tried += 1;
            works.extend(found);
        }
        // On equal devices, the fastest first: the order of trial is by intrusiveness, not by step time.
        works.sort_by(|a, b| a.devices.cmp(&b.devices).then(a.step_time.get().total_cmp(&b.step_time.get())));
        let misses = misses.into_iter().map(|(index, miss)| {
            let layout = asked.settings()[index].short_layout(&miss.plan);
            Missed { miss, layout }
        });
        Self { misses: misses.collect(), remedies: works, tried, is_complete: !searcher.is_stopped() }
    }
}

fn attempt(
    asked: &dyn Question,
    searcher: &Searcher<'_>,
    setting: &Setting,
    remedy: &Remedy,
) -> Option<Remedied> {
    let devices = setting.run.cluster.devices.saturating_mul(remedy.times);
    let resized = asked.resized(setting, devices).ok()?;
    let options = Options { keep: 1, ..Options::default() };
    let keys = freed(remedy.change);
    let search = searcher.prepare_but(&resized, &remedy.specified, options, keys).ok()?;
    let ran = searcher.run(std::slice::from_ref(&search));
    let outcome = search.outcome(&ran.first()?.results);
    outcome.candidates.first().map(|best| Remedied {
        change: remedy.change,
        devices,
        step_time: best.step_time,
        layout: resized.short_layout(&best.plan),
        software: (remedy.change == Change::FusedLoss).then(|| best.plan.software.clone()),
    })
}

/// The stack of a plan with a fused loss, if it may have one.
fn with_fused_loss(plan: &Plan, setting: &Setting) -> Option<&'static Software> {
    let architecture = &setting.run.cluster.accelerator.architecture;
    by_id(&plan.software).ok()?.with_feature(FUSED_LOSS, architecture)
}

/// Dimensions whose restriction a remedy removes.
fn freed(change: Change) -> &'static [&'static str] {
    match change {
        Change::FreeDegrees => &[
            "tensor_parallel",
            "pipeline_parallel",
            "context_parallel",
            "data_parallel",
            "expert_parallel",
            "expert_tensor_parallel",
            "virtual_stages",
        ],
        Change::FreeMicroBatch => &["micro_batch"],
        Change::FreeRecompute => &["recompute", "recompute_layers"],
        Change::ShardEverything => &["sharding", "hybrid_group"],
        _ => &[],
    }
}

/// Reasons why nothing in a space is possible: problems of the plan with all fixed settings.
pub(super) fn contradictions(
    setting: &Setting,
    specified: &PlanSpec,
    restrictions: &[String],
) -> Vec<Problem> {
    let run = &setting.run;
    let mut spec = setting.spec.clone();
    spec.plan = specified.clone();
    // A dimension restricted to one value counts as fixed.
    for restriction in restrictions {
        if let Ok((key, value)) = dimension(restriction)
            && !value.contains(',')
            && !value.contains("..")
        {
            let _ = spec.set_flag("--space", &format!("plan.{key}"), value);
        }
    }
    match spec.plan.resolve(&run.model, &run.cluster) {
        Ok(plan) => validate(&run.model, &run.cluster, &plan)
            .into_iter()
            .map(|problem| spec.placed(without_uneven(problem, run.model.num_layers(), &plan)))
            .collect(),
        Err(problem) => vec![spec.placed(problem)],
    }
}

/// Removes the hint for uneven stages if there are more chunks than layers, with embedding and head as one
/// layer each.
fn without_uneven(problem: Problem, layers: u64, plan: &Plan) -> Problem {
    let chunks = plan.pipeline_parallel.saturating_mul(plan.virtual_stages);
    if problem.is_resolved_by("plan.uneven_stages") && chunks > layers.saturating_add(2) {
        let mut problem = problem
            .hint(format!("{layers} layers allow at most {layers} chunks, but {chunks} were requested"));
        problem.remedies.retain(|remedy| remedy.key != "plan.uneven_stages");
        problem
    } else {
        problem
    }
}
