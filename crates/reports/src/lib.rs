//! Answers as documents and JSON: a module for every question of the program.
//!
//! Responsible for: the types of printable results, their fields in JSON, and their tables, bars and
//! sentences. Excludes computation, arguments, files and streams: it takes an answer of the other crates and
//! returns a document of `railwright-report`.
//!
//! ```
//! use railwright_report::{Answer, Terminal, text};
//! use railwright_reports::gpus::Gpus;
//!
//! let answer = Gpus(vec![railwright_spec::cluster::accelerator_by_name("h100-sxm5-80gb")?]);
//! let terminal = Terminal::file(false);
//! assert!(text::render(&answer.document(terminal), terminal).contains("h100-sxm5-80gb"));
//! assert_eq!(serde_json::to_value(answer.json()).unwrap()["accelerators"][0]["id"], "h100-sxm5-80gb");
//! # Ok::<(), railwright_spec::problem::Problem>(())
//! ```

pub mod balance;
pub mod calibrate;
pub mod cells;
pub mod check;
pub mod clusters;
pub mod comm;
pub mod compare;
pub mod detect;
pub mod estimate;
pub mod explain;
pub mod goodput;
pub mod gpus;
pub mod hang;
pub mod keys;
pub mod log;
pub mod memory;
pub mod memory_snapshot;
pub mod models;
pub mod monitored;
pub mod network;
pub mod pipeline;
pub mod profile;
pub mod profile_compat;
pub mod recompute;
pub mod search;
pub mod sensitivity;
pub mod size;
pub mod stage_memory;
pub mod stragglers;
pub mod tune;
pub mod validate;
pub mod values;
pub mod whatif;
