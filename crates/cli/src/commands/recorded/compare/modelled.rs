//! Comparison of a prediction with traces.

use crate::commands::recorded::profiled;
use crate::exit::{Failure, Outcome};
use crate::input::remote::without_query;
use crate::printer::Printer;
use crate::run::Resolved;
use crate::{args, input};
use railwright_calculator::calibration::{Claim, differences};
use railwright_calculator::timeline::{Detail, timeline_with};
use railwright_profiler::compare::{Condition, steps};
use railwright_profiler::measured;
use railwright_reports::compare::modelled::{Against, Waiting};
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::run::Run;

/// Compares a run file with traces, in the order in which they were named.
pub(crate) fn run(
    arguments: &args::Compare,
    ([first, second], modelled_first): ([&String; 2], bool),
    conditions: &[Condition],
    printer: &Printer,
) -> Result<Outcome, Failure> {
    let (run_file, traces) = if modelled_first { (first, second) } else { (second, first) };
    let Resolved { run, warnings, .. } = profiled::resolved(run_file, None, run_arguments(arguments))?;
    printer.warnings(&warnings);
    let modelled = timeline_with(&run.model, &run.cluster, &run.plan, Detail::Operators)?;
    let tables =
        input::opened::tables(arguments.reading.families.as_deref(), arguments.reading.kernels.as_deref())?;
    let mut options = profiled::options(tables, &args::Needed::default())?;
    options.step = arguments.step;
    let read = profiled::read_as(
        std::slice::from_ref(traces),
        "compare",
        (&arguments.reading, Some(&run)),
        &options.tables,
        printer,
    )?;
    let profile = read.profiled(&options, printer)?;
    // The step of median duration represents the measurement.
    let mut order: Vec<usize> = (0..profile.windows.steps.len()).collect();
    order.sort_by_key(|&at| (profile.windows.steps[at].duration(), at));
    let typical = order.get(order.len() / 2).copied().unwrap_or(0);
    let measured = measured::step(&read.job, &read.joined, &options.tables, &profile.windows, typical)
        .ok_or_else(|| Problem::new("nothing was recorded").in_file(traces.as_str()))?;
    let waiting = Waiting::of(&profile, typical);
    let name = format!("{}, step {}", without_query(traces), profile.windows.name(typical));
    let (titles, mut comparison) = if modelled_first {
        ([run_file.clone(), name], steps(&modelled, &measured))
    } else {
        ([name, run_file.clone()], steps(&measured, &modelled))
    };
    comparison.warnings.extend(of_another_run(
        &run,
        read.job.world_size_known.then_some(read.job.world_size),
        profile.report.device.as_deref(),
    ));
    let verdicts = conditions.iter().map(|c| c.check(&comparison)).collect::<Result<Vec<_>, Problem>>()?;
    let fails = verdicts.iter().any(|verdict| verdict.met);
    printer.answer(&Against { titles, comparison, waiting, verdicts }, &arguments.output)?;
    Ok(if fails { Outcome::No } else { Outcome::Yes })
}

/// Run settings of the command line, as in `estimate`.
pub(crate) fn run_arguments(arguments: &args::Compare) -> args::RunArguments {
    let flag = |path: &String| ("--calibration".to_owned(), "cluster.calibration".to_owned(), path.clone());
    let settings = arguments.calibration.iter().map(flag).collect();
    let mut run_arguments = arguments.run_settings.run("");
    run_arguments.flags.settings.extend::<Vec<_>>(settings);
    run_arguments
}

/// A warning if traces and run differ in the number or kind of devices.
fn of_another_run(run: &Run, traced: Option<u32>, device: Option<&str>) -> Option<Warning> {
    // Traces of one rank often lack the world size: a recorded one above 1 is used, an inferred one is not.
    let ranks = traced
        .filter(|&traced| traced > 1)
        .map(|traced| Claim { key: "cluster.devices".to_owned(), value: f64::from(traced) });
    let mut differs = differences(ranks.as_slice(), &run.model, &run.plan);
    let own = &run.cluster.accelerator.id;
    if let Some(device) = device.and_then(input::measured::accelerator_of).filter(|device| device != own) {
        differs.push(format!("the traced device is a {device}, that of the run a {own}"));
    }
    (!differs.is_empty()).then(|| {
        Warning::new("runs-not-alike", format!("the traces belong to another run: {}", differs.join(", ")))
    })
}
