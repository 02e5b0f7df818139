//! Questions about one run: estimate, memory, the fast path, and changes.

use crate::problem::raised;
use crate::question::{Arguments, Asked, set};
use crate::rows::RowsOf;
use crate::types::{
    Change, Collective, Estimate, Evaluation, Memory, MemoryItem, MemoryStage, Part, Pool, Stage, Warning,
    WhatIf,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use railwright_answers::{self as answers, ClosedForm, Filled, Unmonitored, fill};
use railwright_calculator::estimate::Part as TimePart;
use railwright_calculator::model_flop::Convention;
use railwright_spec::problem::{self, Problem};
use railwright_spec::quantity::{Dollars, Seconds};
use std::sync::Arc;

/// Identifier as in JSON: `does_not_fit`.
pub(crate) fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Warnings as rows.
pub(crate) fn warnings(list: &[problem::Warning]) -> RowsOf<Warning> {
    let one = |warning: &problem::Warning| Warning {
        id: warning.id.clone(),
        message: warning.message.clone(),
        source: None,
    };
    RowsOf::new(list.iter().map(one))
}

/// Estimates step time, memory and cost of a training run.
#[pyfunction]
#[pyo3(signature = (model=None, cluster=None, *, run=None, plan=None, **settings))]
pub(crate) fn estimate(
    py: Python<'_>,
    model: Option<&Bound<'_, PyAny>>,
    cluster: Option<&str>,
    run: Option<&str>,
    plan: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Estimate> {
    let asked = Asked::new(py, &Arguments { model, cluster, run, plan, settings })?;
    let resolved = asked.resolved(py)?;
    // Settings that a framework's arguments leave open are not filled in.
    let is_launched = plan.is_some();
    let answer = py.detach(|| {
        let resolved = if is_launched {
            resolved
        } else {
            match fill(resolved, &asked.texts, &ClosedForm, &Unmonitored)? {
                Filled::Run(resolved) | Filled::NothingFits(resolved) => *resolved,
            }
        };
        answers::estimate(resolved, &ClosedForm)
    });
    Ok(estimated(answer.map_err(|refused| raised(py, &refused))?))
}

fn estimated(answer: answers::Estimated) -> Estimate {
    let estimate = &answer.estimate;
    let bill = estimate.money.as_ref();
    Estimate {
        model: estimate.model.name.clone(),
        accelerator: estimate.cluster.accelerator_name.clone(),
        devices: estimate.cluster.devices,
        pools: RowsOf::new(estimate.cluster.pools.iter().map(|pool| Pool {
            accelerator: pool.accelerator_name.clone(),
            first_rank: pool.first_rank,
            devices: pool.devices,
            source: None,
        })),
        plan: estimate.plan_summary.clone(),
        software: estimate.plan.software.clone(),
        step_time_s: estimate.step_time.get(),
        step_time_low_s: estimate.step_time_interval.low.get(),
        step_time_high_s: estimate.step_time_interval.high.get(),
        step_time_half_low_s: estimate.step_time_interval.half_low.get(),
        step_time_half_high_s: estimate.step_time_interval.half_high.get(),
        interval_share: estimate.step_time_interval.coverage,
        tokens_per_second: estimate.throughput.tokens_per_second,
        tokens_per_second_per_device: estimate.throughput.tokens_per_second_per_device,
        mfu: estimate.efficiency.mfu(Convention::REPORTED),
        memory_bytes: estimate.memory.peak.get(),
        device_memory_bytes: estimate.memory.device_memory.get(),
        fit: word(&estimate.memory.fit),
        probability_of_fitting: estimate.memory.probability_of_fitting,
        training_time_s: bill.map(|bill| bill.calendar.get()),
        cost_dollars: bill.and_then(|bill| bill.rent).map(Dollars::get),
        stages: RowsOf::new(estimate.stages.iter().map(|row| Stage {
            stage: row.stage as u64,
            layers: row.layers,
            forward_s: row.forward.get(),
            backward_s: row.backward.get(),
            recompute_s: row.recompute.get(),
            busy_s: row.busy.get(),
            exposed_s: row.exposed.get(),
            bubble_s: row.bubble.get(),
            memory_bytes: row.memory.get(),
            critical: row.critical,
            source: None,
        })),
        communication: RowsOf::new(estimate.communication.iter().map(|row| Collective {
            dimension: row.dimension.to_owned(),
            title: row.title.clone(),
            operation: row.operation.to_owned(),
            size_bytes: row.bytes.get(),
            ranks: row.ranks,
            domains: row.domains,
            count: row.count,
            time_each_s: row.time_each.get(),
            time_s: row.time.get(),
            exposed_s: row.exposed.map(Seconds::get),
            bus_bandwidth_bytes_per_s: row.bus_bandwidth.get(),
            source: None,
        })),
        time: RowsOf::new(parts(&estimate.time)),
        warnings: warnings(&estimate.warnings),
        chosen: answer.chosen.clone(),
        source: Some(Arc::new(answer)),
    }
}

/// A part and all parts below it.
fn parts(step: &TimePart) -> Vec<Part> {
    let mut out = Vec::new();
    let mut open = vec![(0, step)];
    while let Some((depth, part)) = open.pop() {
        out.push(Part {
            id: part.id.clone(),
            depth,
            title: part.title.clone(),
            time_s: part.time.get(),
            share: part.share,
            source: None,
        });
        open.extend(part.children.iter().rev().map(|child| (depth + 1, child)));
    }
    out
}

/// Breaks down peak memory per pipeline stage.
#[pyfunction]
#[pyo3(signature = (model=None, cluster=None, *, run=None, plan=None, **settings))]
pub(crate) fn memory(
    py: Python<'_>,
    model: Option<&Bound<'_, PyAny>>,
    cluster: Option<&str>,
    run: Option<&str>,
    plan: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Memory> {
    let resolved = Asked::new(py, &Arguments { model, cluster, run, plan, settings })?.resolved(py)?;
    let answer = py.detach(|| answers::memory(&resolved, None)).map_err(|refused| raised(py, &refused))?;
    let report = &answer.report;
    let worst = report.stages.get(report.worst);
    let items = report.stages.iter().flat_map(|stage| {
        stage.items.iter().map(|item| MemoryItem {
            stage: stage.stage as u64,
            kind: word(&item.kind),
            module: item.module.as_ref().map(word),
            layer: item.layer.map(u64::from),
            size_bytes: item.bytes.get(),
            source: None,
        })
    });
    Ok(Memory {
        title: answer.title.clone(),
        memory_bytes: worst.map_or(0.0, |stage| stage.device.get()),
        device_memory_bytes: report.device_memory.get(),
        fit: word(&report.fit),
        probability_of_fitting: report.probability_of_fitting,
        worst_stage: report.worst as u64,
        stages: RowsOf::new(report.stages.iter().map(|stage| MemoryStage {
            stage: stage.stage as u64,
            allocated_bytes: stage.allocated.get(),
            reserved_bytes: stage.reserved.get(),
            device_bytes: stage.device.get(),
            moment: word(&stage.moment),
            source: None,
        })),
        items: RowsOf::new(items),
        warnings: warnings(&answer.warnings),
        source: Some(Arc::new(answer)),
    })
}

/// A prepared run for many evaluations.
#[pyclass(frozen, module = "railwright")]
pub(crate) struct Prepared(answers::Prepared);

#[pymethods]
impl Prepared {
    /// Evaluates the run with other settings of its plan.
    #[pyo3(signature = (**settings))]
    fn evaluate(&self, py: Python<'_>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Evaluation> {
        let failed = |refused: answers::Refused| raised(py, &refused);
        let found = match settings {
            None => self.0.evaluate(&self.0.run().plan),
            Some(settings) => {
                let mut spec = self.0.spec().clone();
                set(py, settings, &mut spec)?;
                let own = self.0.spec();
                if (&spec.model, &spec.cluster, &spec.training, &spec.cost)
                    != (&own.model, &own.cluster, &own.training, &own.cost)
                {
                    let problem = Problem::new("a prepared run takes other settings of its plan alone");
                    return Err(failed(
                        problem.hint("prepare another run for another model or cluster").into(),
                    ));
                }
                let plan = self.0.plan(&spec).map_err(failed)?;
                self.0.evaluate(&plan)
            }
        }
        .map_err(failed)?;
        Ok(Evaluation {
            step_time_s: found.step_time.get(),
            memory_bytes: found.memory.get(),
            fit: word(&found.fit),
            probability_of_fitting: found.probability_of_fitting,
            source: None,
        })
    }

    fn __repr__(&self) -> String {
        format!("Prepared({})", answers::title(self.0.run()))
    }
}

/// Prepares a run for many evaluations.
#[pyfunction]
#[pyo3(signature = (model=None, cluster=None, *, run=None, plan=None, **settings))]
pub(crate) fn prepare(
    py: Python<'_>,
    model: Option<&Bound<'_, PyAny>>,
    cluster: Option<&str>,
    run: Option<&str>,
    plan: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Prepared> {
    let resolved = Asked::new(py, &Arguments { model, cluster, run, plan, settings })?.resolved(py)?;
    Ok(Prepared(answers::Prepared::new(resolved)))
}

/// Evaluates a prepared run, optionally with other settings of its plan.
#[pyfunction]
#[pyo3(signature = (prepared, **settings))]
pub(crate) fn evaluate(
    py: Python<'_>,
    prepared: &Bound<'_, Prepared>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Evaluation> {
    prepared.get().evaluate(py, settings)
}

/// Applies changes to a run, one at a time and combined.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments of Python are values")]
#[pyo3(signature = (model=None, cluster=None, *, changes, run=None, plan=None, **settings))]
pub(crate) fn whatif(
    py: Python<'_>,
    model: Option<&Bound<'_, PyAny>>,
    cluster: Option<&str>,
    changes: Vec<String>,
    run: Option<&str>,
    plan: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<WhatIf> {
    let asked = Asked::new(py, &Arguments { model, cluster, run, plan, settings })?;
    let failed = |refused: answers::Refused| raised(py, &refused);
    let changes = answers::changes(&changes).map_err(failed)?;
    let resolved = asked.resolved(py)?;
    let answer = py.detach(|| answers::whatif(resolved, &changes, &asked.texts, None)).map_err(failed)?;
    let found = &answer.answer;
    let changes = found.alone.iter().chain(&found.together).map(|rehearsal| {
        let possible = rehearsal.possible();
        let reason = match &rehearsal.outcome {
            railwright_tuner::whatif::Outcome::Impossible { problems } => {
                problems.first().map(ToString::to_string)
            }
            railwright_tuner::whatif::Outcome::Possible(_) => None,
        };
        Change {
            name: rehearsal.name.clone(),
            possible: possible.is_some(),
            step_time_s: possible.map(|p| p.after.step_time.get()),
            step_time_share: possible.map(|p| p.difference.share),
            speedup: possible.map(|p| p.difference.speedup),
            mfu: possible.map(|p| p.after.model_flop_utilisation),
            memory_bytes: possible.map(|p| p.after.memory.get()),
            fit: possible.map(|p| word(&p.after.fit)),
            reason,
            source: None,
        }
    });
    Ok(WhatIf {
        model: found.model.clone(),
        plan: found.before.plan.clone(),
        step_time_s: found.before.step_time.get(),
        memory_bytes: found.before.memory.get(),
        changes: RowsOf::new(changes),
        chosen: answer.chosen.clone(),
        source: Some(Arc::new(answer)),
    })
}
