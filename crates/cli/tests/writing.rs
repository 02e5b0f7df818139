//! Writing: a file is complete or unchanged in any case, without temporary files left.

#![cfg(target_os = "linux")]

use crate::support::{Folder, program, run};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

const ESTIMATE: [&str; 8] =
    ["estimate", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "8", "--json", "-o"];

/// A command that writes one file, whose path is the last argument.
fn quietly(arguments: &[&str], path: &str) -> Command {
    let mut command = program(arguments);
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Kills a command at many times: the file is the old or the new one each time, and no temporary file is
/// left.
fn killed(file: &str, arguments: &[&str], moments: u32) {
    let folder = Folder::new(&format!("killed-{file}"));
    let path = folder.at(file);
    let whole = || {
        let begun = std::time::Instant::now();
        assert!(quietly(arguments, &path).status().expect("runs").success(), "{arguments:?}");
        (fs::read(&path).expect("written"), begun.elapsed())
    };
    let (new, took) = whole();
    let (mut olds, mut news) = (0, 0);
    for moment in 0..moments {
        fs::write(&path, "old").expect("written");
        let mut child = quietly(arguments, &path).spawn().expect("starts");
        std::thread::sleep((took * moment * 6 / 5 / moments).min(Duration::from_secs(2)));
        // With SIGKILL, which cannot be caught, and with SIGTERM.
        if moment % 2 == 0 {
            child.kill().expect("killed");
        } else {
            let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
            assert!(killed.is_ok());
        }
        child.wait().expect("ends");
        match fs::read(&path).expect("a file") {
            bytes if bytes == b"old" => olds += 1,
            bytes if bytes == new => news += 1,
            bytes => panic!("{file}, moment {moment}: {} bytes of {}", bytes.len(), new.len()),
        }
    }
    assert!(olds > 0, "{file}: {olds} old, {news} new");
    // The next process removes a file that a killed process left.
    whole();
    assert_eq!(folder.names(), [file]);
}

#[test]
fn killed_at_any_moment_the_file_is_the_old_or_the_new_one() {
    killed("step.json", &ESTIMATE, 60);
}

#[test]
fn a_saved_profile_and_a_calibration_are_written_as_a_whole() {
    let traces = "../../../../fixtures/traces/megatron_tp2_v100";
    killed("job.railwright", &["save", traces, "-o"], 24);
    let log = "../../../../fixtures/nccl_tests/h100-all_reduce-8.log";
    killed("machine.toml", &["calibrate", "--nccl-tests", log, "--cluster", "dgx-h100", "-o"], 24);
}

#[test]
fn a_limit_of_the_disk_loses_nothing() {
    let folder = Folder::new("full");
    let path = folder.at("step.json");
    fs::write(&path, "old").expect("written");
    let line = format!("trap '' XFSZ; ulimit -f 1; exec \"$@\" {path}");
    let mut command = Command::new("sh");
    command.args(["-c", &line, "sh", env!("CARGO_BIN_EXE_railwright")]).args(ESTIMATE).stdin(Stdio::null());
    let output = command.output().expect("runs");
    let expected = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{expected}");
    assert!(expected.starts_with(&format!("error: {path}: cannot write: ")), "{expected}");
    assert_eq!(fs::read_to_string(&path).expect("whole"), "old");
    assert_eq!(folder.names(), ["step.json"]);
    let full = run(&[&ESTIMATE[..], &["/dev/full"]].concat());
    assert_eq!(full.code, 2);
    assert!(full.stderr.contains("/dev/full: cannot write: the disk is full"), "{}", full.stderr);
}

#[test]
fn a_folder_that_takes_no_files_is_an_error() {
    for path in ["/proc/railwright/step.json", "/proc/step.json", "/"] {
        let outcome = run(&[&ESTIMATE[..], &[path]].concat());
        assert_eq!(outcome.code, 2, "{path}: {}", outcome.stderr);
        assert!(
            outcome.stderr.starts_with("error: ") && outcome.stderr.contains("cannot write"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn a_result_that_nothing_receives_is_an_error() {
    let run = |arguments: &str, to: &str| {
        let line = format!("\"{}\" {arguments} >{to}", env!("CARGO_BIN_EXE_railwright"));
        let output = Command::new("sh").args(["-c", &line]).stdin(Stdio::null()).output().expect("runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for arguments in ["models list --json", "models list", "--help", "--version", "completions bash"] {
        let (code, message) = run(arguments, "&-");
        assert_eq!(
            (code, message.as_str()),
            (Some(2), "error: cannot write to standard output: it is closed\n")
        );
        let (code, message) = run(arguments, "/dev/full");
        assert_eq!(code, Some(2), "{arguments}");
        assert!(message.starts_with("error: cannot write to standard output: "), "{arguments}: {message}");
        // Nothing is lost where the caller wants nothing.
        assert_eq!(run(arguments, "/dev/null").0, Some(0), "{arguments}");
    }
    let folder = Folder::new("closed");
    let (code, message) = run(&format!("models list -o {}", folder.at("models.json")), "&-");
    assert_eq!((code, folder.names()), (Some(0), vec!["models.json".to_owned()]), "{message}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let line = format!("\"{}\" models list --json | head -c 10", env!("CARGO_BIN_EXE_railwright"));
    let output = Command::new("sh").args(["-c", &line]).output().expect("runs");
    assert_eq!(output.stdout.len(), 10);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn two_that_write_one_file_leave_one_of_two() {
    let folder = Folder::new("two");
    let path = folder.at("step.json");
    let mut children: Vec<_> = (0..4).map(|_| quietly(&ESTIMATE, &path).spawn().expect("starts")).collect();
    for child in &mut children {
        assert!(child.wait().expect("ends").success());
    }
    let text = fs::read_to_string(&path).expect("a file");
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
    assert_eq!(folder.names(), ["step.json"]);
}
