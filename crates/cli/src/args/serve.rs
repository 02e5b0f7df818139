//! Arguments of `serve`.

use clap::{Args, ValueHint};

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    railwright serve\n  \
    railwright serve run.toml\n  \
    railwright serve traces/ --port 8080 --no-open\n  \
    railwright serve --openapi > openapi.json\n\n\
    The server answers this machine alone (127.0.0.1), and only addresses with the token that it prints. It reads the paths given \
    here, files dropped on the page and the catalogue, and writes nothing. Ctrl-C ends it. From another machine: \
    `ssh -L 8080:127.0.0.1:8080 HOST`.";

/// Arguments of `serve`.
#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// What to open, and all that may be read: run files, launch files, logs, config.json, traces and folders of them
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// The port; any that is free without it
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Print the description of the interface (OpenAPI 3.1) instead
    #[arg(long, conflicts_with_all = ["paths", "port", "no_open"])]
    pub(crate) openapi: bool,
}
