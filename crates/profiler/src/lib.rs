//! The profiler: analysis of traces of many ranks, with the causes of lost time and the savings of removing
//! them.
//!
//! Responsible for: reading recordings into columns ([`trace`], by [`readers`]), joining the ranks of one job
//! ([`job`]), and their analyses. Bytes in, values out: files, threads and progress belong to the program.
//! Excludes predictions: the comparison with the calculator's step is an analysis of `railwright-step`.
//!
//! ```
//! use railwright_profiler::Job;
//! use railwright_profiler::readers::{self, Keep, Recording};
//!
//! let bytes = br#"{"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": [
//!     {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 5, "args": {"stream": 7}}]}"#;
//! let reader = readers::detect(bytes).expect("a known format");
//! let ranks = reader.read("rank0.json", bytes, Keep::default())?.into_iter().filter_map(|recording| match recording {
//!     Recording::Rank(trace) => Some(*trace),
//!     _ => None,
//! });
//! let job = Job::new(ranks.collect());
//! assert_eq!(job.members.len(), 1);
//! # Ok::<(), railwright_spec::problem::Problem>(())
//! ```

pub mod attribution;
mod bandwidth;
mod captures;
pub mod causes;
pub mod certainty;
pub mod clocks;
pub mod collectives;
pub mod communication;
pub mod compare;
pub mod digest;
pub mod findings;
pub mod flight;
pub mod groups;
pub mod hang;
pub mod hta;
mod inputs;
pub mod job;
pub mod joined;
pub mod kernels;
pub mod launches;
pub mod log;
pub mod matching;
pub mod measured;
mod memo;
pub mod monitors;
pub mod names;
pub mod nccl_tests;
pub mod noise;
mod occupancy;
pub mod origins;
pub mod page;
pub mod passes;
pub mod perfetto;
pub mod phases;
pub mod pipeline;
pub mod profile;
pub mod readers;
pub mod replay;
pub mod roofline;
pub mod samples;
pub mod serving;
pub mod snapshot;
mod steps;
pub use steps::of_job as steps_of_job;
pub mod telemetry;
pub mod testing;
pub mod timeline;
mod topics;
pub mod trace;
pub mod tree;
pub mod view;
pub mod waterfall;
pub mod windows;
mod workers;

pub use inputs::shapes as input_shapes;
pub use job::Job;
pub use names::{NameId, Names};
pub use topics::topics;
pub use trace::RankTrace;
