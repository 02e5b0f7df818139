//! Fitting a calibration: measurements of operators, collectives and steps to the figures that make the
//! calculator predict them.
//!
//! Responsible for: the constants that each kind of measurement determines, the fits, and the prediction
//! error before and after. Does not read measurements. Constants without measurements keep the catalogue's
//! values.
//!
//! Isolated measurements (nccl-tests, micro-benchmarks) determine burst rates. Measurements within runs
//! determine the sustained share of them ([`Regime`]). Steps are fitted last, with all other constants in
//! place.

mod case;
mod collectives;
mod compared;
mod figures;
mod left_out;
mod network;
mod operators;
mod plausible;
pub mod posterior;
mod predictor;
mod same_run;
pub mod step_times;
mod steps;
mod sustained;
pub mod table;

pub use case::Case;
pub use compared::{Line, StepLine};
pub use same_run::{Claim, differences};
pub use step_times::Timed;

use figures::rounded;
use predictor::Predictor;
use railwright_spec::calibration::{Calibration, Evidence, Operators, Regime, Samples};
use railwright_spec::cluster::Cluster;
use railwright_spec::problem::{Problem, Warning};
use serde::Serialize;
use std::sync::Arc;

/// A calibration with its accuracy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fitted {
    /// The fitted constants.
    pub calibration: Calibration,
    /// Kinds of operators and collectives compared with the measurements that they were fitted to.
    pub lines: Vec<Line>,
    /// The step and its parts; empty without a run or without steps.
    pub steps: Vec<StepLine>,
    /// Excluded measurements and assumptions, as text.
    pub remarks: Vec<String>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// Fits a calibration to measurements.
pub fn fit(case: &Case<'_>, samples: &[Samples]) -> Result<Fitted, Problem> {
    let bare = Cluster { calibration: None, ..case.cluster.clone() };
    let before = Predictor::new(&bare, case.software)?;
    let mut calibration = Calibration::empty(&bare.accelerator.id);
    let mut remarks: Vec<String> = samples.iter().flat_map(|s| s.remarks.iter().cloned()).collect();
    let judged = operators::fit(&before, case, samples, &mut calibration, &mut remarks);
    collectives::fit(&before, samples, &mut calibration, &mut remarks);
    network::fit(&bare, samples, &mut calibration);
    collectives::fit_rate(&bare, case.software, samples, &mut calibration, &mut remarks)?;
    sustained::fit(&bare, case.software, samples, &mut calibration, &mut remarks)?;
    case.software.clone_into(&mut calibration.software);
    calibration.link.clone_from(&bare.scale_up.link);
    let steps = match case.run {
        Some((model, plan)) => {
            // Operators for which the default is better are not fitted again to their sum.
            let stays =
                |((operators, regime), left_out): (&(Operators, Regime), &Option<left_out::LeftOut>)| {
                    let is_taken = left_out.is_some_and(|errors| errors.is_better());
                    (*regime == Regime::Sustained && !is_taken).then_some(*operators)
                };
            let kept: Vec<Operators> = judged.iter().filter_map(stays).collect();
            steps::fit((&bare, model, plan), samples, &kept, &mut calibration, &mut remarks)?
        }
        None => Vec::new(),
    };
    let steps = match case.timed {
        [] => steps,
        timed => {
            let mut timed = timed.to_vec();
            if let (Some((model, plan)), Some(whole)) = (case.run, steps::whole(samples)) {
                timed.push(Timed { model, cluster: &bare, plan, seconds: whole });
            }
            calibration.steps = step_times::fit(&timed, &calibration, "step times")?;
            step_times::lines(&timed, &calibration)?
        }
    };
    if !calibration.evidence().iter().any(|(_, regime, _)| *regime == Regime::Sustained) {
        calibration.software.clear();
    }
    if calibration.collectives.is_empty() {
        calibration.link.clear();
    }
    if calibration.is_empty() && judged.is_empty() && !samples.iter().any(|s| !s.collectives.is_empty()) {
        let problem = Problem::new("these measurements do not determine any constant of the cost model");
        let text = remarks.join("; ");
        return Err(if text.is_empty() {
            problem.hint("use traces with record_shapes=True, or a run with the shapes (--run)")
        } else {
            problem.hint(text)
        });
    }
    let mut lines = judge(case, &calibration, samples)?;
    for ((operators, regime), left_out) in &judged {
        let own = lines.iter_mut().find(|l| l.name == operators.name() && l.regime == *regime);
        if let Some(line) = own {
            line.error_left_out = left_out.map(|errors| errors.fitted);
        }
    }
    evidence(&mut calibration, &lines);
    let mut warnings = calibration.warnings(&bare, case.software);
    warnings.extend(plausible::warnings(&before, &calibration));
    warnings.extend(same_run::paces(samples));
    for line in lines.iter().filter(|line| line.error_after > line.error_before + 0.005) {
        warnings.push(Warning::new(
            "calibration-worse",
            format!(
                "the calibration does not improve {}: error {} without it, {} with it",
                line.name,
                railwright_spec::human::percent(line.error_before),
                railwright_spec::human::percent(line.error_after)
            ),
        ));
    }
    Ok(Fitted { calibration, lines, steps, remarks, warnings })
}

/// Compares measurements with predictions, without and with a calibration. The measurements may differ from
/// those of the fit.
pub fn judge(case: &Case<'_>, calibration: &Calibration, samples: &[Samples]) -> Result<Vec<Line>, Problem> {
    let bare = Cluster { calibration: None, ..case.cluster.clone() };
    let with = Cluster { calibration: Some(Arc::new(calibration.clone())), ..bare.clone() };
    let (before, after) = (Predictor::new(&bare, case.software)?, Predictor::new(&with, case.software)?);
    let mut lines = operators::lines(&before, &after, case, samples);
    lines.extend(collectives::lines(&before, &after, samples));
    Ok(lines)
}

/// The step and its parts of a run compared with measured ones, without and with a calibration.
pub fn judge_steps(
    case: &Case<'_>,
    calibration: &Calibration,
    samples: &[Samples],
) -> Result<Vec<StepLine>, Problem> {
    let bare = Cluster { calibration: None, ..case.cluster.clone() };
    let with = Cluster { calibration: Some(Arc::new(calibration.clone())), ..bare.clone() };
    match (case.run, steps::mean(samples)) {
        (Some((model, plan)), Some(measured)) => steps::lines(&bare, &with, model, plan, &measured),
        _ => Ok(Vec::new()),
    }
}

/// The timed steps of a case compared with their predictions, without and with a calibration.
pub fn judge_timed(case: &Case<'_>, calibration: &Calibration) -> Result<Vec<StepLine>, Problem> {
    step_times::lines(case.timed, calibration)
}

/// Writes the quality of the fits into the calibration.
fn evidence(calibration: &mut Calibration, lines: &[Line]) {
    let of = |name: &str, regime: Regime| lines.iter().find(|l| l.name == name && l.regime == regime);
    let take = |evidence: &mut Evidence, line: Option<&Line>| {
        if let Some(line) = line {
            evidence.error_before = rounded(line.error_before);
            evidence.error_after = rounded(line.error_after);
            evidence.spread = rounded(line.spread);
        }
    };
    for rate in &mut calibration.rates {
        take(&mut rate.evidence, of(&rate.operators.name(), rate.regime));
    }
    for law in &mut calibration.collectives {
        take(&mut law.evidence, of(&format!("{} x{}", law.operation.name(), law.ranks), law.regime));
    }
}

#[cfg(test)]
mod tests;
