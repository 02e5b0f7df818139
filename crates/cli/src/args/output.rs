//! Output flags: colours, formats, files.

use clap::{Args, ValueEnum, ValueHint};

/// Flags of every command.
#[derive(Args, Clone, Debug, serde::Deserialize)]
pub(crate) struct Global {
    /// When to use colours
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        help_heading = "Global"
    )]
    pub(crate) color: ColourChoice,
    /// Print ASCII characters only
    #[arg(long, global = true, help_heading = "Global")]
    pub(crate) ascii: bool,
    /// Suppress notes and warnings on stderr
    #[arg(long, short, global = true, help_heading = "Global")]
    pub(crate) quiet: bool,
    /// Maximum memory for Railwright, such as `8GiB` [default: 3/4 of the machine]
    #[arg(long, global = true, value_name = "LIMIT", value_parser = railwright_spec::memory_amount, help_heading = "Global")]
    #[serde(deserialize_with = "amount")]
    pub(crate) memory_limit: Option<u64>,
}

/// An amount of memory with its unit.
fn amount<'de, D: serde::Deserializer<'de>>(text: D) -> Result<Option<u64>, D::Error> {
    let text = <Option<String> as serde::Deserialize>::deserialize(text)?;
    text.map(|text| railwright_spec::memory_amount(&text)).transpose().map_err(serde::de::Error::custom)
}

/// Use of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
pub(crate) enum ColourChoice {
    /// On terminals, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The format of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
pub(crate) enum Format {
    /// Human-readable tables
    Table,
    /// Machine-readable, with `schema_version`
    Json,
    /// Comma-separated values with exact numbers
    Csv,
    /// Markdown
    Md,
    /// Self-contained HTML report (`estimate` and `profile` only)
    Html,
    /// Metrics in the text format of Prometheus (`log` only)
    Prometheus,
}

/// Format and destination of an answer.
#[expect(clippy::struct_field_names, reason = "the field is the flag")]
#[derive(Args, Clone, Debug, Default, serde::Deserialize)]
pub(crate) struct Output {
    /// Output format [default: table]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) format: Option<Format>,
    /// Show the details of the report
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,
    /// Print JSON (same as `--format json`)
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub(crate) json: bool,
    /// Write to a file; its suffix sets the format
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<String>,
}
