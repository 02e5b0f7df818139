//! Positions of ranks on the machine: domain and rail, and the kind of each pair of ranks.
//!
//! Responsible for: domains of neighbouring devices, rails of the same position in them, counts of pairs.
//! Independent of switches.

use super::RankPlacement;
use crate::topology::Design;
use railwright_spec::problem::Problem;
use serde::Serialize;
use std::borrow::Cow;

/// Domains and rails of a run. Rank `n` runs on device `n`, or on that of its seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// Ranks of the run.
    pub ranks: u64,
    /// Devices in a scale-up domain.
    pub domain: u64,
    /// Number of rails: devices of equal position in their domain, modulo this, share one.
    pub rails: u64,
    /// Devices of the ranks; `None` for the first ones.
    #[serde(skip)]
    pub seats: Option<RankPlacement>,
}

/// Kind of a pair of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PairClass {
    /// Within one scale-up domain.
    SameDomain,
    /// Between different domains, on one rail.
    SameRail,
    /// Between different domains and rails.
    OtherRail,
}

impl PairClass {
    /// All classes, the nearest first.
    pub const ALL: [Self; 3] = [Self::SameDomain, Self::SameRail, Self::OtherRail];

    /// A name for tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SameDomain => "same_domain",
            Self::SameRail => "same_rail",
            Self::OtherRail => "other_rail",
        }
    }
}

impl Place {
    /// With a rail for each device of a domain.
    pub fn new(ranks: u64, domain: u64) -> Self {
        let domain = domain.clamp(1, ranks.max(1));
        Self { ranks, domain, rails: domain, seats: None }
    }

    /// The same with ranks on given devices.
    #[must_use]
    pub fn seated(mut self, seats: Option<&RankPlacement>) -> Self {
        self.seats = seats.cloned();
        self
    }

    /// On the first devices of a design.
    pub fn on(design: &Design, ranks: u64) -> Result<Self, Problem> {
        if ranks > design.devices {
            return Err(Problem::new(format!(
                "the run has {ranks} ranks, but the network has {} devices",
                design.devices
            ))
            .at_key("design.gpus")
            .hint(format!("set design.gpus = {ranks}, or omit it")));
        }
        Ok(Self { ranks, domain: design.domain.size, rails: design.rails, seats: None })
    }

    /// Domains with ranks.
    pub fn domains(&self) -> u64 {
        let Some(seats) = &self.seats else { return self.ranks.div_ceil(self.domain) };
        let mut domains: Vec<u64> =
            seats.devices().iter().map(|device| u64::from(*device) / self.domain).collect();
        domains.sort_unstable();
        domains.dedup();
        domains.len() as u64
    }

    /// Numbers of domains: those up to the last that has a rank.
    pub(super) fn domain_numbers(&self) -> u64 {
        self.seats.as_ref().map_or(self.ranks, |seats| u64::from(seats.last()) + 1).div_ceil(self.domain)
    }

    /// The device of a rank.
    pub fn device(&self, rank: u32) -> u32 {
        self.seats.as_ref().map_or(rank, |seats| seats.device(rank))
    }

    /// The domain of a rank.
    pub fn domain_of(&self, rank: u32) -> u64 {
        u64::from(self.device(rank)) / self.domain
    }

    /// The rail of a rank.
    pub fn rail_of(&self, rank: u32) -> u64 {
        u64::from(self.device(rank)) % self.domain % self.rails
    }

    /// Ranks in the order of their devices.
    pub(super) fn by_device<'a>(&self, members: &'a [u32]) -> Cow<'a, [u32]> {
        if members.is_sorted_by_key(|rank| self.device(*rank)) {
            return Cow::Borrowed(members);
        }
        let mut members = members.to_vec();
        members.sort_unstable_by_key(|rank| self.device(*rank));
        Cow::Owned(members)
    }

    /// Kind of a pair of ranks.
    pub fn class(&self, from: u32, to: u32) -> PairClass {
        if self.domain_of(from) == self.domain_of(to) {
            PairClass::SameDomain
        } else if self.rail_of(from) == self.rail_of(to) {
            PairClass::SameRail
        } else {
            PairClass::OtherRail
        }
    }

    /// Ordered pairs of different ranks by class, in the order of [`PairClass::ALL`].
    pub fn pairs(&self) -> [u64; 3] {
        pairs_within(self, &(0..self.ranks as u32).collect::<Vec<_>>())
    }
}

/// Ordered pairs of different members by class. O(members) for members in the order of their devices.
pub(super) fn pairs_within(place: &Place, members: &[u32]) -> [u64; 3] {
    let mut on_rail = vec![0_u64; place.rails as usize];
    // Counts of the current domain, with the rails to clear at its end.
    let mut here = vec![0_u64; place.rails as usize];
    let (mut domain, mut in_domain, mut all) = (u64::MAX, 0_u64, 0_u64);
    let (mut same_domain, mut same_rail_here) = (0_u64, 0_u64);
    let mut touched: Vec<usize> = Vec::new();
    for &member in place.by_device(members).iter() {
        if place.domain_of(member) != domain {
            domain = place.domain_of(member);
            in_domain = 0;
            for rail in touched.drain(..) {
                here[rail] = 0;
            }
        }
        let rail = place.rail_of(member) as usize;
        // Each new member makes two ordered pairs with every one before it.
        same_domain += 2 * in_domain;
        same_rail_here += 2 * here[rail];
        if here[rail] == 0 {
            touched.push(rail);
        }
        here[rail] += 1;
        on_rail[rail] += 1;
        in_domain += 1;
        all += 1;
    }
    let on_rails: u64 = on_rail.iter().map(|n| n * n.saturating_sub(1)).sum();
    let same_rail = on_rails - same_rail_here;
    [same_domain, same_rail, all * all.saturating_sub(1) - same_domain - same_rail]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pairs_are_counted_as_by_hand(ranks in 1_u64..40, domain in 1_u64..12, rails in 1_u64..12, skip in 1_u32..5) {
            let place = Place { ranks, domain, rails: rails.min(domain), seats: None };
            let members: Vec<u32> = (0..ranks as u32).filter(|rank| rank % skip == 0).collect();
            let mut expected = [0; 3];
            for from in &members {
                for to in members.iter().filter(|to| *to != from) {
                    expected[place.class(*from, *to) as usize] += 1;
                }
            }
            prop_assert_eq!(pairs_within(&place, &members), expected);
        }
    }
}
