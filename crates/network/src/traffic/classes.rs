//! Bytes of one kind of communication inside domains, along rails and across rails.
//!
//! Responsible for: visiting one group of every kind of position on domains instead of all groups. Has no
//! individual pairs.

use super::place::pairs_within;
use super::{Exchange, Numbering, PairClass, Place};
use railwright_spec::greatest_common_divisor;
use serde::Serialize;

/// Bytes by class of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ByClass {
    /// Inside scale-up domains.
    pub same_domain: f64,
    /// Between domains, along a rail.
    pub same_rail: f64,
    /// Between domains and rails.
    pub other_rail: f64,
}

impl ByClass {
    /// All of them.
    pub fn total(&self) -> f64 {
        self.same_domain + self.same_rail + self.other_rail
    }

    /// Bytes that leave domains.
    pub fn across(&self) -> f64 {
        self.same_rail + self.other_rail
    }

    /// One class.
    pub const fn of(&self, class: PairClass) -> f64 {
        match class {
            PairClass::SameDomain => self.same_domain,
            PairClass::SameRail => self.same_rail,
            PairClass::OtherRail => self.other_rail,
        }
    }

    /// Adds to a class.
    pub fn add(&mut self, class: PairClass, bytes: f64) {
        match class {
            PairClass::SameDomain => self.same_domain += bytes,
            PairClass::SameRail => self.same_rail += bytes,
            PairClass::OtherRail => self.other_rail += bytes,
        }
    }
}

impl std::ops::AddAssign for ByClass {
    fn add_assign(&mut self, other: Self) {
        for class in PairClass::ALL {
            self.add(class, other.of(class));
        }
    }
}

/// Groups with equivalent positions on domains: their number, and one of them.
///
/// Positions with equal traffic. A shift of a group by whole domains, or by whole blocks of the numbering,
/// changes nothing; positions with equal remainders by both are equivalent.
fn equivalent_groups(exchange: &Exchange, numbering: &Numbering, place: &Place) -> Vec<(u64, u64)> {
    if place.seats.is_some() {
        return (0..exchange.groups.count()).map(|group| (1, group)).collect();
    }
    let mut period = place.domain;
    if numbering.block < numbering.stage_ranks {
        period = numbering.block / greatest_common_divisor(numbering.block, period) * period;
    }
    let mut found = vec![(0_u64, 0_u64); period.min(numbering.ranks()) as usize];
    for group in 0..exchange.groups.count() {
        let rest = u64::from(numbering.rank(exchange.groups.first(group))) % period;
        if let Some(slot) = found.get_mut(rest as usize) {
            if slot.0 == 0 {
                slot.1 = group;
            }
            slot.0 += 1;
        }
    }
    found.retain(|(times, _)| *times > 0);
    found
}

impl Exchange {
    /// Bytes that all ranks send in a step because of it.
    pub fn by_class(&self, numbering: &Numbering, place: &Place) -> ByClass {
        let mut sums = ByClass::default();
        let mut members = Vec::new();
        for (times, group) in equivalent_groups(self, numbering, place) {
            self.ranks_of(numbering, group, &mut members);
            let mut one = ByClass::default();
            if let Some(bytes) = self.to_each() {
                members.sort_unstable();
                let pairs = pairs_within(place, &members);
                for class in PairClass::ALL {
                    one.add(class, pairs[class as usize] as f64 * bytes);
                }
            } else {
                self.flows_on(&members, place, &mut |from, to, bytes| {
                    one.add(place.class(from, to), bytes);
                });
            }
            for class in PairClass::ALL {
                sums.add(class, one.of(class) * self.count * times as f64);
            }
        }
        sums
    }
}
