//! Collectives compared with measurements and with general properties.

mod measured;
mod properties;

use super::Fabric;
use railwright_spec::cluster::{Accelerator, Cluster, Host, Network, ScaleUp, Tier};
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds, Watts};
use std::collections::BTreeMap;

/// The machine properties that affect collectives.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) link: &'static str,
    pub(super) link_gb: f64,
    pub(super) nvls: bool,
    pub(super) domain: u64,
    pub(super) node: u64,
    pub(super) nic_gb: f64,
    pub(super) network: &'static str,
    pub(super) tiers: Vec<Tier>,
}

impl Machine {
    /// Eight H100 with NVLink 4, 400 Gb/s InfiniBand each.
    pub(super) fn h100() -> Self {
        Self {
            link: "NVLink4",
            link_gb: 450.0,
            nvls: true,
            domain: 8,
            node: 8,
            nic_gb: 50.0,
            network: "InfiniBand",
            tiers: Vec::new(),
        }
    }

    pub(super) fn cluster(&self) -> Cluster {
        let architecture = match self.link {
            "NVLink2" => "Volta",
            "NVLink3" => "Ampere",
            "NVLink4" => "Hopper",
            "NVLink5" => "Blackwell",
            _ => "other",
        };
        let vendor = if self.link == "xGMI" { "AMD" } else { "NVIDIA" };
        Cluster {
            name: "test".into(),
            accelerator: Accelerator {
                id: "test".into(),
                name: "test".into(),
                vendor: vendor.into(),
                architecture: architecture.into(),
                year: 2023,
                compute_units: None,
                memory: Bytes::from_gib(80.0),
                memory_bandwidth: BytesPerSecond::from_gb(3000.0),
                peak: BTreeMap::new(),
                measured_matmul: None,
                scale_up_link: self.link.into(),
                scale_up_bandwidth: BytesPerSecond::from_gb(self.link_gb),
                scale_up_domain: self.domain,
                network_bandwidth: None,
                host_bandwidth: Some(BytesPerSecond::from_gb(31.0)),
                port_bandwidth: None,
                power: None,
                price: None,
                device_name_patterns: Vec::new(),
                source: String::new(),
                notes: String::new(),
            },
            devices_per_node: self.node,
            devices: 1 << 17,
            scale_up: ScaleUp {
                domain_size: self.domain,
                bandwidth: BytesPerSecond::from_gb(self.link_gb),
                link: self.link.into(),
                in_network_reduction: self.nvls,
            },
            network: Network {
                bandwidth: BytesPerSecond::from_gb(self.nic_gb),
                kind: self.network.into(),
                latency: Seconds::from_micros(5.0),
                tiers: self.tiers.clone(),
                in_network_reduction: false,
                is_assumed: false,
                rail_forwarding: 1.0,
            },
            host: Host {
                memory_per_device: Bytes::from_gib(128.0),
                memory_bandwidth_per_device: BytesPerSecond::from_gb(40.0),
                power_per_device: Watts::new(500.0),
                power_usage_effectiveness: 1.3,
            },
            source: String::new(),
            calibration: None,
            pools: Vec::new(),
        }
    }

    pub(super) fn fabric(&self) -> Fabric {
        Fabric::new(&self.cluster())
    }
}
