//! Arguments of the commands about launch files.

use super::{Output, RunArguments};
use clap::{Args, ValueHint};

/// Arguments of `detect`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright detect run.sh\n  \
    railwright detect train.log --json\n\n\
    Formats: Megatron-LM (command line, shell script, log, YAML), torchtitan (TOML, JSON, overrides), DeepSpeed, nanotron, \
    Megatron-Bridge, NeMo, accelerate; a model's config.json, run files and traces are told apart from these.\n\
    Nothing is run and no other file is read. Exit code 1 when the file is none of them.")]
pub(crate) struct Detect {
    /// A file, or `-` for stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: String,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `export`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright export llama-3.1-70b --cluster dgx-h100 --gpus 64 --tp 8 --pp 4 --to megatron -o run.sh\n  \
    railwright export --run examples/runs/deepseek-v3.toml --to torchtitan\n  \
    railwright export run.sh --cluster dgx-h100 --to nanotron\n  \
    railwright export --perfetto traces/ -o merged.tar\n\n\
    What the framework has no word for is told on stderr.")]
pub(crate) struct Export {
    /// The framework: megatron, torchtitan, deepspeed or nanotron
    #[arg(long, value_name = "FRAMEWORK", required_unless_present = "perfetto", help_heading = "Output")]
    pub(crate) to: Option<String>,
    /// Traces instead of a run: their ranks as one trace for ui.perfetto.dev, as `export-perfetto` writes it (with -o)
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "output", conflicts_with_all = ["to", "json"], value_hint = ValueHint::AnyPath, help_heading = "Output")]
    pub(crate) perfetto: Vec<String>,
    /// Write to a file, or all files to a folder; stdout without it
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::AnyPath, help_heading = "Output")]
    pub(crate) output: Option<String>,
    /// All files and all that is lost as JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}
