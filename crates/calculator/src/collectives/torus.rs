//! Collectives on a torus (TPU ICI): groups take whole axes, and an axis has a share of each device's links.

use super::law::bus_factor;
use super::{Collective, CollectiveCost, Source};
use railwright_spec::Portable as _;
use railwright_spec::quantity::{Bytes, Seconds};

/// Share of the links that large transfers reach (no published curves; the usual figure of compilers that
/// overlap them).
pub const TORUS_SHARE: f64 = 0.9;
const SHARE: f64 = TORUS_SHARE;
/// Seconds to start, and per hop.
const BASE: f64 = 5e-6;
const HOP: f64 = 1e-6;

/// The slice of a torus of 2 or 3 dimensions that a run occupies; its devices send `bandwidth` bytes per
/// second over all links together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Torus {
    /// Lengths of the slice's axes, the longest first; 1 for dimensions that it does not use.
    axes: [u64; 3],
    dimensions: u32,
    bandwidth: f64,
}

impl Torus {
    /// The slice for `devices` devices, as near to a cube or a square as powers of two allow: 4 x 4 x 4 of
    /// v5p or 8 x 8 of v6e for 64, 16 x 16 of v6e for 256. (Google Cloud TPU documentation, "TPU v5p" and
    /// "TPU v6e", tables of topologies.)
    pub(super) fn of_slice(devices: u64, dimensions: u32, bandwidth: f64) -> Self {
        let used = dimensions.clamp(1, 3) as usize;
        let mut axes = [1_u64; 3];
        let mut left = devices.max(1);
        while left > 1 {
            // The least factor: 2 for a power of two.
            let factor = (2..=left.isqrt()).find(|factor| left.is_multiple_of(*factor)).unwrap_or(left);
            if let Some(shortest) = axes[..used].iter_mut().min() {
                *shortest *= factor;
            }
            left /= factor;
        }
        axes[..used].sort_unstable_by(|a, b| b.cmp(a));
        Self { axes, dimensions: used as u32, bandwidth }
    }

    /// Number of axes that a group of `ranks` fills. Groups take whole axes, as
    /// `mesh_utils.create_device_mesh` of JAX assigns them, as many as their product allows. A group that
    /// no axes match takes the longest ones until they hold it.
    fn axes(&self, ranks: u64) -> u32 {
        // The unused dimensions are last.
        let used = &self.axes[..self.axes.iter().filter(|length| **length > 1).count()];
        let whole = (1..1_u32 << used.len()).filter_map(|subset| {
            let taken = used.iter().enumerate().filter(|(at, _)| subset & (1 << at) != 0);
            let product = taken.map(|(_, length)| *length).fold(1, u64::saturating_mul);
            (product == ranks).then_some(subset.count_ones())
        });
        let filled = || {
            let mut product = 1_u64;
            let enough = used.iter().position(|length| {
                product = product.saturating_mul(*length);
                product >= ranks
            });
            enough.map_or(used.len().max(1) as u32, |at| at as u32 + 1)
        };
        whole.max().unwrap_or_else(filled)
    }

    /// `t = base + hops + f b / (share of links)`; all-to-all pays the mean distance too, a quarter of each
    /// axis.
    pub(super) fn time(&self, op: Collective, bytes: f64, ranks: u64) -> CollectiveCost {
        let axes = f64::from(self.axes(ranks));
        let side = (ranks as f64).portable_powf(1.0 / axes);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Shapes of Google's tables of topologies: v5p of 64 and 128, v6e of 64 and 256.
    #[test]
    fn slices_have_the_published_shapes() {
        let shape = |devices, dimensions| Torus::of_slice(devices, dimensions, 6e11).axes;
        assert_eq!((shape(64, 3), shape(128, 3)), ([4, 4, 4], [8, 4, 4]));
        assert_eq!((shape(64, 2), shape(256, 2)), ([8, 8, 1], [16, 16, 1]));
        assert_eq!(shape(6144, 3).iter().product::<u64>(), 6144);
    }

    /// 16 ranks of a slice of 4 x 4 x 4 fill two axes, and have twice the links of one axis of 16 and half
    /// its mean distance.
    #[test]
    fn a_group_has_the_links_of_the_axes_that_it_fills() {
        let cube = Torus::of_slice(64, 3, 6e11);
        assert_eq!([4, 16, 64].map(|ranks| cube.axes(ranks)), [1, 2, 3]);
        assert_eq!(Torus::of_slice(256, 2, 4e11).axes(16), 1);
        let long = Torus::of_slice(1 << 12, 3, 6e11);
        assert_eq!(long.axes(16), 1);
        let ratio = |op| long.time(op, 1e9, 16).time / cube.time(op, 1e9, 16).time;
        assert!((ratio(Collective::AllGather) - 2.0).abs() < 0.05);
        assert!((ratio(Collective::AllToAll) - 4.0).abs() < 0.1);
    }
}
