//! Networks and flows in the files of other simulators.
//!
//! Responsible for: SimGrid platforms, htsim connection matrices, the network, system and group files of
//! ASTRA-sim, and fabrics of circuits matched to a job. A network that a format cannot express is an error
//! with the setting that makes it possible.

mod astra;
mod circuits;
mod htsim;
mod simgrid;
#[cfg(test)]
mod tests;

pub use astra::{GB, MEMORY, comm_groups, crossing, network, read_comm_groups, system};
pub use circuits::{Circuits, between_pods, fabric, matched};
pub use htsim::connection_matrix;
pub use simgrid::platform;
