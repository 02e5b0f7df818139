//! What `estimate` prices where the devices or the layout are left open and the usual start does not fit.
//!
//! Responsible for: the smallest number of devices on which a common layout fits, where no number is given; a layout of the search, where
//! one is. Refuses to change what was given, and answers in the words of `search` where nothing fits.

use crate::args::{self, Effort, Goal, OpenRun, RunArguments, Search};
use crate::commands::best::Searcher;
use crate::commands::{open_run, search};
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::run::{self, Resolved};
use railwright_calculator::defaults;
use railwright_calculator::memory::{Fit, MemoryInput, SoftwareCatalogue, report};
use railwright_spec::human;
use railwright_spec::plan::PlanSpec;
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;
use railwright_tuner::search::Options;

/// What there is to price.
pub(super) enum Opened {
    /// A run.
    Run(Box<Resolved>),
    /// Nothing: the search has answered why.
    Answered(Outcome),
}

/// Machines are doubled at most so often: 8 devices to 16,384.
const DOUBLINGS: u32 = 11;

/// Resolves what was typed, and fills what was left open with what fits.
pub(super) fn resolve(arguments: &args::Estimate, printer: &Printer) -> Result<Opened, Failure> {
    let first = run::resolve(&arguments.run)?;
    let is_launched = run::launch::find(&arguments.run)?.is_some();
    if is_launched || !defaults::is_open(&first.spec.plan) || fits(&first.run)? {
        return Ok(Opened::Run(Box::new(first)));
    }
    if first.spec.cluster.devices.is_none() {
        return Ok(Opened::Run(Box::new(on_fewest(&arguments.run, first)?)));
    }
    by_search(arguments, first, printer)
}

fn fits(run: &Run) -> Result<bool, Problem> {
    let software = SoftwareCatalogue::shared()?.get(&run.plan.software);
    let input =
        MemoryInput { model: &run.model, cluster: &run.cluster, plan: &run.plan, software, in_flight: None };
    Ok(report(&input).fit == Fit::Fits)
}

/// The run on the smallest number of devices that fits, doubling whole machines; as it was where none does.
fn on_fewest(arguments: &RunArguments, first: Resolved) -> Result<Resolved, Failure> {
    for doubling in 1..=DOUBLINGS {
        let devices = first.run.cluster.devices.saturating_mul(1 << doubling);
        let mut more = arguments.clone();
        more.flags.settings.push(("--gpus".to_owned(), "cluster.devices".to_owned(), devices.to_string()));
        // A batch or a cluster may not go with every number of devices.
        let Ok(mut resolved) = run::resolve(&more) else { continue };
        if fits(&resolved.run)? {
            let words = format!(
                "{} GPUs: the fewest, doubling, on which a common layout fits",
                human::whole(devices)
            );
            resolved.chosen.insert(0, words);
            return Ok(resolved);
        }
    }
    Ok(first)
}

/// The run with the first layout of the search; where nothing fits, the search's answer with what would.
fn by_search(arguments: &args::Estimate, mut first: Resolved, printer: &Printer) -> Result<Opened, Failure> {
    let open = open(&arguments.run);
    let effort = Effort { space: Vec::new(), fit_probability: None, unlimited: false, threads: None };
    let asked = open_run::ask(&open)?;
    let searcher = Searcher::new(&effort, printer)?.priced(&arguments.pricing);
    let Some(setting) = asked.settings.first() else { return Ok(Opened::Run(Box::new(first))) };
    let batch = first.run.plan.global_batch;
    let said = PlanSpec { global_batch: Some(batch), batch_tokens: None, ..setting.spec.plan.clone() };
    let options = Options { keep: 1, ..Options::default() };
    let search = searcher.prepare(setting, &said, options)?;
    let ran = searcher.run_for_families(std::slice::from_ref(&search), 1);
    let outcome = ran.first().map(|ran| search.outcome(&ran.results));
    if let Some(found) = outcome.and_then(|outcome| outcome.candidates.into_iter().next()) {
        first.run.plan = found.plan;
        first
            .chosen
            .insert(0, "layout: the first of `railwright search`, because no common one fits".to_owned());
        return Ok(Opened::Run(Box::new(first)));
    }
    // Programs get the estimate of what does not fit; people what would make it fit.
    let output = &arguments.output;
    if output.json || output.format.is_some() || output.output.is_some() {
        return Ok(Opened::Run(Box::new(first)));
    }
    let batch = ("--global-batch".to_owned(), "plan.global_batch".to_owned(), batch.to_string());
    let mut run = open;
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
        effort,
        pricing: arguments.pricing.clone(),
        objective: Goal::Time,
        pareto: Vec::new(),
        top: 1,
        all: false,
        why_not: Vec::new(),
        save: None,
        output: output.clone(),
    };
    search::run(&question, printer).map(Opened::Answered)
}

fn open(run: &RunArguments) -> OpenRun {
    OpenRun {
        model: run.model.clone(),
        run: run.run.clone(),
        cluster: run.cluster.iter().cloned().collect(),
        set: run.set.clone(),
        fsdp: run.fsdp,
        hsdp: run.hsdp,
        flags: run.flags.clone(),
    }
}
