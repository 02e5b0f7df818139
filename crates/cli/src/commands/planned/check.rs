//! `check`: validity and fit of launch files, one line each, for pre-commit hooks and pull requests.
//!
//! Responsible for: one verdict per file, and the difference to an earlier version of it. Uses the estimate
//! of `estimate FILE` for each file.

use crate::args::RunArguments;
use crate::args::check::Check;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::run;
use railwright_answers::{ClosedForm, estimate};
use railwright_calculator::estimate::Estimate;
use railwright_calculator::memory::Fit;
use railwright_calculator::model_flop::Convention;
use railwright_launch::RemarkKind;
use railwright_reports::check::{Answered, Checked, Figures, Verdict};
use railwright_spec::problem::Problem;

/// Checks every file. The outcome is the worst verdict.
pub(crate) fn run(arguments: &Check, printer: &Printer) -> Result<Outcome, Failure> {
    if arguments.against.is_some() && arguments.files.len() != 1 {
        let problem =
            Problem::new(format!("{} files are given, but only one earlier version", arguments.files.len()));
        return Err(problem.in_file("--against").hint("check one file at a time").into());
    }
    let mut files = Vec::new();
    for file in &arguments.files {
        let mut checked = check(arguments, file)?;
        if let Some(path) = &arguments.against {
            checked.against = Some(match figures(arguments, path) {
                Ok((_, figures)) => Ok(figures),
                Err(Failure::Input(problems)) => Err(problems),
                Err(other @ Failure::BrokenPipe) => return Err(other),
            });
        }
        files.push(checked);
    }
    let worst = files.iter().map(|checked| checked.verdict).max().unwrap_or(Verdict::Fits);
    printer.answer(&Answered { files }, &arguments.output)?;
    Ok(match worst {
        Verdict::Fits => Outcome::Yes,
        Verdict::AtRisk => Outcome::AtRisk,
        Verdict::DoesNotFit => Outcome::No,
        Verdict::Invalid => Outcome::Invalid,
    })
}

fn check(arguments: &Check, file: &str) -> Result<Checked, Failure> {
    let mut checked = Checked {
        file: file.to_owned(),
        verdict: Verdict::Invalid,
        problems: Vec::new(),
        warnings: Vec::new(),
        remarks: Vec::new(),
        figures: None,
        against: None,
    };
    match figures(arguments, file) {
        Ok((estimate, figures)) => {
            checked.verdict = match estimate.memory.fit {
                Fit::Fits => Verdict::Fits,
                Fit::AtRisk => Verdict::AtRisk,
                Fit::DoesNotFit => Verdict::DoesNotFit,
            };
            checked.warnings = estimate.warnings;
            checked.figures = Some(figures);
        }
        Err(Failure::Input(problems)) => checked.problems = problems,
        Err(other @ Failure::BrokenPipe) => return Err(other),
    }
    if let Ok(Some(launch)) = run::launch::find(&asked(arguments, file)) {
        checked.remarks = REMARKS.into_iter().flat_map(|kind| launch.remarks_of(kind)).cloned().collect();
    }
    if checked.remarks.iter().any(|remark| remark.kind == RemarkKind::Invalid) {
        checked.verdict = Verdict::Invalid;
    }
    Ok(checked)
}

/// Remarks that are shown, the gravest first.
const REMARKS: [RemarkKind; 5] = [
    RemarkKind::Invalid,
    RemarkKind::Conflict,
    RemarkKind::Unresolved,
    RemarkKind::Unknown,
    RemarkKind::NotModelled,
];

/// The arguments of `estimate` for a file.
fn asked(arguments: &Check, file: &str) -> RunArguments {
    RunArguments {
        model: Some(file.to_owned()),
        launch_args: arguments.launch_args.clone(),
        cluster: arguments.cluster.clone(),
        set: arguments.set.clone(),
        flags: arguments.flags.clone(),
        ..RunArguments::default()
    }
}

/// The estimate of a file, and its reported results.
fn figures(arguments: &Check, file: &str) -> Result<(Estimate, Figures), Failure> {
    let resolved = run::resolve(&asked(arguments, file))?;
    let run = resolved.run.clone();
    let estimate = estimate(resolved, &ClosedForm)?.estimate;
    let interval = &estimate.step_time_interval;
    let figures = Figures {
        model: run::describe(&run.model),
        gpus: run.cluster.devices,
        accelerator: run
            .cluster
            .kinds()
            .map(|(kind, _)| kind.accelerator.name.as_str())
            .collect::<Vec<_>>()
            .join(" + "),
        plan: estimate.plan_summary.clone(),
        software: run.plan.software.clone(),
        step_time_s: estimate.step_time.get(),
        step_time_interval_s: [interval.low.get(), interval.high.get()],
        mfu: estimate.efficiency.mfu(Convention::REPORTED),
        memory_peak_bytes: estimate.memory.peak.get(),
        memory_capacity_bytes: estimate.memory.device_memory.get(),
        probability_of_fitting: estimate.memory.probability_of_fitting,
        rent_usd: estimate
            .money
            .as_ref()
            .and_then(|bill| bill.rent)
            .map(railwright_spec::quantity::Dollars::get),
        days: estimate.money.as_ref().map(|bill| bill.calendar.get() / 86_400.0),
    };
    Ok((estimate, figures))
}
