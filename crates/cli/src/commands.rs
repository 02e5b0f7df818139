//! The commands, one file each: arguments to an answer, and the answer to the printer.

mod catalogues;
#[cfg(not(target_family = "wasm"))]
mod completions;
mod examples;
mod networks;
mod planned;
mod recorded;
mod runner;
pub(crate) mod serve;

#[cfg(test)]
mod tests;

use crate::args::{Catalogue, Command};
use crate::exit::{Failure, Outcome};
use crate::input::FILES;
use crate::printer::Printer;
use planned::{
    balance, check, detect, estimate, export, goodput, memory, recompute, search, sensitivity, size,
    timeline, tune, validate, values, whatif,
};
use recorded::{calibrate, compare, export_perfetto, hang, joining, log, memory_snapshot, pipeline, profile};
#[cfg(all(feature = "tables", not(target_family = "wasm")))]
use recorded::{digest, query};
#[cfg(target_family = "wasm")]
pub(crate) use serve::page_desk;

/// Runs a command.
pub(crate) fn run(command: &Command, printer: &Printer) -> Result<Outcome, Failure> {
    crate::input::writing::prepare_with(crate::printer::end_tidily);
    match command {
        Command::Estimate(estimate) => estimate::run(estimate, run, printer),
        Command::Memory(memory) => memory::run(memory, printer),
        Command::Timeline(timeline) => timeline::run(timeline, printer),
        Command::Search(search) => search::run(search, printer),
        Command::Tune(tune) if FILES => tune::run(tune, printer),
        Command::Check(check) if FILES => check::run(check, printer),
        Command::Size(size) => size::run(size, printer),
        Command::Goodput(arguments) => goodput::run(arguments, printer),
        Command::WhatIf(whatif) => whatif::run(whatif, printer),
        Command::Balance(balance) => balance::run(balance, printer),
        Command::Recompute(recompute) => recompute::run(recompute, printer),
        Command::Sensitivity(sensitivity) => sensitivity::run(sensitivity, printer),
        Command::Validate(validate) if FILES => validate::run(validate, printer),
        Command::Calibrate(arguments) if FILES => calibrate::run(arguments, printer),
        Command::Detect(detect) if FILES => detect::run(detect, printer),
        Command::Comm(arguments) if FILES => joining::comm(arguments, printer),
        Command::Stragglers(arguments) if FILES => joining::stragglers(arguments, printer),
        Command::Log(arguments) if FILES => log::run(arguments, printer),
        Command::Hang(arguments) if FILES => hang::run(arguments, printer),
        Command::MemorySnapshot(arguments) if FILES => memory_snapshot::run(arguments, printer),
        #[cfg(all(feature = "tables", not(target_family = "wasm")))]
        Command::Query(arguments) => query::run(arguments, printer),
        #[cfg(all(feature = "tables", not(target_family = "wasm")))]
        Command::Save(arguments) => query::save(arguments, printer),
        #[cfg(all(feature = "tables", not(target_family = "wasm")))]
        Command::Digest(arguments) => digest::run(arguments, printer),
        Command::ExportPerfetto(arguments) if FILES => export_perfetto::run(arguments, printer),
        Command::Pipeline(arguments) if FILES => pipeline::run(arguments, printer),
        Command::Export(export) if FILES => export::run(export, printer),
        Command::Explain(explain) => catalogues::explain(explain, printer),
        Command::Init(init) => examples::init(init, printer),
        Command::Examples(examples) => examples::run(examples, printer),
        Command::Profile(profile) if FILES => profile::run(profile, printer),
        Command::Compare(compare) if FILES => compare::run(compare, printer),
        Command::Models(Catalogue::List(list)) => catalogues::models(list, printer),
        Command::Models(Catalogue::Show(show)) => catalogues::model(show, printer),
        Command::Gpus(Catalogue::List(list)) => catalogues::gpus(list, printer),
        Command::Gpus(Catalogue::Show(show)) => catalogues::gpu(show, printer),
        Command::Clusters(Catalogue::List(list)) => catalogues::clusters(list, printer),
        Command::Clusters(Catalogue::Show(show)) => catalogues::cluster(show, printer),
        Command::Network(question) => networks::run(question, printer),
        Command::Keys(list) => catalogues::keys_of_a_run(list, printer),
        Command::Schema(schema) => catalogues::schema(schema.output.as_deref(), printer),
        Command::Values(arguments) => values::run(arguments, printer),
        #[cfg(not(target_family = "wasm"))]
        Command::Serve(serve) => serve::run(serve, run, printer),
        #[cfg(not(target_family = "wasm"))]
        Command::Completions(completions) => completions::shell(completions.shell, printer),
        #[cfg(not(target_family = "wasm"))]
        Command::Man(man) => match &man.all {
            Some(folder) => completions::man_pages(folder, printer),
            None => completions::man(man.command.as_deref(), printer),
        },
        #[cfg(all(not(feature = "tables"), not(target_family = "wasm")))]
        Command::Query(_) | Command::Save(_) | Command::Digest(_) => Err(crate::exit::without(
            "this command needs Parquet and SQLite, and this program was built without them",
            crate::input::tabular::WITH_TABLES,
        )),
        #[cfg(target_family = "wasm")]
        Command::Query(_) | Command::Save(_) | Command::Digest(_) | Command::Serve(_) => {
            Err(crate::exit::without(
                "this command needs the installed program",
                "SQL, Parquet and the server require the installed program",
            ))
        }
        // Every other command reads files.
        _ => Err(crate::exit::does_not_read()),
    }
}
