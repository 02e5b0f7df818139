//! `network`: commands on networks, a file each; designs are read here.

pub(crate) mod collective;
pub(crate) mod cost;
pub(crate) mod design;
pub(crate) mod export;
pub(crate) mod failures;
pub(crate) mod flows;
mod on_fabric;
mod on_hosts;
mod on_network;
mod on_run;
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
use railwright_network::topology::{Design, DesignSpec, Kind, parse};
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::quantity::BytesPerSecond;
use railwright_spec::run::{Field, Sheet, Value};
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

/// An error of a design, with flag names if the value comes from a flag or a default.
fn placed(sheet: &Sheet<DesignSpec>, problem: Problem) -> Problem {
    let problem = sheet.placed(problem);
    if problem.place.as_ref().is_some_and(|place| !place.file.is_empty() && !place.file.starts_with("--")) {
        return problem;
    }
    in_flags(problem)
}

/// `design.leaf_oversubscription` becomes `--leaf-oversubscription`.
fn in_flags(mut problem: Problem) -> Problem {
    problem.message = dashed(&problem.message);
    problem.hint = problem.hint.as_deref().map(dashed);
    if let Some(place) = problem.place.as_deref_mut()
        && place.file.is_empty()
        && let Some(key) = place.key.take()
    {
        place.file = dashed(&key);
    }
    problem
}

fn dashed(text: &str) -> String {
    let mut parts = text.split("design.");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(part.len());
        let (key, rest) = part.split_at(end);
        out.push_str("--");
        out.push_str(&key.replace('_', "-"));
        // `--radix = 128` is a key's assignment; flags take the value after a space, and lists without brackets.
        match rest.strip_prefix(" = ") {
            Some(value) => {
                let list = value.strip_prefix('[').and_then(|value| value.split_once(']'));
                out.push(' ');
                match list {
                    Some((list, after)) => out.extend([&list.replace(", ", ","), after]),
                    None => out.push_str(value),
                }
            }
            None => out.push_str(rest),
        }
    }
    out
}

/// `64 ports`, or those of each tier where a modular one has more: `64 (leaf), 576 (spine) ports`.
fn switch_ports(design: &Design, radix: u64) -> String {
    let tiers = design.counts().tiers;
    let each: Vec<u64> = tiers.iter().map(|tier| tier.ports / tier.switches).collect();
    if each.iter().all(|ports| *ports == design.ports_per_switch) {
        return format!("{radix} ports");
    }
    let named: Vec<_> = tiers.iter().zip(each).map(|(tier, n)| format!("{n} ({})", tier.name)).collect();
    format!("{} ports", named.join(", "))
}

/// `400 Gbit/s`: the usual unit of ports, unlike bytes on links.
fn gigabits(speed: BytesPerSecond) -> String {
    // A third of a port is not an integer.
    let gbit = (speed.get() * 8.0 / 1e6).round() / 1e3;
    if gbit >= 1000.0 { format!("{} Tbit/s", gbit / 1000.0) } else { format!("{gbit} Gbit/s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_name_flags_and_speeds_are_spelled_out() {
        assert_eq!(
            dashed("increase design.radix, or design.hosts_per_leaf = 4"),
            "raise --radix, or --hosts-per-leaf 4"
        );
        assert_eq!(dashed("write design.dimensions = [16, 16, 16]"), "write --dimensions 16,16,16");
        assert_eq!(gigabits(BytesPerSecond::from_gbit(200.0) / 3.0), "66.667 Gbit/s");
        assert_eq!(spelled_out("speed", "400G"), "400 Gbit/s");
        assert_eq!(spelled_out("port_speed", "2x400G"), "2x400G");
        assert_eq!(spelled_out("domain_bandwidth", "450 GB/s"), "450 GB/s");
        assert_eq!(gigabits(BytesPerSecond::from_gb(450.0)), "3.6 Tbit/s");
    }
}
