//! Properties of a rank's communications that depend on other ranks.
//!
//! Responsible for: the dimension of each and the start of its transfer, from matched collectives. Unmatched
//! communication stays undivided.

use crate::joined::Joined;
use crate::matching::{Lane, PartRef};
use crate::view::{Role, View};
use railwright_step::Dimension;

/// Properties of a communication that depend on other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Its dimension; [`Dimension::Other`] if unknown.
    pub dimension: Dimension,
    /// Certain end of the wait in nanoseconds: the start of the last recorded member. `None` if unknown.
    pub waits_until: Option<i64>,
    /// Start of the transfer in nanoseconds: the last member's start. `None` if members were not recorded
    /// and no similar collective shows it. Time between `waits_until` and this is not divided.
    pub transfer_from: Option<i64>,
    /// True if [`Self::transfer_from`] is an estimate: the end minus the shortest of equal communications.
    pub estimated: bool,
    /// True if a wait in it is a wait for a pipeline to drain ([`crate::groups::Group::drains`]).
    pub drains: bool,
}

impl Exchange {
    /// A communication without known properties.
    pub const UNKNOWN: Self = Self {
        dimension: Dimension::Other,
        waits_until: None,
        transfer_from: None,
        estimated: false,
        drains: false,
    };

    /// A communication with all members recorded.
    pub fn measured(dimension: Dimension, last_start: Option<i64>) -> Self {
        Self { dimension, waits_until: last_start, transfer_from: last_start, ..Self::UNKNOWN }
    }
}

/// Properties of one rank's communications by device row, in order of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchanges(Vec<(u32, Exchange)>);

impl Exchanges {
    /// Creates it from rows in any order; of two entries of one row the first counts.
    pub fn new(mut rows: Vec<(u32, Exchange)>) -> Self {
        rows.sort_by_key(|row| row.0);
        rows.dedup_by_key(|row| row.0);
        Self(rows)
    }

    /// Communications of a member of a joined job. If some ranks of a group were not traced, the last start
    /// of the traced ones is a bound. So is the end minus the shortest of equal communications. The later
    /// of both divides them, as an estimate. With a single rank of a group, the late rank is unknown. The
    /// transfer is at least the link's time for the bytes, and the rest is not divided.
    pub fn of(joined: &Joined, member: usize, view: &View<'_>) -> Self {
        let matching = &joined.matching;
        let (Some(parts), Some(of)) = (matching.parts.get(member), matching.of.get(member)) else {
            return Self::default();
        };
        let row = |lane: Lane, row: u32| match lane {
            Lane::Stream(_) => (!view.from_host).then_some(row),
            // Device rows derived from the host are in its order.
            Lane::Host if view.from_host => view.launch.binary_search(&row).ok().map(|at| at as u32),
            Lane::Host => None,
        };
        let rows = parts.iter().zip(of).enumerate().filter_map(|(place, (part, collective))| {
            let row = row(part.lane, part.row)?;
            let collective = collective.and_then(|at| matching.collectives.get(at as usize));
            let group = part.group.or_else(|| matching.communicator(collective?).group);
            let group = group.and_then(|group| joined.groups.groups.get(group.0 as usize));
            let dimension = group.map_or(Dimension::Other, |group| group.dimension.dimension);
            let drains = group.is_some_and(|group| group.drains);
            let starts = collective.map(|c| matching.members(c).iter().map(|at| matching.part(*at).start));
            let last = starts.and_then(Iterator::max);
            if collective.is_some_and(|collective| !joined.misses_ranks(collective)) {
                return Some((row, Exchange { drains, ..Exchange::measured(dimension, last) }));
            }
            let alone = collective.is_none_or(|collective| matching.members(collective).len() < 2);
            if alone {
                // The transfer is between the bytes over the link's rate and the whole duration.
                let least = joined.least.transfer(part, group);
                let transfer_from = least.map(|least| (part.end - least).max(part.start));
                return Some((row, Exchange { dimension, transfer_from, ..Exchange::UNKNOWN }));
            }
            let at = PartRef { member: member as u32, part: place as u32 };
            let alike = joined.alike.transfer(matching, at).map(|transfer| part.end - transfer);
            let transfer_from = alike.map(|from| last.map_or(from, |last| last.max(from)));
            let waits_until = transfer_from.or(last);
            Some((
                row,
                Exchange { dimension, waits_until, transfer_from, estimated: alike.is_some(), drains },
            ))
        });
        Self::new(
            rows.filter(|(row, _)| view.role.get(*row as usize) == Some(&Role::Communication)).collect(),
        )
    }

    /// Properties of a row's communication; [`Exchange::UNKNOWN`] for other rows.
    pub fn get(&self, row: u32) -> Exchange {
        let found = self.0.binary_search_by_key(&row, |entry| entry.0);
        found.ok().and_then(|at| self.0.get(at)).map_or(Exchange::UNKNOWN, |entry| entry.1)
    }

    /// Number of communications, and number of matched ones.
    pub fn known(&self) -> (usize, usize) {
        (self.0.len(), self.0.iter().filter(|(_, exchange)| exchange.transfer_from.is_some()).count())
    }
}
