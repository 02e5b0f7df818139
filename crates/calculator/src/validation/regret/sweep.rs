//! One sweep: its layouts, the selection, the regret, and the accuracy of the whole order.
//!
//! Responsible for: conversion of rows to layouts, and of layouts to one line of the table of regrets. Memory
//! is in [`super::memory`].

use super::super::report::RowResult;
use super::super::statistics::{quantile, rank_correlation};
use super::definition::{FEWEST_LAYOUTS, SMALLEST_DIFFERENCE, SMALLEST_SPREAD, Sweep};
use super::pairs;
use crate::memory::SURE_TO_FIT;
use serde::Serialize;
use std::collections::BTreeMap;

/// One layout of a sweep: rows that the calculator cannot distinguish.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// Identifier of the first of its rows.
    pub id: String,
    /// Predicted step time in seconds, including the expected slowdown near the memory limit.
    pub predicted: f64,
    /// Median measured step time in seconds. `None` if no row of it ran.
    pub measured: Option<f64>,
    /// True if all of its runs ran out of memory.
    pub out_of_memory: bool,
    /// True if it is predicted to fit.
    pub fits: bool,
    /// Software generation of its prediction.
    pub software: String,
}

/// Regret within one sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepRegret {
    /// Common settings of its rows.
    #[serde(flatten)]
    pub sweep: Sweep,
    /// Number of layouts that ran.
    pub layouts: usize,
    /// Slowest measured time over fastest, minus 1.
    pub spread: f64,
    /// The layout that is predicted to be the fastest.
    pub pick: String,
    /// Its measured step time in seconds.
    pub pick_measured_s: f64,
    /// The fastest measured layout.
    pub best: String,
    /// Its measured step time in seconds.
    pub best_measured_s: f64,
    /// Measured time of the selection over that of the best, minus 1.
    pub regret: f64,
    /// The same for the median layout: the median loss of a random selection.
    pub random: f64,
    /// Number of pairs whose measured times differ by more than 2%.
    pub pairs: usize,
    /// Number of these that are predicted in the right order.
    pub pairs_right: usize,
    /// Spearman's rank correlation of predicted and measured times. `None` for too few layouts or no
    /// variation.
    pub rank_correlation: Option<f64>,
}

/// The layouts of a sweep's rows, in order of predicted time. Excludes rows without a prediction, and rows
/// that neither ran nor ran out of memory.
pub(crate) fn layouts(rows: &[&RowResult]) -> Vec<Layout> {
    let mut same: BTreeMap<(u64, u64, &str), Vec<&RowResult>> = BTreeMap::new();
    for row in rows {
        let expected = row.expected_step_time_s.or(row.predicted_step_time_s);
        let Some(predicted) = expected.filter(|t| *t > 0.0) else { continue };
        if !row.measured_out_of_memory && row.measured_step_time_s.is_none() {
            continue;
        }
        let memory = row.predicted_peak_memory_bytes.unwrap_or_default();
        // Positive numbers have the order of their bits.
        let key = (predicted.to_bits(), memory.to_bits(), row.software.as_deref().unwrap_or_default());
        same.entry(key).or_default().push(row);
    }
    same.into_iter()
        .map(|((predicted, _, software), rows)| {
            let measured: Vec<f64> = rows
                .iter()
                .filter(|r| !r.measured_out_of_memory)
                .filter_map(|r| r.measured_step_time_s)
                .collect();
            Layout {
                id: rows.first().map(|r| r.id.clone()).unwrap_or_default(),
                predicted: f64::from_bits(predicted),
                measured: (!measured.is_empty()).then(|| quantile(&measured, 0.5)),
                out_of_memory: measured.is_empty(),
                fits: rows.iter().all(|r| r.probability_of_fitting.is_none_or(|p| p >= SURE_TO_FIT)),
                software: software.to_owned(),
            }
        })
        .collect()
}

/// Evaluates a sweep. `None` if there are too few layouts that ran, or none that differ.
pub(super) fn judge(identity: &Sweep, layouts: &[Layout]) -> Option<SweepRegret> {
    let ran: Vec<(&Layout, f64)> = layouts.iter().filter_map(|l| Some((l, l.measured?))).collect();
    if ran.len() < FEWEST_LAYOUTS {
        return None;
    }
    let pick = ran.iter().min_by(|a, b| a.0.predicted.total_cmp(&b.0.predicted))?;
    let best = ran.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let times: Vec<f64> = ran.iter().map(|r| r.1).collect();
    let spread = quantile(&times, 1.0) / best.1 - 1.0;
    if spread < SMALLEST_SPREAD {
        return None;
    }
    let points: Vec<(f64, f64)> = ran.iter().map(|(l, m)| (l.predicted, *m)).collect();
    let (pairs, pairs_right) = pairs::ordered(&points, SMALLEST_DIFFERENCE);
    Some(SweepRegret {
        sweep: identity.clone(),
        layouts: ran.len(),
        spread,
        pick: pick.0.id.clone(),
        pick_measured_s: pick.1,
        best: best.0.id.clone(),
        best_measured_s: best.1,
        regret: pick.1 / best.1 - 1.0,
        random: quantile(&times, 0.5) / best.1 - 1.0,
        pairs,
        pairs_right,
        rank_correlation: rank_correlation(&points),
    })
}
