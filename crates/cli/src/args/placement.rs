//! Hosts assigned to a run, for `network simulate` and `network traffic`.

use crate::input::networks::on_hosts;
use clap::{Args, ValueHint};

/// The allocation of a run.
#[derive(Args, Clone, Debug, Default, serde::Deserialize)]
pub(crate) struct OnHosts {
    /// Slurm node list of the run in rank order, such as `gpu[001-064,070]` [default: first devices]
    #[arg(long, value_name = "NODES", conflicts_with_all = ["hostfile", "fragments"], help_heading = "Placement")]
    pub(crate) nodelist: Option<String>,
    /// Host file of the run: `HOST`, `HOST slots=N`, `HOST:N` or `HOST gpus=4-7` per line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "fragments", help_heading = "Placement")]
    pub(crate) hostfile: Option<String>,
    /// Hosts of the run per pod, such as `20,0,12` (per leaf group in a network of one pod)
    #[arg(long, value_name = "COUNTS", help_heading = "Placement")]
    pub(crate) fragments: Option<String>,
    /// Number in the name of the network's first node
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Placement")]
    pub(crate) first_node: u32,
}

impl From<&OnHosts> for on_hosts::OnHosts {
    fn from(on: &OnHosts) -> Self {
        let OnHosts { nodelist, hostfile, fragments, first_node } = on.clone();
        Self { nodelist, hostfile, fragments, first_node }
    }
}
