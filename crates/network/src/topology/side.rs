//! Networks of the servers, in addition to that of the accelerators: purpose, size, cables.
//!
//! Responsible for: their values. `site` has the rules and the counts.

use super::clos::Clos;
use super::kind::Cabling;
use railwright_spec::quantity::BytesPerSecond;
use serde::Serialize;

/// Purpose of a side network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Between servers and storage.
    Storage,
    /// Between servers, management servers and the site.
    InBand,
    /// Management ports of servers, switches and power distribution.
    OutOfBand,
}

impl Purpose {
    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Storage => "storage",
            Self::InBand => "in-band",
            Self::OutOfBand => "out-of-band",
        }
    }

    /// The key of its settings.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Storage => "storage",
            Self::InBand => "in_band",
            Self::OutOfBand => "out_of_band",
        }
    }
}

/// A network of the servers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideNetwork {
    /// Purpose.
    pub purpose: Purpose,
    /// Servers.
    pub servers: u64,
    /// Ports of a server.
    pub ports: u64,
    /// Further ports: storage, management servers, switches, power distribution, uplinks of the site.
    pub endpoints: u64,
    /// Bandwidth of a port, one direction.
    pub speed: BytesPerSecond,
    /// Ports of a switch.
    pub radix: u64,
    /// Equal fabrics.
    pub fabrics: u64,
    /// One of them.
    pub clos: Clos,
    /// Uplinks of all switches of one tier to the in-band network, which has ports for them.
    pub uplinks: u64,
    /// Cables at servers and between switches.
    pub cabling: [Cabling; 2],
}
