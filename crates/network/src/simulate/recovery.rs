//! Recovery of messages of a NIC with failed ports.
//!
//! Responsible for: the route of such a message under the recovery of `network failures` ([`Recovery`]), so
//! that both commands agree. Excludes failures beyond the ports of the NIC: see `detour`.
//!
//! **Spread.** In a domain of K devices, the NICs keep the shares `c_1 .. c_K` of their ports. The domain and
//! each of its devices keep `k = sum c / K` of their bandwidth. A device's own NIC carries `min(1, c / k)` of
//! each of its messages. The rest is sent through the domain to the other NICs, in proportion to `max(0, c_j
//! / k - 1)`: their capacity beyond their own messages. It then follows the rail of that NIC to its
//! counterpart in the receiver's domain. If all devices send equally, every NIC then takes `1 / k` times as
//! long as a whole one: the `kept_spread` of `failures`. A device that sends alone also has at most `k` of
//! its NIC. Otherwise one that lost its NIC would be faster than before, over seven others. On an
//! oversubscribed tree, a plane has few ports. An exchange may then be faster without a NIC that lost some of
//! its ports, and does not use it.
//!
//! **Neighbour.** A NIC without any port is replaced by one other NIC. Its device has at most the rate that
//! remains when that one also sends for itself. A device with a remaining port uses it. **Alone.** No other
//! NIC helps.

use super::detour::{own_path, through_domain, weighed};
use super::lost::{Gate, Lost};
use super::wiring::Wiring;
use crate::failures::{Recovery, neighbour_share};
use crate::flow::LinkPath;
use crate::topology::Topology;

/// Result of the recovery for a message.
pub(super) enum Settled {
    /// The recovery decides: the route, or none.
    By(Option<LinkPath>),
    /// The NICs of both ends are whole, or none are used.
    Untouched,
}

impl Lost {
    /// The route of a message whose NICs lost ports.
    pub(super) fn link_path(&self, wiring: &Wiring, from: u32, to: u32, label: u64) -> Settled {
        let topology = &wiring.topology;
        let size = topology.design.domain.size as u32;
        if self.kept.is_empty() || from == to || (size > 1 && from / size == to / size) {
            return Settled::Untouched;
        }
        // Between rails that a domain joins, the forwarding device sends or receives in place of one end.
        let ends = match topology.forwarder(from, to) {
            Some(between) if between / size == from / size => [between, to],
            Some(between) => [from, between],
            None => [from, to],
        };
        let gates = ends.map(|device| self.gate(device, size));
        if gates.iter().all(|gate| gate.kept >= 1.0) {
            return Settled::Untouched;
        }
        let is_gone = gates.iter().any(|gate| gate.kept <= 0.0);
        let own = own_path(wiring, from, to, label);
        match wiring.recovery() {
            Recovery::Alone => Settled::By(own),
            Recovery::Neighbour if !is_gone => {
                own.map_or(Settled::Untouched, |link_path| Settled::By(Some(link_path)))
            }
            Recovery::Neighbour => self
                .over_one(wiring, (from, to), gates, label)
                .map_or(Settled::Untouched, |link_path| Settled::By(Some(link_path))),
            Recovery::Spread => self
                .over_all(wiring, (from, to), gates, label, own.as_ref())
                .map_or(Settled::Untouched, |link_path| Settled::By(Some(link_path))),
        }
    }

    /// Routes over the NICs of one position in both domains.
    fn through(&self, wiring: &Wiring, (from, to): (u32, u32), place: u32, label: u64) -> Option<LinkPath> {
        let topology = &wiring.topology;
        let size = topology.design.domain.size as u32;
        let (near, far) = (from / size * size + place, to / size * size + place);
        let reaches = |a: u32, b: u32| {
            let joined = |device| topology.domain_link(device).is_some_and(|link| wiring.is_alive(link));
            a == b || (joined(a) && joined(b))
        };
        if self.kept(near) <= 0.0 || self.kept(far) <= 0.0 || !reaches(from, near) || !reaches(far, to) {
            return None;
        }
        let mut link_path = own_path(wiring, near, far, label)?;
        for (a, b) in [(from, near), (far, to)] {
            if a != b {
                through_domain(topology, a, b, &mut link_path);
            }
        }
        Some(link_path)
    }

    /// Chooses among the positions that work on both sides in turn: devices that lost their NIC use different
    /// ones as far as possible.
    fn over_one(&self, wiring: &Wiring, ends: (u32, u32), gates: [Gate; 2], label: u64) -> Option<LinkPath> {
        let size = wiring.topology.design.domain.size as u32;
        let gone = gates.iter().find(|gate| gate.kept <= 0.0)?.device;
        let first = gone / size * size;
        let turn = (first..gone).filter(|device| self.kept(*device) <= 0.0).count();
        let works =
            |place: &u32| [ends.0, ends.1].iter().all(|end| self.kept(end / size * size + place) > 0.0);
        let places: Vec<u32> = (0..size).filter(works).collect();
        let place = *places.get(turn % places.len().max(1))?;
        let mut link_path = self.through(wiring, ends, place, label)?;
        for (gate, is_sender) in gates.iter().zip([true, false]).filter(|(gate, _)| gate.kept <= 0.0) {
            let first = gate.device / size * size;
            let lost = (first..first + size).filter(|device| self.kept(*device) <= 0.0).count();
            limit(
                &wiring.topology,
                (*gate, neighbour_share(u64::from(size), lost as u64)),
                is_sender,
                &mut link_path,
            );
        }
        Some(link_path)
    }

    fn over_all(
        &self,
        wiring: &Wiring,
        ends: (u32, u32),
        gates: [Gate; 2],
        label: u64,
        own: Option<&LinkPath>,
    ) -> Option<LinkPath> {
        let topology = &wiring.topology;
        let size = topology.design.domain.size as u32;
        let share = if own.is_some() { gates[0].own().min(gates[1].own()) } else { 0.0 };
        let mut others: Vec<(LinkPath, f64)> = Vec::new();
        for place in (0..size).filter(|_| share < 1.0) {
            // Spare capacity of the NICs of this domain; an intact domain accepts all that the other sends.
            let surplus = [ends.0, ends.1].map(|end| {
                let gate = self.gate(end / size * size + place, size);
                if gate.domain < 1.0 { (gate.kept / gate.domain - 1.0).max(0.0) } else { f64::INFINITY }
            });
            let weight = surplus[0].min(surplus[1]);
            if weight > 1e-12
                && let Some(link_path) = self.through(wiring, ends, place, label)
            {
                others.push((link_path, weight));
            }
        }
        let sum: f64 = others.iter().map(|(_, weight)| weight).sum();
        let share = if others.is_empty() { f64::from(u8::from(own.is_some())) } else { share };
        let own_part = own.into_iter().filter(|_| share > 0.0).map(|link_path| (link_path, share));
        let parts = own_part
            .chain(others.iter().map(|(link_path, weight)| (link_path, (1.0 - share) * weight / sum)));
        let mut link_path = weighed(parts)?;
        for (gate, is_sender) in gates.iter().zip([true, false]) {
            if gate.kept < 1.0 {
                limit(topology, (*gate, gate.domain), is_sender, &mut link_path);
            }
        }
        Some(link_path)
    }
}

/// Limits a device that others help to that share of a NIC: its own link to its NIC, broken or not,
/// represents the limit.
fn limit(topology: &Topology, (gate, kept): (Gate, f64), is_sender: bool, link_path: &mut LinkPath) {
    let Some(host) = topology.host_link(gate.device).filter(|_| kept > 0.0) else { return };
    let link = if is_sender { host.0 } else { host.reverse().0 };
    let share = 1.0 / kept;
    match link_path.links.iter_mut().find(|known| known.0 == link) {
        Some(known) => known.1 = known.1.max(share),
        None => link_path.links.push((link, share)),
    }
}
