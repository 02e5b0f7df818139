//! The answer if nothing fits: the closest layouts and remedies. If nothing is possible: the reasons.

use super::batches::plan_of;
use crate::names::dimension;
use crate::question::Question;
use crate::searcher::{Ran, Searcher};
use crate::setting::Setting;
use railwright_spec::plan::{Plan, PlanSpec, validate};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_tuner::remedies::{Change, Remedy, remedies};
use railwright_tuner::search::{Miss, Options, Search};
use serde::Serialize;

/// Nothing fits.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nothing {
    /// Closest layouts.
    #[serde(rename = "nearest_misses")]
    pub misses: Vec<Missed>,
    /// Changes that make it fit, with their step time.
    pub remedies: Vec<Remedied>,
    /// Remedies that were tried.
    #[serde(rename = "remedies_tried")]
    pub tried: usize,
    /// Whether all were tried.
    #[serde(rename = "complete")]
    pub is_complete: bool,
}

/// A layout that almost fits.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missed {
    /// By how much it misses.
    pub miss: Miss,
    /// The layout as flags.
    pub layout: String,
}

/// A remedy that works.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remedied {
    /// The change.
    pub change: Change,
    /// Number of devices.
    pub devices: u64,
    /// Step time of the best layout with it.
    pub step_time: Seconds,
    /// That layout as flags.
    pub layout: String,
}

/// Maximum number of reported near misses.
const MISSES: usize = 3;
/// Number of remedies that is sufficient.
const ENOUGH: usize = 2;

impl Nothing {
    /// Searches again with each remedy, on the setting that came closest.
    pub(super) fn find(
        asked: &dyn Question,
        searcher: &Searcher<'_>,
        searches: &[Search<'_>],
        indices: &[usize],
        ran: &[Ran],
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
        // The batch stays what it was; more devices must not change it.
        let of_nearest = indices.iter().position(|index| *index == nearest).and_then(|at| searches.get(at));
        let batch = batches[nearest].or_else(|| of_nearest.map(|search| search.space.base.global_batch));
        let plan = PlanSpec { batch_tokens: None, ..plan_of(setting, batch) };
        let all = remedies(&plan);
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
            // Only those that were searched to the end have failed.
            if searcher.is_stopped() {
                break;
            }
            tried += 1;
            works.extend(found);
        }
        // On the same devices, the fastest first: what was tried first is least intrusive, not best.
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
        step_time: best.expected_time,
        layout: resized.short_layout(&best.plan),
    })
}

/// The dimensions whose restriction a remedy lifts.
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

/// Reason why nothing in a space is possible: the problems of the plan with everything that is pinned.
pub(super) fn contradictions(
    setting: &Setting,
    specified: &PlanSpec,
    restrictions: &[String],
) -> Vec<Problem> {
    let run = &setting.run;
    let mut spec = setting.spec.clone();
    spec.plan = specified.clone();
    // A dimension that was narrowed to one value is as good as pinned.
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

/// Uneven stages are no way out where there are more chunks than layers, embedding and head counted as one each.
fn without_uneven(problem: Problem, layers: u64, plan: &Plan) -> Problem {
    let chunks = plan.pipeline_parallel.saturating_mul(plan.virtual_stages);
    if problem.is_mended_by("plan.uneven_stages") && chunks > layers.saturating_add(2) {
        let mut problem = problem
            .hint(format!("{layers} layers allow at most {layers} chunks, but {chunks} were requested"));
        problem.remedies.retain(|remedy| remedy.key != "plan.uneven_stages");
        problem
    } else {
        problem
    }
}
