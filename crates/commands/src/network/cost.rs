//! `network cost`: bills of several designs side by side.

use crate::fit::warn_of_fit;
use crate::front::{Ended, Front};
use crate::relation::{needs, within};
use railwright_answers::{outages, placed_in_flags};
use railwright_calculator::money::electricity_price;
use railwright_inputs::Disk;
use railwright_inputs::networks::{design, on_run, prices};
use railwright_network::bill::compare::{Comparison, Refused, compare};
use railwright_network::bill::prices::Prices;
use railwright_network::bill::share::Cluster;
use railwright_network::topology::{DesignSpec, Kind};
use railwright_reports::network::cost::Compared;
use railwright_reports::network::cost::growth::Grown;
use railwright_spec::cluster::{Accelerator, accelerator_by_name, accelerators};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Dollars, Watts};
use railwright_spec::run::Run;

/// Default facility power over machine power (PUE).
const POWER_USAGE_EFFECTIVENESS: f64 = 1.25;

const BAR: &str = "simulating {bar:30} {percent}%, {eta} left";

/// Designs to compare by cost.
#[derive(Clone, Debug)]
pub struct Cost {
    /// Topologies or design files; the first is the baseline.
    pub designs: Vec<String>,
    /// Settings of a design: the flag, the key, the value.
    pub settings: Vec<(String, &'static str, String)>,
    /// Price lists.
    pub prices: Vec<String>,
    /// The accelerator.
    pub accelerator: Option<String>,
    /// Throughput of the cluster.
    pub tokens_per_second: Option<f64>,
    /// A run file.
    pub run: Option<String>,
    /// Settings of the run as `key=value`.
    pub set: Vec<String>,
    /// Depreciation period in years.
    pub years: f64,
    /// Electricity price in dollars per kWh.
    pub electricity_price: Option<f64>,
    /// Devices of a later, larger network.
    pub grow_to: Option<u64>,
    /// True to show all lines of all bills.
    pub lines: bool,
}

impl Cost {
    /// Designs if none are named.
    pub const DESIGNS: &str = "clos,rail-optimized,trimmed,rail-only,dual-plane,dragonfly";
    /// Depreciation period in years if not set.
    pub const YEARS: f64 = 4.0;
}

/// Compares designs by cost.
///
/// # Errors
///
/// Designs, prices or a run that do not exist, and cancellation.
pub fn cost(request: &Cost, front: &dyn Front) -> Result<Compared, Ended> {
    needs(("--set", !request.set.is_empty()), ("--run", request.run.is_some()))?;
    request.grow_to.map(|devices| within("--grow-to", devices, 1..=u64::MAX)).transpose()?;
    let prices = prices(&request.prices)?;
    let read = request.run.as_deref().map(|path| on_run::read(path, &request.set)).transpose()?;
    let run = read.as_ref().map(|(run, _)| run);
    let failing = read.as_ref().map(|(run, spec)| outages(run, spec, &Disk)).transpose()?;
    run.iter().try_for_each(|run| warn_of_fit(run, front).map(drop))?;
    let mut specs = Vec::new();
    let mut sheets = Vec::new();
    for word in &request.designs {
        let mut sheet = design(Some(word.trim()), &request.settings)?;
        if let Some(run) = run {
            on_run::fill(&mut sheet, run);
        }
        if sheet.spec.kind == Some(Kind::ScaleUp) {
            // The ideal is one domain, for any domain size of the other designs.
            sheet.spec.domain = None;
        }
        specs.push(sheet.spec.clone());
        sheets.push(sheet);
    }
    let cluster = match run {
        Some(run) => of_run(request, run, &prices)?,
        None => cluster(request, &prices, &specs)?,
    };
    let mut comparison = compare(&specs, &prices, &cluster).map_err(|problem| match sheets.first() {
        Some(sheet) => placed_in_flags(sheet, problem),
        None => problem,
    })?;
    let mut refused = Vec::new();
    if let (Some(run), Some(outages)) = (run, &failing) {
        let watching = front.work(BAR, "simulating");
        for entry in &mut comparison.entries {
            let sheet = sheets.iter().find(|sheet| sheet.spec.title() == entry.name);
            if let Some(sheet) = sheet {
                on_run::check(sheet, &entry.design, run)?;
            }
            let step =
                on_run::step(&entry.design, (run, outages), &mut |done, all| watching.advance(done, all));
            if watching.is_stopped() {
                watching.finish();
                return Err(Ended::Stopped(Problem::new("stopped while simulating the run on the designs")));
            }
            match step {
                Ok(step) => entry.set_step(step, &cluster),
                Err(problem) => refused.push(Refused { name: entry.name.clone(), problem }),
            }
        }
        watching.finish();
    }
    let grown = request.grow_to.map(|devices| grown(&comparison, &specs, devices, &prices)).transpose()?;
    Ok(Compared { comparison, refused, grown, cluster, with_lines: request.lines, run: request.run.clone() })
}

/// The designs at a number of devices above that of all of them.
fn grown(
    comparison: &Comparison,
    specs: &[DesignSpec],
    devices: u64,
    prices: &Prices,
) -> Result<Grown, Problem> {
    let today = comparison.entries.iter().map(|entry| entry.design.devices).max().unwrap_or(0);
    if devices <= today {
        let message = format!(
            "{} devices are not more than the initial {}",
            human::whole(devices),
            human::whole(today)
        );
        return Err(Problem::new(message)
            .in_file("--grow-to")
            .hint("pass the number of devices of the larger network; --gpus sets the initial number"));
    }
    Ok(Grown::of(comparison, specs, devices, prices))
}

fn positive(flag: &str, value: f64) -> Result<f64, Problem> {
    if value.is_finite() && value > 0.0 && value < 1e15 {
        return Ok(value);
    }
    Err(Problem::new(format!("{value} is not a number above 0")).in_file(flag))
}

/// The cluster of a run, with price overrides of flags.
fn of_run(request: &Cost, run: &Run, prices: &Prices) -> Result<Cluster, Problem> {
    if request.accelerator.is_some() {
        let problem = Problem::new("the run already sets the accelerator").in_file("--accelerator");
        return Err(problem.hint("omit it, or pass `--set cluster.accelerator=...`"));
    }
    let mut cluster = railwright_answers::site(run, prices, positive("--years", request.years)?)?;
    if let Some(price) = request.electricity_price {
        cluster.electricity_price = Dollars::new(positive("--electricity-price", price)?);
    }
    Ok(cluster)
}

/// The accelerator that was named, else the first of the catalogue with a price and with scale-up domains of
/// the designs' size.
fn device(request: &Cost, prices: &Prices, specs: &[DesignSpec]) -> Result<Option<Accelerator>, Problem> {
    if let Some(name) = &request.accelerator {
        return accelerator_by_name(name).map(Some).map_err(|problem| problem.in_file("--accelerator"));
    }
    let mut of_network = specs.iter().filter(|spec| spec.kind != Some(Kind::ScaleUp));
    let Some(design) = of_network.find_map(|spec| spec.resolve().ok()) else { return Ok(None) };
    let fits =
        |one: &Accelerator| one.scale_up_domain == design.domain.size && prices.device(&one.id).is_some();
    Ok(accelerators().into_iter().find(fits))
}

fn cluster(request: &Cost, prices: &Prices, specs: &[DesignSpec]) -> Result<Cluster, Problem> {
    let accelerator = device(request, prices, specs)?;
    let price = accelerator.as_ref().and_then(|one| prices.device(&one.id));
    let electricity_price = match request.electricity_price {
        Some(price) => Dollars::new(positive("--electricity-price", price)?),
        None => electricity_price().amount,
    };
    let tokens = request.tokens_per_second.map(|rate| positive("--tokens-per-second", rate));
    Ok(Cluster {
        device_power: accelerator.as_ref().and_then(|one| one.power),
        accelerator: accelerator.map_or_else(String::new, |one| one.id),
        device_price: price.map(|price| price.dollars),
        device_price_source: price
            .map_or_else(String::new, |price| format!("{}: {}", price.date, price.dollars_source)),
        host_power: Watts::ZERO,
        years: positive("--years", request.years)?,
        electricity_price,
        power_usage_effectiveness: POWER_USAGE_EFFECTIVENESS,
        tokens_per_second: tokens.transpose()?,
        tokens: None,
        availability: 1.0,
    })
}
