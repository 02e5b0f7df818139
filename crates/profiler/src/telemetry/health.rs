//! Device counters of each rank during the recording.
//!
//! Responsible for: assigning samples to ranks by host and device, medians within the recording, growth of
//! totals, and comparison of a rank's clock with the others'. Excludes devices that two ranks of a
//! host share.

use super::{Metric, Sample, throttle_reasons};
use crate::Job;
use railwright_spec::human;
use railwright_spec::median;
use railwright_spec::problem::Warning;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Margin around a recording for samples, in nanoseconds: counters are read every second or less often.
const AROUND: i64 = 2_000_000_000;

/// Threshold of a low clock, as a share of the other ranks' median.
const LOWER: f64 = 0.97;

/// A counter of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counter {
    /// Median of the rank.
    pub own: f64,
    /// Median of the other ranks; `None` without other ranks.
    pub others: Option<f64>,
}

/// Device counters of one rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankHealth {
    /// The rank.
    pub rank: u32,
    /// Number of readings used.
    pub samples: usize,
    /// Clock of the multiprocessors, in MHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sm_clock_mhz: Option<Counter>,
    /// Temperature of the GPU, in degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<Counter>,
    /// Power, in watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_w: Option<Counter>,
    /// Reasons for a lower clock in any reading.
    pub throttle_reasons: Vec<&'static str>,
    /// XID errors.
    pub xid_errors: Vec<u32>,
    /// Growth of totals by name; the value itself with a single reading. Network cards are those of the
    /// rank's host.
    pub errors: Vec<(String, f64)>,
}

/// Device counters of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Health {
    /// Each rank with readings, in order.
    pub ranks: Vec<RankHealth>,
    /// Number of readings of hosts or devices without a rank.
    pub unmatched: usize,
    /// True if the times of readings do not overlap the recording: then all of them are used.
    pub other_time: bool,
}

impl RankHealth {
    /// Unusual values, in words; empty without any.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(Counter { own, others: Some(others) }) = self.sm_clock_mhz
            && own < LOWER * others
        {
            remarks.push(format!(
                "SM clock {} MHz, median of the other ranks {} MHz",
                human::count(own),
                human::count(others)
            ));
        }
        let reasons: Vec<&str> = self
            .throttle_reasons
            .iter()
            .copied()
            .filter(|reason| !matches!(*reason, "idle" | "application clocks"))
            .collect();
        if !reasons.is_empty() {
            remarks.push(format!("clock limited by {}", reasons.join(", ")));
        }
        if !self.xid_errors.is_empty() {
            let numbers: Vec<String> = self.xid_errors.iter().map(u32::to_string).collect();
            remarks.push(format!("XID {}", numbers.join(", ")));
        }
        remarks.extend(self.errors.iter().map(|(name, by)| format!("{name}: {}", human::count(*by))));
        remarks
    }
}

impl Health {
    /// Device counters of a job's traces; `None` without any.
    pub fn of_job(job: &Job) -> Option<Self> {
        (!job.telemetry.is_empty()).then(|| health(job, &job.telemetry))
    }

    /// Unusual values of a rank, in words, after its number.
    pub fn remarks(&self, rank: u32) -> Vec<String> {
        let of = |remark: String| format!("rank {rank}: {remark}");
        self.of(rank).map(|health| health.remarks().into_iter().map(of).collect()).unwrap_or_default()
    }

    /// Warnings.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.other_time {
            let reasons = "device counters have no reading during the recording: all their readings are used";
            warnings.push(Warning::new("telemetry-other-time", reasons));
        }
        if self.unmatched > 0 {
            let reasons = format!(
                "{} readings of device counters are from hosts or devices without a traced rank: ignored",
                self.unmatched
            );
            warnings.push(Warning::new("telemetry-unmatched", reasons));
        }
        warnings
    }

    /// Counters of a rank; `None` if not recorded.
    pub fn of(&self, rank: u32) -> Option<&RankHealth> {
        self.ranks.iter().find(|health| health.rank == rank)
    }
}

/// Health of a job with aligned clocks, from samples.
pub fn health(job: &Job, samples: &[Sample]) -> Health {
    let span = job.members.iter().filter_map(|member| {
        let (starts, ends) = (member.trace.gpu.starts(), member.trace.gpu.ends());
        Some((*starts.first()?, *ends.iter().max()?))
    });
    let span = span.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
    let within = |sample: &Sample| match (sample.time, span) {
        (Some(time), Some((from, to))) => {
            time >= from.saturating_sub(AROUND) && time <= to.saturating_add(AROUND)
        }
        _ => true,
    };
    let mut health = Health::default();
    let mut used: Vec<&Sample> = samples.iter().filter(|sample| within(sample)).collect();
    if used.is_empty() && !samples.is_empty() {
        health.other_time = true;
        used = samples.iter().collect();
    }
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    for (member, own) in job.members.iter().zip(assigned(job, &used)) {
        taken.extend(&own);
        let own: Vec<&Sample> = own.into_iter().filter_map(|at| used.get(at).copied()).collect();
        if !own.is_empty() {
            health.ranks.push(of_samples(member.rank, &own));
        }
    }
    health.unmatched = used.len() - taken.len();
    let ranks = health.ranks.clone();
    for own in &mut health.ranks {
        let others = |of: fn(&RankHealth) -> Option<Counter>| {
            let mut values: Vec<f64> = ranks
                .iter()
                .filter(|other| other.rank != own.rank)
                .filter_map(|other| Some(of(other)?.own))
                .collect();
            (!values.is_empty()).then(|| median(&mut values))
        };
        let found = [others(|h| h.sm_clock_mhz), others(|h| h.temperature_celsius), others(|h| h.power_w)];
        for (counter, others) in
            [&mut own.sm_clock_mhz, &mut own.temperature_celsius, &mut own.power_w].into_iter().zip(found)
        {
            if let Some(counter) = counter {
                counter.others = others;
            }
        }
    }
    health
}

/// Indices of the samples of each rank, by host and device. Network cards are those of the rank's host.
pub(super) fn assigned(job: &Job, samples: &[&Sample]) -> Vec<Vec<usize>> {
    let hosts: BTreeSet<&str> =
        job.members.iter().filter_map(|member| member.trace.identity.host.as_deref()).collect();
    let mut devices: BTreeMap<(Option<&str>, u32), Vec<u32>> = BTreeMap::new();
    for member in &job.members {
        let identity = &member.trace.identity;
        if let Some(device) = identity.device {
            devices.entry((identity.host.as_deref(), device)).or_default().push(member.rank);
        }
    }
    // By host first: a large job has many of both.
    let mut of_host: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
    for (at, sample) in samples.iter().enumerate() {
        of_host.entry(sample.host.as_deref().map(short)).or_default().push(at);
    }
    let all: Vec<usize> = (0..samples.len()).collect();
    let none = Vec::new();
    let of_member = |member: &crate::job::Member| {
        let identity = &member.trace.identity;
        let own_host = identity.host.as_deref();
        let alone = identity
            .device
            .filter(|device| devices.get(&(own_host, *device)).is_some_and(|ranks| ranks.len() == 1));
        let is_own = |at: &&usize| {
            let device = samples.get(**at).map_or("", |sample| sample.device.as_str());
            let is_card = device.parse::<u32>().is_err();
            is_card || alone.is_some_and(|own| device.parse() == Ok(own))
        };
        let on_host = |host: Option<&str>| of_host.get(&host.map(short)).unwrap_or(&none);
        // A file without a host belongs to the only host.
        let is_only = hosts.len() < 2;
        let mut own: Vec<usize> = match own_host {
            None if is_only => all.iter().filter(is_own).copied().collect(),
            None => Vec::new(),
            Some(host) => {
                let unnamed = if is_only { on_host(None) } else { &none };
                on_host(Some(host)).iter().chain(unnamed).filter(is_own).copied().collect()
            }
        };
        own.sort_unstable();
        own
    };
    job.members.iter().map(of_member).collect()
}

/// Name of a host without its domain, which some tools leave out.
fn short(host: &str) -> String {
    host.split('.').next().unwrap_or(host).to_ascii_lowercase()
}

fn of_samples(rank: u32, samples: &[&Sample]) -> RankHealth {
    let values = |metric: Metric| {
        samples.iter().filter(move |sample| sample.metric == metric).map(|sample| sample.value)
    };
    let counter = |metric: Metric| {
        let mut all: Vec<f64> = values(metric).collect();
        (!all.is_empty()).then(|| Counter { own: median(&mut all), others: None })
    };
    let mask = values(Metric::Throttle).fold(0_u64, |all, mask| all | mask as u64);
    let xid: BTreeSet<u32> = values(Metric::Xid).filter(|xid| *xid > 0.0).map(|xid| xid as u32).collect();
    let mut totals: BTreeMap<(&str, Metric), (f64, f64, usize)> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.metric.is_total()) {
        let seen =
            totals.entry((sample.device.as_str(), sample.metric)).or_insert((sample.value, sample.value, 0));
        *seen = (seen.0.min(sample.value), seen.1.max(sample.value), seen.2 + 1);
    }
    let errors = totals.into_iter().filter_map(|((device, metric), (least, most, count))| {
        let by = if count > 1 { most - least } else { most };
        let what = if device.parse::<u32>().is_ok() {
            metric.name().to_owned()
        } else {
            format!("{device} {}", metric.name())
        };
        let since = if count > 1 { "" } else { " (total)" };
        (by > 0.0).then(|| (format!("{what}{since}"), by))
    });
    RankHealth {
        rank,
        samples: samples.len(),
        sm_clock_mhz: counter(Metric::SmClock),
        temperature_celsius: counter(Metric::Temperature),
        power_w: counter(Metric::Power),
        throttle_reasons: throttle_reasons(mask),
        xid_errors: xid.into_iter().collect(),
        errors: errors.collect(),
    }
}
