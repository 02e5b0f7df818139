//! Operations, collectives and saved tensors of a layer, the embedding and the head on one rank for one
//! micro-batch: one description without prices for all users.
//!
//! Responsible for: every operation (phase, family, shape, format), every collective (kind, process group,
//! bytes, count, overlap) and every saved tensor (module, bytes, origin), once. [`crate::layer`] and
//! [`crate::stage`] price them; the communication table, the traffic and the timeline read the exchanges,
//! [`crate::memory`] the saved tensors. Collectives of weights are in [`crate::update`], messages
//! between stages in [`crate::transfer`]. Independent of times, recompute policies and the place of a layer
//! in the pipeline.

mod adapters;
mod elementwise;
mod ends;
mod exchanges;
pub(crate) mod experts;
mod micro_batch;
mod mixer;
mod operation;
pub(crate) mod products;
mod restored;
pub(crate) mod saved;
#[cfg(test)]
mod tests;
mod widths;

pub(crate) use ends::{embedding, embedding_exchanges, head, head_exchanges};
pub(crate) use exchanges::layer as exchanges;
pub(crate) use micro_batch::MicroBatch;
pub(crate) use mixer::{Keys, attended_by_documents, attended_length};
pub(crate) use operation::{Exchange, Kernel, Operation, Overlap, Turn};

use crate::costing::Costing;
use railwright_spec::model::{FeedForward, Layer};

/// Visits every operation of a layer, in each of its phases.
pub(crate) fn operations(costing: &Costing<'_>, layer: &Layer, visit: &mut impl FnMut(Operation<'_>)) {
    products::visit(costing, layer, visit);
    mixer::visit(costing, layer, visit);
    if let FeedForward::MixtureOfExperts(moe) = &layer.feed_forward {
        experts::visit(costing, layer, moe, visit);
    }
    adapters::visit(costing, layer, visit);
    restored::visit(costing, layer, visit);
    elementwise::visit(costing, layer, visit);
}
