//! Networks and strategies together: the given axes, the plans of all networks, and the networks that are
//! simulated.
//!
//! Responsible for: settings of the axes, and the order of the work. Prices and times are those of the tuner
//! and network crates.

use crate::Texts;
use crate::network_classes::NetworkClasses;
use crate::network_question::{gigabits, kind_of_network, network_plan, scale_up_prices, spelled_out};
use crate::outages::outages;
use crate::question::Question;
use crate::refused::Refused;
use crate::searcher::Searcher;
use crate::setting::{Setting, quoted};
use crate::size::budget;
use railwright_network::bill::prices::Prices;
use railwright_network::bill::share::Cluster as Site;
use railwright_network::topology::{DesignSpec, Routing};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{BytesPerSecond, Dollars};
use railwright_spec::run::{Field as _, Run, Sheet, Value};
use railwright_tuner::codesign::fabric::cluster_on;
use railwright_tuner::codesign::{
    Axes, Codesign, Found, Grid, NoPlan, Point, Progress, SecondRound, answer, best_first, judge,
    usual_domains, usual_speeds,
};
use railwright_tuner::flows::idle_nics;
use railwright_tuner::search::Options;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Axes of the networks, as typed.
#[derive(Clone, Debug)]
pub struct NetworkQuestion {
    /// Sizes of scale-up domains.
    pub domains: Vec<u64>,
    /// Topologies.
    pub topologies: Vec<String>,
    /// Leaf oversubscription ratios.
    pub oversubscriptions: Vec<f64>,
    /// NIC bandwidths.
    pub speeds: Vec<String>,
    /// Settings of all designs as `key=value`.
    pub keys: Vec<String>,
    /// Prices of parts.
    pub prices: Prices,
    /// Prices and power of larger scale-up domains.
    pub scale_up_price: Vec<String>,
    /// Maximum price of a network.
    pub budget: Option<String>,
    /// Years of use.
    pub years: f64,
}

/// Keys of a design file that are varied, with their flags.
const VARIED: [(&str, &str); 6] = [
    ("kind", "--topologies"),
    ("gpus", "--gpus"),
    ("domain", "--domains"),
    ("speed", "--speeds"),
    ("leaf_oversubscription", "--oversubscriptions"),
    ("domain_bandwidth", "--scale-up-bandwidth"),
];

/// Networks with their plans, before any is simulated.
pub struct Priced {
    /// Networks with their plans and costs.
    pub codesign: Codesign,
    /// Plans of the classes of networks.
    pub found: Vec<Result<Found, NoPlan>>,
    routing: Option<Routing>,
    /// Settings that were not specified.
    pub chosen: Vec<String>,
    /// False after a cancellation.
    pub is_complete: bool,
    /// Price of a device, or the reason why there is none.
    pub device_price: String,
}

impl Priced {
    /// Simulates the networks that may be cheapest, or every one with a price.
    pub fn judge(
        &mut self,
        setting: &Setting,
        every_network: bool,
        searcher: &Searcher<'_>,
        watch: Progress<'_>,
    ) -> ControlFlow<()> {
        let (model, machine) = (&setting.run.model, &setting.run.cluster);
        let judging =
            SecondRound { model, machine, found: &self.found, routing: self.routing, every_network };
        judge(&mut self.codesign, &judging, searcher, watch)
    }

    /// Removes the recommendation after cancellation: omitted networks may be cheaper.
    pub fn conclude(&mut self) {
        if !self.is_complete {
            self.codesign.contenders.clear();
            self.codesign.rows.iter_mut().for_each(|row| row.cheapest_token = false);
        }
    }

    /// A command that simulates the cheapest network with its plan; `None` if the machine has other domains.
    pub fn next(
        &self,
        arguments: &NetworkQuestion,
        (asked, setting): (&dyn Question, &Setting),
    ) -> Option<String> {
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

/// Searches the plans of all networks, and their costs. `watch` receives the numbers of finished and
/// of all classes.
pub fn priced(
    arguments: &NetworkQuestion,
    (asked, setting): (&dyn Question, &Setting),
    usual: Option<String>,
    (searcher, watch): (&Searcher<'_>, &dyn Fn(usize, usize)),
    texts: &dyn Texts,
) -> Result<Priced, Refused> {
    let prices = &arguments.prices;
    let scale_up = scale_up_prices(&arguments.scale_up_price)?;
    if !(arguments.years > 0.0 && arguments.years <= 1000.0) {
        let problem = Problem::new(format!("{} is not a number of years above 0", arguments.years));
        return Err(problem.in_file("--years").into());
    }
    let (axes, limits) = axes(arguments, &setting.run.cluster)?;
    let machine = &setting.run.cluster;
    let (specified, mut chosen) = network_plan(asked, setting);
    chosen.extend(limits);
    chosen.extend(usual);
    let space = searcher.space(setting, &specified, &[]).map_err(Refused)?;
    for default in &space.chosen {
        if !chosen.contains(default) {
            chosen.push(default.clone());
        }
    }
    let sends_to_all = space.sends_to_all(&setting.run.model);
    let mut grid = Grid::new(&axes, machine, sends_to_all, prices).map_err(in_words)?;
    if let Some(text) = &arguments.budget {
        let budget = budget(text)?;
        let above = grid.within(budget, &scale_up.prices).map_err(|problem| problem.in_file("--budget"))?;
        chosen.extend(too_expensive(&above, budget, &scale_up.prices));
    }
    let mut classes = NetworkClasses::new(searcher, setting, &specified);
    // A plan that is invalid on every network is an input error, not a result.
    searcher.prepare(setting, &specified, Options::default()).map_err(Refused)?;
    let all = grid.classes.len();
    let found = classes.plans(&grid.classes, &best_first(&grid.classes), &|done| watch(done, all))?;
    chosen.extend(classes.summary(all));
    let layout = |cluster: &Cluster, found: &Found| {
        let setting = setting.on_cluster(cluster);
        [setting.short_layout(&found.plan), setting.layout(&found.plan)]
    };
    let classes_found = grid.classes.iter().zip(&found);
    let layouts = classes_found.map(|(cluster, found)| found.as_ref().map(|found| layout(cluster, found)));
    let layouts = layouts.map(Result::unwrap_or_default).collect();
    let is_complete = classes.is_complete();
    let site = site(&setting.run, prices, arguments.years)?;
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
    let outages = outages(&setting.run, &setting.spec, texts)?;
    let domain = machine.scale_up.domain_size;
    let mut codesign = answer(grid, &found, layouts, (&site, Some(&outages)), scale_up, domain);
    if let Some(lost) = codesign.lost() {
        let [least, most] = lost.map(human::percent);
        let range = if least == most { format!("at most {most}") } else { format!("{least} to {most}") };
        chosen.push(format!("failures of each network at published rates ({range} of the time)"));
    }
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

/// The varied settings, and the usual values that are left out with the reason.
fn axes(arguments: &NetworkQuestion, machine: &Cluster) -> Result<(Axes, Vec<String>), Problem> {
    let mut sheet = Sheet::<DesignSpec>::default();
    for text in &arguments.keys {
        let Some((key, value)) = text.split_once('=') else {
            let problem = Problem::new(format!("`{}` has no `=`", human::shorten(text)));
            return Err(problem.in_file("--network").hint("write `radix=128`"));
        };
        let key = key.trim().replace('-', "_");
        if let Some((_, flag)) = VARIED.iter().find(|(name, _)| *name == key) {
            let problem = Problem::new(format!("`{key}` is already set by {flag}"));
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
                "NICs of {} are excluded, because a device uses at most {:.0} Gbit/s",
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
            limits.push(format!(
                "domains of {sizes} are excluded, because {devices} devices are not a multiple of \
            them"
            ));
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
        .map(|word| kind_of_network(word.trim()).map_err(|problem| problem.in_file("--topologies")))
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

/// Cost and power of the rest of the cluster of a run.
pub fn site(run: &Run, prices: &Prices, years: f64) -> Result<Site, Problem> {
    let cluster = &run.cluster;
    let price = prices.device(&cluster.accelerator.id);
    let electricity = run.cost.electricity_price;
    Ok(Site {
        accelerator: cluster.accelerator.id.clone(),
        device_price: price.map(|price| price.dollars),
        device_price_source: price.map(|p| format!("{}: {}", p.date, p.dollars_source)).unwrap_or_default(),
        device_power: cluster.accelerator.power.map(|power| power * run.cost.power_share),
        host_power: cluster.host.power_per_device,
        years,
        electricity_price: electricity
            .unwrap_or_else(|| railwright_calculator::money::electricity_price().amount),
        power_usage_effectiveness: cluster.host.power_usage_effectiveness,
        tokens_per_second: None,
        tokens: run.training.tokens,
        availability: railwright_calculator::goodput::run::availability(run)?.share,
    })
}
