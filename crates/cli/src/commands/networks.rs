//! `network`: commands on networks, one file each.

pub(crate) mod collective;
pub(crate) mod cost;
pub(crate) mod design;
pub(crate) mod export;
pub(crate) mod failures;
pub(crate) mod flows;
pub(crate) mod rail_only;
pub(crate) mod show;
pub(crate) mod simulate;
pub(crate) mod sites;
pub(crate) mod topologies;
pub(crate) mod traffic;

use crate::args::network::Network;
use crate::exit::{Failure, Outcome, does_not_read};
use crate::input::FILES;
use crate::printer::Printer;

/// Runs a command about networks.
pub(crate) fn run(command: &Network, printer: &Printer) -> Result<Outcome, Failure> {
    match command {
        Network::Topologies(arguments) => topologies::run(arguments, printer),
        Network::Show(arguments) => show::run(arguments, printer),
        Network::Cost(arguments) => cost::run(arguments, printer),
        Network::Failures(arguments) => failures::run(arguments, printer),
        Network::Design(arguments) => design::run(arguments, printer),
        Network::Traffic(arguments) => traffic::run(arguments, printer),
        Network::Collective(arguments) => collective::run(arguments, printer),
        Network::Flows(arguments) if FILES => flows::run(arguments, printer),
        Network::Export(arguments) if FILES => export::run(arguments, printer),
        Network::Simulate(arguments) => simulate::run(arguments, printer),
        Network::Sites(arguments) => sites::run(arguments, printer),
        Network::RailOnly(arguments) => rail_only::run(arguments, printer),
        Network::Flows(_) | Network::Export(_) => Err(does_not_read()),
    }
}
