//! `network simulate`: a step of a run with its exchanges as flows on a topology.

mod report;

use super::on_network;
use crate::args::simulate::{Pricing, Simulate};
use crate::args::traffic::OnNetwork;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::run::{self, Resolved};
use railwright_answers::Machines;
use railwright_calculator::costing::Machine;
use railwright_network::failures::Recovery;
use railwright_network::simulate::{Part, Wiring};
use railwright_network::topology::{DesignSpec, Kind};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::run::{Field as _, Sheet, Value};
use railwright_tuner::flows::{self, OnTopology};
use railwright_tuner::simulate::{Background, Setting, Simulation, over_seeds, simulate_watched};
use std::path::Path;

/// An answer with what was chosen for its author.
pub(crate) struct Simulated {
    title: String,
    chosen: Vec<String>,
    simulation: Simulation,
}

const BAR: &str = "simulating {bar:30} {percent}%, {eta} left";

/// Simulates a step.
pub(crate) fn run(arguments: &Simulate, printer: &Printer) -> Result<Outcome, Failure> {
    let failed = on_network::failed(&arguments.fail)?;
    let background = arguments
        .background
        .as_deref()
        .map(|text| Background::parse(text).map_err(|problem| problem.in_file("--background")))
        .transpose()?;
    let launch = run::launch::find(&arguments.run)?;
    let Resolved { run, warnings, mut chosen, .. } = run::resolve(&arguments.run)?;
    let run = run.as_used();
    if let Some(launch) = &launch {
        run::launch::print_remarks(launch, printer);
    }
    let on = on_network::routed(&arguments.on, arguments.routing.as_deref());
    let Wired { sheet, wiring, chosen: laid } = wired(&on, &run.cluster, &failed)?;
    chosen.extend(laid);
    let recovery = Recovery::read(&Value::Text(arguments.recovery.clone()))
        .map_err(|problem| problem.in_file("--recovery"))?;
    let wiring = wiring.recovering(recovery);
    let setting = Setting { wiring: &wiring, background };
    let watching = printer.watching(BAR, "simulating");
    let simulation = simulate_watched(&run.model, &run.cluster, &run.plan, &setting, &mut |done, all| {
        watching.advance(done, all)
    });
    let simulation = simulation.and_then(|mut simulation| {
        let Some(seeds) = arguments.seeds else { return Ok(simulation) };
        let run = (&run.model, &run.cluster, &run.plan);
        over_seeds(run, (&setting, &mut simulation), seeds, &mut |done, all| watching.advance(done, all))?;
        Ok(simulation)
    });
    watching.finish();
    let simulation = match simulation {
        Ok(simulation) => simulation,
        Err(problem) if watching.is_stopped() => return printer.stopped(problem),
        Err(problem) => return Err(in_words(problem, &sheet).into()),
    };
    // Where a topology is given, nothing travels on the cluster's own tiers.
    let warnings =
        if arguments.on.topology.is_some() { flows::without_own_tiers(warnings) } else { warnings };
    printer.warnings(&warnings);
    let title = format!(
        "{} on {} x {}, {}",
        run::describe(&run.model),
        human::whole(run.cluster.devices),
        run.cluster.accelerator.name,
        railwright_calculator::estimate::plan_summary(&run.plan)
    );
    if let Some(path) = &arguments.loads {
        let is_picture = Path::new(path).extension().is_some_and(|suffix| suffix == "svg");
        let over_time = &simulation.over_time;
        let text = if is_picture { report::loads(&title, over_time) } else { over_time.csv() };
        printer.data(&text, Some(path))?;
    }
    printer.answer(&Simulated { title, chosen, simulation }, &arguments.output)?;
    Ok(Outcome::Yes)
}

/// A network with what was chosen for it.
pub(super) struct Wired {
    pub(super) sheet: Sheet<DesignSpec>,
    pub(super) wiring: Wiring,
    pub(super) chosen: Option<String>,
}

/// The network of a cluster: rail-optimized by default, with packet spraying by default, which is
/// non-blocking on a tree without oversubscription.
pub(super) fn wired(on: &OnNetwork, cluster: &Cluster, failed: &[Part]) -> Result<Wired, Problem> {
    let (mut sheet, _) = on_network::of(on, Kind::RailOptimized, cluster)?;
    let kind = sheet.spec.kind.unwrap_or(Kind::RailOptimized);
    let mut chosen = Vec::new();
    if on.topology.is_none() {
        chosen.push(format!("topology {}", kind.name()));
    }
    chosen.extend(on_network::usual_routing(kind, &mut sheet.spec));
    let wiring = flows::wiring(cluster, &sheet.spec, failed).map_err(|problem| in_words(problem, &sheet))?;
    let chosen = (!chosen.is_empty()).then(|| chosen.join(", "));
    Ok(Wired { sheet, wiring, chosen })
}

/// A problem of the design with the place of the setting, with design keys as in `--network`.
pub(super) fn in_words(problem: Problem, sheet: &Sheet<DesignSpec>) -> Problem {
    let mut problem = sheet.placed(problem);
    let spelled = |text: &str| text.replace("design.", "--network ").replace(" = ", "=");
    problem.hint = problem.hint.as_deref().map(spelled);
    if let Some(place) = problem.place.as_deref_mut()
        && place.file.is_empty()
        && place.key.as_ref().is_some_and(|key| key.starts_with("design."))
    {
        place.key = None;
        "--network".clone_into(&mut place.file);
    }
    problem
}

impl railwright_answers::Pricing for Pricing {
    fn machine(&self, cluster: &Cluster) -> Result<Option<(Machine, String)>, Problem> {
        network_of(self, cluster)?
            .map(|(wiring, remark)| flows::machine(cluster, wiring).map(|machine| (machine, remark)))
            .transpose()
    }

    fn machines(&self, cluster: &Cluster) -> Result<Option<(Machines, String)>, Problem> {
        network_of(self, cluster)?
            .map(|(wiring, remark)| flows::quick_and_simulated(cluster, wiring).map(|both| (both, remark)))
            .transpose()
    }
}

/// The topology for collectives of a varying cluster, with its description; `None` for the closed form.
pub(crate) fn on_topology(
    pricing: &Pricing,
    cluster: &Cluster,
) -> Result<Option<(OnTopology, String)>, Problem> {
    let Some(on) = asked(pricing)? else { return Ok(None) };
    let remark = on_network::specified(&on)?.spec;
    Ok(network_of(pricing, cluster)?.map(|(_, words)| (OnTopology::new(remark), words)))
}

/// The network that collectives are to be simulated on, if they are.
fn network_of(pricing: &Pricing, cluster: &Cluster) -> Result<Option<(Wiring, String)>, Problem> {
    let Some(on) = asked(pricing)? else { return Ok(None) };
    let Wired { sheet, wiring, .. } = wired(&on, cluster, &[])?;
    let kind = sheet.spec.kind.unwrap_or(Kind::RailOptimized).name();
    let routing = sheet.spec.routing.unwrap_or_default().name();
    let remark = format!("collectives simulated on {kind}, routing {routing}");
    Ok(Some((wiring, remark)))
}

/// Topology settings, if collectives are simulated.
fn asked(pricing: &Pricing) -> Result<Option<OnNetwork>, Problem> {
    let (words, keys): (Vec<&String>, Vec<&String>) =
        pricing.network.iter().partition(|word| !word.contains('='));
    let mut is_flow = None;
    for word in words {
        is_flow = Some(match word.as_str() {
            "flow" => true,
            "closed" => false,
            other => {
                return Err(Problem::new(format!("unknown network model `{}`", human::shorten(other)))
                    .in_file("--network")
                    .hint(did_you_mean(
                        other,
                        ["flow", "closed"],
                        "use `flow`, `closed` or a design key such as `radix=128`",
                    )));
            }
        });
    }
    if is_flow != Some(true) {
        if let Some(remark) = pricing.topology.as_deref().or(keys.first().map(|key| key.as_str())) {
            return Err(Problem::new(format!(
                "the closed form has no topology, so `{}` has no effect",
                human::shorten(remark)
            ))
            .in_file(if pricing.topology.is_some() { "--topology" } else { "--network" })
            .hint("add `--network flow`"));
        }
        return Ok(None);
    }
    Ok(Some(OnNetwork { topology: pricing.topology.clone(), keys: keys.into_iter().cloned().collect() }))
}
