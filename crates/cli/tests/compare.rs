//! `compare` with training logs: with the prediction of their run, with each other, and rejected inputs.

use crate::support::{json, run};

const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/logs");
const LAUNCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/launch");

#[test]
fn a_log_that_prints_its_arguments_is_held_against_its_prediction() {
    let log = format!("{LAUNCH}/mixtral_8x7b.log");
    let answer = json(&["compare", &log, "--cluster", "dgx-h100", "--json"], 0);
    let [predicted, measured] = [&answer["sides"][0], &answer["sides"][1]];
    assert_eq!((&predicted["kind"], &measured["kind"]), (&"predicted".into(), &"measured".into()));
    let estimate = json(&["estimate", &log, "--cluster", "dgx-h100", "--json"], 0);
    assert_eq!(predicted["step_time"], estimate["step_time"]);
    // Three reports have a median and no interval.
    assert!(measured["interval"].is_null(), "{measured}");
    let inside = measured["step_time"].as_f64() < predicted["interval"][1].as_f64();
    assert_eq!(answer["significant"], !inside, "{answer}");
}

#[test]
fn two_logs_differ_only_by_more_than_their_noise() {
    let of = |name: &str| format!("{LOGS}/{name}");
    let fast = json(
        &["compare", &of("maxtext.log"), &of("torchtitan.log"), "--fail-if", "step_time<-1%", "--json"],
        1,
    );
    assert_eq!((&fast["significant"], &fast["verdicts"][0]["met"]), (&true.into(), &true.into()));
    let change = fast["change"].as_f64().expect("a share");
    assert!((change - (4.97 / 5.104 - 1.0)).abs() < 1e-3, "{change}");
    let alike = [of("nemo2.log"), of("nemo2.log")];
    let same = json(&["compare", &alike[0], &alike[1], "--fail-if", "step_time>-1%", "--json"], 0);
    assert_eq!((&same["significant"], &same["verdicts"][0]["met"]), (&false.into(), &false.into()));
}

/// Logs of different jobs are compared with a warning that names the differences.
#[test]
fn logs_of_different_jobs_are_named() {
    let of = |name: &str| format!("{LAUNCH}/{name}");
    let answer = json(&["compare", &of("mixtral_8x7b.log"), &of("megatron_deepspeed_2022.log"), "--json"], 0);
    let warnings = answer["warnings"].as_array().expect("a list");
    let found = warnings.iter().find(|warning| warning["id"] == "runs-not-alike").expect("a warning");
    assert!(found["message"].as_str().expect("words").contains("`model.layers` 32 and 12"), "{found}");
}

/// A log is compared with the run that it belongs to: all settings that it prints count, not its batch alone.
#[test]
fn a_log_of_another_run_is_named() {
    let of = |name: &str| format!("{LAUNCH}/{name}");
    let (log, other) = (of("mixtral_8x7b.log"), of("megatron_deepspeed_2022.log"));
    let answer = json(&["compare", &log, "--launch", &other, "--cluster", "dgx-h100", "--json"], 0);
    let warnings = answer["warnings"].as_array().expect("a list");
    let found = warnings.iter().find(|warning| warning["id"] == "runs-not-alike").expect("a warning");
    let message = found["message"].as_str().expect("words");
    for part in [
        "the hidden size is 4,096 in the measurement and 768 in the run",
        "the tensor-parallel size is 2 in the measurement and 1 in the run",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn tokens_of_the_run_are_times_of_a_log_without_a_clock() {
    let answer = json(
        &[
            "compare",
            &format!("{LOGS}/torchtitan_no_clock.log"),
            "--launch",
            &format!("{LAUNCH}/llama3_8b_torchtitan.toml"),
            "--cluster",
            "h100",
            "--gpus",
            "8",
            "--json",
        ],
        0,
    );
    let measured = &answer["sides"][1];
    assert_eq!(measured["times_from"], "tokens_per_second");
    let seconds = measured["step_time"].as_f64().expect("seconds");
    // 128 sequences of 8,192 tokens on 8 GPUs at 3,305 tokens per second each.
    assert!((seconds - 128.0 * 8192.0 / 8.0 / 3305.0).abs() < 1e-6, "{seconds}");
}

#[test]
fn what_cannot_be_compared_is_reported() {
    let log = format!("{LOGS}/nanotron.log");
    let alone = run(&["compare", &log, "--cluster", "h100"]);
    assert_eq!(alone.code, 2);
    assert!(alone.stderr.contains("--launch FILE"), "{}", alone.stderr);
    let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces/megatron_tp2_v100");
    for line in [&["compare", &log, traces][..], &["compare", traces], &["compare", traces, "--launch", &log]]
    {
        let refused = run(line);
        assert_eq!(refused.code, 2, "{line:?}: {}", refused.stdout);
        assert!(refused.stderr.contains("hint"), "{}", refused.stderr);
    }
    let lines = format!("{LOGS}/hf_trainer_lines.log");
    let timeless = run(&["compare", &lines, &lines]);
    assert!(timeless.code == 2 && timeless.stderr.contains("trainer_state.json"), "{}", timeless.stderr);
}
