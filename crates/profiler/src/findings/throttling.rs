//! Kernels that slow down over time.
//!
//! Responsible for: the same kernels in the first and in the last third of a recording. Excludes short
//! recordings.

use super::{Context, Rule, percent};
use crate::profile::Finding;
use crate::view::Role;
use railwright_spec::human;
use railwright_step::OperatorFamily;
use std::collections::BTreeMap;

pub(super) struct Throttling;

/// Kernels of one name and phase that each third must have.
const ENOUGH: usize = 12;
/// Minimum reported growth.
const GROWTH: f64 = 0.03;

fn median(values: &mut [i64]) -> f64 {
    values.sort_unstable();
    values.get(values.len() / 2).map_or(0.0, |v| *v as f64)
}

impl Rule for Throttling {
    fn id(&self) -> &'static str {
        "clock-throttling"
    }

    fn title(&self) -> &'static str {
        "Kernels slow down over time"
    }

    fn text(&self) -> &'static str {
        "Median GEMM and attention times in the last third of the recording relative to the first third, by \
         kernel name, weighted by time, per rank. Reported from 3 %. Cost: that share of their time. Clocks \
         fall at high temperature or power. The first steps of a recording are often cooler, so record in the \
         middle of a run."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let (from, to) = context.windows.span();
        let third = (to - from) / 3;
        let mut slower: Vec<(u32, f64)> = Vec::new();
        let mut lost = 0.0;
        for (view, rank) in context.views.iter().zip(&context.waterfall.ranks) {
            let mut thirds: BTreeMap<u32, (Vec<i64>, Vec<i64>)> = BTreeMap::new();
            for (at, row) in view.gpu.iter().enumerate() {
                let heavy =
                    matches!(view.family[at], OperatorFamily::MatrixProduct | OperatorFamily::Attention);
                if !heavy || view.role[at] != Role::Compute || row.start < from || row.start >= to {
                    continue;
                }
                let (first, last) = thirds.entry(row.name.0).or_default();
                if row.start < from + third {
                    first.push(row.duration());
                } else if row.start >= to - third {
                    last.push(row.duration());
                }
            }
            let (mut before, mut after) = (0.0, 0.0);
            for (first, last) in thirds.values_mut() {
                // One name may stand for several shapes: the same mix of them must be in both thirds.
                let alike = first.len().abs_diff(last.len()) * 10 <= first.len();
                if first.len() < ENOUGH || last.len() < ENOUGH || !alike {
                    continue;
                }
                let count = last.len() as f64;
                before += median(first) * count;
                after += median(last) * count;
            }
            if before > 0.0 && after / before > 1.0 + GROWTH {
                slower.push((rank.rank, after / before - 1.0));
                lost += (after - before) / context.samples();
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
            evidence: slower
                .iter()
                .take(4)
                .map(|(rank, by)| {
                    format!("rank {rank}: {} slower in the last third than in the first", percent(*by))
                })
                .collect(),
            advice:
                "monitor clocks, temperature and power of these devices; cap the power of all devices equally"
                    .to_owned(),
            ..Finding::default()
        }]
    }
}
