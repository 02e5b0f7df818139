//! Evidence for predicted changes: pairs of measured runs that differ in one setting, each predicted with its
//! publication held out of the fit.
//!
//! The figures are those of `cargo test -p railwright-tuner pairs -- --nocapture`. It finds the pairs in the
//! table of measured runs and fails if the figures differ.

use super::facts::Moved;
use serde::Serialize;

/// The errors of predicted ratios of step times over measured ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// Settings in which the runs of a pair differ.
    pub what: &'static str,
    /// Number of pairs of measured runs.
    pub pairs: u32,
    /// Median of the errors.
    pub median: f64,
    /// 90th percentile of the errors.
    pub ninth: f64,
}

/// Changed keys, other keys that may differ with them, and the errors. Kinds with fewer than twenty pairs are
/// excluded.
pub(super) const KNOWN: [(&[&str], Evidence); 6] = [
    (&["plan.precision."], Evidence { what: "number format", pairs: 156, median: 0.055, ninth: 0.160 }),
    (&["plan.micro_batch"], Evidence { what: "micro-batch", pairs: 1016, median: 0.064, ninth: 0.241 }),
    (
        &[
            "plan.tensor_parallel",
            "plan.data_parallel",
            "plan.expert_tensor_parallel",
            "plan.sequence_parallel",
        ],
        Evidence { what: "tensor parallel", pairs: 629, median: 0.076, ninth: 0.308 },
    ),
    (
        &["plan.pipeline_parallel", "plan.data_parallel", "plan.layers_per_stage", "plan.overlap."],
        Evidence { what: "pipeline parallel", pairs: 672, median: 0.060, ninth: 0.374 },
    ),
    (
        &["cluster.devices", "plan.data_parallel", "cluster.network.tiers"],
        Evidence { what: "devices", pairs: 478, median: 0.045, ninth: 0.257 },
    ),
    (&["plan.global_batch"], Evidence { what: "global batch", pairs: 423, median: 0.052, ninth: 0.118 }),
];

/// The evidence for a change of these keys: the first key of a kind must have changed, and no key of another
/// kind. `None` without evidence.
pub(super) fn of(moved: &[Moved]) -> Option<Evidence> {
    let is_of = |keys: &[&str]| {
        let (first, all) =
            (keys.first()?, moved.iter().all(|m| keys.iter().any(|key| m.key.starts_with(key))));
        (all && moved.iter().any(|m| m.key.starts_with(first))).then_some(())
    };
    KNOWN.iter().find_map(|(keys, evidence)| is_of(keys).map(|()| *evidence))
}
