//! The reference network beside those of the lowest cost per token.
//!
//! Responsible for: which reference is compared, and how it compares. Does not print.

use super::{Codesign, Row};
use std::cmp::Ordering;

/// The cheapest reference network of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'a> {
    /// Its row.
    pub row: &'a Row,
    /// How it compares with the contenders.
    pub standing: Standing<'a>,
}

/// A reference network beside the contenders.
#[derive(Clone, Copy, Debug)]
pub enum Standing<'a> {
    /// It is the winner, or one of several that are equal within their intervals.
    Contender,
    /// Several others are equal: they have no order, so none is compared.
    CostsMoreThanEquals,
    /// One other network is the winner.
    Against {
        /// The winner.
        winner: &'a Row,
        /// Cost per token of the winner relative to the reference, minus 1.
        change: f64,
    },
}

impl Codesign {
    /// The cheapest reference network. `None` without a simulated reference that has a cost per token, or
    /// without contenders.
    pub fn reference(&self) -> Option<Reference<'_>> {
        let cost = |row: &Row| row.simulated.as_ref()?.cost.map(|cost| cost.dollars.get());
        let priced =
            self.rows.iter().filter(|row| row.is_reference).filter_map(|row| Some((row, cost(row)?)));
        let (row, dollars) = priced.min_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal))?;
        let mut contenders = self.contenders.iter().filter_map(|&index| self.rows.get(index));
        let is_contender = contenders.clone().any(|one| std::ptr::eq(one, row));
        let standing = match (contenders.next()?, contenders.next()) {
            _ if is_contender => Standing::Contender,
            (_, Some(_)) => Standing::CostsMoreThanEquals,
            (winner, None) => Standing::Against { winner, change: cost(winner)? / dollars - 1.0 },
        };
        Some(Reference { row, standing })
    }

    /// True if networks were simulated, but devices without a price leave their cost per token unknown.
    pub fn lacks_device_price(&self) -> bool {
        self.rows.iter().any(|row| row.simulated.as_ref().is_some_and(|one| one.cost.is_none()))
    }
}
