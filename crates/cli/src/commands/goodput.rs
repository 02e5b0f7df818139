//! `goodput`: share of the calendar time with training progress, with failures, checkpoints and restarts.
//!
//! Responsible for: arguments in words to a request of the calculator, and its result as tables. Chooses no setting itself except the
//! cluster and one NIC per GPU; both are listed.

mod job;

use job::{Job, read, time};

use crate::args::goodput::Goodput as Arguments;
use crate::commands::network::RATES_LIMIT;
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::printer::document::{Block, Cell, Column, Document, Table, Tone};
use crate::printer::{Answer, Printer, Terminal};
use railwright_calculator::goodput::answer::{Goodput, Question, Scaled, goodput};
use railwright_calculator::goodput::rates::{Component, Counts};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Dollars, Seconds};
use railwright_spec::run::Disruptions;
use railwright_tuner::disruptions_of;
use serde::Serialize;

/// A job's goodput with the machine that it runs on.
pub(crate) struct Answered {
    machine: String,
    chosen: Vec<String>,
    answer: Goodput,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct GoodputFields<'a> {
    #[serde(flatten)]
    answer: &'a Goodput,
    /// Accelerator of the job.
    machine: &'a str,
    /// Settings that were not specified.
    chosen: &'a [String],
}

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
    if let (None, Some(known)) = (price, &cluster.accelerator.price) {
        price = Some(known.typical.get());
        chosen.push(format!("{} per GPU-hour ({})", human::dollars(known.typical), known.source));
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

impl Answer for Answered {
    const KIND: &'static str = "goodput";

    type Json<'a> = GoodputFields<'a>;

    fn json(&self) -> GoodputFields<'_> {
        GoodputFields { answer: &self.answer, machine: &self.machine, chosen: &self.chosen }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let counts = self.answer.counts;
        let hosts = human::whole(counts.hosts);
        let title = format!(
            "goodput {}: {} x {} on {hosts} hosts",
            human::percent(self.answer.goodput),
            human::whole(counts.devices),
            self.machine
        );
        document.spans(vec![Cell::new(title, Tone::Strong)]);
        document.chosen(&self.chosen);
        self.summary(&mut document);
        document.heading("shares of calendar time");
        document.table(self.split());
        if !self.answer.rates.is_empty() {
            document.heading("failures");
            document.table(self.rates());
        }
        if !self.answer.published.is_empty() {
            document.heading("published failure rates, scaled to this job");
            document.table(self.published());
        }
        if !self.answer.assumed.is_empty() {
            document.heading("assumed");
            let line = |one: &railwright_calculator::goodput::answer::Assumed| {
                Cell::from(format!("{}: {} ({})", one.setting, one.value, one.source))
            };
            document.blocks.push(Block::Bullets(self.answer.assumed.iter().map(line).collect()));
        }
        document.next_step(format!(
            "`--availability {:.3}` applies this goodput in `railwright estimate` and `railwright size`",
            self.answer.goodput
        ));
        document
    }
}

impl Answered {
    fn summary(&self, document: &mut Document) {
        let answer = &self.answer;
        let interval = &answer.interval;
        let ettr = answer.range.map_or_else(String::new, |range| {
            let (low, high) = (range.lowest_ettr / answer.slowdown, range.highest_ettr / answer.slowdown);
            format!(", {} to {} over published failure rates", human::percent(low), human::percent(high))
        });
        let mtbf = answer.range.map_or_else(String::new, |range| {
            format!(", {} to {}", human::seconds(range.shortest_mtbf), human::seconds(range.longest_mtbf))
        });
        let every = if interval.is_specified {
            let best = interval.optimal.zip(interval.optimal_ettr);
            best.map_or_else(String::new, |(optimal, ettr)| {
                format!(
                    "; best: {} (goodput {})",
                    human::seconds(optimal),
                    human::percent(ettr / answer.slowdown)
                )
            })
        } else {
            ", the one with the highest goodput".to_owned()
        };
        let approximations = if answer.job.stall > Seconds::ZERO {
            format!("Young {}, Daly {}", human::seconds(interval.young), human::seconds(interval.daly))
        } else {
            String::new()
        };
        let slow = if answer.slowdown > 1.0 {
            format!("{:.3} due to slow hosts, stalls and slow parts", answer.slowdown)
        } else {
            String::new()
        };
        let price = answer.price.map_or_else(String::new, |price| {
            format!("{} ({} without failures)", human::dollars(price.useful_hour), human::dollars(price.hour))
        });
        document.pairs(vec![
            ("goodput", Cell::new(format!("{}{ettr}", human::percent(answer.goodput)), Tone::Strong)),
            ("MTBF of the job", format!("{}{mtbf}", human::seconds(answer.job.mtbf)).into()),
            ("failures per calendar day", format!("{:.2}", answer.failures_per_day).into()),
            ("checkpoint interval", format!("{}{every}", human::seconds(interval.used)).into()),
            ("approximations", approximations.into()),
            ("step slowdown", slow.into()),
            ("cost per productive hour", price.into()),
        ]);
    }

    fn split(&self) -> Table {
        let split = self.answer.split;
        let rows = [
            ("useful training (ETTR)", split.training),
            ("checkpoint stalls", split.checkpoints),
            ("work lost since the last checkpoint", split.lost_work),
            ("detection and replacement of hosts", split.detection),
            ("restart and loading", split.restart),
            ("waiting for a spare host", split.spares),
        ];
        Table {
            columns: vec![Column::words("time"), Column::numbers("share"), Column::numbers("time per day")],
            // Without a number of spares, there is no wait for one.
            rows: rows
                .into_iter()
                .filter(|(_, share)| *share > 0.0)
                .map(|(name, share)| {
                    vec![name.into(), Cell::percent(share), Cell::seconds(Seconds::new(share * 86_400.0))]
                })
                .collect(),
        }
    }

    fn rates(&self) -> Table {
        let row = |rate: &railwright_calculator::goodput::rates::Rate| {
            vec![
                rate.component.name().into(),
                Cell::whole(rate.count),
                Cell::number(human::count(rate.mtbf_hours), rate.mtbf_hours),
                Cell::number(format!("{:.3}", 24.0 * rate.per_hour()), 24.0 * rate.per_hour()),
                Cell::percent(rate.takes_host),
                if rate.is_specified { "specified" } else { "published" }.into(),
            ]
        };
        Table {
            columns: vec![
                Column::words("component"),
                Column::numbers("count"),
                Column::numbers("MTBF of one, h"),
                Column::numbers("failures per day of operation"),
                Column::numbers("host replaced").expendable(1),
                Column::words("rate").expendable(2),
            ],
            rows: self.answer.rates.iter().map(row).collect(),
        }
    }

    fn published(&self) -> Table {
        let row = |one: &Scaled| {
            let Scaled { published, mtbf } = one;
            vec![
                published.cluster.as_str().into(),
                Cell::number(
                    format!("{:.2}", published.failures_per_thousand_node_days),
                    published.failures_per_thousand_node_days,
                ),
                Cell::seconds(*mtbf),
                if published.confidence == "retrieved" { "from the source" } else { "source not checked" }
                    .into(),
            ]
        };
        Table {
            columns: vec![
                Column::words("cluster"),
                Column::numbers("per 1,000 node-days"),
                Column::numbers("MTBF of the job"),
                Column::words("figure"),
            ],
            rows: self.answer.published.iter().map(row).collect(),
        }
    }
}
