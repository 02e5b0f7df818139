//! Layouts from the searches of a few networks, priced on all others.
//!
//! Responsible for: the fastest known layout of a network, and a proof of its maximum distance from the
//! optimum. Does not search: the caller provides the results for each surveyed network.
//!
//! A layout that is missing from a complete list of all layouts below `T` seconds takes at least `T` on this
//! network. It also takes at least `T` on every network that is better in no property
//! ([`is_at_least_as_good`]). If a listed layout takes at most `T` on such a network, it is the fastest
//! there; if it takes `(1 + g) T`, it is at most a share `g` above the fastest.

use super::order::is_at_least_as_good;
use super::pricer::{Memo, Priced, Pricer, offer};
use crate::search::{Degrees, Entry, Key, Results, Search, Space};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of listed layouts. Each is priced on worse networks, in about the time of a search per
/// layout.
pub const LISTED: usize = 2000;

/// Maximum time of listed layouts relative to the fastest. A longer list saves searches of other networks,
/// but takes longer.
pub const SPREAD: f64 = 1.1;

/// Maximum excess of the step of an unsearched network over its optimum, as a share. Two measured runs of one
/// configuration differ by more.
pub const SLACK: f64 = 0.01;

/// Maximum reduction of the step of a zero-bubble schedule on a worse network, as a share, for bounds. Such
/// steps follow each other at the time from a stage's first pass to its last
/// ([`Schedule::validates_afterwards`]), and slower messages also delay the first pass. An earlier comparison
/// of whole plans found up to 2.5%; pipelines alone have no reduction in the tests. This is twice that.
///
/// [`Schedule::validates_afterwards`]: railwright_spec::plan::Schedule::validates_afterwards
pub const LATE_START: f64 = 0.05;

/// Number of layouts of a worse network priced on a better one, the fastest first: their times there bound
/// nothing.
const FROM_WORSE: usize = 64;

/// Layouts of one model on machines with equal scale-up domains, by network.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    networks: Vec<Surveyed>,
}

#[derive(Clone, Debug)]
struct Surveyed {
    cluster: Cluster,
    space: Space,
    entries: Vec<Entry>,
    /// All layouts below this time are among the entries, in seconds.
    complete_below: f64,
    /// Lower bounds on all layouts of the searched parallel sizes, in seconds.
    least: BTreeMap<Degrees, f64>,
}

/// The fastest known layout on a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Fastest {
    /// The layout.
    pub plan: Plan,
    /// Step time, including memory retries.
    pub step_time: Seconds,
    /// Step time without memory retries.
    pub fresh_step_time: Seconds,
    /// Lower bound for all layouts of the space; zero if no better network was surveyed.
    pub least: Seconds,
}

impl Fastest {
    /// Maximum excess over the fastest of all layouts, as a share; infinite without a proof.
    pub fn gap(&self) -> f64 {
        (self.step_time / self.least - 1.0).max(0.0)
    }

    /// Tests whether the network needs no separate search.
    pub fn is_enough(&self) -> bool {
        self.gap() <= SLACK
    }
}

impl Survey {
    /// Number of searched networks.
    pub fn len(&self) -> usize {
        self.networks.len()
    }

    /// Tests whether no network was searched.
    pub fn is_empty(&self) -> bool {
        self.networks.is_empty()
    }

    /// Adds a finished search of one network: all layouts that take up to `limit` seconds, including details
    /// ([`crate::search::Options::every_detail`]).
    pub fn add(&mut self, search: &Search<'_>, results: &Results, limit: f64) {
        self.networks.push(Surveyed {
            cluster: search.cluster.clone(),
            space: search.space.clone(),
            entries: results.best.entries().to_vec(),
            complete_below: results.best.threshold().min(limit),
            least: results.least().collect(),
        });
    }

    /// Raises lower bounds on the time of all layouts on a network, by parallel sizes, to those from the
    /// searches of networks that are at least as good.
    pub fn raise(&self, least: &mut BTreeMap<Degrees, f64>, cluster: &Cluster) {
        for better in self.networks.iter().filter(|one| is_at_least_as_good(&one.cluster, cluster)) {
            let kept = better.kept(cluster);
            for (degrees, time) in &better.least {
                let known = least.entry(*degrees).or_default();
                *known = known.max(time * kept);
            }
        }
    }

    /// The fastest of all surveyed layouts on a network. `None` before the first survey.
    pub fn fastest(
        &self,
        model: &Model,
        cluster: &Cluster,
        memo: &mut Memo,
    ) -> Result<Option<Fastest>, Problem> {
        let mut pricer = Pricer::new(model, cluster, memo);
        let mut best: Option<Priced> = None;
        let mut seen: BTreeSet<Key> = BTreeSet::new();
        let mut unlisted: f64 = 0.0;
        let mut worse = Vec::new();
        // Networks are in order from the best: the last ones are the most similar.
        for surveyed in self.networks.iter().rev().filter(|one| one.cluster.scale_up == cluster.scale_up) {
            if !is_at_least_as_good(&surveyed.cluster, cluster) {
                worse.push(surveyed);
                continue;
            }
            unlisted = unlisted.max(surveyed.least_here(cluster));
            for entry in &surveyed.entries {
                let limit = best.as_ref().map_or(f64::INFINITY, |best| best.time);
                // No layout is faster here than there, except with schedules that start late.
                if entry.time * surveyed.kept(cluster) > limit {
                    break;
                }
                if seen.insert(entry.strategy.key())
                    && let Some(priced) = pricer.price(&surveyed.space, entry, limit)?
                {
                    offer(&mut best, priced);
                }
            }
            if best.as_ref().is_some_and(|best| best.time <= unlisted * (1.0 + SLACK)) {
                worse.clear();
                break;
            }
        }
        for surveyed in worse {
            for entry in surveyed.entries.iter().take(FROM_WORSE) {
                let limit = best.as_ref().map_or(f64::INFINITY, |best| best.time);
                if seen.insert(entry.strategy.key())
                    && let Some(priced) = pricer.price(&surveyed.space, entry, limit)?
                {
                    offer(&mut best, priced);
                }
            }
        }
        Ok(best.map(|best| Fastest {
            step_time: Seconds::new(best.time),
            fresh_step_time: best.fresh,
            least: Seconds::new(best.time.min(unlisted)),
            plan: best.plan,
        }))
    }
}

impl Surveyed {
    /// Minimum ratio of a layout's time here to its time there, for a network that is better in no property.
    fn kept(&self, cluster: &Cluster) -> f64 {
        let starts_late = self.space.schedules.iter().any(|schedule| schedule.validates_afterwards());
        // On the network itself every layout has its own time.
        if starts_late && self.cluster.network != cluster.network { 1.0 - LATE_START } else { 1.0 }
    }

    /// Lower bound on an unlisted layout on a network that is better in no property, in seconds.
    fn least_here(&self, cluster: &Cluster) -> f64 {
        self.complete_below * self.kept(cluster)
    }
}

#[cfg(test)]
mod tests;
