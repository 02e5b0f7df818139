//! An estimate of one run, with what was chosen for it.

use crate::open_features::{OpenFeature, open_features};
use crate::pricing::Pricing;
use crate::{Refused, Resolved};
use railwright_calculator::costing::Machine;
use railwright_calculator::estimate::{Estimate, EstimateOptions, estimate_on};
use railwright_spec::problem::Warning;
use serde::Serialize;

/// An estimate with what was chosen because it was not specified.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimated {
    /// The estimate.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// What was chosen, in words.
    pub chosen: Vec<String>,
    /// Whether no software generation was named.
    pub software_is_inferred: bool,
    /// Features of the software that were assumed, those that change the step most.
    pub open_features: Vec<OpenFeature>,
}

/// Estimates step time, memory and cost of a run.
pub fn estimate(resolved: Resolved, pricing: &dyn Pricing) -> Result<Estimated, Refused> {
    let Resolved { run, warnings, mut chosen, spec } = resolved;
    let machine = match pricing.machine(&run.cluster)? {
        None => Machine::new(&run.cluster),
        Some((machine, said)) => {
            chosen.push(said);
            machine
        }
    };
    let options = EstimateOptions { training: run.training, cost: run.cost };
    let mut estimate = estimate_on(&machine, &run.model, &run.cluster, &run.plan, &options)?;
    merge(&mut estimate.warnings, warnings);
    let open_features = open_features(&run, &spec.plan, &machine, estimate.step_time);
    Ok(Estimated { estimate, chosen, software_is_inferred: spec.plan.software.is_none(), open_features })
}

/// Warnings of the plan and of the estimate, without duplicates.
fn merge(warnings: &mut Vec<Warning>, more: Vec<Warning>) {
    /// The plan's warning that the estimate has with figures.
    const SAME: [(&str, &str); 1] = [("tensor-parallel-leaves-domain", "tensor-parallel-across-domains")];
    for warning in more {
        let other = SAME.iter().find(|(plan, _)| *plan == warning.id).map(|(_, estimate)| *estimate);
        if !warnings.iter().any(|known| known.id == warning.id || Some(known.id.as_str()) == other) {
            warnings.push(warning);
        }
    }
}
