//! Tuning: from a given layout to the few others worth a benchmark.
//!
//! Responsible for: free settings of a launch file, and predictions updated by measured layouts. Excludes
//! search, order ([`crate::search::by_family`]), logs and edits of files.

use railwright_calculator::intervals::differences;
use railwright_spec::Portable as _;
use railwright_spec::plan::{Plan, PlanSpec, Recompute, Sharding};
use railwright_spec::run::{Section, Value};
use serde::Serialize;

/// Settings of a plan that change its performance and not the training: free unless they are kept.
pub const FREE: &[&str] = &[
    "tensor_parallel",
    "sequence_parallel",
    "pipeline_parallel",
    "virtual_stages",
    "layers_per_stage",
    "uneven_stages",
    "schedule",
    "context_parallel",
    "context_kind",
    "data_parallel",
    "expert_parallel",
    "expert_tensor_parallel",
    "rank_order",
    "micro_batch",
    "sharding",
    "recompute",
    "stage_recompute",
    "overlap.gradient_reduce",
    "overlap.parameter_gather",
    "overlap.tensor",
    "overlap.pipeline",
    "overlap.expert",
];

/// Aliases of the batch, which is `global_batch` in a plan.
const BATCH: [&str; 2] = ["micro_batches", "batch_tokens"];

/// A plan with all settings fixed except free ones: [`FREE`] and `more`, without `kept`.
pub fn opened(plan: &Plan, kept: &[String], more: &[String]) -> PlanSpec {
    let full = PlanSpec::from_plan(plan);
    let structural_keys = structural_keys(plan);
    let mut spec = PlanSpec::default();
    if structural_keys.contains(&"uneven_stages") && !more.iter().any(|name| name == "uneven_stages") {
        spec.uneven_stages = Some(false);
    }
    for key in PlanSpec::KEYS {
        let is_free = FREE.contains(&key.name) || more.iter().any(|name| name == key.name);
        let is_regular = structural_keys.contains(&key.name) && !more.iter().any(|name| name == key.name);
        let is_kept = is_regular || kept.iter().any(|name| name == key.name);
        if BATCH.contains(&key.name) || (is_free && !is_kept) {
            continue;
        }
        if let Some(value) = full.get(key.name) {
            // The value is from a specification, so setting it cannot fail.
            let _ = spec.set(key.name, &value);
        }
    }
    spec
}

/// Plans close to one that a file cannot have, the closest first: parameters gathered again for the backward
/// pass, and recompute of all layers in place of some.
pub fn plainer(plan: &Plan) -> Vec<Plan> {
    let sharding = Sharding { reshard_after_forward: true, ..plan.sharding };
    let is_gathered = plan.sharding.zero_stage == 3 && !plan.sharding.reshard_after_forward;
    let is_partial = matches!(plan.recompute, Recompute::Full { layers: Some(_) });
    let full = Recompute::Full { layers: None };
    let mut plans = Vec::new();
    if is_gathered {
        plans.push(Plan { sharding, ..plan.clone() });
    }
    if is_partial {
        plans.push(Plan { recompute: full.clone(), ..plan.clone() });
    }
    if is_gathered && is_partial {
        plans.push(Plan { sharding, recompute: full, ..plan.clone() });
    }
    plans
}

/// A plan as set by a file, with the free settings opened: for numbers of devices on which the file's layout
/// is invalid.
pub fn with_free_settings(specified: &PlanSpec, kept: &[String], more: &[String]) -> PlanSpec {
    let mut spec = PlanSpec::default();
    for key in PlanSpec::KEYS {
        let is_free = FREE.contains(&key.name) || more.iter().any(|name| name == key.name);
        if is_free && !kept.iter().any(|name| name == key.name) {
            continue;
        }
        if let Some(value) = specified.get(key.name) {
            // The value is from a specification, so setting it cannot fail.
            let _ = spec.set(key.name, &value);
        }
    }
    spec
}

/// Minimum sequence length for context parallelism: attention must exceed the rest of a layer.
pub const LONG_SEQUENCE: u64 = 16_384;

/// Settings that are fixed by default, because changing them complicates a launch for a small gain: stages of
/// unequal numbers of layers, and context parallelism at sequences below [`LONG_SEQUENCE`].
pub fn structural_keys(plan: &Plan) -> Vec<&'static str> {
    let mut out = Vec::new();
    if plan.layers_per_stage.is_none() {
        out.push("uneven_stages");
    }
    if plan.context_parallel == 1 && plan.sequence_length < LONG_SEQUENCE {
        out.push("context_parallel");
    }
    out
}

/// The value of a setting of a plan, as in a run file.
pub fn setting(plan: &Plan, name: &str) -> Option<Value> {
    PlanSpec::from_plan(plan).get(name)
}

/// Correction from measured layouts of a job: a common factor, and the deviation of each layout.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Level {
    /// Measured over predicted time, geometric mean over layouts.
    pub factor: f64,
    /// Standard deviation of the logarithm of a single layout's deviation from the factor.
    pub departure: f64,
    /// Number of measured layouts.
    pub layouts: usize,
}

/// The level of a job from its measured layouts, pairs of predicted and measured seconds. `None` without any.
///
/// `ln(measured / predicted) = ln(factor) + own`, with `own` of variance `s²`. Two thirds of the errors of
/// `ln`-differences between two layouts of one job are within `band` ([`differences::difference_band`]). A
/// difference of two has the variance `2 s²`, so `s = band / √2` before any measurement. With `n` layouts of
/// sample variance `v` about their mean, the estimate weights prior and sample by their degrees of freedom,
/// the prior with `PRIOR`: `s² = (PRIOR · prior² + (n - 1) v) / (PRIOR + n - 1)`.
pub fn level(software: &str, pairs: &[(f64, f64)]) -> Option<Level> {
    let ratios: Vec<f64> = pairs
        .iter()
        .filter(|(predicted, measured)| *predicted > 0.0 && *measured > 0.0)
        .map(|(predicted, measured)| (measured / predicted).portable_ln())
        .collect();
    let n = ratios.len();
    if n == 0 {
        return None;
    }
    let mean = ratios.iter().sum::<f64>() / n as f64;
    let squares: f64 = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum();
    let prior = differences::difference_band(software) / std::f64::consts::SQRT_2;
    let variance = (PRIOR * prior * prior + squares) / (PRIOR + (n - 1) as f64);
    Some(Level { factor: mean.portable_exp(), departure: variance.sqrt(), layouts: n })
}

/// Degrees of freedom of the fitted table of differences, relative to runs of the job itself.
const PRIOR: f64 = 2.0;
/// Standard deviations on each side that cover nine of ten of a normal distribution.
const NINE_OF_TEN: f64 = 1.645;

impl Level {
    /// Expected time of an unmeasured layout, and its 90% interval from its own deviation and the uncertainty
    /// of the factor, `s · sqrt(1 + 1/n)`.
    pub fn expected(&self, predicted: f64) -> (f64, (f64, f64)) {
        let center = predicted * self.factor;
        let half = (NINE_OF_TEN * self.departure * (1.0 + 1.0 / self.layouts as f64).sqrt()).portable_exp();
        (center, (center / half, center * half))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::cluster;
    use railwright_spec::model::by_name;

    fn plan() -> Plan {
        let model = by_name("llama-3-8b").expect("known");
        let cluster = cluster::by_name("dgx-h100", 16).expect("known");
        let spec = PlanSpec {
            tensor_parallel: Some(2),
            micro_batch: Some(2),
            global_batch: Some(64),
            ..PlanSpec::default()
        };
        spec.resolve(&model, &cluster).expect("possible")
    }

    #[test]
    fn plans_that_most_files_can_have_are_close_to_one_that_few_can() {
        let sharding = Sharding { zero_stage: 3, group: None, reshard_after_forward: false };
        let partial = Plan { sharding, recompute: Recompute::Full { layers: Some(4) }, ..plan() };
        let found = plainer(&partial);
        let of = |plan: &Plan| (plan.sharding.reshard_after_forward, plan.recompute.clone());
        let (full, some) = (Recompute::Full { layers: None }, Recompute::Full { layers: Some(4) });
        let expected = [(true, some), (false, full.clone()), (true, full)];
        assert_eq!(found.iter().map(of).collect::<Vec<_>>(), expected);
        assert_eq!(plainer(&plan()), []);
        let whole = Plan { recompute: Recompute::Full { layers: None }, ..plan() };
        assert_eq!(plainer(&whole), []);
    }

    #[test]
    fn performance_is_free_and_what_is_trained_is_kept() {
        let plan = plan();
        let open = opened(&plan, &[], &[]);
        for name in FREE {
            assert!(PlanSpec::KEYS.iter().any(|key| key.name == *name), "{name} is not a key");
            let expected = match *name {
                "context_parallel" => Some(Value::Integer(1)),
                "uneven_stages" => Some(Value::Flag(false)),
                _ => None,
            };
            assert_eq!(open.get(name), expected, "{name}");
        }
        let wide = opened(&plan, &[], &["context_parallel".to_owned(), "uneven_stages".to_owned()]);
        assert_eq!((wide.context_parallel, wide.uneven_stages), (None, None));
        assert_eq!((open.global_batch, open.sequence_length), (Some(64), Some(plan.sequence_length)));
        assert_eq!(open.software, Some(plan.software.clone()));
        let kept = opened(&plan, &["tensor_parallel".to_owned()], &["sequence_length".to_owned()]);
        assert_eq!((kept.tensor_parallel, kept.sequence_length, kept.micro_batch), (Some(2), None, None));
        let specified = PlanSpec { tensor_parallel: Some(2), global_batch: Some(64), ..PlanSpec::default() };
        let loose = with_free_settings(&specified, &[], &[]);
        assert_eq!((loose.tensor_parallel, loose.global_batch), (None, Some(64)));
        assert_eq!(with_free_settings(&specified, &["tensor_parallel".to_owned()], &[]), specified);
    }

    #[test]
    fn one_run_gives_the_level_and_more_runs_the_departure() {
        let software = "megatron-core-2025";
        assert_eq!(level(software, &[]), None);
        let one = level(software, &[(10.0, 12.0)]).expect("a level");
        let prior = differences::difference_band(software) / std::f64::consts::SQRT_2;
        assert!((one.factor - 1.2).abs() < 1e-12 && (one.departure - prior).abs() < 1e-12, "{one:?}");
        // Six layouts with exactly one ratio: s² = 2 prior² / 7.
        let alike: Vec<(f64, f64)> = (1..=6).map(|n| (f64::from(n), 1.2 * f64::from(n))).collect();
        let six = level(software, &alike).expect("a level");
        assert!((six.departure - prior * (2.0_f64 / 7.0).sqrt()).abs() < 1e-12, "{six:?}");
        let (center, (low, high)) = six.expected(10.0);
        assert!((center - 12.0).abs() < 1e-9 && low < 12.0 && high > 12.0);
        assert!(high - low < one.expected(10.0).1.1 - one.expected(10.0).1.0);
    }
}
