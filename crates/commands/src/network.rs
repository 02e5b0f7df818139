//! Commands on networks: the networks that options and files describe, and the work on them.

pub(crate) mod collective;
pub(crate) mod cost;
pub(crate) mod export;
pub(crate) mod failures;
pub(crate) mod flows;
pub(crate) mod heat;
pub(crate) mod pricing;
pub(crate) mod show;
pub(crate) mod simulate;
pub(crate) mod traffic;
mod wired;

use railwright_inputs::networks::on_network::{self, OnNetwork};

/// A network: a design with settings and failed parts, or a fabric from a file.
#[derive(Clone, Debug, Default)]
pub struct Specified {
    /// The design.
    pub on: OnNetwork,
    /// A fabric from a file instead.
    pub fabric: Option<String>,
    /// The routing.
    pub routing: Option<String>,
    /// Failed parts.
    pub fail: Vec<String>,
    /// Treatment of the traffic of a device that lost ports.
    pub recovery: String,
}

impl Specified {
    /// Treatment of that traffic if not set.
    pub const RECOVERY: &str = "spread";

    /// The design with the routing as one of its settings.
    fn routed(&self) -> OnNetwork {
        on_network::routed(&self.on, self.routing.as_deref())
    }

    /// The network and a cluster as flags, each after a space.
    fn flags(&self, cluster: Option<&str>) -> String {
        on_network::flags(cluster, &self.on, self.fabric.as_deref())
    }
}
