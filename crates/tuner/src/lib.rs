//! Tuner: selection of plans by the calculator's predictions.
//!
//! Responsible for: the search over strategies, the number of machines, what-if comparisons, and the solvers
//! for recompute and pipeline balance. All times and bytes are from the calculator. This crate has no I/O and
//! reads no clock: a search consists of pieces that a front end may run concurrently.
//!
//! ```
//! use railwright_spec::plan::PlanSpec;
//! use railwright_spec::{cluster, model};
//! use railwright_tuner::search::{Options, Search, Space};
//!
//! let (model, cluster) = (model::by_name("llama-3.1-8b")?, cluster::by_name("dgx-h100", 8)?);
//! // Keys that a plan sets are kept, and the others are searched.
//! let kept = PlanSpec { pipeline_parallel: Some(1), global_batch: Some(64), ..PlanSpec::default() };
//! let space = Space::new(&kept, &model, &cluster)?;
//! let search = Search::new(&model, &cluster, space, Options { keep: 3, ..Options::default() })?;
//! let found = search.outcome(&search.run());
//! let best = &found.candidates[0];
//! assert!(best.plan.pipeline_parallel == 1 && best.headroom.get() > 0.0);
//! # Ok::<(), railwright_spec::problem::Problem>(())
//! ```

pub mod balance;
pub mod codesign;
pub mod collective;
mod disruptions;
pub use disruptions::{disruptions_of, outages_of};
pub use railwright_network::failures::Outages;
pub mod exchanges;
pub mod flows;
pub mod ranking;
pub mod recompute;
pub mod remedies;
pub mod search;
pub mod sensitivity;
pub mod simplicity;
pub mod simulate;
pub mod size;
pub mod tuning;
pub mod whatif;
pub mod why_not;
pub mod written;
