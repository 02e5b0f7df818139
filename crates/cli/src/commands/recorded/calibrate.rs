//! `calibrate`: converts measurements of the user's own machine to a calibration file.

pub(crate) mod step_times;

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input::measured::{Measured, Where};
use crate::input::{self, CONFIG_LIMIT};
use crate::printer::Printer;
use railwright_calculator::calibration::{Case, Fitted, Timed, fit, judge, judge_steps, judge_timed};
use railwright_commands::needs;
use railwright_profiler::samples::Part;
use railwright_reports::calibrate::{Calibrated, shown};
use railwright_spec::calibration::Calibration;
use railwright_spec::problem::Problem;

/// Fits, judges or shows a calibration.
pub(crate) fn run(arguments: &args::calibrate::Calibrate, printer: &Printer) -> Result<Outcome, Failure> {
    if let Some(path) = &arguments.show {
        if !arguments.paths.is_empty() {
            let problem = Problem::new("--show cannot be combined with measurements")
                .in_file(arguments.paths.join(" "));
            return Err(problem.hint("use --judge to compare a calibration with measurements").into());
        }
        let calibration = read(path)?;
        printer.answer(&shown::Shown { calibration }, &arguments.output)?;
        return Ok(Outcome::Yes);
    }
    needs(("--step", !arguments.step.is_empty()), ("--run", arguments.run.is_some()))?;
    let measurements = arguments.into();
    let measured = Measured::read(&measurements, printer)?;
    let place = Where::of(&measurements, &measured)?;
    let runs = step_times::runs(arguments, &place)?;
    let timed: Vec<Timed<'_>> = runs.iter().map(step_times::Measured::timed).collect();
    let case = Case {
        cluster: &place.cluster,
        software: &place.software,
        run: place.run.as_ref().map(|run| (&run.model, &run.plan)),
        is_causal: !arguments.not_causal,
        timed: &timed,
    };
    let doubt = measured.belong(place.run.as_ref())?;
    let mut answer = match &arguments.judge {
        Some(path) => judged(&case, read(path)?, &measured)?,
        None if arguments.hold_out => held_out(&case, &measured)?,
        None => of_fit(fit(&case, &measured.samples(Part::All)?)?),
    };
    answer.warnings.extend(doubt);
    answer.title = measured.title();
    answer.cluster.clone_from(&place.cluster.name);
    answer.remarks.extend(place.remarks.iter().cloned());
    answer.remarks.sort();
    answer.remarks.dedup();
    let mut output = arguments.output.clone();
    let is_toml = |path: &String| {
        std::path::Path::new(path).extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"))
    };
    if let Some(path) = output.output.take_if(|path| is_toml(path)) {
        if answer.calibration.is_empty() {
            let problem = Problem::new(
                "nothing to write: no fitted constant predicts these measurements better than the defaults",
            );
            return Err(problem.in_file(path).hint(answer.remarks.join("; ")).into());
        }
        printer.data(&answer.calibration.to_toml()?, Some(&path))?;
    }
    printer.answer(&answer, &output)?;
    Ok(Outcome::Yes)
}

fn read(path: &str) -> Result<Calibration, Problem> {
    Calibration::parse(&input::read(path, CONFIG_LIMIT)?, path)
}

fn of_fit(fitted: Fitted) -> Calibrated {
    Calibrated {
        title: String::new(),
        cluster: String::new(),
        fitted: true,
        calibration: fitted.calibration,
        lines: fitted.lines,
        steps: fitted.steps,
        held_out: Vec::new(),
        remarks: fitted.remarks,
        warnings: fitted.warnings,
    }
}

/// Fits to the first half and judges by the second.
fn held_out(case: &Case<'_>, measured: &Measured) -> Result<Calibrated, Failure> {
    let mut answer = of_fit(fit(case, &measured.samples(Part::FirstHalf)?)?);
    answer.held_out = judge(case, &answer.calibration, &measured.samples(Part::SecondHalf)?)?;
    Ok(answer)
}

/// Judges a calibration by measurements.
fn judged(case: &Case<'_>, calibration: Calibration, measured: &Measured) -> Result<Calibrated, Failure> {
    std::sync::Arc::new(calibration.clone()).applied(case.cluster.clone())?;
    let samples = measured.samples(Part::All)?;
    Ok(Calibrated {
        title: String::new(),
        cluster: String::new(),
        fitted: false,
        lines: judge(case, &calibration, &samples)?,
        steps: [judge_steps(case, &calibration, &samples)?, judge_timed(case, &calibration)?].concat(),
        held_out: Vec::new(),
        remarks: samples.iter().flat_map(|s| s.remarks.iter().cloned()).collect(),
        warnings: calibration.warnings(case.cluster, case.software),
        calibration,
    })
}
