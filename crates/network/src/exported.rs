//! Networks and flows in the files of other simulators.
//!
//! Responsible for: SimGrid platforms, htsim connection matrices, and the network, system and group files of ASTRA-sim. A network that a
//! format cannot express is an error with the setting that makes it possible.

mod astra;
mod htsim;
mod simgrid;
#[cfg(test)]
mod tests;

pub use astra::{comm_groups, network, read_comm_groups, system};
pub use htsim::connection_matrix;
pub use simgrid::platform;
