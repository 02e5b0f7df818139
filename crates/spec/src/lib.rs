//! Specifications of a run: [`model::Model`], [`cluster::Cluster`], [`plan::Plan`], and the catalogue.
//!
//! This crate is pure: it maps text to values, without access to files, clocks, threads or output. It builds
//! for `wasm32-unknown-unknown`.
//!
//! [`run::parse`] reads a run file. One function fills in all open settings for every command:
//! [`plan::PlanSpec::resolve`].
//!
//! ```
//! use railwright_spec::problem::Problem;
//! use railwright_spec::run;
//!
//! let text = "model.name = 'llama-3.1-8b'\ncluster = { preset = 'dgx-h100', devices = 64 }\nplan.tensor_parallel = 4\n";
//! let no_files = |path: &str| Err(Problem::new("there is no file").in_file(path));
//! let (run, warnings) = run::parse(text, "run.toml")?.resolve_valid(no_files).map_err(|mut all| all.remove(0))?;
//! assert_eq!((run.plan.tensor_parallel, run.plan.data_parallel), (4, 16));
//! assert!(warnings.is_empty());
//!
//! // A problem is a value too, with message, place and hint.
//! let wrong = run::parse("plan.tensor_paralel = 4\n", "run.toml").expect_err("a mistyped key");
//! assert!(wrong.hint.is_some_and(|hint| hint.contains("tensor_parallel")));
//! # Ok::<(), Problem>(())
//! ```

mod address;
pub mod calibration;
pub mod cluster;
mod collective;
mod divisor;
pub mod human;
mod memory_amount;
pub mod model;
pub mod plan;
mod portable;
pub mod precision;
pub mod problem;
pub mod quantity;
pub mod run;
pub mod software;
mod statistics;
pub mod topic;

pub use address::{Scheme, is_address, without_query};
pub use collective::Collective;
pub use divisor::greatest_common_divisor;
pub use memory_amount::{LEAST_MEMORY, memory_amount};
pub use portable::Portable;
pub use statistics::{lower_median, median, quantile, quantiles};
