//! `network cost`: bills of several designs side by side.

use crate::args::network::Cost;
use crate::commands::planned::stage_memory;
use crate::exit::{Failure, Outcome};
use crate::input::Disk;
use crate::input::networks::{design, on_run, prices};
use crate::printer::Printer;
use railwright_answers::{outages, placed_in_flags};
use railwright_calculator::money::electricity_price;
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

/// Compares designs by cost.
pub(crate) fn run(arguments: &Cost, printer: &Printer) -> Result<Outcome, Failure> {
    let prices = prices(&arguments.prices)?;
    let read = arguments.run.as_deref().map(|path| on_run::read(path, &arguments.set)).transpose()?;
    let run = read.as_ref().map(|(run, _)| run);
    let failing = read.as_ref().map(|(run, spec)| outages(run, spec, &Disk)).transpose()?;
    run.iter().try_for_each(|run| stage_memory::warn(run, printer).map(drop))?;
    let mut specs = Vec::new();
    let mut sheets = Vec::new();
    for word in &arguments.designs {
        let mut sheet = design(Some(word.trim()), &arguments.flags.settings)?;
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
        Some(run) => of_run(arguments, run, &prices)?,
        None => cluster(arguments, &prices, &specs)?,
    };
    let mut comparison = compare(&specs, &prices, &cluster).map_err(|problem| match sheets.first() {
        Some(sheet) => placed_in_flags(sheet, problem),
        None => problem,
    })?;
    let mut refused = Vec::new();
    if let (Some(run), Some(outages)) = (run, &failing) {
        let watching = printer.watching(BAR, "simulating");
        for entry in &mut comparison.entries {
            let sheet = sheets.iter().find(|sheet| sheet.spec.title() == entry.name);
            if let Some(sheet) = sheet {
                on_run::check(sheet, &entry.design, run)?;
            }
            let step =
                on_run::step(&entry.design, (run, outages), &mut |done, all| watching.advance(done, all));
            if watching.is_stopped() {
                watching.finish();
                return printer.stopped(Problem::new("stopped while simulating the run on the designs"));
            }
            match step {
                Ok(step) => entry.set_step(step, &cluster),
                Err(problem) => refused.push(Refused { name: entry.name.clone(), problem }),
            }
        }
        watching.finish();
    }
    let grown = arguments.grow_to.map(|devices| grown(&comparison, &specs, devices, &prices)).transpose()?;
    let answer = Compared {
        comparison,
        refused,
        grown,
        cluster,
        with_lines: arguments.lines,
        run: arguments.run.clone(),
    };
    printer.answer(&answer, &arguments.output)?;
    Ok(Outcome::Yes)
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
fn of_run(arguments: &Cost, run: &Run, prices: &Prices) -> Result<Cluster, Problem> {
    if arguments.accelerator.is_some() {
        let problem = Problem::new("the run already sets the accelerator").in_file("--accelerator");
        return Err(problem.hint("omit it, or pass `--set cluster.accelerator=...`"));
    }
    let mut cluster = railwright_answers::site(run, prices, positive("--years", arguments.years)?)?;
    if let Some(price) = arguments.electricity_price {
        cluster.electricity_price = Dollars::new(positive("--electricity-price", price)?);
    }
    Ok(cluster)
}

/// The accelerator that was named, else the first of the catalogue with a price and with scale-up domains of the designs' size.
fn device(arguments: &Cost, prices: &Prices, specs: &[DesignSpec]) -> Result<Option<Accelerator>, Problem> {
    if let Some(name) = &arguments.accelerator {
        return accelerator_by_name(name).map(Some).map_err(|problem| problem.in_file("--accelerator"));
    }
    let mut of_network = specs.iter().filter(|spec| spec.kind != Some(Kind::ScaleUp));
    let Some(design) = of_network.find_map(|spec| spec.resolve().ok()) else { return Ok(None) };
    let fits =
        |one: &Accelerator| one.scale_up_domain == design.domain.size && prices.device(&one.id).is_some();
    Ok(accelerators().into_iter().find(fits))
}

fn cluster(arguments: &Cost, prices: &Prices, specs: &[DesignSpec]) -> Result<Cluster, Problem> {
    let accelerator = device(arguments, prices, specs)?;
    let price = accelerator.as_ref().and_then(|one| prices.device(&one.id));
    let electricity_price = match arguments.electricity_price {
        Some(price) => Dollars::new(positive("--electricity-price", price)?),
        None => electricity_price().amount,
    };
    let tokens = arguments.tokens_per_second.map(|rate| positive("--tokens-per-second", rate));
    Ok(Cluster {
        device_power: accelerator.as_ref().and_then(|one| one.power),
        accelerator: accelerator.map_or_else(String::new, |one| one.id),
        device_price: price.map(|price| price.dollars),
        device_price_source: price
            .map_or_else(String::new, |price| format!("{}: {}", price.date, price.dollars_source)),
        host_power: Watts::ZERO,
        years: positive("--years", arguments.years)?,
        electricity_price,
        power_usage_effectiveness: POWER_USAGE_EFFECTIVENESS,
        tokens_per_second: tokens.transpose()?,
        tokens: None,
        availability: 1.0,
    })
}
