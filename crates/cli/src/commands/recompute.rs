//! `recompute`: which modules of how many layers to recompute on which stage, so that it fits and loses least.

mod report;
pub(super) use report::{choices, say};

use crate::args::RecomputeArguments;
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::printer::Printer;
use crate::run::{self, Resolved};
use railwright_spec::plan::{Plan, RecomputeModule};
use railwright_spec::problem::Problem;
use railwright_spec::run::{Field, Run, RunSpec, Value};
use railwright_tuner::recompute::{Options, flags, solve};
use railwright_tuner::written;
use report::Recompute;

/// Solves. The answer is no when nothing fits.
pub(crate) fn run(arguments: &RecomputeArguments, printer: &Printer) -> Result<Outcome, Failure> {
    let Resolved { run, spec, warnings, chosen } = run::resolve(&arguments.run)?;
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
        probability: probability(arguments.fit_probability)?,
        uniform: arguments.uniform,
        offload: arguments.allow_offload,
        modules: (!arguments.modules.is_empty()).then_some(modules),
    };
    let answer = solve(&run.model, &run.cluster, &run.plan, &options)?;
    printer.warnings(&warnings);
    let flags = answer.best.as_ref().map_or_else(Vec::new, |best| flags(&run.model, &best.plan));
    let found = answer.best.as_ref().map(|best| best.plan.clone());
    let uniform = options.uniform;
    let report = Recompute { title: title(&run), chosen, answer, flags, uniform };
    printer.answer(&report, &arguments.output)?;
    if let (Some(path), Some(plan)) = (&arguments.save, &found) {
        save(path, spec, &run, plan, printer)?;
    }
    Ok(if found.is_some() { Outcome::Yes } else { Outcome::No })
}

/// A probability that an answer can hold to.
pub(super) fn probability(p: f64) -> Result<f64, Problem> {
    if (0.01..=0.99).contains(&p) {
        return Ok(p);
    }
    Err(Problem::new(format!("a probability of {p} cannot be guaranteed"))
        .in_file("--fit-probability")
        .hint("use a number from 0.01 to 0.99; the error distribution is not known beyond that"))
}

/// What the answer is about.
pub(super) fn title(run: &Run) -> String {
    format!(
        "{} on {} x {}, {}",
        run::describe(&run.model),
        railwright_spec::human::whole(run.cluster.devices),
        run.cluster.accelerator.name,
        railwright_calculator::estimate::plan_summary(&run.plan)
    )
}

/// Writes the run with another plan.
pub(super) fn save(
    path: &str,
    mut spec: RunSpec,
    run: &Run,
    plan: &Plan,
    printer: &Printer,
) -> Result<(), Failure> {
    let mut said = spec.plan.clone();
    // What the answer says replaces what was said before.
    (said.recompute, said.stage_recompute, said.layers_per_stage, said.uneven_stages) =
        (None, None, None, None);
    said.offload_activations = None;
    spec.plan = written::shortest(&said, plan, &run.model, &run.cluster);
    input::write(path, &spec.to_toml())?;
    printer.note(&format!("wrote `{path}`; `railwright estimate --run {path}` prices it"));
    Ok(())
}
