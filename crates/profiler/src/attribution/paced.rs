//! Hosts that launch communication late while the device is busy.
//!
//! Responsible for: the share of a rank's excess over its peers caused by later launches of the communication
//! at the end of an interval. The device computes meanwhile, so such a host causes no idle time. Excludes
//! ranks without launches in the trace.

use super::cause::Evidence;
use super::event::{Chains, What};
use super::peers::Stretches;
use super::stretch::Stretch;
use railwright_spec::median;

/// Maximum number of peers for the comparison of an interval.
const PEERS: usize = 16;

/// Launch time of the communication that ends an interval, in nanoseconds from the start of the interval.
fn launched(chains: &Chains, stretch: &Stretch) -> Option<i64> {
    let member = stretch.member as usize;
    let event = chains.events.get(member)?.get(stretch.events.1 as usize)?;
    let part = event.part.filter(|_| event.what == What::Start)?;
    let call = chains.calls.get(member)?.get(part as usize).copied().flatten()?;
    Some(call - stretch.from)
}

/// Evidence that later launches explain at least half of a member's excess over its peers; `None` otherwise.
/// Times are per step, for `steps` steps.
pub(super) fn paced(chains: &Chains, stretches: &Stretches, member: usize, steps: f64) -> Option<Evidence> {
    let (mut excess, mut explained, mut own_sum, mut peers_sum) = (0, 0, 0.0, 0.0);
    for stretch in stretches.lists.get(member)?.iter().filter(|stretch| stretch.own > stretch.usual) {
        let beyond = stretch.own - stretch.usual;
        excess += beyond;
        let Some(own) = launched(chains, stretch) else { continue };
        let others = stretches.others(stretch, PEERS);
        let mut peers: Vec<f64> =
            others.filter_map(|peer| launched(chains, peer)).map(|launch| launch as f64).collect();
        if peers.is_empty() {
            continue;
        }
        let usual = median(&mut peers);
        // A launch before the interval causes no delay in it, however early those of the peers are.
        let later = own.max(0) - (usual as i64).max(0);
        explained += later.clamp(0, beyond);
        own_sum += own.max(0) as f64;
        peers_sum += usual.max(0.0);
    }
    (excess > 0 && explained * 2 >= excess).then(|| Evidence {
        name: "until communication is launched".to_owned(),
        own: own_sum / steps,
        peers: peers_sum / steps,
        unit: "ns",
    })
}

#[cfg(test)]
mod tests {
    use crate::attribution::straggler_report;
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    /// A host whose launches take nearly as long as the kernels keeps the device busy, but gathers late.
    #[test]
    fn a_host_that_gathers_late_beside_a_busy_device_is_slow() {
        let mut found = Vec::new();
        for launch in [100_000, 150_000, 190_000, 230_000, 400_000] {
            let plan =
                Synthetic { tensor: 1, data: 8, gathered: true, overlapped: true, ..Synthetic::default() };
            let plan = Synthetic { slow_host: vec![(2, launch)], ..plan };
            let report = straggler_report(&mut plan.job(), &JoinOptions::default());
            found.extend(report.culprits);
        }
        assert!(!found.is_empty());
        assert!(found.iter().all(|named| named.ranks == [2] && named.cause == "slow host"), "{found:?}");
    }
}
