//! `network collective`: one collective over message sizes on a network.
//!
//! Responsible for: the cluster and the ranks that a request describes. Does not compute times
//! ([`railwright_tuner::collective`]).

use super::Specified;
use super::wired::{Wired, in_words, wired};
use crate::front::{Ended, Front};
use railwright_answers::quoted;
use railwright_calculator::collectives::Collective;
use railwright_inputs::networks::{on_fabric, on_network};
use railwright_inputs::run;
use railwright_network::topology::DesignSpec;
use railwright_reports::network::collective::Answered;
use railwright_spec::cluster::Cluster;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Bytes;
use railwright_tuner::collective::{Curve, Network, Question, curve_watched, nodes, range, ranks};

/// Hash seeds if their number is not set.
const SEEDS: u32 = 16;

const BAR: &str = "hash seeds {bar:30} {percent}%, {eta} left";

/// A collective on a network.
#[derive(Clone, Debug)]
pub struct CollectiveOn {
    /// The collective.
    pub operation: Collective,
    /// The name of the collective in a command line.
    pub name: String,
    /// Message sizes: a range, a list or one size.
    pub bytes: String,
    /// Factor between the sizes of a range.
    pub factor: f64,
    /// Number of ranks from rank 0.
    pub gpus: Option<u64>,
    /// The cluster.
    pub cluster: Option<String>,
    /// Ranks of each process group.
    pub ranks: Vec<String>,
    /// Slurm node list of each process group.
    pub nodelist: Vec<String>,
    /// Number in the name of the network's first node.
    pub first_node: u32,
    /// The network.
    pub network: Specified,
    /// Number of hash seeds.
    pub seeds: Option<u32>,
}

impl CollectiveOn {
    /// Message sizes if not set.
    pub const BYTES: &str = "1M..8G";
    /// Factor if not set.
    pub const FACTOR: f64 = 2.0;
}

/// Computes a curve.
///
/// # Errors
///
/// Ranks or a network that do not exist, and cancellation.
pub fn collective(request: &CollectiveOn, front: &dyn Front) -> Result<Answered, Ended> {
    let sizes = range(&request.bytes, request.factor).map_err(|problem| unplaced(problem, "--bytes"))?;
    let failed = on_network::failed(&request.network.fail)?;
    if let Some(file) = &request.network.fabric {
        return on_file(request, file, &sizes, front);
    }
    let on = request.network.routed();
    let specified = on_network::specified(&on)?.spec;
    let mut chosen = Vec::new();
    let word = on_network::cluster_or_usual(request.cluster.as_deref(), &mut chosen);
    let (cluster, groups) = placed(request, word, &specified)?;
    let Wired { sheet, wiring, chosen: laid, warnings } = wired(&on, &cluster, &failed)?;
    chosen.extend(laid);
    front.warnings(&warnings);
    let wiring = wiring.recovering(on_network::recovery(&request.network.recovery)?);
    let is_hashed = wiring.topology.design.routing.is_hashed();
    let seeds = request.seeds.unwrap_or(if is_hashed { SEEDS } else { 1 });
    let question = Question { operation: request.operation, sizes: &sizes, groups: &groups, seeds };
    let network = Network::Design(&wiring);
    let curve = watched(&cluster, network, &question, front, |problem| in_words(problem, &sheet))?;
    let (machine, next) = (cluster.accelerator.name.clone(), next(request, network));
    Ok(Answered { machine, chosen, ignores_cable_latencies: false, curve, next })
}

/// On a fabric from a file.
fn on_file(
    request: &CollectiveOn,
    file: &str,
    sizes: &[Bytes],
    front: &dyn Front,
) -> Result<Answered, Ended> {
    let mut chosen = Vec::new();
    let word = on_network::cluster_or_usual(request.cluster.as_deref(), &mut chosen);
    let mut cluster = run::cluster(word)?.resolve()?;
    let (fabric, laid) = on_fabric::read(file, &cluster, request.network.routing.as_deref())?;
    chosen.extend(laid);
    let devices = fabric.devices.len() as u64;
    let specified = DesignSpec { devices: Some(devices), ..DesignSpec::default() };
    let (_, groups) = placed(request, word, &specified)?;
    cluster.devices = devices.next_multiple_of(cluster.scale_up.domain_size.max(1));
    let is_hashed = fabric.setting.routing.is_hashed();
    let seeds = request.seeds.unwrap_or(if is_hashed { SEEDS } else { 1 });
    let question = Question { operation: request.operation, sizes, groups: &groups, seeds };
    let network = Network::Imported(&fabric);
    let curve = watched(&cluster, network, &question, front, |problem| problem)?;
    chosen.push("latencies of the cluster (those of the file's cables have no effect)".to_owned());
    let (machine, next) = (cluster.accelerator.name.clone(), next(request, network));
    Ok(Answered { machine, chosen, ignores_cable_latencies: true, curve, next })
}

/// The same collective under different routing: hashed routes collide, sprayed ones do not.
fn next(request: &CollectiveOn, network: Network<'_>) -> String {
    let name = &request.name;
    let mut line = format!("railwright network collective {name} --bytes {}", quoted(&request.bytes));
    line.extend(request.gpus.map(|gpus| format!(" --gpus {gpus}")));
    line.extend(request.ranks.iter().map(|ranks| format!(" --ranks {}", quoted(ranks))));
    line.extend(request.nodelist.iter().map(|nodes| format!(" --nodelist {}", quoted(nodes))));
    line.extend((request.first_node > 0).then(|| format!(" --first-node {}", request.first_node)));
    line += &request.network.flags(request.cluster.as_deref());
    line.extend(request.network.fail.iter().map(|part| format!(" --fail {}", quoted(part))));
    line + &on_network::other_routing(network, "")
}

fn watched(
    cluster: &Cluster,
    network: Network<'_>,
    question: &Question<'_>,
    front: &dyn Front,
    placed: impl FnOnce(Problem) -> Problem,
) -> Result<Curve, Ended> {
    let watching = front.work(BAR, "hash seeds");
    let curve = curve_watched(cluster, network, question, &mut |done, all| watching.advance(done, all));
    watching.finish();
    curve.map_err(
        |problem| {
            if watching.is_stopped() { Ended::Stopped(problem) } else { placed(problem).into() }
        },
    )
}

fn unplaced(problem: Problem, place: &str) -> Problem {
    if problem.place.is_none() { problem.in_file(place) } else { problem }
}

/// The groups, and a cluster with at least their ranks.
fn placed(
    request: &CollectiveOn,
    word: &str,
    specified: &DesignSpec,
) -> Result<(Cluster, Vec<Vec<u32>>), Problem> {
    let mut sheet = run::cluster(word)?;
    let per_node = sheet.resolve()?.devices_per_node.max(1);
    let mut groups = Vec::new();
    for text in &request.ranks {
        groups.push(ranks(text).map_err(|problem| unplaced(problem, "--ranks"))?);
    }
    for text in &request.nodelist {
        groups.push(of_nodes(text, request.first_node, per_node)?);
    }
    if request.nodelist.is_empty() && request.first_node > 0 {
        let problem = Problem::new("a first node has no effect without node names");
        return Err(problem.in_file("--first-node").hint("add --nodelist"));
    }
    if groups.is_empty() {
        let all = request.gpus.or(specified.devices).ok_or_else(|| {
            Problem::new("the collective has no ranks").hint("use --gpus, --ranks or --nodelist")
        })?;
        groups.push((0..device(all)?).collect());
    }
    let last = groups.iter().flatten().max().map_or(0, |rank| u64::from(*rank));
    sheet.spec.devices = Some(last + 1);
    let whole = sheet.resolve()?.scale_up.domain_size.clamp(1, last + 1);
    sheet.spec.devices = Some((last + 1).next_multiple_of(whole));
    Ok((sheet.resolve()?, groups))
}

fn device(number: u64) -> Result<u32, Problem> {
    u32::try_from(number)
        .ok()
        .filter(|number| u64::from(*number) <= railwright_network::topology::MOST_DEVICES)
        .ok_or_else(|| {
            Problem::new(format!("{number} devices exceed the maximum of a network")).in_file("--gpus")
        })
}

/// All devices of the nodes of a node list.
fn of_nodes(text: &str, first: u32, per_node: u64) -> Result<Vec<u32>, Problem> {
    let mut all = Vec::new();
    for node in nodes(text).map_err(|problem| unplaced(problem, "--nodelist"))? {
        let Some(node) = node.checked_sub(first) else {
            return Err(Problem::new(format!("node {node} precedes the first node, {first}"))
                .in_file("--nodelist")
                .hint("set --first-node to the lowest node number of the network"));
        };
        let from = u64::from(node) * per_node;
        for rank in from..from + per_node {
            all.push(device(rank)?);
        }
    }
    Ok(all)
}
