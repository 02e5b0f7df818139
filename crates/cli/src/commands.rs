//! The commands, a file each.

mod clusters;
mod completions;
mod gpus;
mod keys;
mod models;

use crate::args::{Catalogue, Command};
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;

/// Runs a command.
pub(crate) fn run(command: &Command, printer: &Printer) -> Result<Outcome, Failure> {
    match command {
        Command::Models(Catalogue::List(list)) => models::list(list, printer),
        Command::Models(Catalogue::Show(show)) => models::show(show, printer),
        Command::Gpus(Catalogue::List(list)) => gpus::list(list, printer),
        Command::Gpus(Catalogue::Show(show)) => gpus::show(show, printer),
        Command::Clusters(Catalogue::List(list)) => clusters::list(list, printer),
        Command::Clusters(Catalogue::Show(show)) => clusters::show(show, printer),
        Command::Keys(list) => keys::list(list, printer),
        Command::Schema(schema) => keys::schema(schema.output.as_deref(), printer),
        Command::Completions(completions) => completions::shell(completions.shell, printer),
        Command::Man(man) => completions::man(man.command.as_deref(), printer),
    }
}
