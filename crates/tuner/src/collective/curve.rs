//! Times of a collective with sizes and groups on a network.

use super::network::{MOST_PAIRS, Network};
use crate::flows::{exchange, shape};
use crate::simulate::{MOST_SEEDS, quantile};
use railwright_calculator::collectives::{Collective, Fabric, bus_factor};
use railwright_network::simulate::LayerLoad;
use railwright_network::topology::Routing;
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::plan::Group;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// A collective of some ranks.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The operation.
    pub operation: Collective,
    /// Sizes by nccl-tests' convention.
    pub sizes: &'a [Bytes],
    /// Concurrent groups, each with its ranks; rank `n` is device `n` of the network.
    pub groups: &'a [Vec<u32>],
    /// Number of hash seeds, from that of the design.
    pub seeds: u32,
}

/// A collective over sizes on a network.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Curve {
    /// The topology's name.
    pub topology: String,
    /// Routing of the topology.
    pub routing: &'static str,
    /// Names of failed parts.
    pub failed: Vec<String>,
    /// The operation.
    pub operation: Collective,
    /// Number of concurrent groups.
    pub groups: usize,
    /// Number of ranks per group.
    pub ranks: u64,
    /// Number of scale-up domains of the first group.
    pub domains: u64,
    /// Maximum number of ranks of the first group in one domain.
    pub per_domain: u64,
    /// Bandwidth time on the topology relative to that at the devices' own ports.
    pub slowdown: Spread,
    /// Results by size.
    pub points: Vec<Point>,
    /// Load of the links under the first seed.
    pub layers: Vec<LayerLoad>,
}

/// A value over hash seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Number of hash seeds.
    pub seeds: u32,
    /// Median over seeds.
    pub median: f64,
    /// 90th percentile over seeds.
    pub p90: f64,
}

/// One size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// Bytes by nccl-tests' convention.
    pub bytes: Bytes,
    /// Algorithm of the library, and its protocol for rings.
    pub algorithm: &'static str,
    /// Time in closed form, without contention.
    pub closed_form: Seconds,
    /// Bus bandwidth in closed form.
    pub closed_form_bus: BytesPerSecond,
    /// Time on the topology, median over hash seeds.
    pub time: Seconds,
    /// Time of the 90th percentile over hash seeds.
    pub time_p90: Seconds,
    /// Lower and upper bound on the median. `None` if measurements cover the collective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<[Seconds; 2]>,
    /// Bytes over time.
    pub algorithm_bandwidth: BytesPerSecond,
    /// Bus bandwidth on the topology.
    pub bus_bandwidth: BytesPerSecond,
}

/// Times of a collective. Fails for ranks outside the network, and for groups without a connection.
pub fn curve(cluster: &Cluster, network: Network<'_>, question: &Question<'_>) -> Result<Curve, Problem> {
    curve_watched(cluster, network, question, &mut |_, _| ControlFlow::Continue(()))
}

/// Times of a collective with progress: `watch` receives the number of finished hash seeds and their total,
/// and may stop the work, which is an error.
pub fn curve_watched(
    cluster: &Cluster,
    network: Network<'_>,
    question: &Question<'_>,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Curve, Problem> {
    let Laid { ranks, group, plain } = laid(cluster, network, question)?;
    let (first, domain) = (first(question), network.closed_domain(cluster));
    let shape = shape(question.operation);
    let (_, exchange) = exchange(shape, &Group { stride: 1, ..group }, ranks);
    let (mut slowdowns, mut layers) = (Vec::new(), None);
    for draw in 0..question.seeds {
        if watch(draw as usize, question.seeds as usize).is_break() {
            return Err(Problem::new("stopped while computing the routes of the collective"));
        }
        let (slowdown, loads) = network.slowdown(&exchange, question.groups, draw)?;
        slowdowns.push(
            slowdown * network.beyond_ports(cluster, &plain, (shape, &exchange), (&group, question.groups)),
        );
        layers.get_or_insert(loads);
    }
    slowdowns.sort_by(f64::total_cmp);
    let of_share = |share| quantile(&slowdowns, share);
    let slowdown = Spread { seeds: question.seeds, median: of_share(0.5), p90: of_share(0.9) };
    let factor = bus_factor(question.operation, ranks as f64);
    let points = question.sizes.iter().map(|&bytes| {
        let cost = plain.time(question.operation, bytes, &group, 1.0);
        let growing = cost.time - cost.latency;
        let time = cost.latency + growing * slowdown.median;
        let rate = |time: Seconds, factor: f64| rate(bytes, time, factor);
        Point {
            bytes,
            algorithm: cost.algorithm,
            closed_form: cost.time,
            closed_form_bus: rate(cost.time, factor),
            time,
            time_p90: cost.latency + growing * slowdown.p90,
            unmeasured: plain
                .doubt(question.operation, bytes, &group)
                .map(|bounds| bounds.map(|multiple| time * multiple)),
            algorithm_bandwidth: rate(time, 1.0),
            bus_bandwidth: rate(time, factor),
        }
    });
    Ok(Curve {
        topology: network.name(),
        routing: network.routing().name(),
        failed: network.failed(),
        operation: question.operation,
        groups: question.groups.len(),
        ranks,
        domains: in_domains(first, domain).len() as u64,
        per_domain: group.per_domain,
        slowdown,
        points: points.collect(),
        layers: layers.unwrap_or_default(),
    })
}

/// Bus bandwidth and algorithm of each size in closed form, without contention: the same as in [`curve`],
/// without its routes.
pub(super) fn closed_form(
    cluster: &Cluster,
    network: Network<'_>,
    question: &Question<'_>,
) -> Result<Vec<(BytesPerSecond, &'static str)>, Problem> {
    let Laid { ranks, group, plain } = laid(cluster, network, question)?;
    let factor = bus_factor(question.operation, ranks as f64);
    let of = |&bytes: &Bytes| {
        let cost = plain.time(question.operation, bytes, &group, 1.0);
        (rate(bytes, cost.time, factor), cost.algorithm)
    };
    Ok(question.sizes.iter().map(of).collect())
}

/// A validated question on its network.
struct Laid {
    ranks: u64,
    /// The first group.
    group: Group,
    /// The network without contention.
    plain: Fabric,
}

fn laid(cluster: &Cluster, network: Network<'_>, question: &Question<'_>) -> Result<Laid, Problem> {
    let ranks = check(question, network)?;
    let group = lay(first(question), network.closed_domain(cluster));
    Ok(Laid { ranks, group, plain: Fabric::new(&network.unblocked(cluster)?) })
}

fn first<'a>(question: &Question<'a>) -> &'a [u32] {
    question.groups.first().map_or(&[], Vec::as_slice)
}

fn rate(bytes: Bytes, time: Seconds, factor: f64) -> BytesPerSecond {
    BytesPerSecond::new(if time.get() > 0.0 { bytes.get() / time.get() * factor } else { 0.0 })
}

/// Ranks of each group, after checking all of them.
fn check(question: &Question<'_>, network: Network<'_>) -> Result<u64, Problem> {
    let refused = |message: String, place: &str| Err(Problem::new(message).in_file(place));
    if !(1..=MOST_SEEDS).contains(&question.seeds) {
        return refused(format!("{} is not between 1 and {MOST_SEEDS}", question.seeds), "--seeds");
    }
    let routing = network.routing();
    if question.seeds > 1 && routing != Routing::Ecmp {
        return refused(format!("{} routing has no hash seed", routing.name()), "--seeds")
            .map_err(|problem| problem.hint("add `--routing ecmp`, or omit --seeds"));
    }
    let size = question.groups.first().map_or(0, Vec::len);
    if size < 2 {
        return Err(Problem::new("a collective has at least 2 ranks")
            .hint("use --gpus, --ranks or --nodelist with 2 ranks or more"));
    }
    let pairs = (size as u64).saturating_mul(size as u64).saturating_mul(question.groups.len() as u64);
    let routes = pairs.saturating_mul(u64::from(question.seeds));
    if question.operation == Collective::AllToAll && network.lists_pairs() && routes > MOST_PAIRS {
        let message =
            format!("too many routes over all pairs of ranks and hash seeds: {}", human::whole(routes));
        return refused(message, "--ranks")
            .map_err(|problem| problem.hint("use fewer --seeds or ranks, or `--routing spray` on a tree"));
    }
    let mut seen = BTreeSet::new();
    let devices = network.devices();
    let stranded: BTreeSet<u32> = network.stranded().into_iter().collect();
    for (number, group) in question.groups.iter().enumerate() {
        if group.len() != size {
            let message = format!(
                "group {number} has {} ranks and the first group {size}: sizes must be equal",
                group.len()
            );
            return refused(message, "--ranks");
        }
        for &rank in group {
            if rank >= devices {
                let message =
                    format!("rank {rank} does not exist: the network has {devices} devices, counted from 0");
                return refused(message, "--ranks");
            }
            if !seen.insert(rank) {
                return refused(format!("rank {rank} is listed twice"), "--ranks");
            }
            if stranded.contains(&rank) {
                return refused(format!("rank {rank} is disconnected by the failed parts"), "--fail");
            }
        }
    }
    Ok(size as u64)
}

/// Number of members of a group in each of its domains.
fn in_domains(group: &[u32], domain: u64) -> Vec<u64> {
    let mut domains: Vec<u64> = group.iter().map(|rank| u64::from(*rank) / domain.max(1)).collect();
    domains.sort_unstable();
    domains.chunk_by(|a, b| a == b).map(|members| members.len() as u64).collect()
}

/// A group for the closed form: members by domain, and the mean distance between neighbours.
fn lay(group: &[u32], domain: u64) -> Group {
    let members = in_domains(group, domain);
    let ranks = group.len().max(1) as u64;
    let (first, last) = group.iter().fold((u32::MAX, 0), |(a, b), rank| (a.min(*rank), b.max(*rank)));
    let span = u64::from(last.saturating_sub(first)) + 1;
    Group {
        ranks,
        per_domain: members.iter().copied().max().unwrap_or(1),
        least: members.iter().copied().min().unwrap_or(1),
        stride: (span / ranks).max(1),
    }
}
