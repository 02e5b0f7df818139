//! The commands, a file each: arguments to an answer, and the answer to the printer.

mod catalogues;
#[cfg(not(target_family = "wasm"))]
mod completions;
mod examples;
mod networks;
mod planned;
mod recorded;
pub(crate) mod serve;

#[cfg(test)]
mod tests;

use crate::args::{Catalogue, Command};
use crate::exit::{Failure, Outcome};
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
        Command::Estimate(estimate) => estimate::run(estimate, printer),
        Command::Memory(memory) => memory::run(memory, printer),
        Command::Timeline(timeline) => timeline::run(timeline, printer),
        Command::Search(search) => search::run(search, printer),
        Command::Tune(tune) => tune::run(tune, printer),
        Command::Check(check) => check::run(check, printer),
        Command::Size(size) => size::run(size, printer),
        Command::Goodput(arguments) => goodput::run(arguments, printer),
        Command::WhatIf(whatif) => whatif::run(whatif, printer),
        Command::Balance(balance) => balance::run(balance, printer),
        Command::Recompute(recompute) => recompute::run(recompute, printer),
        Command::Sensitivity(sensitivity) => sensitivity::run(sensitivity, printer),
        Command::Validate(validate) => validate::run(validate, printer),
        Command::Calibrate(arguments) => calibrate::run(arguments, printer),
        Command::Detect(detect) => detect::run(detect, printer),
        Command::Comm(arguments) => joining::comm(arguments, printer),
        Command::Stragglers(arguments) => joining::stragglers(arguments, printer),
        Command::Log(arguments) => log::run(arguments, printer),
        Command::Hang(arguments) => hang::run(arguments, printer),
        Command::MemorySnapshot(arguments) => memory_snapshot::run(arguments, printer),
        #[cfg(all(feature = "tables", not(target_family = "wasm")))]
        Command::Query(arguments) => query::run(arguments, printer),
        #[cfg(all(feature = "tables", not(target_family = "wasm")))]
        Command::Save(arguments) => query::save(arguments, printer),
        #[cfg(all(feature = "tables", not(target_family = "wasm")))]
        Command::Digest(arguments) => digest::run(arguments, printer),
        Command::ExportPerfetto(arguments) => export_perfetto::run(arguments, printer),
        Command::Pipeline(arguments) => pipeline::run(arguments, printer),
        Command::Export(export) => export::run(export, printer),
        Command::Explain(explain) => catalogues::explain(explain, printer),
        Command::Init(init) => examples::init(init, printer),
        Command::Examples(examples) => examples::run(examples, printer),
        Command::Profile(profile) => profile::run(profile, printer),
        Command::Compare(compare) => compare::run(compare, printer),
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
        Command::Serve(serve) => serve::run(serve, printer),
        #[cfg(not(target_family = "wasm"))]
        Command::Completions(completions) => completions::shell(completions.shell, printer),
        #[cfg(not(target_family = "wasm"))]
        Command::Man(man) => match &man.all {
            Some(folder) => completions::man_pages(folder, printer),
            None => completions::man(man.command.as_deref(), printer),
        },
        #[cfg(all(not(feature = "tables"), not(target_family = "wasm")))]
        Command::Query(_) | Command::Save(_) | Command::Digest(_) => {
            Err(railwright_spec::problem::Problem::new(
                "this command needs Parquet and SQLite, and this program was built without them",
            )
            .hint(crate::input::tabular::WITH_TABLES)
            .into())
        }
        #[cfg(target_family = "wasm")]
        Command::Query(_) | Command::Save(_) | Command::Digest(_) | Command::Serve(_) => {
            Err(railwright_spec::problem::Problem::new("this command needs the installed program")
                .hint("SQL, Parquet and the server are not part of the web UI without a server")
                .into())
        }
    }
}
