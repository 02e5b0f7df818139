//! Description of a run: model, cluster, files and settings.

use super::run_flags::{RunFlags, Sharding};
use crate::run::Sources;
use clap::{Args, ValueHint};

/// Description of a run.
#[derive(Args, Clone, Debug, Default, serde::Deserialize)]
pub(crate) struct RunArguments {
    /// Model: a name from `models list`, a config.json or its folder, a launch file, a log, or `-` for stdin
    #[arg(value_name = "MODEL", value_hint = ValueHint::AnyPath)]
    pub(crate) model: Option<String>,
    /// Framework config, launch script or log (detected by content)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) launch: Option<String>,
    /// Variables and arguments of the launch script, such as `"TP=2 PP=8 7B 1"`
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) launch_args: Option<String>,
    /// Read a run file; other options override it. On the command line, the default is the
    /// nearest `railwright.toml`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) run: Option<String>,
    /// Cluster: a name from `clusters list` or `gpus list`, or a file
    #[arg(long, value_name = "CLUSTER", value_hint = ValueHint::AnyPath)]
    pub(crate) cluster: Option<String>,
    /// Set any run-file key, such as `plan.micro_batch=2` (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) sharding: Sharding,
    #[command(flatten)]
    pub(crate) flags: RunFlags,
}

impl From<&RunArguments> for Sources {
    fn from(arguments: &RunArguments) -> Self {
        let RunArguments { model, launch, launch_args, run, cluster, set, sharding, flags } =
            arguments.clone();
        let (sharding, settings) = (sharding.setting(), flags.settings);
        Self { model, launch, launch_args, run, cluster, set, sharding, settings }
    }
}
