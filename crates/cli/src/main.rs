//! The program `railwright`: arguments in, one command run, an exit code out.
//!
//! This crate is wiring. Arguments are in [`args`], each command is a file in [`commands`], everything
//! printed passes [`printer`], everything read passes [`input`], and [`exit`] has the exit codes.

// Much of the program is about the terminal, which a page has not.
#![cfg_attr(target_family = "wasm", allow(dead_code))]

mod args;
mod clock;
mod commands;
mod exit;
mod input;
mod limits;
#[cfg(target_family = "wasm")]
mod playground;
mod printer;
mod run;

#[cfg(not(target_family = "wasm"))]
use {exit::Failure, printer::Printer, std::process::ExitCode};

/// The allocator of musl takes one lock for all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The page calls the functions of [`playground`] instead.
#[cfg(target_family = "wasm")]
fn main() {}

#[cfg(not(target_family = "wasm"))]
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
