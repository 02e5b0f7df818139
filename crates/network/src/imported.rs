//! Fabrics that exist outside the program: a graph of devices, switches and cables from a file.
//!
//! Responsible for: reading DOT, GraphML, `ibnetdiscover`, NetBox and ASTRA-sim files into [`Drawing`]s,
//! converting these to an [`Imported`] fabric with scale-up domains, its shortest routes, and collectives on
//! them. Nothing is guessed: a node without a type and a cable without a bandwidth are errors with their
//! line.

mod astra;
mod collective;
mod distances;
mod dot;
mod drawing;
mod fabric;
mod graphml;
mod ibnetdiscover;
mod netbox;
mod on_cluster;
mod routes;
#[cfg(test)]
mod tests;

pub use collective::{Shared, shared_time};
pub use drawing::Drawing;
pub use fabric::{Imported, RouteSetting, Surroundings};
pub use on_cluster::on_cluster;

use drawing::FORMATS;
use railwright_spec::problem::Problem;

/// Longer files are not fabrics.
const LONGEST: usize = 64 << 20;

/// Reads a file of any of the five formats; the content determines which.
pub fn parse(text: &str, file: &str) -> Result<Drawing, Problem> {
    if text.len() > LONGEST {
        return Err(Problem::new("longer than 64 MiB").in_file(file));
    }
    let begin = text.trim_start_matches('\u{feff}').trim_start();
    let is_discovered = |line: &str| {
        ["vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "Switch\t", "Ca\t"]
            .iter()
            .any(|word| line.starts_with(word))
    };
    if begin.is_empty() {
        return Err(Problem::new("the file is empty").in_file(file).hint(FORMATS));
    }
    if begin.starts_with('<') {
        graphml::parse(text, file)
    } else if begin.lines().next().is_some_and(netbox::is_header) {
        netbox::parse(text, file)
    } else if astra::is_network(text) {
        astra::parse(text, file)
    } else if begin.lines().any(is_discovered) {
        ibnetdiscover::parse(text, file)
    } else {
        dot::parse(text, file)
    }
}
