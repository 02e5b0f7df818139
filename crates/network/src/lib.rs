//! Network designs for training clusters.
//!
//! Responsible for: topologies as values, routing, the traffic of a step on links, and flow simulation with
//! max-min fair sharing; bills of materials, failures, training across sites, and the rail-only paper's
//! model. Independent of the computation in a training step: traffic is given as collectives among ranks.
//! This crate reads no file and no clock, prints nothing and spawns nothing.
//!
//! A design is resolved from its settings, and then counted, built, billed or simulated on:
//!
//! ```
//! use railwright_network::topology::{DesignSpec, Kind};
//!
//! // 1,024 GPUs in domains of 8, each rail with a folded Clos of switches with 64 ports.
//! let specified = DesignSpec::of(Kind::RailOnly, 1024, 8, 64);
//! let design = specified.resolve()?;
//! assert!(design.devices == 1024 && design.separates_rails());
//! assert!(specified.summary()?.room >= 1024);
//! # Ok::<(), railwright_spec::problem::Problem>(())
//! ```

pub mod bill;
pub mod cabling;
pub mod chakra;
pub mod exported;
pub mod failures;
pub mod flow;
pub mod imported;
pub mod picture;
pub mod placement;
pub mod rail_only;
mod records;
pub mod simulate;
pub mod sites;
pub mod topology;
pub mod traffic;
