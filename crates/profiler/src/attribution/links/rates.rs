//! Transfers below the rate of their link in all groups.
//!
//! Responsible for: large transfers of a dimension at less than a third of the bandwidth of their link, and
//! the reason against "no straggler" if they cost much: where every group is equally slow, or there is only
//! one, no comparison of groups shows it. Excludes small transfers, which latency dominates, and links of
//! unknown bandwidth.

use super::SlowLink;
use crate::Job;
use crate::bandwidth::{accelerator, bus_factor, ceiling};
use crate::groups::RankSet;
use crate::joined::Joined;
use crate::matching::{Collective, Part};
use railwright_spec::quantity::BytesPerSecond;
use railwright_spec::{human, median};
use railwright_step::CollectiveKind;
use std::collections::BTreeMap;

/// Maximum share of the link's bandwidth for a doubt; rings reach 0.8 and more with large messages.
const LOW: f64 = 1.0 / 3.0;

/// Share of the link's bandwidth at which the cost is replayed: transfers under compute reach less than
/// alone.
const EXPECTED: f64 = 0.5;

/// Minimum time of a large transfer at the full rate of the link, in seconds.
const LARGE: f64 = 100e-6;

/// Minimum share of the steps that the transfers cost, for a doubt.
const NOTABLE: f64 = 0.05;

/// Large transfers at a low rate, as one delay.
pub(in crate::attribution) struct LowRates {
    pub link: SlowLink,
    /// The operation with most of their time, with its rate and that of its link, in bytes per second.
    most: Option<(String, f64, f64)>,
}

/// Transfers of one dimension and operation.
#[derive(Default)]
struct Sum {
    shares: Vec<f64>,
    rates: Vec<f64>,
    seconds: f64,
    /// Bandwidth of the link, in bytes per second.
    link: f64,
    /// By collective: its time at the expected rate, in nanoseconds.
    expected: BTreeMap<u32, i64>,
}

impl LowRates {
    pub(in crate::attribution) fn of(job: &Job, joined: &Joined) -> Self {
        let matching = &joined.matching;
        let mut sums: BTreeMap<(String, Option<CollectiveKind>), Sum> = BTreeMap::new();
        let accelerator = accelerator(job);
        let usable = |one: &&Collective| {
            one.complete && one.consistent && !joined.misses_ranks(one) && one.bytes.is_some()
        };
        for (at, collective) in matching.collectives.iter().enumerate().filter(|(_, one)| usable(one)) {
            let communicator = matching.communicator(collective);
            let group = communicator.group.and_then(|id| joined.groups.get(id));
            let (Some(accelerator), Some(group), None) = (&accelerator, group, communicator.channel) else {
                continue;
            };
            let ranks: Vec<u32> = communicator.members.iter().map(|member| member.rank).collect();
            let Some(link) = ceiling(accelerator, &RankSet::new(&ranks)) else { continue };
            let parts = matching.members(collective).iter().map(|&at| matching.part(at));
            let shortest = parts.map(Part::duration).min().filter(|time| *time > 0);
            let (Some(bytes), Some(shortest)) = (collective.bytes, shortest) else { continue };
            let moved = bytes as f64 * bus_factor(collective.operation, ranks.len() as u32);
            // Consecutive ranks need not share a node: the slower link is the limit that no placement
            // undercuts.
            let network = accelerator
                .network_bandwidth
                .map_or(f64::INFINITY, railwright_spec::quantity::BytesPerSecond::get);
            let (seconds, rate) = (shortest as f64 * 1e-9, link.bytes_per_second.min(network));
            if moved / rate < LARGE {
                continue;
            }
            let sum = sums.entry((group.dimension.label.clone(), collective.operation)).or_default();
            sum.shares.push(moved / seconds / rate);
            sum.rates.push(moved / seconds);
            sum.seconds += seconds;
            sum.link = rate;
            sum.expected.insert(at as u32, (moved / (EXPECTED * rate) * 1e9).round() as i64);
        }
        let mut expected = BTreeMap::new();
        let mut most: Option<(f64, (String, f64, f64))> = None;
        for ((label, operation), mut sum) in sums {
            if median(&mut sum.shares) >= LOW {
                continue;
            }
            expected.append(&mut sum.expected);
            if most.as_ref().is_none_or(|most| most.0 < sum.seconds) {
                let name = operation.map_or("communication", |operation| operation.name());
                most = Some((
                    sum.seconds,
                    (format!("{name} of {label} groups"), median(&mut sum.rates), sum.link),
                ));
            }
        }
        Self { link: SlowLink::of_long(matching, expected), most: most.map(|most| most.1) }
    }

    /// Reason against the verdict "no straggler" if these transfers cost `saved` of `base` nanoseconds of all
    /// steps.
    pub(in crate::attribution) fn doubt(&self, saved: i64, base: i64) -> Option<String> {
        let share = saved as f64 / (base as f64).max(1.0);
        let (name, rate, link) = self.most.as_ref().filter(|_| share > NOTABLE)?;
        let shown = |rate: f64| human::bandwidth(BytesPerSecond::new(rate));
        Some(format!(
            "{name} reaches {} of {} ({} of the link), which costs {} of the step: a slow node or NIC would slow every group; compare with \
             nccl-tests on these nodes",
            shown(*rate),
            shown(*link),
            human::percent(rate / link),
            human::percent(share)
        ))
    }
}
