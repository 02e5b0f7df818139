//! `network design`: networks and strategies together.
//!
//! Responsible for: the given axes, and the result as a table or a chart. Does not compute prices: see the tuner and network crates.

#[cfg(test)]
pub(crate) mod stopped;
#[cfg(test)]
pub(crate) mod tests;

use crate::args::OpenRun;
use crate::args::design::Design;
use crate::commands::networks::{kind, on_run, prices, spelled_out};
use crate::commands::planned::open_run::{self, Asked};
use crate::exit::{Failure, Outcome};
use crate::input::{self, CONFIG_LIMIT};
use crate::printer::{Printer, check_format};
use crate::run::USUAL_CLUSTER;
use railwright_answers::{
    NetworkClasses, Question as _, Searcher, Setting, budget, network_plan, quoted, scale_up_prices,
};
use railwright_network::topology::{DesignSpec, Routing};
use railwright_reports::network::design::Answered;
use railwright_reports::network::gigabits;
use railwright_spec::calibration::Calibration;
use railwright_spec::cluster::{Cluster, by_name, preset_names};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{BytesPerSecond, Dollars};
use railwright_spec::run::{Field as _, Value};
use railwright_spec::run::{Run, Sheet};
use railwright_tuner::codesign::fabric::cluster_on;
use railwright_tuner::codesign::{
    Axes, Codesign, Found, Grid, Judging, NoPlan, Point, Progress, answer, best_first, judge, usual_domains,
    usual_speeds,
};
use railwright_tuner::flows::idle_nics;
use railwright_tuner::search::Options;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

const BAR: &str = "simulating {bar:30} {percent}%, {eta} left";

/// Keys of a design file that are varied, with their flags.
const VARIED: [(&str, &str); 6] = [
    ("kind", "--topologies"),
    ("gpus", "--gpus"),
    ("domain", "--domains"),
    ("speed", "--speeds"),
    ("leaf_oversubscription", "--oversubscriptions"),
    ("domain_bandwidth", "--scale-up-bandwidth"),
];

/// Designs networks. The outcome is `No` if the model fits on none.
pub(crate) fn run(arguments: &Design, printer: &Printer) -> Result<Outcome, Failure> {
    let path = arguments.output.output.as_deref();
    let is_picture =
        arguments.svg || path.is_some_and(|path| Path::new(path).extension().is_some_and(|e| e == "svg"));
    if !is_picture {
        check_format(&arguments.output)?;
    }
    let (open, usual) = on_usual_machine(&arguments.run)?;
    let asked = open_run::ask(&open)?;
    open_run::report_launch(&open, printer)?;
    let [setting] = asked.settings.as_slice() else {
        let several = asked.settings.len();
        let problem = Problem::new(format!("{several} clusters or cluster sizes, but only one is possible"));
        return Err(problem.in_file("--cluster").hint("pass one cluster and one device count").into());
    };
    let watched = printer.watched();
    let searcher = Searcher::new(arguments.effort.wanted(), &watched)?;
    let turn = |done: usize, all: usize| watched.label(format!("network {} of {all}: ", done + 1));
    let mut priced = priced(arguments, (&asked, setting), usual, (&searcher, &turn))?;
    let watching = printer.watching(BAR, "simulating");
    let judged = priced.judge(setting, false, &searcher, &|done, all| watching.advance(done, all));
    watching.finish();
    priced.is_complete &= judged.is_continue();
    priced.conclude();
    let next = priced.next(arguments, (&asked, setting));
    let Priced { codesign, chosen, is_complete, device_price, .. } = priced;
    let is_no = codesign.rows.iter().all(|row| row.step_time.is_none());
    printer.warnings(&codesign.warnings);
    let answer = Answered {
        title: title(&setting.run),
        codesign,
        shows_all: arguments.all,
        chosen,
        is_complete,
        device_price,
        years: arguments.years,
        next,
    };
    if is_picture {
        printer.data(&railwright_reports::network::design::picture(&answer), path)?;
    } else {
        printer.answer(&answer, &arguments.output)?;
    }
    Ok(match (is_complete, is_no) {
        (false, _) => Outcome::Interrupted,
        (true, true) => Outcome::No,
        (true, false) => Outcome::Yes,
    })
}

/// Networks with their plans, before any is simulated.
struct Priced {
    codesign: Codesign,
    found: Vec<Result<Found, NoPlan>>,
    routing: Option<Routing>,
    chosen: Vec<String>,
    is_complete: bool,
    device_price: String,
}

impl Priced {
    /// Simulates the networks that may be cheapest, or every one with a price.
    fn judge(
        &mut self,
        setting: &Setting,
        every_network: bool,
        searcher: &Searcher<'_>,
        watch: Progress<'_>,
    ) -> ControlFlow<()> {
        let (model, machine) = (&setting.run.model, &setting.run.cluster);
        let judging = Judging { model, machine, found: &self.found, routing: self.routing, every_network };
        judge(&mut self.codesign, &judging, searcher, watch)
    }

    /// Removes the recommendation after cancellation: omitted networks may be cheaper.
    fn conclude(&mut self) {
        if !self.is_complete {
            self.codesign.contenders.clear();
            self.codesign.rows.iter_mut().for_each(|row| row.cheapest_token = false);
        }
    }

    /// A command that simulates the cheapest network with its plan; `None` if the machine has other domains.
    fn next(&self, arguments: &Design, (asked, setting): (&Asked<'_>, &Setting)) -> Option<String> {
        let row = self.codesign.rows.get(*self.codesign.contenders.first()?)?;
        let found = self.found.get(row.class)?.as_ref().ok()?;
        if row.domain != setting.run.cluster.scale_up.domain_size {
            return None;
        }
        let mut cluster = cluster_on(&row.design, &setting.run.cluster).ok()?;
        // Faster NICs are those of the network alone: as the machine's own they would not be limited.
        let is_limited = idle_nics(&row.design, &setting.run.cluster).is_some();
        if is_limited {
            cluster.network.bandwidth = setting.run.cluster.network.bandwidth;
        }
        let estimate = asked.command(&setting.on_cluster(&cluster), &found.plan).ok()?;
        let run = estimate.strip_prefix("railwright estimate")?;
        let speed = row.speed.get() * 8.0 / 1e9;
        let flag = if is_limited {
            format!("--network speed={speed}G")
        } else {
            format!("--network-bandwidth {speed}Gbit/s")
        };
        let mut line = format!("railwright network simulate{run} --topology {} {flag}", row.topology.name());
        let own = row.topology.takes("leaf_oversubscription");
        let own = own.then(|| format!("leaf_oversubscription={}", row.oversubscription));
        for key in own.iter().chain(&arguments.keys) {
            line += " --network ";
            line += &quoted(key);
        }
        Some(line)
    }
}

/// Searches the plans of all networks, and their costs. `watch` receives the number of finished classes, and of all.
fn priced(
    arguments: &Design,
    (asked, setting): (&Asked<'_>, &Setting),
    usual: Option<String>,
    (searcher, watch): (&Searcher<'_>, &dyn Fn(usize, usize)),
) -> Result<Priced, Failure> {
    let prices = prices(&arguments.prices)?;
    let scale_up_prices = scale_up_prices(&arguments.scale_up_price)?;
    if !(arguments.years > 0.0 && arguments.years <= 1000.0) {
        let problem = Problem::new(format!("{} is not a number of years above 0", arguments.years));
        return Err(problem.in_file("--years").into());
    }
    let (axes, limits) = axes(arguments, &setting.run.cluster)?;
    let machine = &setting.run.cluster;
    let (specified, mut chosen) = network_plan(asked, setting);
    chosen.extend(limits);
    chosen.extend(usual);
    let space = searcher.space(setting, &specified, &[]).map_err(Failure::Input)?;
    let sends_to_all = space.sends_to_all(&setting.run.model);
    let mut grid = Grid::new(&axes, machine, sends_to_all, &prices).map_err(in_words)?;
    if let Some(text) = &arguments.budget {
        let budget = budget(text)?;
        let above = grid.within(budget, &scale_up_prices).map_err(|problem| problem.in_file("--budget"))?;
        chosen.extend(too_expensive(&above, budget, &scale_up_prices));
    }
    let mut classes = NetworkClasses::new(searcher, setting, &specified);
    // A plan that is invalid on every network is an input error, not a result.
    searcher.prepare(setting, &specified, Options::default()).map_err(Failure::Input)?;
    let all = grid.classes.len();
    let found = classes.plans(&grid.classes, &best_first(&grid.classes), &|done| watch(done, all))?;
    chosen.extend(classes.summary(all));
    let layouts = grid.classes.iter().zip(&found).map(|(cluster, found)| match found {
        Ok(found) => setting.on_cluster(cluster).short_layout(&found.plan),
        Err(_) => String::new(),
    });
    let layouts = layouts.collect();
    let is_complete = classes.is_complete();
    let site = on_run::site(&setting.run, &prices, arguments.years)?;
    let device_price = site.device_price.map_or_else(
        || {
            format!(
                "{} has no price; add `device,{},<usd>` to a file for --prices",
                site.accelerator, site.accelerator
            )
        },
        |price| {
            format!("{} at {} each ({})", site.accelerator, human::dollars(price), site.device_price_source)
        },
    );
    let mut codesign = answer(grid, &found, layouts, &site, scale_up_prices, machine.scale_up.domain_size);
    for row in &codesign.rows {
        let warning = idle_nics(&row.design, machine);
        codesign.warnings.extend(warning.filter(|warning| !codesign.warnings.contains(warning)));
    }
    Ok(Priced { codesign, found, routing: axes.base.routing, chosen, is_complete, device_price })
}

/// Networks above the budget, in words.
fn too_expensive(
    above: &[Point],
    budget: Dollars,
    scale_up_prices: &BTreeMap<u64, Dollars>,
) -> Option<String> {
    let prices = above.iter().map(|point| point.price(scale_up_prices));
    let least = prices.min_by(|a, b| a.get().total_cmp(&b.get()))?;
    Some(format!(
        "{} networks above {} are excluded; the cheapest of them costs {}",
        human::whole(above.len() as u64),
        human::dollars(budget),
        human::dollars(least)
    ))
}

/// The run with a machine, and the defaults chosen.
fn on_usual_machine(run: &OpenRun) -> Result<(OpenRun, Option<String>), Problem> {
    let mut run = run.clone();
    let sets_cluster = |path: &str| {
        path.starts_with("cluster.") && !["cluster.devices", "cluster.calibration"].contains(&path)
    };
    let has_machine = !run.cluster.is_empty()
        || run.run.is_some()
        || crate::run::convention::has_cluster()
        || run.flags.settings.iter().any(|(_, path, _)| sets_cluster(path))
        || run.set.iter().any(|text| sets_cluster(text.split('=').next().unwrap_or_default().trim()));
    if has_machine {
        return Ok((run, None));
    }
    let set = run.set.iter().filter_map(|text| text.split_once('='));
    let flags = run.flags.settings.iter().map(|(_, path, value)| (path.as_str(), value.as_str()));
    let all = set.map(|(key, value)| (key.trim(), value.trim())).chain(flags);
    let calibration =
        all.filter(|(path, _)| *path == "cluster.calibration").map(|(_, value)| value.to_owned()).next_back();
    let (machine, why) = match calibration {
        // A calibration applies to one accelerator only.
        Some(file) => {
            let file = file.trim_matches('"');
            let accelerator = Calibration::parse(&input::read(file, CONFIG_LIMIT)?, file)?.accelerator;
            (of_accelerator(&accelerator), ", from the calibration")
        }
        None => (USUAL_CLUSTER.to_owned(), ""),
    };
    run.cluster.push(machine.clone());
    Ok((run, Some(format!("cluster {machine}{why}"))))
}

/// A preset with an accelerator, the default machine first; the accelerator itself without a preset.
fn of_accelerator(accelerator: &str) -> String {
    let has_it = |name: &&str| by_name(name, 8).is_ok_and(|cluster| cluster.accelerator.id == accelerator);
    std::iter::once(USUAL_CLUSTER).chain(preset_names()).find(has_it).unwrap_or(accelerator).to_owned()
}

fn title(run: &Run) -> String {
    format!("{} on {} x {}", run.model.name, human::whole(run.cluster.devices), run.cluster.accelerator.name)
}

/// The varied settings, and the usual values that are left out with the reason.
fn axes(arguments: &Design, machine: &Cluster) -> Result<(Axes, Vec<String>), Problem> {
    let mut sheet = Sheet::<DesignSpec>::default();
    for text in &arguments.keys {
        let Some((key, value)) = text.split_once('=') else {
            let problem = Problem::new(format!("`{}` sets no key", human::shorten(text)));
            return Err(problem.in_file("--network").hint("write `radix=128`"));
        };
        let key = key.trim().replace('-', "_");
        if let Some((_, flag)) = VARIED.iter().find(|(name, _)| *name == key) {
            let problem = Problem::new(format!("`{key}` is set by {flag}"));
            return Err(problem.in_file("--network"));
        }
        sheet.set_flag("--network", &key, &spelled_out(&key, value.trim()))?;
    }
    let mut base = sheet.spec;
    base.devices = Some(machine.devices);
    base.server = base.server.or(Some(machine.devices_per_node));
    base.domain_bandwidth = Some(machine.domain_bandwidth());
    let mut limits = Vec::new();
    let mut speeds: Vec<BytesPerSecond> = arguments
        .speeds
        .iter()
        .map(|text| {
            let read = BytesPerSecond::read(&Value::Text(spelled_out("speed", text)));
            match read {
                Ok(speed) if speed.get() > 0.0 && speed.get() <= 1e15 => Ok(speed),
                Ok(_) => {
                    Err(Problem::new(format!("the NIC speed `{}` is not above 0", human::shorten(text)))
                        .in_file("--speeds")
                        .hint("use `400G` or \"400 Gbit/s\""))
                }
                Err(problem) => Err(Problem::new(problem.message)
                    .in_file("--speeds")
                    .hint("use `400G` or \"400 Gbit/s\"")),
            }
        })
        .collect::<Result<_, _>>()?;
    if speeds.is_empty() {
        let usual = usual_speeds(machine);
        if !usual.left_out.is_empty() {
            limits.push(format!(
                "no NICs of {}, because a device uses at most {:.0} Gbit/s",
                usual.left_out.iter().map(|speed| gigabits(*speed)).collect::<Vec<_>>().join(", "),
                machine.device_limit().get() * 8.0 / 1e9
            ));
        }
        speeds = usual.values;
    }
    if let Some(bad) = arguments.oversubscriptions.iter().find(|o| !(0.1..=1e4).contains(*o)) {
        let problem = Problem::new(format!("the oversubscription {bad} is not between 0.1 and 10,000"));
        return Err(problem.in_file("--oversubscriptions"));
    }
    let domains = if arguments.domains.is_empty() {
        let usual = usual_domains(machine);
        if !usual.left_out.is_empty() {
            let sizes = usual.left_out.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            let devices = human::whole(machine.devices);
            limits.push(format!("no domains of {sizes}, because {devices} devices are not a multiple"));
        }
        usual.values
    } else {
        arguments.domains.clone()
    };
    if let Some(bad) = domains.iter().find(|d| **d == 0 || !machine.devices.is_multiple_of(**d)) {
        let message =
            format!("{} devices are not a multiple of the domain size {bad}", human::whole(machine.devices));
        return Err(Problem::new(message)
            .in_file("--domains")
            .hint("use sizes that divide the device count"));
    }
    let kinds = arguments
        .topologies
        .iter()
        .map(|word| kind(word.trim()).map_err(|problem| problem.in_file("--topologies")))
        .collect::<Result<_, _>>()?;
    Ok((
        Axes { domains, kinds, oversubscriptions: arguments.oversubscriptions.clone(), speeds, base },
        limits,
    ))
}

/// A problem of all designs, in the flags of this command.
fn in_words(mut problem: Problem) -> Problem {
    let words = |text: &str| {
        let text = text.replace("design.kind", "--topologies").replace("design.gpus", "--gpus");
        let text = text.replace("design.domain_", "--network domain_").replace("design.domain", "--domains");
        text.replace("design.speed", "--speeds").replace("design.", "--network ")
    };
    problem.message = words(&problem.message);
    problem.hint = problem.hint.as_deref().map(words);
    if let Some(place) = problem.place.as_deref_mut()
        && place.file.is_empty()
        && let Some(key) = place.key.take()
    {
        place.file = words(&key);
    }
    problem
}
