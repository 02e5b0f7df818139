//! Networks and strategies together: what a design of a network makes of a step, and which designs are worth building for a model.
//!
//! Responsible for: a network design as the calculator's cluster ([`fabric`]), a grid of designs sorted into classes that a step cannot
//! tell apart ([`Grid`]), and the front of step time, dollars and watts over them ([`answer`]). Refuses to search: whoever drives a
//! [`Grid`] answers each of its classes with the best plan that it finds.
//!
//! ```text
//! domain sizes x kinds x oversubscription x speeds ─► designs ─► bills
//!                                                        └─► clusters ─► classes ─► (search) ─► step times ─► front ─► simulation ([`judge`]) ─► winner
//! ```

pub mod fabric;
mod front;
mod grid;
mod judge;
mod order;
#[cfg(test)]
mod tests;

pub use front::{Class, Codesign, Found, Row, answer};
pub use grid::{Axes, DOMAINS, Grid, Point, Refused, usual_domains};
pub use judge::{InTurn, Judging, Progress, Simulated, Workers, judge};
pub use order::{CLOSE, best_first, is_at_least_as_good};
