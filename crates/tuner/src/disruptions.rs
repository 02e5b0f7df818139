//! Flaps and slow parts of a job's network for its goodput, by the computation of `network failures`.
//!
//! Responsible for: those of a cluster without a design. Excludes failures that end with a repair: the
//! published interruptions of goodput contain those of the network.

use railwright_network::failures::expected::{EXPOSED_SHARE, Job, expectation};
use railwright_network::failures::rates::Rates;
use railwright_network::failures::{Outages, slowdown, usual_network};
use railwright_spec::cluster::Cluster;
use railwright_spec::problem::Problem;
use railwright_spec::run::{Disruptions, Run};

/// Rates of the catalogue with tables over them, each with its name.
fn rates(tables: &[(String, String)]) -> Result<Rates, Problem> {
    let mut rates = Rates::catalogue()?;
    for (text, file) in tables {
        rates.overlay(text, file)?;
    }
    Ok(rates)
}

/// Failures of networks under a run, with tables of rates over those of the catalogue, each with its name.
pub fn outages_of(run: &Run, tables: &[(String, String)]) -> Result<Outages, Problem> {
    let training = &run.training;
    Outages::new(rates(tables)?, &run.cluster, training.checkpoints.is_some() || training.availability < 1.0)
}

/// Flaps and slow parts on the network of a cluster, by device, with tables of rates over those of the
/// catalogue, each with its name. Only whole scale-up domains count.
pub fn disruptions_of(cluster: &Cluster, tables: &[(String, String)]) -> Result<Disruptions, Problem> {
    let job = Job::usual(EXPOSED_SHARE);
    let expected = expectation(&usual_network(cluster).resolve()?, &rates(tables)?, &job, &|kept| {
        slowdown(kept, job.exposed_share)
    })?;
    Ok(expected.disruptions(&job))
}
