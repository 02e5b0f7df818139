//! Kernels that slow down over time.
//!
//! Responsible for: the same kernel calls in the first and in the last steps. Excludes recordings with too
//! few steps, and work that depends on routing or sequences.

use super::words::percent;
use super::{Context, Inference, Rule};
use crate::kernels::is_grouped;
use crate::profile::{Explained, Finding, Subject};
use crate::view::Role;
use crate::windows::StepWindow;
use railwright_spec::human;
use railwright_step::OperatorFamily;
use std::collections::BTreeMap;

pub(super) struct Throttling;

/// Minimum number of calls of a kernel at each end of the recording.
const ENOUGH: usize = 12;
/// Minimum reported growth, as a share.
const GROWTH: f64 = 0.03;
/// Minimum share of GEMM time in kernels that grow, each by at least half of [`GROWTH`]: a lower clock slows
/// all GEMMs.
const AGREE: f64 = 0.75;
/// Minimum number of steps for a comparison of thirds; with fewer, halves are compared.
const THIRDS: usize = 6;

/// Durations of calls by kernel name, step and order, at one end of the recording.
type Calls = BTreeMap<u32, Vec<Vec<i64>>>;

/// Times of calls at the same position of the step, by kernel name: (at the beginning, at the end), in
/// nanoseconds per step. Names with different call counts between steps are excluded: their calls cannot be
/// matched.
fn growth(first: &Calls, last: &Calls) -> Vec<(f64, f64)> {
    let mean = |steps: &[Vec<i64>]| {
        steps.iter().flatten().map(|duration| *duration as f64).sum::<f64>() / steps.len().max(1) as f64
    };
    let pairs = first.iter().filter_map(|(name, early)| {
        let late = last.get(name)?;
        let calls = early.first()?.len();
        let alike = early.iter().chain(late).all(|step| step.len() == calls);
        let enough = calls * early.len().min(late.len()) >= ENOUGH;
        // Every late step must be longer than every early one: growth followed by a decline is not a trend.
        let grows = |a: &Vec<i64>, b: &Vec<i64>| {
            let sum = |step: &[i64]| step.iter().sum::<i64>() as f64;
            sum(b) >= sum(a) * (1.0 + GROWTH / 2.0)
        };
        let steady = early.iter().all(|a| late.iter().all(|b| grows(a, b)));
        let (before, after) = (mean(early), mean(late));
        (alike && enough).then_some((before, if steady { after } else { before }))
    });
    pairs.collect()
}

impl Rule for Throttling {
    fn id(&self) -> &'static str {
        "clock-throttling"
    }

    fn title(&self) -> &'static str {
        "Kernels slow down over time"
    }

    fn text(&self) -> &'static str {
        "Time of GEMMs with the same name and position, in the last third of the steps relative to the first third \
         (halves if there are fewer than six steps), per rank. Reported for at least four steps and 3% growth. Three quarters of \
         the GEMM time must grow, and every late step must be longer than every early one. Grouped GEMMs are excluded, \
         \
         because routing changes their work. Cost: half of the growth on the rank with the largest one, for which the others \
         wait. Clocks fall if a device is hot or draws \
         too much power. The first steps of a recording are often cooler, so record in the middle of a run."
    }

    fn inference(&self) -> Inference {
        Inference::Silent
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let steps = &context.windows.steps;
        if steps.len() < 4 {
            return Vec::new();
        }
        let end = if steps.len() < THIRDS { steps.len() / 2 } else { steps.len() / 3 };
        let mut slower: Vec<(u32, f64)> = Vec::new();
        let mut lost = 0.0_f64;
        for (view, rank) in context.views.iter().zip(&context.waterfall.ranks) {
            let calls = |steps: &[StepWindow]| {
                let mut calls = Calls::new();
                for (at, step) in steps.iter().enumerate() {
                    let from = view.gpu.starts().partition_point(|start| *start < step.start);
                    let to = view.gpu.starts().partition_point(|start| *start < step.end);
                    for row in (from..to).filter_map(|row| Some((row, view.gpu.get(row)?))) {
                        let (row, activity) = row;
                        let product = view.family[row] == OperatorFamily::MatrixProduct
                            && view.role[row] == Role::Compute
                            && !is_grouped(view.trace.names.get(activity.name));
                        if product {
                            let of_name = calls.entry(activity.name.0).or_default();
                            of_name.resize(at + 1, Vec::new());
                            of_name[at].push(activity.duration());
                        }
                    }
                }
                for of_name in calls.values_mut() {
                    of_name.resize(steps.len(), Vec::new());
                }
                calls
            };
            let found = growth(&calls(&steps[..end]), &calls(&steps[steps.len() - end..]));
            let before: f64 = found.iter().map(|(before, _)| before).sum();
            let after: f64 = found.iter().map(|(_, after)| after).sum();
            let growing = found.iter().filter(|(before, after)| after > before).map(|(before, _)| before);
            if before > 0.0 && after / before > 1.0 + GROWTH && growing.sum::<f64>() >= AGREE * before {
                slower.push((rank.rank, after / before - 1.0));
                // Growth over the recording costs the mean step half of it, and the other ranks wait for it.
                lost = lost.max(0.5 * (after - before));
            }
        }
        if slower.is_empty() {
            return Vec::new();
        }
        slower.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut ranks: Vec<u32> = slower.iter().map(|s| s.0).collect();
        ranks.sort_unstable();
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("{} slow down over the recording on {}", context.work(), human::ranks(&ranks)),
            cost: Some(lost),
            explained: Explained::Whole,
            subject: Subject::of_ranks(slower.iter().map(|one| one.0).collect::<Vec<_>>(), Subject::COMPUTE),
            evidence: slower
                .iter()
                .take(4)
                .map(|(rank, by)| {
                    format!("rank {rank}: {} slower in the last steps than in the first ones", percent(*by))
                })
                .collect(),
            advice:
                "monitor clocks, temperature and power of these devices; cap the power of all devices equally"
                    .to_owned(),
            ..Finding::default()
        }]
    }
}
