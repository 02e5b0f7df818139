//! Cached prices of the update of a stage.
//!
//! Responsible for: collectives and optimizer of a stage, once for all pipelines whose stage has the same
//! parameters. Excludes overlap, which depends on the passes.

use crate::costing::Costing;
use crate::local::LocalParameters;
use crate::sharding::{UpdatePrices, update_prices};
use std::collections::BTreeMap;

/// Sharding (3), stages, micro-batches, and parameters (6).
type Key = [u64; 11];

/// Prices of updates in one setting of parallel sizes, micro-batch and placement.
#[derive(Clone, Debug, Default)]
pub(super) struct Updates(BTreeMap<Key, UpdatePrices>);

impl Updates {
    /// The prices of a stage with `local` parameters.
    pub(super) fn of(
        &mut self,
        costing: &Costing<'_>,
        local: LocalParameters,
        micro_batches: u64,
    ) -> UpdatePrices {
        let LocalParameters { dense, routed, frozen_dense, frozen_routed, nf4_dense, nf4_routed } = local;
        let sharding = costing.plan.sharding;
        let [a, b, c, d, e, f] =
            [dense, routed, frozen_dense, frozen_routed, nf4_dense, nf4_routed].map(f64::to_bits);
        let key = [
            u64::from(sharding.zero_stage),
            sharding.group.unwrap_or(0),
            u64::from(sharding.reshard_after_forward),
            costing.plan.pipeline_parallel,
            micro_batches,
            a,
            b,
            c,
            d,
            e,
            f,
        ];
        *self.0.entry(key).or_insert_with(|| update_prices(costing, local, micro_batches))
    }
}
