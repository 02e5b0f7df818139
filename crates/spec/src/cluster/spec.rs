//! A cluster as specified by the user: a preset or an accelerator, and overrides.
//!
//! Clusters of the catalogue have the same form (`catalog/clusters/*.toml`), so users can set everything that
//! a preset sets.

use super::{Pools, Tier};
use crate::problem::Problem;
use crate::quantity::{Bytes, BytesPerSecond, FlopPerSecond, Seconds, Watts};
use crate::run::section::section;
use crate::run::{Field, Kind, Value};

section! {
    /// The section `cluster`: the hardware of the training.
    ClusterSpec in "cluster" {
        /// Cluster of the catalogue to start from.
        preset: String = "preset", "none (accelerator is required)";
        /// Label of the cluster.
        name: String = "name", "name of the preset or accelerator";
        /// Accelerator, by any name in the catalogue.
        accelerator: String = "accelerator", "from the preset";
        /// Number of accelerators (GPUs) used by the run.
        devices: u64 = "devices", "one node";
        /// Other kinds of device for the last ranks, each as `CLUSTER:DEVICES`.
        pools: Pools = "pools", "none (all devices are equal)";
        /// Accelerators per node.
        devices_per_node: u64 = "devices_per_node", "from the preset, else the size of the scale-up domain, at most 8; 8 \
        for PCIe cards";
        /// Total device memory, as reported by the driver.
        memory: Bytes = "memory", "from the accelerator";
        /// Device memory bandwidth.
        memory_bandwidth: BytesPerSecond = "memory_bandwidth", "from the accelerator";
        /// Dense peak FLOP/s in 16-bit formats.
        peak_sixteen: FlopPerSecond = "peak.bf16", "from the accelerator";
        /// Dense peak FLOP/s in 8-bit floating point.
        peak_eight: FlopPerSecond = "peak.fp8", "from the accelerator";
        /// Dense peak FLOP/s in 4-bit floating point.
        peak_four: FlopPerSecond = "peak.fp4", "from the accelerator";
        /// Device power limit.
        power: Watts = "power", "from the accelerator";
        /// Size of the scale-up (NVLink) domain in devices.
        scale_up_domain: u64 = "scale_up.domain", "from the accelerator";
        /// Scale-up bandwidth per device, one direction.
        scale_up_bandwidth: BytesPerSecond = "scale_up.bandwidth", "from the accelerator";
        /// Name of the scale-up link.
        scale_up_link: String = "scale_up.link", "from the accelerator";
        /// Use in-network reduction (SHARP) in scale-up switches.
        scale_up_reduction: bool = "scale_up.in_network_reduction", "from the preset, else set by the link";
        /// Network bandwidth per device, one direction.
        network_bandwidth: BytesPerSecond = "network.bandwidth", "typical for the accelerator";
        /// Network technology.
        network_kind: String = "network.kind", "from the preset, else InfiniBand";
        /// One-way latency between two nodes on one switch.
        network_latency: Seconds = "network.latency", "from the preset, else 5 us";
        /// Fabric tiers from the leaf up, each `name:devices[:oversubscription[:latency]]`.
        network_tiers: Tiers = "network.tiers", "from the preset or the typical system, else one non-blocking tier";
        /// Use in-network reduction (InfiniBand SHARP) in switches between scale-up domains, for all-reduces.
        network_reduction: bool = "network.in_network_reduction", "false";
        /// Bandwidth between a device and its host, one direction.
        host_bandwidth: BytesPerSecond = "host.bandwidth", "from the accelerator";
        /// Host memory per device.
        host_memory: Bytes = "host.memory", "from the preset or the typical system, else 128 GiB";
        /// Host memory bandwidth per device.
        host_memory_bandwidth: BytesPerSecond = "host.memory_bandwidth", "from the preset or the typical system, else 40 GB/s";
        /// Node power without accelerators, per device.
        host_power: Watts = "host.power", "from the preset or the typical system, else a third of the accelerator's power limit";
        /// Power usage effectiveness (PUE): facility power over machine power.
        power_usage_effectiveness: f64 = "power_usage_effectiveness", "1.25";
        /// Source of the cluster's figures.
        source: String = "source", "from the preset";
        /// Path of a calibration written by `railwright calibrate`.
        calibration: String = "calibration", "none (cost model of the catalogue)";
    }
}

/// Tiers of a fabric, each written `name:devices[:oversubscription[:latency]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Tiers(pub Vec<Tier>);

impl Field for Tiers {
    const KIND: Kind = Kind::Texts;

    fn read(value: &Value) -> Result<Self, Problem> {
        Vec::<String>::read(value)?.iter().map(|text| read_tier(text)).collect::<Result<_, _>>().map(Self)
    }

    fn write(&self) -> Value {
        let tier = |t: &Tier| {
            let latency = t.latency.write().to_plain();
            Value::Text(format!("{}:{}:{}:{latency}", t.name, t.devices, t.oversubscription))
        };
        Value::List(self.0.iter().map(tier).collect())
    }
}

fn read_tier(text: &str) -> Result<Tier, Problem> {
    let wrong = |what: &str| {
        Problem::new(format!("tier `{}`: {what}", crate::human::shorten(text))).hint(
            "use `name:devices`, `name:devices:oversubscription` or \
                `name:devices:oversubscription:latency`",
        )
    };
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    let (Some(name), Some(devices)) = (parts.first(), parts.get(1)) else {
        return Err(wrong("the number of devices is missing"));
    };
    if parts.len() > 4 {
        return Err(wrong("a tier has at most four parts"));
    }
    let devices = devices.parse::<u64>().ok().filter(|n| *n > 0);
    let devices = devices.ok_or_else(|| wrong("the number of devices is not a whole number of 1 or more"))?;
    let oversubscription = match parts.get(2) {
        None => 1.0,
        Some(text) => text
            .parse::<f64>()
            .ok()
            .filter(|x| (1.0..=1e4).contains(x))
            .ok_or_else(|| wrong("the oversubscription is not a number of 1 or more"))?,
    };
    let latency = match parts.get(3) {
        None => Seconds::from_micros(1.0),
        Some(text) => Seconds::read(&Value::Text((*text).to_owned()))?,
    };
    Ok(Tier { name: (*name).to_owned(), devices, oversubscription, latency })
}
