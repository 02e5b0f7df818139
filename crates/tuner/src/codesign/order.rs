//! Partial order of networks: at least as good for any traffic.
//!
//! Responsible for: an order that avoids searches: a better network bounds the steps on a worse one
//! ([`super::Survey`]). Networks that are better in one property and worse in another are not comparable.

use railwright_spec::cluster::{Cluster, Tier};
use railwright_spec::quantity::Seconds;

/// Tests whether no exchange among the same ranks takes longer on the first network than on the second. It
/// has at least the bandwidth, and no more oversubscription, latency (at any reach of a group) or forwarding
/// between rails.
pub fn is_at_least_as_good(one: &Cluster, other: &Cluster) -> bool {
    let (a, b) = (&one.network, &other.network);
    one.accelerator == other.accelerator
        && one.devices == other.devices
        && one.devices_per_node == other.devices_per_node
        && one.scale_up == other.scale_up
        && a.kind == b.kind
        && a.bandwidth >= b.bandwidth
        && a.latency <= b.latency
        && a.rail_forwarding <= b.rail_forwarding
        && reaches(&a.tiers).chain(reaches(&b.tiers)).all(|reach| {
            oversubscription(&a.tiers, reach) <= oversubscription(&b.tiers, reach)
                && latency(&a.tiers, reach) <= latency(&b.tiers, reach)
        })
        // The tier that slows a ring is weighted by the members below it: the wider, the better.
        && a.tiers.iter().filter(|tier| tier.oversubscription > 1.0).all(|tier| {
            b.tiers.iter().any(|t| t.devices <= tier.devices && t.oversubscription >= tier.oversubscription)
        })
}

/// Sizes just beyond each tier.
fn reaches(tiers: &[Tier]) -> impl Iterator<Item = u64> {
    tiers.iter().map(|tier| tier.devices.saturating_add(1))
}

/// Maximum oversubscription for a group of adjacent devices.
fn oversubscription(tiers: &[Tier], reach: u64) -> f64 {
    tiers.iter().filter(|tier| reach > tier.devices).fold(1.0, |worst, tier| worst.max(tier.oversubscription))
}

/// Latency of such a group in addition to the first switch: that of each further tier.
fn latency(tiers: &[Tier], reach: u64) -> f64 {
    tiers.windows(2).filter(|pair| reach > pair[0].devices).map(|pair| pair[1].latency.get()).sum()
}

/// A network that is at least as good as all of these for any traffic: the best of each property, by the
/// reach of a group. `None` without networks, and if no such network exists.
pub fn ideal<'a>(clusters: impl IntoIterator<Item = &'a Cluster> + Clone) -> Option<Cluster> {
    let mut best = clusters.clone().into_iter().next()?.clone();
    let mut ends: Vec<u64> = Vec::new();
    for cluster in clusters.clone() {
        let (own, other) = (&mut best.network, &cluster.network);
        own.bandwidth = own.bandwidth.max(other.bandwidth);
        own.latency = own.latency.min(other.latency);
        own.rail_forwarding = own.rail_forwarding.min(other.rail_forwarding);
        ends.extend(other.tiers.iter().map(|tier| tier.devices));
    }
    ends.sort_unstable();
    ends.dedup();
    let least = |of: fn(&[Tier], u64) -> f64, devices: u64| {
        let beyond = devices.saturating_add(1);
        clusters.clone().into_iter().map(|one| of(&one.network.tiers, beyond)).fold(f64::INFINITY, f64::min)
    };
    let mut tiers: Vec<Tier> = Vec::new();
    // The latency beyond a tier is that of the next one.
    let (mut slow, mut late, mut next) = (1.0, 0.0, 0.0);
    for (turn, &devices) in ends.iter().enumerate() {
        let (slower, later) = (least(oversubscription, devices), least(latency, devices));
        if slower > slow || later > late || turn + 1 == ends.len() {
            let latency = Seconds::new(next);
            tiers.push(Tier { name: String::new(), devices, oversubscription: slower, latency });
            (slow, late, next) = (slower, later, later - late);
        }
    }
    best.network.tiers = tiers;
    clusters.into_iter().all(|cluster| is_at_least_as_good(&best, cluster)).then_some(best)
}

/// Networks that differ in latencies and in the reach of their tiers alone: one search of their [`ideal`]
/// bounds the steps on all of them.
pub fn is_alike(one: &Cluster, other: &Cluster) -> bool {
    let (a, b) = (&one.network, &other.network);
    let worst = |tiers: &[Tier]| oversubscription(tiers, u64::MAX);
    one.scale_up == other.scale_up
        && a.bandwidth == b.bandwidth
        && a.rail_forwarding == b.rail_forwarding
        && worst(&a.tiers) == worst(&b.tiers)
}

/// Order of indices in which no cluster precedes one that is at least as good and different.
pub fn best_first(clusters: &[Cluster]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..clusters.len()).collect();
    let mut all: Vec<u64> = clusters.iter().flat_map(|cluster| reaches(&cluster.network.tiers)).collect();
    all.sort_unstable();
    all.dedup();
    // Sums over every relevant reach: if no value is larger, the sum is no larger.
    let sums = |cluster: &Cluster| {
        let tiers = &cluster.network.tiers;
        let slow: f64 = all.iter().map(|reach| oversubscription(tiers, *reach)).sum();
        let late: f64 = all.iter().map(|reach| latency(tiers, *reach)).sum();
        (slow, late)
    };
    let sums: Vec<(f64, f64)> = clusters.iter().map(sums).collect();
    order.sort_by(|&x, &y| {
        let (a, b) = (&clusters[x], &clusters[y]);
        let by_bandwidth = b.network.bandwidth.get().total_cmp(&a.network.bandwidth.get());
        (a.scale_up.domain_size.cmp(&b.scale_up.domain_size))
            .then(by_bandwidth)
            .then(sums[x].0.total_cmp(&sums[y].0))
            .then(sums[x].1.total_cmp(&sums[y].1))
            .then(a.network.rail_forwarding.total_cmp(&b.network.rail_forwarding))
            .then(x.cmp(&y))
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::cluster::by_name;
    use railwright_spec::quantity::BytesPerSecond;

    fn with(tiers: &[(u64, f64)], gigabits: f64) -> Cluster {
        let mut cluster = by_name("dgx-h100", 1024).expect("known");
        cluster.network.bandwidth = BytesPerSecond::from_gbit(gigabits);
        let tier = |&(devices, oversubscription): &(u64, f64)| Tier {
            name: String::new(),
            devices,
            oversubscription,
            latency: Seconds::from_micros(1.0),
        };
        cluster.network.tiers = tiers.iter().map(tier).collect();
        cluster
    }

    #[test]
    fn better_is_better_in_everything() {
        let full = with(&[(256, 1.0), (1024, 1.0)], 400.0);
        let blocked = with(&[(256, 2.0), (1024, 1.0)], 400.0);
        let narrow = with(&[(32, 2.0), (1024, 1.0)], 400.0);
        let fast = with(&[(32, 2.0), (1024, 1.0)], 800.0);
        assert!(is_at_least_as_good(&full, &full));
        assert!(is_at_least_as_good(&full, &blocked) && !is_at_least_as_good(&blocked, &full));
        assert!(is_at_least_as_good(&blocked, &narrow) && !is_at_least_as_good(&narrow, &blocked));
        assert!(is_at_least_as_good(&fast, &narrow));
        // More bandwidth with more oversubscription is not comparable.
        assert!(!is_at_least_as_good(&fast, &full) && !is_at_least_as_good(&full, &fast));
        let deep = with(&[(256, 1.0), (512, 1.0), (1024, 1.0)], 400.0);
        assert!(is_at_least_as_good(&full, &deep) && !is_at_least_as_good(&deep, &full));
        let all = [narrow, fast, deep, blocked, full];
        let order = best_first(&all);
        for (at, &one) in order.iter().enumerate() {
            for &later in &order[at + 1..] {
                assert!(
                    !is_at_least_as_good(&all[later], &all[one]) || all[later] == all[one],
                    "{one} {later}"
                );
            }
        }
    }

    #[test]
    fn an_ideal_network_is_better_than_all() {
        let narrow = with(&[(32, 2.0), (1024, 1.0)], 800.0);
        let deep = with(&[(256, 1.0), (512, 1.0), (1024, 1.0)], 400.0);
        let best = ideal([&narrow, &deep]).expect("comparable");
        assert!(is_at_least_as_good(&best, &narrow) && is_at_least_as_good(&best, &deep));
        assert!(!is_at_least_as_good(&narrow, &deep) && !is_at_least_as_good(&deep, &narrow));
        // Only what all networks have in common remains: oversubscription beyond the widest leaf, and the
        // latency of the fewest tiers.
        let [near, wide] =
            [&[(32, 4.0), (1024, 1.0)], &[(64, 2.0), (1024, 1.0)]].map(|tiers| with(tiers, 400.0));
        let common = ideal([&near, &wide]).expect("comparable");
        assert_eq!([32, 64, 65].map(|reach| oversubscription(&common.network.tiers, reach)), [1.0, 1.0, 2.0]);
        assert_eq!([64, 65].map(|reach| latency(&common.network.tiers, reach)), [0.0, 1e-6]);
        assert_eq!(ideal([&near]).map(|one| latency(&one.network.tiers, 33)), Some(1e-6));
        assert!(
            is_alike(&near, &with(&[(64, 4.0), (256, 1.0), (1024, 1.0)], 400.0)) && !is_alike(&near, &wide)
        );
        let racks = by_name("gb200-nvl72", 1152).expect("known");
        assert_eq!(ideal([&narrow, &racks]), None, "other devices");
    }

    #[test]
    fn a_better_network_never_makes_a_step_longer() {
        use super::super::fabric::step_time;
        use railwright_spec::model;
        use railwright_spec::plan::PlanSpec;
        let networks = [
            with(&[(256, 1.0), (1024, 1.0)], 400.0),
            with(&[(256, 2.0), (1024, 1.0)], 400.0),
            with(&[(32, 2.0), (1024, 1.0)], 400.0),
            with(&[(32, 4.0), (256, 4.0), (1024, 1.0)], 400.0),
            with(&[(32, 4.0), (256, 4.0), (1024, 1.0)], 200.0),
        ];
        for (name, tensor, expert) in [("llama-3-70b", 8, 1), ("llama-3-8b", 16, 1), ("mixtral-8x22b", 2, 8)]
        {
            let model = model::by_name(name).expect("known");
            let spec = PlanSpec {
                tensor_parallel: Some(tensor),
                expert_parallel: (expert > 1).then_some(expert),
                global_batch: Some(1024),
                ..PlanSpec::default()
            };
            let plan = spec.resolve(&model, &networks[0]).expect("possible");
            let times: Vec<f64> =
                networks.iter().map(|n| step_time(&model, n, &plan).expect("possible").get()).collect();
            for pair in networks.windows(2).zip(times.windows(2)) {
                let (networks, times) = pair;
                assert!(is_at_least_as_good(&networks[0], &networks[1]));
                assert!(times[0] <= times[1] * (1.0 + 1e-12), "{name}: {times:?}");
            }
        }
    }
}
