//! Exchanges and whole steps as flows on a topology.
//!
//! Responsible for: a network as it stands (what is broken, and the ways past it), collectives as flows on its links, exchanges that
//! run together, and a step's tasks started by what they wait for. Refuses to know what a step computes: pauses and
//! exchanges come in. `docs/concepts/flow-model.md` says what such a simulation tells and what not.

mod bundle;
mod class;
mod detour;
mod exchange;
mod lattice;
mod load;
mod over_time;
mod part;
mod recovery;
mod rows;
mod script;
#[cfg(test)]
mod tests;
mod uniform;
mod wiring;

pub use bundle::{Bundle, FEW, Unit};
pub use class::{Block, Class, Edge, Ports, ideal};
pub use exchange::{ExchangeTime, Together, class_time, exchange_time};
pub use load::{LayerLoad, between, layers};
pub use over_time::{INTERVALS, LinkOverTime, OverTime, over_time};
pub use part::{Part, layer_name};
pub use script::{Played, Script, Work};
pub use wiring::{Way, Wiring, ranges};
