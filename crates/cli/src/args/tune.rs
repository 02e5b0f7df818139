//! Arguments of `tune`.

use super::{Effort, RunArguments};
use clap::{Args, ValueHint};

pub(crate) const EXAMPLES: &str = include_str!("help/tune.txt");

/// Arguments of `tune`.
#[derive(Args, Debug, serde::Deserialize)]
pub(crate) struct Tune {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Keep these settings of the file, such as `tp,recompute` (repeatable)
    #[arg(long, value_name = "KEY,...", value_delimiter = ',', help_heading = "Search")]
    pub(crate) keep: Vec<String>,
    /// Also tune these settings, such as `overlap.tensor` (repeatable)
    #[arg(long, value_name = "KEY,...", value_delimiter = ',', help_heading = "Search")]
    pub(crate) free: Vec<String>,
    /// Rank by measured logs of the file or its variants, as `LOG` or `FILE=LOG`
    #[arg(long, value_name = "LOG", num_args = 1.., value_hint = ValueHint::FilePath, help_heading = "Measured")]
    pub(crate) measured: Vec<String>,
    #[command(flatten)]
    pub(crate) effort: Effort,
    /// Number of layouts to show, and of variants to write with `-o FOLDER`
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Output")]
    pub(crate) top: usize,
    /// Number of the layout that `--diff`, `--in-place` and `-o` write [default: the fastest that the file
    /// can express]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) pick: Option<usize>,
    /// Print only the change, as a unified diff
    #[arg(long, conflicts_with_all = ["in_place", "json"], help_heading = "Output")]
    pub(crate) diff: bool,
    /// Edit the file in place
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    pub(crate) in_place: bool,
    /// Write the changed file, or one variant per layout into a folder (`variants/`)
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::AnyPath, help_heading = "Output")]
    pub(crate) output: Option<String>,
    /// Show the details of the report
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}
