//! Traces on disk to a profiled job, for `profile` and `compare`.
//!
//! Responsible for: conversion of arguments to options of a profile and of its job, work on all cores, and
//! reports of unreadable files. Does not read: `input` does.

use crate::args::{Needed, Reading, RunArguments};
use crate::exit::Failure;
use crate::input::opened::{How, Opened, Read, layout_of, no_rank, open, ranks, stated_layout};
use crate::printer::Printer;
use crate::run::{self, Resolved};
use railwright_calculator::model_flop::{Convention, of_plan};
use railwright_profiler::clocks::ClockPolicy;
use railwright_profiler::profile::Options;
use railwright_profiler::readers::Keep;
use railwright_profiler::view::Tables;
use railwright_spec::precision::DataType;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::quantity::Flop;
use railwright_spec::run::Run;
use std::sync::Arc;

/// Reads traces and joins their ranks.
pub(crate) fn read(
    paths: &[String],
    command: &'static str,
    reading: &Reading,
    tables: &Tables,
    printer: &Printer,
) -> Result<Arc<Read>, Failure> {
    read_as(paths, command, (reading, None), tables, printer)
}

/// The same, with the parallel sizes of the traced run as default.
pub(crate) fn read_as(
    paths: &[String],
    command: &'static str,
    (reading, run): (&Reading, Option<&Run>),
    tables: &Tables,
    printer: &Printer,
) -> Result<Arc<Read>, Failure> {
    let how = how(reading, run, tables)?;
    match open(paths, ranks(command), Keep::default(), &how, printer)? {
        Opened::Job(read) => Ok(read),
        Opened::Other(loaded) => Err(no_rank(&loaded, paths).into()),
    }
}

/// Joining options of a profile.
pub(crate) fn how(reading: &Reading, run: Option<&Run>, tables: &Tables) -> Result<How, Problem> {
    Ok(How {
        names: tables.communication.clone(),
        layout: stated_layout(reading.layout.as_deref())?,
        of_run: run.and_then(layout_of),
        clocks: ClockPolicy::default(),
    })
}

/// A run file, or a launch file or log of a framework, resolved as for an estimate. `cluster` is the default
/// cluster; `run_arguments` are settings of the command line, layered as usual.
pub(crate) fn resolved(
    path: &str,
    cluster: Option<&str>,
    run_arguments: RunArguments,
) -> Result<Resolved, Failure> {
    let cluster = run_arguments.cluster.clone().or_else(|| cluster.map(str::to_owned));
    Ok(run::resolve(&RunArguments { run: Some(path.to_owned()), cluster, ..run_arguments })?)
}

/// Model options of a profile.
pub(crate) fn options(tables: Tables, needed: &Needed) -> Result<Options, Failure> {
    let mut options = Options { tables, accelerator: needed.accelerator.clone(), ..Options::default() };
    if let Some(name) = &needed.precision {
        let known = DataType::ALL.map(DataType::name);
        let found = DataType::ALL.into_iter().find(|data| data.name() == name.to_ascii_lowercase());
        options.data_type = Some(found.ok_or_else(|| {
            Problem::new(format!("`{name}` is not a number format"))
                .in_file("--precision")
                .hint(did_you_mean(name, known, &format!("formats are {}", known.join(", "))))
        })?);
    }
    if let Some(path) = &needed.run {
        let run = run_of(path, needed)?;
        // The convention of most published MFU.
        let one = of_plan(&run.model, &run.plan, Convention::REPORTED);
        options.flop_per_step = Some(one * run.plan.tokens_per_step() as f64);
        options.sharers = u32::try_from(run.plan.world_size()).ok();
        // As in an estimate of this run: MFU relative to the peak of its compute format.
        let format = run.plan.precision.compute;
        if needed.precision.is_none() && run.cluster.accelerator.peak_rate(format).is_some() {
            options.data_type = Some(format);
        }
        if options.accelerator.is_none() {
            options.accelerator = Some(run.cluster.accelerator.id.clone());
        }
    }
    if needed.run.is_none() {
        needed.run_settings.without_run("pass the run with --run")?;
    }
    if let Some(flop) = needed.model_flops {
        if !(flop.is_finite() && flop > 0.0) {
            let problem = Problem::new(format!("invalid number of FLOPs: {flop}")).in_file("--model-flops");
            return Err(problem.hint("pass the FLOPs of one step on all ranks, such as `1.2e18`").into());
        }
        options.flop_per_step = Some(Flop::new(flop));
    }
    Ok(options)
}

/// The run with the model FLOPs.
pub(crate) fn run_of(path: &str, needed: &Needed) -> Result<Run, Failure> {
    let arguments = needed.run_settings.run(path);
    Ok(resolved(path, needed.accelerator.as_deref(), arguments)?.run)
}
