//! `goodput`: share of the calendar time with training progress, with failures, checkpoints and restarts.
//!
//! Responsible for: machine, GPUs and checkpoint of the job. Options override the run.

mod asked;
mod job;

use crate::front::Ended;
use crate::relation::needs;
pub use asked::{Checkpoints, Goodput};
use job::{Job, read, time};
use railwright_calculator::goodput::answer::{Question, goodput as of_job};
use railwright_calculator::goodput::rates::{Component, Counts};
use railwright_calculator::money::device_price;
use railwright_inputs as input;
use railwright_inputs::networks::RATES_LIMIT;
use railwright_reports::goodput::Answered;
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Dollars;
use railwright_spec::run::Disruptions;
use railwright_tuner::disruptions_of;

/// Computes the goodput of a job.
///
/// # Errors
///
/// A run, a table or a setting that is invalid.
pub fn goodput(request: &Goodput) -> Result<Answered, Ended> {
    for (setting, needed) in [
        (
            ("--checkpoint-bytes", request.checkpoints.bytes.is_some()),
            ("--storage-bandwidth", request.checkpoints.bandwidth.is_some()),
        ),
        (("--spares", request.spares.is_some()), ("--repair-time", request.repair_time.is_some())),
        (("--repair-time", request.repair_time.is_some()), ("--spares", request.spares.is_some())),
        (("--slow-share", request.slow_share.is_some()), ("--slow-factor", request.slow_factor.is_some())),
        (("--slow-factor", request.slow_factor.is_some()), ("--slow-share", request.slow_share.is_some())),
    ] {
        needs(setting, needed)?;
    }
    let Job { cluster, checkpoint, stall, disruptions: disruptions_of_run, price: own_price, mut chosen } =
        Job::of(request)?;
    let devices = cluster.devices;
    let hosts = devices.div_ceil(cluster.devices_per_node.max(1));
    let nics = request.nics.unwrap_or_else(|| {
        chosen.push("one NIC per GPU".to_owned());
        devices
    });
    let mut price = request.price_per_device_hour;
    if let Some(price) = price.filter(|price| !(*price > 0.0 && *price <= 1e6)) {
        let message = format!("expected more than $0 and at most $1,000,000, found {}", human::exact(price));
        return Err(Problem::new(message).in_file("--price-per-device-hour").into());
    }
    price = price.or(own_price.map(Dollars::get));
    if let (None, Some(known)) = (price, device_price(&cluster, None)) {
        price = Some(known.amount.get());
        chosen.push(format!("{} per GPU-hour ({})", human::dollars(known.amount), known.source));
    }
    let optional =
        |flag: &str, text: &Option<String>| text.as_deref().map(|text| time(flag, text)).transpose();
    let repair = optional("--repair-time", &request.repair_time)?;
    let question = Question {
        counts: Counts { devices, hosts, nics },
        mtbf: optional("--mtbf", &request.mtbf)?,
        specified: request.component_mtbf.iter().map(|text| component(text)).collect::<Result<_, _>>()?,
        checkpoint,
        stall: optional("--checkpoint-stall", &request.checkpoints.stall)?.or(stall),
        interval: optional("--interval", &request.checkpoints.interval)?,
        detection: optional("--detection-time", &request.detection_time)?,
        restart: optional("--restart-time", &request.restart_time)?,
        spares: request.spares.zip(repair),
        slow: request.slow_share.zip(request.slow_factor),
        disruptions: disruptions(request, &cluster, disruptions_of_run)?,
        price: price.map(Dollars::new),
    };
    let answer = of_job(&question)?;
    if !answer.published.is_empty() && !cluster.accelerator.id.starts_with("h100") {
        chosen.push(format!(
            "failure rates of H100 hosts, because those of {} are unknown",
            cluster.accelerator.name
        ));
    }
    Ok(Answered { machine: cluster.accelerator.name, chosen, answer })
}

/// Flaps and slow parts of the tables of `--rates`, else of the run.
fn disruptions(
    request: &Goodput,
    cluster: &Cluster,
    of_run: Option<Disruptions>,
) -> Result<Option<Disruptions>, Ended> {
    let table = |path: &String| Ok::<_, Ended>((input::read(path, RATES_LIMIT)?, path.clone()));
    let tables = request.rates.iter().map(table).collect::<Result<Vec<_>, _>>()?;
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
