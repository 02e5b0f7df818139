//! Cables from each node to a destination.
//!
//! Responsible for: known distances by destination. Does not compute them: see [`super::routes`].

use std::collections::BTreeMap;
use std::sync::Arc;

/// Cables from each node to a destination, by destination.
#[derive(Debug, Default)]
pub(super) struct Distances {
    pub(super) known: BTreeMap<u32, Arc<[u16]>>,
}
