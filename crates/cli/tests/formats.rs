//! Every command with every format of file: it works, or it names the missing option or the right command.
//!
//! Responsible for: one table of files and one of commands. An error without a hint is a fault here, for any
//! reason.

use crate::support::run;

const ROOT: &str = "../../../..";

/// A format, a file of it (or a name), and the missing part of the run: the machine, or the model with the
/// machine.
const FILES: &[(&str, &str, Lacks)] = &[
    ("launch script", "examples/launch/llama3_70b.sh", Lacks::Machine),
    ("command line", "examples/launch/deepseek_v3_command.txt", Lacks::Machine),
    ("log", "examples/launch/mixtral_8x7b.log", Lacks::Machine),
    ("torchtitan", "examples/launch/llama3_8b_torchtitan.toml", Lacks::Devices),
    ("DeepSpeed", "examples/launch/zero3.json", Lacks::Model),
    ("run file", "examples/runs/llama-3-8b-fsdp.toml", Lacks::Nothing),
    ("config.json", "catalog/models/qwen2.5-0.5b.json", Lacks::Machine),
    ("model name", "llama-3-8b", Lacks::Machine),
];

#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Lacks {
    Nothing,
    Machine,
    Devices,
    Model,
}

/// Commands that price a run, with their further arguments.
const PREDICT: &[&[&str]] = &[
    &["estimate"],
    &["memory"],
    &["timeline"],
    &["balance"],
    &["sensitivity"],
    &["export", "--to", "megatron"],
    &["init"],
    &["network", "traffic"],
];

/// Commands that read recordings of a run.
const RECORDED: &[&str] = &["comm", "pipeline", "profile", "stragglers", "log"];

fn at(file: &str) -> String {
    if file.contains('/') { format!("{ROOT}/{file}") } else { file.to_owned() }
}

/// The exit codes of a result: predicted, does not fit, at risk.
fn is_answer(code: i32) -> bool {
    matches!(code, 0 | 1 | 4)
}

#[test]
fn a_run_of_any_format_is_predicted() {
    for command in PREDICT {
        for (format, file, lacks) in FILES {
            let mut line = command.to_vec();
            let file = at(file);
            line.push(&file);
            let bare = run(&line);
            if *lacks == Lacks::Nothing {
                let stages = command[0] == "balance" && bare.stderr.contains("--pipeline-parallel 2");
                assert!(stages || is_answer(bare.code), "{command:?} {format}: {}", bare.stderr);
                continue;
            }
            assert_eq!(bare.code, 2, "{command:?} {format}: {}", bare.stdout);
            assert!(bare.stderr.contains("`--cluster dgx-h100"), "{command:?} {format}: {}", bare.stderr);
            let mut full = line.clone();
            full.extend(["--cluster", "dgx-h100"]);
            if *lacks == Lacks::Model {
                let refused = run(&full);
                assert_eq!(refused.code, 2, "{command:?} {format}: {}", refused.stdout);
                assert!(refused.stderr.contains("--launch"), "{command:?} {format}: {}", refused.stderr);
                full.extend(["--set", "model.name=llama-3-8b", "--seq", "4096"]);
            }
            if *lacks == Lacks::Devices {
                let refused = run(&full);
                assert_eq!(refused.code, 2, "{command:?} {format}: {}", refused.stdout);
                assert!(refused.stderr.contains("`--gpus 64`"), "{command:?} {format}: {}", refused.stderr);
                full.extend(["--gpus", "8"]);
            }
            let answer = run(&full);
            if command[0] == "balance" && answer.code == 2 {
                assert!(answer.stderr.contains("--pipeline-parallel 2"), "{format}: {}", answer.stderr);
                continue;
            }
            assert!(is_answer(answer.code), "{command:?} {format}: {}", answer.stderr);
        }
    }
}

#[test]
fn a_description_is_no_recording() {
    for command in RECORDED {
        for (format, file, _) in FILES.iter().filter(|(format, ..)| !matches!(*format, "log" | "model name"))
        {
            let refused = run(&[command, &at(file)]);
            assert_eq!(refused.code, 2, "{command} {format}: {}", refused.stdout);
            assert!(
                refused.stderr.contains("expected a trace or a log, found "),
                "{command} {format}: {}",
                refused.stderr
            );
            assert!(refused.stderr.contains("railwright estimate"), "{command} {format}: {}", refused.stderr);
        }
    }
}

#[test]
fn a_recording_is_no_description() {
    let trace = at("fixtures/traces/hta_samples/critical_path/cuda_event_sync/event_sync_trace.json.gz");
    for command in PREDICT {
        let mut line = command.to_vec();
        line.extend([trace.as_str(), "--cluster", "dgx-h100"]);
        let refused = run(&line);
        assert_eq!(refused.code, 2, "{command:?}: {}", refused.stdout);
        assert!(refused.stderr.contains("this is a trace"), "{command:?}: {}", refused.stderr);
    }
}
