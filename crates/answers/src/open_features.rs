//! Unspecified software features with their effect on step time: uncertainty that a flag removes.
//!
//! Responsible for: the alternatives of each open feature, priced one at a time, largest effect first.
//! Excludes their likelihood, and alternatives with little effect.

use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::evaluate;
use railwright_calculator::software;
use railwright_spec::plan::{AttentionKernel, Overlap, Plan, PlanSpec};
use railwright_spec::quantity::Seconds;
use railwright_spec::run::Run;
use serde::Serialize;

/// Minimum relative change of the step time of a listed feature.
const LITTLE: f64 = 0.01;
/// Maximum number of listed features.
const MOST: usize = 3;

/// An assumed feature, and the step time without it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenFeature {
    /// Key of a run file that specifies the feature.
    pub key: String,
    /// Title of the feature.
    pub title: String,
    /// Assumed value.
    pub assumed: String,
    /// Alternative with the largest effect on step time.
    pub alternative: String,
    /// Relative change of step time with the alternative.
    pub change: f64,
    /// Option to add to the command.
    pub remedy: String,
}

/// One alternative of a feature.
#[allow(clippy::struct_field_names)] // the fields of [`OpenFeature`]
struct Alternative {
    key: &'static str,
    title: String,
    assumed: String,
    alternative: String,
    remedy: String,
    plan: Plan,
}

/// Open features of a run with the largest effect, at most three.
pub(crate) fn open_features(
    run: &Run,
    spec: &PlanSpec,
    machine: &Machine,
    total: Seconds,
) -> Vec<OpenFeature> {
    let mut found: Vec<OpenFeature> = Vec::new();
    // A calibration applies only to its own software; without one of its features it would not apply.
    let is_calibrated = machine.calibration.as_ref().is_some_and(|c| !c.software.is_empty());
    for other in alternatives(run, spec).into_iter().filter(|o| !is_calibrated || o.key != "plan.software") {
        let Some(time) = Costing::new(&run.model, &run.cluster, &other.plan, machine)
            .and_then(|costing| evaluate(&costing))
            .ok()
            .map(|evaluation| evaluation.time.total)
        else {
            continue;
        };
        let change = time / total - 1.0;
        if !change.is_finite() || change.abs() < LITTLE {
            continue;
        }
        let feature = OpenFeature {
            key: other.key.to_owned(),
            title: other.title,
            assumed: other.assumed,
            alternative: other.alternative,
            change,
            remedy: other.remedy,
        };
        match found.iter_mut().find(|known| known.key == feature.key && known.title == feature.title) {
            Some(known) if known.change.abs() < change.abs() => *known = feature,
            Some(_) => {}
            None => found.push(feature),
        }
    }
    found.sort_by(|a, b| b.change.abs().total_cmp(&a.change.abs()));
    found.truncate(MOST);
    found
}

fn alternatives(run: &Run, spec: &PlanSpec) -> Vec<Alternative> {
    let plan = &run.plan;
    let mut list = Vec::new();
    let Ok(stack) = software::by_id(&plan.software) else { return list };
    let architecture = run.cluster.accelerator.device_architecture();
    if spec.attention_kernel.is_none_or(|kernel| kernel == AttentionKernel::Auto) {
        let assumed = stack.attention_kernel(architecture);
        for kernel in neighbours(assumed) {
            list.push(Alternative {
                key: "plan.attention_kernel",
                title: "attention kernel".to_owned(),
                assumed: assumed.name().to_owned(),
                alternative: kernel.name().to_owned(),
                remedy: format!("--attention-kernel {}", kernel.name()),
                plan: Plan { attention_kernel: *kernel, ..plan.clone() },
            });
        }
    }
    let now = plan.overlap;
    let overlaps = [
        (
            spec.overlap_gradient_reduce,
            "plan.overlap.gradient_reduce",
            "gradient reduction",
            now.gradient_reduce,
            Overlap { gradient_reduce: !now.gradient_reduce, ..now },
        ),
        (
            spec.overlap_parameter_gather,
            "plan.overlap.parameter_gather",
            "parameter gathering",
            now.parameter_gather,
            Overlap { parameter_gather: !now.parameter_gather, ..now },
        ),
        (
            spec.overlap_tensor,
            "plan.overlap.tensor",
            "tensor-parallel communication",
            now.tensor,
            Overlap { tensor: !now.tensor, ..now },
        ),
        (
            spec.overlap_expert,
            "plan.overlap.expert",
            "expert all-to-all",
            now.expert,
            Overlap { expert: !now.expert, ..now },
        ),
    ];
    for (specified, key, what, is_on, overlap) in overlaps {
        if specified.is_none() {
            let word = |on: bool| if on { "overlapped" } else { "exposed" }.to_owned();
            list.push(Alternative {
                key,
                title: what.to_owned(),
                assumed: word(is_on),
                alternative: word(!is_on),
                remedy: format!("--set {key}={}", !is_on),
                plan: Plan { overlap, ..plan.clone() },
            });
        }
    }
    if let Some((forced, natural)) = spec.open_settings().imbalances(plan) {
        let of = |imbalance: f64| format!("{imbalance} of the mean");
        for imbalance in [natural, forced] {
            list.push(Alternative {
                key: "plan.expert_imbalance",
                title: "load of the busiest experts".to_owned(),
                assumed: of(plan.expert_imbalance),
                alternative: of(imbalance),
                remedy: format!("--expert-imbalance {imbalance}"),
                plan: Plan { expert_imbalance: imbalance, ..plan.clone() },
            });
        }
    }
    // Time features that the stack does not name; overlap has settings of its own.
    let has = |id: &str| software::features_of(&plan.software).any(|own| own == id);
    for feature in software::features().iter().filter(|feature| !feature.memory && feature.id != "no-overlap")
    {
        let id = format!("{}+{}", plan.software, feature.id);
        if !has(&feature.id) && stack.may_have(feature, architecture) && software::by_id(&id).is_ok() {
            list.push(Alternative {
                key: "plan.software",
                title: feature.id.clone(),
                assumed: "no".to_owned(),
                alternative: "yes".to_owned(),
                remedy: format!("--software {id}"),
                plan: Plan { software: id, ..plan.clone() },
            });
        }
    }
    list
}

/// Attention kernels of the previous and the next generation.
fn neighbours(kernel: AttentionKernel) -> &'static [AttentionKernel] {
    match kernel {
        AttentionKernel::Unfused => &[AttentionKernel::Flash1],
        AttentionKernel::Flash1 => &[AttentionKernel::Unfused, AttentionKernel::Flash2],
        AttentionKernel::Flash2 | AttentionKernel::Auto => {
            &[AttentionKernel::Flash1, AttentionKernel::Flash3]
        }
        AttentionKernel::Flash3 => &[AttentionKernel::Flash2],
    }
}

#[cfg(test)]
mod tests {
    use crate::{ClosedForm, NoTexts, OpenFeature, estimate, resolve};
    use railwright_spec::run::RunSpec;

    fn open(settings: &[&str]) -> Vec<OpenFeature> {
        let mut spec = RunSpec::default();
        for setting in settings {
            spec.set(setting).expect("known");
        }
        estimate(resolve(spec, &NoTexts).expect("resolved"), &ClosedForm).expect("priced").open_features
    }

    const LONG: [&str; 7] = [
        "model.name=llama-3.1-8b",
        "cluster.preset=dgx-h100",
        "cluster.devices=8",
        "plan.tensor_parallel=8",
        "plan.sequence_parallel=true",
        "plan.sequence_length=32768",
        "plan.global_batch=8",
    ];

    /// With long sequences the kernel matters, and naming it removes the uncertainty. The change equals that
    /// of a run with the named kernel.
    #[test]
    fn a_named_feature_is_not_open() {
        let found = open(&LONG);
        assert!(found.len() <= 3 && found.is_sorted_by(|a, b| a.change.abs() >= b.change.abs()), "{found:?}");
        let kernel = found.iter().find(|f| f.key == "plan.attention_kernel").expect("matters");
        assert!(kernel.change > 0.03, "{kernel:?}");
        let named = [&LONG[..], &["plan.attention_kernel=flash2"]].concat();
        assert!(open(&named).iter().all(|f| f.key != "plan.attention_kernel"));
        let time = |settings: &[&str]| {
            let mut spec = RunSpec::default();
            for setting in settings {
                spec.set(setting).expect("known");
            }
            estimate(resolve(spec, &NoTexts).expect("resolved"), &ClosedForm)
                .expect("priced")
                .estimate
                .step_time
        };
        assert!((time(&named) / time(&LONG) - 1.0 - kernel.change).abs() < 1e-9);
    }
}
