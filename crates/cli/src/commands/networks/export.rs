//! `network export`: a step, a network or flows as files of other simulators.
//!
//! Responsible for: the files, and remarks on properties that a format cannot express. Independent of formats
//! ([`railwright_network::exported`]).

use crate::args::export_network::{Export, Simulator};
use crate::commands::networks::simulate::{Wired, in_words, wired};
use crate::commands::planned::stage_memory;
use crate::exit::{Failure, Outcome};
use crate::input::chakra::GROUPS;
use crate::input::networks::on_network;
use crate::input::{self, TABLE_LIMIT};
use crate::printer::Printer;
use crate::run::{self, Resolved};
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

/// Writes the files.
pub(crate) fn run(arguments: &Export, printer: &Printer) -> Result<Outcome, Failure> {
    match arguments.to {
        Simulator::AstraSim => astra(arguments, printer)?,
        Simulator::Circuits => {
            let run = run::resolve(&arguments.run)?.run.as_used();
            let on = on_network::routed(&arguments.on, arguments.routing.as_deref());
            let Wired { sheet, wiring, .. } = wired(&on, &run.cluster, &[])?;
            let text = circuits_of(&run, &wiring.topology.design).map_err(|p| in_words(p, &sheet))?;
            write(arguments, printer, &text)?;
        }
        Simulator::Simgrid => {
            let Wired { sheet, wiring, .. } = network(arguments, printer)?;
            let text = exported::platform(&wiring).map_err(|problem| in_words(problem, &sheet))?;
            write(arguments, printer, &text)?;
        }
        Simulator::Htsim => {
            let Some(file) = &arguments.flows else {
                return Err(Problem::new("a connection matrix consists of flows")
                    .in_file("--to htsim")
                    .hint("pass a table, as in `--flows examples/networks/incast.csv`")
                    .into());
            };
            let Wired { wiring, .. } = network(arguments, printer)?;
            let devices = wiring.devices();
            let device = |word: &str| word.parse().ok().filter(|number: &u32| *number < devices);
            let flows = parse(&input::read(file, TABLE_LIMIT)?, file, &device)?;
            write(arguments, printer, &exported::connection_matrix(&flows, devices)?)?;
        }
    }
    Ok(Outcome::Yes)
}

/// The network of the arguments, without a run.
fn network(arguments: &Export, printer: &Printer) -> Result<Wired, Failure> {
    if arguments.run.model.is_some() || arguments.run.run.is_some() || arguments.run.launch.is_some() {
        return Err(Problem::new("this format does not contain a model")
            .hint("leave the model out, or use `--to astra-sim`")
            .into());
    }
    let mut chosen = Vec::new();
    let word = on_network::cluster_or_usual(arguments.run.cluster.as_deref(), &mut chosen);
    let cluster = run::cluster(word)?.resolve()?;
    let on = on_network::routed(&arguments.on, arguments.routing.as_deref());
    let wired = wired(&on, &cluster, &[])?;
    chosen.extend(wired.chosen.clone());
    if !chosen.is_empty() {
        printer.note(&format!("defaults: {}", chosen.join(", ")));
    }
    Ok(wired)
}

fn write(arguments: &Export, printer: &Printer, text: &str) -> Result<(), Failure> {
    printer.data(text, Some(&arguments.output))
}

fn astra(arguments: &Export, printer: &Printer) -> Result<(), Failure> {
    if arguments.flows.is_some() {
        return Err(Problem::new("traces describe a run, not a table").in_file("--flows").into());
    }
    let Resolved { run, warnings, chosen, .. } = run::resolve(&arguments.run)?;
    let run = run.as_used();
    let on = on_network::routed(&arguments.on, arguments.routing.as_deref());
    let Wired { wiring, .. } = wired(&on, &run.cluster, &[])?;
    let traced = Traced::new(&run)?;
    let folder = arguments.output.trim_end_matches('/');
    input::make_folder(folder)?;
    for rank in 0..traced.ranks() {
        let bytes = chakra::write(&traced.rank(rank));
        input::write_with(&format!("{folder}/step.{rank}.et"), |file| file.write_all(&bytes))?;
        printer.wanted()?;
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
    printer.warnings(&warnings);
    stage_memory::warn(&run, printer)?;
    if !chosen.is_empty() {
        printer.note(&format!("defaults: {}", chosen.join(", ")));
    }
    if !lost.is_empty() {
        printer.note(&format!("`{NETWORK}` omits: {}", lost.join("; ")));
    }
    printer.note(&format!(
        "wrote the traces of {} ranks to `{folder}` (Chakra schema {}), with `{GROUPS}`, `{NETWORK}`, `{SYSTEM}` and `{MEMORY}`",
        human::whole(u64::from(traced.ranks())),
        chakra::SCHEMA
    ));
    Ok(())
}
