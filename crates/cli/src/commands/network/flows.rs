//! `network flows`: a table of flows on a topology or on a fabric from a file.
//!
//! Responsible for: reading the table against the devices of the network. Refuses to solve ([`railwright_network::flow::listed`]).

pub(crate) mod report;

use super::{on_fabric, on_network};
use crate::args::flows::FlowsOn;
use crate::exit::{Failure, Outcome};
use crate::input::{self, TABLE_LIMIT};
use crate::printer::{Printer, csv_lines};
use crate::run;
use railwright_network::flow::listed::{Interval, Listed, Routes, parse, play};
use railwright_network::simulate::Wiring;
use railwright_network::topology::Kind;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_tuner::collective::Network;
use railwright_tuner::simulate::MOST_SEEDS;
use report::{Answered, Shown};

/// Plays a table.
pub(crate) fn run(arguments: &FlowsOn, printer: &Printer) -> Result<Outcome, Failure> {
    if !(1..=MOST_SEEDS).contains(&arguments.seeds) {
        let problem = Problem::new(format!("{} is not between 1 and {MOST_SEEDS}", arguments.seeds));
        return Err(problem.in_file("--seeds").into());
    }
    let mut chosen = Vec::new();
    let word = on_network::cluster_or_usual(arguments.cluster.as_deref(), &mut chosen);
    let answered = if let Some(file) = &arguments.fabric.fabric {
        let (_, fabric, laid) = on_fabric::read(file, word, arguments.routing.as_deref())?;
        chosen.extend(laid);
        let names: std::collections::BTreeMap<&str, u32> =
            fabric.devices.iter().enumerate().map(|(n, name)| (name.as_str(), n as u32)).collect();
        let devices = fabric.devices.len() as u32;
        let device = |word: &str| names.get(word).copied().or_else(|| numbered(word, devices));
        let network = Network::Imported(&fabric);
        played(arguments, chosen, (&fabric, network), &device, |carried, time| fabric.layers(carried, time))?
    } else {
        let wiring = wired(arguments, word, &mut chosen)?;
        let devices = wiring.devices();
        let network = Network::Design(&wiring);
        played(arguments, chosen, (&wiring, network), &|word| numbered(word, devices), |carried, time| {
            wiring.loads(carried, time)
        })?
    };
    if let Some(path) = &arguments.ends {
        printer.data(&table(&answered.flows), Some(path))?;
    }
    printer.answer(&answered, &arguments.output)?;
    Ok(Outcome::Yes)
}

fn numbered(word: &str, devices: u32) -> Option<u32> {
    word.parse().ok().filter(|number| *number < devices)
}

/// A design for the devices of a cluster, with its own latencies.
fn wired(arguments: &FlowsOn, word: &str, chosen: &mut Vec<String>) -> Result<Wiring, Failure> {
    let failed = on_network::failed(&arguments.fail)?;
    let on = on_network::routed(&arguments.on, arguments.routing.as_deref());
    let cluster = run::cluster(word)?.resolve()?;
    if on.topology.is_none() {
        chosen.push(format!("topology {}", Kind::RailOptimized.name()));
    }
    let (mut sheet, _) = on_network::of(&on, Kind::RailOptimized, &cluster)?;
    let kind = sheet.spec.kind.unwrap_or(Kind::RailOptimized);
    chosen.extend(on_network::usual_routing(kind, &mut sheet.spec));
    let design = sheet.spec.resolve().map_err(|problem| on_network::placed(&sheet, problem))?;
    Ok(Wiring::new(&design, &failed).map_err(|problem| on_network::placed(&sheet, problem))?)
}

/// Plays the table under each seed; flows and links are those of the first.
fn played<R: Routes>(
    arguments: &FlowsOn,
    chosen: Vec<String>,
    (routes, network): (&R, Network<'_>),
    device: &dyn Fn(&str) -> Option<u32>,
    layers: impl Fn(&[railwright_spec::quantity::Bytes], Seconds) -> Vec<railwright_network::simulate::LayerLoad>,
) -> Result<Answered, Failure> {
    let file = &arguments.flows;
    let listed = parse(&input::read(file, TABLE_LIMIT)?, file, device)?;
    let (intervals, outcome) = play(routes, &listed, 0)?;
    let mut makespans = vec![outcome.duration];
    for draw in 1..arguments.seeds {
        makespans.push(play(routes, &listed, draw)?.1.duration);
    }
    let flows = listed.iter().zip(&intervals).map(|(flow, interval)| shown(flow, interval)).collect();
    Ok(Answered {
        network: network.name(),
        routing: network.routing().name(),
        devices: network.devices(),
        chosen,
        makespans,
        layers: layers(&outcome.carried, outcome.duration),
        flows,
    })
}

fn shown(flow: &Listed, interval: &Interval) -> Shown {
    Shown {
        name: flow.name.clone(),
        source: flow.from,
        destination: flow.to,
        bytes: flow.bytes,
        begin: interval.begin,
        end: interval.end,
    }
}

/// Every flow as CSV, seconds and bytes.
fn table(flows: &[Shown]) -> String {
    let header = ["name", "source", "destination", "bytes", "begin", "end"].map(str::to_owned);
    let rows = flows.iter().map(|flow| {
        vec![
            flow.name.clone(),
            flow.source.to_string(),
            flow.destination.to_string(),
            flow.bytes.get().to_string(),
            flow.begin.get().to_string(),
            flow.end.get().to_string(),
        ]
    });
    csv_lines(&header, rows.collect())
}
