//! Layouts that were searched on a few networks, priced on all others.
//!
//! Responsible for: the fastest known layout of a network, and a proof of how far it can be from the fastest of all. Refuses to search: the
//! caller provides what it found on each network that it surveys.
//!
//! A layout that is missing from a complete list of all layouts below `T` seconds takes at least `T` there, and at least `T` on every
//! network that is nowhere better ([`is_at_least_as_good`]). So where a listed layout takes at most `T` on such a network, it is the
//! fastest there; where it takes `(1 + g) T`, it is at most a share `g` above the fastest.

use super::order::is_at_least_as_good;
use crate::search::{Entry, Key, Results, Search, Space};
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::evaluate;
use railwright_calculator::memory::retry_slowdown;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use std::collections::BTreeSet;

/// Layouts of a list. Each is priced on worse networks, in about the time that a search takes for a layout.
pub const LISTED: usize = 2000;

/// How far a list goes beyond the fastest layout: the wider, the fewer networks need a search of their own, and the longer each takes.
pub const SPREAD: f64 = 1.1;

/// By how much the step of an unsearched network may be above its fastest, as a share. Two measured runs of one configuration differ by more.
pub const SLACK: f64 = 0.01;

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
    pub fn fastest(&self, model: &Model, cluster: &Cluster) -> Result<Option<Fastest>, Problem> {
        let machine = Machine::new(cluster);
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
            unlisted = unlisted.max(surveyed.complete_below);
            for entry in &surveyed.entries {
                // Nothing is faster here than there.
                if best.as_ref().is_some_and(|best| entry.time > best.time) {
                    break;
                }
                if seen.insert(entry.strategy.key()) {
                    offer(&mut best, Priced::new(model, cluster, &machine, surveyed, entry)?);
                }
            }
            if best.as_ref().is_some_and(|best| best.time <= unlisted * (1.0 + SLACK)) {
                worse.clear();
                break;
            }
        }
        for surveyed in worse {
            for entry in surveyed.entries.iter().take(FROM_WORSE) {
                if seen.insert(entry.strategy.key()) {
                    offer(&mut best, Priced::new(model, cluster, &machine, surveyed, entry)?);
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

/// A layout on a network.
struct Priced {
    time: f64,
    memory: f64,
    key: Key,
    fresh: Seconds,
    plan: Plan,
}

impl Priced {
    /// The step as a search of this network has it.
    fn new(
        model: &Model,
        cluster: &Cluster,
        machine: &Machine,
        surveyed: &Surveyed,
        entry: &Entry,
    ) -> Result<Self, Problem> {
        let plan = entry.strategy.plan(&surveyed.space, model);
        let fresh = evaluate(&Costing::new(model, cluster, &plan, machine)?)?.time.total;
        let slow = retry_slowdown(Bytes::new(entry.memory) / cluster.accelerator.memory);
        let (memory, key) = (entry.memory, entry.strategy.key());
        Ok(Self { time: fresh.get() * slow, memory, key, fresh, plan })
    }
}

/// Keeps the one that a search would put first.
fn offer(best: &mut Option<Priced>, next: Priced) {
    let is_before = best.as_ref().is_none_or(|best| {
        let memory = next.memory.total_cmp(&best.memory);
        next.time.total_cmp(&best.time).then(memory).then(next.key.cmp(&best.key)).is_lt()
    });
    if is_before {
        *best = Some(next);
    }
}

#[cfg(test)]
mod tests;
