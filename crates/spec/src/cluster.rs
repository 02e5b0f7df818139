//! Clusters: accelerators, their scale-up domains, and the network between domains.
//!
//! Responsible for: hardware figures with their sources. Excludes efficiencies of kernels and collectives,
//! which are measured and belong to the calculator. Bandwidths are decimal and one direction.

mod accelerators;
mod check;
mod links;
mod pools;
mod preset;
mod resolve;
mod spec;
mod table;
mod written;
pub use accelerators::{accelerator_by_name, accelerator_ids, accelerators};
pub use pools::{Pool, PoolSpec, Pools};
pub use preset::{Instance, by_name, from_parts, instances, preset_names, preset_text, usual_preset};
pub use spec::{ClusterSpec, Tiers};

use crate::calibration::Calibration;
use crate::precision::DataType;
use crate::quantity::{Bytes, BytesPerSecond, Dollars, FlopPerSecond, Seconds, Watts};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One accelerator, as used by one rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Accelerator {
    /// Catalogue identifier, such as `h100-sxm5-80gb`.
    pub id: String,
    /// Name given by the vendor.
    pub name: String,
    /// Vendor.
    pub vendor: String,
    /// Architecture: `Ampere`, `Hopper`, `Blackwell`, ...
    pub architecture: String,
    /// Year of introduction.
    pub year: u32,
    /// Number of multiprocessors, compute units or cores.
    pub compute_units: Option<u32>,
    /// Total device memory in bytes, as reported by the device; if that is unknown, the label of the data
    /// sheet in decimal gigabytes.
    pub memory: Bytes,
    /// Memory bandwidth.
    pub memory_bandwidth: BytesPerSecond,
    /// Dense peak rate of matrix products by number format; a missing format is not supported.
    pub peak: BTreeMap<DataType, FlopPerSecond>,
    /// Best measured dense bf16 rate over a sweep of shapes; `None` if not measured.
    pub measured_matmul: Option<FlopPerSecond>,
    /// Name of the scale-up link, such as `NVLink4`.
    pub scale_up_link: String,
    /// Scale-up bandwidth of one device, one direction.
    pub scale_up_bandwidth: BytesPerSecond,
    /// Usual number of devices in a scale-up domain.
    pub scale_up_domain: u64,
    /// Usual network bandwidth per device, one direction; `None` if unknown.
    pub network_bandwidth: Option<BytesPerSecond>,
    /// Bandwidth to the host, one direction; `None` if unknown.
    pub host_bandwidth: Option<BytesPerSecond>,
    /// Bandwidth of the device's own PCIe port, one direction, which a host may not use in full; `None` for
    /// other links to the host.
    #[serde(skip)]
    pub port_bandwidth: Option<BytesPerSecond>,
    /// Design power in watts; `None` if unknown.
    pub power: Option<Watts>,
    /// Price per device-hour; `None` if not in the catalogue.
    pub price: Option<HourlyPrice>,
    /// Patterns of the device names in drivers and traces.
    pub device_name_patterns: Vec<String>,
    /// Source of the values.
    pub source: String,
    /// Conflicts and remarks.
    pub notes: String,
}

/// Range of prices per device-hour, with date and source.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HourlyPrice {
    /// Lowest price found.
    pub low: Option<Dollars>,
    /// Default price.
    pub typical: Dollars,
    /// Highest price found.
    pub high: Option<Dollars>,
    /// Date and source.
    pub source: String,
}

/// A cluster and its links. All accelerators are equal but those of its pools.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cluster {
    /// Name of the preset, or label set by the user.
    pub name: String,
    /// Accelerator of all devices but those of `pools`.
    pub accelerator: Accelerator,
    /// Accelerators per node.
    pub devices_per_node: u64,
    /// Accelerators used by the run, of all kinds.
    pub devices: u64,
    /// Devices of other kinds among them, in rank order after those of the main kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<Pool>,
    /// Scale-up domain.
    pub scale_up: ScaleUp,
    /// Network between scale-up domains.
    pub network: Network,
    /// Host resources per device.
    pub host: Host,
    /// Source of the values.
    pub source: String,
    /// Calibration that corrects the calculator's laws; `None` without measurements.
    #[serde(skip)]
    pub calibration: Option<Arc<Calibration>>,
}

/// Scale-up domain: devices with full scale-up bandwidth to each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScaleUp {
    /// Devices per domain (8 in a DGX, 72 in an NVL72 rack).
    pub domain_size: u64,
    /// Bandwidth per device, one direction.
    pub bandwidth: BytesPerSecond,
    /// Name of the link.
    pub link: String,
    /// True if switches reduce in the network (NVLink SHARP).
    pub in_network_reduction: bool,
}

/// The network between scale-up domains.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Network {
    /// Bandwidth per device, one direction (NICs of a node shared equally).
    pub bandwidth: BytesPerSecond,
    /// Technology: `InfiniBand`, `RoCE`, `EFA`, `ICI`, `Ethernet`.
    pub kind: String,
    /// One-way latency between two nodes under one switch.
    pub latency: Seconds,
    /// Tiers, from the leaf upwards.
    pub tiers: Vec<Tier>,
    /// True if its switches reduce (InfiniBand SHARP).
    #[serde(skip_serializing_if = "is_not")]
    pub in_network_reduction: bool,
    /// True if nothing specifies the network, so that its bandwidth is the accelerator's usual one.
    #[serde(skip_serializing_if = "is_not")]
    pub is_assumed: bool,
    /// Slowdown factor of traffic to all peers if rails are joined only through scale-up domains, whose
    /// forwarding is exposed; 1 if the network joins the rails.
    #[serde(skip_serializing_if = "is_one")]
    pub rail_forwarding: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_not(flag: &bool) -> bool {
    !*flag
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
    /// Name, such as `leaf`, `spine` or `core`.
    pub name: String,
    /// Devices below one switch group of the tier.
    pub devices: u64,
    /// Down-bandwidth over up-bandwidth; 1 is non-blocking.
    pub oversubscription: f64,
    /// One-way latency added by the tier.
    pub latency: Seconds,
}

/// The host side of a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Host {
    /// CPU memory per device.
    pub memory_per_device: Bytes,
    /// CPU memory bandwidth per device, which limits an optimizer on the host.
    pub memory_bandwidth_per_device: BytesPerSecond,
    /// Power of the node without accelerators, per device.
    pub power_per_device: Watts,
    /// Facility power over machine power.
    pub power_usage_effectiveness: f64,
}

impl Accelerator {
    /// Architecture of the device alone: `Hopper` of `Hopper+Grace`.
    pub fn device_architecture(&self) -> &str {
        self.architecture.split('+').next().unwrap_or_default()
    }

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
