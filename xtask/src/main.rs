//! The project's own chores: `cargo run --release -p xtask -- fit ...`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for developers talks to its terminal")]

mod fit;

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.first().map(String::as_str) {
        Some("fit") => fit::run(&arguments[1..]),
        Some("errors") => fit::errors(&arguments[1..]),
        Some("loso") => fit::leave_one_source_out(&arguments[1..]),
        Some("validate") => fit::summary(&arguments[1..]),
        Some("intervals") => fit::intervals(&arguments[1..]),
        _ => Err(
            "usage: xtask fit TABLE GENERATION CONSTANT[=START]...\n       xtask errors TABLE [GENERATION]"
                .to_owned(),
        ),
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            std::process::ExitCode::from(2)
        }
    }
}
