//! Global batch of each cluster size.

use crate::question::Question;
use crate::setting::Setting;
use railwright_spec::human;
use railwright_spec::model::PublishedTraining;
use railwright_spec::plan::{
    PlanSpec, divided_batch, divisible_batch, is_divided, published_sequences, usual_batch,
};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::FlopPerSecond;
use railwright_tuner::size::{Goal, reach};

/// Global batch of each cluster size.
pub(super) struct Batch {
    pub(super) sequences: u64,
    pub(super) sequence_length: u64,
    grows: bool,
    /// True if each number of devices has the nearest batch that divides among it.
    pub(super) is_own: bool,
    pub(super) chosen: Vec<String>,
    /// Origin of the batch, for the first line of the report.
    pub(super) origin: String,
}

impl Batch {
    /// Batch: specified, else that of the published training, else the default. `length` is the specified
    /// sequence length; `None` if not specified.
    pub(super) fn of(
        asked: &dyn Question,
        published: Option<&PublishedTraining>,
        length: Option<u64>,
        goal: &Goal,
        grows: bool,
    ) -> Result<Self, Problem> {
        let specified = asked.specified();
        let mut chosen = Vec::new();
        let mut is_own = false;
        let accumulated = accumulated(asked, &specified)?;
        let sequence_length = asked.sequence_length();
        if length.is_none() {
            chosen.push(format!("sequences of {} tokens", human::whole(sequence_length)));
        }
        let mut origin = "set by the user";
        // A batch that scales starts from the default at the smallest size.
        let published = published.filter(|_| !grows);
        let sequences = match (specified.global_batch.or(accumulated), specified.batch_tokens) {
            (Some(_), Some(_)) => {
                let problem = Problem::new("`--global-batch` and `--batch-tokens` both set the batch");
                return Err(problem.in_file("--batch-tokens").hint("keep one"));
            }
            (Some(sequences), None) => sequences,
            (None, Some(tokens)) => {
                let batch = divisible_batch(tokens.0, sequence_length, 1024);
                chosen.push(format!(
                    "global batch {} for {} tokens",
                    human::whole(batch),
                    human::count(tokens.0)
                ));
                batch
            }
            (None, None) => {
                let devices: Vec<u64> = asked
                    .settings()
                    .iter()
                    .map(|s| {
                        if asked.has_devices() {
                            s.run.cluster.devices
                        } else {
                            s.run.cluster.devices_per_node
                        }
                    })
                    .collect();
                let near = |is_own: bool| {
                    if is_own { " or the nearest multiple of the number of GPUs" } else { "" }
                };
                if let Some(training) = published {
                    let is_exact = training.sequence_length == sequence_length;
                    let sequences = published_sequences(training, sequence_length);
                    is_own = devices.iter().any(|&devices| !is_divided(sequences, devices));
                    chosen.push(format!("global batch {}{}", human::whole(sequences), near(is_own)));
                    let what = match (is_exact, is_own) {
                        (true, false) => "as published",
                        (true, true) => "close to the published batch",
                        (false, _) => "tokens of the published batch",
                    };
                    let origin = format!("{what}: {}", training.source);
                    return Ok(Self { sequences, sequence_length, grows, is_own, chosen, origin });
                }
                origin = "assumed; a larger batch scales to more GPUs";
                let wanted = asked.settings().first().map_or(0, |setting| {
                    let typed = asked.settings().iter().map(|s| s.run.cluster.devices).max().unwrap_or(0);
                    if asked.has_devices() {
                        return typed;
                    }
                    let (run, run_spec) = (&setting.run, &setting.spec);
                    let reach = reach(
                        &run.model,
                        &run.cluster,
                        &run.training,
                        goal,
                        (&run_spec.plan, u64::MAX, sequence_length),
                        peak(setting),
                    );
                    if goal.deadline.is_some() { reach.to / 4 } else { 0 }
                });
                let usual = usual_batch(sequence_length, wanted);
                let common = divided_batch(usual, &devices);
                is_own = common.is_none();
                let sequences = common.unwrap_or(usual);
                chosen.push(format!("global batch {}{}", human::whole(sequences), near(is_own)));
                sequences
            }
        };
        Ok(Self { sequences, sequence_length, grows, is_own, chosen, origin: origin.to_owned() })
    }

    pub(super) fn at(&self, devices: u64, fewest: u64) -> u64 {
        let own = |usual: u64| {
            if is_divided(usual, devices) { usual } else { divided_batch(usual, &[devices]).unwrap_or(usual) }
        };
        if self.is_own && !self.grows {
            own(self.sequences)
        } else if self.grows {
            let grown = u128::from(self.sequences) * u128::from(devices) / u128::from(fewest.max(1));
            u64::try_from(grown).unwrap_or(u64::MAX).max(1)
        } else {
            self.sequences
        }
    }
}

/// Batch of a run with a number of micro-batches: micro-batch size x micro-batches x replicas on the run's
/// own devices.
fn accumulated(asked: &dyn Question, specified: &PlanSpec) -> Result<Option<u64>, Problem> {
    let Some(micro_batches) = specified.micro_batches else { return Ok(None) };
    let devices = asked.settings().first().and_then(|setting| setting.spec.cluster.devices);
    let model_ranks = [specified.tensor_parallel, specified.pipeline_parallel, specified.context_parallel]
        .into_iter()
        .map(|degree| degree.unwrap_or(1))
        .fold(1, u64::saturating_mul);
    let replicas = specified.data_parallel.or(devices.map(|devices| devices / model_ranks.max(1)));
    let (Some(micro_batch), Some(replicas)) = (specified.micro_batch, replicas.filter(|&n| n > 0)) else {
        let problem = Problem::new(
            "the batch is set in micro-batches per replica, but the number of replicas is not set",
        );
        return Err(problem.in_file("--micro-batches").hint("set --global-batch or --batch-tokens"));
    };
    Ok(Some(micro_batch.saturating_mul(micro_batches).saturating_mul(replicas)))
}

/// Peak FLOP/s in the specified GEMM format, else in bf16.
pub(super) fn peak(setting: &Setting) -> FlopPerSecond {
    use railwright_spec::precision::DataType;
    let plan = &setting.spec.plan;
    let preset = plan.precision.map(|preset| preset.precision().compute);
    let format = plan.precision_compute.or(preset).unwrap_or(DataType::Bf16);
    let accelerator = &setting.run.cluster.accelerator;
    let found = accelerator.peak_rate(format).or_else(|| accelerator.peak_rate(DataType::Bf16));
    found.unwrap_or(FlopPerSecond::from_tera(100.0))
}
