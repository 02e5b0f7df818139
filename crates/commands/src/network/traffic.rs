//! `network traffic`: traffic of a step between ranks, and on links.

use super::heat::{self, Files};
use crate::fit::warn_of_fit;
use crate::front::{Ended, Front};
use railwright_inputs::networks::on_hosts::{self, Hosts, OnHosts};
use railwright_inputs::networks::on_network::{self, OnNetwork};
use railwright_inputs::run::{self, Resolved, Sources};
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

/// Key of traffic sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrafficBy {
    /// Kind of collective.
    #[default]
    Kind,
    /// Pairs of ranks.
    Pair,
    /// Scale-up domains.
    Domain,
    /// Rails.
    Rail,
    /// Links of the network.
    Link,
    /// Blocks of neighbouring ranks.
    Matrix,
}

/// A run whose traffic is summed.
#[derive(Clone, Debug)]
pub struct TrafficOf {
    /// The run.
    pub run: Sources,
    /// The network.
    pub on: OnNetwork,
    /// The hosts of the run.
    pub hosts: OnHosts,
    /// Key of the sums.
    pub by: TrafficBy,
    /// Algorithm for all-gather, reduce-scatter and all-reduce.
    pub algorithm: Algorithm,
    /// Algorithm for all-to-all.
    pub all_to_all: Algorithm,
    /// Files of the matrix.
    pub files: Files,
}

/// Sums up the traffic of a run.
///
/// # Errors
///
/// A run or a network that does not exist, and cancellation.
pub fn traffic(request: &TrafficOf, front: &dyn Front) -> Result<Sums, Ended> {
    heat::check(&request.files)?;
    let launch = run::launch::find(&request.run)?;
    let Resolved { run, warnings, mut chosen, .. } = run::resolve(&request.run)?;
    let run = on_hosts::laid(run, request.hosts.are_named(), &mut chosen);
    if let Some(launch) = &launch {
        run::launch::print_remarks(launch, front);
    }
    let hosts = Hosts::read(&request.hosts, &run.cluster)?;
    let needs_network = request.by == TrafficBy::Link
        || request.on.topology.is_some()
        || !request.on.keys.is_empty()
        || hosts.is_some();
    let design = if needs_network {
        if request.on.topology.is_none() {
            chosen.push(format!("topology {}", Kind::RailOptimized.name()));
        }
        let specified = on_network::specified(&request.on)?.spec.devices;
        let (on, grown) = on_hosts::grown(&request.on, specified, &run.cluster, (hosts.as_ref(), None))?;
        chosen.extend(grown);
        Some(on_network::of(&on, Kind::RailOptimized, &run.cluster)?)
    } else {
        None
    };
    let traffic = traffic_of(&run)?.by(request.algorithm, request.all_to_all);
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
    let wanted = || front.wanted();
    let matrix = Matrix::watched(&traffic, &place, &wanted)?;
    let summary = traffic.summary_with(&place, &matrix);
    wanted()?;
    let placement = match &allocated {
        Some(allocated) => Some(allocated.placement(&traffic, (&matrix, &place))?),
        None => None,
    };
    let (sheet, design) = design.unzip();
    let view = match request.by {
        TrafficBy::Matrix => {
            let cells = request.files.cells.unwrap_or(heat::USUAL_CELLS);
            View::Matrix(traffic.squares(&place, cells, &wanted)?)
        }
        TrafficBy::Rail => View::Rail(by_rail(&matrix, &place), traffic.rail_squares(&place, &wanted)?),
        other => view(other, &matrix, &place, design.as_ref(), &wanted)
            .map_err(|problem| sheet.map_or(problem.clone(), |sheet| on_network::placed(&sheet, problem)))?,
    };
    front.warnings(&warnings);
    let fit = warn_of_fit(&run, front)?;
    let title = railwright_answers::title(&run);
    let name = format!("{} on {} ranks", run.model.name, human::whole(ranks));
    heat::write(&request.files, &name, &matrix, front)?;
    Ok(Sums { title, chosen, fit, summary, design, placement, view })
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
