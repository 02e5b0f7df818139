//! Runs the program as a user would, in a folder of small inputs, with a plain environment.

#![allow(dead_code, reason = "each test file uses what it needs")]

pub(crate) mod served;

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// How a command ended and what it said.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The program with a plain environment: no colour wishes, UTF-8, 100 columns.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_railwright"));
    command
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/inputs"))
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .env("COLUMNS", "100");
    command
}

fn said(output: &Output) -> Said {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("the program writes UTF-8");
    Said {
        code: output.status.code().expect("the program ends by itself"),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// Runs a command line.
pub(crate) fn run(arguments: &[&str]) -> Said {
    said(&program(arguments).stdin(Stdio::null()).output().expect("the program starts"))
}

/// Runs a command line with text on standard input.
pub(crate) fn run_with_stdin(arguments: &[&str], text: &str) -> Said {
    let mut child = program(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // The program may have stopped listening already; what it says counts.
    let _ = child.stdin.take().expect("a pipe").write_all(text.as_bytes());
    said(&child.wait_with_output().expect("the program ends"))
}

/// A command line and everything about its end, for a snapshot.
pub(crate) fn transcript(arguments: &[&str]) -> String {
    let said = run(arguments);
    let mut text = format!("$ railwright {}\n{}", arguments.join(" "), said.stdout);
    if !said.stderr.is_empty() {
        text.push_str("--- stderr\n");
        text.push_str(&said.stderr);
    }
    text + &format!("--- exit {}\n", said.code)
}

/// A file of this process's own in the system's folder for temporary files.
pub(crate) fn scratch(name: &str) -> String {
    let path = std::env::temp_dir().join(format!("railwright-{}-{name}", std::process::id()));
    path.to_str().expect("UTF-8").to_owned()
}

/// JSON from a command that must end with a code.
pub(crate) fn json(arguments: &[&str], code: i32) -> serde_json::Value {
    let said = run(arguments);
    assert_eq!(said.code, code, "{arguments:?}: {}", said.stderr);
    serde_json::from_str(&said.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", said.stdout))
}
