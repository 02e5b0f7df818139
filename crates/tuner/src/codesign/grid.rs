//! Candidate designs, and their equivalence classes for steps.
//!
//! Responsible for: every combination of the axes that can be built, its bill, its cluster, and classes of
//! equal clusters, so that one search per class suffices. Does not remove bad designs.

use super::fabric::cluster_on;
use railwright_network::bill::prices::Prices;
use railwright_network::bill::{Bill, Line, bill};
use railwright_network::topology::{Design, DesignSpec, Kind};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{BytesPerSecond, Dollars};
use serde::Serialize;
use std::collections::BTreeMap;

/// Default domain sizes: available or announced ones, and doublings between.
pub const DOMAINS: [u64; 10] = [8, 16, 32, 64, 72, 128, 144, 256, 288, 576];

/// Default NIC speeds, in Gbit/s.
const SPEEDS: [f64; 3] = [200.0, 400.0, 800.0];

/// Default values of an axis, with those that are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Usual<T> {
    /// Values.
    pub values: Vec<T>,
    /// Values that are left out.
    pub left_out: Vec<T>,
}

/// The machine's own domain and those of [`DOMAINS`], if they divide the devices.
pub fn usual_domains(machine: &Cluster) -> Usual<u64> {
    let mut all = DOMAINS.to_vec();
    all.push(machine.scale_up.domain_size.max(1));
    all.sort_unstable();
    all.dedup();
    let (mut values, left_out): (Vec<u64>, Vec<u64>) =
        all.into_iter().partition(|size| machine.devices.is_multiple_of(*size));
    if values.is_empty() {
        values.push(1);
    }
    // Sizes beyond the devices need no explanation.
    Usual { values, left_out: left_out.into_iter().filter(|size| *size < machine.devices).collect() }
}

/// The speed of the machine's own NICs and the usual ones, without those that its devices cannot use.
pub fn usual_speeds(machine: &Cluster) -> Usual<BytesPerSecond> {
    let mut all: Vec<BytesPerSecond> = SPEEDS.map(BytesPerSecond::from_gbit).to_vec();
    all.push(machine.network.bandwidth);
    all.sort_by(|a, b| a.get().total_cmp(&b.get()));
    all.dedup();
    let (values, left_out) = all.into_iter().partition(|speed| *speed <= machine.device_limit());
    Usual { values, left_out }
}

/// Varied and common settings of designs.
#[derive(Clone, Debug, PartialEq)]
pub struct Axes {
    /// Sizes of scale-up domains.
    pub domains: Vec<u64>,
    /// Kinds of networks.
    pub kinds: Vec<Kind>,
    /// Oversubscription of leaves, for kinds that have any.
    pub oversubscriptions: Vec<f64>,
    /// Bandwidths of a device's NIC.
    pub speeds: Vec<BytesPerSecond>,
    /// Other settings of every design: radix, lengths, media.
    pub base: DesignSpec,
}

/// One design.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// All properties of the design.
    pub design: Design,
    /// Requested bandwidth below a leaf over bandwidth above it.
    pub oversubscription: f64,
    /// Cost.
    pub bill: Bill,
    /// Index of its class.
    pub class: usize,
}

impl Point {
    /// Dollars of the network, and of the devices' parts of larger scale-up domains as far as those have a
    /// price.
    pub fn price(&self, scale_up_prices: &BTreeMap<u64, Dollars>) -> Dollars {
        let of_domain = scale_up_prices.get(&self.design.domain.size).copied().unwrap_or(Dollars::ZERO);
        self.bill.total + of_domain * self.design.devices as f64
    }
}

/// A combination that cannot be built.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refused {
    /// Kind of network.
    pub kind: Kind,
    /// Devices per domain.
    pub domain: u64,
    /// Bandwidth of a NIC.
    pub speed: BytesPerSecond,
    /// Reason for rejection.
    pub problem: Problem,
}

/// Designs, and their distinct clusters.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Designs in the order of the axes.
    pub points: Vec<Point>,
    /// Designs that cannot be built, one per reason.
    pub refused: Vec<Refused>,
    /// Clusters that differ for a step, in the order of the first design of each.
    pub classes: Vec<Cluster>,
}

/// Maximum number of designs.
const MOST_POINTS: usize = 20_000;

impl Grid {
    /// All combinations. Fails if none can be built.
    ///
    /// `sends_to_all` is true if any plan sends uniformly to all peers ([`Space::sends_to_all`]). If none
    /// does, networks that differ only in the forwarding of rails are one class.
    ///
    /// [`Space::sends_to_all`]: crate::search::Space::sends_to_all
    pub fn new(axes: &Axes, machine: &Cluster, sends_to_all: bool, prices: &Prices) -> Result<Self, Problem> {
        let sizes = [axes.domains.len(), axes.kinds.len(), axes.oversubscriptions.len(), axes.speeds.len()];
        let all = sizes.iter().try_fold(1_usize, |all, n| all.checked_mul(*n)).unwrap_or(usize::MAX);
        if all > MOST_POINTS {
            return Err(Problem::new(format!("{all} designs exceed the limit of {MOST_POINTS}"))
                .hint("use fewer domains, kinds, oversubscriptions or speeds"));
        }
        let mut grid = Self { points: Vec::new(), refused: Vec::new(), classes: Vec::new() };
        for &domain in &axes.domains {
            for &kind in &axes.kinds {
                for &speed in &axes.speeds {
                    for &oversubscription in &axes.oversubscriptions {
                        let spec = spec_of(&axes.base, kind, domain, oversubscription, speed);
                        grid.add(&spec, oversubscription, machine, sends_to_all, prices);
                    }
                }
            }
        }
        match (grid.points.is_empty(), grid.refused.first()) {
            (true, Some(first)) => Err(first.problem.clone()),
            _ => Ok(grid),
        }
    }

    /// Removes networks above a price. Larger scale-up domains are included if they have a price.
    /// Returns those that were removed, in the order of the axes. Fails if none remains.
    pub fn within(
        &mut self,
        budget: Dollars,
        scale_up_prices: &BTreeMap<u64, Dollars>,
    ) -> Result<Vec<Point>, Problem> {
        let (kept, above): (Vec<Point>, Vec<Point>) =
            self.points.drain(..).partition(|point| point.price(scale_up_prices) <= budget);
        let least =
            above.iter().map(|point| point.price(scale_up_prices).get()).fold(f64::INFINITY, f64::min);
        if kept.is_empty() {
            let problem = Problem::new(format!("every network costs more than {}", human::dollars(budget)));
            return Err(problem.hint(format!("the cheapest costs {}", human::dollars(Dollars::new(least)))));
        }
        self.points = kept;
        // Classes without a network need no search.
        let classes = std::mem::take(&mut self.classes);
        for (index, class) in classes.into_iter().enumerate() {
            let own = self.points.iter_mut().filter(|point| point.class == index);
            let mut is_used = false;
            for point in own {
                (point.class, is_used) = (self.classes.len(), true);
            }
            if is_used {
                self.classes.push(class);
            }
        }
        Ok(above)
    }

    fn add(
        &mut self,
        spec: &DesignSpec,
        oversubscription: f64,
        machine: &Cluster,
        sends_to_all: bool,
        prices: &Prices,
    ) {
        let made = spec.resolve().and_then(|design| {
            let cluster = cluster_on(&design, machine)?;
            let bill = bill(&design, prices)?;
            match bill.lines.iter().find(|line| line.price.is_unknown()) {
                Some(line) => Err(no_price(line)),
                None => Ok((design, bill, cluster)),
            }
        });
        match made {
            Ok((design, bill, cluster)) => {
                // A kind without leaves, or a network of one switch, is the same at any oversubscription.
                if self.points.iter().any(|point| point.design == design) {
                    return;
                }
                let class = self.class_of(cluster, sends_to_all);
                self.points.push(Point { design, oversubscription, bill, class });
            }
            Err(problem) => {
                let refused = Refused {
                    kind: spec.kind.unwrap_or(Kind::Clos),
                    domain: spec.domain.unwrap_or(1),
                    speed: spec.speed.unwrap_or(BytesPerSecond::from_gbit(400.0)),
                    problem,
                };
                let is_known =
                    |r: &Refused| r.kind == refused.kind && r.problem.message == refused.problem.message;
                if !self.refused.iter().any(is_known) {
                    self.refused.push(refused);
                }
            }
        }
    }

    /// The class of a cluster. Properties without an effect on any group of ranks are removed before clusters
    /// are compared.
    fn class_of(&mut self, mut cluster: Cluster, sends_to_all: bool) -> usize {
        cluster.name.clear();
        if !sends_to_all {
            // Only uniform traffic changes rails.
            cluster.network.rail_forwarding = 1.0;
        }
        // The last tier connects all devices; its latency applies to traffic that leaves the tier below.
        for tier in &mut cluster.network.tiers {
            tier.name.clear();
            tier.oversubscription = tier.oversubscription.max(1.0);
        }
        self.classes.iter().position(|known| *known == cluster).unwrap_or_else(|| {
            self.classes.push(cluster);
            self.classes.len() - 1
        })
    }
}

/// A network with a part of unknown price would be the cheapest of all.
fn no_price(line: &Line) -> Problem {
    let (item, speed) = (line.item, line.speed.map_or(0.0, |speed| speed.get() * 8.0 / 1e9));
    Problem::new(format!("no public price for a {} of {speed} Gbit/s", item.words()))
        .hint(format!("add `{},{speed},<usd>` to a file for --prices", item.name()))
}

fn spec_of(
    base: &DesignSpec,
    kind: Kind,
    domain: u64,
    oversubscription: f64,
    speed: BytesPerSecond,
) -> DesignSpec {
    let mut spec = DesignSpec { kind: Some(kind), speed: Some(speed), name: None, ..base.clone() };
    spec.domain = (kind != Kind::ScaleUp).then_some(domain);
    spec.server = base.server.filter(|server| domain.is_multiple_of(*server));
    if kind.takes("leaf_oversubscription") {
        spec.leaf_oversubscription = Some(oversubscription);
    }
    spec
}
