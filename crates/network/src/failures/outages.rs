//! Share of a job's device-hours that failures of its network cost, for the price of a token.
//!
//! Responsible for: the loss on one design, by the computation of `network failures`, and relative to the
//! network that a goodput already contains. Excludes failures of accelerators and hosts, which do not depend
//! on the network.

use super::expected::{Job, expectation};
use super::rates::Rates;
use super::slowdown;
use crate::topology::{Design, DesignSpec};
use railwright_spec::cluster::Cluster;
use railwright_spec::problem::Problem;

/// The network of a cluster without a design: a Clos without oversubscription. Only whole scale-up domains
/// count.
pub fn usual_network(cluster: &Cluster) -> DesignSpec {
    let domain = cluster.scale_up.domain_size.max(1);
    DesignSpec {
        devices: Some(cluster.devices.div_ceil(domain) * domain),
        domain: Some(domain),
        speed: Some(cluster.network.bandwidth),
        ..DesignSpec::default()
    }
}

/// Losses by failures, flaps and slow parts of networks.
#[derive(Clone, Debug)]
pub struct Outages {
    rates: Rates,
    /// The network whose failures the goodput contains.
    included: Option<Design>,
}

impl Outages {
    /// `has_goodput` is true if the job's availability contains failures: those of its usual network are then
    /// not counted twice.
    pub fn new(rates: Rates, cluster: &Cluster, has_goodput: bool) -> Result<Self, Problem> {
        let included = has_goodput.then(|| usual_network(cluster).resolve()).transpose()?;
        Ok(Self { rates, included })
    }

    /// Share of device-hours lost to a network, with this share of the step exposed to it: `L = sum of rate x
    /// hours of each class`.
    pub fn lost(&self, design: &Design, exposed_share: f64) -> Result<f64, Problem> {
        let job = Job::usual(exposed_share);
        let expected = expectation(design, &self.rates, &job, &|kept| slowdown(kept, exposed_share))?;
        Ok(expected.lost_share)
    }

    /// Factor of a job's availability on a design: `1 - L`, divided by that of the network that the goodput
    /// contains.
    pub fn kept(&self, design: &Design, exposed_share: f64) -> Result<f64, Problem> {
        let lost = |design: &Design| self.lost(design, exposed_share);
        let included = self.included.as_ref().map_or(Ok(0.0), lost)?;
        Ok(if included < 1.0 { (1.0 - lost(design)?) / (1.0 - included) } else { 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::super::expected::INTERRUPTION_HOURS;
    use super::*;
    use crate::topology::Kind;
    use railwright_spec::cluster::by_name;

    const FLAPS: &str = "part,flaps_per_month,flap_seconds,reroute_seconds\naccess-link,0.01,8,1\n";

    fn outages(table: Option<&str>, has_goodput: bool) -> Outages {
        let cluster = by_name("dgx-h100", 16_384).expect("known");
        let mut rates = Rates::catalogue().expect("well formed");
        if let Some(table) = table {
            rates.overlay(table, "own.csv").expect("valid");
        }
        Outages::new(rates, &cluster, has_goodput).expect("built")
    }

    fn design(kind: Kind) -> Design {
        DesignSpec::of(kind, 16_384, 8, 64).resolve().expect("built")
    }

    /// 16,384 accelerators had 42 interruptions by NICs, switches and cables in 54 days (arXiv 2407.21783,
    /// table 5), at most 0.278 h each: 0.9% of their hours. A design with one port per NIC loses that,
    /// within a factor of two; with two planes most of them stop nothing.
    #[test]
    fn one_port_per_device_loses_what_was_published_and_two_planes_less() {
        let none = outages(None, false);
        let lost = |kind| none.lost(&design(kind), 0.0).expect("known");
        let published = 42.0 * INTERRUPTION_HOURS / (54.0 * 24.0);
        let single = lost(Kind::RailOptimized);
        assert!((published / 2.0..2.0 * published).contains(&single), "{single} {published}");
        assert!(lost(Kind::DualPlane) < 0.5 * single);
        assert_eq!(none.kept(&design(Kind::RailOptimized), 0.0), Ok(1.0 - single));
    }

    /// The goodput contains the failures of a Clos: its availability is unchanged there, and higher on two
    /// planes.
    #[test]
    fn failures_within_the_goodput_are_not_counted_twice() {
        let with = outages(None, true);
        assert_eq!(
            with.kept(
                &usual_network(&by_name("dgx-h100", 16_384).expect("known")).resolve().expect("built"),
                0.1
            ),
            Ok(1.0)
        );
        assert!(with.kept(&design(Kind::DualPlane), 0.1).expect("known") > 1.0);
    }

    /// A flap stalls all devices until routes avoid the link; without another route, until it ends.
    #[test]
    fn flaps_are_those_of_the_design() {
        let extra = |kind| {
            let [with, without] = [Some(FLAPS), None]
                .map(|table| outages(table, false).lost(&design(kind), 0.0).expect("known"));
            with - without
        };
        let (single, two) = (extra(Kind::RailOptimized), extra(Kind::DualPlane));
        // By hand for two planes: 32,768 links, 8 (1 - e^(-1/8)) s each.
        let stall = 32_768.0 * 0.01 * 8.0 * (1.0 - (-1.0_f64 / 8.0).exp()) / 3600.0 / 730.0;
        assert!((two / stall - 1.0).abs() < 1e-6, "{two} {stall}");
        assert!(single > two, "{single} {two}");
    }
}
