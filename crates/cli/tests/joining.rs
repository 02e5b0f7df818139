//! Communication and stragglers of real traces in every format, and unjoinable inputs.

use crate::support::{json, transcript};

const TRACES: &str = "../../../../fixtures/traces";

fn at(folder: &str) -> String {
    format!("{TRACES}/{folder}")
}

#[test]
fn communication_of_real_jobs() {
    let mut text = String::new();
    let (torchrec, megatron) = (at("torchrec_v100_4r/sst_long_a2a_optimizer_3"), at("megatron_tp2_v100"));
    let param = at("param_dlrm_8r");
    for line in [
        &["comm", &torchrec, "--collectives", "3"][..],
        &["comm", &megatron, "--clocks", "align", "--format", "md"],
        &["comm", &megatron, "--layout", "dp=2", "--format", "csv"],
        &["comm", &param, "--ascii"],
    ] {
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn stragglers_of_real_jobs() {
    let mut text = String::new();
    for folder in ["torchrec_v100_4r/resnet18", "megatron_tp2_v100", "param_dlrm_8r"] {
        text.push_str(&transcript(&["stragglers", &at(folder)]));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn monitors_are_asked_as_traces_are() {
    let metrics = at("xpu_timer_metrics");
    let mut text = String::new();
    for line in [
        &["comm", "inspector.jsonl"][..],
        &["stragglers", "inspector.jsonl"],
        &["stragglers", &metrics],
        &["comm", &metrics, "--format", "md"],
    ] {
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
    let value = json(&["stragglers", "inspector.jsonl", "--json"], 1);
    let late = &value["nccl_inspector"]["late"];
    assert_eq!((&late[0]["rank"], &late[0]["is_straggler"]), (&2.into(), &true.into()));
    let named = &value["culprits"][0];
    assert_eq!((&value["verdict"], &value["replay_error"]), (&"straggler".into(), &serde_json::Value::Null));
    assert_eq!(
        (&named["kind"], &named["ranks"][0], &named["cost_s"]),
        (&"rank".into(), &2.into(), &serde_json::Value::Null)
    );
}

/// Speeds of kernels show no late host: without a slow chip the result is inconclusive, not no.
#[test]
fn speeds_alone_rule_out_no_straggler() {
    let folder = std::env::temp_dir().join(format!("railwright-speeds-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let gauge = |rank: u32| {
        format!(
            "# TYPE XPU_TIMER_MM_KERNEL_FLOPS gauge\nXPU_TIMER_MM_KERNEL_FLOPS{{rank=\"{rank}\",level=\"3\"}} 500\n"
        )
    };
    let file = folder.join("metrics.txt");
    std::fs::write(&file, (0..4).map(gauge).collect::<String>()).expect("a file");
    let value = json(&["stragglers", &file.to_string_lossy(), "--json"], 5);
    assert_eq!(value["verdict"], "cannot_tell");
    assert!(!value["reasons"].as_array().expect("reasons").is_empty());
    std::fs::remove_dir_all(&folder).expect("the folder again");
}

#[test]
fn json_holds_what_is_not_shown() {
    let value = json(&["comm", &at("megatron_tp2_v100"), "--json"], 0);
    assert_eq!(value["groups"][0]["label"], "tensor");
    assert_eq!(value["collectives"].as_array().map(Vec::len), Some(13));
    assert_eq!(value["collectives"][0]["parts"][1]["rank"], 1);
    let value = json(&["stragglers", &at("megatron_tp2_v100"), "--json"], 1);
    assert_eq!(value["ranks"][0]["rank"], 0);
}

#[test]
fn mistakes_are_reported() {
    let megatron = at("megatron_tp2_v100");
    let mut text = String::new();
    for line in [
        &["comm", &megatron, "--group", "tensr"][..],
        &["comm", &megatron, "--layout", "tp=2,xp=4"],
        &["comm", &megatron, "--layout", "tp=4"],
        &["comm", "no-such-folder"],
        &["stragglers", &at("generated_torch215_gloo_pp2dp2/fr_ok_rank_0.json")],
        &["stragglers", &megatron, "--kernels", &at("INDEX.csv")],
    ] {
        let transcript = transcript(line);
        // The report that follows a warning is another test's.
        text.push_str(transcript.split("--- stderr").last().unwrap_or_default());
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

/// Time before the first step is excluded if no other step has it: the end of a warm-up.
#[test]
fn stragglers_and_profile_have_one_step_time() {
    // The first is inconclusive.
    let jobs = [("resnet18", 5), ("sst_long_a2a_optimizer_3", 1), ("sst_long_a2a_optimizer_4", 1)];
    for (job, code) in jobs {
        let path = format!("{}/../../fixtures/traces/torchrec_v100_4r/{job}", env!("CARGO_MANIFEST_DIR"));
        let step = |command: &str, code: i32| {
            crate::support::json(&[command, &path, "--json"], code)["step_time_ns"].as_f64().expect("a time")
        };
        let (profile, stragglers) = (step("profile", 0), step("stragglers", code));
        assert!((stragglers / profile - 1.0).abs() < 0.01, "{job}: {stragglers} and {profile}");
    }
}
