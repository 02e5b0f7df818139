//! Strategy search: the best of all valid strategies for training a model on a cluster.
//!
//! Responsible for: the space of strategies ([`Space`]), pruning only of strategies that provably cannot win
//! ([`Search::run_piece`]), and a result independent of the number of threads ([`Results::merge`],
//! [`Search::outcome`]). Does not price: every time is from [`railwright_calculator::evaluate`], every byte
//! from [`railwright_calculator::memory`].
//!
//! A front end creates a [`Space`] from the user's settings, narrows it ([`Space::restrict`]) and prepares a
//! [`Search`]. It runs its [`Search::pieces`] on any number of threads with one shared [`Incumbent`], merges,
//! and uses the [`Outcome`].

mod bound;
mod candidate;
mod choices;
mod counts;
mod engine;
mod entry;
mod families;
mod floor;
mod incumbent;
mod options;
mod pieces;
mod placing;
mod restrict;
mod results;
mod shapes;
mod space;
mod split;
mod strategy;
mod task;
#[cfg(test)]
mod tests;
mod walk;

pub use candidate::{Candidate, Miss, by_family, by_family_and_changes, front, mark_ties, sort};
pub use counts::Counts;
pub use engine::{Outcome, Runners};
pub use entry::{Entry, Score};
pub use families::{Changes, Families, Family, Standing, Tie, difference_band};
pub use incumbent::Incumbent;
pub use options::{Objective, Options};
pub use pieces::Degrees;
pub use restrict::DIMENSIONS;
pub use results::{Counters, Front, Results, ShortList};
pub use shapes::Shape;
pub use space::{Policy, Shardings, Space};
pub use split::Split;
pub use strategy::{Key, Strategy};
pub use task::{Search, Worker};
