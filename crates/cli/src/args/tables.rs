//! Arguments of the commands that pass profiles on to other tools: `query`, `save` and `export-perfetto`.

use super::Output;
use super::joining::Clocks;
use clap::{Args, ValueHint};

/// Arguments of `query`.
#[derive(Args, Debug, serde::Deserialize)]
#[command(after_long_help = include_str!("help/tables-query.txt"))]
pub(crate) struct Query {
    /// One SELECT statement
    #[arg(value_name = "SQL")]
    pub(crate) sql: Option<String>,
    /// Traces: files, folders, globs, archives or saved profiles
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// List tables and columns; with traces, only non-empty tables and their row counts
    #[arg(long)]
    pub(crate) schema: bool,
    /// Maximum rows to return; 0 for all
    #[arg(long, value_name = "ROWS", default_value_t = 1000)]
    pub(crate) limit: usize,
    /// Clock alignment across ranks
    #[arg(long, value_name = "MODE", value_enum, default_value_t)]
    pub(crate) clocks: Clocks,
    /// Parallel sizes, innermost first, such as `tp=8,dp=4,pp=2`, if traces do not record groups
    #[arg(long, value_name = "SIZES")]
    pub(crate) layout: Option<String>,
    /// Keep Python function events
    #[arg(long)]
    pub(crate) python: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `save`.
#[derive(Args, Debug, serde::Deserialize)]
#[command(after_long_help = include_str!("help/tables-save.txt"))]
pub(crate) struct Save {
    /// Traces: files, folders, globs, archives or saved profiles
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// Output file, `NAME.railwright`
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: String,
    /// Keep Python function events
    #[arg(long)]
    pub(crate) python: bool,
}

/// Arguments of `digest`.
#[derive(Args, Debug, serde::Deserialize)]
#[command(after_long_help = include_str!("help/tables-digest.txt"))]
pub(crate) struct Digest {
    /// Traces: files, folders, globs or archives
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// Output folder; files keep their path relative to PATH
    #[arg(long, short, value_name = "FOLDER", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub(crate) output: String,
    /// Process every N-th file, starting with file I (from 0), such as `3/16`
    #[arg(long, value_name = "I/N")]
    pub(crate) part: Option<String>,
}

/// Arguments of `export-perfetto`.
#[derive(Args, Debug, serde::Deserialize)]
#[command(after_long_help = include_str!("help/tables-exportperfetto.txt"))]
pub(crate) struct ExportPerfetto {
    /// Traces: files, folders, globs, archives or saved profiles
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// Output file: `NAME.json`, `NAME.json.gz` or `NAME.tar`
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: String,
    /// Add flow arrows from launches to kernels
    #[arg(long)]
    pub(crate) flows: bool,
    /// Omit host threads
    #[arg(long)]
    pub(crate) device_only: bool,
    /// Clock alignment across ranks
    #[arg(long, value_name = "MODE", value_enum, default_value_t)]
    pub(crate) clocks: Clocks,
    /// Parallel sizes, innermost first, such as `tp=8,dp=4,pp=2`, if traces do not record groups
    #[arg(long, value_name = "SIZES")]
    pub(crate) layout: Option<String>,
}
