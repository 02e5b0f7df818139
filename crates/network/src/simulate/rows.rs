//! Equivalence of flows and of links.
//!
//! Responsible for: colour refinement of flows and links, and removal of links that can never be a
//! bottleneck. Independent of the meaning of flows.

use crate::topology::mix;
use std::collections::BTreeMap;

/// Loads of one flow, by link.
pub(super) type Load<'a> = &'a [(u32, f64)];

/// A number without its last digits: sums of equal shares in a different order are equal except for rounding.
fn rounded(value: f64) -> u64 {
    (value.to_bits() + (1 << 11)) >> 12
}

fn distinct(colours: &[u64], scratch: &mut Vec<u64>) -> usize {
    scratch.clear();
    scratch.extend_from_slice(colours);
    scratch.sort_unstable();
    scratch.dedup();
    scratch.len()
}

/// The coarsest colours of flows under which flows of one colour, starting from those of `start`, cross
/// equivalent links equally: see the proof in [`super::bundle`]. Colours are 64-bit hashes of the links of a
/// flow; a collision is expected once in 10^7 networks of a million flows.
pub(super) fn refine(loads: &[Vec<(u32, f64)>], start: &[u32], capacities: &[f64]) -> Vec<u64> {
    let mut flows: Vec<u64> = start.iter().map(|class| mix(u64::from(*class))).collect();
    let mut links: Vec<u64> = capacities.iter().map(|capacity| mix(capacity.to_bits())).collect();
    let mut scratch = Vec::new();
    let mut count = 0;
    loop {
        // A sum is independent of the order.
        let mut next = vec![0_u64; links.len()];
        for (flow, own) in flows.iter().zip(loads) {
            for &(link, load) in own {
                let at = &mut next[link as usize];
                *at = at.wrapping_add(mix(flow ^ rounded(load)));
            }
        }
        for (link, met) in links.iter_mut().zip(&next) {
            *link = mix(link.wrapping_add(*met));
        }
        for (flow, own) in flows.iter_mut().zip(loads) {
            let met = own.iter().fold(0_u64, |sum, (link, load)| {
                sum.wrapping_add(mix(links[*link as usize] ^ rounded(*load)))
            });
            *flow = mix(flow.wrapping_add(met));
        }
        let now = distinct(&flows, &mut scratch) + distinct(&links, &mut scratch);
        if now <= count {
            return flows;
        }
        count = now;
    }
}

/// Rounding tolerance: share by which a load may be below another's and still count as equal.
pub(super) const EXACT: f64 = 1e-12;

/// Maximum number of links that are compared with one: most are covered by one of the fullest.
const MOST_COMPARED: usize = 32;

/// Capacities of possible bottleneck links, and the load of each flow on them. Links that the same flows, or
/// some of them, load equally or less are omitted: they are never the first to fill. So are links with room
/// for all of their flows at the rates that other links allow them. With a greater `tolerance` than
/// [`EXACT`], so are links that all or some of the flows load by less than that share more: such a link
/// carries at most `1 / (1 - tolerance)^2` of its capacity.
pub(super) fn few(
    loads: &[Load<'_>],
    capacities: &[f64],
    tolerance: f64,
) -> (Vec<f64>, Vec<Vec<(u32, f64)>>) {
    // By link: the flows in order, each with its load over the capacity.
    let mut starts = vec![0_u32; capacities.len() + 1];
    for &(link, _) in loads.iter().copied().flatten() {
        starts[link as usize + 1] += 1;
    }
    for n in 1..starts.len() {
        starts[n] += starts[n - 1];
    }
    let mut fill = starts.clone();
    let mut entries = vec![(0_u32, 0.0_f64); starts.last().map_or(0, |n| *n as usize)];
    for (flow, own) in loads.iter().enumerate() {
        for &(link, load) in *own {
            let at = &mut fill[link as usize];
            entries[*at as usize] = (flow as u32, load);
            *at += 1;
        }
    }
    let of = |link: usize| &entries[starts[link] as usize..starts[link + 1] as usize];
    let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for link in (0..capacities.len()).filter(|link| !of(*link).is_empty()) {
        let key = of(link).iter().fold(0, |key, (flow, _)| mix(key ^ u64::from(*flow)));
        groups.entry(key).or_default().push(link);
    }
    // Greater loads for the capacity everywhere: the other link is never the first to fill.
    let covers = |a: usize, b: usize| {
        of(a).len() == of(b).len()
            && of(a)
                .iter()
                .zip(of(b))
                .all(|(x, y)| x.0 == y.0 && x.1 * capacities[b] >= y.1 * capacities[a] * (1.0 - tolerance))
    };
    // The same if further flows pass the first link: entries are in the order of flows.
    let covers_some = |a: usize, b: usize, tolerance: f64| {
        let mut passes = of(a).iter();
        of(b).iter().all(|y| {
            passes
                .find(|x| x.0 >= y.0)
                .is_some_and(|x| x.0 == y.0 && x.1 * capacities[b] >= y.1 * capacities[a] * (1.0 - tolerance))
        })
    };
    let tightness = |link: usize| of(link).iter().map(|(_, load)| load).sum::<f64>() / capacities[link];
    let fullest_first = |links: &[usize]| -> Vec<usize> {
        let mut order: Vec<(f64, usize)> = links.iter().map(|&link| (tightness(link), link)).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        order.into_iter().map(|(_, link)| link).collect()
    };
    let mut kept: Vec<usize> = Vec::new();
    for links in groups.values() {
        let mut front: Vec<usize> = Vec::new();
        for link in fullest_first(links) {
            if !front.iter().any(|&tight| covers(tight, link)) {
                front.push(link);
            }
        }
        kept.extend(front);
    }
    let order = fullest_first(&kept);
    // By flow: the rate on its narrowest link, and that link, the fullest of equals.
    let mut alone = vec![(f64::INFINITY, usize::MAX); loads.len()];
    for &link in &order {
        for (flow, load) in of(link).iter().filter(|(_, load)| *load > 0.0) {
            let (rate, own) = (capacities[link] / load, &mut alone[*flow as usize]);
            if rate < own.0 * (1.0 - EXACT) {
                *own = (rate, link);
            }
        }
    }
    let most = |link: usize| {
        let own = of(link).iter().filter(|(_, load)| *load > 0.0);
        own.map(|(flow, load)| load * alone[*flow as usize].0).sum::<f64>()
    };
    let can_fill = |link: usize| {
        let is_narrowest = of(link).iter().any(|(flow, _)| alone[*flow as usize].1 == link);
        is_narrowest || most(link) > capacities[link] * (1.0 + EXACT)
    };
    kept.clear();
    let mut by_flow: Vec<Vec<usize>> = vec![Vec::new(); loads.len()];
    for link in order.into_iter().filter(|link| can_fill(*link)) {
        // A link with all of its flows is among those of each of them.
        let known = of(link).iter().map(|(flow, _)| &by_flow[*flow as usize]).min_by_key(|known| known.len());
        let is_covered = |known: &Vec<usize>| {
            known.iter().take(MOST_COMPARED).any(|&tight| covers_some(tight, link, EXACT))
        };
        if !known.is_some_and(is_covered) {
            kept.push(link);
            for (flow, _) in of(link) {
                by_flow[*flow as usize].push(link);
            }
        }
    }
    if tolerance > EXACT {
        let order = fullest_first(&kept);
        kept.clear();
        for link in order {
            if !kept.iter().any(|&tight| covers_some(tight, link, tolerance)) {
                kept.push(link);
            }
        }
    }
    kept.sort_unstable();
    let mut routes = vec![Vec::new(); loads.len()];
    for (row, &link) in kept.iter().enumerate() {
        for &(flow, load) in of(link) {
            routes[flow as usize].push((row as u32, load));
        }
    }
    (kept.iter().map(|&link| capacities[link]).collect(), routes)
}
