//! The calculator answers "what happens if"; the tuner answers "what should I do".
//!
//! Responsible for: choosing among plans: the search over strategies, the number of machines, the rehearsal of changes, and the
//! solvers for recompute and pipeline balance. Every time and byte comes from the calculator; nothing is priced here. This crate reads
//! no file and no clock, prints nothing and spawns nothing: a search is cut into pieces that a front end may run side by side.
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
