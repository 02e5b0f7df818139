//! Flaps and slow parts of a job's network for its goodput, by the computation of `network failures`.
//!
//! Responsible for: those of a cluster without a design. Excludes failures that end with a repair: the published interruptions of goodput
//! contain those of the network.

use railwright_network::failures::expected::{EXPOSED_SHARE, INTERRUPTION_HOURS, Job, expectation};
use railwright_network::failures::rates::Rates;
use railwright_network::failures::{Outages, Recovery, slowdown, usual_network};
use railwright_spec::cluster::Cluster;
use railwright_spec::problem::Problem;
use railwright_spec::run::{Disruptions, Run};

/// Failures of networks under a run, with tables of rates over those of the catalogue, each with its name.
pub fn outages_of(run: &Run, tables: &[(String, String)]) -> Result<Outages, Problem> {
    let mut rates = Rates::catalogue()?;
    for (text, file) in tables {
        rates.overlay(text, file)?;
    }
    let training = &run.training;
    Outages::new(rates, &run.cluster, training.checkpoints.is_some() || training.availability < 1.0)
}

/// Flaps and slow parts on the network of a cluster, by device, with tables of rates over those of the catalogue, each with its name. Only
/// whole scale-up domains count.
pub fn disruptions_of(cluster: &Cluster, tables: &[(String, String)]) -> Result<Disruptions, Problem> {
    let mut rates = Rates::catalogue()?;
    for (text, file) in tables {
        rates.overlay(text, file)?;
    }
    let job = Job {
        exposed_share: EXPOSED_SHARE,
        exposed_domain_share: EXPOSED_SHARE,
        interruption_hours: INTERRUPTION_HOURS,
        recovery: Recovery::default(),
    };
    let expected = expectation(&usual_network(cluster).resolve()?, &rates, &job, &|kept| {
        slowdown(kept, job.exposed_share)
    })?;
    Ok(expected.disruptions(&job))
}
