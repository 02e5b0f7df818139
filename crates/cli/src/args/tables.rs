//! Arguments of the commands that hand profiles on: `query`, `save` and `export-perfetto`.

use super::Output;
use clap::{Args, ValueEnum, ValueHint};

/// Whether clocks of ranks are aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clocks {
    /// Align only if clocks differ significantly
    #[default]
    Auto,
    /// Always align
    Align,
    /// Keep recorded times
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
    SQLite syntax, plus median(x), quantile(x, q) and stddev(x). Queries are read-only and cannot open files.\n\
    Times in `_us` start at the job's first activity, times in `_ns` are as recorded; both are after clock alignment.")]
pub(crate) struct Query {
    /// One SELECT statement
    #[arg(value_name = "SQL", required_unless_present = "schema")]
    pub(crate) sql: Option<String>,
    /// Traces: files, folders, patterns, archives or saved profiles
    #[arg(value_name = "PATH", required_unless_present = "schema", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// List tables and columns; with traces, only non-empty tables and their row counts
    #[arg(long)]
    pub(crate) schema: bool,
    /// Maximum rows to return; 0 for all
    #[arg(long, value_name = "ROWS", default_value_t = 1000)]
    pub(crate) limit: usize,
    /// Clock alignment across ranks
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
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
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright save traces/ -o run.railwright\n  \
    railwright query \"SELECT count(*) FROM gpu\" run.railwright\n\n\
    The file is a tar of Parquet tables with a manifest. All commands that read traces accept it, and load it much faster.")]
pub(crate) struct Save {
    /// Traces: files, folders, patterns, archives or saved profiles
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
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright digest traces/ -o digests/\n  \
    srun packaging/digest/task.sh traces/ digests/\n  \
    railwright digest s3://bucket/traces/ -o s3://bucket/digests/ --part 3/16\n  \
    railwright stragglers digests/\n  \
    duckdb -c \"SELECT phase, sum(duration_ns) FROM 'digests/*.parquet' WHERE lane = 'device' GROUP BY phase\"\n\n\
    A digest is one Parquet file per rank. `profile`, `comm`, `stragglers` and `pipeline` give the same answers from digests as from traces.\n\
    Host rows that these commands do not use are omitted; `query`, `export-perfetto` and `profile --columns` require the trace.")]
pub(crate) struct Digest {
    /// Traces: files, folders, patterns or archives
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
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright export-perfetto traces/ -o merged.json.gz\n  \
    railwright export-perfetto traces/ -o merged.tar\n\n\
    Open the file in ui.perfetto.dev. Each rank is a named process (in a tar: a machine), with clocks aligned.\n\
    Separate tracks show steps, waits with their cause, stragglers and stalls with their cost.\n\
    `.tar` holds one file per rank and a manifest, for Perfetto 58 or newer. `.json` and `.json.gz` work with any version.")]
pub(crate) struct ExportPerfetto {
    /// Traces: files, folders, patterns, archives or saved profiles
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
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(crate) clocks: Clocks,
    /// Parallel sizes, innermost first, such as `tp=8,dp=4,pp=2`, if traces do not record groups
    #[arg(long, value_name = "SIZES")]
    pub(crate) layout: Option<String>,
}
