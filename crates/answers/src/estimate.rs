//! An estimate of one run, with the defaults it uses.

use crate::open_features::{OpenFeature, open_features};
use crate::pricing::Pricing;
use crate::{Refused, Resolved};
use railwright_calculator::costing::Machine;
use railwright_calculator::estimate::{Estimate, EstimateOptions, estimate_on};
use serde::Serialize;

/// An estimate with the defaults of unspecified settings.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimated {
    /// Estimate.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Defaults of unspecified settings, as text.
    pub chosen: Vec<String>,
    /// True if no software generation was named.
    pub software_is_inferred: bool,
    /// Assumed software features with the largest effect on step time.
    pub open_features: Vec<OpenFeature>,
}

/// Estimates step time, memory and cost of a run.
pub fn estimate(resolved: Resolved, pricing: &dyn Pricing) -> Result<Estimated, Refused> {
    let Resolved { run, mut chosen, spec, .. } = resolved;
    let machine = match pricing.machine(&run.cluster)? {
        None => Machine::new(&run.cluster),
        Some((machine, remark)) => {
            chosen.push(remark);
            machine
        }
    };
    let estimate = estimate_on(&machine, &run.model, &run.cluster, &run.plan, &EstimateOptions::of(&run))?;
    let open_features = open_features(&run, &spec.plan, &machine, estimate.step_time);
    Ok(Estimated { estimate, chosen, software_is_inferred: run.software_origin.is_open(), open_features })
}

#[cfg(test)]
mod tests {
    use crate::{ClosedForm, NoTexts, estimate, resolve};
    use railwright_spec::run::RunSpec;

    /// Unspecified software does not change the prediction, and its interval is no narrower than that of the
    /// assumed generation.
    #[test]
    fn an_inferred_software_has_the_interval_of_all() {
        let of = |software: Option<&str>| {
            let mut spec = RunSpec::default();
            let settings = ["model.name=llama-3.1-8b", "cluster.preset=dgx-h100", "cluster.devices=8"];
            let named = software.map(|id| format!("plan.software={id}"));
            for setting in settings.into_iter().chain(named.as_deref()) {
                spec.set(setting).expect("known");
            }
            estimate(resolve(spec, &NoTexts).expect("resolved"), &ClosedForm).expect("priced").estimate
        };
        let inferred = of(None);
        let named = of(Some(&inferred.plan.software));
        assert_eq!(inferred.step_time, named.step_time);
        let (open, known) = (&inferred.step_time_interval, &named.step_time_interval);
        assert!(!open.calibrated && known.calibrated && open.runs > known.runs, "{open:?} {known:?}");
        assert!(open.high / open.low >= known.high / known.low, "{open:?} {known:?}");
    }
}
