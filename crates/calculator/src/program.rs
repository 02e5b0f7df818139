//! What a layer, the embedding and the head do on one rank for one micro batch: the one unpriced description that all read.
//!
//! Responsible for: every operation (phase, family, shape, format) and every collective (kind, process group, bytes, count, what may
//! overlap it), once. [`crate::layer`] and [`crate::stage`] price them; the communication table, the traffic and the timeline read
//! the exchanges. Collectives of weights stand in [`crate::update`], messages between stages in
//! [`crate::transfer`]. Refuses to know times, recompute policies and where in the pipeline a layer stands.

mod adapters;
mod elementwise;
mod ends;
mod exchanges;
pub(crate) mod experts;
mod mixer;
mod operation;
pub(crate) mod products;
#[cfg(test)]
mod tests;

pub(crate) use ends::{embedding, embedding_exchanges, head, head_exchanges};
pub(crate) use exchanges::layer as exchanges;
pub(crate) use operation::{Exchange, Kernel, Operation, Overlap, Turn};

use crate::costing::Costing;
use railwright_spec::model::{FeedForward, Layer};

/// Every operation of a layer, each in the phases that it has.
pub(crate) fn operations(costing: &Costing<'_>, layer: &Layer, visit: &mut impl FnMut(Operation<'_>)) {
    products::visit(costing, layer, visit);
    mixer::visit(costing, layer, visit);
    if let FeedForward::MixtureOfExperts(moe) = &layer.feed_forward {
        experts::visit(costing, layer, moe, visit);
    }
    adapters::visit(costing, layer, visit);
    elementwise::visit(costing, layer, visit);
}
