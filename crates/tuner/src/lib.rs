//! The calculator answers "what happens if"; the tuner answers "what should I do".
//!
//! Responsible for: choosing among plans: the search over strategies, the number of machines, the rehearsal of changes, and the
//! solvers for recompute and pipeline balance. Every time and byte comes from the calculator; nothing is priced here. This crate reads
//! no file and no clock, prints nothing and spawns nothing: a search is cut into pieces that a front end may run side by side.

pub mod balance;
pub mod codesign;
pub mod collective;
pub mod exchanges;
pub mod flows;
pub mod ranking;
pub mod recompute;
pub mod remedies;
pub mod search;
pub mod sensitivity;
pub mod simplicity;
pub mod simulate;
pub mod size;
pub mod tuning;
pub mod whatif;
pub mod why_not;
pub mod written;
