//! `compare`: two traces or two training logs compared, or a run's prediction with its trace or its log.

pub(crate) mod logs;
pub(crate) mod modelled;

use crate::commands::recorded::profiled;
use crate::exit::{Failure, Outcome};
use crate::input::kind::{self, Kind};
use crate::input::remote::without_query;
use crate::printer::Printer;
use crate::{args, input};
use railwright_profiler::compare::{Condition, compare};
use railwright_profiler::noise::{self, Shift};
use railwright_profiler::profile::Report;
use railwright_reports::compare::Compared;
use railwright_spec::problem::Problem;

/// Compares the contents of two paths. The outcome is `No` if a failure condition is met.
pub(crate) fn run(arguments: &args::Compare, printer: &Printer) -> Result<Outcome, Failure> {
    let conditions =
        arguments.fail_if.iter().map(|text| Condition::parse(text)).collect::<Result<Vec<_>, Problem>>()?;
    let kinds = [Some(kind::of(&arguments.first)), arguments.second.as_deref().map(kind::of)];
    if kinds.contains(&Some(Kind::Log)) {
        return logs::run(arguments, kinds, &conditions, printer);
    }
    if arguments.launch.is_some() {
        let problem = Problem::new("--launch is the launch file of a training log, but A is not a log")
            .in_file("--launch");
        return Err(problem
            .hint("pass a launch file as one side, as in `railwright compare train.sh traces/`")
            .into());
    }
    let Some(second) = &arguments.second else {
        let problem = Problem::new("the second side of the comparison is missing").in_file(&arguments.first);
        return Err(problem
            .hint("pass a second path; a single training log is compared with its prediction")
            .into());
    };
    let sides = [&arguments.first, second];
    if kinds == [Some(Kind::Run); 2] {
        let problem = Problem::new("both files are run files, so there is no measurement");
        return Err(problem.hint("`railwright whatif` compares two predictions").into());
    }
    if kinds.contains(&Some(Kind::Run)) {
        return modelled::run(arguments, (sides, kinds[0] == Some(Kind::Run)), &conditions, printer);
    }
    let how = "pass a run file or a launch file as one side, as in `railwright compare run.toml traces/`";
    arguments.run_settings.without_run(how)?;
    if arguments.calibration.is_some() {
        let problem = Problem::new("this option applies to a prediction, but both sides are measured");
        return Err(problem.in_file("--calibration").hint(how).into());
    }
    let tables =
        input::opened::tables(arguments.reading.families.as_deref(), arguments.reading.kernels.as_deref())?;
    let mut reports = Vec::new();
    for path in sides {
        let mut options = profiled::options(tables.clone(), &args::Needed::default())?;
        options.step = arguments.step;
        let read = profiled::read(
            std::slice::from_ref(path),
            "compare",
            &arguments.reading,
            &options.tables,
            printer,
        )?;
        reports.push(read.profiled(&options, printer)?.report.clone());
    }
    let comparison = compare(&reports[0], &reports[1]);
    let shift = between(&reports[0], &reports[1]);
    let significant = shift.as_ref().and_then(Shift::is_significant);
    let verdict = |condition: &Condition| {
        let verdict = condition.check(&comparison)?;
        // The variation of other metrics between steps is unknown.
        let known = significant.filter(|_| condition.figure == "step_time");
        Ok(verdict.with_significance(known))
    };
    let verdicts = conditions.iter().map(verdict).collect::<Result<Vec<_>, Problem>>()?;
    let fails = verdicts.iter().any(|verdict| verdict.met);
    let answer = Compared {
        titles: sides.map(|side| without_query(side).to_owned()),
        comparison,
        shift,
        verdicts,
        top: arguments.top,
    };
    printer.answer(&answer, &arguments.output)?;
    Ok(if fails { Outcome::No } else { Outcome::Yes })
}

/// The shift between the steps of two recordings.
fn between(first: &Report, second: &Report) -> Option<Shift> {
    let steps = |report: &Report| report.steps.iter().map(|step| step.duration as f64).collect::<Vec<_>>();
    noise::shift(&steps(first), &steps(second))
}
