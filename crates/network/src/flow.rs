//! Flow-level simulation: messages as fluid flows that share links max-min fairly.
//!
//! Responsible for: the rates of flows at one time ([`Allocator`]); the events between the first and the last
//! byte of a program of messages ([`simulate`]); collectives as such programs ([`program`]). Independent of
//! topologies: a network is links with capacities and a function that gives routes. Packets, queues, pauses
//! and congestion control are not modelled. In packet simulations, collectives took 3% to 30% longer than
//! here. Flows next to an incast on Ethernet with PFC took 7 to 27 times as long
//! (`docs/concepts/flow-model.md`).

mod allocator;
mod ends;
mod engine;
mod fat_tree;
mod link_path;
pub mod listed;
pub mod program;
mod recurrence;
mod remembered;
mod run;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod traffic;

pub use allocator::{Allocator, Slot};
pub use engine::simulate;
pub use fat_tree::FatTree;
pub use link_path::LinkPath;
pub use remembered::Sender;
pub use run::Outcome;
pub use traffic::{Flow, Start, Traffic, Wires};
