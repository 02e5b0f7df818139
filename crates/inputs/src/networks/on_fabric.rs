//! Fabrics from files.
//!
//! Responsible for: reading the file. Independent of the traffic on it.

use crate::{CONFIG_LIMIT, FILES, no_readers, read as read_text};
use railwright_network::imported::{Imported, on_cluster};
use railwright_spec::cluster::Cluster;
use railwright_spec::problem::Problem;

/// A fabric with the domains of a cluster, and the settings that were chosen.
pub fn read(
    file: &str,
    cluster: &Cluster,
    routing: Option<&str>,
) -> Result<(Imported, Vec<String>), Problem> {
    if !FILES {
        return Err(no_readers(file));
    }
    on_cluster(&read_text(file, CONFIG_LIMIT)?, file, cluster, routing)
}
