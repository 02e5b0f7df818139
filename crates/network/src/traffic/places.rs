//! Traffic by scale-up domain and by rail.
//!
//! Responsible for: bytes that stay, leave and arrive, by domain and rail. O(partners), large groups by their
//! members.

use super::{Matrix, PairClass, Place};
use railwright_spec::quantity::Bytes;
use serde::Serialize;

/// Traffic of the devices of a scale-up domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DomainRow {
    /// Domain number; its devices begin at `domain x size`.
    pub domain: u64,
    /// Among each other.
    pub inside: Bytes,
    /// Bytes to other domains.
    pub sent: Bytes,
    /// Bytes from other domains.
    pub received: Bytes,
}

/// Traffic of the devices of a rail with other domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RailRow {
    /// Selection.
    pub rail: u64,
    /// Devices on it.
    pub devices: u64,
    /// Bytes to devices of this rail.
    pub along: Bytes,
    /// Bytes to devices of other rails.
    pub sent: Bytes,
    /// Bytes from devices of other rails.
    pub received: Bytes,
}

/// Rows by domain with ranks, in their order.
pub fn by_domain(matrix: &Matrix, place: &Place) -> Vec<DomainRow> {
    let mut rows: Vec<DomainRow> =
        (0..place.domain_numbers()).map(|domain| DomainRow { domain, ..DomainRow::default() }).collect();
    let mut add = |from: u64, to: u64, bytes: f64| {
        let bytes = Bytes::new(bytes);
        if from == to {
            rows[from as usize].inside += bytes;
        } else {
            rows[from as usize].sent += bytes;
            rows[to as usize].received += bytes;
        }
    };
    for from in 0..matrix.ranks() {
        for (to, bytes) in matrix.written_out(from) {
            add(place.domain_of(from), place.domain_of(*to), *bytes);
        }
    }
    matrix.for_each_block(|members, bytes| {
        let all = members.len() as f64;
        for here in place.by_device(members).chunk_by(|a, b| place.domain_of(*a) == place.domain_of(*b)) {
            let (domain, n) = (place.domain_of(here[0]) as usize, here.len() as f64);
            rows[domain].inside += Bytes::new(n * (n - 1.0) * bytes);
            rows[domain].sent += Bytes::new(n * (all - n) * bytes);
            rows[domain].received += Bytes::new(n * (all - n) * bytes);
        }
    });
    // Hosts of an allocation leave domains without ranks between them.
    let mut has_ranks = vec![false; rows.len()];
    for rank in 0..place.ranks as u32 {
        has_ranks[place.domain_of(rank) as usize] = true;
    }
    rows.retain(|row| has_ranks[row.domain as usize]);
    rows
}

/// Bytes by rail, in their order; bytes inside domains are on no rail.
pub fn by_rail(matrix: &Matrix, place: &Place) -> Vec<RailRow> {
    let mut rows: Vec<RailRow> =
        (0..place.rails).map(|rail| RailRow { rail, ..RailRow::default() }).collect();
    for rank in 0..place.ranks as u32 {
        rows[place.rail_of(rank) as usize].devices += 1;
    }
    for from in 0..matrix.ranks() {
        for (to, bytes) in matrix.written_out(from) {
            let bytes = Bytes::new(*bytes);
            match place.class(from, *to) {
                PairClass::SameDomain => {}
                PairClass::SameRail => rows[place.rail_of(from) as usize].along += bytes,
                PairClass::OtherRail => {
                    rows[place.rail_of(from) as usize].sent += bytes;
                    rows[place.rail_of(*to) as usize].received += bytes;
                }
            }
        }
    }
    let mut on_rail = vec![0.0_f64; rows.len()];
    let mut here = vec![0.0_f64; rows.len()];
    matrix.for_each_block(|members, bytes| {
        on_rail.fill(0.0);
        for member in members {
            on_rail[place.rail_of(*member) as usize] += 1.0;
        }
        let all = members.len() as f64;
        for domain in place.by_device(members).chunk_by(|a, b| place.domain_of(*a) == place.domain_of(*b)) {
            for member in domain {
                here[place.rail_of(*member) as usize] += 1.0;
            }
            for member in domain {
                let rail = place.rail_of(*member) as usize;
                let along = on_rail[rail] - here[rail];
                let across = (all - domain.len() as f64) - along;
                rows[rail].along += Bytes::new(along * bytes);
                rows[rail].sent += Bytes::new(across * bytes);
                rows[rail].received += Bytes::new(across * bytes);
            }
            for member in domain {
                here[place.rail_of(*member) as usize] = 0.0;
            }
        }
    });
    rows
}

/// Bytes from rail to rail that leave domains, without the pairs of rails that send nothing. O(partners),
/// large groups by members x rails.
pub(super) fn rail_to_rail(matrix: &Matrix, place: &Place) -> Vec<(u32, u32, f64)> {
    let rails = place.rails as usize;
    let mut sums = vec![0.0_f64; rails * rails];
    for from in 0..matrix.ranks() {
        for (to, bytes) in matrix.written_out(from) {
            if place.class(from, *to) != PairClass::SameDomain {
                sums[place.rail_of(from) as usize * rails + place.rail_of(*to) as usize] += bytes;
            }
        }
    }
    let mut elsewhere = vec![0.0_f64; rails];
    matrix.for_each_block(|members, bytes| {
        elsewhere.fill(0.0);
        for member in members {
            elsewhere[place.rail_of(*member) as usize] += 1.0;
        }
        for domain in place.by_device(members).chunk_by(|a, b| place.domain_of(*a) == place.domain_of(*b)) {
            for member in domain {
                elsewhere[place.rail_of(*member) as usize] -= 1.0;
            }
            for member in domain {
                let row = place.rail_of(*member) as usize * rails;
                for (sum, others) in sums[row..row + rails].iter_mut().zip(&elsewhere) {
                    *sum += others * bytes;
                }
            }
            for member in domain {
                elsewhere[place.rail_of(*member) as usize] += 1.0;
            }
        }
    });
    let place = |at: usize| ((at / rails) as u32, (at % rails) as u32);
    let cells = sums.into_iter().enumerate().filter(|(_, bytes)| *bytes > 0.0);
    cells.map(|(at, bytes)| (place(at).0, place(at).1, bytes)).collect()
}
