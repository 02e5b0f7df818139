//! Communication and whole steps as flows on a topology.
//!
//! Responsible for: a network with failed parts and detours, collectives as flows on its links, concurrent
//! communication, and tasks of a step that start after their dependencies. Compute is given as pauses.
//! `docs/concepts/flow-model.md` describes the limits of such a simulation.

mod bundle;
mod class;
mod detour;
mod edge;
mod exchange;
mod lattice;
mod link_path;
mod links;
mod load;
mod lost;
mod over_time;
mod part;
mod recovery;
mod rows;
mod script;
#[cfg(test)]
mod tests;
mod uniform;
mod waits;
mod wired;
mod wiring;

pub use crate::flow::LinkPath;
pub use bundle::{Bundle, FEW, Members, Unit};
pub use class::{Block, Class, Ports, ideal};
pub use edge::Edge;
pub use exchange::{ConcurrentTimes, ExchangeTime, class_time, exchange_time};
pub use links::{Links, Placed};
pub use load::{LayerLoad, between, layers, loads};
pub use over_time::{INTERVALS, LinkOverTime, OverTime, over_time};
pub use part::{Part, layer_name};
pub use script::{Played, RemainingTimeBounds, Script, Work};
pub use waits::{Doing, StageWaits, Wait, waits};
pub use wiring::{Wiring, ranges, too_few_devices};
