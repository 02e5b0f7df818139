//! Evidence for the step time: the shares of measured models, of derived ones, and of software constants.

use super::communication::CommunicationRow;
use crate::costing::Costing;
use crate::evaluate::Evaluation;
use crate::operators;
use crate::{collectives, estimate::breakdown::stage_work};
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;

/// A share of the step with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvidenceShare {
    /// `operators.calibrated`, `operators.measured`, `operators.fitted`, `operators.derived`,
    /// `operators.roofline`, `collectives.calibrated`, `collectives.measured`, `collectives.
    /// interpolated`, `collectives.derived`, `software`, `schedule`.
    pub id: String,
    /// Title for display.
    pub title: String,
    /// Time in the step with this evidence.
    pub time: Seconds,
    /// Share of the step (0 to 1).
    pub share: f64,
}

pub(super) const OPERATORS: [(&str, &str); 5] = [
    ("operators.calibrated", "operators calibrated with your own measurements"),
    ("operators.measured", "operators measured at similar shapes on this accelerator"),
    ("operators.fitted", "operator models fitted on this accelerator"),
    ("operators.derived", "operator models transferred from another accelerator"),
    ("operators.roofline", "data-sheet rates at a typical efficiency"),
];

pub(super) const COLLECTIVES: [(&str, &str); 4] = [
    ("collectives.calibrated", "collectives calibrated with your own measurements"),
    ("collectives.measured", "collectives measured on this link generation"),
    ("collectives.interpolated", "collectives interpolated or extrapolated from measured rank counts"),
    ("collectives.derived", "collectives from data-sheet bandwidths"),
];

/// The evidence for a step, largest share first; the times sum to the step.
pub(super) fn foundations(
    costing: &Costing<'_>,
    evaluation: &Evaluation,
    communication: &[CommunicationRow],
) -> Vec<EvidenceShare> {
    let time = &evaluation.time;
    let work = stage_work(costing, evaluation, evaluation.critical_stage);
    let mut operator = [Seconds::ZERO; 5];
    for work in [&work.forward, &work.backward_input, &work.backward_weight, &work.recompute] {
        for (slot, value) in operator.iter_mut().zip(work.founded) {
            *slot += value;
        }
    }
    let streams = costing.machine.device.memory_bound(Bytes::from_gib(1.0)).source;
    operator[streams as usize] += time.optimizer;

    // Exposed communication has the evidence of its dimension's calls, weighted by their times.
    let mut collective = [Seconds::ZERO; 4];
    let mut add = |exposed: Seconds, dimension: &str| {
        let rows = || communication.iter().filter(|r| r.dimension == dimension);
        let all: Seconds = rows().map(|r| r.time).sum();
        for row in rows().filter(|_| all > Seconds::ZERO) {
            let slot = match row.source {
                collectives::Source::Calibrated => 0,
                collectives::Source::Nothing | collectives::Source::Measured => 1,
                collectives::Source::Interpolated => 2,
                collectives::Source::Derived => 3,
            };
            collective[slot] += exposed * (row.time / all);
        }
        if all <= Seconds::ZERO {
            collective[3] += exposed;
        }
    };
    for &(dimension, exposed) in &time.exposed {
        add(exposed, super::breakdown::dimension_id(dimension).0);
    }
    add(time.data_parallel, "data");

    let named = OPERATORS.iter().zip(operator).chain(COLLECTIVES.iter().zip(collective));
    let mut list: Vec<(&str, &str, Seconds)> = named.map(|(&(id, title), time)| (id, title, time)).collect();
    list.push(("software", "constants of the software generation", time.host + time.fixed + time.jitter));
    list.push(("schedule", "pipeline schedule computed from the costs above", time.bubble));
    let mut foundations: Vec<EvidenceShare> = list
        .into_iter()
        .filter(|&(.., value)| value.get().abs() > 0.0)
        .map(|(id, title, value)| EvidenceShare {
            id: id.to_owned(),
            title: title.to_owned(),
            time: value,
            share: value / time.total,
        })
        .collect();
    foundations.sort_by(|a, b| b.time.get().total_cmp(&a.time.get()));
    foundations
}

/// Share of the operators' time with evidence from another accelerator or from the data sheet.
pub(super) fn weak_operator_share(foundations: &[EvidenceShare]) -> f64 {
    let sum = |ids: &[&str]| -> f64 {
        foundations.iter().filter(|f| ids.contains(&f.id.as_str())).map(|f| f.share).sum()
    };
    let all = sum(&OPERATORS.map(|o| o.0));
    if all > 0.0 { sum(&["operators.derived", "operators.roofline"]) / all } else { 0.0 }
}

const _: () = assert!(operators::Source::Roofline as usize == 4);
