//! One run whose plan is to be chosen: a cluster, a number of devices and what is fixed.
//!
//! Responsible for: a plan as flags and as a run file again. Refuses to choose.

use crate::names::{flag_of, short_flag_of};
use crate::{Refused, Texts, resolve_but_plan};
use railwright_spec::human;
use railwright_spec::plan::{Plan, PlanSpec};
use railwright_spec::run::{Run, RunSpec, Section as _, SoftwareOrigin, Value, keys};
use railwright_tuner::search::DIMENSIONS;
use railwright_tuner::written;
use std::fmt::Write as _;

/// One combination of a cluster and a number of devices.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The cluster as it was named.
    pub word: String,
    /// The specification with this cluster and number of devices.
    pub spec: RunSpec,
    /// The run; its plan is a placeholder.
    pub run: Run,
    /// What a launch file pins and the search is free to change.
    pub freed: Option<Freed>,
}

/// A launch file whose settings of performance are searched.
#[derive(Clone, Debug)]
pub struct Freed {
    /// The file's own plan on these devices; `None` where it is not possible there.
    pub own: Option<Plan>,
    /// Plan settings of the file, and those that were specified with it and are not free.
    pub specified: PlanSpec,
    /// Plan settings of the file alone.
    pub file: PlanSpec,
}

impl Freed {
    /// The fewest settings over those of the file that lead to the plan.
    pub fn over(&self, plan: &Plan, run: &Run) -> PlanSpec {
        written::shortest_over(&self.file, plan, &run.model, &run.cluster)
    }
}

impl Setting {
    /// The setting of a specification.
    pub fn new(spec: RunSpec, texts: &dyn Texts) -> Result<Self, Refused> {
        let run = resolve_but_plan(&spec, texts).map_err(|problem| spec.placed(problem))?;
        Ok(Self { word: run.cluster.name.clone(), spec, run, freed: None })
    }

    /// Numbers of devices that leave a machine half empty: every price is for whole ones.
    pub fn doubt(&self) -> Option<String> {
        let cluster = &self.run.cluster;
        let (devices, node) = (cluster.devices, cluster.devices_per_node.max(1));
        (devices > node && !devices.is_multiple_of(node)).then(|| {
            format!(
                "{} GPUs are not whole machines of {node}: use {} or {}",
                human::whole(devices),
                human::whole(devices / node * node),
                human::whole(devices.div_ceil(node) * node)
            )
        })
    }

    /// The layout as flags, nothing of the rest of the run: `--tp 8 --pp 16 --micro-batch 1 --global-batch 2048`.
    pub fn layout(&self, plan: &Plan) -> String {
        let short = written::shortest(&self.spec.plan, plan, &self.run.model, &self.run.cluster);
        plan_flags(&short, None)
    }

    /// The layout as the fewest flags over the launch file or run file that was named, as `calibrate --run FILE --step` takes it.
    pub fn step_layout(&self, plan: &Plan) -> String {
        match &self.freed {
            Some(freed) => plan_flags(&freed.over(plan, &self.run), None),
            None => self.layout(plan),
        }
    }

    /// A display form: without the common batch, and with shortened lists.
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
                // The value comes out of a specification, so it goes back into one.
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

    /// The run file of a plan: the fewest settings that lead to it, so that others can be changed without what followed from these.
    pub fn file(&self, plan: &Plan) -> RunSpec {
        let mut spec = self.spec.clone();
        let is_assumed = self.run.software_origin == SoftwareOrigin::Assumed;
        let mut specified = if self.freed.is_some() { PlanSpec::default() } else { self.spec.plan.clone() };
        if is_assumed {
            specified.software = None;
        }
        spec.plan = written::shortest(&specified, plan, &self.run.model, &self.run.cluster);
        // A generation is written, so that the file means the same in later versions; not one that is assumed again where none is named. A name
        // alone would narrow the interval without evidence: inferred and assumed software are written as such.
        if !is_assumed {
            spec.plan.software.get_or_insert_with(|| plan.software.clone());
        }
        spec.unspecified_software = spec.plan.software.as_ref().and(self.run.software_origin.unspecified());
        spec
    }
}

/// A plan's settings as flags, but for those that `known` has already.
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
                let items: Vec<String> = list.iter().map(plain).collect();
                format!("--{flag} {}", items.join(","))
            }
            other => format!("--{flag} {}", quoted(&plain(&other))),
        });
    }
    parts.join(" ")
}

fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => other.to_toml(),
    }
}

/// A word as a shell takes it.
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
