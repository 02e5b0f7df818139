//! Collectives on a torus (TPU ICI): groups take whole axes, and an axis has a share of each device's links.

use super::law::bus_factor;
use super::{Collective, CollectiveCost, Source};
use railwright_spec::quantity::{Bytes, Seconds};

/// Share of the links that large transfers reach (no published curves; the usual figure of compilers that overlap them).
pub const TORUS_SHARE: f64 = 0.9;
const SHARE: f64 = TORUS_SHARE;
/// Seconds to start, and per hop.
const BASE: f64 = 5e-6;
const HOP: f64 = 1e-6;

/// A torus of 2 or 3 dimensions whose devices send `bandwidth` bytes a second over all links together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Torus {
    pub(super) dimensions: u32,
    pub(super) bandwidth: f64,
}

impl Torus {
    /// Axes that a group of `ranks` fills: one up to 16 (the length of an axis of a v5e pod), two up to 256, then all.
    fn axes(&self, ranks: u64) -> u32 {
        let axes = if ranks <= 16 {
            1
        } else if ranks <= 256 {
            2
        } else {
            3
        };
        axes.min(self.dimensions)
    }

    /// `t = base + hops + f b / (share of links)`; all-to-all pays the mean distance too, a quarter of each axis.
    pub(super) fn time(&self, op: Collective, bytes: f64, ranks: u64) -> CollectiveCost {
        let axes = f64::from(self.axes(ranks));
        let side = (ranks as f64).powf(1.0 / axes);
        let available = self.bandwidth * SHARE * axes / f64::from(self.dimensions);
        let (rate, hops) = match op {
            // One link of the 2 of each axis.
            Collective::SendReceive => (self.bandwidth * SHARE / (2.0 * f64::from(self.dimensions)), 1.0),
            Collective::AllReduce => (available, axes * side),
            _ => (available, axes * side / 2.0),
        };
        let distance = match op {
            Collective::AllToAll | Collective::ExpertDispatch { .. } => (side / 4.0 * axes).max(1.0),
            _ => 1.0,
        };
        let wire = bus_factor(op, ranks as f64) * bytes * distance;
        let latency = BASE + HOP * hops;
        CollectiveCost {
            time: Seconds::new(latency + wire / rate),
            latency: Seconds::new(latency),
            wire_bytes_scale_up: Bytes::new(wire),
            wire_bytes_network: Bytes::ZERO,
            source: Source::Derived,
            algorithm: "torus",
        }
    }
}
