//! Growth of a network: purchases now, purchases later, and parts that no longer fit.
//!
//! Responsible for: two plans for a larger network of the same design. *As needed*: the network of today's
//! devices, rebuilt later. *Prepared*: the larger network with its upper switches from the start and leaves,
//! NICs and cables for today's devices. Excludes discounts of later purchases and falling prices: both are at
//! today's prices.

use super::prices::{Item, Prices};
use super::{Bill, Line, bill};
use crate::topology::clos::Clos;
use crate::topology::design::ClosNetwork;
use crate::topology::{Design, DesignSpec, Fabric};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Dollars;
use serde::Serialize;

/// A plan for the larger network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Purchase {
    /// Bought for today's devices.
    pub now: Dollars,
    /// Cost of the purchases for later devices.
    pub later: Dollars,
    /// Cost of parts bought first that have no place in the larger network.
    pub discarded: Dollars,
    /// Lower bound on today's links to reconnect; `None` if the topology has no rule for it.
    pub moved_links: Option<u64>,
}

impl Purchase {
    /// All purchases.
    pub fn total(&self) -> Dollars {
        self.now + self.later
    }
}

/// A design that grows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Growth {
    /// Its name.
    pub name: String,
    /// Devices of the larger network.
    pub devices: u64,
    /// The network of today's devices, rebuilt later.
    pub as_needed: Purchase,
    /// Purchase with the upper switches of the larger network from the start; `None` if the topology has no
    /// tiers.
    pub prepared: Option<Purchase>,
}

/// A design at today's number of devices and at a larger one.
pub fn growth(spec: &DesignSpec, devices: u64, prices: &Prices) -> Result<Growth, Problem> {
    let today = spec.resolve()?;
    if devices <= today.devices {
        let message = format!("{devices} devices are not more than the initial {}", today.devices);
        return Err(Problem::new(message).hint("set the number of devices of the larger network"));
    }
    let grown = DesignSpec { devices: Some(devices), ..spec.clone() }.resolve()?;
    let whole = bill(&grown, prices)?;
    let way = |first: &Design| -> Result<Purchase, Problem> {
        let bought = bill(first, prices)?;
        let (later, discarded) = differences(&bought, &whole);
        Ok(Purchase { now: bought.total, later, discarded, moved_links: moved(first, &grown) })
    };
    let prepared = populated(&grown, today.devices).map(|first| way(&first)).transpose()?;
    Ok(Growth { name: spec.title(), devices, as_needed: way(&today)?, prepared })
}

/// A network with leaves, pods and NICs for some of its devices and with all of its upper switches. Pods are
/// whole.
fn populated(grown: &Design, devices: u64) -> Option<Design> {
    let Fabric::Clos(network) = &grown.fabric else { return None };
    let clos = &network.clos;
    if clos.tiers < 2 || clos.upper.is_some() {
        return None;
    }
    let endpoints = u128::from(clos.endpoints_per_group) * u128::from(devices);
    let endpoints = u64::try_from(endpoints.div_ceil(u128::from(grown.devices))).ok()?;
    // Extra endpoints do not grow.
    let extra = grown.extra_endpoints.div_ceil(clos.groups.max(1));
    let leaves_per_group =
        (endpoints + extra).div_ceil(clos.hosts_per_leaf.max(1)).min(clos.leaves_per_group);
    let pods = match clos.tiers {
        2 => clos.pods,
        _ => (leaves_per_group * clos.groups).div_ceil(clos.leaves_per_pod.max(1)),
    };
    let clos = Clos { endpoints_per_group: endpoints, leaves_per_group, pods, ..*clos };
    Some(Design { devices, fabric: Fabric::Clos(ClosNetwork { clos, ..*network }), ..grown.clone() })
}

/// Dollars of purchases for the larger network, and dollars of parts of the first that have no place in it.
/// Switches, transceivers and NICs of one speed move to any place. Cables and fibre stay in their place
/// because of their length.
fn differences(first: &Bill, whole: &Bill) -> (Dollars, Dollars) {
    let is_like = |a: &Line, b: &Line| {
        let is_pulled = matches!(a.item, Item::Copper | Item::ActiveOptical | Item::Fibre);
        a.item == b.item && a.speed == b.speed && (!is_pulled || a.place == b.place)
    };
    let count =
        |bill: &Bill, of: &Line| bill.lines.iter().filter(|l| is_like(l, of)).map(|l| l.count).sum::<f64>();
    // Of equal lines, the first counts for all.
    let excess = |bill: &Bill, other: &Bill| {
        bill.lines.iter().enumerate().fold(Dollars::ZERO, |sum, (n, line)| {
            if bill.lines[..n].iter().any(|earlier| is_like(earlier, line)) {
                return sum;
            }
            sum + line.price.dollars * (count(bill, line) - count(other, line)).max(0.0)
        })
    };
    (excess(whole, first), excess(first, whole))
}

/// Lower bound on links of the first network whose ends move. A leaf with `u` links over `s` spines has `u /
/// s` to each. In the larger network it has `u' / s'`, so that `u - min(s, s') min(u / s, u' / s')` of its
/// links move. The same holds for a pod and the cores. A leaf with fewer endpoints than before releases the
/// others.
fn moved(first: &Design, grown: &Design) -> Option<u64> {
    let (Fabric::Clos(a), Fabric::Clos(b)) = (&first.fabric, &grown.fabric) else { return None };
    // No rule for zones of a fourth tier.
    if a.clos.upper.or(b.clos.upper).is_some() {
        return None;
    }
    let fabrics = first.planes * a.fabrics_per_plane;
    let (a_tiers, b_tiers) = (a.kept_tiers, b.kept_tiers);
    let (a, b) = (&a.clos, &b.clos);
    // Leaves are filled one after the other; the last has the rest.
    let (full, rest) =
        (a.endpoints_per_group / a.hosts_per_leaf.max(1), a.endpoints_per_group % a.hosts_per_leaf.max(1));
    let passed_on = |endpoints: u64| endpoints.saturating_sub(b.hosts_per_leaf);
    let access = a.groups * (full * passed_on(a.hosts_per_leaf) + passed_on(rest));
    let leaf_spine = if a_tiers < 2 {
        0
    } else {
        let larger = if b_tiers < 2 { (0, 0) } else { (b.leaf_uplinks, b.spines_per_pod) };
        a.leaves() * a.leaf_uplinks.saturating_sub(kept((a.leaf_uplinks, a.spines_per_pod), larger))
    };
    let spine_core = if a_tiers < 3 {
        0
    } else {
        let links = |clos: &Clos| clos.spines_per_pod * clos.spine_uplinks;
        let larger = if b_tiers < 3 { (0, 0) } else { (links(b), b.cores()) };
        a.pods * links(a).saturating_sub(kept((links(a), a.cores()), larger))
    };
    Some(fabrics * (access + leaf_spine + spine_core))
}

/// Upper bound on links that keep both ends when `(links, switches above)` changes to another pair: `min(s,
/// s') min(l / s, l' / s')`, rounded up.
fn kept((links, uppers): (u64, u64), (more, larger): (u64, u64)) -> u64 {
    let (links, uppers, more, larger) =
        (u128::from(links), u128::from(uppers), u128::from(more), u128::from(larger));
    if uppers == 0 || larger == 0 {
        return 0;
    }
    let both = uppers.min(larger);
    let kept = if links * larger <= more * uppers {
        (both * links).div_ceil(uppers)
    } else {
        (both * more).div_ceil(larger)
    };
    u64::try_from(kept).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Kind;
    use proptest::prelude::*;

    fn spec(kind: Kind, radix: u64, devices: u64) -> DesignSpec {
        DesignSpec {
            kind: Some(kind),
            radix: Some(radix),
            devices: Some(devices),
            domain: Some(8),
            ..DesignSpec::default()
        }
    }

    fn grows(kind: Kind, radix: u64, from: u64, to: u64) -> Growth {
        growth(&spec(kind, radix, from), to, &Prices::catalogue().expect("reads")).expect("can be built")
    }

    /// A leaf of 64 ports serves 32 devices. 512 of them have 16 leaves and 8 spines with 4 links from each
    /// leaf to each spine. 2,048 have 64 leaves and 32 spines with one link. Of the 32 links of a leaf 8
    /// stay, and 24 x 16 move. No part is lost, because all have the same speed.
    #[test]
    fn a_second_tier_that_quadruples_moves_three_quarters_of_its_links() {
        let found = grows(Kind::Clos, 64, 512, 2048);
        assert_eq!(found.as_needed.moved_links, Some(384));
        let prepared = found.prepared.expect("has tiers");
        assert_eq!((prepared.moved_links, prepared.discarded), (Some(0), Dollars::ZERO));
        // 24 more spines of 64 ports at the start.
        let spines = prepared.now - found.as_needed.now;
        let prices = Prices::catalogue().expect("reads");
        let speed = railwright_spec::quantity::BytesPerSecond::new(50e9);
        let port = prices.at(Item::SwitchPort, speed).expect("priced").dollars;
        assert!((spines.get() - (port * (24.0 * 64.0)).get()).abs() < 1.0, "{spines:?}");
    }

    #[test]
    fn what_has_no_tiers_is_rebuilt() {
        let found = grows(Kind::Dragonfly, 64, 1024, 4096);
        assert_eq!((found.prepared, found.as_needed.moved_links), (None, None));
        let spec = DesignSpec { devices: Some(1024), ..DesignSpec::default() };
        assert!(growth(&spec, 1024, &Prices::catalogue().expect("reads")).is_err());
    }

    proptest! {
        #![proptest_config(railwright_cases::cases(64))]

        /// First network plus purchases minus discarded parts is the larger network. A prepared network discards and moves nothing.
        #[test]
        fn purchases_less_discarded_parts_are_the_larger_network(
            kind in prop::sample::select(vec![Kind::Clos, Kind::RailOptimized, Kind::RailOnly, Kind::Trimmed]),
            radix in prop::sample::select(vec![32_u64, 64, 128]),
            (from, by) in (1_u64..512, 2_u64..256),
            extra in prop::sample::select(vec![0_u64, 0, 300]),
        ) {
            let (from, to) = (from * 8, from * 8 * by);
            let spec = DesignSpec { extra_endpoints: Some(extra), ..spec(kind, radix, from) };
            let prices = Prices::catalogue().expect("reads");
            prop_assume!(spec.resolve().is_ok());
            let grown = DesignSpec { devices: Some(to), ..spec.clone() };
            prop_assume!(grown.resolve().is_ok());
            let found = growth(&spec, to, &prices).expect("both resolve");
            let whole = bill(&grown.resolve().expect("resolved"), &prices).expect("priced").total;
            for way in [Some(found.as_needed), found.prepared].into_iter().flatten() {
                let left = way.total() - way.discarded;
                prop_assert!((left / whole - 1.0).abs() < 1e-9, "{:?} {:?}", way, whole);
                let links = spec.resolve().expect("resolved").counts().links();
                prop_assert!(way.moved_links.is_none_or(|moved| moved <= links), "{:?} {}", way, links);
            }
            if let Some(prepared) = found.prepared {
                prop_assert!(prepared.discarded.get() < 1e-6 * whole.get(), "{:?}", prepared);
                prop_assert_eq!(prepared.moved_links, Some(0));
                prop_assert!(prepared.now.get() > (1.0 - 1e-9) * found.as_needed.now.get(), "{:?}", found);
            }
        }
    }
}
