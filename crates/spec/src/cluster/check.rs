//! Plausibility check of a cluster's figures.

use super::Cluster;
use crate::human::exact;
use crate::plan::MOST_DEVICES;
use crate::precision::DataType;
use crate::problem::Problem;

/// Rejects zeros, negatives, NaN, and values orders of magnitude beyond any machine.
pub(super) fn check(cluster: &Cluster) -> Result<(), Problem> {
    // The number of devices comes last: it follows from a node if it is not set.
    let counts = [
        ("cluster.devices_per_node", cluster.devices_per_node),
        ("cluster.scale_up.domain", cluster.scale_up.domain_size),
        ("cluster.devices", cluster.devices),
    ];
    for (key, n) in counts {
        if n == 0 {
            return Err(Problem::new("the number of devices is 0").at_key(key).hint("use at least 1"));
        }
        if n > MOST_DEVICES {
            let most = crate::human::whole(MOST_DEVICES);
            return Err(Problem::new(format!("{n} exceeds the largest supported number of devices, {most}"))
                .at_key(key));
        }
    }
    let scale_up_least = if cluster.scale_up.domain_size > 1 { 1e6 } else { 0.0 };
    let ranges = [
        ("cluster.memory", cluster.accelerator.memory.get(), 1e8, 1e14, "bytes"),
        (
            "cluster.memory_bandwidth",
            cluster.accelerator.memory_bandwidth.get(),
            1e8,
            1e16,
            "bytes per second",
        ),
        (
            "cluster.scale_up.bandwidth",
            cluster.scale_up.bandwidth.get(),
            scale_up_least,
            1e15,
            "bytes per second",
        ),
        ("cluster.network.bandwidth", cluster.network.bandwidth.get(), 1e6, 1e15, "bytes per second"),
        ("cluster.network.latency", cluster.network.latency.get(), 0.0, 1.0, "seconds"),
        ("cluster.host.memory", cluster.host.memory_per_device.get(), 0.0, 1e15, "bytes"),
        (
            "cluster.host.memory_bandwidth",
            cluster.host.memory_bandwidth_per_device.get(),
            1e6,
            1e15,
            "bytes per second",
        ),
        ("cluster.host.power", cluster.host.power_per_device.get(), 0.0, 1e5, "watts"),
        (
            "cluster.power",
            cluster.accelerator.power.map_or(0.0, super::super::quantity::Watts::get),
            0.0,
            1e5,
            "watts",
        ),
        (
            "cluster.host.bandwidth",
            cluster.accelerator.host_bandwidth.map_or(1e9, super::super::quantity::BytesPerSecond::get),
            1e6,
            1e15,
            "bytes per second",
        ),
        ("cluster.power_usage_effectiveness", cluster.host.power_usage_effectiveness, 1.0, 10.0, "times"),
    ];
    for (key, x, least, most, unit) in ranges {
        // `contains` is false for NaN.
        if !(least..=most).contains(&x) {
            let (x, least, most) = (exact(x), exact(least), exact(most));
            return Err(
                Problem::new(format!("{x} {unit} is out of range (expected {least} to {most})")).at_key(key)
            );
        }
    }
    for (data_type, rate) in &cluster.accelerator.peak {
        if !(1e9..=1e19).contains(&rate.get()) {
            let rate = rate.get();
            return Err(Problem::new(format!(
                "{rate:e} FLOP/s in {data_type} is out of range (expected 1e9 to 1e19)"
            ))
            .at_key(match data_type {
                DataType::Fp8 | DataType::Mxfp8 => "cluster.peak.fp8",
                DataType::Nvfp4 => "cluster.peak.fp4",
                _ => "cluster.peak.bf16",
            }));
        }
    }
    for tier in &cluster.network.tiers {
        if tier.devices == 0
            || !(1.0..=1e4).contains(&tier.oversubscription)
            || !(0.0..=1.0).contains(&tier.latency.get())
        {
            return Err(Problem::new(format!("the values of tier `{}` are out of range", tier.name))
                .at_key("cluster.network.tiers"));
        }
    }
    Ok(())
}
