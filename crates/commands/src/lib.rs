//! The commands without command lines and printing: a request, with its files, to a typed report.
//!
//! Responsible for: the inputs of a command, its defaults, the order of its work, and the files that it
//! writes. A front end converts its arguments to a request, receives notes, progress and texts as a
//! [`Front`], and prints the report. Formulas are in the libraries below, tables and JSON in
//! `railwright-reports`.
//!
//! ```
//! use railwright_commands::{Checkpoints, Goodput, goodput};
//!
//! let checkpoints = Checkpoints { time: Some("60 s".to_owned()), ..Checkpoints::default() };
//! let job = Goodput { gpus: Some(1024), cluster: Some("dgx-h100".to_owned()), checkpoints, ..Goodput::default() };
//! let report = goodput(&job).expect("a valid job");
//! assert_eq!(report.machine, "H100 SXM5 80GB");
//! assert!(report.answer.goodput > 0.9 && report.answer.goodput < 1.0);
//! ```

mod fit;
mod front;
mod goodput;
mod network;
mod relation;
mod tune;
mod typed;

pub use fit::warn_of_fit;
pub use front::{Ended, Front, Work};
pub use goodput::{Checkpoints, Goodput, goodput};
pub use network::Specified;
pub use network::collective::{CollectiveOn, collective};
pub use network::cost::{Cost, cost};
pub use network::export::{ExportNetwork, Simulator, export_network};
pub use network::failures::{Failures, FailuresAnswer, failures};
pub use network::flows::{FlowsOn, flows};
pub use network::heat::Files;
pub use network::pricing::{Pricing, on_topology};
pub use network::show::{Show, ShowAnswer, show};
pub use network::simulate::{Simulate, simulate};
pub use network::traffic::{TrafficBy, TrafficOf, traffic};
pub use relation::{needs, within};
pub use tune::{Tune, tune, tuned_keys, write_tuned};
pub use typed::{Arguments, typed};
