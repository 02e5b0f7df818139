//! `network collective`: one collective over message sizes on a network.
//!
//! Responsible for: the cluster and the ranks that arguments describe. Does not compute times ([`railwright_tuner::collective`]).

use crate::args::collective::CollectiveOn;
use crate::commands::networks::simulate::{Wired, in_words, wired};
use crate::exit::{Failure, Outcome};
use crate::input::networks::{on_fabric, on_network};
use crate::printer::Printer;
use crate::run;
use clap::ValueEnum as _;
use railwright_answers::quoted;
use railwright_network::topology::DesignSpec;
use railwright_reports::network::collective::Answered;
use railwright_spec::cluster::Cluster;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Bytes;
use railwright_tuner::collective::{Curve, Network, Question, curve_watched, nodes, range, ranks};
use std::path::Path;

/// Hash seeds if their number is not set.
const SEEDS: u32 = 16;

const BAR: &str = "hash seeds {bar:30} {percent}%, {eta} left";

/// Computes a curve.
pub(crate) fn run(arguments: &CollectiveOn, printer: &Printer) -> Result<Outcome, Failure> {
    let sizes = range(&arguments.bytes, arguments.factor).map_err(|problem| unplaced(problem, "--bytes"))?;
    let failed = on_network::failed(&arguments.broken.failed.fail)?;
    if let Some(file) = &arguments.fabric.fabric {
        return on_file(arguments, file, &sizes, printer);
    }
    let on = on_network::routed(&arguments.on, arguments.routing.as_deref());
    let specified = on_network::specified(&on)?.spec;
    let mut chosen = Vec::new();
    let word = on_network::cluster_or_usual(arguments.cluster.as_deref(), &mut chosen);
    let (cluster, groups) = placed(arguments, word, &specified)?;
    let Wired { sheet, wiring, chosen: laid, warnings } = wired(&on, &cluster, &failed)?;
    chosen.extend(laid);
    printer.warnings(&warnings);
    let wiring = wiring.recovering(on_network::recovery(&arguments.broken.recovery)?);
    let is_hashed = wiring.topology.design.routing.is_hashed();
    let seeds = arguments.seeds.unwrap_or(if is_hashed { SEEDS } else { 1 });
    let operation = arguments.operation.collective();
    let question = Question { operation, sizes: &sizes, groups: &groups, seeds };
    let curve = match watched(&cluster, Network::Design(&wiring), &question, printer) {
        Computed::Curve(curve) => curve,
        Computed::Stopped(problem) => return printer.stopped(problem),
        Computed::Problem(problem) => return Err(in_words(problem, &sheet).into()),
    };
    let (machine, next) = (cluster.accelerator.name.clone(), next(arguments, Network::Design(&wiring)));
    print(&Answered { machine, chosen, ignores_cable_latencies: false, curve, next }, arguments, printer)
}

/// On a fabric from a file.
fn on_file(
    arguments: &CollectiveOn,
    file: &str,
    sizes: &[Bytes],
    printer: &Printer,
) -> Result<Outcome, Failure> {
    let mut chosen = Vec::new();
    let word = on_network::cluster_or_usual(arguments.cluster.as_deref(), &mut chosen);
    let mut cluster = run::cluster(word)?.resolve()?;
    let (fabric, laid) = on_fabric::read(file, &cluster, arguments.routing.as_deref())?;
    chosen.extend(laid);
    let devices = fabric.devices.len() as u64;
    let specified = DesignSpec { devices: Some(devices), ..DesignSpec::default() };
    let (_, groups) = placed(arguments, word, &specified)?;
    cluster.devices = devices.next_multiple_of(cluster.scale_up.domain_size.max(1));
    let is_hashed = fabric.setting.routing.is_hashed();
    let seeds = arguments.seeds.unwrap_or(if is_hashed { SEEDS } else { 1 });
    let question = Question { operation: arguments.operation.collective(), sizes, groups: &groups, seeds };
    let curve = match watched(&cluster, Network::Imported(&fabric), &question, printer) {
        Computed::Curve(curve) => curve,
        Computed::Stopped(problem) => return printer.stopped(problem),
        Computed::Problem(problem) => return Err(problem.into()),
    };
    chosen.push("latencies of the cluster (those of the file's cables have no effect)".to_owned());
    let (machine, next) = (cluster.accelerator.name.clone(), next(arguments, Network::Imported(&fabric)));
    print(&Answered { machine, chosen, ignores_cable_latencies: true, curve, next }, arguments, printer)
}

/// The same collective under another routing: hashed routes collide, sprayed ones do not.
fn next(arguments: &CollectiveOn, network: Network<'_>) -> String {
    let operation = arguments.operation.to_possible_value();
    let operation = operation.map_or_else(String::new, |value| value.get_name().to_owned());
    let mut line = format!("railwright network collective {operation} --bytes {}", quoted(&arguments.bytes));
    line.extend(arguments.gpus.map(|gpus| format!(" --gpus {gpus}")));
    line.extend(arguments.ranks.iter().map(|ranks| format!(" --ranks {}", quoted(ranks))));
    line.extend(arguments.nodelist.iter().map(|nodes| format!(" --nodelist {}", quoted(nodes))));
    line.extend((arguments.first_node > 0).then(|| format!(" --first-node {}", arguments.first_node)));
    let fabric = arguments.fabric.fabric.as_deref();
    line += &on_network::flags(arguments.cluster.as_deref(), &arguments.on, fabric);
    line.extend(arguments.broken.failed.fail.iter().map(|part| format!(" --fail {}", quoted(part))));
    line + &on_network::other_routing(network, "")
}

/// A curve, or the reason why it is missing.
enum Computed {
    Curve(Curve),
    Stopped(Problem),
    Problem(Problem),
}

fn watched(cluster: &Cluster, network: Network<'_>, question: &Question<'_>, printer: &Printer) -> Computed {
    let watching = printer.watching(BAR, "hash seeds");
    let curve = curve_watched(cluster, network, question, &mut |done, all| watching.advance(done, all));
    watching.finish();
    match curve {
        Ok(curve) => Computed::Curve(curve),
        Err(problem) if watching.is_stopped() => Computed::Stopped(problem),
        Err(problem) => Computed::Problem(problem),
    }
}

fn print(answered: &Answered, arguments: &CollectiveOn, printer: &Printer) -> Result<Outcome, Failure> {
    let path = arguments.output.output.as_deref();
    if arguments.svg || path.is_some_and(|path| Path::new(path).extension().is_some_and(|e| e == "svg")) {
        printer.data(&answered.svg(), path)?;
    } else {
        printer.answer(answered, &arguments.output)?;
    }
    Ok(Outcome::Yes)
}

fn unplaced(problem: Problem, place: &str) -> Problem {
    if problem.place.is_none() { problem.in_file(place) } else { problem }
}

/// The groups, and a cluster with at least their ranks.
fn placed(
    arguments: &CollectiveOn,
    word: &str,
    specified: &DesignSpec,
) -> Result<(Cluster, Vec<Vec<u32>>), Problem> {
    let mut spec = run::cluster(word)?;
    let per_node = spec.resolve()?.devices_per_node.max(1);
    let mut groups = Vec::new();
    for text in &arguments.ranks {
        groups.push(ranks(text).map_err(|problem| unplaced(problem, "--ranks"))?);
    }
    for text in &arguments.nodelist {
        groups.push(of_nodes(text, arguments.first_node, per_node)?);
    }
    if arguments.nodelist.is_empty() && arguments.first_node > 0 {
        let problem = Problem::new("a first node has no effect without node names");
        return Err(problem.in_file("--first-node").hint("add --nodelist"));
    }
    if groups.is_empty() {
        let all = arguments.gpus.or(specified.devices).ok_or_else(|| {
            Problem::new("the collective has no ranks").hint("use --gpus, --ranks or --nodelist")
        })?;
        groups.push((0..device(all)?).collect());
    }
    let last = groups.iter().flatten().max().map_or(0, |rank| u64::from(*rank));
    spec.devices = Some(last + 1);
    let whole = spec.resolve()?.scale_up.domain_size.clamp(1, last + 1);
    spec.devices = Some((last + 1).next_multiple_of(whole));
    Ok((spec.resolve()?, groups))
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
