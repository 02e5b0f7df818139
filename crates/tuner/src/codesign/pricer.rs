//! Prices of listed layouts on one network.
//!
//! Responsible for: the step of a layout as in a search of the network, from cached layers and GEMMs. Does
//! not select layouts: see [`super::survey`].

use crate::search::{Entry, Key, Space};
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::memory::{layers_per_chunk, retry_slowdown};
use railwright_calculator::operators::ProductMemo;
use railwright_calculator::prepared::{Buffers, LayerMemo, Priced as Chunks, Setting, step_time};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use std::sync::Arc;

/// Caches independent of the network: prices of an accelerator's GEMMs, and compiled schedules.
#[derive(Debug, Default)]
pub struct Memo {
    products: Arc<ProductMemo>,
    buffers: Buffers,
}

/// Prices of one model on one network. Layouts with the same layers share their prices.
pub(super) struct Pricer<'a> {
    model: &'a Model,
    cluster: &'a Cluster,
    machine: Machine,
    layers: LayerMemo,
    memo: &'a mut Memo,
}

/// A layout on a network.
pub(super) struct Priced {
    /// Step time in seconds, including memory retries.
    pub(super) time: f64,
    /// Step time without memory retries.
    pub(super) fresh: Seconds,
    pub(super) plan: Plan,
    memory: f64,
    key: Key,
}

impl<'a> Pricer<'a> {
    /// `memo` must be of the cluster's accelerator.
    pub(super) fn new(model: &'a Model, cluster: &'a Cluster, memo: &'a mut Memo) -> Self {
        Self { model, cluster, machine: Machine::new(cluster), layers: LayerMemo::default(), memo }
    }

    /// Prices a layout of a space as in a search of this network. `None` if it takes longer than `limit`, in
    /// seconds.
    pub(super) fn price(
        &mut self,
        space: &Space,
        entry: &Entry,
        limit: f64,
    ) -> Result<Option<Priced>, Problem> {
        let (model, cluster) = (self.model, self.cluster);
        let plan = entry.strategy.plan(space, model);
        let costing = Costing::new(model, cluster, &plan, &self.machine)?.remembering(&self.memo.products);
        let setting = Setting::remembered(&costing, &self.layers);
        let mut chunks = Chunks::new(&costing, &setting);
        let split = layers_per_chunk(model, &plan, costing.stage_split);
        let slow = retry_slowdown(Bytes::new(entry.memory) / cluster.accelerator.memory);
        // Division may round an exact tie to less than itself.
        let limit = Seconds::new(limit / slow * (1.0 + 1e-12));
        let fresh = step_time(&costing, &setting, &mut chunks, &split, limit, &mut self.memo.buffers)?;
        Ok(fresh.map(|fresh| Priced {
            time: fresh.get() * slow,
            fresh,
            memory: entry.memory,
            key: entry.strategy.key(),
            plan,
        }))
    }
}

/// Keeps the one that a search ranks first.
pub(super) fn offer(best: &mut Option<Priced>, next: Priced) {
    let is_before = best.as_ref().is_none_or(|best| {
        let memory = next.memory.total_cmp(&best.memory);
        next.time.total_cmp(&best.time).then(memory).then(next.key.cmp(&best.key)).is_lt()
    });
    if is_before {
        *best = Some(next);
    }
}
