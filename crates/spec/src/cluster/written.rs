//! A cluster as a complete specification.

use super::{Cluster, ClusterSpec, Pool, PoolSpec, Pools, Tiers};
use crate::precision::DataType;

impl ClusterSpec {
    /// Specification with all values of this cluster, assumed ones included, for comparisons of two clusters.
    pub fn in_full(cluster: &Cluster) -> Self {
        Self { network_bandwidth: Some(cluster.network.bandwidth), ..Self::from_cluster(cluster) }
    }

    /// Specification that resolves to this cluster, for a file: an assumed bandwidth stays unset.
    pub fn from_cluster(cluster: &Cluster) -> Self {
        let accelerator = &cluster.accelerator;
        let peak =
            |of: [DataType; 2]| of.iter().find_map(|data_type| accelerator.peak.get(data_type)).copied();
        Self {
            preset: None,
            name: Some(cluster.name.clone()),
            accelerator: Some(accelerator.id.clone()),
            devices: Some(cluster.devices),
            pools: (!cluster.pools.is_empty()).then(|| {
                let written = |pool: &Pool| PoolSpec { name: pool.name.clone(), devices: pool.devices };
                Pools(cluster.pools.iter().map(written).collect())
            }),
            devices_per_node: Some(cluster.devices_per_node),
            memory: Some(accelerator.memory),
            memory_bandwidth: Some(accelerator.memory_bandwidth),
            peak_sixteen: peak([DataType::Bf16, DataType::Fp16]),
            peak_eight: peak([DataType::Fp8, DataType::Mxfp8]),
            peak_four: peak([DataType::Nvfp4, DataType::Nvfp4]),
            power: accelerator.power,
            scale_up_domain: Some(cluster.scale_up.domain_size),
            scale_up_bandwidth: Some(cluster.scale_up.bandwidth),
            scale_up_link: Some(cluster.scale_up.link.clone()),
            scale_up_reduction: Some(cluster.scale_up.in_network_reduction),
            network_bandwidth: (!cluster.network.is_assumed).then_some(cluster.network.bandwidth),
            network_kind: Some(cluster.network.kind.clone()),
            network_latency: Some(cluster.network.latency),
            network_tiers: Some(Tiers(cluster.network.tiers.clone())),
            network_reduction: cluster.network.in_network_reduction.then_some(true),
            host_bandwidth: accelerator.host_bandwidth,
            host_memory: Some(cluster.host.memory_per_device),
            host_memory_bandwidth: Some(cluster.host.memory_bandwidth_per_device),
            host_power: Some(cluster.host.power_per_device),
            power_usage_effectiveness: Some(cluster.host.power_usage_effectiveness),
            source: Some(cluster.source.clone()),
            calibration: cluster.calibration.as_ref().map(|c| c.file.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{by_name, preset_names};
    use crate::run::Section;

    #[test]
    fn what_was_written_resolves_to_the_same_cluster() {
        for name in preset_names().into_iter().chain(["h100-pcie-80gb", "mi325x", "tpu-v4"]) {
            let cluster = by_name(name, 64).expect("known");
            let mut back = ClusterSpec::from_cluster(&cluster).resolve().expect("sound");
            // A preset has its own source; a custom accelerator keeps the catalogue's source.
            back.accelerator.source.clone_from(&cluster.accelerator.source);
            assert_eq!(back, cluster, "{name}");
        }
    }

    #[test]
    fn peaks_are_set_by_width_and_the_measured_ceiling_moves_with_them() {
        let mut spec = ClusterSpec::default();
        for (key, text) in
            [("accelerator", "mi300x"), ("peak.bf16", "2.6 PFLOP/s"), ("peak.fp8", "5000 TFLOP/s")]
        {
            spec.set(key, &crate::run::Value::Text(text.to_owned())).expect("a key").expect("a value");
        }
        let (usual, fast) = (by_name("mi300x", 8).expect("known"), spec.resolve().expect("sound"));
        let peak = |data_type| fast.accelerator.peak_rate(data_type).expect("a peak").tera();
        assert_eq!(
            (peak(DataType::Bf16), peak(DataType::Fp16), peak(DataType::Fp8)),
            (2600.0, 2600.0, 5000.0)
        );
        let share = |c: &Cluster| {
            c.accelerator.measured_matmul.expect("measured")
                / c.accelerator.peak_rate(DataType::Bf16).expect("a peak")
        };
        assert!((share(&usual) / share(&fast) - 1.0).abs() < 1e-12);
        let absurd = spec.set("peak.bf16", &crate::run::Value::Text("1 FLOP/s".to_owned()));
        absurd.expect("a key").expect("a value");
        let place = spec.resolve().expect_err("absurd").place.expect("a place");
        assert_eq!(place.key.as_deref(), Some("cluster.peak.bf16"));
    }
}
