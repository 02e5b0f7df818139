//! `profile --aggregate`: the spans of a range of one step by name, with a tree for a flame graph.

use super::one_step::{no_digest, question, read};
use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input::opened::AllCores;
use crate::printer::Printer;
use railwright_profiler::profile::Options;
use railwright_profiler::timeline::{self, Rows};
use railwright_reports::profile::range::{Shown, rows};

/// Sums a range.
pub(crate) fn run(
    arguments: &args::Profile,
    options: &Options,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    let rows = arguments.rows.as_deref().map_or(Ok(Rows::Default), rows)?;
    let question = question(arguments, options)?;
    let read = read(arguments, &options.tables, printer)?;
    no_digest(&read)?;
    let summed = timeline::sums(&read.job, &read.joined, &options.tables, &question, &rows, &AllCores)?;
    let title = crate::input::title(&arguments.paths);
    printer.answer(&Shown { title, summed, top: arguments.top }, &arguments.output)?;
    Ok(Outcome::Yes)
}
