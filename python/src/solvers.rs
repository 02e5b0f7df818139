//! Questions for solvers: cluster size, recompute, pipeline balance.

use crate::problem::raised;
use crate::question::{Arguments, Asked};
use crate::rows::RowsOf;
use crate::running::{Clusters, open};
use crate::types::{SizeResult, SizeRow, Solution, Variant};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods};
use railwright_answers::{self as answers, ClosedForm, Refused, Settings, SizeOptions, Unmonitored};
use railwright_calculator::memory::SURE_TO_FIT;
use railwright_spec::human;
use railwright_spec::plan::RecomputeModule;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Dollars;
use railwright_spec::run::{Field as _, Value};
use railwright_tuner::{balance as balancing, recompute as recomputing};
use std::sync::Arc;

/// Sizes a cluster for a deadline or a budget.
#[pyfunction]
#[pyo3(signature = (
    model=None, cluster=None, *, tokens, deadline=None, budget=None, growing_batch=false, worth=None, run=None, **settings
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn size(
    py: Python<'_>,
    model: Option<&Bound<'_, PyAny>>,
    cluster: Option<Clusters>,
    tokens: &Bound<'_, PyAny>,
    deadline: Option<String>,
    budget: Option<String>,
    growing_batch: bool,
    worth: Option<f64>,
    run: Option<&str>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<SizeResult> {
    let settings = settings.map(PyDictMethods::copy).transpose()?.unwrap_or_else(|| PyDict::new(py));
    settings.set_item("tokens", tokens)?;
    let (specs, devices, texts) = open(py, model, cluster, run, Some(&settings))?;
    let wanted = SizeOptions { deadline, budget, growing_batch, worth, ..SizeOptions::default() };
    let answer = py.detach(|| {
        let asked = Settings::new(&specs, &devices, &texts)?;
        answers::size(&asked, &wanted, &ClosedForm, &Unmonitored)
    });
    let answer = answer.map_err(|refused| raised(py, &refused))?;
    let rows = answer.sized.rows.iter().zip(&answer.layouts).map(|(row, layout)| SizeRow {
        cluster: row.cluster.clone(),
        accelerator: row.accelerator.clone(),
        devices: row.devices,
        layout: layout.clone(),
        step_time_s: row.step_time.get(),
        tokens_per_second: row.tokens_per_second,
        mfu: row.mfu,
        training_time_s: row.bill.calendar.get(),
        cost_dollars: row.bill.rent.map(Dollars::get),
        scaling_efficiency: row.efficiency,
        in_time: row.in_time,
        in_budget: row.in_budget,
        source: None,
    });
    let rows = RowsOf::new(rows);
    let recommended = answer.sized.verdict.chosen.filter(|_| !answer.is_no()).map(|row| row as u64);
    Ok(SizeResult {
        title: answer.title.clone(),
        complete: answer.is_complete,
        recommended,
        rows,
        chosen: answer.chosen.clone(),
        source: Some(Arc::new(answer)),
    })
}

/// Flags of frameworks, one per line.
fn lines<'a>(flags: impl IntoIterator<Item = (&'a str, &'a Vec<String>)>) -> Vec<String> {
    let of = |(framework, lines): (&'a str, &'a Vec<String>)| {
        lines.iter().map(move |line| format!("{framework}: {line}")).collect::<Vec<_>>()
    };
    flags.into_iter().flat_map(of).collect()
}

/// Chooses the cheapest recompute that fits.
#[pyfunction]
#[pyo3(signature = (
    model=None, cluster=None, *, fit_probability=SURE_TO_FIT, uniform=false, allow_offload=false, modules=None, run=None,
    plan=None, **settings
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn recompute(
    py: Python<'_>,
    model: Option<&Bound<'_, PyAny>>,
    cluster: Option<&str>,
    fit_probability: f64,
    uniform: bool,
    allow_offload: bool,
    modules: Option<Vec<String>>,
    run: Option<&str>,
    plan: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Solution> {
    let resolved = Asked::new(py, &Arguments { model, cluster, run, plan, settings })?.resolved(py)?;
    let failed = |refused: Refused| raised(py, &refused);
    let read = |name: String| RecomputeModule::read(&Value::Text(name));
    let modules = modules
        .map(|names| names.into_iter().map(read).collect::<Result<_, Problem>>())
        .transpose()
        .map_err(|problem| failed(problem.in_file("modules").into()))?;
    let options =
        recomputing::Options { probability: fit_probability, uniform, offload: allow_offload, modules };
    let solved = py.detach(|| answers::recompute(resolved, &options)).map_err(failed)?;
    let answer = &solved.answer;
    let named = [
        ("best", answer.best.as_ref()),
        ("as given", answer.given.as_ref()),
        ("best uniform", answer.uniform.as_ref()),
        ("none", Some(&answer.none)),
        ("full", Some(&answer.full)),
    ];
    let variants = named.into_iter().filter_map(|(name, variant)| {
        let variant = variant?;
        Some(Variant {
            name: name.to_owned(),
            choice: variant.what.clone(),
            step_time_s: variant.step_time.get(),
            memory_bytes: variant.memory.get(),
            probability_of_fitting: variant.probability_of_fitting,
            fits: variant.fits,
            source: None,
        })
    });
    Ok(Solution {
        title: solved.title.clone(),
        found: solved.plan.is_some(),
        variants: RowsOf::new(variants),
        flags: lines(solved.flags.iter().map(|flags| (flags.framework, &flags.lines))),
        run_file: solved.best_spec().map(|spec| spec.to_toml()),
        chosen: solved.chosen.clone(),
        source: Some(Arc::new(solved)),
    })
}

/// Balances layers across pipeline stages.
#[pyfunction]
#[pyo3(signature = (
    model=None, cluster=None, *, fit_probability=SURE_TO_FIT, with_recompute=false, run=None, plan=None, **settings
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn balance(
    py: Python<'_>,
    model: Option<&Bound<'_, PyAny>>,
    cluster: Option<&str>,
    fit_probability: f64,
    with_recompute: bool,
    run: Option<&str>,
    plan: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Solution> {
    let mut asked = Asked::new(py, &Arguments { model, cluster, run, plan, settings })?;
    answers::spread(&mut asked.spec);
    let resolved = asked.resolved(py)?;
    let options = balancing::Options { probability: fit_probability, recompute: with_recompute };
    let solved = py.detach(|| answers::balance(resolved, &options));
    let solved = solved.map_err(|refused| raised(py, &refused))?;
    let answer = &solved.answer;
    let named = [("best", answer.best.as_ref()), ("as given", Some(&answer.before))];
    let variants = named.into_iter().filter_map(|(name, division)| {
        let division = division?;
        Some(Variant {
            name: name.to_owned(),
            choice: format!("layers {}", human::counts(&division.layers)),
            step_time_s: division.step_time.get(),
            memory_bytes: division.memory.get(),
            probability_of_fitting: division.probability_of_fitting,
            fits: division.fits,
            source: None,
        })
    });
    Ok(Solution {
        title: solved.title.clone(),
        found: solved.plan.is_some(),
        variants: RowsOf::new(variants),
        flags: lines(solved.flags.iter().map(|flags| (flags.framework, &flags.lines))),
        run_file: solved.best_spec().map(|spec| spec.to_toml()),
        chosen: solved.chosen.clone(),
        source: Some(Arc::new(solved)),
    })
}
