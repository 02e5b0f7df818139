//! Key of the price of layers among the plans of one search.
//!
//! Responsible for: a key that is equal for two plans exactly if their layers cost the same. Excludes
//! settings that a search never changes: software, precision, sequence, kernel, dropout, optimizer.

use crate::costing::Costing;
use railwright_spec::plan::Group;

/// Settings that determine the price of layers, among plans of one software, precision, sequence, kernel,
/// dropout and optimizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    degrees: [u64; 5],
    kind: u8,
    switches: [bool; 3],
    groups: [Group; 4],
}

impl Key {
    pub(super) fn of(costing: &Costing<'_>) -> Self {
        let (plan, layout) = (costing.plan, &costing.layout);
        Self {
            degrees: [
                plan.tensor_parallel,
                plan.context_parallel,
                plan.expert_parallel,
                plan.expert_tensor_parallel,
                plan.micro_batch,
            ],
            kind: plan.context_kind as u8,
            switches: [plan.sequence_parallel, plan.overlap.tensor, plan.overlap.expert],
            groups: [layout.tensor, layout.context, layout.expert, layout.expert_tensor],
        }
    }
}
