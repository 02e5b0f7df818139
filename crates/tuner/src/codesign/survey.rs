//! Layouts that were searched on a few networks, priced on all others.
//!
//! Responsible for: the fastest known layout of a network, and a proof of how far it can be from the fastest of all. Refuses to search: the
//! caller provides what it found on each network that it surveys.
//!
//! A layout that is missing from a complete list of all layouts below `T` seconds takes at least `T` there, and at least `T` on every
//! network that is nowhere better ([`is_at_least_as_good`]). So where a listed layout takes at most `T` on such a network, it is the
//! fastest there; where it takes `(1 + g) T`, it is at most a share `g` above the fastest.

use super::order::is_at_least_as_good;
use super::pricer::{Memo, Priced, Pricer, offer};
use crate::search::{Entry, Key, Results, Search, Space};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use std::collections::BTreeSet;

/// Layouts of a list. Each is priced on worse networks, in about the time that a search takes for a layout.
pub const LISTED: usize = 2000;

/// How far a list goes beyond the fastest layout: the wider, the fewer networks need a search of their own, and the longer each takes.
pub const SPREAD: f64 = 1.1;

/// By how much the step of an unsearched network may be above its fastest, as a share. Two measured runs of one configuration differ by more.
pub const SLACK: f64 = 0.01;

/// By how much a step of a zero-bubble schedule may be shorter on a worse network, as a share, for bounds. Such steps follow each other at the
/// time from a stage's first pass to its last ([`Schedule::validates_afterwards`]), and slower messages delay the first pass, too. An earlier
/// comparison of whole plans found up to 2.5%; pipelines alone show nothing of it in the tests. This is twice that.
///
/// [`Schedule::validates_afterwards`]: railwright_spec::plan::Schedule::validates_afterwards
pub const LATE_START: f64 = 0.05;

/// Layouts of a worse network that are priced on a better one, the fastest first: their times there bound nothing.
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
    /// All layouts that take less are among the entries.
    complete_below: f64,
}

/// The fastest known layout on a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Fastest {
    /// The layout.
    pub plan: Plan,
    /// Its step, memory retries included.
    pub step_time: Seconds,
    /// The same without memory retries.
    pub fresh_step_time: Seconds,
    /// No layout of the space takes less than this; zero where no better network was surveyed.
    pub least: Seconds,
}

impl Fastest {
    /// By how much it is above the fastest of all at most, as a share; infinite where nothing is proved.
    pub fn gap(&self) -> f64 {
        (self.step_time / self.least - 1.0).max(0.0)
    }

    /// Whether the network needs no search of its own.
    pub fn is_enough(&self) -> bool {
        self.gap() <= SLACK
    }
}

impl Survey {
    /// Networks that were searched.
    pub fn len(&self) -> usize {
        self.networks.len()
    }

    /// Whether none was searched.
    pub fn is_empty(&self) -> bool {
        self.networks.is_empty()
    }

    /// Takes over a finished search of one network: of all layouts that take up to `limit` seconds, details included
    /// ([`crate::search::Options::every_detail`]).
    pub fn add(&mut self, search: &Search<'_>, results: &Results, limit: f64) {
        self.networks.push(Surveyed {
            cluster: search.cluster.clone(),
            space: search.space.clone(),
            entries: results.best.entries().to_vec(),
            complete_below: results.best.threshold().min(limit),
        });
    }

    /// The fastest of all surveyed layouts on a network; none before the first survey.
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
        // Networks come with the best first: the last ones are the nearest.
        for surveyed in self.networks.iter().rev().filter(|one| one.cluster.scale_up == cluster.scale_up) {
            if !is_at_least_as_good(&surveyed.cluster, cluster) {
                worse.push(surveyed);
                continue;
            }
            unlisted = unlisted.max(surveyed.least_here(cluster));
            for entry in &surveyed.entries {
                let limit = best.as_ref().map_or(f64::INFINITY, |best| best.time);
                // Nothing is faster here than there, but for schedules that start late.
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
    /// The least share of its time here that a layout may take on a network which is nowhere better.
    fn kept(&self, cluster: &Cluster) -> f64 {
        let starts_late = self.space.schedules.iter().any(|schedule| schedule.validates_afterwards());
        // On the network itself every layout has its own time.
        if starts_late && self.cluster.network != cluster.network { 1.0 - LATE_START } else { 1.0 }
    }

    /// What an unlisted layout takes at least on a network which is nowhere better.
    fn least_here(&self, cluster: &Cluster) -> f64 {
        self.complete_below * self.kept(cluster)
    }
}

#[cfg(test)]
mod tests;
