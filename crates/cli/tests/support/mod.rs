//! Runs the program as a user would, in a folder of small inputs, with a plain environment.

#![allow(dead_code, reason = "each test uses what it needs")]

pub(crate) mod bucket;
pub(crate) mod served;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Exit code and output of a command.
pub(crate) struct Outcome {
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

fn outcome(output: &Output) -> Outcome {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("the program writes UTF-8");
    Outcome {
        code: output.status.code().expect("the program ends by itself"),
        stdout: text(&output.stdout),
        stderr: unwrapped(&text(&output.stderr)),
    }
}

/// Messages with each on one line, without the line breaks of the terminal's width. Quoted lines of a file
/// stay.
fn unwrapped(messages: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in messages.split('\n') {
        let rest = line
            .strip_prefix("  ")
            .filter(|rest| !rest.starts_with([' ', '|', '-', '[', '<']) && !rest.starts_with("tip: "));
        match (rest, lines.last_mut()) {
            (Some(rest), Some(last)) => *last = format!("{last} {rest}"),
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

/// Runs a command line.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    outcome(&program(arguments).stdin(Stdio::null()).output().expect("the program starts"))
}

/// Runs a command line with text on standard input.
pub(crate) fn run_with_stdin(arguments: &[&str], text: &str) -> Outcome {
    let mut child = program(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // The program may have closed its input already; its output matters.
    let _ = child.stdin.take().expect("a pipe").write_all(text.as_bytes());
    outcome(&child.wait_with_output().expect("the program ends"))
}

/// A command line with its complete outcome, for a snapshot.
pub(crate) fn transcript(arguments: &[&str]) -> String {
    transcript_of(arguments, &run(arguments))
}

fn transcript_of(arguments: &[&str], outcome: &Outcome) -> String {
    let mut text = format!("$ railwright {}\n{}", arguments.join(" "), outcome.stdout);
    if !outcome.stderr.is_empty() {
        text.push_str("--- stderr\n");
        text.push_str(&outcome.stderr);
    }
    text + &format!("--- exit {}\n", outcome.code)
}

/// The transcript of a command line that must be rejected: code 2, an error, nothing on standard output.
pub(crate) fn rejected(arguments: &[&str]) -> String {
    let outcome = run(arguments);
    assert_eq!(outcome.code, 2, "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
    assert!(
        outcome.stdout.is_empty() && outcome.stderr.lines().any(|line| line.starts_with("error: ")),
        "{arguments:?}: {}",
        outcome.stderr
    );
    assert!(!outcome.stderr.contains("panicked"), "{arguments:?}: {}", outcome.stderr);
    transcript_of(arguments, &outcome) + "\n"
}

/// A file of this process's own in the system's folder for temporary files.
pub(crate) fn scratch(name: &str) -> String {
    let path = std::env::temp_dir().join(format!("railwright-{}-{name}", std::process::id()));
    path.to_str().expect("UTF-8").to_owned()
}

/// JSON from a command that must end with a given code.
pub(crate) fn json(arguments: &[&str], code: i32) -> serde_json::Value {
    let outcome = run(arguments);
    assert_eq!(outcome.code, code, "{arguments:?}: {}", outcome.stderr);
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", outcome.stdout))
}

/// A folder of a test, empty at the beginning and removed at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let folder = PathBuf::from(scratch(name));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("made");
        Self(folder)
    }

    /// The path of a file in it.
    pub(crate) fn at(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Writes a file into it; its path.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.at(name);
        std::fs::write(&path, content).expect("written");
        path
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The names in it, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("a folder").flatten();
        let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
