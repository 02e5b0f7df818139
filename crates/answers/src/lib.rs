//! Typed answers to questions about a training run, for the program, the Python package and the web UI.
//!
//! Responsible for: resolution of settings, and one function per question: [`estimate`], [`memory`],
//! [`search`], [`size`], [`whatif`], [`recompute`], [`balance`], and [`Prepared`] for many evaluations of one
//! run. Excludes file access (a front end implements [`Texts`]), command lines and output. It builds for
//! `wasm32-unknown-unknown`; without the feature `threads` a search runs on its caller.
//!
//! ```
//! use railwright_answers::{ClosedForm, NoTexts, estimate, resolve};
//! use railwright_spec::run::RunSpec;
//!
//! let mut spec = RunSpec::default();
//! for setting in ["model.name=llama-3.1-8b", "cluster.preset=dgx-h100", "cluster.devices=64", "plan.tensor_parallel=4"] {
//!     spec.set(setting)?;
//! }
//! let answer = estimate(resolve(spec, &NoTexts)?, &ClosedForm)?;
//! let seconds = answer.estimate.step_time.get();
//! assert!(seconds > 0.1 && seconds < 10.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod as_written;
mod batch;
mod cluster;
mod codesign;
mod design_flags;
mod estimate;
mod fits;
mod fitting;
mod flags;
mod layers;
mod memory;
mod names;
mod network_classes;
mod network_question;
mod open_features;
mod outages;
mod prepared;
mod pricing;
mod question;
mod refused;
mod resolve;
mod search;
mod searcher;
mod setting;
mod size;
mod solve;
mod spelled;
mod texts;
mod title;
mod watch;
mod whatif;
mod workers;

pub use as_written::difference_as_written;
pub use cluster::{cluster, resolve_calibration_path};
pub use codesign::{NetworkQuestion, Priced, priced, site};
pub use design_flags::{dashed, design_in_flags, placed_in_flags};
pub use estimate::{Estimated, estimate};
pub use fits::memory_report;
pub use fitting::{Filled, fill};
pub use flags::{in_flags, option, translate};
pub use layers::run_file;
pub use memory::{Memory, OverTime, PeakMemory, memory};
pub use names::{
    aliases_of, dimension, flag_of, is_same_value, key_of_keyword, other_value, plan_key, short_flag_of,
};
pub use network_classes::NetworkClasses;
pub use network_question::{gigabits, kind_of_network, network_plan, scale_up_prices, spelled_out};
pub use open_features::OpenFeature;
pub use outages::outages;
pub use prepared::{Evaluated, Prepared};
pub use pricing::{ClosedForm, Machines, Pricing};
pub use question::{MOST_NUMBERS, Question, Settings, cluster_sizes, fitted_devices};
pub use refused::Refused;
pub use resolve::{Resolved, resolve, resolve_but_plan, search_command};
pub use search::map::{Cell as MapCell, Outcome as MapOutcome};
pub use search::nothing::{Missed, Nothing, Remedied};
pub use search::why_not::{Answer as WhyNotAnswer, Named};
pub use search::{Impossible, MOST_SHOWN, Measure, SearchOptions, Searched, Shown, search};
pub use searcher::{Effort, Found, SearchResults, Searcher};
pub use setting::{Freed, Setting, plan_flags, quoted};
pub use size::{SizeAnswer, SizeOptions, budget, size};
pub use solve::{Balanced, Recomputed, Solved, balance, recompute, spread};
pub use spelled::{called, called_by_key, spelled};
pub use texts::{NoTexts, Texts};
pub use title::{describe, title};
pub use watch::{Progress, Stage, Unmonitored, Watch};
pub use whatif::{WhatIfReport, changes, whatif};
pub use workers::MOST_THREADS;
