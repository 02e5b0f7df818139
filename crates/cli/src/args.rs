//! What can be typed: flags and commands, as clap types. Refuses to act on any of it.

mod run_flags;

use clap::{Args, Parser, Subcommand, ValueEnum};
pub(crate) use run_flags::RunFlags;

/// Models distributed training of large language models: time, memory, money.
///
/// Three inputs (a model, a cluster, a plan) become one training step, and every number is read off that step.
#[derive(Debug, Parser)]
#[command(
    name = "railwright",
    version,
    propagate_version = true,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done; 1 the answer is no (does not fit); 2 bad input or usage; 3 internal error.\n\
                  Data goes to stdout, everything else to stderr. No command opens the network."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every command.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_default_value = true, help_heading = "Global")]
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
}

/// How and where an answer is written.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Output {
    /// The format of the answer
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) format: Option<Format>,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub(crate) json: bool,
    /// Write to a file; the suffix chooses the format unless `--format` does
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<String>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Models of the catalogue
    #[command(subcommand)]
    Models(Catalogue),
    /// Accelerators of the catalogue
    #[command(subcommand, visible_alias = "accelerators")]
    Gpus(Catalogue),
    /// Clusters of the catalogue
    #[command(subcommand)]
    Clusters(Catalogue),
    /// Every key of a run file; each is also a flag of `estimate`
    Keys(Listing),
    /// The JSON schema of a run file, for editors
    Schema(SchemaArguments),
    /// A completion script for a shell
    Completions(Completions),
    /// The manual page, in roff
    #[command(hide = true)]
    Man(Man),
}

/// What can be asked of a catalogue.
#[derive(Debug, Subcommand)]
pub(crate) enum Catalogue {
    /// List them, all or those whose name matches
    List(Listing),
    /// Everything about one
    Show(Showing),
}

/// A list.
#[derive(Args, Debug)]
pub(crate) struct Listing {
    /// Only names that match: a part of the name, or a glob with `*` and `?`
    #[arg(value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// One entry.
#[derive(Args, Debug)]
pub(crate) struct Showing {
    /// Its name; for a model also a path to a config.json, or `-` for stdin
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `schema`.
#[derive(Args, Debug)]
pub(crate) struct SchemaArguments {
    /// Write to a file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<String>,
}

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Arguments of `man`.
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// The page of this command instead of the program's
    pub(crate) command: Option<String>,
}
