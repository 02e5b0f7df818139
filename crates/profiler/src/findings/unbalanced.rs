//! Experts of different load.
//!
//! Responsible for: time of grouped GEMMs by rank. Excludes jobs without such kernels, and slow chips: all of
//! their kernels take longer.

use super::slow_chip::slow_chips;
use super::words::{percent, time};
use super::{Context, Rule};
use crate::kernels::is_grouped;
use crate::profile::{Explained, Finding, Subject};
use crate::view::Role;
use railwright_step::Dimension;
use railwright_step::OperatorFamily;

pub(super) struct UnbalancedExperts;

impl Rule for UnbalancedExperts {
    fn id(&self) -> &'static str {
        "unbalanced-experts"
    }

    fn title(&self) -> &'static str {
        "Unbalanced experts"
    }

    fn text(&self) -> &'static str {
        "Time of grouped GEMMs by rank: the rank with the most tokens delays the others. Reported if the most \
         loaded rank is 10% above the mean and the difference is 1% of the step. Cost: the difference.\n\n\
         Remedies: a load-balancing loss or bias, capacity factors, groups of experts placed by load, larger \
         micro-batches."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let mut loads: Vec<(f64, u32)> = context
            .ranks()
            .map(|(rank, names)| {
                let grouped = rank.kernels.iter().filter(|k| {
                    k.role == Role::Compute
                        && k.family == OperatorFamily::MatrixProduct
                        && is_grouped(names.get(k.name))
                });
                let steps = (rank.steps.len() - rank.missing.len()).max(1) as f64;
                (grouped.map(|k| k.duration).sum::<i64>() as f64 / steps, rank.rank)
            })
            .filter(|(load, _)| *load > 0.0)
            .collect();
        if loads.len() < 2 {
            return Vec::new();
        }
        let mean = loads.iter().map(|l| l.0).sum::<f64>() / loads.len() as f64;
        loads.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let slow = slow_chips(context);
        loads.retain(|load| !slow.iter().any(|chip| chip.0 == load.1));
        let Some(&(most, rank)) = loads.first() else { return Vec::new() };
        if most < 1.1 * mean || context.share(most - mean) < 0.01 {
            return Vec::new();
        }
        vec![Finding {
            id: self.id().to_owned(),
            message: format!(
                "experts are unbalanced: rank {rank} has {} more load than the mean",
                percent(most / mean - 1.0)
            ),
            cost: Some(most - mean),
            explained: Explained::Whole,
            subject: Subject {
                dimension: Some(Dimension::Expert),
                ..Subject::of_ranks([rank], Subject::COMPUTE)
            },
            evidence: loads
                .iter()
                .take(3)
                .map(|(load, rank)| format!("rank {rank}: {} of grouped GEMMs per step", time(*load)))
                .collect(),
            advice: "balance the router, or place experts by load".to_owned(),
            ..Finding::default()
        }]
    }
}
