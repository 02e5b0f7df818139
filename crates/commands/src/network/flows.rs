//! `network flows`: a table of flows or execution traces, on a topology or a fabric from a file.
//!
//! Responsible for: reading the flows against the devices of the network. Does not simulate
//! ([`railwright_network::flow::listed`]).

use super::Specified;
use crate::front::{Ended, Front, Work};
use railwright_answers::quoted;
use railwright_calculator::collectives::pair_share;
use railwright_inputs::networks::{on_fabric, on_network};
use railwright_inputs::{self as input, TABLE_LIMIT, run};
use railwright_network::flow;
use railwright_network::flow::listed::{
    DomainPorts, Interval, Listed, MOST_HELD, MeshRoutes, Routes, held, parse, play_watched,
};
use railwright_network::simulate::{LayerLoad, Wiring, loads};
use railwright_network::topology::Kind;
use railwright_report::csv_lines;
use railwright_reports::network::flows::{Answered, Shown};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};
use railwright_tuner::collective::Network;
use railwright_tuner::flows::idle_nics;
use railwright_tuner::simulate::MOST_SEEDS;
use std::cell::Cell;

const BAR: &str = "simulating {bar:30} {percent}%, {eta} left";

/// Flows on a network.
#[derive(Clone, Debug)]
pub struct FlowsOn {
    /// A table of flows, or a folder of execution traces.
    pub flows: String,
    /// The cluster.
    pub cluster: Option<String>,
    /// The network.
    pub network: Specified,
    /// Number of hash seeds.
    pub seeds: u32,
    /// A file for start and end of every flow.
    pub ends: Option<String>,
}

/// Simulates a table.
///
/// # Errors
///
/// A table or a network that does not exist, and cancellation.
pub fn flows(request: &FlowsOn, front: &dyn Front) -> Result<Answered, Ended> {
    if !(1..=MOST_SEEDS).contains(&request.seeds) {
        let problem = Problem::new(format!("{} is not between 1 and {MOST_SEEDS}", request.seeds));
        return Err(problem.in_file("--seeds").into());
    }
    let watching = front.work(BAR, "simulating");
    let answered = match simulated(request, watching.as_ref()) {
        Ok(answered) => answered,
        Err(Ended::Refused(problems)) if watching.is_stopped() => {
            watching.finish();
            let problem = problems.into_iter().next();
            return Err(Ended::Stopped(problem.unwrap_or_else(|| Problem::new("stopped"))));
        }
        Err(ended) => return Err(ended),
    };
    watching.finish();
    if let Some(path) = &request.ends {
        front.write(path, &ends(&answered))?;
    }
    front.warnings(&answered.warnings);
    Ok(answered)
}

/// On the network of the request.
fn simulated(request: &FlowsOn, watching: &dyn Work) -> Result<Answered, Ended> {
    let mut chosen = Vec::new();
    let word = on_network::cluster_or_usual(request.cluster.as_deref(), &mut chosen);
    if let Some(file) = &request.network.fabric {
        let cluster = run::cluster(word)?.resolve()?;
        let (fabric, laid) = on_fabric::read(file, &cluster, request.network.routing.as_deref())?;
        chosen.extend(laid);
        let names: std::collections::BTreeMap<&str, u32> =
            fabric.devices.iter().enumerate().map(|(n, name)| (name.as_str(), n as u32)).collect();
        let devices = fabric.devices.len() as u32;
        let device = |word: &str| names.get(word).copied().or_else(|| numbered(word, devices));
        let network = Network::Imported(&fabric);
        let table = table(request, (devices, fabric.domain), &device, &mut chosen)?;
        let draws = draws(request.seeds, network, &mut chosen);
        let peers = peers(&cluster, (fabric.domain, fabric.domain_bandwidth), &mut chosen);
        let routes = MeshRoutes::new(&fabric, peers);
        let (flows, makespans, outcome) = played(&routes, &table, draws, watching)?;
        let layers = loads(&fabric, &outcome.carried, outcome.duration);
        let layers = with_pairs(&routes, layers, &outcome);
        return Ok(Answered {
            next: next(request, network),
            device_names: fabric.devices.clone(),
            ..answered(network, chosen, makespans, layers, flows)
        });
    }
    let Wired { wiring, cluster, warnings } = wired(request, word, &mut chosen)?;
    let devices = wiring.devices();
    let network = Network::Design(&wiring);
    let domain = wiring.topology.design.domain.size;
    let is_beyond = Cell::new(false);
    let device = |word: &str| {
        is_beyond.set(word.parse::<u32>().is_ok_and(|number| number >= devices));
        numbered(word, devices)
    };
    let table = table(request, (devices, domain), &device, &mut chosen).map_err(|problem| {
        if !is_beyond.get() || problem.hint.is_some() {
            return problem;
        }
        problem.hint(format!(
            "the network has {} devices, numbered from 0; `--network gpus=...` sets another number",
            human::whole(u64::from(devices))
        ))
    })?;
    let draws = draws(request.seeds, network, &mut chosen);
    let peers = peers(&cluster, (domain, wiring.topology.design.domain.bandwidth), &mut chosen);
    let routes = MeshRoutes::new(&wiring, peers);
    let (flows, makespans, outcome) = played(&routes, &table, draws, watching)?;
    let layers = with_pairs(&routes, loads(&wiring, &outcome.carried, outcome.duration), &outcome);
    let next = next(request, network);
    Ok(Answered { next, warnings, ..answered(network, chosen, makespans, layers, flows) })
}

/// Bandwidth between two devices of a domain with one link to each other; `None` behind a switch.
fn peers(
    cluster: &Cluster,
    (domain, bandwidth): (u64, BytesPerSecond),
    chosen: &mut Vec<String>,
) -> Option<BytesPerSecond> {
    let peers = pair_share(cluster).filter(|_| domain == cluster.scale_up.domain_size)? * bandwidth.get();
    let peers = BytesPerSecond::new(peers);
    let link = &cluster.scale_up.link;
    chosen.push(format!("two devices of a domain share one {link} link of {}", human::bandwidth(peers)));
    Some(peers)
}

/// Loads of layers, with that of the links between two devices of a domain after that of its ports.
fn with_pairs<R: DomainPorts>(
    routes: &MeshRoutes<'_, R>,
    mut layers: Vec<LayerLoad>,
    outcome: &flow::Outcome,
) -> Vec<LayerLoad> {
    if let Some(load) = routes.load(&outcome.carried, outcome.duration) {
        layers.insert(layers.len().min(1), load);
    }
    layers
}

/// The same flows under different routing: hashed routes collide, sprayed ones do not.
fn next(request: &FlowsOn, network: Network<'_>) -> String {
    let mut line = format!("railwright network flows {}", quoted(&request.flows));
    line += &request.network.flags(request.cluster.as_deref());
    line.extend(request.network.fail.iter().map(|part| format!(" --fail {}", quoted(part))));
    line + &on_network::other_routing(network, " --seeds 16")
}

fn answered(
    network: Network<'_>,
    mut chosen: Vec<String>,
    makespans: Vec<Seconds>,
    layers: Vec<LayerLoad>,
    flows: Vec<Shown>,
) -> Answered {
    let (name, routing, devices) = (network.name(), network.routing().name(), network.devices());
    if flows.len() > MOST_HELD {
        chosen.push(format!("no bounds for flows behind congested receivers (more than {MOST_HELD} flows)"));
    }
    Answered { network: name, routing, devices, chosen, makespans, layers, flows, ..Answered::default() }
}

fn table(
    request: &FlowsOn,
    (devices, domain): (u32, u64),
    device: &dyn Fn(&str) -> Option<u32>,
    chosen: &mut Vec<String>,
) -> Result<Vec<Listed>, Problem> {
    let file = &request.flows;
    if !input::chakra::is_folder(file) {
        return parse(&input::read(file, TABLE_LIMIT)?, file, device);
    }
    let (program, remarks) = input::chakra::program(file, domain)?;
    chosen.extend(remarks);
    let ranks = program.flows.iter().map(|flow| flow.from.max(flow.to) + 1).max().unwrap_or(0);
    if ranks > devices {
        return Err(Problem::new(format!("{ranks} ranks, but the network has {devices} devices"))
            .in_file(file)
            .hint(format!("use `--network gpus={}`", u64::from(ranks).next_multiple_of(domain))));
    }
    Ok(program.flows)
}

/// Number of hash seeds to simulate: one if no hash selects routes, which is then listed as chosen.
fn draws(seeds: u32, network: Network<'_>, chosen: &mut Vec<String>) -> u32 {
    if seeds == 1 || network.is_hashed() {
        return seeds;
    }
    chosen
        .push(format!("1 hash seed instead of {seeds} ({} routing has no hashes)", network.routing().name()));
    1
}

fn numbered(word: &str, devices: u32) -> Option<u32> {
    word.parse().ok().filter(|number| *number < devices)
}

/// A network of the devices of a cluster.
struct Wired {
    wiring: Wiring,
    cluster: Cluster,
    warnings: Vec<Warning>,
}

/// A design for the devices of a cluster, with its own latencies. Devices use at most the bandwidth of their
/// own link.
fn wired(request: &FlowsOn, word: &str, chosen: &mut Vec<String>) -> Result<Wired, Ended> {
    let failed = on_network::failed(&request.network.fail)?;
    let on = request.network.routed();
    let cluster = run::cluster(word)?.resolve()?;
    if on.topology.is_none() {
        chosen.push(format!("topology {}", Kind::RailOptimized.name()));
    }
    let (mut sheet, _) = on_network::of(&on, Kind::RailOptimized, &cluster)?;
    let kind = sheet.spec.kind.unwrap_or(Kind::RailOptimized);
    chosen.extend(on_network::usual_routing(kind, &mut sheet.spec));
    let design = sheet.spec.resolve().map_err(|problem| on_network::placed(&sheet, problem))?;
    let warnings = idle_nics(&design, &cluster).into_iter().collect();
    let wiring = Wiring::new(&design.fed(cluster.device_limit()), &failed);
    Ok(Wired { wiring: wiring.map_err(|problem| on_network::placed(&sheet, problem))?, cluster, warnings })
}

/// Flows of the first hash seed, the makespan of every seed, and the bytes of the first on links.
type Played = (Vec<Shown>, Vec<Seconds>, flow::Outcome);

/// Plays the table under each seed.
fn played(
    routes: &impl Routes,
    listed: &[Listed],
    draws: u32,
    watching: &dyn Work,
) -> Result<Played, Problem> {
    let all = listed.len() * draws as usize;
    let play = |draw: u32| {
        let before = listed.len() * draw as usize;
        play_watched(routes, listed, draw, &mut |ended| watching.advance(before + ended, all))
    };
    let (intervals, outcome) = play(0)?;
    let mut makespans = vec![outcome.duration];
    for draw in 1..draws {
        makespans.push(play(draw)?.1.duration);
    }
    let latest = held(routes, listed, 0, &intervals);
    let all = listed.iter().zip(&intervals).zip(&latest);
    // Events and compute of traces move no bytes.
    let moves = all.filter(|((flow, _), _)| flow.from != flow.to || flow.bytes > Bytes::ZERO);
    let flows = moves.map(|((flow, interval), latest)| shown(flow, interval, *latest)).collect();
    Ok((flows, makespans, outcome))
}

fn shown(flow: &Listed, interval: &Interval, latest: Option<Seconds>) -> Shown {
    Shown {
        name: flow.name.clone(),
        source: flow.from,
        destination: flow.to,
        bytes: flow.bytes,
        begin: interval.begin,
        end: interval.end,
        latest_end: latest,
    }
}

/// Every flow as CSV, seconds and bytes, with the devices as their file names them.
fn ends(answered: &Answered) -> String {
    let header =
        ["name", "source", "destination", "bytes", "begin_s", "end_s", "latest_end_s"].map(str::to_owned);
    let rows = answered.flows.iter().map(|flow| {
        vec![
            flow.name.clone(),
            answered.device(flow.source),
            answered.device(flow.destination),
            flow.bytes.get().to_string(),
            flow.begin.get().to_string(),
            flow.end.get().to_string(),
            flow.latest_end.map_or_else(String::new, |end| end.get().to_string()),
        ]
    });
    csv_lines(&header, rows.collect())
}
