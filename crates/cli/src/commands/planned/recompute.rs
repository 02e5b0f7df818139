//! `recompute`: modules and number of layers to recompute on each stage, for the lowest cost at which it
//! fits.

use crate::args::RecomputeArguments;
use crate::exit::{Failure, Outcome, of_fit};
use crate::printer::Printer;
use crate::{input, run};
use railwright_answers::{Solved, recompute};
use railwright_reports::recompute::Recompute;
use railwright_spec::plan::RecomputeModule;
use railwright_spec::problem::Problem;
use railwright_spec::run::{Field as _, Value};
use railwright_tuner::recompute::Options;

/// Solves the recompute policy. The outcome is the fit of the best policy.
pub(crate) fn run(arguments: &RecomputeArguments, printer: &Printer) -> Result<Outcome, Failure> {
    let resolved = run::resolve(&arguments.run)?;
    let modules: Result<_, Problem> = arguments
        .modules
        .iter()
        .map(|name| {
            let module = RecomputeModule::read(&Value::Text(name.trim().to_owned()));
            module.map_err(|problem| problem.in_file("--modules"))
        })
        .collect();
    let modules = modules?;
    let options = Options {
        probability: arguments.fit_probability,
        uniform: arguments.uniform,
        offload: arguments.allow_offload,
        modules: (!arguments.modules.is_empty()).then_some(modules),
    };
    let solved = recompute(resolved, &options)?;
    printer.warnings(&solved.warnings);
    let report = Recompute { solved, uniform: options.uniform };
    printer.answer(&report, &arguments.output)?;
    save(arguments.save.as_deref(), &report.solved, printer)?;
    Ok(of_fit(report.solved.fit()))
}

/// Writes the run with the plan that was found, if there is one and a file is named.
pub(crate) fn save<A, F>(
    path: Option<&str>,
    solved: &Solved<A, F>,
    printer: &Printer,
) -> Result<(), Failure> {
    if let (Some(path), Some(spec)) = (path, solved.best_spec()) {
        input::write(path, &spec.to_toml())?;
        printer.note(&format!("wrote `{path}`; `railwright estimate --run {path}` estimates it"));
    }
    Ok(())
}
