//! Global links of a dragonfly: the group at the other end of each global port.
//!
//! Responsible for: one wiring for any number of groups and ports, symmetric in all groups, that uses every
//! port when parity allows. Independent of the content of a group.
//!
//! J. Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology" (ISCA 2008) leaves the arrangement
//! open. Here port `t` of group `i` leads to group `i + offset(t)`: offsets run through 1, g-1, 2, g-2, ...
//! repeatedly. Each port thus has a partner with the opposite offset, and the numbers of links of group pairs
//! differ as little as possible.

/// Global links of `groups` groups of `ports` global ports each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wiring {
    groups: u64,
    ports: u64,
}

impl Wiring {
    /// Creates a wiring for at least one group.
    pub(crate) const fn new(groups: u64, ports: u64) -> Self {
        Self { groups, ports }
    }

    /// Used ports of a group; one is free if it has no partner.
    pub(crate) const fn used(&self) -> u64 {
        if self.groups < 2 {
            return 0;
        }
        let left = self.ports % (self.groups - 1);
        // An odd rest needs the offset that is its own opposite, which only an even number of groups has.
        if left % 2 == 1 && self.groups % 2 == 1 { self.ports - 1 } else { self.ports }
    }

    /// Total number of links: each joins two ports.
    pub(crate) const fn links(&self) -> u64 {
        self.groups * self.used() / 2
    }

    /// The offset of a port that is used.
    const fn offset(&self, port: u64) -> u64 {
        let g = self.groups;
        let (layer, place) = (port / (g - 1), port % (g - 1));
        let left = self.used() - layer * (g - 1);
        // In the last layer an odd remainder begins with the offset that is its own opposite.
        if left < g - 1 && left % 2 == 1 {
            return if place == 0 { g / 2 } else { Self::zigzag(place - 1, g) };
        }
        Self::zigzag(place, g)
    }

    const fn zigzag(place: u64, g: u64) -> u64 {
        if place.is_multiple_of(2) { place / 2 + 1 } else { g - (place / 2 + 1) }
    }

    /// The other end of a port: group and port.
    pub(crate) const fn partner(&self, group: u64, port: u64) -> (u64, u64) {
        let g = self.groups;
        let offset = self.offset(port);
        let (layer, place) = (port / (g - 1), port % (g - 1));
        let left = self.used() - layer * (g - 1);
        let shifted = left < g - 1 && left % 2 == 1;
        let back = if 2 * offset == g {
            place
        } else {
            // Opposite offsets are adjacent.
            let place = if shifted { place - 1 } else { place };
            (place ^ 1) + shifted as u64
        };
        ((group + offset) % g, layer * (g - 1) + back)
    }

    /// The ports of a group that lead to another.
    pub(crate) fn ports_to(&self, from: u64, to: u64) -> Vec<u64> {
        let g = self.groups;
        let wanted = (to + g - from) % g;
        (0..self.used().div_ceil(g - 1))
            .filter_map(|layer| {
                let start = layer * (g - 1);
                let left = self.used() - start;
                let shifted = left < g - 1 && left % 2 == 1;
                let place = if shifted && 2 * wanted == g {
                    0
                } else {
                    let zigzag = if wanted <= g / 2 { 2 * (wanted - 1) } else { 2 * (g - wanted - 1) + 1 };
                    zigzag + u64::from(shifted)
                };
                (place < left.min(g - 1)).then_some(start + place)
            })
            .filter(|port| self.offset(*port) == wanted)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_has_a_partner_and_pairs_are_served_alike() {
        for groups in 2..=14 {
            for ports in (groups - 1)..=40 {
                let wiring = Wiring::new(groups, ports);
                assert!(wiring.used() >= ports - 1);
                for group in 0..groups {
                    let mut to = vec![0_u64; groups as usize];
                    for port in 0..wiring.used() {
                        let (other, back) = wiring.partner(group, port);
                        assert_ne!(other, group);
                        assert!(back < wiring.used(), "{groups} {ports} {group} {port}");
                        assert_eq!(wiring.partner(other, back), (group, port), "{groups} {ports}");
                        to[other as usize] += 1;
                    }
                    let others = || (0..groups).filter(|o| *o != group);
                    for other in others() {
                        let ports = wiring.ports_to(group, other);
                        assert_eq!(ports.len() as u64, to[other as usize], "{groups} {}", wiring.ports);
                        assert!(ports.iter().all(|p| wiring.partner(group, *p).0 == other));
                    }
                    let (low, high) =
                        (others().map(|o| to[o as usize]).min(), others().map(|o| to[o as usize]).max());
                    assert!(low >= Some(1) && high <= low.map(|l| l + 1), "{groups} {ports}: {to:?}");
                }
            }
        }
    }
}
