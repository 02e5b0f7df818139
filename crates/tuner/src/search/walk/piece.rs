//! One piece of a search: the context common to all of its nodes.

use crate::search::families::Family;
use crate::search::floor::Floor;
use crate::search::pieces::Degrees;
use crate::search::shapes::Shaped;
use crate::search::task::Search;
use railwright_calculator::costing::Costing;
use railwright_calculator::memory::ParameterBytes;
use railwright_spec::plan::Sharding;
use std::sync::Arc;

/// Context common to all nodes of a piece.
pub(super) struct Piece<'s, 'a> {
    pub(super) search: &'s Search<'a>,
    pub(super) degrees: Degrees,
    pub(super) shardings: Vec<Sharding>,
    /// The families of its strategies: unsharded and sharded parameters.
    pub(super) families: Vec<Family>,
    /// Bytes per parameter by sharding, in the slots of [`super::group::slot`].
    pub(super) bytes: [Vec<ParameterBytes>; 4],
    /// Sequences per micro-batch, with the resulting shapes.
    pub(super) shapes: Vec<(u64, Arc<Shaped>)>,
    pub(super) template: Costing<'s>,
    pub(super) floor: Floor,
}
