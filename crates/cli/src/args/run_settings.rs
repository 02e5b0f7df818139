//! Settings of a measured run for commands that read measurements, where the file leaves them open.

use super::{RunArguments, RunFlags};
use crate::exit::Failure;
use clap::{Args, ValueHint};
use railwright_spec::problem::Problem;

/// Settings of a run in addition to its file.
#[derive(Args, Clone, Debug, Default, serde::Deserialize)]
pub(crate) struct RunSettings {
    /// Cluster of the run if its file names none: a name from `clusters list` or `gpus list`, or a file
    #[arg(long, value_name = "CLUSTER", value_hint = ValueHint::AnyPath, help_heading = "Run")]
    pub(crate) cluster: Option<String>,
    /// Number of GPUs, if the run's file does not set it
    #[arg(long, value_name = "N", help_heading = "Run")]
    pub(crate) gpus: Option<String>,
    /// Set any run-file key, such as `plan.micro_batch=2` (repeatable)
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Run")]
    pub(crate) set: Vec<String>,
}

impl RunSettings {
    /// A run file, a launch file, a log or a model as a run.
    pub(crate) fn run(&self, path: &str) -> RunArguments {
        let gpus = self.gpus.iter().map(|n| ("--gpus".to_owned(), "cluster.devices".to_owned(), n.clone()));
        RunArguments {
            run: Some(path.to_owned()),
            cluster: self.cluster.clone(),
            set: self.set.clone(),
            flags: RunFlags { settings: gpus.collect() },
            ..RunArguments::default()
        }
    }

    /// Returns an error for settings without effect, if no run is named.
    pub(crate) fn without_run(&self, how: &str) -> Result<(), Failure> {
        let stated = [
            ("--cluster", self.cluster.is_some()),
            ("--gpus", self.gpus.is_some()),
            ("--set", !self.set.is_empty()),
        ];
        match stated.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => {
                Err(Problem::new("it changes a run, but no run is given").in_file(flag).hint(how).into())
            }
            None => Ok(()),
        }
    }
}
