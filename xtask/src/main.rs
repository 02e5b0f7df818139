//! The project's own chores: fitting constants to measured runs, and writing the generated documents.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for developers talks to its terminal")]

mod descent;
mod docs;
mod fit;
mod left_out;
mod memory;
mod own_runs;
mod pooling;
mod residuals;
mod sbom;

const USAGE: &str = "usage:
  xtask docs [--check]                             write generated pages, or list stale ones
  xtask errors TABLE [GENERATION [rows]]           errors of predictions by generation and source
  xtask fit TABLE GENERATION CONSTANT[=START]...   fit constants of a generation to the runs of a table
  xtask memory TABLE GENERATION [CONSTANT=START...]
                                                   errors of peak memory, after a fit of constants if there are any
  xtask loso TABLE [GENERATION...]                 predict each publication with constants fitted to the others
  xtask shares TABLE                               the same table with the shares of parts worked out anew, without a fit
  xtask validate TABLE                             the summary that `railwright validate` gives
  xtask intervals                                  left-out residuals of each generation, for catalog/intervals.toml
  xtask logs                                       errors after measured runs of a stack, for catalog/evidence/after_logs.csv
  xtask differences TABLE                          errors of differences, for catalog/differences.toml
  xtask sbom                                       bill of materials of the program (CycloneDX 1.5, JSON)";

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.first().map(String::as_str) {
        Some("fit") => fit::run(&arguments[1..]),
        Some("errors") => fit::errors(&arguments[1..]),
        Some("memory") => memory::run(&arguments[1..]),
        Some("loso") => left_out::run(&arguments[1..]),
        Some("shares") => left_out::rewrite_shares(&arguments[1..]),
        Some("validate") => fit::summary(&arguments[1..]),
        Some("intervals") => residuals::intervals(&arguments[1..]),
        Some("logs") => residuals::logs(),
        Some("differences") => residuals::differences(&arguments[1..]),
        Some("docs") => docs::run(&arguments[1..]),
        Some("sbom") => sbom::run(),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            std::process::ExitCode::from(2)
        }
    }
}
