//! `network`: commands on networks, a file each; designs are read here.

pub(crate) mod collective;
pub(crate) mod cost;
pub(crate) mod design;
pub(crate) mod export;
pub(crate) mod failures;
pub(crate) mod flows;
pub(crate) mod on_fabric;
pub(crate) mod on_hosts;
pub(crate) mod on_network;
pub(crate) mod on_run;
pub(crate) mod rail_only;
pub(crate) mod show;
pub(crate) mod simulate;
pub(crate) mod sites;
pub(crate) mod topologies;
pub(crate) mod traffic;

use crate::args::network::{DesignFlags, Network};
use crate::exit::{Failure, Outcome};
use crate::input::{self, CONFIG_LIMIT};
use crate::printer::Printer;
use railwright_network::bill::prices::Prices;
use railwright_network::topology::{DesignSpec, Kind, parse};
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::run::{Field as _, Sheet, Value};
use std::path::Path;

/// The longest table of failure rates that is read.
pub(crate) const RATES_LIMIT: u64 = 1 << 20;
/// The longest price list that is read.
const PRICES_LIMIT: u64 = 1 << 20;

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
        Network::Flows(arguments) => flows::run(arguments, printer),
        Network::Export(arguments) => export::run(arguments, printer),
        Network::Simulate(arguments) => simulate::run(arguments, printer),
        Network::Sites(arguments) => sites::run(arguments, printer),
        Network::RailOnly(arguments) => rail_only::run(arguments, printer),
    }
}

/// A design by kind or file, with overrides of flags.
fn design(word: Option<&str>, flags: &DesignFlags) -> Result<Sheet<DesignSpec>, Problem> {
    let mut sheet = match word {
        None => Sheet::default(),
        Some(path) if is_path(path) => {
            let label = if path == "-" { "standard input" } else { path };
            parse(&input::read(path, CONFIG_LIMIT)?, label)?
        }
        Some(word) => {
            let mut sheet = Sheet::<DesignSpec>::default();
            sheet.spec.kind = Some(kind(word)?);
            sheet
        }
    };
    for (flag, key, value) in &flags.settings {
        sheet.set_flag(flag, key, &spelled_out(key, value))?;
    }
    Ok(sheet)
}

/// Prices of the catalogue under the lists of files, the last one on top.
fn prices(files: &[String]) -> Result<Prices, Problem> {
    let mut prices = Prices::catalogue()?;
    for path in files {
        let label = if path == "-" { "standard input" } else { path };
        prices.overlay(Prices::parse(&input::read(path, PRICES_LIMIT)?, label)?);
    }
    Ok(prices)
}

fn is_path(word: &str) -> bool {
    word == "-" || word.contains(['/', '\\']) || Path::new(word).extension().is_some_and(|e| e == "toml")
}

/// A kind by its name.
fn kind(word: &str) -> Result<Kind, Problem> {
    Kind::read(&Value::Text(word.to_owned())).map_err(|_| {
        let names = Kind::ALL.map(Kind::name);
        let list = format!("use one of {}, or pass a design file", names.join(", "));
        Problem::new(format!("unknown topology `{}`", human::shorten(word)))
            .hint(did_you_mean(word, names, &list))
    })
}

/// `400G` is the common spelling of 400 Gbit/s; a bandwidth in bytes needs its unit.
fn spelled_out(key: &str, word: &str) -> String {
    let number = word.trim().strip_suffix(['G', 'g']).map(str::trim_end);
    match number.filter(|n| key.ends_with("speed") && n.parse::<f64>().is_ok()) {
        Some(number) => format!("{number} Gbit/s"),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_spelled_out() {
        assert_eq!(spelled_out("speed", "400G"), "400 Gbit/s");
        assert_eq!(spelled_out("port_speed", "2x400G"), "2x400G");
        assert_eq!(spelled_out("domain_bandwidth", "450 GB/s"), "450 GB/s");
    }
}
