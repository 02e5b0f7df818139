//! Measured layouts in a calibration.
//!
//! Responsible for: identification of a layout by its model, cluster and plan, so that a prediction of the
//! very run that was measured is recognized. Predicts nothing.

use super::Calibration;
use crate::cluster::{Cluster, ClusterSpec};
use crate::model::Model;
use crate::plan::{Plan, PlanSpec};
use crate::quantity::Seconds;
use crate::run::Section;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One measured layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MeasuredLayout {
    /// Measured step time in seconds: the geometric mean of the logs of this layout.
    pub step_time_s: f64,
    /// Number of logs.
    pub samples: u64,
    /// Number of parameters, which identifies the model.
    pub parameters: u64,
    /// Settings of the cluster and the plan, by run-file key.
    pub settings: BTreeMap<String, String>,
}

impl MeasuredLayout {
    /// The layout of a run and its step time.
    pub fn new(model: &Model, cluster: &Cluster, plan: &Plan, step: Seconds, samples: u64) -> Self {
        Self {
            step_time_s: step.get(),
            samples,
            parameters: model.parameters().total,
            settings: settings(cluster, plan),
        }
    }

    /// True if a run has this model, cluster and plan.
    pub fn is_of(&self, model: &Model, cluster: &Cluster, plan: &Plan) -> bool {
        self.parameters == model.parameters().total && self.settings == settings(cluster, plan)
    }

    /// True if the figures are possible.
    pub(super) fn is_sound(&self) -> bool {
        self.step_time_s.is_finite() && self.step_time_s > 0.0 && self.samples > 0
    }
}

impl Calibration {
    /// Measured step time of a run, if its layout was measured.
    pub fn measured(&self, model: &Model, cluster: &Cluster, plan: &Plan) -> Option<&MeasuredLayout> {
        let steps = self.steps.as_ref()?;
        steps.measured.iter().find(|layout| layout.is_of(model, cluster, plan))
    }
}

fn settings(cluster: &Cluster, plan: &Plan) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    add(&mut found, &ClusterSpec::in_full(cluster));
    add(&mut found, &PlanSpec::from_plan(plan));
    // Labels and files change no run.
    for label in ["cluster.name", "cluster.source", "cluster.calibration"] {
        found.remove(label);
    }
    found
}

fn add<S: Section>(found: &mut BTreeMap<String, String>, section: &S) {
    let set = S::KEYS.iter().filter_map(|key| Some((key.path(), section.get(key.name)?)));
    found.extend(set.map(|(path, value)| (path, value.to_plain())));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::by_name;
    use crate::model;

    #[test]
    fn only_the_measured_run_is_recognized() {
        let model = model::by_name("llama-3-8b").expect("known");
        let other = model::by_name("llama-3-70b").expect("known");
        let cluster = by_name("dgx-h100", 64).expect("known");
        let plan = |tensor| {
            let spec = PlanSpec { tensor_parallel: Some(tensor), ..PlanSpec::default() };
            spec.resolve(&model, &cluster).expect("possible")
        };
        let layout = MeasuredLayout::new(&model, &cluster, &plan(2), Seconds::new(3.0), 1);
        let again: MeasuredLayout =
            toml::from_str(&toml::to_string(&layout).expect("text")).expect("its own text");
        assert_eq!(again, layout);
        let label = Cluster { name: "ours".to_owned(), ..cluster.clone() };
        assert!(again.is_of(&model, &label, &plan(2)));
        assert!(!again.is_of(&model, &cluster, &plan(4)) && !again.is_of(&other, &cluster, &plan(2)));
        let mut faster = cluster.clone();
        faster.network.bandwidth = faster.network.bandwidth * 2.0;
        assert!(!again.is_of(&model, &faster, &plan(2)));
        assert!(!again.is_of(&model, &by_name("dgx-h100", 32).expect("known"), &plan(2)));
    }
}
