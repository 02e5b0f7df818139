//! A rank that the others wait for.
//!
//! Responsible for: telling the straggler report's verdicts as findings. Refuses ranks below the noise.

use super::{Context, Rule, percent, time};
use crate::culprits::CauseClass;
use crate::profile::Finding;
use railwright_spec::human;

pub(super) struct Straggler;

impl Rule for Straggler {
    fn id(&self) -> &'static str {
        "straggler"
    }

    fn title(&self) -> &'static str {
        "A rank that the others wait for"
    }

    fn text(&self) -> &'static str {
        "Waits are charged to the rank that came late and followed to the root; the cost is by replay: what the step would take had that rank run like the median of its peers. \
         Told when that is above the noise of steps and above 0.5 % of the step. Classes: slow chip (the same kernels take longer), more work (more kernels at the same rate), slow \
         host (the device is idle until it launches), slow link (transfers longer than those of peers with the same bytes), memory copies, schedule.\n\n\
         `railwright stragglers` has every rank with its moments."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let Some(report) = context.stragglers else { return Vec::new() };
        let tell = |culprit: &crate::culprits::Culprit| Finding {
            id: self.id().to_owned(),
            message: format!(
                "rank {} holds the others up ({}): {} of the step",
                culprit.rank,
                culprit.cause_name,
                culprit.certainty.worded(&percent(context.share(culprit.cost)))
            ),
            cost: Some(culprit.cost),
            // Ranks that were not traced may have absorbed it: then only the most that it can be is known.
            certainty: report.bounds_only.as_ref().map(|_| culprit.certainty),
            evidence: culprit
                .evidence
                .iter()
                .map(|e| {
                    let shown = |value: f64| match e.unit {
                        "ns" => time(value),
                        _ => human::count(value),
                    };
                    format!("{}: {} against {} of its peers", e.name, shown(e.own), shown(e.peers))
                })
                .chain([format!("{} of all waits are charged to it", percent(culprit.waits_share))])
                .chain(
                    report.bounds_only.as_ref().map(|reason| format!("the most that it can cost: {reason}")),
                )
                .collect(),
            advice: advice(culprit.cause, context.from_host()).to_owned(),
            ..Finding::default()
        };
        report.stragglers().map(tell).collect()
    }
}

fn advice(cause: CauseClass, from_host: bool) -> &'static str {
    match cause {
        CauseClass::SlowChip | CauseClass::SlowHost if from_host => {
            "look at this host's processors: other processes, threads that share a core, clocks and temperature, garbage collection, data loading"
        }
        CauseClass::SlowChip => {
            "look at this device's clocks, temperature and power; drain the host if it stays slow"
        }
        CauseClass::MoreWork => "balance the work: sequence lengths, experts, layers of stages",
        CauseClass::SlowHost => {
            "look at this host's processors: other processes, garbage collection, data loading, a slower clock; CUDA graphs and fewer, larger kernels help every host"
        }
        CauseClass::SlowLink => {
            "look at this rank's NIC, cable and NVLink; `railwright comm` has its transfers beside its peers'"
        }
        CauseClass::Copies => "copy from pinned memory, beside the step, or not at all",
        CauseClass::Schedule | CauseClass::Unknown => {
            "record this rank and its neighbours with stacks to see what it does meanwhile"
        }
    }
}
