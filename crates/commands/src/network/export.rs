//! `network export`: a step, a network or flows as files of other simulators.
//!
//! Responsible for: the files, and remarks on properties that a format cannot express. Independent of formats
//! ([`railwright_network::exported`]).

use super::wired::{Wired, in_words, wired};
use crate::fit::warn_of_fit;
use crate::front::{Ended, Front};
use railwright_inputs::chakra::GROUPS;
use railwright_inputs::networks::on_network::{self, OnNetwork};
use railwright_inputs::run::{self, Resolved, Sources};
use railwright_inputs::{self as input, TABLE_LIMIT};
use railwright_network::flow::listed::parse;
use railwright_network::{chakra, exported};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_tuner::exchanges::circuits_of;
use railwright_tuner::simulate::trace::Traced;

/// Names of further files next to the traces; the traces are `step.0.et`, `step.1.et` and so on.
const NETWORK: &str = "network.yml";
const SYSTEM: &str = "system.json";
const MEMORY: &str = "memory.json";

/// A simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulator {
    /// Execution traces with process groups, network and system.
    AstraSim,
    /// A platform with the route of every pair of devices.
    Simgrid,
    /// A connection matrix of a flow table.
    Htsim,
    /// A fabric of pods joined by optical circuits.
    Circuits,
}

/// A run or a network as files of a simulator.
#[derive(Clone, Debug)]
pub struct ExportNetwork {
    /// The run.
    pub run: Sources,
    /// The network, with its routing.
    pub on: OnNetwork,
    /// The simulator.
    pub to: Simulator,
    /// A table of flows.
    pub flows: Option<String>,
    /// The file, or the folder.
    pub output: String,
}

/// Writes the files.
///
/// # Errors
///
/// A run, a network or a table that does not exist, and paths that cannot be written.
pub fn export_network(request: &ExportNetwork, front: &dyn Front) -> Result<(), Ended> {
    match request.to {
        Simulator::AstraSim => astra(request, front)?,
        Simulator::Circuits => {
            let run = run::resolve(&request.run)?.run.as_used();
            let Wired { sheet, wiring, .. } = wired(&request.on, &run.cluster, &[])?;
            let text = circuits_of(&run, &wiring.topology.design).map_err(|p| in_words(p, &sheet))?;
            write(request, front, &text)?;
        }
        Simulator::Simgrid => {
            let Wired { sheet, wiring, .. } = network(request, front)?;
            let text = exported::platform(&wiring).map_err(|problem| in_words(problem, &sheet))?;
            write(request, front, &text)?;
        }
        Simulator::Htsim => {
            let Some(file) = &request.flows else {
                return Err(Problem::new("a connection matrix consists of flows")
                    .in_file("--to htsim")
                    .hint("pass a table, as in `--flows examples/networks/incast.csv`")
                    .into());
            };
            let Wired { wiring, .. } = network(request, front)?;
            let devices = wiring.devices();
            let device = |word: &str| word.parse().ok().filter(|number: &u32| *number < devices);
            let flows = parse(&input::read(file, TABLE_LIMIT)?, file, &device)?;
            write(request, front, &exported::connection_matrix(&flows, devices)?)?;
        }
    }
    Ok(())
}

/// The network of the request, without a run.
fn network(request: &ExportNetwork, front: &dyn Front) -> Result<Wired, Ended> {
    if request.run.model.is_some() || request.run.run.is_some() || request.run.launch.is_some() {
        return Err(Problem::new("this format does not contain a model")
            .hint("omit the model, or use `--to astra-sim`")
            .into());
    }
    let mut chosen = Vec::new();
    let word = on_network::cluster_or_usual(request.run.cluster.as_deref(), &mut chosen);
    let cluster = run::cluster(word)?.resolve()?;
    let wired = wired(&request.on, &cluster, &[])?;
    chosen.extend(wired.chosen.clone());
    if !chosen.is_empty() {
        front.note(&format!("defaults: {}", chosen.join(", ")));
    }
    Ok(wired)
}

fn write(request: &ExportNetwork, front: &dyn Front, text: &str) -> Result<(), Ended> {
    front.write(&request.output, text)
}

fn astra(request: &ExportNetwork, front: &dyn Front) -> Result<(), Ended> {
    if request.flows.is_some() {
        return Err(Problem::new("traces describe a run, not a table").in_file("--flows").into());
    }
    let Resolved { run, warnings, chosen, .. } = run::resolve(&request.run)?;
    let run = run.as_used();
    let Wired { wiring, .. } = wired(&request.on, &run.cluster, &[])?;
    let traced = Traced::new(&run)?;
    let folder = request.output.trim_end_matches('/');
    input::make_folder(folder)?;
    for rank in 0..traced.ranks() {
        let bytes = chakra::write(&traced.rank(rank));
        input::write_with(&format!("{folder}/step.{rank}.et"), |file| file.write_all(&bytes))?;
        front.wanted()?;
    }
    let design = &wiring.topology.design;
    let (text, mut lost) = exported::network(design);
    lost.extend(exported::crossing(design, &traced.groups(), &traced.all_to_alls()));
    input::write(&format!("{folder}/{NETWORK}"), &text)?;
    input::write(
        &format!("{folder}/{SYSTEM}"),
        &exported::system(design, run.cluster.accelerator.memory_bandwidth),
    )?;
    input::write(&format!("{folder}/{MEMORY}"), exported::MEMORY)?;
    input::write(&format!("{folder}/{GROUPS}"), &exported::comm_groups(&traced.groups()))?;
    front.warnings(&warnings);
    warn_of_fit(&run, front)?;
    if !chosen.is_empty() {
        front.note(&format!("defaults: {}", chosen.join(", ")));
    }
    if !lost.is_empty() {
        front.note(&format!("`{NETWORK}` omits: {}", lost.join("; ")));
    }
    front.note(&format!(
        "wrote the traces of {} ranks to `{folder}` (Chakra schema {}), with `{GROUPS}`, `{NETWORK}`, `{SYSTEM}` and `{MEMORY}`",
        human::whole(u64::from(traced.ranks())),
        chakra::SCHEMA
    ));
    Ok(())
}
