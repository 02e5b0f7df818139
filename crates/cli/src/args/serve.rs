//! Arguments of `serve`.

use clap::{Args, ValueHint};

pub(crate) const EXAMPLES: &str = include_str!("help/serve.txt");

/// Arguments of `serve`.
#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// Files and folders to serve: run files, launch files, logs, config.json or traces
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// Port to listen on [default: any free port]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Keep the token of the URL in a file (created if missing), so that links survive a restart on the same
    /// `--port`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) token_file: Option<String>,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Print the OpenAPI 3.1 description and exit
    #[arg(long, conflicts_with_all = ["paths", "port", "token_file", "no_open"])]
    pub(crate) openapi: bool,
    /// With `--openapi`: the commands of the Python package, which also writes files
    #[arg(long, hide = true, requires = "openapi")]
    pub(crate) linked: bool,
}
