//! One run with an open plan: cluster, number of devices and fixed settings.
//!
//! Responsible for: conversion of a plan to flags and to a run file. Excludes the choice of a plan.

use crate::names::{flag_of, short_flag_of};
use crate::{Refused, Texts, resolve_but_plan};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::plan::{Plan, PlanSpec};
use railwright_spec::run::{Run, RunSpec, Section as _, SoftwareOrigin, Value, keys};
use railwright_tuner::search::DIMENSIONS;
use railwright_tuner::written;
use std::fmt::Write as _;

/// One combination of a cluster and a number of devices.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Cluster as named by the user.
    pub word: String,
    /// Specification with this cluster and number of devices.
    pub spec: RunSpec,
    /// Run with a placeholder as its plan.
    pub run: Run,
    /// Settings of a launch file that the search may change; `None` without a launch file.
    pub freed: Option<Freed>,
}

/// A launch file whose performance settings are searched.
#[derive(Clone, Debug)]
pub struct Freed {
    /// Plan of the file on these devices; `None` if it is not possible there.
    pub own: Option<Plan>,
    /// Plan settings of the file, and the additional specified ones that are not free.
    pub specified: PlanSpec,
    /// Plan settings of the file only.
    pub file: PlanSpec,
}

impl Freed {
    /// Fewest settings on top of the file that result in the plan.
    pub fn over(&self, plan: &Plan, run: &Run) -> PlanSpec {
        written::shortest_over(&self.file, plan, &run.model, &run.cluster)
    }
}

impl Setting {
    /// Setting of a specification.
    pub fn new(spec: RunSpec, texts: &dyn Texts) -> Result<Self, Refused> {
        let run = resolve_but_plan(&spec, texts).map_err(|problem| spec.placed(problem))?;
        Ok(Self { word: run.cluster.name.clone(), spec, run, freed: None })
    }

    /// The setting with another cluster.
    #[must_use]
    pub fn on_cluster(&self, cluster: &Cluster) -> Self {
        let run = Run { cluster: cluster.clone(), ..self.run.clone() };
        Self { word: self.word.clone(), spec: self.spec.clone(), run, freed: self.freed.clone() }
    }

    /// Warning about numbers of devices that leave a machine partly empty, because prices are for whole ones.
    pub fn doubt(&self) -> Option<String> {
        let cluster = &self.run.cluster;
        let (devices, node) = (cluster.devices, cluster.devices_per_node.max(1));
        (devices > node && !devices.is_multiple_of(node)).then(|| {
            format!(
                "{} GPUs do not fill whole machines of {node}: use {} or {}",
                human::whole(devices),
                human::whole(devices / node * node),
                human::whole(devices.div_ceil(node) * node)
            )
        })
    }

    /// Layout as flags, without the rest of the run: `--tp 8 --pp 16 --micro-batch 1 --global-batch 2048`.
    pub fn layout(&self, plan: &Plan) -> String {
        let short = written::shortest(&self.spec.plan, plan, &self.run.model, &self.run.cluster);
        plan_flags(&short, None)
    }

    /// Layout as the fewest flags on top of the specified launch file or run file, for `calibrate --run FILE
    /// --step`.
    pub fn step_layout(&self, plan: &Plan) -> String {
        match &self.freed {
            Some(freed) => plan_flags(&freed.over(plan, &self.run), None),
            None => self.layout(plan),
        }
    }

    /// Layout for display: without the common batch, and with shortened lists.
    pub fn short_layout(&self, plan: &Plan) -> String {
        let mut short = written::shortest(&self.spec.plan, plan, &self.run.model, &self.run.cluster);
        let layers = short.layers_per_stage.take();
        // Settings that are not searched are equal in all layouts.
        let mut kept = PlanSpec::default();
        for key in PlanSpec::KEYS {
            let specified = self.spec.plan.get(key.name);
            let is_searched = DIMENSIONS.contains(&key.name) || specified.is_none();
            // All settings of a launch file that are not free are fixed.
            let is_common = |value: &Value| self.freed.is_some() && specified.as_ref() == Some(value);
            let own = short.get(key.name).filter(|_| is_searched && key.name != "global_batch");
            if let Some(value) = own.filter(|value| !is_common(value)) {
                // Cannot fail: the value comes from a specification.
                let _ = kept.set(key.name, &value);
            }
        }
        let short = kept;
        let mut text = plan_flags(&short, None);
        if let Some(layers) = layers {
            let _ = write!(text, " layers [{}]", human::counts(&layers));
        }
        text
    }

    /// Run file of a plan with the fewest settings that result in it. Other settings can then change without
    /// contradicting derived ones.
    pub fn file(&self, plan: &Plan) -> RunSpec {
        let mut spec = self.spec.clone();
        let is_assumed = self.run.software_origin == SoftwareOrigin::Assumed;
        let mut specified = if self.freed.is_some() { PlanSpec::default() } else { self.spec.plan.clone() };
        if is_assumed {
            specified.software = None;
        }
        spec.plan = written::shortest(&specified, plan, &self.run.model, &self.run.cluster);
        // A named generation is written, so that later versions interpret the file equally; an assumed one
        // that would be assumed again is not. A bare name would narrow the interval without evidence,
        // so inferred and assumed software are marked.
        if !is_assumed {
            spec.plan.software.get_or_insert_with(|| plan.software.clone());
        }
        spec.unspecified_software = spec.plan.software.as_ref().and(self.run.software_origin.unspecified());
        spec
    }
}

/// Settings of a plan as flags, without those in `known`.
pub fn plan_flags(spec: &PlanSpec, known: Option<&PlanSpec>) -> String {
    let mut parts = Vec::new();
    for key in keys().into_iter().filter(|key| key.section == "plan") {
        let Some(value) = spec.get(key.name) else { continue };
        if known.and_then(|known| known.get(key.name)).as_ref() == Some(&value) {
            continue;
        }
        let Some(flag) = short_flag_of(&key).or_else(|| flag_of(&key)) else { continue };
        parts.push(match value {
            Value::Flag(true) => format!("--{flag}"),
            Value::Flag(false) => format!("--{flag}=false"),
            Value::List(list) => {
                let items: Vec<String> = list.iter().map(Value::to_plain).collect();
                format!("--{flag} {}", items.join(","))
            }
            other => format!("--{flag} {}", quoted(&other.to_plain())),
        });
    }
    parts.join(" ")
}

/// Quotes a word for a shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_read_back_what_was_quoted() {
        assert_eq!(quoted("dgx-h100"), "dgx-h100");
        assert_eq!(quoted("my file's"), "'my file'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
