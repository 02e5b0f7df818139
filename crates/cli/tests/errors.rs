//! Invalid input: every error has its cause, place, reason and a hint, exits with code 2 quickly, and prints
//! nothing to stdout.

use crate::support::{Folder, program, rejected, run, run_with_stdin};
use std::time::{Duration, Instant};

/// Transcripts of command lines that must all end with code 2 and an empty stdout.
fn refused(name: &str, lines: &[&[&str]]) {
    let mut text = String::new();
    for line in lines {
        let begin = Instant::now();
        text.push_str(&rejected(line));
        // Generous: a hang or gigabytes of work would take minutes.
        assert!(begin.elapsed() < Duration::from_secs(20), "{line:?}");
    }
    insta::assert_snapshot!(name, text);
}

#[test]
fn models() {
    let on = ["--cluster", "dgx-h100", "--gpus", "8"];
    let with = |model: &'static str| [&["estimate", model][..], &on[..]].concat();
    let lines: Vec<Vec<&str>> = [
        "llama-9",
        "no-heads.json",
        "truncated.json",
        "contradiction.json",
        "absurd.json",
        "empty.json",
        "deep.json",
        "a-folder",
        "not-here.json",
        "./no-head.json",
        "no/such/folder/config.json",
    ]
    .map(with)
    .into();
    refused("models", &lines.iter().map(Vec::as_slice).collect::<Vec<_>>());
}

#[test]
fn dimensions() {
    refused(
        "dimensions",
        &[
            &["estimate", "--layers", "32", "--cluster", "h100"],
            &["estimate", "--layers", "1e30", "--hidden", "4096", "--heads", "32", "--cluster", "h100"],
            &[
                "estimate",
                "--layers",
                "9000000000000",
                "--hidden",
                "4096",
                "--heads",
                "32",
                "--cluster",
                "h100",
            ],
            &["estimate", "--layers", "32", "--hidden", "4097", "--heads", "32", "--cluster", "h100"],
            &["estimate", "--layers", "-3", "--hidden", "4096", "--heads", "32", "--cluster", "h100"],
        ],
    );
}

#[test]
fn clusters() {
    refused(
        "clusters",
        &[
            &["estimate", "llama-3-8b"],
            &["estimate", "llama-3-8b", "--cluster", "dgx-h10"],
            &["estimate", "llama-3-8b", "--cluster", "not-here.toml"],
            &["estimate", "llama-3-8b", "--cluster", "unknown-key.toml"],
            &["estimate", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "0"],
            &["estimate", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "99999999999"],
            &["gpus", "show", "h10"],
            &["clusters", "show", "dgx-h10"],
            &["models", "show", "lama-3-8b"],
        ],
    );
}

#[test]
fn plans() {
    let on: [&str; 5] = ["estimate", "llama-3-8b", "--cluster", "dgx-h100", "--gpus"];
    let cases: [&[&str]; 20] = [
        &["12", "--tp", "3"],
        &["8", "--tp", "3"],
        &["16", "--pp", "16", "--vp", "3"],
        &["24", "--pp", "3"],
        &["8", "--tp", "2", "--dp", "2"],
        &["8", "--tp", "4611686018427387904", "--pp", "4611686018427387904"],
        &["8", "--global-batch", "7", "--dp", "8"],
        &["8", "--global-batch", "1000000000000"],
        &["8", "--global-batch", "64", "--micro-batches", "4"],
        &["8", "--micro-batch", "0"],
        &["8", "--micro-batch", "-1"],
        &["8", "--seq", "nan"],
        &["8", "--tokens", "NaN"],
        &["8", "--tokens", "-5"],
        &["8", "--availability", "1.5"],
        &["8", "--expert-imbalance", "inf"],
        &["8", "--ep", "8"],
        &["8", "--precision", "fp7"],
        &["8", "--software", "megatron"],
        &["8", "--recompute", "ful"],
    ];
    let lines: Vec<Vec<&str>> = cases.iter().map(|case| [&on[..], case].concat()).collect();
    refused("plans", &lines.iter().map(Vec::as_slice).collect::<Vec<_>>());
}

#[test]
fn run_files_and_settings() {
    let on: [&str; 4] = ["estimate", "llama-3-8b", "--cluster", "dgx-h100"];
    let set = |setting| [&on[..], &["--set", setting][..]].concat();
    let sets =
        [set("plan.tp"), set("plan.tpp=8"), set("plan.tensor_parallel=eight"), set("plan.tensor_parallel=")];
    let mut lines: Vec<&[&str]> = vec![
        &["estimate", "--run", "unknown-key.toml"],
        &["estimate", "--run", "wrong-type.toml"],
        &["estimate", "--run", "three-tensor-ranks.toml"],
        &["estimate", "--run", "not-toml.toml"],
        &["estimate", "--run", "a-folder"],
        &["estimate"],
    ];
    lines.extend(sets.iter().map(Vec::as_slice));
    refused("run_files_and_settings", &lines);
}

#[test]
fn usage() {
    refused(
        "usage",
        &[
            &["estimat"],
            &["estimate", "llama-3-8b", "--tpp", "8"],
            &["estimate", "llama-3-8b", "--cluster", "h100", "--format", "yaml"],
            &["estimate", "llama-3-8b", "--cluster", "h100", "-o", "x.yaml"],
            &["estimate", "llama-3-8b", "--cluster", "h100", "-o", "no/such/folder/x.json"],
            &["estimate", "llama-3-8b", "--cluster", "h100", "--why", "nothing"],
            &["memory", "llama-3-8b", "--cluster", "h100", "--stage", "9"],
            &["explain", "bubbel"],
            &["examples", "llama"],
            &["validate", "no-runs.csv"],
            &["validate", "a-folder"],
            &[
                "timeline",
                "llama-3-8b",
                "--cluster",
                "dgx-h100",
                "--gpus",
                "8",
                "--pp",
                "8",
                "--micro-batches",
                "9000000",
            ],
        ],
    );
}

#[test]
fn long_and_foreign_files_are_refused() {
    let outcome = run(&["estimate", "/dev/zero", "--cluster", "h100"]);
    if cfg!(target_os = "linux") {
        assert!(outcome.code == 2 && outcome.stderr.contains("the file is too large"), "{}", outcome.stderr);
    }
    let path = std::env::temp_dir().join(format!("railwright-{}-foreign.json", std::process::id()));
    for (bytes, hint) in
        [(&[0x1f, 0x8b, 8, 0][..], "cannot be decompressed"), (&[0xff, 0xfe, b'{', 0][..], "UTF-16")]
    {
        std::fs::write(&path, bytes).expect("a folder for temporary files");
        let outcome = run(&["estimate", path.to_str().expect("UTF-8"), "--cluster", "h100"]);
        assert!(outcome.code == 2 && outcome.stderr.contains(hint), "{}", outcome.stderr);
    }
    std::fs::remove_file(&path).expect("it was written");
    let outcome = run_with_stdin(&["estimate", "-", "--cluster", "h100"], "<!doctype html>");
    assert!(
        outcome.code == 2 && outcome.stderr.contains("standard input: this is a web page"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn errors_are_coloured_only_when_asked() {
    let line = ["gpus", "show", "h10"];
    let bytes = |mut command: std::process::Command| command.output().expect("starts").stderr;
    assert!(!bytes(program(&line)).contains(&0x1b), "a pipe is not a terminal");
    let coloured = program(&[&line[..], &["--color", "always"][..]].concat());
    assert!(bytes(coloured).contains(&0x1b));
    let mut forced = program(&line);
    forced.env("CLICOLOR_FORCE", "1");
    assert!(bytes(forced).contains(&0x1b));
    let mut refused = program(&line);
    refused.env("CLICOLOR_FORCE", "0").env("NO_COLOR", "1");
    assert!(!bytes(refused).contains(&0x1b));
}

#[test]
fn an_output_that_no_format_fits_is_refused_before_the_work() {
    let begun = std::time::Instant::now();
    // A search of this space takes minutes in a development build.
    let command = ["search", "deepseek-v3", "--cluster", "dgx-h100", "--gpus", "16384", "-o", "layouts.toml"];
    let transcript = rejected(&command);
    assert!(transcript.contains("`.toml`") && transcript.contains("--format"), "{transcript}");
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
fn common_words_lead_to_the_flag() {
    let transcript = rejected(&["estimate", "llama-3-8b", "--cluster", "dgx-h100", "--seq-len", "4096"]);
    assert!(transcript.contains("use `--sequence-length <N>`"), "{transcript}");
}

#[test]
fn a_script_that_doubles_a_text_is_refused_with_the_reason() {
    let folder = Folder::new("doubling");
    let path = folder.at("run.sh");
    let text =
        format!("#!/bin/bash\nA=x\n{}torchrun pretrain_gpt.py --num-layers $A\n", "A+=$A\n".repeat(60));
    std::fs::write(&path, text).expect("written");
    let outcome = run(&["estimate", &path, "--cluster", "dgx-h100"]);
    let expected = format!(
        "error: {path}: the expanded text of this script exceeds the limit, so its commands are unknown"
    );
    assert_eq!((outcome.code, outcome.stderr.lines().next()), (2, Some(expected.as_str())));
}

/// A value that the reader accepts and the check refuses is as much a mistake of the file as an unknown key.
#[test]
fn problems_of_a_cluster_file_have_its_name_and_line() {
    let folder = Folder::new("cluster-files");
    let path = folder.at("pod.toml");
    for (text, place, message) in [
        ("accelerator = \"h10\"\n", ":1:15 `cluster.accelerator`", "unknown accelerator `h10`"),
        ("preset = \"dgx-h10\"\n", ":1:10 `cluster.preset`", "unknown cluster `dgx-h10`"),
        (
            "preset = \"dgx-h100\"\ngpus_per_node = 0\n",
            ":2:17 `cluster.devices_per_node`",
            "the number of devices is 0",
        ),
        (
            "accelerator = \"h100\"\n[scale_up]\ndomain = 0\n",
            ":3:10 `cluster.scale_up.domain`",
            "the number of devices is 0",
        ),
        (
            "accelerator = \"h100\"\n[network]\nbandwidth = \"0 GB/s\"\n",
            ":3:13 `cluster.network.bandwidth`",
            "0 bytes per second is out of range (expected 1000000 to 1e15)",
        ),
        (
            "accelerator = \"h100\"\nmemory_bandwidth = 1e308\n",
            ":2:20 `cluster.memory_bandwidth`",
            "expected a value with a unit, such as `400 Gbit/s` or `50 GB/s`, found 1e308",
        ),
        ("[scale_up]\ndomain = 8\n", "", "neither `accelerator` nor `preset` is set"),
        ("", "", "neither `accelerator` nor `preset` is set"),
    ] {
        std::fs::write(&path, text).expect("written");
        for command in [
            &["estimate", "llama-3-8b", "--gpus", "64"][..],
            &["goodput", "--gpus", "64", "--checkpoint-time", "60 s"],
        ] {
            let outcome = run(&[command, &["--cluster", &path]].concat());
            let first = outcome.stderr.lines().next().unwrap_or_default();
            assert_eq!(
                (outcome.code, first),
                (2, format!("error: {path}{place}: {message}").as_str()),
                "{command:?}"
            );
        }
    }
    // A flag replaces the value of the file, and with it the place.
    let outcome = run(&["estimate", "llama-3-8b", "--cluster", "dgx-h100", "--devices-per-node", "0"]);
    assert!(
        outcome.stderr.starts_with("error: --devices-per-node: the number of devices is 0"),
        "{}",
        outcome.stderr
    );
}
