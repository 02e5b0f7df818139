//! Arguments of the commands that hand profiles on: `query`, `save` and `export-perfetto`.

use super::Output;
use clap::{Args, ValueEnum, ValueHint};

/// Whether clocks of ranks are aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clocks {
    /// Align them when they differ by more than it matters
    #[default]
    Auto,
    /// Align them in any case
    Align,
    /// Leave times as they were recorded
    Recorded,
}

/// Arguments of `query`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright query --schema\n  \
    railwright query --schema traces/\n  \
    railwright query \"SELECT name, count(*) AS n, sum(duration_us) AS us FROM gpu WHERE kind = 'kernel' GROUP BY name ORDER BY us DESC\" traces/\n  \
    railwright query \"SELECT rank, sum(wait_us) / 1000 AS ms FROM matches GROUP BY rank\" traces/ --json\n  \
    railwright query \"SELECT stage, median(duration_us) FROM passes WHERE kind = 'forward' GROUP BY stage\" trace.parquet\n\n\
    SQL is SQLite's, with median(x), quantile(x, q) and stddev(x) beside its own functions. Nothing can be changed and no file be \
    opened from it. Times in `_us` count from the job's first activity, times in `_ns` are as recorded, both after clocks were aligned.")]
pub(crate) struct Query {
    /// One SELECT
    #[arg(value_name = "SQL", required_unless_present = "schema")]
    pub(crate) sql: Option<String>,
    /// Traces: files, folders, patterns, archives, saved profiles
    #[arg(value_name = "PATH", required_unless_present = "schema", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// List the tables and their columns; of traces that are named, those that have rows, with how many
    #[arg(long)]
    pub(crate) schema: bool,
    /// Rows of the answer, at most; 0 for all
    #[arg(long, value_name = "ROWS", default_value_t = 1000)]
    pub(crate) limit: usize,
    /// What to do with the clocks of ranks
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(crate) clocks: Clocks,
    /// Sizes of the parallel dimensions, the innermost first, such as `tp=8,dp=4,pp=2`, where traces do not say groups
    #[arg(long, value_name = "SIZES")]
    pub(crate) layout: Option<String>,
    /// Keep functions of Python
    #[arg(long)]
    pub(crate) python: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `save`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright save traces/ -o run.railwright\n  \
    railwright query \"SELECT count(*) FROM gpu\" run.railwright\n\n\
    The file is a tar of Parquet tables with a manifest; any command that takes traces takes it, and opens it in a fraction of the time.")]
pub(crate) struct Save {
    /// Traces: files, folders, patterns, archives, saved profiles
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// Where to, `NAME.railwright`
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: String,
    /// Keep functions of Python
    #[arg(long)]
    pub(crate) python: bool,
}

/// Arguments of `export-perfetto`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright export-perfetto traces/ -o merged.json.gz\n  \
    railwright export-perfetto traces/ -o merged.tar\n\n\
    Open the file in ui.perfetto.dev. Ranks are processes (in a tar: machines) with names, clocks are aligned, and what the analyses \
    found (steps, waits with whom they were for, stragglers and stalls with what they cost) are slices on tracks of their own. `.tar` is a file for each rank with a manifest, for \
    Perfetto 58 or newer; `.json` and `.json.gz` are one trace for any version.")]
pub(crate) struct ExportPerfetto {
    /// Traces: files, folders, patterns, archives, saved profiles
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// Where to: `NAME.json`, `NAME.json.gz` or `NAME.tar`
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: String,
    /// Add arrows from launches to what they launched
    #[arg(long)]
    pub(crate) flows: bool,
    /// Leave the hosts out
    #[arg(long)]
    pub(crate) device_only: bool,
    /// What to do with the clocks of ranks
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(crate) clocks: Clocks,
    /// Sizes of the parallel dimensions, the innermost first, such as `tp=8,dp=4,pp=2`, where traces do not say groups
    #[arg(long, value_name = "SIZES")]
    pub(crate) layout: Option<String>,
}
