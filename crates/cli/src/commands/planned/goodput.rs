//! `goodput`: share of the calendar time with training progress, with failures, checkpoints and restarts.

pub(crate) mod job;

use crate::args::goodput::Goodput as Arguments;
use crate::commands::planned::goodput::job::{Job, read, time};
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::input::networks::RATES_LIMIT;
use crate::printer::Printer;
use railwright_calculator::goodput::answer::{Question, goodput};
use railwright_calculator::goodput::rates::{Component, Counts};
use railwright_calculator::money::device_price;
use railwright_reports::goodput::Answered;
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Dollars;
use railwright_spec::run::Disruptions;
use railwright_tuner::disruptions_of;

/// Computes the goodput of a job.
pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<Outcome, Failure> {
    let Job { cluster, checkpoint, stall, disruptions: disruptions_of_run, price: own_price, mut chosen } =
        Job::of(arguments)?;
    let devices = cluster.devices;
    let hosts = devices.div_ceil(cluster.devices_per_node.max(1));
    let nics = arguments.nics.unwrap_or_else(|| {
        chosen.push("one NIC per GPU".to_owned());
        devices
    });
    let mut price = arguments.price_per_device_hour;
    if let Some(price) = price.filter(|price| !(*price > 0.0 && *price <= 1e6)) {
        let message = format!("expected more than $0 and at most $1,000,000, found {price}");
        return Err(Problem::new(message).in_file("--price-per-device-hour").into());
    }
    price = price.or(own_price.map(Dollars::get));
    if let (None, Some(known)) = (price, device_price(&cluster, None)) {
        price = Some(known.amount.get());
        chosen.push(format!("{} per GPU-hour ({})", human::dollars(known.amount), known.source));
    }
    let optional =
        |flag: &str, text: &Option<String>| text.as_deref().map(|text| time(flag, text)).transpose();
    let repair = optional("--repair-time", &arguments.repair_time)?;
    let question = Question {
        counts: Counts { devices, hosts, nics },
        mtbf: optional("--mtbf", &arguments.mtbf)?,
        specified: arguments.component_mtbf.iter().map(|text| component(text)).collect::<Result<_, _>>()?,
        checkpoint,
        stall: optional("--checkpoint-stall", &arguments.checkpoint_stall)?.or(stall),
        interval: optional("--interval", &arguments.interval)?,
        detection: optional("--detection-time", &arguments.detection_time)?,
        restart: optional("--restart-time", &arguments.restart_time)?,
        spares: arguments.spares.zip(repair),
        slow: arguments.slow_share.zip(arguments.slow_factor),
        disruptions: disruptions(arguments, &cluster, disruptions_of_run)?,
        price: price.map(Dollars::new),
    };
    let answer = goodput(&question)?;
    if !answer.published.is_empty() && !cluster.accelerator.id.starts_with("h100") {
        chosen.push(format!(
            "failure rates of H100 hosts, because those of {} are unknown",
            cluster.accelerator.name
        ));
    }
    let answered = Answered { machine: cluster.accelerator.name, chosen, answer };
    printer.answer(&answered, &arguments.output)?;
    Ok(Outcome::Yes)
}

/// Flaps and slow parts of the tables of `--rates`, else of the run.
fn disruptions(
    arguments: &Arguments,
    cluster: &Cluster,
    of_run: Option<Disruptions>,
) -> Result<Option<Disruptions>, Failure> {
    let table = |path: &String| Ok::<_, Failure>((input::read(path, RATES_LIMIT)?, path.clone()));
    let tables = arguments.rates.iter().map(table).collect::<Result<Vec<_>, _>>()?;
    let given = if tables.is_empty() { of_run } else { Some(disruptions_of(cluster, &tables)?) };
    Ok(given.map(|each| each.of(cluster.devices)))
}

/// `gpu=80000`: a component and hours between its failures.
fn component(text: &str) -> Result<(Component, f64), Problem> {
    let refused = |message: String| Problem::new(message).in_file("--component-mtbf");
    let Some((name, hours)) = text.split_once('=') else {
        let message = format!("`{}` has no `=`", human::shorten(text));
        return Err(refused(message).hint("write a component and its hours, as in `gpu=80000`"));
    };
    let component: Component =
        read("--component-mtbf", name, "write `gpu`, `host`, `nic`, `network` or `software`")?;
    let Ok(hours) = hours.trim().parse::<f64>() else {
        return Err(refused(format!("`{}` is not a number of hours", human::shorten(hours))));
    };
    Ok((component, hours))
}
