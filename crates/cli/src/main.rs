//! The program `railwright`: arguments in, one command run, an exit code out.
//!
//! This crate is wiring. Arguments are in [`args`], each command is a file in [`commands`], everything printed passes
//! [`printer`], everything read passes [`input`], and [`exit`] says how a command ends.

mod args;
mod commands;
mod exit;
mod input;
mod limits;
mod printer;
mod run;

use exit::Failure;
use printer::Printer;
use std::process::ExitCode;

/// The allocator of musl takes one lock for all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = match args::frameworks::parse(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are answers, the rest is a mistake; clap prints each to its stream. A closed stream is no
            // reason to complain.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::BAD_INPUT } else { exit::OK });
        }
    };
    let printer = Printer::new(&arguments.global);
    limits::bound_threads(&printer);
    limits::bound_memory(
        arguments.global.memory_limit,
        matches!(arguments.command, args::Command::Serve(_)),
        &printer,
    );
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        commands::run(&arguments.command, &printer)
    }));
    let Ok(end) = ran else {
        printer.note("this is a bug in railwright; please report it with the command line and its inputs");
        return ExitCode::from(exit::INTERNAL);
    };
    if let Err(Failure::Input(problems)) = &end {
        printer.problems(problems);
    }
    exit::code(&end)
}
