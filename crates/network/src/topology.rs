//! Topologies as values: from a few parameters to a design, its counts, its graph and its routes.
//!
//! Responsible for: the structure of a network. Excludes cost ([`crate::bill`]) and traffic.
//!
//! A [`DesignSpec`] has the user's settings and a [`Design`] has every value. [`Design::counts`] has the
//! number of each part. A [`Topology`] is the design as a [`Graph`] with [`Route`]s.

pub mod build;
pub mod clos;
pub mod counts;
pub mod design;
pub mod dragonfly;
mod global;
pub mod graph;
mod hash;
pub(crate) use hash::Choices;
pub mod kind;
mod link_paths;
#[cfg(test)]
mod properties;
pub mod published;
mod request;
mod resolve;
pub mod route;
pub mod scale_up;
pub mod side;
mod site;
pub mod spec;
pub mod summary;
pub mod svg;
pub mod torus;

pub use build::{Detail, Topology};
pub use counts::Counts;
pub use design::{Connection, Design, Fabric};
pub use graph::{Graph, Layer, LinkClass, LinkId, Node, NodeId, Switch};
pub(crate) use hash::mix;
pub use kind::{Forwarding, Kind, Medium, Routing};
pub(crate) use link_paths::Draw;
pub use resolve::MOST_DEVICES;
pub use route::{Hop, Route};
pub use side::SideNetwork;
pub use spec::{DesignSpec, parse};
pub use summary::{Reach, Summary};

/// The hash of a flow, for non-default routing.
pub(crate) const fn choices(seed: u64, from: u32, to: u32, label: u64) -> hash::Choices {
    hash::Choices::new(seed, from as u64, to as u64, label)
}
