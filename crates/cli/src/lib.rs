//! The program `railwright` as a library: [`main`] runs a command line, [`door`] the same commands for a
//! front end that links them.
//!
//! Responsible for: wiring only. Arguments are in `args`, each command is a file in `commands`. All
//! output passes through `printer`, all input through `input`. Exit codes are in `exit`.
//!
//! ```
//! let arguments = serde_json::json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 64, "tp": 2 });
//! let answer = railwright::door::ask(&["estimate"], arguments.as_object().unwrap(), None, &Default::default()).unwrap();
//! assert_eq!(answer.kind, Some("estimate"));
//! let seconds = answer.fields["step_time"].as_f64().unwrap();
//! assert!(seconds > 0.1 && seconds < 10.0);
//! ```

// Much of the program is about the terminal, which a browser lacks; some of it serves tables alone.
#![cfg_attr(any(target_family = "wasm", not(feature = "tables")), allow(dead_code))]

mod args;
mod clock;
mod commands;
#[cfg(not(target_family = "wasm"))]
pub mod door;
mod exit;
#[cfg(target_family = "wasm")]
mod page;
#[cfg(target_family = "wasm")]
mod playground;
mod printer;

pub(crate) use railwright_inputs::{self as input, limits, run};

#[cfg(not(target_family = "wasm"))]
use {exit::Failure, printer::Printer, std::process::ExitCode};

/// Keeps the functions that a page calls in a linked program.
#[cfg(target_family = "wasm")]
pub fn exported() {
    playground::exported();
}

/// Runs the program on the arguments of the process. Results are refused if the caller closed standard
/// output.
#[cfg(not(target_family = "wasm"))]
pub fn main(is_stdout_closed: bool) -> ExitCode {
    printer::refuse_stdout(is_stdout_closed);
    let arguments = match args::frameworks::parse(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            let _ = error.print();
            return ExitCode::from(exit::BAD_INPUT);
        }
        // Help and version are results.
        Err(help) => {
            let printed = printer::to_stdout(|| help.print());
            if let Err(Failure::Input(problems)) = &printed {
                Printer::plain().problems(problems);
            }
            return exit::code(&printed.map(|()| exit::Outcome::Yes));
        }
    };
    let printer = Printer::new(&arguments.global);
    if let Some(mistaken) = limits::bound_threads() {
        printer.note(&mistaken);
    }
    let is_server = matches!(arguments.command, args::Command::Serve(_));
    let limit = match limits::of_environment() {
        Ok(limit) => arguments.global.memory_limit.or(limit),
        Err(problem) => {
            printer.problems(&[problem]);
            return ExitCode::from(exit::BAD_INPUT);
        }
    };
    let teller = printer.clone();
    let end = (!is_server).then_some(move |problem| {
        teller.problems(&[problem]);
        exit::at_once(exit::BAD_INPUT);
    });
    limits::bound_memory(limit, end);
    // A server reads only the paths that it was given.
    if !is_server {
        run::convention::enable();
    }
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        commands::run(&arguments.command, &printer)
    }));
    if let Some(used) = run::convention::used() {
        printer.note(&used);
    }
    let Ok(end) = ran else {
        printer.note("this is a bug in railwright; please report it with the command line and its inputs");
        return ExitCode::from(exit::INTERNAL);
    };
    if let Err(Failure::Input(problems)) = &end {
        printer.problems(problems);
    }
    exit::code(&end)
}
