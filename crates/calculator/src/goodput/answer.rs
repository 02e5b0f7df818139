//! Goodput of a job from rates and settings: job, checkpoint interval, split, range and price.
//!
//! Responsible for: defaults, each with its source in the result ([`Assumed`]), and errors for unknown
//! values. Time to write a checkpoint has no default: published ones differ by a factor of a thousand.

use super::rates::{CAUSES_SOURCE, Component, Counts, Published, Rate, Reliability};
use super::{Job, Split, slowdown, waiting_share};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Dollars, Seconds};
use railwright_spec::run::Disruptions;
use serde::Serialize;

/// Default time to detect a failure and test the hosts, in seconds.
pub const DETECTION: f64 = 600.0;
const DETECTION_SOURCE: &str = "MegaScale (arXiv 2402.15627, section 6): less than 10 minutes on average to detect a failure and run diagnostics";
/// Default time to restart and read the checkpoint, in seconds.
pub const RESTART: f64 = 300.0;
const RESTART_SOURCE: &str =
    "MegaScale (arXiv 2402.15627, section 6): recovery within 15 minutes, of which up to 10 are detection";

/// Inputs of a goodput calculation. Zero times are valid. `None` is replaced by a default and listed.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Components of the job.
    pub counts: Counts,
    /// Mean time between failures of the whole job.
    pub mtbf: Option<Seconds>,
    /// Hours between failures of one component.
    pub specified: Vec<(Component, f64)>,
    /// Time from the start of a checkpoint until it can be restored.
    pub checkpoint: Seconds,
    /// Part of it for which training stops. `None` is all of it.
    pub stall: Option<Seconds>,
    /// Training time between checkpoints. `None` is the optimum.
    pub interval: Option<Seconds>,
    /// Time to detect a failure.
    pub detection: Option<Seconds>,
    /// Time to restart.
    pub restart: Option<Seconds>,
    /// Spare hosts and the repair time. `None`: a spare is always available.
    pub spares: Option<(u32, Seconds)>,
    /// Probability that a host is slow, and the factor by which it slows a step.
    pub slow: Option<(f64, f64)>,
    /// Flaps and slow parts of the network, of the whole job.
    pub disruptions: Option<Disruptions>,
    /// Price of a device-hour.
    pub price: Option<Dollars>,
}

/// Defaults of unspecified settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Assumed {
    /// The setting, as its flag.
    pub setting: &'static str,
    /// Its value, as text.
    pub value: String,
    /// Origin.
    pub source: String,
}

/// ETTR and MTBF at the lowest and the highest published failure rate; the checkpoint interval stays the
/// same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Range {
    /// Shortest mean time between failures of the job.
    pub shortest_mtbf: Seconds,
    /// Longest.
    pub longest_mtbf: Seconds,
    /// ETTR at the shortest.
    pub lowest_ettr: f64,
    /// ETTR at the longest.
    pub highest_ettr: f64,
}

/// A published cluster, with the job at its failure rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scaled {
    /// The cluster.
    #[serde(flatten)]
    pub published: Published,
    /// Mean time between failures of the job, with all published component rates multiplied by that
    /// cluster's factor.
    pub mtbf: Seconds,
}

/// Checkpoint intervals: time of training between two checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The interval used.
    pub used: Seconds,
    /// True if the interval was specified.
    pub is_specified: bool,
    /// The interval with the highest ETTR. `None` if a checkpoint takes no time.
    pub optimal: Option<Seconds>,
    /// ETTR at the optimal interval, including spares.
    pub optimal_ettr: Option<f64>,
    /// Young's approximation.
    pub young: Seconds,
    /// Daly's approximation.
    pub daly: Seconds,
}

/// Cost of an hour of progress.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Price {
    /// Price of a device-hour.
    pub device_hour: Dollars,
    /// Cost of all devices for an hour of the calendar.
    pub hour: Dollars,
    /// Cost of all devices for the time of an hour of progress: `hour / goodput`.
    pub useful_hour: Dollars,
}

/// Result of a goodput calculation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Goodput {
    /// Components of the job.
    pub counts: Counts,
    /// Failure rates of the components; empty if the MTBF of the job was specified.
    pub rates: Vec<Rate>,
    /// The job.
    pub job: Job,
    /// Failures per day of the calendar.
    pub failures_per_day: f64,
    /// Checkpoint intervals.
    pub interval: Interval,
    /// Shares of calendar time; `training` is the ETTR.
    pub split: Split,
    /// Goodput at other published rates. `None` if no rate is from the catalogue.
    pub range: Option<Range>,
    /// Flaps and slow parts of the network. `None` without rates of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disruptions: Option<Disruptions>,
    /// Step slowdown by slow hosts, and by stalls and slow parts of the network; 1 without.
    pub slowdown: f64,
    /// ETTR over slowdown: the share of the calendar, in steps at full speed. Same meaning as
    /// `training.availability`.
    pub goodput: f64,
    /// Cost of an hour of progress. `None` without a price.
    pub price: Option<Price>,
    /// Assumed values.
    pub assumed: Vec<Assumed>,
    /// Published clusters that determine the range.
    pub published: Vec<Scaled>,
}

/// Rejects a stall longer than its checkpoint: the pause is a part of the time until the checkpoint is
/// restorable.
pub(super) fn check_stall(stall: Option<Seconds>, checkpoint: Seconds) -> Result<(), Problem> {
    match stall.filter(|stall| *stall > checkpoint) {
        None => Ok(()),
        Some(stall) => {
            let (stall, checkpoint) = (human::seconds(stall), human::seconds(checkpoint));
            Err(Problem::new(format!(
                "a stall of {stall} is longer than the checkpoint, which takes {checkpoint}"
            ))
            .hint(format!(
                "use at most {checkpoint}, or omit it if training pauses for the whole checkpoint"
            )))
        }
    }
}

fn refused(flag: &str, message: impl Into<String>) -> Problem {
    Problem::new(message).in_file(flag)
}

/// Checks that a number is in its range.
fn within(flag: &str, value: f64, least: f64, most: f64) -> Result<(), Problem> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(refused(flag, format!("expected {least} to {most}, found {}", human::exact(value))))
}

/// Minimum goodput; a smaller one is an error.
const LEAST_GOODPUT: f64 = 1e-3;
/// Maximum time in seconds: a hundred years.
const LONGEST: f64 = 3.2e9;

impl Question {
    /// Inputs with only the components and the time of a checkpoint; all other fields are defaults.
    pub const fn new(counts: Counts, checkpoint: Seconds) -> Self {
        Self {
            counts,
            mtbf: None,
            specified: Vec::new(),
            checkpoint,
            stall: None,
            interval: None,
            detection: None,
            restart: None,
            spares: None,
            slow: None,
            disruptions: None,
            price: None,
        }
    }

    fn check(&self) -> Result<(), Problem> {
        let Counts { devices, hosts, nics } = self.counts;
        for (flag, n) in [("--gpus", devices), ("--cluster", hosts), ("--nics", nics)] {
            within(flag, n as f64, 1.0, 1e9)?;
        }
        let time = |flag: &str, time: Option<Seconds>, least: f64| {
            let Some(time) = time.filter(|time| !(least..=LONGEST).contains(&time.get())) else {
                return Ok(());
            };
            Err(refused(
                flag,
                format!("expected {least} s to 100 years, found {} s", human::exact(time.get())),
            ))
        };
        time("--mtbf", self.mtbf, 1.0)?;
        time("--checkpoint-time", Some(self.checkpoint), 0.0)?;
        time("--checkpoint-stall", self.stall, 0.0)?;
        check_stall(self.stall, self.checkpoint).map_err(|problem| problem.in_file("--checkpoint-stall"))?;
        time("--interval", self.interval, 1e-3)?;
        time("--detection-time", self.detection, 0.0)?;
        time("--restart-time", self.restart, 0.0)?;
        time("--repair-time", self.spares.map(|(_, repair)| repair), 0.0)?;
        within("--spares", f64::from(self.spares.map_or(0, |(n, _)| n)), 0.0, 1e6)?;
        for (component, hours) in &self.specified {
            within("--component-mtbf", *hours, 1e-3, 1e15).map_err(|problem| {
                problem.hint(format!("hours between failures of one `{}`", component.name()))
            })?;
        }
        if let Some((share, factor)) = self.slow {
            within("--slow-share", share, 0.0, 1.0)?;
            within("--slow-factor", factor, 1.0, 1e3)?;
        }
        match self.interval {
            Some(interval) if interval + self.stall.unwrap_or(self.checkpoint) < self.checkpoint => {
                let (every, takes) = (human::seconds(interval), human::seconds(self.checkpoint));
                let message = format!("the checkpoint interval is {every}, but a checkpoint takes {takes}");
                Err(refused("--interval", message).hint("use a longer interval or faster storage"))
            }
            _ => Ok(()),
        }
    }
}

/// Failures of all components per hour, with those of the catalogue multiplied by a factor.
fn per_hour(rates: &[Rate], factor: f64) -> f64 {
    rates.iter().map(|rate| rate.per_hour() * if rate.is_specified { 1.0 } else { factor }).sum()
}

/// Calculates the goodput of a job.
pub fn goodput(question: &Question) -> Result<Goodput, Problem> {
    question.check()?;
    let catalogue = Reliability::catalogue()?;
    let mut assumed = Vec::new();
    let mut or = |setting, given: Option<Seconds>, default: f64, source: &str| {
        given.unwrap_or_else(|| {
            let time = Seconds::new(default);
            let value = human::seconds(time);
            assumed.push(Assumed { setting, value, source: source.to_owned() });
            time
        })
    };
    let detection = or("--detection-time", question.detection, DETECTION, DETECTION_SOURCE);
    let restart = or("--restart-time", question.restart, RESTART, RESTART_SOURCE);
    let stall = question.stall.unwrap_or_else(|| {
        if question.checkpoint == Seconds::ZERO {
            return Seconds::ZERO;
        }
        assumed.push(Assumed {
            setting: "--checkpoint-stall",
            value: format!("{}: training stops for the whole time", human::seconds(question.checkpoint)),
            source: "not specified".to_owned(),
        });
        question.checkpoint
    });
    let mut rates = catalogue.rates(&question.counts, &question.specified);
    let hours = per_hour(&rates, 1.0);
    // Flaps that outlast the transport stop the job like any failure.
    let stops = question.disruptions.map_or(0.0, |disruptions| disruptions.stops_per_hour);
    let out = rates.iter().map(|rate| rate.per_hour() * rate.takes_host).sum::<f64>() / (hours + stops);
    let of_rate = |rate: f64| Seconds::new(3600.0 / (rate + stops));
    let specified = |mtbf: Seconds| if stops > 0.0 { of_rate(3600.0 / mtbf.get()) } else { mtbf };
    let is_assumed = question.mtbf.is_none() && rates.iter().any(|rate| !rate.is_specified);
    if is_assumed {
        let from_catalogue: Vec<String> = rates
            .iter()
            .filter(|rate| !rate.is_specified)
            .map(|rate| format!("{} {} h", rate.component.name(), human::count(rate.mtbf_hours)))
            .collect();
        assumed.push(Assumed {
            setting: "--component-mtbf",
            value: from_catalogue.join(", "),
            source: CAUSES_SOURCE.to_owned(),
        });
    }
    if question.spares.is_some() {
        assumed.push(Assumed {
            setting: "--spares",
            value: format!("{} of failures remove a host", human::percent(out)),
            source:
                "by cause in catalog/reliability: hardware failures do; failures of software, switches and \
            cables do not"
                    .to_owned(),
        });
    }
    if question.spares.is_none() {
        assumed.push(Assumed {
            setting: "--spares",
            value: "a spare host for every failure".to_owned(),
            source: "not specified".to_owned(),
        });
    }
    let job = Job {
        mtbf: question.mtbf.map_or_else(|| of_rate(hours), specified),
        stall,
        write: question.checkpoint - stall,
        detection,
        restart,
    };
    let optimal = job.optimal_interval();
    let Some(used) = question.interval.or(optimal) else {
        return Err(refused("--interval", "a checkpoint that takes no time has no optimal interval")
            .hint("set the checkpoint interval or the checkpoint time"));
    };
    let split = |job: &Job, interval: Seconds| {
        let waiting = question.spares.map_or(0.0, |(spares, repair)| {
            // Without failures that take a host out, no host is in repair.
            if out > 0.0 { waiting_share((job.mtbf + job.detection) / out, repair, spares) } else { 0.0 }
        });
        job.split(interval).waiting(waiting)
    };
    let range = is_assumed.then(|| {
        let (low, high) = catalogue.range();
        let at = |factor: f64| Job { mtbf: of_rate(per_hour(&rates, factor)), ..job };
        let (most, least) = (at(low), at(high));
        Range {
            shortest_mtbf: least.mtbf,
            longest_mtbf: most.mtbf,
            lowest_ettr: split(&least, used).training,
            highest_ettr: split(&most, used).training,
        }
    });
    let scale = |one: &Published| {
        let mtbf = of_rate(per_hour(&rates, catalogue.factor(one)));
        Scaled { published: one.clone(), mtbf }
    };
    let scaled: Vec<Scaled> = catalogue.published.iter().map(scale).collect();
    let in_all = split(&job, used);
    let slower = question.slow.map_or(1.0, |(share, factor)| slowdown(question.counts.hosts, share, factor));
    let slower = slower / (1.0 - question.disruptions.map_or(0.0, |disruptions| disruptions.lost));
    let goodput = in_all.training / slower;
    // Larger times overflow.
    if goodput.is_nan() || goodput < LEAST_GOODPUT {
        let message = format!(
            "the job makes no progress: it fails every {}, but a checkpoint takes {}, detection {} and a restart {}",
            human::seconds(job.mtbf),
            human::seconds(question.checkpoint),
            human::seconds(detection),
            human::seconds(restart),
        );
        return Err(
            refused("goodput", message).hint("use faster checkpoints and restarts, or reduce failures")
        );
    }
    let hour = |price: Dollars| price * question.counts.devices as f64;
    if question.mtbf.is_some() {
        rates.clear();
    }
    Ok(Goodput {
        counts: question.counts,
        rates,
        job,
        failures_per_day: job.failures_per_day() * (1.0 - in_all.spares),
        interval: Interval {
            used,
            is_specified: question.interval.is_some(),
            optimal,
            optimal_ettr: optimal.map(|interval| split(&job, interval).training),
            young: job.young(),
            daly: job.daly(),
        },
        split: in_all,
        range,
        disruptions: question.disruptions,
        slowdown: slower,
        goodput,
        price: question.price.map(|price| Price {
            device_hour: price,
            hour: hour(price),
            useful_hour: hour(price) * (1.0 / goodput),
        }),
        assumed,
        published: if is_assumed { scaled } else { Vec::new() },
    })
}
