//! From the settings of a cluster to its figures: the preset's or the accelerator's, overridden.

use super::spec::ClusterSpec;
use super::{Accelerator, Cluster, Host, Network, Pool, Pools, ScaleUp, accelerator_by_name, preset};
use crate::calibration::Calibration;
use crate::precision::DataType;
use crate::problem::Problem;
use crate::quantity::{Bytes, BytesPerSecond, FlopPerSecond, Seconds, Watts};
use crate::run::{Section, Sheet};
use std::sync::Arc;

/// Sets the peak of all supported formats of one width, or adds the first of them if none is supported.
///
/// Measured GEMM rates are stored as shares of the peak, so they scale with the 16-bit peak.
fn set_peak(accelerator: &mut Accelerator, peak: FlopPerSecond, data_types: &[DataType]) {
    if let (Some(ceiling), Some(&before)) =
        (accelerator.measured_matmul, accelerator.peak.get(&DataType::Bf16))
        && data_types.contains(&DataType::Bf16)
        && before > FlopPerSecond::ZERO
    {
        accelerator.measured_matmul = Some(ceiling * (peak / before));
    }
    let mut is_set = false;
    for data_type in data_types {
        if let Some(rate) = accelerator.peak.get_mut(data_type) {
            *rate = peak;
            is_set = true;
        }
    }
    if let (false, Some(&first)) = (is_set, data_types.first()) {
        accelerator.peak.insert(first, peak);
    }
}

/// Devices per server if nothing else is known: the scale-up domain, at most 8. PCIe cards, alone or in
/// bridged pairs, come in servers of eight.
fn per_server(accelerator: &Accelerator) -> u64 {
    if accelerator.scale_up_domain <= 2 { 8 } else { accelerator.scale_up_domain.min(8) }
}

impl Sheet<ClusterSpec> {
    /// Resolves the cluster; problems have the place of the setting in its file.
    pub fn resolve(&self) -> Result<Cluster, Problem> {
        self.spec.resolve().map_err(|problem| self.placed(problem))
    }
}

impl ClusterSpec {
    /// True if a machine is set: a cluster of the catalogue or an accelerator.
    pub const fn has_machine(&self) -> bool {
        self.preset.is_some() || self.accelerator.is_some()
    }

    /// Reads a cluster file: the keys of the section `cluster`, without the section's name.
    pub fn parse(text: &str, file: &str) -> Result<Self, Problem> {
        Sheet::parse(text, file).map(|sheet| sheet.spec)
    }

    /// Resolves the cluster: figures of the preset, or of the accelerator's usual system, overridden by the
    /// settings here.
    pub fn resolve(&self) -> Result<Cluster, Problem> {
        let named = match &self.accelerator {
            Some(name) => {
                Some(accelerator_by_name(name).map_err(|problem| problem.at_key("cluster.accelerator"))?)
            }
            None => None,
        };
        let mut spec = match (&self.preset, &named) {
            (Some(name), _) => preset::spec(name).map_err(|problem| problem.at_key("cluster.preset"))?,
            (None, Some(accelerator)) => preset::usual_system(&accelerator.id).unwrap_or_default(),
            (None, None) => Self::default(),
        };
        let of_preset = spec.name.clone();
        if let (Some(_), Some(accelerator)) = (&self.preset, &named)
            && spec.accelerator.as_deref() != Some(accelerator.id.as_str())
        {
            // Another accelerator has its own links, so those of the preset do not apply.
            (spec.scale_up_domain, spec.scale_up_bandwidth, spec.scale_up_link) = (None, None, None);
            (spec.scale_up_reduction, spec.memory, spec.memory_bandwidth, spec.power) =
                (None, None, None, None);
            (spec.peak_sixteen, spec.peak_eight, spec.peak_four, spec.host_bandwidth) =
                (None, None, None, None);
        }
        spec.overlay(self);
        let mut accelerator = match (named, spec.accelerator.as_deref()) {
            (Some(accelerator), _) => accelerator,
            (None, Some(name)) => accelerator_by_name(name)?,
            (None, None) => {
                return Err(Problem::new("neither a preset nor an accelerator is set")
                    .at_key("cluster.accelerator")
                    .hint("set cluster.preset = \"dgx-h100\" or cluster.accelerator = \"h100\""));
            }
        };
        let domain = spec.scale_up_domain.unwrap_or(accelerator.scale_up_domain);
        if let (Some(node), None, ..=16) = (self.devices_per_node, self.scale_up_domain, domain) {
            // Half-filled servers: the domain is limited to the server, unless it spans servers by design (a
            // rack).
            spec.scale_up_domain = Some(domain.min(node));
        }
        // The list price of an instance includes its accelerators, so it replaces their own. A cluster that
        // was written in full has the preset's name alone.
        let of = |name: &Option<String>| preset::price(name.as_deref()?, &accelerator.id);
        let price = of(&of_preset).or_else(|| of(&spec.name));
        accelerator.price = price.or(accelerator.price);
        let is_assumed = self.preset.is_none() && self.network_bandwidth.is_none();
        let mut cluster = spec.build(accelerator)?;
        cluster.network.is_assumed = is_assumed;
        Ok(cluster)
    }

    /// Resolves the cluster with its calibration. `read` returns the text of a file by its path.
    pub fn resolve_calibrated(
        &self,
        read: impl FnOnce(&str) -> Result<String, Problem>,
    ) -> Result<Cluster, Problem> {
        let cluster = self.resolve()?;
        let Some(path) = &self.calibration else { return Ok(cluster) };
        let text =
            read(path).map_err(|p| if p.place.is_none() { p.at_key("cluster.calibration") } else { p })?;
        Arc::new(Calibration::parse(&text, path)?).applied(cluster)
    }

    fn build(self, mut accelerator: Accelerator) -> Result<Cluster, Problem> {
        if let Some(memory) = self.memory {
            accelerator.memory = memory;
        }
        if let Some(bandwidth) = self.memory_bandwidth {
            accelerator.memory_bandwidth = bandwidth;
        }
        if let Some(power) = self.power {
            accelerator.power = Some(power);
        }
        // A changed host link is the whole path of a device.
        if self.host_bandwidth.is_some_and(|given| accelerator.host_bandwidth != Some(given)) {
            (accelerator.host_bandwidth, accelerator.port_bandwidth) = (self.host_bandwidth, None);
        }
        let peaks: [(Option<FlopPerSecond>, &[DataType]); 3] = [
            (self.peak_sixteen, &[DataType::Bf16, DataType::Fp16]),
            (self.peak_eight, &[DataType::Fp8, DataType::Mxfp8]),
            (self.peak_four, &[DataType::Nvfp4]),
        ];
        for (peak, data_types) in peaks {
            if let Some(peak) = peak {
                set_peak(&mut accelerator, peak, data_types);
            }
        }
        let domain_size = self.scale_up_domain.unwrap_or(accelerator.scale_up_domain);
        let devices_per_node = self.devices_per_node.unwrap_or(per_server(&accelerator));
        let devices = self.devices.unwrap_or(devices_per_node);
        let link = self.scale_up_link.unwrap_or_else(|| accelerator.scale_up_link.clone());
        let scale_up = ScaleUp {
            domain_size,
            bandwidth: self.scale_up_bandwidth.unwrap_or(accelerator.scale_up_bandwidth),
            // NVLink switches reduce since the fourth generation; bridges have no switch.
            in_network_reduction: self.scale_up_reduction.unwrap_or_else(|| {
                ["NVLink4", "NVLink5", "NVLink6"].iter().any(|l| link.starts_with(l)) && domain_size > 2
            }),
            link,
        };
        let network = Network {
            bandwidth: self
                .network_bandwidth
                .or(accelerator.network_bandwidth)
                .unwrap_or(BytesPerSecond::from_gbit(100.0)),
            kind: self.network_kind.unwrap_or_else(|| "InfiniBand".to_owned()),
            latency: self.network_latency.unwrap_or(Seconds::from_micros(5.0)),
            tiers: self.network_tiers.map_or_else(Vec::new, |tiers| tiers.0),
            in_network_reduction: self.network_reduction.unwrap_or(false),
            is_assumed: false,
            rail_forwarding: 1.0,
        };
        let host = Host {
            memory_per_device: self.host_memory.unwrap_or(Bytes::from_gib(128.0)),
            memory_bandwidth_per_device: self.host_memory_bandwidth.unwrap_or(BytesPerSecond::from_gb(40.0)),
            power_per_device: self
                .host_power
                .unwrap_or(accelerator.power.unwrap_or(Watts::new(600.0)) * (1.0 / 3.0)),
            power_usage_effectiveness: self.power_usage_effectiveness.unwrap_or(1.25),
        };
        let cluster = Cluster {
            name: self.name.unwrap_or_else(|| accelerator.id.clone()),
            source: self.source.unwrap_or_else(|| accelerator.source.clone()),
            accelerator,
            devices_per_node,
            devices,
            scale_up,
            network,
            host,
            calibration: None,
            pools: Vec::new(),
        };
        super::check::check(&cluster)?;
        match &self.pools {
            Some(pools) => cluster.with_pools(pools),
            None => Ok(cluster),
        }
    }
}

impl Cluster {
    /// Places the pools after the devices of the main kind.
    fn with_pools(mut self, pools: &Pools) -> Result<Self, Problem> {
        let key = "cluster.pools";
        let of_others: u64 = pools.0.iter().fold(0, |sum, pool| sum.saturating_add(pool.devices));
        if of_others >= self.devices {
            return Err(Problem::new(format!(
                "the pools have {} devices, but the job has only {} in total",
                crate::human::whole(of_others),
                crate::human::whole(self.devices)
            ))
            .at_key(key)
            .hint("cluster.devices counts the devices of all kinds"));
        }
        let mut first_rank = self.devices - of_others;
        for pool in &pools.0 {
            let cluster =
                Box::new(preset::by_name(&pool.name, self.devices).map_err(|problem| problem.at_key(key))?);
            self.pools.push(Pool { name: pool.name.clone(), first_rank, devices: pool.devices, cluster });
            first_rank += pool.devices;
        }
        Ok(self)
    }
}
