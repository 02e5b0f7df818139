//! Megatron-LM: command lines, shell scripts, logs and YAML in; a script out.
//!
//! Responsible for: what each flag means to a plan, and what holds without it. Refuses to run anything.

mod stubs;

pub use stubs::{CommandReader, FlagsWriter, LogReader, ScriptReader, YamlReader};
