//! Arguments of the commands about launch files.

use super::{Output, RunArguments};
use clap::{Args, ValueHint};

/// Arguments of `detect`.
#[derive(Args, Debug, serde::Deserialize)]
#[command(after_long_help = include_str!("help/launch-detect.txt"))]
pub(crate) struct Detect {
    /// File to read, or `-` for stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: String,
    /// Environment variables of the script
    #[arg(value_name = "VAR=VALUE")]
    pub(crate) variables: Vec<String>,
    /// Arguments of the script
    #[arg(last = true, value_name = "ARGS", allow_hyphen_values = true)]
    pub(crate) arguments: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `export`.
#[derive(Args, Debug, serde::Deserialize)]
#[command(after_long_help = include_str!("help/launch-export.txt"))]
pub(crate) struct Export {
    /// Target framework: megatron, torchtitan, deepspeed, nanotron, megatron-bridge, accelerate, maxtext,
    /// llama-factory or axolotl
    #[arg(long, value_name = "FRAMEWORK", required_unless_present = "perfetto", help_heading = "Output")]
    pub(crate) to: Option<String>,
    /// Version of the target framework, such as 0.18 for megatron or 2026-02 for torchtitan [default: the
    /// newest known]
    #[arg(long, value_name = "VERSION", help_heading = "Output")]
    pub(crate) target_version: Option<String>,
    /// Export traces instead of a run, as `export-perfetto` does (requires -o)
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with_all = ["to", "json"], value_hint = ValueHint::AnyPath, help_heading = "Output")]
    pub(crate) perfetto: Vec<String>,
    /// Write to a file, or all files to a folder [default: stdout]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::AnyPath, help_heading = "Output")]
    pub(crate) output: Option<String>,
    /// Print all files and all dropped settings as JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}
