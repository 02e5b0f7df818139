//! `network traffic`: traffic of a step between ranks, and on links.

pub(crate) mod files;

use crate::args::traffic::{AllToAll, Rotation, Traffic as Arguments, TrafficBy};
use crate::commands::planned::stage_memory;
use crate::exit::{Failure, Outcome};
use crate::input::networks::on_hosts::{self, Hosts};
use crate::input::networks::on_network;
use crate::printer::Printer;
use crate::run::{self, Resolved};
use railwright_network::placement::{Allocation, ByLevel, Tree, survey};
use railwright_network::topology::{Design, Detail, Kind, Topology};
use railwright_network::traffic::{
    Algorithm, Loads, Matrix, Place, RankPlacement, Traffic, by_domain, by_rail,
};
use railwright_reports::network::traffic::{Placement, Sums, View};
use railwright_spec::human;
use railwright_spec::problem::{Problem, Wanted};
use railwright_spec::quantity::Bytes;
use railwright_tuner::exchanges::traffic_of;

/// An allocation on a network.
struct Allocated {
    allocation: Allocation,
    seats: RankPlacement,
    tree: Option<Tree>,
    first: Place,
}

fn allocated(hosts: &Hosts, design: &Design, first: &Place) -> Result<Allocated, Problem> {
    let topology = Topology::build(design, Detail::Pooled)?;
    let allocation = hosts.allocation(&topology, first.ranks)?;
    let seats = allocation.seats()?;
    Ok(Allocated { seats, tree: Tree::new(&topology), allocation, first: first.clone() })
}

impl Allocated {
    fn placement(&self, traffic: &Traffic, (matrix, place): (&Matrix, &Place)) -> Result<Placement, Problem> {
        let contiguous = Matrix::new(traffic, &self.first);
        Loads::check(&contiguous)?;
        Ok(Placement {
            survey: self.tree.as_ref().map(|tree| survey(&self.allocation, tree)),
            bytes: ByLevel::new(matrix, place, self.tree.as_ref()),
            contiguous: ByLevel::new(&contiguous, &self.first, self.tree.as_ref()),
        })
    }
}

/// Sums up the traffic of a run.
pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<Outcome, Failure> {
    files::check(arguments)?;
    let launch = run::launch::find(&arguments.run)?;
    let Resolved { run, warnings, mut chosen, .. } = run::resolve(&arguments.run)?;
    let run = on_hosts::laid(run, arguments.hosts.are_named(), &mut chosen);
    if let Some(launch) = &launch {
        run::launch::print_remarks(launch, printer);
    }
    let hosts = Hosts::read(&arguments.hosts, &run.cluster)?;
    let needs_network = arguments.by == TrafficBy::Link
        || arguments.on.topology.is_some()
        || !arguments.on.keys.is_empty()
        || hosts.is_some();
    let design = if needs_network {
        if arguments.on.topology.is_none() {
            chosen.push(format!("topology {}", Kind::RailOptimized.name()));
        }
        let specified = on_network::specified(&arguments.on)?.spec.devices;
        let (on, grown) = on_hosts::grown(&arguments.on, specified, &run.cluster, (hosts.as_ref(), None))?;
        chosen.extend(grown);
        Some(on_network::of(&on, Kind::RailOptimized, &run.cluster)?)
    } else {
        None
    };
    let traffic = traffic_of(&run)?.by(rotation(arguments.algorithm), all_to_all(arguments.all_to_all));
    let ranks = traffic.numbering.ranks();
    let place = match &design {
        Some((sheet, design)) => {
            Place::on(design, ranks).map_err(|problem| on_network::placed(sheet, problem))?
        }
        None => Place::new(ranks, run.cluster.scale_up.domain_size),
    };
    let allocated = match (&hosts, &design) {
        (Some(hosts), Some((_, design))) => Some(allocated(hosts, design, &place)?),
        _ => None,
    };
    chosen.extend(allocated.as_ref().and_then(|allocated| on_hosts::unused(&allocated.allocation)));
    let place = place.seated(allocated.as_ref().map(|allocated| &allocated.seats));
    let wanted = || printer.wanted();
    let matrix = Matrix::watched(&traffic, &place, &wanted)?;
    let summary = traffic.summary_with(&place, &matrix);
    wanted()?;
    let placement = match &allocated {
        Some(allocated) => Some(allocated.placement(&traffic, (&matrix, &place))?),
        None => None,
    };
    let (sheet, design) = design.unzip();
    let view = match arguments.by {
        TrafficBy::Matrix => {
            let cells = arguments.cells.unwrap_or(files::USUAL_CELLS);
            View::Matrix(traffic.squares(&place, cells, &wanted)?)
        }
        TrafficBy::Rail => View::Rail(by_rail(&matrix, &place), traffic.rail_squares(&place, &wanted)?),
        other => view(other, &matrix, &place, design.as_ref(), &wanted)
            .map_err(|problem| sheet.map_or(problem.clone(), |sheet| on_network::placed(&sheet, problem)))?,
    };
    printer.warnings(&warnings);
    let fit = stage_memory::warn(&run, printer)?;
    let title = railwright_answers::title(&run);
    let name = format!("{} on {} ranks", run.model.name, human::whole(ranks));
    files::write(arguments, &name, &matrix, printer)?;
    printer.answer(&Sums { title, chosen, fit, summary, design, placement, view }, &arguments.output)?;
    Ok(Outcome::Yes)
}

const fn rotation(algorithm: Rotation) -> Algorithm {
    match algorithm {
        Rotation::Ring => Algorithm::Ring,
        Rotation::Direct => Algorithm::Direct,
        Rotation::Hierarchical => Algorithm::Hierarchical,
    }
}

const fn all_to_all(algorithm: AllToAll) -> Algorithm {
    match algorithm {
        AllToAll::Direct => Algorithm::Direct,
        AllToAll::Hierarchical => Algorithm::Hierarchical,
    }
}

/// Maximum number of devices with individual links.
const MOST_APART: u64 = 16_384;

fn view(
    by: TrafficBy,
    matrix: &Matrix,
    place: &Place,
    design: Option<&Design>,
    wanted: Wanted<'_>,
) -> Result<View, Problem> {
    Ok(match (by, design) {
        (TrafficBy::Pair, _) => View::Pair,
        (TrafficBy::Domain, _) => View::Domain(by_domain(matrix, place)),
        (TrafficBy::Link, Some(design)) => {
            Loads::check(matrix)?;
            let detail = if design.devices > MOST_APART { Detail::Pooled } else { Detail::Links };
            let topology = Topology::build(design, detail)?;
            let loads = Loads::watched(matrix, place, &topology, wanted)?;
            View::Link {
                rows: loads.rows(&topology.graph),
                unjoined: Bytes::new(loads.unjoined),
                graph: topology.graph,
                detail,
            }
        }
        _ => View::Kind,
    })
}
