//! Limits of the program's use of the machine: memory, threads, time.

#![cfg(target_os = "linux")]

use crate::support::served::Served;
use crate::support::{Outcome, program, run, scratch};
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A file that is removed with the value.
struct File(PathBuf);

impl File {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = PathBuf::from(scratch(name));
        std::fs::write(&path, bytes).expect("written");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A compressed trace of equal kernels: a few kilobytes for hundreds of megabytes.
fn bomb(kernels: usize) -> Vec<u8> {
    const KERNEL: &[u8] =
        br#"{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":1,"args":{"stream":7}},"#;
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    out.write_all(br#"{"schemaVersion":1,"distributedInfo":{"rank":0,"world_size":1},"traceEvents":["#)
        .expect("packed");
    let thousand = KERNEL.repeat(1000);
    for _ in 0..kernels / 1000 {
        out.write_all(&thousand).expect("packed");
    }
    out.write_all(&KERNEL[..KERNEL.len() - 1]).expect("packed");
    out.write_all(b"]}").expect("packed");
    out.finish().expect("packed")
}

fn is_at_the_limit(outcome: &Outcome) {
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the memory limit of 64.0 MiB is reached"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("hint: "), "{}", outcome.stderr);
    assert!(outcome.stdout.is_empty());
}

#[test]
fn a_decompression_bomb_ends_at_the_limit() {
    let packed = bomb(2_000_000);
    assert!(packed.len() < 1 << 20, "{} bytes", packed.len());
    let file = File::new("bomb.json.gz", &packed);
    for command in [&["profile"][..], &["comm"], &["stragglers"], &["query", "SELECT count(*) FROM gpu"]] {
        is_at_the_limit(&run(&[command, &[file.path(), "--memory-limit", "64MiB"]].concat()));
    }
    // A text is kept as a whole.
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let line = b"iteration 1/ 10 | elapsed time per iteration (ms): 1.0 |\n".repeat(10_000);
    for _ in 0..400 {
        out.write_all(&line).expect("packed");
    }
    let log = File::new("bomb.log.gz", &out.finish().expect("packed"));
    is_at_the_limit(&run(&["log", log.path(), "--memory-limit", "64MiB"]));
}

/// Memory freed by a large request serves the next one: it is not a reason to reject it.
#[test]
fn a_server_answers_after_a_question_that_reached_the_limit() {
    let (large, small) =
        (File::new("large.json.gz", &bomb(2_000_000)), File::new("small.json.gz", &bomb(2_000)));
    let server = Served::new(&[large.path(), small.path(), "--memory-limit", "100MiB"]);
    let ask = |file: &File| server.ask("profile", &json!({ "paths": [file.path()] }));
    for _ in 0..2 {
        let refused = ask(&large);
        assert_eq!(refused.status, 422, "{}", refused.text);
        assert!(refused.problems().contains("the memory limit of 100 MiB is reached"), "{}", refused.text);
        let answered = ask(&small);
        assert_eq!(answered.status, 200, "{}", answered.text);
    }
}

#[test]
fn a_limit_needs_a_unit_and_room() {
    for (limit, expected) in [("8", "such as `8GiB`"), ("1MiB", "at least 32 MiB"), ("x", "such as `8GiB`")] {
        let outcome = run(&["models", "list", "--memory-limit", limit]);
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    }
    assert_eq!(run(&["models", "list", "--memory-limit", "1GiB"]).code, 0);
}

/// Maximum number of threads of a command while it ran.
fn threads(arguments: &[&str], asked: &str) -> usize {
    let mut child = program(arguments)
        .env("RAYON_NUM_THREADS", asked)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("starts");
    let tasks = format!("/proc/{}/task", child.id());
    let mut most = 0;
    while child.try_wait().expect("runs").is_none() {
        most = most.max(std::fs::read_dir(&tasks).map_or(0, Iterator::count));
        std::thread::sleep(Duration::from_millis(2));
    }
    most
}

#[test]
fn threads_are_at_most_the_processors_whatever_the_environment_sets() {
    let processors = std::thread::available_parallelism().expect("known").get();
    let traces = "../../../../fixtures/traces/generated_torch215_gloo_pp2dp2/rank*";
    for asked in ["100000", "99999999999999999999", "2", "0", "many", "-1"] {
        // In addition to the workers: the main thread, the memory guard, Ctrl-C, and the second pool of a
        // search.
        for line in [
            &["profile", traces][..],
            &["search", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "8", "--tp", "1"],
        ] {
            let most = threads(line, asked);
            assert!(most <= 2 * processors + 4, "{asked}: {most} threads on {processors} processors");
        }
    }
    let outcome = program(&["profile", traces]).env("RAYON_NUM_THREADS", "100000").output().expect("runs");
    assert_eq!(outcome.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("RAYON_NUM_THREADS exceeds the"));
}

/// Ctrl-C ends long work soon, with the results so far.
#[test]
fn long_work_stops_on_ctrl_c() {
    let config = File::new(
        "deep.json",
        br#"{"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024, "num_attention_heads": 8, "num_hidden_layers": 10000,
        "vocab_size": 1000}"#,
    );
    for line in [
        &["search", config.path(), "--cluster", "dgx-h100", "--gpus", "1024"][..],
        &["search", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "16384", "--global-batch", "1000000"],
        &["network", "design", "llama-3.1-405b", "--cluster", "dgx-h100", "--gpus", "131072"],
    ] {
        let mut child = program(line)
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("starts");
        std::thread::sleep(Duration::from_secs(3));
        let asked = Instant::now();
        let _ = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        let ended = loop {
            if let Some(status) = child.try_wait().expect("runs") {
                break Some(status);
            }
            if asked.elapsed() > Duration::from_secs(60) {
                let _ = child.kill();
                break None;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        assert!(ended.is_some(), "{line:?} goes on for a minute after Ctrl-C");
    }
}
