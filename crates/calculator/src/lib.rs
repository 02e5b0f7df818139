//! From a model, a cluster and a plan to time, memory and money, bottom-up.
//!
//! Operators ([`operators`]) and collectives ([`collectives`]) form layers ([`layer`]), layers form virtual
//! stages ([`stage`]), and stages a pipeline ([`schedule`]). The pipeline with its update ([`update`],
//! [`sharding`]) forms a step ([`evaluate`]). This crate has no I/O and reads no clock.
//!
//! Ten lines estimate a run, with the same result as the command line: [`defaults::resolve_run`] chooses what
//! the run file leaves open.
//!
//! ```
//! use railwright_calculator::defaults::resolve_run;
//! use railwright_calculator::estimate::estimate_run;
//! use railwright_spec::problem::Problem;
//! use railwright_spec::run;
//!
//! let text = "model.name = 'llama-3.1-8b'\ncluster = { preset = 'dgx-h100', devices = 64 }\nplan.tensor_parallel = 4\n";
//! let no_files = |path: &str| Err(Problem::new("there is no file").in_file(path));
//! let (run, _) = resolve_run(&run::parse(text, "run.toml")?, no_files).map_err(|mut all| all.remove(0))?;
//! let estimate = estimate_run(&run)?;
//! let parts: f64 = estimate.time.children.iter().map(|part| part.time.get()).sum();
//! assert!((parts / estimate.step_time.get() - 1.0).abs() < 1e-9);
//! assert!(estimate.memory.fit.is_possible());
//! # Ok::<(), Problem>(())
//! ```

pub mod calibration;
pub mod choices;
pub mod collectives;
pub mod costing;
pub mod defaults;
pub mod disturbance;
pub mod estimate;
pub mod evaluate;
pub mod exchanges;
pub mod goodput;
mod host;
pub mod intervals;
pub mod layer;
pub mod local;
mod machine;
pub mod memory;
pub mod model_flop;
pub mod money;
pub mod operators;
mod partition;
pub mod prepared;
mod program;
pub mod schedule;
pub mod sharding;

pub mod stage;
pub mod timeline;
pub mod transfer;
mod treatment;
pub mod update;
pub mod valid_values;
pub mod validation;
pub mod work;

pub use railwright_spec::software;
