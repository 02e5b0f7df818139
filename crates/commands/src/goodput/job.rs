//! The job of `goodput`: machine, GPUs and checkpoint, from options or from a run.
//!
//! Responsible for: their priority. Options override the run. Does not compute the goodput.

use super::asked::Goodput;
use crate::front::Ended;
use railwright_answers::Resolved;
use railwright_calculator::goodput::run::checkpoint_bytes;
use railwright_calculator::goodput::write_time;
use railwright_inputs::run::{self, Sources};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Dollars, Seconds};
use railwright_spec::run::{Disruptions, Field, Value, Writing};

/// Machine, GPUs and checkpoint of a job.
pub(super) struct Job {
    /// Cluster with its number of devices.
    pub(super) cluster: Cluster,
    /// Time to write a checkpoint.
    pub(super) checkpoint: Seconds,
    /// Training pause per checkpoint that the run sets.
    pub(super) stall: Option<Seconds>,
    /// Flaps and slow parts of the run's network, by device.
    pub(super) disruptions: Option<Disruptions>,
    /// Price of a GPU-hour that the run sets.
    pub(super) price: Option<Dollars>,
    /// Settings that were not specified.
    pub(super) chosen: Vec<String>,
}

/// Checkpoint size and price of a run.
#[derive(Default)]
struct OfRun {
    size: Option<(String, Bytes)>,
    writing: Option<Writing>,
    stall: Option<Seconds>,
    disruptions: Option<Disruptions>,
    price: Option<Dollars>,
}

impl Job {
    /// Reads the run, if one is named.
    pub(super) fn of(request: &Goodput) -> Result<Self, Ended> {
        let mut chosen = Vec::new();
        let has_run = request.model.is_some() || request.run.is_some();
        let (cluster, own) = if has_run {
            let Resolved { run, .. } = run::resolve(&of_run(request)?)?;
            let bytes = checkpoint_bytes(&run.model, &run.plan);
            let own = OfRun {
                size: Some((run.model.name, bytes)),
                writing: run.training.checkpoints.map(|checkpoints| checkpoints.writing),
                stall: run.training.checkpoints.and_then(|checkpoints| checkpoints.stall),
                disruptions: run.training.disruptions,
                price: run.cost.price_per_device_hour,
            };
            (run.cluster, own)
        } else {
            if request.gpus.is_none() {
                let problem = Problem::new("no number of GPUs is set").in_file("--gpus");
                return Err(problem.hint("pass --gpus, a model or a run file").into());
            }
            let mut sheet = run::cluster(request.cluster.as_deref().unwrap_or(run::USUAL_CLUSTER))?;
            sheet.spec.devices = request.gpus;
            (sheet.resolve()?, OfRun::default())
        };
        let typed = match (&request.checkpoints.time, &request.checkpoints.bandwidth) {
            (Some(text), _) => Some(Writing::Time(time("--checkpoint-time", text)?)),
            (None, Some(rate)) => {
                let hint = "write a rate with a unit, as in `200GB/s`";
                Some(Writing::Bandwidth(read("--storage-bandwidth", rate, hint)?))
            }
            (None, None) => own.writing,
        };
        let checkpoint = match typed {
            Some(Writing::Time(time)) => time,
            Some(Writing::Bandwidth(rate)) => {
                let bytes: Bytes = match (&request.checkpoints.bytes, own.size) {
                    (Some(text), _) => {
                        read("--checkpoint-bytes", text, "write bytes with a unit, as in `5.7TB`")?
                    }
                    (None, Some((model, bytes))) => {
                        chosen.push(format!("checkpoints of {} ({model})", human::bytes_decimal(bytes)));
                        bytes
                    }
                    (None, None) => {
                        let problem = Problem::new("no checkpoint size is set").in_file("--checkpoint-bytes");
                        let hint = "pass --checkpoint-bytes, or a model, as in `railwright goodput llama-3.1-405b --gpus 16384`";
                        return Err(problem.hint(hint).into());
                    }
                };
                let is_positive = bytes.get() > 0.0 && rate.get() > 0.0;
                if !is_positive {
                    return Err(Problem::new("expected more than 0").in_file("--storage-bandwidth").into());
                }
                write_time(bytes, rate)
            }
            None => {
                let problem = Problem::new("no checkpoint time is set").in_file("--checkpoint-time");
                let hint =
                    "pass --checkpoint-time, or --storage-bandwidth for the size of the model's checkpoint";
                return Err(problem.hint(hint).into());
            }
        };
        let OfRun { stall, disruptions, price, .. } = own;
        Ok(Self { cluster, checkpoint, stall, disruptions, price, chosen })
    }
}

/// The run with the options that describe it.
fn of_run(request: &Goodput) -> Result<Sources, Ended> {
    let devices = |gpus: u64| ("--gpus".to_owned(), "cluster.devices".to_owned(), gpus.to_string());
    let mut named = Sources {
        model: request.model.clone(),
        run: request.run.clone(),
        cluster: request.cluster.clone(),
        settings: request.gpus.map(devices).into_iter().collect(),
        ..Sources::default()
    };
    // A model alone has no machine; files have their own, or the loader requires one.
    if named.cluster.is_none() && named.run.is_none() && run::launch::find(&named)?.is_none() {
        named.cluster = Some(run::USUAL_CLUSTER.to_owned());
    }
    Ok(named)
}

/// The value of an option.
pub(super) fn read<T: Field>(flag: &str, text: &str, hint: &str) -> Result<T, Problem> {
    T::read(&Value::Text(text.trim().to_owned()))
        .map_err(|problem| Problem::new(problem.message).in_file(flag).hint(hint))
}

/// A time with its unit.
pub(super) fn time(flag: &str, text: &str) -> Result<Seconds, Problem> {
    read(flag, text, "write a time with a unit, as in `30s`, `10min`, `3h` or `2d`")
}
