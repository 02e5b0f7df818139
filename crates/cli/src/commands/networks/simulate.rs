//! `network simulate`: a step of a run with its exchanges as flows on a topology.

use crate::args::simulate::{Pricing, Simulate};
use crate::commands::planned::stage_memory;
use crate::exit::{Failure, Outcome};
use crate::input::networks::on_hosts::{self, Hosts, OnHosts};
use crate::input::networks::on_network::{self, OnNetwork};
use crate::input::networks::{on_fabric, on_run};
use crate::printer::Printer;
use crate::run::{self, Resolved};
use railwright_answers::Machines;
use railwright_calculator::costing::Machine;
use railwright_network::placement::{Allocation, written_hosts};
use railwright_network::simulate::{Part, Wiring};
use railwright_network::topology::{DesignSpec, Kind};
use railwright_network::traffic::RankPlacement;
use railwright_reports::network::simulate::Simulated;
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::{Problem, Warning, did_you_mean};
use railwright_spec::run::{Run, Sheet};
use railwright_tuner::collective::Network;
use railwright_tuner::flows::{self, OnTopology};
use railwright_tuner::simulate::{
    Background, Job, Setting, SharedJob, Simulation, over_seeds, placed, simulate_watched, together,
};
use std::ops::ControlFlow;
use std::path::Path;

const BAR: &str = "simulating {bar:30} {percent}%, {eta} left";

/// Simulates a step.
pub(crate) fn run(arguments: &Simulate, printer: &Printer) -> Result<Outcome, Failure> {
    let failed = on_network::failed(&arguments.broken.failed.fail)?;
    let background = arguments
        .background
        .as_deref()
        .map(|text| Background::parse(text).map_err(|problem| problem.in_file("--background")))
        .transpose()?;
    let launch = run::launch::find(&arguments.run)?;
    let Resolved { run, warnings, mut chosen, .. } = run::resolve(&arguments.run)?;
    let run = on_hosts::laid(run, arguments.hosts.are_named(), &mut chosen);
    if let Some(launch) = &launch {
        run::launch::print_remarks(launch, printer);
    }
    let on = on_network::routed(&arguments.on, arguments.routing.as_deref());
    if let Some(file) = &arguments.fabric.fabric {
        let warnings = flows::without_own_tiers(warnings);
        return on_file(arguments, file, (&run, chosen, &warnings), background, printer);
    }
    let wanted = Hosts::read(&arguments.hosts, &run.cluster)?;
    if let (None, Some(path)) = (&wanted, &arguments.reordered) {
        return Err(Problem::new(format!("there are no hosts to write to `{path}`"))
            .in_file("--reordered")
            .hint("set the hosts with --nodelist, --hostfile or --fragments")
            .into());
    }
    let job = arguments.job.as_deref().map(|path| on_run::read(path, &[])).transpose()?.map(|(run, _)| run);
    let specified = on_network::specified(&on)?.spec.devices;
    let job_hosts = job.as_ref().map(|job| hosts_of_job(arguments, job)).transpose()?.flatten();
    let other = job.as_ref().map(|job| (job.plan.world_size(), job_hosts.as_ref()));
    let (on, grown) = on_hosts::grown(&on, specified, &run.cluster, (wanted.as_ref(), other))?;
    let Wired { sheet, wiring, chosen: laid, warnings: idle } = wired(&on, &run.cluster, &failed)?;
    chosen.extend(grown);
    chosen.extend(laid);
    let allocation = wanted.map(|wanted| wanted.allocation(&wiring.topology, run.plan.world_size()));
    let allocation = allocation.transpose()?;
    chosen.extend(allocation.as_ref().and_then(on_hosts::unused));
    chosen.extend(job.as_ref().and_then(|job| links_of_job(job, &run.cluster)));
    let seats = allocation.as_ref().map(Allocation::seats).transpose()?;
    let wiring = wiring.recovering(on_network::recovery(&arguments.broken.recovery)?);
    let setting = Setting { background, seats: seats.as_ref(), ..Setting::on(&wiring) };
    let watching = printer.watching(BAR, "simulating");
    let simulation =
        over_draws(&run, &setting, arguments.seeds, &mut |done, all| watching.advance(done, all));
    let simulation = simulation.and_then(|mut simulation| {
        let run = (&run.model, &run.cluster, &run.plan);
        if let Some(allocation) = &allocation {
            placed(run, (&setting, &mut simulation), allocation, &mut |done, all| {
                watching.advance(done, all)
            })?;
        }
        if let Some(job) = &job {
            let own = (run, seats.as_ref());
            let job = (job, job_hosts.as_ref());
            simulation.jobs = concurrent(own, job, &wiring, &mut |done, all| watching.advance(done, all))?;
        }
        Ok(simulation)
    });
    watching.finish();
    let simulation = match simulation {
        Ok(simulation) => simulation,
        Err(problem) if watching.is_stopped() => return printer.stopped(problem),
        Err(problem) => return Err(in_words(problem, &sheet).into()),
    };
    // With a topology, the cluster's own network tiers have no traffic.
    let warnings =
        if arguments.on.topology.is_some() { flows::without_own_tiers(warnings) } else { warnings };
    printer.warnings(&warnings);
    printer.warnings(&idle);
    if let (Some(path), Some(placed)) = (&arguments.reordered, &simulation.placed) {
        printer.data(&written_hosts(&placed.reordered, on_hosts::per_host(&run.cluster)), Some(path))?;
    }
    shown(arguments, &run, (chosen, simulation), printer)
}

/// On a fabric from a file.
fn on_file(
    arguments: &Simulate,
    file: &str,
    (run, mut chosen, warnings): (&Run, Vec<String>, &[Warning]),
    background: Option<Background>,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    if arguments.hosts.are_named() || arguments.hosts.first_node > 0 || arguments.reordered.is_some() {
        return Err(Problem::new("ranks use the devices of a fabric in the order of its file")
            .in_file("--fabric")
            .hint("omit --nodelist, --hostfile, --fragments, --first-node and --reordered, or use --topology")
            .into());
    }
    let (fabric, laid) = on_fabric::read(file, &run.cluster, arguments.routing.as_deref())?;
    chosen.extend(laid);
    chosen.push("latencies of the cluster (those of the file's cables have no effect)".to_owned());
    let setting = Setting { network: Network::Imported(&fabric), background, seats: None };
    let watching = printer.watching(BAR, "simulating");
    let simulation = over_draws(run, &setting, arguments.seeds, &mut |done, all| watching.advance(done, all));
    watching.finish();
    match simulation {
        Ok(simulation) => {
            printer.warnings(warnings);
            shown(arguments, run, (chosen, simulation), printer)
        }
        Err(problem) if watching.is_stopped() => printer.stopped(problem),
        Err(problem) => Err(problem.into()),
    }
}

/// A step, and the same with further hash seeds if requested.
fn over_draws(
    run: &Run,
    setting: &Setting<'_>,
    seeds: Option<u32>,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Simulation, Problem> {
    let mut simulation = simulate_watched(&run.model, &run.cluster, &run.plan, setting, watch)?;
    if let Some(seeds) = seeds {
        let run = (&run.model, &run.cluster, &run.plan);
        over_seeds(run, (setting, &mut simulation), seeds, watch)?;
    }
    Ok(simulation)
}

/// Prints a simulation.
fn shown(
    arguments: &Simulate,
    run: &Run,
    (chosen, simulation): (Vec<String>, Simulation),
    printer: &Printer,
) -> Result<Outcome, Failure> {
    let title = railwright_answers::title(run);
    if let Some(path) = &arguments.loads {
        let is_picture = Path::new(path).extension().is_some_and(|suffix| suffix == "svg");
        let over_time = &simulation.over_time;
        let text = if is_picture { over_time.svg(&title) } else { over_time.csv() };
        printer.data(&text, Some(path))?;
    }
    let is_on_file = arguments.fabric.fabric.is_some();
    let fit = stage_memory::warn(run, printer)?;
    printer.answer(&Simulated { title, chosen, fit, simulation, is_on_file }, &arguments.output)?;
    Ok(Outcome::Yes)
}

/// The hosts of `--job-nodelist`.
fn hosts_of_job(arguments: &Simulate, job: &Run) -> Result<Option<Hosts>, Problem> {
    let nodelist = arguments.job_nodelist.clone();
    let first_node = if nodelist.is_some() { arguments.hosts.first_node } else { 0 };
    let on = OnHosts { nodelist, first_node, ..OnHosts::default() };
    Hosts::read(on, &job.cluster).map_err(|problem| problem.in_file("--job-nodelist"))
}

/// Both runs are on one network, whose links are those of the first run's cluster. A second run of another cluster also uses their costs.
fn links_of_job(job: &Run, cluster: &Cluster) -> Option<String> {
    let other = &job.cluster;
    let is_same = other.network.bandwidth == cluster.network.bandwidth
        && other.scale_up.bandwidth == cluster.scale_up.bandwidth;
    (!is_same).then(|| {
        format!("the second run uses the links of {}, but its cluster is {}", cluster.name, other.name)
    })
}

/// A run and its devices, by default the first ones, with the run of `--job`.
fn concurrent(
    (own, seats): ((&Model, &Cluster, &Plan), Option<&RankPlacement>),
    (job, hosts): (&Run, Option<&Hosts>),
    wiring: &Wiring,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Vec<SharedJob>, Problem> {
    let (model, cluster, plan) = own;
    let first = RankPlacement::new((0..plan.world_size() as u32).collect())?;
    let seats = seats.unwrap_or(&first);
    let ranks = job.plan.world_size();
    let allocation = if let Some(wanted) = hosts {
        wanted.allocation(&wiring.topology, ranks).map_err(|problem| problem.in_file("--job-nodelist"))?
    } else {
        let is_used = |device| seats.rank(device) != u32::MAX;
        on_hosts::left_over(&is_used, &job.cluster, (wiring.devices(), ranks))
            .map_err(|problem| problem.in_file("--job"))?
    };
    let other = allocation.seats()?;
    let jobs = [
        Job { name: &model.name, model, cluster, plan, seats },
        Job {
            name: &job.model.name,
            model: &job.model,
            cluster: &job.cluster,
            plan: &job.plan,
            seats: &other,
        },
    ];
    together(wiring, jobs, watch)
}

/// A network with the defaults chosen for it.
pub(crate) struct Wired {
    pub(crate) sheet: Sheet<DesignSpec>,
    pub(crate) wiring: Wiring,
    pub(crate) chosen: Option<String>,
    /// The warning about NICs that the devices cannot use, if any.
    pub(crate) warnings: Vec<Warning>,
}

/// The network of a cluster: rail-optimized by default, with packet spraying by default, which is
/// non-blocking on a tree without oversubscription.
pub(crate) fn wired(on: &OnNetwork, cluster: &Cluster, failed: &[Part]) -> Result<Wired, Problem> {
    let (mut sheet, _) = on_network::of(on, Kind::RailOptimized, cluster)?;
    let kind = sheet.spec.kind.unwrap_or(Kind::RailOptimized);
    let mut chosen = Vec::new();
    if on.topology.is_none() {
        chosen.push(format!("topology {}", kind.name()));
    }
    chosen.extend(on_network::usual_routing(kind, &mut sheet.spec));
    let wiring = flows::wiring(cluster, &sheet.spec, failed).map_err(|problem| in_words(problem, &sheet))?;
    let chosen = (!chosen.is_empty()).then(|| chosen.join(", "));
    // The wiring has the speed that the devices use; the design the one that is bought.
    let bought = flows::design_of(cluster, &sheet.spec).resolve()?;
    let warnings = flows::idle_nics(&bought, cluster).into_iter().collect();
    Ok(Wired { sheet, wiring, chosen, warnings })
}

/// An error of the design with the place of the setting, with design keys as in `--network`.
pub(crate) fn in_words(problem: Problem, sheet: &Sheet<DesignSpec>) -> Problem {
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
