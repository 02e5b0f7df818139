//! Flags about the voice of an answer: colours, formats, files.

use clap::{Args, ValueEnum, ValueHint};

/// Flags of every command.
#[derive(Args, Clone, Debug)]
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
    /// Only ASCII characters, whatever the locale says
    #[arg(long, global = true, help_heading = "Global")]
    pub(crate) ascii: bool,
    /// No notes and warnings on stderr
    #[arg(long, short, global = true, help_heading = "Global")]
    pub(crate) quiet: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColourChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The voice of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// For programs, with `schema_version`
    Json,
    /// For spreadsheets, exact numbers
    Csv,
    /// Markdown
    Md,
    /// A page for a browser, in one file; of `estimate` and `profile`
    Html,
}

/// How and where an answer is written.
#[expect(clippy::struct_field_names, reason = "the field is the flag")]
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Output {
    /// The format of the answer
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) format: Option<Format>,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub(crate) json: bool,
    /// Write to a file; the suffix chooses the format unless `--format` does
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) output: Option<String>,
}
