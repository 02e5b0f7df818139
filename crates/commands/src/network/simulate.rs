//! `network simulate`: a step of a run with its exchanges as flows on a topology.

use super::Specified;
use super::wired::{Wired, in_words, wired};
use crate::fit::warn_of_fit;
use crate::front::{Ended, Front};
use crate::relation::needs;
use railwright_inputs::networks::on_hosts::{self, Hosts, OnHosts};
use railwright_inputs::networks::on_network;
use railwright_inputs::networks::{on_fabric, on_run};
use railwright_inputs::run::{self, Resolved, Sources};
use railwright_network::placement::{Allocation, written_hosts};
use railwright_network::simulate::Wiring;
use railwright_network::traffic::RankPlacement;
use railwright_reports::network::simulate::Simulated;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::run::Run;
use railwright_tuner::collective::Network;
use railwright_tuner::flows;
use railwright_tuner::simulate::{
    Background, Job, Setting, SharedJob, Simulation, over_seeds, placed, simulate_watched, together,
};
use std::ops::ControlFlow;
use std::path::Path;

const BAR: &str = "simulating {bar:30} {percent}%, {eta} left";

/// A run on a network.
#[derive(Clone, Debug, Default)]
pub struct Simulate {
    /// The run.
    pub run: Sources,
    /// The network.
    pub network: Specified,
    /// The hosts of the run.
    pub hosts: OnHosts,
    /// Run file of a second run on the same network.
    pub job: Option<String>,
    /// Its hosts, as a Slurm node list.
    pub job_nodelist: Option<String>,
    /// Background load, as a share of the bandwidth of all devices or of unused ones.
    pub background: Option<String>,
    /// Number of hash seeds.
    pub seeds: Option<u32>,
    /// A file for the fastest order of the hosts.
    pub reordered: Option<String>,
    /// A file for the load of links over the step.
    pub loads: Option<String>,
}

/// Simulates a step.
///
/// # Errors
///
/// A run or a network that does not exist, and cancellation.
pub fn simulate(request: &Simulate, front: &dyn Front) -> Result<Simulated, Ended> {
    needs(("--job-nodelist", request.job_nodelist.is_some()), ("--job", request.job.is_some()))?;
    let failed = on_network::failed(&request.network.fail)?;
    let background = request
        .background
        .as_deref()
        .map(|text| Background::parse(text).map_err(|problem| problem.in_file("--background")))
        .transpose()?;
    let launch = run::launch::find(&request.run)?;
    let Resolved { run, warnings, mut chosen, .. } = run::resolve(&request.run)?;
    let run = on_hosts::laid(run, request.hosts.are_named(), &mut chosen);
    if let Some(launch) = &launch {
        run::launch::print_remarks(launch, front);
    }
    let on = request.network.routed();
    if let Some(file) = &request.network.fabric {
        let warnings = flows::without_own_tiers(warnings);
        return on_file(request, file, (&run, chosen, &warnings), background, front);
    }
    let wanted = Hosts::read(&request.hosts, &run.cluster)?;
    if let (None, Some(path)) = (&wanted, &request.reordered) {
        return Err(Problem::new(format!("there are no hosts to write to `{path}`"))
            .in_file("--reordered")
            .hint("set the hosts with --nodelist, --hostfile or --fragments")
            .into());
    }
    let job = request.job.as_deref().map(|path| on_run::read(path, &[])).transpose()?.map(|(run, _)| run);
    let specified = on_network::specified(&on)?.spec.devices;
    let job_hosts = job.as_ref().map(|job| hosts_of_job(request, job)).transpose()?.flatten();
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
    let wiring = wiring.recovering(on_network::recovery(&request.network.recovery)?);
    let setting = Setting { background, seats: seats.as_ref(), ..Setting::on(&wiring) };
    let watching = front.work(BAR, "simulating");
    let simulation = over_draws(&run, &setting, request.seeds, &mut |done, all| watching.advance(done, all));
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
        Err(problem) if watching.is_stopped() => return Err(Ended::Stopped(problem)),
        Err(problem) => return Err(in_words(problem, &sheet).into()),
    };
    // With a topology, the cluster's own network tiers have no traffic.
    let warnings =
        if request.network.on.topology.is_some() { flows::without_own_tiers(warnings) } else { warnings };
    front.warnings(&warnings);
    front.warnings(&idle);
    if let (Some(path), Some(placed)) = (&request.reordered, &simulation.placed) {
        front.write(path, &written_hosts(&placed.reordered, on_hosts::per_host(&run.cluster)))?;
    }
    shown(request, &run, (chosen, simulation), front)
}

/// On a fabric from a file.
fn on_file(
    request: &Simulate,
    file: &str,
    (run, mut chosen, warnings): (&Run, Vec<String>, &[Warning]),
    background: Option<Background>,
    front: &dyn Front,
) -> Result<Simulated, Ended> {
    if request.hosts.are_named() || request.hosts.first_node > 0 || request.reordered.is_some() {
        return Err(Problem::new("ranks use the devices of a fabric in the order of its file")
            .in_file("--fabric")
            .hint("omit --nodelist, --hostfile, --fragments, --first-node and --reordered, or use --topology")
            .into());
    }
    let (fabric, laid) = on_fabric::read(file, &run.cluster, request.network.routing.as_deref())?;
    chosen.extend(laid);
    chosen.push("latencies of the cluster (those of the file's cables have no effect)".to_owned());
    let setting = Setting { network: Network::Imported(&fabric), background, seats: None };
    let watching = front.work(BAR, "simulating");
    let simulation = over_draws(run, &setting, request.seeds, &mut |done, all| watching.advance(done, all));
    watching.finish();
    match simulation {
        Ok(simulation) => {
            front.warnings(warnings);
            shown(request, run, (chosen, simulation), front)
        }
        Err(problem) if watching.is_stopped() => Err(Ended::Stopped(problem)),
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

/// A simulation as a report, with its files written.
fn shown(
    request: &Simulate,
    run: &Run,
    (chosen, simulation): (Vec<String>, Simulation),
    front: &dyn Front,
) -> Result<Simulated, Ended> {
    let title = railwright_answers::title(run);
    if let Some(path) = &request.loads {
        let is_picture = Path::new(path).extension().is_some_and(|suffix| suffix == "svg");
        let over_time = &simulation.over_time;
        let text = if is_picture { over_time.svg(&title) } else { over_time.csv() };
        front.write(path, &text)?;
    }
    let is_on_file = request.network.fabric.is_some();
    let fit = warn_of_fit(run, front)?;
    Ok(Simulated { title, chosen, fit, simulation, is_on_file })
}

/// The hosts of `--job-nodelist`.
fn hosts_of_job(request: &Simulate, job: &Run) -> Result<Option<Hosts>, Problem> {
    let nodelist = request.job_nodelist.clone();
    let first_node = if nodelist.is_some() { request.hosts.first_node } else { 0 };
    let on = OnHosts { nodelist, first_node, ..OnHosts::default() };
    Hosts::read(on, &job.cluster).map_err(|problem| problem.in_file("--job-nodelist"))
}

/// Both runs are on one network, whose links are those of the first run's cluster. A second run of another
/// cluster also uses their costs.
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
