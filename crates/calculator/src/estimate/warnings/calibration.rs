//! Parts of a run beyond the calibrated range (work, ranks, bytes and domains), and a measurement that the
//! calibration does not explain.
//!
//! Responsible for: comparing calibrated ranges and step times with this run. Ignores parts with little time.

use super::super::{CommunicationRow, Estimate};
use crate::calibration::step_times;
use crate::costing::Costing;
use crate::program::products;
use railwright_spec::Collective;
use railwright_spec::Portable as _;
use railwright_spec::calibration::Calibration;
use railwright_spec::human;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::{Bytes, Flop};

/// Maximum factor beyond the measured work or bytes without a warning.
const BEYOND: f64 = 8.0;
/// Minimum share of communication in the step for a warning.
const LITTLE: f64 = 0.01;

/// Adds warnings about all parts that the calibration does not cover.
pub(super) fn warnings(costing: &Costing<'_>, estimate: &Estimate, list: &mut Vec<Warning>) {
    let Some(calibration) = &costing.cluster.calibration else { return };
    list.extend(calibration.warnings(costing.cluster, &costing.plan.software));
    products(costing, calibration, list);
    list.extend(unexplained(costing, estimate));
    let costly = || estimate.communication.iter().filter(|row| row.time > estimate.step_time * LITTLE);
    if calibration.link == costing.cluster.scale_up.link {
        list.extend(inside(calibration, costly().filter(|row| row.is_joined)));
    }
    // Devices on a node's bus are separate domains, but there is no network between them.
    list.extend(between(calibration, costly().filter(|row| !row.is_joined)));
}

/// Maximum deviation of a layout's own measurement from its calibrated prediction without a warning, as a
/// logarithm: twice that of repeated runs.
const EXPLAINED: f64 = 2.0 * step_times::REPEATED;

/// Warning about a measured step time of this layout that the calibration treats as an outlier: no plausible
/// change of the rates of its parts explains it, so most of it stays unexplained for this and other layouts.
fn unexplained(costing: &Costing<'_>, estimate: &Estimate) -> Option<Warning> {
    let (_, measured) = step_times::measured_interval(costing, estimate.step_time)?;
    let ratio = measured / estimate.step_time;
    if ratio.portable_ln().abs() <= EXPLAINED {
        return None;
    }
    Some(Warning::new(
        "calibration-outlier",
        format!(
            "your measurement of this layout, {}, is {} of the calibrated prediction; the calibration treats it as an outlier, so check the settings of the run and the measurement",
            human::seconds(measured),
            human::percent(ratio)
        ),
    ))
}

fn products(costing: &Costing<'_>, calibration: &Calibration, list: &mut Vec<Warning>) {
    let Some(rate) = calibration.products(costing.compute_type()) else { return };
    let (from, to) = rate.range();
    let mut work: Vec<f64> = Vec::new();
    for layer in &costing.model.layer_kinds {
        for product in products::products(layer, costing.plan.tensor_parallel as f64) {
            work.push(2.0 * product.tokens(costing) * product.rows * product.columns);
        }
    }
    let outside: Vec<f64> =
        work.iter().copied().filter(|work| *work < from / BEYOND || *work > to * BEYOND).collect();
    if let (Some(worst), false) = (outside.iter().copied().max_by(f64::total_cmp), work.is_empty()) {
        list.push(Warning::new(
            "calibration-extrapolated",
            format!(
                "{} of {} GEMMs of a layer are outside the range of work in the calibration `{}` ({} to {}), up to {}; the nearest rate is used",
                outside.len(),
                work.len(),
                calibration.file,
                human::flop(Flop::new(from)),
                human::flop(Flop::new(to)),
                human::flop(Flop::new(worst))
            ),
        ));
    }
}

/// Warns about collectives inside a domain with a model measured among other ranks, or at very different
/// sizes. The costliest one is named.
fn inside<'a>(
    calibration: &Calibration,
    rows: impl Iterator<Item = &'a CommunicationRow>,
) -> Option<Warning> {
    let doubt = |row: &'a CommunicationRow| -> Option<(&'a CommunicationRow, String)> {
        let kind = Collective::by_name(row.operation)?;
        let bytes = human::bytes_decimal;
        if let Some(law) = calibration.collective(kind, row.ranks) {
            let asked = row.bytes.get();
            let is_far = asked > law.to_bytes * BEYOND || asked < law.from_bytes / BEYOND;
            let range = [law.from_bytes, law.to_bytes].map(|end| bytes(Bytes::new(end)));
            is_far.then(|| (row, format!("of {} (measured: {} to {})", bytes(row.bytes), range[0], range[1])))
        } else {
            let of_kind = calibration.collectives.iter().filter(|law| law.operation == kind);
            let mut known: Vec<u64> = of_kind.map(|law| law.ranks).collect();
            known.sort_unstable();
            known.dedup();
            let text: Vec<String> = known.iter().map(u64::to_string).collect();
            (!known.is_empty())
                .then(|| (row, format!("over {} ranks (measured: {})", row.ranks, text.join(", "))))
        }
    };
    let (row, range) = rows.filter_map(doubt).max_by(|a, b| a.0.time.get().total_cmp(&b.0.time.get()))?;
    Some(Warning::new(
        "calibration-collective-range",
        format!(
            "the calibration `{}` is extrapolated: {} in {} is {range}; the nearest link model is scaled by the measured latency and bandwidth",
            calibration.file,
            row.operation.replace('_', "-"),
            row.title
        ),
    ))
}

/// Warns about groups over other numbers of domains than measured, or with messages of other sizes. The
/// costliest one is named.
fn between<'a>(
    calibration: &Calibration,
    rows: impl Iterator<Item = &'a CommunicationRow>,
) -> Option<Warning> {
    let law = calibration.network.as_ref()?;
    let is_far = |row: &&CommunicationRow| {
        !law.covers(row.domains)
            || row.bytes.get() > law.to_bytes * BEYOND
            || row.bytes.get() < law.from_bytes / BEYOND
    };
    let row = rows.filter(is_far).max_by(|a, b| a.time.get().total_cmp(&b.time.get()))?;
    let bytes = human::bytes_decimal;
    let domains = match (law.from_domains, law.to_domains) {
        (_, 0) => "an unknown number of domains".to_owned(),
        (from, to) if from == to => format!("{from} domains"),
        (from, to) => format!("{from} to {to} domains"),
    };
    Some(Warning::new(
        "calibration-network-range",
        format!(
            "the network was measured over {domains} with {} to {}, but {} in {} spans {} domains with {}: latency per hop and link share are extrapolated, without congestion at that scale",
            bytes(Bytes::new(law.from_bytes)),
            bytes(Bytes::new(law.to_bytes)),
            row.operation.replace('_', "-"),
            row.title,
            row.domains,
            bytes(row.bytes)
        ),
    ))
}

#[cfg(test)]
mod tests {
    use crate::estimate::{Estimate, EstimateOptions, estimate};
    use railwright_spec::Collective;
    use railwright_spec::calibration::{Calibration, CollectiveLaw, Evidence, NetworkLaw, Regime};
    use railwright_spec::cluster::{Cluster, Network, by_name};
    use railwright_spec::model;
    use railwright_spec::plan::PlanSpec;
    use std::sync::Arc;

    fn network(ring_share: f64, latency: f64) -> Calibration {
        let law = NetworkLaw {
            ring_share,
            spread_share: 0.8,
            latency,
            from_ranks: 16,
            to_ranks: 16,
            from_domains: 2,
            to_domains: 2,
            from_bytes: 8.0,
            to_bytes: 16e9,
            evidence: Evidence { samples: 40, ..Evidence::default() },
        };
        Calibration { network: Some(law), file: "two.toml".into(), ..Calibration::empty("h100-sxm5-80gb") }
    }

    fn of(devices: u64, calibration: Option<Calibration>, change: impl FnOnce(&mut PlanSpec)) -> Estimate {
        let model = model::by_name("llama-3-8b").expect("known");
        let cluster = by_name("dgx-h100", devices).expect("known");
        let cluster = Cluster { calibration: calibration.map(Arc::new), ..cluster };
        let mut spec = PlanSpec::default();
        change(&mut spec);
        let plan = spec.resolve(&model, &cluster).expect("resolved");
        estimate(&model, &cluster, &plan, &EstimateOptions::default()).expect("priced")
    }

    fn reported<'a>(estimate: &'a Estimate, id: &str) -> Option<&'a str> {
        estimate.warnings.iter().find(|w| w.id == id).map(|w| w.message.as_str())
    }

    #[test]
    fn two_nodes_measured_are_carried_on_with_a_warning() {
        let data = |p: &mut PlanSpec| p.tensor_parallel = Some(1);
        let near = of(16, Some(network(0.9, 2.0)), data);
        assert_eq!(reported(&near, "calibration-network-range"), None);
        let far = of(256, Some(network(0.9, 2.0)), data);
        let message = reported(&far, "calibration-network-range").expect("thirty-two domains");
        assert!(message.contains("over 2 domains") && message.contains("spans 32 domains"), "{message}");
        // Measured groups are marked as calibrated, extrapolated ones are not.
        let sources = |e: &Estimate| -> Vec<crate::collectives::Source> {
            e.communication.iter().filter(|r| r.domains > 1).map(|r| r.source).collect()
        };
        assert!(sources(&near).iter().all(|s| *s == crate::collectives::Source::Calibrated));
        assert!(sources(&far).iter().all(|s| *s == crate::collectives::Source::Interpolated));
    }

    #[test]
    fn carried_on_latency_grows_with_the_ring_and_bandwidth_stays_below_the_link() {
        use crate::collectives::{Collective, Fabric};
        use railwright_spec::plan::Group;
        use railwright_spec::quantity::Bytes;
        let time = |share: f64, latency: f64, domains: u64, bytes: f64| {
            let cluster = by_name("dgx-h100", 8 * domains).expect("known");
            // NICs so slow that they, and not NVLink, limit the rate.
            let slow = Network { bandwidth: cluster.network.bandwidth * 0.2, ..cluster.network.clone() };
            let calibration = Some(Arc::new(network(share, latency)));
            let cluster = Cluster { calibration, network: slow, ..cluster };
            let group = Group { ranks: 8 * domains, per_domain: 8, least: 8, stride: 1 };
            let op = Collective::AllGather;
            Fabric::new(&cluster).time(op, Bytes::new(bytes), &group, 1.0).time.get()
        };
        // Twice the latency of a hop costs eight times as much with 16 domains as with two.
        let more = |domains| time(0.9, 2.0, domains, 8.0) - time(0.9, 1.0, domains, 8.0);
        assert!((5.0..9.0).contains(&(more(16) / more(2))), "{} {}", more(16), more(2));
        // Two domains were measured at 1.5 times the NICs; sixteen are limited to the NICs.
        let slower = |domains| time(1.5, 1.0, domains, 64e9) / time(1.0, 1.0, domains, 64e9);
        assert!(slower(2) < 0.8, "{}", slower(2));
        assert!((slower(16) - 1.0).abs() < 1e-9, "{}", slower(16));
    }

    #[test]
    fn ranks_and_sizes_that_were_not_measured_are_reported() {
        let law = |ranks, to_bytes| CollectiveLaw {
            operation: Collective::ReduceScatter,
            ranks,
            regime: Regime::Burst,
            base_us: 15.0,
            bandwidth_gb: 300.0,
            ramp_ns: 10.0,
            from_bytes: 1024.0,
            to_bytes,
            evidence: Evidence { samples: 40, ..Evidence::default() },
        };
        let with = |law| {
            let mut calibration = Calibration::empty("h100-sxm5-80gb");
            calibration.collectives.push(law);
            "NVLink4".clone_into(&mut calibration.link);
            of(8, Some(calibration), |p| {
                p.tensor_parallel = Some(8);
                p.sequence_parallel = Some(true);
            })
        };
        assert_eq!(reported(&with(law(8, 1e9)), "calibration-collective-range"), None);
        let small = with(law(8, 65536.0));
        let message = reported(&small, "calibration-collective-range").expect("megabytes were not measured");
        assert!(message.contains("reduce-scatter") && message.contains("65.5 kB"), "{message}");
        let other = with(law(4, 1e9));
        let message = reported(&other, "calibration-collective-range").expect("four are not eight");
        assert!(message.contains("over 8 ranks (measured: 4)"), "{message}");
    }

    /// Two cards on a node's bus: each is a separate domain, without a network between them.
    #[test]
    fn groups_on_a_bus_are_held_to_its_laws() {
        let model = model::by_name("llama-3-8b").expect("known");
        let with = |law: CollectiveLaw| {
            let spec = railwright_spec::cluster::ClusterSpec {
                accelerator: Some("v100-pcie-32gb".into()),
                devices: Some(2),
                devices_per_node: Some(2),
                ..Default::default()
            };
            let cluster = spec.resolve().expect("a pair");
            // A network that was measured over eight domains, but not over two.
            let network =
                network(0.9, 2.0).network.map(|law| NetworkLaw { from_domains: 8, to_domains: 8, ..law });
            let calibration = Calibration {
                network,
                link: cluster.scale_up.link.clone(),
                collectives: vec![law],
                ..Calibration::empty(&cluster.accelerator.id)
            };
            let cluster = Cluster { calibration: Some(Arc::new(calibration)), ..cluster };
            let spec = PlanSpec { tensor_parallel: Some(2), ..PlanSpec::default() };
            let plan = spec.resolve(&model, &cluster).expect("resolved");
            estimate(&model, &cluster, &plan, &EstimateOptions::default()).expect("priced")
        };
        let law = |operation, to_bytes| CollectiveLaw {
            operation,
            ranks: 2,
            regime: Regime::Burst,
            base_us: 15.0,
            bandwidth_gb: 8.0,
            ramp_ns: 10.0,
            from_bytes: 1024.0,
            to_bytes,
            evidence: Evidence { samples: 40, ..Evidence::default() },
        };
        let probe = with(law(Collective::AllReduce, 1e9));
        let row = probe.communication.iter().find(|row| row.dimension == "tensor").expect("tensor parallel");
        assert!(row.is_joined && row.domains == 2, "{row:?}");
        let kind = Collective::by_name(row.operation).expect("known");
        assert_eq!(reported(&probe, "calibration-network-range"), None);
        let small = with(law(kind, 65536.0));
        let message = reported(&small, "calibration-collective-range").expect("megabytes were not measured");
        assert!(message.contains("65.5 kB"), "{message}");
        assert_eq!(reported(&small, "calibration-network-range"), None);
    }
}
