//! Joint design of networks and strategies: steps on each network design, and the best designs for a model.
//!
//! Responsible for: a network design as the calculator's cluster ([`fabric`]); a grid of designs in
//! equivalence classes for steps ([`Grid`]); the Pareto front of step time, dollars and watts ([`answer`]).
//! Does not search: the caller provides the best plan of each class of a [`Grid`].
//!
//! ```text
//! domain sizes x kinds x oversubscription x speeds ─► designs ─► bills
//!                                                        └─► clusters ─► classes ─► (search) ─► step times ─► front ─► simulation ([`judge`]) ─► winner
//! ```

pub mod fabric;
mod failed;
mod front;
mod grid;
mod judge;
mod order;
mod pricer;
mod reference;
mod simulated;
mod survey;
#[cfg(test)]
mod tests;

pub use failed::FailedParts;
pub use front::{Class, Codesign, Found, NoPlan, Row, ScaleUp, Searched, answer};
pub use grid::{Axes, DOMAINS, Grid, Point, Refused, Usual, usual_domains, usual_speeds};
pub use judge::{
    InTurn, MISSED, MISSED_BY_MERGING, MOST_FLOWS, Progress, SecondRound, Steps, Workers, judge,
    simulated_step,
};
pub use order::{best_first, ideal, is_alike, is_at_least_as_good};
pub use pricer::Memo;
pub use reference::{Reference, Standing};
pub use simulated::{Simulated, TokenCost, Unsimulated};
pub use survey::{Fastest, LATE_START, LISTED, SLACK, SPREAD, Survey};
