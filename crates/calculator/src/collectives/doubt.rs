//! Doubt about all-reduces over racks that no measurement covers.
//!
//! Responsible for: bounds of their time from the bus bandwidths of the nearest measured numbers of racks.
//! Excludes groups with a measured model, and operations other than all-reduce.
//!
//! All-reduces over racks of NVLink are published for 2 and for 20 racks
//! (`catalog/evidence/collectives_at_scale.csv`). With the same bytes, their bus bandwidths differ by a
//! factor of 2 to 4. Between them the library's choice of algorithm and channels is unknown.
//! Bandwidth decreases with the number of racks, so the values of 2 and of 20 racks are bounds: `t = f(n) S /
//! B`, with `f(n) = 2 (n - 1)/n` and B the bus bandwidth of the model at 2 and at 20 racks, each within 7% of
//! the published ones.

use super::across::SWITCH_TREE;
use super::network::Span;
use super::{Collective, Fabric, bus_factor};
use railwright_spec::plan::Group;
use railwright_spec::quantity::Bytes;

/// Numbers of racks with published all-reduces, on both sides of the gap.
pub const MEASURED_RACKS: [u64; 2] = [2, 20];

impl Fabric {
    /// Lower and upper bound on a collective's time, as multiples of the predicted time. `None` if
    /// measurements cover it.
    pub fn doubt(&self, op: Collective, bytes: Bytes, group: &Group) -> Option<[f64; 2]> {
        let (links, local, least) = self.locality(group);
        let span = Span { ranks: group.ranks, local, least, stride: group.stride, sharing: 1.0 };
        let [near, far] = MEASURED_RACKS;
        let is_between = (near + 1..far).contains(&span.domains()) && least < group.ranks;
        let is_racks = links.class.tree_channels().is_some() && local > SWITCH_TREE;
        if op != Collective::AllReduce || !is_racks || !is_between || self.network.founded(&span).is_some() {
            return None;
        }
        let time = |ranks: u64, least: u64| {
            let span = Span { ranks, least, ..span };
            let cost = self.network.time(links, op, bytes.get(), &span);
            cost.time.get() / bus_factor(op, ranks as f64)
        };
        let own = time(group.ranks, least);
        let bounds = [time(near * local, local) / own, time(far * local, local) / own];
        bounds.iter().all(|bound| bound.is_finite()).then(|| [bounds[0].min(1.0), bounds[1].max(1.0)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::cluster::by_name;

    fn over(racks: u64) -> Group {
        Group { ranks: 72 * racks, per_domain: 72, least: 72, stride: 1 }
    }

    /// Over 8 racks an all-reduce has a bus bandwidth between those of 2 and of 20 racks; measured numbers of
    /// racks have no bounds.
    #[test]
    fn all_reduces_between_the_measured_racks_are_bounded_by_these() {
        let cluster = by_name("gb200-nvl72", 1440).expect("a preset");
        let fabric = Fabric::new(&cluster);
        let bytes = Bytes::new(4e9);
        let op = Collective::AllReduce;
        for racks in [1, 2, 20, 30] {
            assert_eq!(fabric.doubt(op, bytes, &over(racks)), None, "{racks}");
        }
        assert_eq!(fabric.doubt(Collective::AllGather, bytes, &over(8)), None);
        let bus = |racks: u64| {
            let group = over(racks);
            bus_factor(op, group.ranks as f64) / fabric.time(op, bytes, &group, 1.0).time.get()
        };
        for racks in [3, 8, 19] {
            let [least, most] = fabric.doubt(op, bytes, &over(racks)).expect("no measurement");
            assert!((least * bus(2) / bus(racks) - 1.0).abs() < 1e-9, "{racks}: {least}");
            assert!(most >= bus(racks) / bus(20) * (1.0 - 1e-9), "{racks}: {most}");
            assert!(least < 1.0 && most >= 1.0, "{least} {most}");
        }
        let nodes = Fabric::new(&by_name("dgx-h100", 64).expect("a preset"));
        let group = Group { ranks: 64, per_domain: 8, least: 8, stride: 1 };
        assert_eq!(nodes.doubt(op, bytes, &group), None);
    }
}
