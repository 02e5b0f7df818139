//! Goodput of a resolved run: from its devices, its states and its checkpoints.
//!
//! Responsible for: the bytes of a checkpoint, and the share of the calendar for `estimate`, `size`, `search`
//! and `network design`. A checkpoint time is never assumed: without one, the share is the run's setting.

use super::answer::{Assumed, Question, check_stall, goodput};
use super::rates::Counts;
use super::write_time;
use crate::memory::moment_bytes;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_spec::run::{Run, Writing};
use serde::Serialize;

/// Share of a job without progress: an upper bound.
const LEAST: f64 = 1e-3;

/// Failure model behind the goodput of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failures {
    /// Goodput at the highest published failure rate.
    pub lowest: f64,
    /// Goodput at the lowest published failure rate.
    pub highest: f64,
    /// Mean time between failures of the whole job.
    pub mtbf: Seconds,
    /// Time from the start of a checkpoint until it can be restored.
    pub checkpoint: Seconds,
    /// Bytes of a checkpoint. `None` unless its time follows from the bandwidth of the storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_bytes: Option<Bytes>,
    /// Training time between checkpoints with the highest goodput.
    pub interval: Seconds,
    /// Assumed values with sources.
    pub assumed: Vec<Assumed>,
}

/// The share of the calendar with progress of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Availability {
    /// The share, above 0 and at most 1.
    pub share: f64,
    /// The failure model, if failures are modelled.
    pub failures: Option<Failures>,
    /// Warnings.
    pub warning: Option<Warning>,
}

/// Bytes of a checkpoint from which a run can continue: `n (p + m + s)`, with the trained parameters `n` and,
/// in bytes for each, the weights `p`, master weights `m` and moments `s`. Mixed precision with Adam has 2 +
/// 4 + 8 = 14 bytes. FSDP and ZeRO-3 shard the master weights themselves, so `p` is 0 there. Only adapters
/// are saved, if there are any. Gradients are not saved.
pub fn checkpoint_bytes(model: &Model, plan: &Plan) -> Bytes {
    let trained = plan.adapters().map_or_else(
        || {
            let count = model.parameters();
            (count.total + count.multi_token_prediction) as f64
        },
        |lora| {
            let kinds = model.layers.iter().filter_map(|&kind| model.layer_kinds.get(kind));
            let adapters = kinds.flat_map(|layer| lora.adapters(layer));
            adapters.map(|adapter| (adapter.a.parameters() + adapter.b.parameters()) as f64).sum()
        },
    );
    let master = plan.precision.master.map_or(0.0, railwright_spec::precision::DataType::bytes);
    let is_shard = plan.sharding.zero_stage >= 3 && master > 0.0;
    let weights = if is_shard { 0.0 } else { plan.precision.parameters.bytes() };
    Bytes::new(trained * (weights + master + moment_bytes(plan)))
}

/// The share of the calendar with progress of a run: its setting, or the goodput under failures.
///
/// # Errors
///
/// A checkpoint stall longer than the checkpoint.
pub fn availability(run: &Run) -> Result<Availability, Problem> {
    let Some(checkpoints) = run.training.checkpoints else {
        return Ok(Availability { share: run.training.availability, failures: None, warning: None });
    };
    let (checkpoint, checkpoint_bytes) = match checkpoints.writing {
        Writing::Time(time) => (time, None),
        Writing::Bandwidth(bandwidth) => {
            let bytes = checkpoint_bytes(&run.model, &run.plan);
            (write_time(bytes, bandwidth), Some(bytes))
        }
    };
    let counts = Counts::of_cluster(&run.cluster);
    check_stall(checkpoints.stall, checkpoint)
        .map_err(|problem| problem.at_key("training.checkpoint_stall"))?;
    let disruptions = run.training.disruptions.map(|each| each.of(run.cluster.devices));
    let question = Question { stall: checkpoints.stall, disruptions, ..Question::new(counts, checkpoint) };
    Ok(match goodput(&question) {
        Ok(answer) => {
            let (lowest, highest) = answer.range.map_or((answer.goodput, answer.goodput), |range| {
                (range.lowest_ettr / answer.slowdown, range.highest_ettr / answer.slowdown)
            });
            let failures = Failures {
                lowest,
                highest,
                mtbf: answer.job.mtbf,
                checkpoint,
                checkpoint_bytes,
                interval: answer.interval.used,
                assumed: answer.assumed,
            };
            Availability { share: answer.goodput, failures: Some(failures), warning: None }
        }
        Err(problem) => {
            let message = format!("{}; calendar and cost are lower bounds", problem.message);
            Availability { share: LEAST, failures: None, warning: Some(Warning::new("no-progress", message)) }
        }
    })
}

#[cfg(test)]
mod tests;
