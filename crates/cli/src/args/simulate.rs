//! What `network simulate` takes, and what `estimate` and `timeline` take to price collectives by flows.

use super::traffic::OnNetwork;
use super::{Output, RunArguments};
use clap::{Args, ValueHint};

pub(super) const EXAMPLES: &str = "Examples:\n  \
    railwright network simulate --run examples/runs/llama-3.1-405b.toml --topology rail-only\n  \
    railwright network simulate llama-3.1-70b --cluster dgx-h100 --gpus 256 --tp 8 --pp 4 --topology clos --network leaf_oversubscription=4\n  \
    railwright network simulate llama-3.1-70b --cluster dgx-h100 --gpus 256 --tp 8 --pp 4 --topology rail-only --fail nic:3 --fail spine:0\n  \
    railwright network simulate llama-3.1-70b --cluster dgx-h100 --gpus 256 --tp 8 --pp 4 --network gpus=512 --background spare=0.5\n\n\
    Without --topology the network is a rail-optimized tree, and without a routing packets are sprayed, adaptively on dragonflies. Devices, domains\n\
    and speed are the cluster's unless a design file or --network says otherwise. Parts that can fail: link:LAYER:N (scale-up, access, leaf-spine, spine-core, local,\n\
    global, torus), nic:N, leaf:N, router:N, spine:N, core:N. docs/concepts/flow-model.md says what is modelled and what not.";

/// Arguments of `network simulate`.
#[derive(Args, Debug)]
pub(crate) struct Simulate {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    #[command(flatten)]
    pub(crate) on: OnNetwork,
    /// How messages find their way: `ecmp`, `spray`, `static`, and on dragonflies `valiant` or `adaptive`; without it `spray`, on dragonflies `adaptive`; short for `--network routing=...`
    #[arg(long, value_name = "ROUTING", help_heading = "Network")]
    pub(crate) routing: Option<String>,
    /// A part that is broken, as in `nic:3`, `leaf:0` or `link:leaf-spine:5`; repeatable
    #[arg(long, value_name = "PART", help_heading = "Network")]
    pub(crate) fail: Vec<String>,
    /// Other jobs: every device sends with this share of its network bandwidth, as in `0.2`; only those that the run leaves with `spare=0.5`
    #[arg(long, value_name = "LOAD", allow_negative_numbers = true, help_heading = "Network")]
    pub(crate) background: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// How collectives are priced.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Pricing {
    /// `flow` simulates collectives on a topology, `closed` is the closed form; a KEY=VALUE sets a key of the topology; repeatable
    #[arg(long = "network", value_name = "HOW", help_heading = "Network")]
    pub(crate) network: Vec<String>,
    /// The topology of `--network flow`: a kind of `network topologies`, or a design file; one that never blocks without it
    #[arg(long, value_name = "DESIGN", value_hint = ValueHint::AnyPath, help_heading = "Network")]
    pub(crate) topology: Option<String>,
}

impl Pricing {
    /// The flags that say the same, with a blank before each; nothing in closed form.
    pub(crate) fn flags(&self) -> String {
        let topology = self.topology.iter().map(|design| format!(" --topology {design}"));
        let network = self.network.iter().map(|word| format!(" --network {word}"));
        network.chain(topology).collect()
    }
}
