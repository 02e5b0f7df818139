//! Reads and writes launch files of training frameworks: text to a run specification, and back.
//!
//! Responsible for: one reader and one writer per framework, behind one trait each; format detection by
//! content; the origin of every value; reports of values that are not supported or not expressible. Opens no
//! files, runs no scripts, and never guesses silently: settings missing in a file are open in the
//! specification.
//!
//! Start at [`Launch`], the result of every [`Reader`], and [`Written`], the result of every [`Writer`].
//!
//! ```
//! use railwright_launch::{Format, detect, read};
//!
//! let script = "torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 4 --num-layers 32 \\\n  \
//!     --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 --global-batch-size 128\n";
//! assert_eq!(detect(script).first().map(|seen| seen.format), Some(Format::MegatronCommand));
//! let launch = read(script, "the command").expect("a known format").map_err(|mut all| all.remove(0))?;
//! assert_eq!(launch.spec.plan.tensor_parallel, Some(4));
//! # Ok::<(), railwright_spec::problem::Problem>(())
//! ```

pub mod accelerate;
mod adapter;
mod annotation;
mod asked;
mod compare;
mod context;
pub mod deepspeed;
mod degrees;
mod detect;
mod document;
mod draft;
mod edit;
mod effects;
mod environment;
mod features;
mod fields;
mod foreign;
mod format;
mod framework;
pub mod gptneox;
mod hub;
mod launch;
mod lost;
mod manifest;
pub mod maxtext;
pub mod megatron;
mod missing;
pub mod nanotron;
mod narrow;
pub mod nemo;
mod olmo;
mod other;
mod packed;
mod pretrainers;
pub mod primus;
mod python;
mod reader;
mod readers;
pub mod rl;
mod samples;
mod several;
mod shell;
mod started;
mod tokenizers;
pub mod torchtitan;
pub mod torchtune;
pub mod trainers;
mod tuned;
mod typed;
mod writer;
mod writers;

pub use asked::ask_for;
pub use compare::{Comparison, Predicted};
pub use context::{Context, Files};
pub use detect::{Sighting, detect, read, read_with};
pub use draft::Draft;
pub use edit::{Change, Edited, Refused, edit, settable, unified};
pub use format::{Format, Original};
pub use framework::framework_of;
pub use launch::{Launch, Measured, Open, Origin, Remark, RemarkKind};
pub use reader::{Evidence, Reader, Strength};
pub use readers::readers;
pub use shell::expands_beyond_the_limit;
pub use typed::{Typed, typed, words_of};
pub use writer::{Lost, Writer, Written, WrittenFile, differences};
pub use writers::{expressible, writer_of, writers};

#[cfg(test)]
mod testing;
