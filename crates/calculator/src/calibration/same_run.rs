//! Checks that measurements belong to the calibrated run.
//!
//! Responsible for: comparison of a log's settings with the run, and of a log's step with the traces. Does
//! not choose between them.

use super::figures::median;
use railwright_spec::calibration::Samples;
use railwright_spec::human;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::Seconds;

/// Maximum ratio of a traced step to the same step in a log: recording has overhead.
const RECORDING: f64 = 1.5;

/// One run setting found in measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The key of a run file, such as `plan.global_batch`.
    pub key: String,
    /// Its value.
    pub value: f64,
}

/// Differences of a log or trace from a run, as text; other keys are ignored.
pub fn differences(claims: &[Claim], model: &Model, plan: &Plan) -> Vec<String> {
    let of_run = |key: &str| -> Option<(&'static str, f64)> {
        let heads = model.layer_kinds.first().and_then(|layer| match &layer.mixer {
            railwright_spec::model::Mixer::Attention(attention) => Some(attention.heads as f64),
            _ => None,
        });
        Some(match key {
            "plan.global_batch" => ("the global batch is", plan.global_batch as f64),
            "plan.sequence_length" => ("the sequence length is", plan.sequence_length as f64),
            "plan.tensor_parallel" => ("the tensor-parallel size is", plan.tensor_parallel as f64),
            "plan.pipeline_parallel" => ("the pipeline-parallel size is", plan.pipeline_parallel as f64),
            "plan.micro_batch" => ("the micro-batch is", plan.micro_batch as f64),
            "cluster.devices" => ("the number of devices is", plan.world_size() as f64),
            "model.layers" => ("the number of layers is", model.layers.len() as f64),
            "model.hidden" => ("the hidden size is", model.hidden_size as f64),
            "model.heads" => ("the number of heads is", heads?),
            _ => return None,
        })
    };
    claims
        .iter()
        .filter_map(|claim| {
            let (what, own) = of_run(&claim.key)?;
            let number = |value: f64| human::whole(value as u64);
            ((claim.value - own).abs() > 0.5).then(|| {
                format!("{what} {} in the measurement and {} in the run", number(claim.value), number(own))
            })
        })
        .collect()
}

/// A warning if a log's step and the traced step differ by more than the recording overhead.
pub(super) fn paces(samples: &[Samples]) -> Option<Warning> {
    let has_parts = super::steps::has_parts;
    let all = || samples.iter().filter(|s| !s.alone).flat_map(|s| &s.steps);
    let of = |traced: bool| -> Option<Seconds> {
        let times: Vec<Seconds> = all().filter(|s| has_parts(s) == traced).map(|s| s.step).collect();
        (!times.is_empty()).then(|| Seconds::new(median(&times)))
    };
    let (traced, logged) = (of(true)?, of(false)?);
    let ratio = traced / logged;
    (!(1.0 / RECORDING..=RECORDING).contains(&ratio)).then(|| {
        Warning::new(
            "calibration-other-run",
            format!(
                "step time is {} in the traces and {} in the log: they may belong to different runs; using \
                 the traces",
                human::seconds(traced),
                human::seconds(logged)
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::calibration::StepSample;
    use railwright_spec::cluster::by_name;
    use railwright_spec::{model, run};

    #[test]
    fn a_log_of_another_run_is_recognised_by_its_content() {
        let model = model::by_name("llama-3-8b").expect("known");
        let cluster = by_name("dgx-h100", 8).expect("known");
        let text = "[plan]\ntensor_parallel = 2\npipeline_parallel = 1\ndata_parallel = 4\nglobal_batch = 8\nsequence_length = 4096\n";
        let spec = run::parse(text, "run.toml").expect("sound");
        let plan = spec.plan.resolve(&model, &cluster).expect("resolved");
        let claim = |key: &str, value| Claim { key: key.to_owned(), value };
        let same = [
            claim("plan.global_batch", 8.0),
            claim("cluster.devices", 8.0),
            claim("model.layers", 32.0),
            claim("model.heads", 32.0),
            claim("plan.optimizer", 1.0),
        ];
        assert_eq!(differences(&same, &model, &plan), Vec::<String>::new());
        let other =
            [claim("plan.global_batch", 256.0), claim("cluster.devices", 16.0), claim("model.hidden", 768.0)];
        assert_eq!(
            differences(&other, &model, &plan),
            [
                "the global batch is 256 in the measurement and 8 in the run",
                "the number of devices is 16 in the measurement and 8 in the run",
                "the hidden size is 768 in the measurement and 4,096 in the run"
            ]
        );
    }

    #[test]
    fn a_log_twice_as_fast_as_the_traces_is_doubted() {
        let of = |step: f64, products: f64| Samples {
            steps: vec![StepSample {
                steps: 5,
                step: Seconds::new(step),
                products: Seconds::new(products),
                ..StepSample::default()
            }],
            ..Samples::default()
        };
        assert!(paces(&[of(1.2, 0.5), of(1.0, 0.0)]).is_none());
        assert!(paces(&[of(1.2, 0.5)]).is_none());
        let doubt = paces(&[of(2.0, 0.5), of(1.0, 0.0)]).expect("a doubt");
        assert_eq!(doubt.id, "calibration-other-run");
    }
}
