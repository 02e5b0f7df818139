//! What a model is trained on: accelerators, the domains that join them, and the network between.
//!
//! Responsible for: figures of hardware with their sources. Refuses to know efficiencies (what a kernel or a collective
//! reaches is measured, and lives with the calculator). Bandwidths are decimal and one direction.

mod accelerators;
mod check;
mod preset;
mod spec;
mod table;
mod written;
pub use accelerators::{accelerator_by_name, accelerator_ids, accelerators};
pub use preset::{by_name, from_parts, preset_names, preset_text};
pub use spec::{ClusterSpec, Tiers};

use crate::calibration::Calibration;
use crate::precision::DataType;
use crate::quantity::{Bytes, BytesPerSecond, Dollars, FlopPerSecond, Seconds, Watts};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One accelerator: what a rank sees.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Accelerator {
    /// Catalogue identifier, such as `h100-sxm5-80gb`.
    pub id: String,
    /// The vendor's name for it.
    pub name: String,
    /// The vendor.
    pub vendor: String,
    /// The architecture: `Ampere`, `Hopper`, `Blackwell`, ...
    pub architecture: String,
    /// Year of introduction.
    pub year: u32,
    /// Multiprocessors, compute units or cores.
    pub compute_units: Option<u32>,
    /// Memory as labelled: decimal gigabytes of the data sheet times 2^30 is *not* assumed; bytes that the device reports
    /// as total.
    pub memory: Bytes,
    /// Memory bandwidth.
    pub memory_bandwidth: BytesPerSecond,
    /// Dense peak rate of matrix products by number format; a missing format is not supported.
    pub peak: BTreeMap<DataType, FlopPerSecond>,
    /// Best dense bf16 rate that a sweep of shapes measured, if known.
    pub measured_matmul: Option<FlopPerSecond>,
    /// The scale-up link's name (`NVLink4`).
    pub scale_up_link: String,
    /// Bandwidth of one device into its scale-up domain, one direction.
    pub scale_up_bandwidth: BytesPerSecond,
    /// Devices that one scale-up domain usually joins.
    pub scale_up_domain: u64,
    /// Usual network bandwidth per device, one direction.
    pub network_bandwidth: Option<BytesPerSecond>,
    /// Bandwidth to the host, one direction.
    pub host_bandwidth: Option<BytesPerSecond>,
    /// Design power.
    pub power: Option<Watts>,
    /// Price per device and hour.
    pub price: Option<HourlyPrice>,
    /// Patterns of the names that drivers and traces print.
    pub device_name_patterns: Vec<String>,
    /// Source of the values.
    pub source: String,
    /// Conflicts and remarks.
    pub notes: String,
}

/// A range of prices per device-hour, with when and where it was read.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HourlyPrice {
    /// Lowest seen.
    pub low: Option<Dollars>,
    /// The one used by default.
    pub typical: Dollars,
    /// Highest seen.
    pub high: Option<Dollars>,
    /// Date and source.
    pub source: String,
}

/// Many accelerators and what joins them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cluster {
    /// Preset name, or what the user called it.
    pub name: String,
    /// The accelerator; all devices are equal.
    pub accelerator: Accelerator,
    /// Accelerators in one server.
    pub devices_per_node: u64,
    /// Accelerators in the cluster that the run uses.
    pub devices: u64,
    /// The scale-up domain.
    pub scale_up: ScaleUp,
    /// The network between domains.
    pub network: Network,
    /// The host's share per node.
    pub host: Host,
    /// Source of the values.
    pub source: String,
    /// What was measured on it, if anything: the calculator's laws are corrected by it.
    #[serde(skip)]
    pub calibration: Option<Arc<Calibration>>,
}

/// The domain within which devices reach each other at full scale-up bandwidth.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScaleUp {
    /// Devices per domain (8 in a DGX, 72 in an NVL72 rack).
    pub domain_size: u64,
    /// Bandwidth of one device, one direction.
    pub bandwidth: BytesPerSecond,
    /// The link's name.
    pub link: String,
    /// Whether switches reduce in the network (NVLink SHARP).
    pub in_network_reduction: bool,
}

/// The network between scale-up domains.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Network {
    /// Bandwidth per device, one direction (NICs of a node shared equally).
    pub bandwidth: BytesPerSecond,
    /// `InfiniBand`, `RoCE`, `EFA`, `ICI`, `Ethernet`.
    pub kind: String,
    /// One-way latency between two nodes under one switch.
    pub latency: Seconds,
    /// Tiers from the leaf upwards.
    pub tiers: Vec<Tier>,
    /// How much longer traffic to all peers takes because rails are joined through domains alone, whose step is not hidden; 1 where
    /// the network joins them.
    #[serde(skip_serializing_if = "is_one")]
    pub rail_forwarding: f64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    clippy::float_cmp,
    reason = "serde's signature; 1 is written, not computed"
)]
fn is_one(factor: &f64) -> bool {
    *factor == 1.0
}

/// A tier of the fabric.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tier {
    /// Its name (`leaf`, `spine`, `core`).
    pub name: String,
    /// Devices below one switch group of the tier.
    pub devices: u64,
    /// Down-bandwidth over up-bandwidth; 1 is non-blocking.
    pub oversubscription: f64,
    /// Latency that passing the tier adds, one way.
    pub latency: Seconds,
}

/// The host side of a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Host {
    /// CPU memory per device.
    pub memory_per_device: Bytes,
    /// CPU memory bandwidth per device (the CPU optimizer's limit).
    pub memory_bandwidth_per_device: BytesPerSecond,
    /// Power of everything in the node that is not an accelerator, per device.
    pub power_per_device: Watts,
    /// Facility power over machine power.
    pub power_usage_effectiveness: f64,
}

impl Accelerator {
    /// Dense peak rate in a format; narrow block formats fall back to the format of the same width.
    pub fn peak_rate(&self, data_type: DataType) -> Option<FlopPerSecond> {
        let fallback = match data_type {
            DataType::Mxfp8 => Some(DataType::Fp8),
            DataType::Fp16 => Some(DataType::Bf16),
            DataType::Bf16 => Some(DataType::Fp16),
            _ => None,
        };
        self.peak.get(&data_type).or_else(|| fallback.and_then(|f| self.peak.get(&f))).copied()
    }
}
