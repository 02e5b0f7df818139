//! Exposed and overlapped communication.
//!
//! Responsible for: per rank and dimension, communication time with and without overlapped compute. Excludes
//! the slowdown of compute by overlap.

use crate::intervals::{Intervals, computes};
use crate::{Activity, Dimension, Step, Time};
use railwright_spec::quantity::Rank;
use serde::Serialize;

/// Communication of one dimension on one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exposure {
    /// Rank.
    pub rank: Rank,
    /// Dimension.
    pub dimension: Dimension,
    /// Communication time; concurrent streams count once.
    pub total: Time,
    /// Time overlapped with compute.
    pub hidden: Time,
    /// Time without overlapped compute. Concurrent exposed dimensions each count it, unlike in [`crate::breakdown`].
    pub exposed: Time,
}

/// Communication by rank and dimension, without zeros.
pub fn exposure(step: &Step) -> Vec<Exposure> {
    let window = (step.start, step.end);
    let mut rows = Vec::new();
    for rank in &step.ranks {
        let compute = Intervals::of(rank, window, computes);
        for dimension in Dimension::ALL {
            let wanted = Activity::Communication(dimension);
            let communication = Intervals::of(rank, window, |span| span.activity == wanted);
            let total = communication.length();
            if total > Time::ZERO {
                let hidden = communication.intersection(&compute).length();
                rows.push(Exposure { rank: rank.rank, dimension, total, hidden, exposed: total - hidden });
            }
        }
    }
    rows
}
