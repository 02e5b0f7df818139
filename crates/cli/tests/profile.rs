//! Profiles of real traces, two of them compared, and invalid inputs.

use crate::support::{Folder, json, run, transcript};

const TRACES: &str = "../../../../fixtures/traces";
const CURRENT: &str = "../../../../fixtures/traces/modded_nanogpt_h100/ab/current-rank0.json.gz";
const HOOK: &str = "../../../../fixtures/traces/modded_nanogpt_h100/ab/hook-rank0.json.gz";

#[test]
fn reports_of_real_traces() {
    let mut text = String::new();
    for line in [
        &[
            "profile",
            CURRENT,
            "--model-flops",
            "1.6e14",
            "--step",
            "12",
            "--depth",
            "4",
            "--top",
            "3",
            "--ascii",
        ][..],
        &[
            "profile",
            &format!("{TRACES}/param_dlrm_8r"),
            "--rank",
            "3",
            "--depth",
            "2",
            "--top",
            "0",
            "--format",
            "md",
        ],
        &["profile", &format!("{TRACES}/megatron_tp2_v100/rank*"), "--format", "csv"],
    ] {
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn comparisons_of_real_traces() {
    let mut text = String::new();
    for line in [
        &["compare", CURRENT, HOOK, "--fail-if", "step_time>+3%", "--top", "5"][..],
        &["compare", &format!("{TRACES}/../runs/tiny-gpt-tp2.toml"), &format!("{TRACES}/megatron_tp2_v100")],
    ] {
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

/// A run has format, ranks and process groups; a log of another run causes a warning. Two steps on one H100
/// with torch 2.11, recorded for this repository: advice matches the recorded kernels.
#[test]
fn advice_on_steps_measured_here_follows_their_kernels() {
    let profile =
        |file: &str| json(&["profile", &format!("{TRACES}/h100_torch211/{file}.json.gz"), "--json"], 0);
    let finding = |profile: &serde_json::Value, id: &str| {
        let all = profile["findings"].as_array().expect("findings");
        all.iter().find(|finding| finding["id"] == id).unwrap_or_else(|| panic!("no {id}: {all:?}")).clone()
    };
    // AdamW with `fused=True` on one rank: nothing remains to fuse, and there is no replica to shard over.
    let compiled = profile("titan-compile-tiny");
    let optimizer = finding(&compiled, "optimizer");
    let advice = optimizer["advice"].as_str().expect("advice");
    assert!(!advice.contains("fuse ") && !advice.contains("shard"), "{optimizer}");
    assert!(optimizer["evidence"].to_string().contains("many tensors at once"), "{optimizer}");
    // GPT-2's 50,257 outputs are the slowest GEMMs of its step, and attention runs on cuDNN.
    let eager = profile("hf-tiny-gpt2");
    assert!(finding(&eager, "matrix-shapes").to_string().contains("50257"), "{eager}");
    assert!(finding(&eager, "below-roofline").to_string().contains("50257"), "{eager}");
}

#[test]
fn a_run_supplies_what_its_traces_lack() {
    let runs = format!("{TRACES}/../runs");
    let of = |traces: &str, file: &str, more: &[&str]| {
        let mut line = vec!["profile", traces, "--run", file, "--json"];
        line.extend(more);
        json(&line, 0)
    };
    // fp32 on V100, as the run computes: 14 TFLOP/s and not the matrix units' 112.
    let pair = of(&format!("{TRACES}/megatron_tp2_v100/rank*"), &format!("{runs}/tiny-gpt-tp2.toml"), &[]);
    assert_eq!(pair["peak"]["data_type"], "fp32", "{}", pair["peak"]);
    // One rank of eight was traced, without group dimensions; the run has data parallelism only.
    let beside = run(&["compare", &format!("{runs}/modded-nanogpt-dp8.toml"), CURRENT]);
    assert!(beside.stdout.contains("exposed data communication"), "{}", beside.stdout);
    assert!(!beside.stdout.contains("exposed other communication"), "{}", beside.stdout);
    let other =
        of(&format!("{TRACES}/megatron_tp2_v100/rank*"), &format!("{runs}/modded-nanogpt-dp8.toml"), &[]);
    let ids: Vec<&str> =
        other["warnings"].as_array().expect("doubts").iter().filter_map(|w| w["id"].as_str()).collect();
    assert!(ids.contains(&"trace-other-run"), "{ids:?}");
}

/// A prediction compared with traces accepts a calibration and changes of the run; two measurements do not.
#[test]
fn the_prediction_beside_traces_is_calibrated_and_changed() {
    let (run_file, traces) =
        (format!("{TRACES}/../runs/tiny-gpt-tp2.toml"), format!("{TRACES}/megatron_tp2_v100"));
    let file = std::env::temp_dir().join(format!("railwright-compare-{}.toml", std::process::id()));
    let file = file.to_string_lossy().into_owned();
    let fitted = run(&["calibrate", &traces, "--run", &run_file, "-o", &file]);
    assert_eq!(fitted.code, 0, "{}", fitted.stderr);
    let predicted = |more: &[&str]| {
        let mut line = vec!["compare", &run_file, &traces, "--json"];
        line.extend(more);
        json(&line, 0)["step_time_ns"]["first"].as_f64().expect("a time") * 1e-9
    };
    let estimated = |more: &[&str]| {
        let mut line = vec!["estimate", "--run", &run_file, "--json"];
        line.extend(more);
        json(&line, 0)["step_time"].as_f64().expect("a time")
    };
    let mut seen = Vec::new();
    for more in [&[][..], &["--calibration", &file], &["--set", "plan.micro_batch=4"]] {
        let (beside, alone) = (predicted(more), estimated(more));
        assert!((beside / alone - 1.0).abs() < 1e-6, "{more:?}: {beside} {alone}");
        seen.push(beside);
    }
    // The host of this pair costs far more than the generation's.
    assert!(seen[1] > 1.5 * seen[0] && seen[2] > 1.01 * seen[0], "{seen:?}");
    let unknown = run(&["compare", &run_file, &traces, "--set", "plan.micro_bach=4"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("micro_batch"), "{}", unknown.stderr);
    let two = run(&["compare", CURRENT, HOOK, "--calibration", &file]);
    assert!(two.code == 2 && two.stderr.contains("both sides are measured"), "{}", two.stderr);
    let _ = std::fs::remove_file(&file);
}

/// A late rank is not a transfer: its wait is separate from the predicted communication, with its name.
#[test]
fn waiting_for_a_rank_is_no_exposed_communication() {
    let compared = json(
        &[
            "compare",
            &format!("{TRACES}/../runs/tiny-gpt-tp2.toml"),
            &format!("{TRACES}/megatron_tp2_v100"),
            "--json",
        ],
        0,
    );
    let figure = |name: &str| {
        let all = compared["figures"].as_array().expect("figures");
        let found = all.iter().find(|figure| figure["name"] == name).unwrap_or_else(|| panic!("no {name}"));
        (found["first"].as_f64().expect("a time"), found["second"].as_f64().expect("a time"))
    };
    // 13 all-reduces of 19 us and little else, and 24 ms for the rank whose profiler starts late.
    let (_, transfers) = figure("exposed_communication");
    assert!((1e5..4e5).contains(&transfers), "{transfers}");
    let (predicted, waits) = figure("waiting");
    assert!(waits > 2e7 && predicted < 0.01 * waits, "{predicted} {waits}");
    let labels = compared["labels"].as_array().expect("labels");
    assert!(labels.iter().any(|row| row["name"] == "waiting for other ranks"), "{labels:?}");
    assert_eq!(compared["waited_for"][0]["rank"], 0, "{}", compared["waited_for"]);
    // With one rank, the cause of its waits is unknown.
    let alone = run(&["compare", &format!("{TRACES}/../runs/modded-nanogpt-dp8.toml"), CURRENT]);
    assert!(alone.stdout.contains("because the other ranks were not"), "{}", alone.stdout);
}

/// Traces of another run cause a warning about their number of ranks and their device; those of the run do
/// not.
#[test]
fn traces_of_another_run_are_doubted() {
    let runs = format!("{TRACES}/../runs");
    let doubts = |run_file: &str, traces: &str| {
        let compared = json(&["compare", &format!("{runs}/{run_file}"), traces, "--json"], 0);
        compared["warnings"].to_string()
    };
    let pair = format!("{TRACES}/megatron_tp2_v100");
    let other = doubts("modded-nanogpt-dp8.toml", &pair);
    for part in [
        "runs-not-alike",
        "the number of devices is 2 in the measurement and 8 in the run",
        "the traced device is a v100-pcie-32gb",
    ] {
        assert!(other.contains(part), "{part}: {other}");
    }
    for (run_file, traces) in [("modded-nanogpt-dp8.toml", CURRENT), ("tiny-gpt-tp2.toml", pair.as_str())] {
        let own = doubts(run_file, traces);
        assert!(!own.contains("another run"), "{run_file}: {own}");
    }
    // A mixture on one of two sides: with one of its jobs instead, the command works.
    let mixed = run(&["compare", TRACES, CURRENT]);
    assert_eq!(mixed.code, 2, "{}", mixed.stdout);
    let hint = mixed.stderr.lines().find(|line| line.starts_with("hint:")).expect("a hint").to_owned();
    assert!(hint.contains("pass one of them instead, as in"), "{hint}");
    let named = hint.split('`').nth(1).expect("a path").trim_matches('\'');
    let works = run(&["compare", named, CURRENT]);
    assert_eq!(works.code, 0, "{named}: {}", works.stderr);
}

#[test]
fn what_is_no_trace_is_handed_to_its_command() {
    for (path, kind, command) in [
        ("primus_pp8_mi300/pp8", "pipeline", "pipeline"),
        ("logs/megatron_deepspeed_gpt3_0.125B_moe.log.gz", "log", "log"),
        ("generated_torch215_gloo_pp2dp2/fr_ok_trace_rank_*.pickle", "hang", "hang"),
        ("xpu_timer_metrics", "communication", "comm"),
    ] {
        let outcome = run(&["profile", &format!("{TRACES}/{path}"), "--json"]);
        assert_eq!(outcome.code, 0, "{path}: {}", outcome.stderr);
        let value: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        assert_eq!(value["kind"], kind, "{path}");
        assert!(
            outcome.stderr.contains(&format!("running `railwright {command}`")),
            "{path}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn a_rank_cut_short_costs_itself() {
    let folder = std::env::temp_dir().join(format!("railwright-cut-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let of = format!("{}/tests/inputs/{TRACES}/param_dlrm_8r", env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(of).expect("traces") {
        let path = entry.expect("a file").path();
        let (name, mut bytes) = (path.file_name().expect("a name"), std::fs::read(&path).expect("bytes"));
        if name.to_string_lossy().starts_with("worker3") {
            bytes.truncate(20_000);
        }
        std::fs::write(folder.join(name), bytes).expect("written");
    }
    let value = json(&["profile", &folder.to_string_lossy(), "--json"], 0);
    std::fs::remove_dir_all(&folder).expect("removed");
    assert_eq!((&value["ranks"], &value["missing_ranks"]), (&7.into(), &serde_json::json!([3])));
    let ids: Vec<&str> =
        value["warnings"].as_array().expect("warnings").iter().filter_map(|w| w["id"].as_str()).collect();
    assert!(ids.contains(&"trace-no-device"), "{ids:?}");
    // Host rows are not read as device rows: the kernels are kernels.
    let kernels = value["kernels"].as_array().expect("kernels");
    assert!(kernels.iter().all(|k| !k["name"].as_str().unwrap_or("aten::").starts_with("aten::")));
}

#[test]
fn a_truncated_trace_is_reported_above_the_breakdown() {
    let of = format!("{}/tests/inputs/{TRACES}/param_dlrm_8r", env!("CARGO_MANIFEST_DIR"));
    for (left, words) in
        [(0.9, "is truncated; the report covers the part before"), (0.1, "is truncated before them")]
    {
        let folder = Folder::new("truncated");
        for entry in std::fs::read_dir(&of).expect("traces") {
            let path = entry.expect("a file").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let mut bytes = std::fs::read(&path).expect("bytes");
            if name.starts_with("worker3") {
                bytes.truncate((bytes.len() as f64 * left) as usize);
            }
            folder.put(&name, &bytes);
        }
        let text = run(&["profile", &folder.at("")]).stdout;
        let (head, _) = text.split_once("step breakdown").expect("a breakdown");
        let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(head.contains("worker3") && head.contains(words), "{head}");
    }
}

#[test]
fn exports_of_nsight_are_read_from_files_folders_and_archives() {
    let folder = std::env::temp_dir().join(format!("railwright-nsight-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let bytes =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/table_file/nsight.sqlite"));
    let bytes = bytes.expect("an export");
    let file = folder.join("report.sqlite");
    std::fs::write(&file, &bytes).expect("written");
    let of = |path: &std::path::Path| {
        let mut value = json(&["profile", &path.to_string_lossy(), "--json"], 0);
        // Only title and warnings may differ.
        value.as_object_mut().expect("an object").retain(|key, _| key != "title" && key != "warnings");
        value
    };
    let alone = of(&file);
    assert!(alone["kernels"].as_array().is_some_and(|kernels| !kernels.is_empty()), "{alone}");
    assert_eq!(of(&folder), alone);
    let glob = json(&["profile", &format!("{}/*.sqlite", folder.display()), "--json"], 0);
    assert_eq!(glob["kernels"], alone["kernels"]);
    let archive = std::env::temp_dir().join(format!("railwright-nsight-{}.tar", std::process::id()));
    let mut builder = tar::Builder::new(std::fs::File::create(&archive).expect("a file"));
    builder.append_path_with_name(&file, "report.sqlite").expect("added");
    builder.finish().expect("finished");
    assert_eq!(of(&archive), alone);
    std::fs::remove_dir_all(&folder).expect("removed");
    std::fs::remove_file(&archive).expect("removed");
}

#[test]
fn files_beside_projected_ranges_give_rank_and_device() {
    let value = json(&["profile", &format!("{TRACES}/jaxtoolbox_nsys_fsdp4"), "--json"], 0);
    assert_eq!((&value["device"], &value["ranks"]), (&"NVIDIA A100-SXM4-40GB".into(), &2.into()));
    let warnings = value["warnings"].as_array().expect("warnings");
    assert!(warnings.iter().all(|w| w["id"] != "trace-unknown-rank"), "{warnings:?}");
}

#[test]
fn a_condition_that_is_met_is_a_no() {
    let outcome = run(&[
        "compare",
        CURRENT,
        HOOK,
        "--fail-if",
        "exposed_communication<-1%",
        "--fail-if",
        "step_time>+50%",
    ]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("met: exit code 1"), "{}", outcome.stdout);
}

#[test]
fn the_parts_of_the_json_add_up() {
    let answer = json(&["profile", &format!("{TRACES}/param_dlrm_8r"), "--json"], 0);
    let lines = answer["lines"].as_array().expect("lines");
    let sum =
        |list: &[serde_json::Value], key: &str| list.iter().filter_map(|v| v[key].as_i64()).sum::<i64>();
    let total = sum(lines, "time");
    let of_steps: i64 =
        answer["steps"].as_array().expect("steps").iter().filter_map(|s| s["duration"].as_i64()).sum();
    assert_eq!(total, of_steps * answer["ranks"].as_i64().expect("a number"));
    assert_eq!(total, sum(answer["tree"].as_array().expect("a tree"), "time"));
}

#[test]
fn mistakes_are_reported() {
    let mut text = String::new();
    for line in [
        &["profile", "no-such-folder"][..],
        &["profile", "a-folder"],
        &["profile", "runs.csv"],
        &["profile", CURRENT, "--step", "99"],
        &["profile", CURRENT, "--rank", "5"],
        &["profile", CURRENT, "--model-flops", "-1"],
        &["profile", CURRENT, "--model-flops", "1e15", "--accelerator", "h1000"],
        &["profile", CURRENT, "--precision", "bf17"],
        &["profile", CURRENT, "--layout", "tp=2,xp=4"],
        &["profile", CURRENT, "--families", "wrong-type.toml"],
        &["compare", CURRENT, HOOK, "--fail-if", "step_time"],
        &["compare", CURRENT, HOOK, "--fail-if", "step_tiem>3%"],
        &["compare", "wrong-type.toml", "wrong-type.toml"],
    ] {
        let outcome = run(line);
        assert_eq!(outcome.code, 2, "{line:?}: {}", outcome.stderr);
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn tables_of_another_tool() {
    let ranks = format!("{TRACES}/megatron_tp2_v100/rank*");
    let answer = json(&["profile", &ranks, "--compat", "hta", "--json"], 0);
    // The values that HTA reports for rank 1, whose device waits for rank 0.
    assert_eq!(answer["temporal"][1]["non_compute_time"], 48303);
    assert_eq!(answer["temporal"][1]["non_compute_percent"], 82.82);
    assert_eq!(answer["overlap"][0]["overlap_percent"], 37.15);
    let refused = run(&["profile", &ranks, "--compat", "tensorboard"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}

#[test]
fn a_memory_snapshot_is_broken_down_and_compared_with_a_run() {
    let file = "../../../../fixtures/memory_snapshot/training.pickle";
    let run = "../../../../examples/runs/llama-3-8b-fsdp.toml";
    let answer = json(&["memory-snapshot", file, "--run", run, "--json"], 0);
    // Printed by fixtures/memory_snapshot/make.py.
    assert_eq!(answer["devices"][0]["peak_allocated_bytes"], 312_250_468);
    assert!(answer["predicted"]["allocated_bytes"].as_f64().expect("bytes") > 0.0);
}
