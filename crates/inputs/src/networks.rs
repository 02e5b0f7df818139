//! Networks as inputs: designs, price lists, fabrics, and the network and hosts of a run.
//!
//! Responsible for: conversion of settings to designs and allocations. Excludes the traffic on a network.

pub mod on_fabric;
pub mod on_hosts;
pub mod on_network;
pub mod on_run;

use crate::{CONFIG_LIMIT, read};
pub use railwright_answers::{kind_of_network as kind, spelled_out};
use railwright_network::bill::prices::Prices;
use railwright_network::topology::{DesignSpec, parse};
use railwright_spec::problem::Problem;
use railwright_spec::run::Sheet;
use std::path::Path;

/// Maximum length of a table of failure rates.
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

/// Prices of the catalogue, overridden by the lists of files; the last list takes precedence.
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
