//! One collective over message sizes: time, algorithm and bus bandwidth on a topology, and in closed form.
//!
//! Responsible for: any ranks of a network, in one group or several at once, as in nccl-tests. The time is
//! that of [`crate::flows`]: `latency + growing(bytes) x slowdown`, with the slowdown of max-min fair flows
//! on the topology. Ranks and sizes are inputs.
//!
//! The bandwidths are those of nccl-tests: `algorithm bandwidth = S / t`, `bus bandwidth = S / t x factor`
//! with the factor of [`bus_factor`](railwright_calculator::collectives::bus_factor). `S` is the buffer of an
//! all-reduce; the gathered buffer of an all-gather; the input of a reduce-scatter; the send buffer of one
//! rank of an all-to-all; the message of a broadcast or a send.

mod curve;
mod measured;
mod network;
mod placement;
mod sizes;
#[cfg(test)]
mod tests;

pub use curve::{Curve, Point, Question, Spread, curve, curve_watched};
pub use measured::{
    Errors, FabricErrors, MeasuredCollective, NetworkValidation, Prediction, Predictor, validate_network,
};
pub use network::Network;
pub use placement::{nodes, ranks};
pub use sizes::{bytes, range};
