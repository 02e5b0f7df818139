//! Megatron-LM: command lines, shell scripts, logs and YAML in; a script out.
//!
//! Responsible for: the meaning of each flag for a plan, and defaults of absent flags. Runs nothing.
//!
//! Every source of arguments ends in `arguments`, which `meaning` converts to a run.

pub(crate) mod arguments;
mod audit;
mod batch;
mod degrees;
pub(crate) mod dialect;
mod features;
mod filler;
pub(crate) mod flags;
mod fork;
pub(crate) mod generation;
mod hybrid;
mod iterations;
mod lists;
mod log;
pub(crate) mod meaning;
mod memory;
mod model;
pub(crate) mod model_args;
pub(crate) mod partial;
pub(crate) mod pipeline;
mod precision;
mod script;
pub(crate) mod stranger;
mod vocabulary;
pub(crate) mod world;
pub(crate) use world::{Batch, included};
mod write;
mod yaml;

pub(crate) use arguments::is_program;
pub(crate) use features::Graphs;
pub use log::LogReader;
pub use model_args::ModelArgsReader;
pub use script::{CommandReader, ScriptReader};
pub(crate) use script::{arguments_of, read_script, starts};
pub use write::FlagsWriter;
pub use yaml::YamlReader;

#[cfg(test)]
mod accepted;
#[cfg(test)]
mod tests;
