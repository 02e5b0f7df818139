//! Traffic between ranks in a step, by pair, domain, rail and link.
//!
//! Responsible for: communication as values without a rank x rank matrix, bytes per pair for an algorithm,
//! and their sums. Independent of the origin of the communication (a predicted step or a trace) and of time
//! ([`crate::flow`]).
//!
//! A [`Traffic`] is a [`Numbering`] with a list of [`Exchange`]s. [`Exchange::flows`] has senders, receivers
//! and bytes of one call in one group. All other figures are sums of these.

mod cells;
mod classes;
mod exchange;
mod flows;
mod groups;
mod links;
mod matrix;
mod merged;
mod place;
mod places;
mod rings;
mod seats;
mod squares;
mod summary;
#[cfg(test)]
mod tests;

pub use cells::Cells;
pub use classes::ByClass;
pub use exchange::{Algorithm, Exchange};
pub use groups::{Axis, Groups, Numbering};
pub use links::{BusiestLink, Direction, LinkRow, Loads};
pub use matrix::Matrix;
pub use place::{PairClass, Place};
pub use places::{DomainRow, RailRow, by_domain, by_rail};
pub use seats::RankPlacement;
pub use squares::{Square, TrafficMatrix};
pub use summary::{DimensionRow, ExchangeRow, PairRow, Summary};

use railwright_spec::problem::Wanted;
use serde::Serialize;

/// Groups between two checks for cancellation: some milliseconds.
const GROUPS_AT_ONCE: u64 = 4096;

/// Traffic of a step between ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Traffic {
    /// Placement of ranks.
    pub numbering: Numbering,
    /// Exchanges of the ranks.
    pub exchanges: Vec<Exchange>,
}

impl Traffic {
    /// Calls `flow(from, to, bytes)` for all traffic of a step, exchange by exchange; a pair may occur
    /// several times. O(sum of partners). `wanted` is called periodically and may stop it.
    pub fn flows<E>(
        &self,
        place: &Place,
        wanted: Wanted<'_, E>,
        mut flow: impl FnMut(u32, u32, f64),
    ) -> Result<(), E> {
        let mut members = Vec::new();
        for exchange in &self.exchanges {
            for group in 0..exchange.groups.count() {
                if group % GROUPS_AT_ONCE == 0 {
                    wanted()?;
                }
                exchange.ranks_of(&self.numbering, group, &mut members);
                exchange.flows_on(&members, place, &mut |from, to, bytes| {
                    flow(from, to, bytes * exchange.count);
                });
            }
        }
        Ok(())
    }
}
