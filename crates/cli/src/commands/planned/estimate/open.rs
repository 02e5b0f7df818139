//! Devices and layout of `estimate` if they are open and the default layout does not fit.
//!
//! Responsible for: the result in the words of `search` if nothing fits. Does not change given settings:
//! `railwright-answers` fills the rest.

use crate::args::{self, Effort, Goal, OpenRun, RunArguments, Search};
use crate::commands::planned::search;
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::printer::Printer;
use crate::run::{self, Resolved};
use railwright_answers::{Filled, fill};

/// Run to price.
pub(crate) enum Opened {
    /// A run.
    Run(Box<Resolved>),
    /// No run: the search reported the reason.
    Answered(Outcome),
}

/// Resolves the arguments, and fills open settings with values that fit.
pub(crate) fn resolve(arguments: &args::Estimate, printer: &Printer) -> Result<Opened, Failure> {
    let first = run::resolve(&arguments.run)?;
    if run::launch::find(&arguments.run)?.is_some() {
        return Ok(Opened::Run(Box::new(first)));
    }
    let first = match fill(first, &input::Disk, &arguments.pricing.wanted(), &printer.watched())? {
        Filled::Run(resolved) => return Ok(Opened::Run(resolved)),
        Filled::NothingFits(first) => first,
    };
    // Programs receive the estimate of a run that does not fit; users a run that does.
    let output = &arguments.output;
    if output.json || output.format.is_some() || output.output.is_some() {
        return Ok(Opened::Run(first));
    }
    let batch = first.run.plan.global_batch;
    let batch = ("--global-batch".to_owned(), "plan.global_batch".to_owned(), batch.to_string());
    let mut run = open(&arguments.run);
    if !run
        .flags
        .settings
        .iter()
        .any(|(_, path, _)| path == "plan.global_batch" || path == "plan.batch_tokens")
    {
        run.flags.settings.push(batch);
    }
    let question = Search {
        run,
        keep: Vec::new(),
        free: Vec::new(),
        effort: Effort { space: Vec::new(), fit_probability: None, unlimited: false, threads: None },
        pricing: arguments.pricing.clone(),
        objective: Goal::Time,
        pareto: Vec::new(),
        top: 1,
        all: false,
        map: false,
        why_not: Vec::new(),
        save: None,
        output: output.clone(),
    };
    // The verdict is that of the run, as with `--json` and for every other command.
    search::run(&question, printer).map(|outcome| match outcome {
        Outcome::AtRisk => Opened::Answered(Outcome::No),
        other => Opened::Answered(other),
    })
}

fn open(run: &RunArguments) -> OpenRun {
    OpenRun {
        model: run.model.clone(),
        run: run.run.clone(),
        cluster: run.cluster.iter().cloned().collect(),
        set: run.set.clone(),
        sharding: run.sharding.clone(),
        flags: run.flags.clone(),
    }
}
