//! Launch files: reports, prediction and measurement, and export.

use crate::support::{json, rejected, run, run_with_stdin, transcript};
use std::fs;

const SCRIPT: &str = "../../../../examples/launch/llama3_70b.sh";
const LOG: &str = "../../../../examples/launch/mixtral_8x7b.log";

/// A file of another framework than the priced one is that framework's own run, and the difference is listed.
#[test]
fn an_export_names_only_software_of_its_framework() {
    let of = |cluster: &str, to: &str| {
        run(&[
            "export",
            "llama-3-8b",
            "--cluster",
            cluster,
            "--gpus",
            "64",
            "--fsdp",
            "--gbs",
            "256",
            "--to",
            to,
        ])
    };
    let megatron = of("dgx-h100", "megatron");
    assert_eq!(megatron.code, 0, "{}", megatron.stderr);
    assert!(!megatron.stdout.contains("torchtitan"), "{}", megatron.stdout);
    assert!(megatron.stderr.contains("`plan.software`"), "{}", megatron.stderr);
    assert!(
        megatron.stderr.contains("`megatron-core-2025` instead of `torchtitan-2025`"),
        "{}",
        megatron.stderr
    );
    let tpu = of("tpu-v5p-pod", "megatron");
    assert!(tpu.stderr.contains("`maxtext-tpu`") && !tpu.stdout.contains("maxtext-tpu"), "{}", tpu.stderr);
    let torchtitan = of("dgx-h100", "torchtitan");
    assert!(!torchtitan.stderr.contains("`megatron"), "{}", torchtitan.stderr);
    let search = run(&["search", "llama-3-8b", "--cluster", "tpu-v5p-pod", "--gpus", "64"]);
    let found = format!("{}{}", search.stdout, search.stderr);
    assert!(found.contains("export --to maxtext"), "{found}");
}

/// The warning on a different run has only what differs.
#[test]
fn a_dropped_vision_tower_is_a_difference_of_parameters() {
    let words = ["--cluster", "dgx-h100", "--gpus", "16", "--tp", "2", "--gbs", "128", "--to", "megatron"];
    let all: Vec<&str> = ["export", "qwen3-vl-8b"].into_iter().chain(words).collect();
    let outcome = run(&all);
    let warning =
        outcome.stderr.lines().find(|line| line.contains("the exported file differs from the plan"));
    let warning = warning.unwrap_or_else(|| panic!("{}", outcome.stderr));
    assert!(warning.contains(" parameters instead of ") && !warning.contains("per step"), "{warning}");
    assert!(!warning.contains("megatron-core"), "{warning}");
}

#[test]
fn detect_shows_every_line() {
    insta::assert_snapshot!("detect_script", transcript(&["detect", SCRIPT]));
    insta::assert_snapshot!("detect_log", transcript(&["detect", LOG]));
}

#[test]
fn detect_distinguishes_other_files() {
    let mut text = transcript(&["detect", "../../../../catalog/models/llama-2-7b.json"]);
    text.push_str(&transcript(&["detect", "../../../../examples/runs/llama-3.1-405b.toml"]));
    text.push_str(&transcript(&["detect", "../../../../README.md"]));
    insta::assert_snapshot!("detect_others", text);
}

#[test]
fn a_log_gives_prediction_and_truth() {
    let answer = json(&["estimate", LOG, "--cluster", "dgx-h100", "--json", "--quiet"], 0);
    assert_eq!(answer["plan"]["expert_parallel"], 8);
    let rows = answer["comparisons"].as_array().expect("comparisons");
    let figures: Vec<&str> = rows.iter().filter_map(|row| row["figure"].as_str()).collect();
    assert_eq!(
        figures,
        ["step_time", "tokens_per_second_per_device", "tflops_per_device", "allocated", "reserved"]
    );
    // 5.41 s and 241 TFLOP/s as printed; the log's own arithmetic agrees with ours at the same step time to
    // 2%.
    let of = |row: usize, key: &str| rows[row][key].as_f64().expect(key);
    assert!((of(0, "measured") - 5.4106).abs() < 1e-6);
    let flop_measured = of(2, "measured") * of(0, "measured");
    let flop_predicted = of(2, "predicted") * of(0, "predicted");
    assert!((flop_predicted / flop_measured - 1.0).abs() < 0.02, "{flop_predicted} {flop_measured}");
    // Memory is within a quarter of the value that the ranks reported.
    assert!(of(3, "difference").abs() < 0.25 && of(4, "difference").abs() < 0.25, "{rows:?}");
    let report = run(&["estimate", LOG, "--cluster", "dgx-h100"]);
    assert!(
        report.stdout.contains("measured vs. predicted")
            && report.stderr.contains("is the log of a Megatron-LM run")
    );
}

#[test]
fn flags_win_over_the_file_and_every_command_takes_it() {
    let base = json(&["estimate", SCRIPT, "--cluster", "dgx-h100", "--json", "--quiet"], 0);
    assert_eq!(
        (base["plan"]["tensor_parallel"].as_u64(), base["plan"]["global_batch"].as_u64()),
        (Some(8), Some(256))
    );
    assert_eq!(base["model"]["name"], "llama3_70b");
    let other = json(
        &[
            "estimate",
            "--launch",
            SCRIPT,
            "--cluster",
            "h200",
            "--gbs",
            "512",
            "--gpus",
            "128",
            "--json",
            "--quiet",
        ],
        0,
    );
    assert_eq!(
        (other["plan"]["data_parallel"].as_u64(), other["plan"]["global_batch"].as_u64()),
        (Some(4), Some(512))
    );
    let named = json(
        &[
            "estimate",
            "llama-3-8b",
            "--launch",
            SCRIPT,
            "--cluster",
            "dgx-h100",
            "--vp",
            "1",
            "--json",
            "--quiet",
        ],
        0,
    );
    assert_eq!(named["model"]["name"], "llama-3-8b");
    assert_eq!(run(&["memory", SCRIPT, "--cluster", "dgx-h100", "--json", "--quiet"]).code, 0);
    let text = fs::read_to_string("../../examples/launch/llama3_70b.sh").expect("the example");
    let piped = run_with_stdin(&["estimate", "-", "--cluster", "dgx-h100", "--json", "--quiet"], &text);
    assert_eq!(piped.code, 0, "{}", piped.stderr);
}

#[test]
fn what_is_exported_is_read_back() {
    let run_flags = [
        "llama-3.1-70b",
        "--cluster",
        "dgx-h100",
        "--gpus",
        "64",
        "--tp",
        "8",
        "--pp",
        "4",
        "--vp",
        "5",
        "--gbs",
        "256",
    ];
    let export = run(&[&["export"][..], &run_flags, &["--to", "megatron", "--quiet"]].concat());
    assert_eq!(export.code, 0, "{}", export.stderr);
    insta::assert_snapshot!("export_megatron", export.stdout);
    let back =
        run_with_stdin(&["estimate", "-", "--cluster", "dgx-h100", "--json", "--quiet"], &export.stdout);
    let back: serde_json::Value = serde_json::from_str(&back.stdout).expect("JSON");
    let straight = json(&[&["estimate"][..], &run_flags, &["--json", "--quiet"]].concat(), 0);
    assert_eq!(back["plan"], straight["plan"]);
    assert_eq!(back["step_time"], straight["step_time"]);
}

#[test]
fn bad_launch_files_are_refused() {
    let lines: &[&[&str]] = &[
        &["estimate", LOG],
        &["estimate", "no-such.sh", "--cluster", "dgx-h100"],
        &["estimate", "--launch", "../../../../README.md", "--cluster", "dgx-h100"],
        &["estimate", SCRIPT, "--cluster", "dgx-h100", "--gpus", "40"],
        &["export", "llama-3-8b", "--cluster", "dgx-h100", "--to", "megatorn"],
        &["export", "llama-3-8b", "--cluster", "dgx-h100"],
        &["detect", "no-such.sh"],
    ];
    let mut text = String::new();
    for line in lines {
        text.push_str(&rejected(line));
    }
    let flags = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --tensor-model-parallel-size $TP --num-query-groups 3 --group-query-attention";
    for arguments in [
        &["estimate", "-", "--cluster", "dgx-h100"][..],
        &["estimate", "-", "--cluster", "dgx-h100", "--gpus", "8", "--mbs", "1", "--gbs", "8"],
    ] {
        let outcome = run_with_stdin(arguments, flags);
        assert_eq!(outcome.code, 2, "{}", outcome.stdout);
        text.extend(["$ railwright ", &arguments.join(" "), " < flags\n", &outcome.stderr, "\n"]);
    }
    insta::assert_snapshot!("bad_launch_files", text);
}

/// Scripts of a container name files of their repository by the container's path.
#[test]
fn a_path_of_a_container_is_found_by_its_end() {
    let root = std::env::temp_dir().join(format!("railwright-beside-{}", std::process::id()));
    let folder = root.join("scripts").join("models");
    fs::create_dir_all(&folder).expect("a folder");
    fs::create_dir_all(root.join(".git")).expect("a repository");
    fs::write(folder.join("x.sh"), "M=(--num-layers 7)\n").expect("a file");
    let script = root.join("scripts").join("run.sh").display().to_string();
    let detected = |path: &str| {
        let text = format!(
            "#!/bin/bash\nsource {path}\ntorchrun --nproc_per_node 8 pretrain_gpt.py ${{M[@]}} --hidden-size 512 \
             --num-attention-heads 8 --seq-length 512 --micro-batch-size 1 --global-batch-size 8 --bf16\n"
        );
        fs::write(&script, text).expect("a file");
        run(&["detect", &script]).stdout
    };
    let found = detected("/root/project/scripts/models/x.sh");
    assert!(found.contains("--num-layers 7") && found.contains("is read instead"), "{found}");
    let alone = detected("/root/project/x.sh");
    assert!(!alone.contains("--num-layers 7"), "a name alone is no evidence: {alone}");
    let _ = fs::remove_dir_all(&root);
}

/// A file for a framework with other features is priced as written. The command warns if that is a different
/// run.
#[test]
fn an_export_that_describes_another_run_warns() {
    let layout = [
        "llama-3-70b",
        "--cluster",
        "dgx-h100",
        "--gpus",
        "8",
        "--tp",
        "2",
        "--sharding",
        "fsdp",
        "--mbs",
        "1",
    ];
    let batch = ["--gbs", "64", "--seq", "4096", "--optimizer", "lora"];
    let of = |to: &str, more: &[&str]| {
        let words: Vec<&str> =
            ["export"].iter().chain(&layout).chain(more).chain(&["--to", to]).copied().collect();
        run(&words)
    };
    let axolotl = of("axolotl", &batch);
    assert_eq!(axolotl.code, 0, "{}", axolotl.stderr);
    assert!(axolotl.stderr.contains("the exported file is slower than the plan"), "{}", axolotl.stderr);
    let megatron = of("megatron", &["--gbs", "64", "--seq", "4096"]);
    assert!(!megatron.stderr.contains("the exported file"), "{}", megatron.stderr);
}
