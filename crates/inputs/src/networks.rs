//! Networks as inputs: designs, price lists, fabrics, and the network and hosts of a run.
//!
//! Responsible for: settings to designs and allocations. Excludes what happens on a network.

pub mod on_fabric;
pub mod on_hosts;
pub mod on_network;
pub mod on_run;

use crate::{CONFIG_LIMIT, read};
use railwright_network::bill::prices::Prices;
use railwright_network::topology::{DesignSpec, Kind, parse};
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::run::{Field as _, Sheet, Value};
use std::path::Path;

/// The longest table of failure rates that is read.
pub const RATES_LIMIT: u64 = 1 << 20;
/// The longest price list that is read.
const PRICES_LIMIT: u64 = 1 << 20;

/// A design by kind or file, with overrides of flags.
pub fn design(
    word: Option<&str>,
    flags: &[(String, &'static str, String)],
) -> Result<Sheet<DesignSpec>, Problem> {
    let mut sheet = match word {
        None => Sheet::default(),
        Some(path) if is_path(path) => {
            let label = if path == "-" { "standard input" } else { path };
            parse(&read(path, CONFIG_LIMIT)?, label)?
        }
        Some(word) => {
            let mut sheet = Sheet::<DesignSpec>::default();
            sheet.spec.kind = Some(kind(word)?);
            sheet
        }
    };
    for (flag, key, value) in flags {
        sheet.set_flag(flag, key, &spelled_out(key, value))?;
    }
    Ok(sheet)
}

/// Prices of the catalogue under the lists of files, the last one on top.
pub fn prices(files: &[String]) -> Result<Prices, Problem> {
    let mut prices = Prices::catalogue()?;
    for path in files {
        let label = if path == "-" { "standard input" } else { path };
        prices.overlay(Prices::parse(&read(path, PRICES_LIMIT)?, label)?);
    }
    Ok(prices)
}

fn is_path(word: &str) -> bool {
    word == "-" || word.contains(['/', '\\']) || Path::new(word).extension().is_some_and(|e| e == "toml")
}

/// A kind by its name.
pub fn kind(word: &str) -> Result<Kind, Problem> {
    Kind::read(&Value::Text(word.to_owned())).map_err(|_| {
        let names = Kind::ALL.map(Kind::name);
        let list = format!("use one of {}, or pass a design file", names.join(", "));
        Problem::new(format!("unknown topology `{}`", human::shorten(word)))
            .hint(did_you_mean(word, names, &list))
    })
}

/// `400G` is the common spelling of 400 Gbit/s; a bandwidth in bytes needs its unit.
pub fn spelled_out(key: &str, word: &str) -> String {
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
