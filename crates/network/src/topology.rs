//! Topologies as values: graphs of devices, network interfaces and switches, generated from a few figures.

pub mod graph;
pub mod route;

pub use graph::{Graph, Layer, LinkClass, LinkId, Node, NodeId, Switch};
pub use route::{Hop, Route};
