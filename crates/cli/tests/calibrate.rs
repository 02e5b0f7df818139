//! `calibrate`: measurements of real machines to constants, and predictions with them.
//!
//! Responsible for: the whole calibration on real traces and logs, also with held-out measurements, and
//! messages for invalid input.

use crate::support::{json, run, scratch};
use serde_json::Value;

const FIXTURES: &str = "../../../../fixtures";

fn path(file: &str) -> String {
    format!("{FIXTURES}/{file}")
}

fn line<'a>(answer: &'a Value, set: &str, name: &str) -> &'a Value {
    let lines = answer[set].as_array().unwrap_or_else(|| panic!("no {set}"));
    lines.iter().find(|l| l["name"] == name).unwrap_or_else(|| panic!("no {name} in {set}"))
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("no {key} in {value}"))
}

/// Relative errors of the predicted step, without and with the calibration.
fn step_errors(answer: &Value) -> (f64, f64) {
    let step = line(answer, "steps", "step");
    let measured = number(step, "measured");
    let off = |key: &str| (number(step, key) / measured - 1.0).abs();
    (off("before"), off("after"))
}

#[test]
fn an_h100_run_predicts_another_one_after_calibration() {
    let file = scratch("h100.toml");
    let (hook, current) = (
        path("traces/modded_nanogpt_h100/ab/hook-rank0.json.gz"),
        path("traces/modded_nanogpt_h100/ab/current-rank0.json.gz"),
    );
    let run_file = path("runs/modded-nanogpt-dp8.toml");
    let outcome = run(&["calibrate", &hook, "--run", &run_file, "-o", &file]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("products.bf16"), "{}", outcome.stdout);
    // Held out: another run of the job, before a change of its optimizer.
    let judged = json(&["calibrate", &current, "--run", &run_file, "--judge", &file, "--json"], 0);
    let products = line(&judged, "lines", "products.bf16");
    assert!(number(products, "error_before") > 0.15, "{products}");
    assert!(number(products, "error_after") < 0.04, "{products}");
    let (before, after) = step_errors(&judged);
    assert!(before > 0.5 && after < 0.10, "the step is off by {before} before and {after} after");
    let outcome = run(&["calibrate", &current, "--run", &run_file, "--judge", &file]);
    let verdict = outcome.stdout.lines().next().unwrap_or_default();
    assert!(verdict.starts_with("mean error "), "{verdict}");
    let first = outcome.stdout.lines().find(|line| line.starts_with(&file)).unwrap_or_default();
    assert!(first.contains("compared with"), "{}", outcome.stdout);
    let plain = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains("fitted to hook-rank0.json.gz"), "{}", outcome.stdout);
    let why = run(&["estimate", "--run", &run_file, "--calibration", &file, "--why", "operator"]);
    let plain = why.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains("products.bf16") && plain.contains("hook-rank0.json.gz"), "{}", why.stdout);
    // The calculator uses it wherever a run is priced.
    let bare = json(&["estimate", "--run", &run_file, "--json"], 0);
    let with = json(&["estimate", "--run", &run_file, "--calibration", &file, "--json"], 0);
    assert!(number(&with, "step_time") < 0.7 * number(&bare, "step_time"));
    assert_eq!(with["cluster"]["calibration"], file.as_str());
    let ids: Vec<&str> =
        with["provenance"].as_array().expect("foundations").iter().filter_map(|f| f["id"].as_str()).collect();
    assert!(ids.contains(&"operators.calibrated"), "{ids:?}");
    // A change without effect has no cost, so what-if also uses the calibration; for another accelerator it
    // reports that it does not.
    let whatif = |change: &str| {
        json(&["whatif", "--run", &run_file, "--calibration", &file, "--change", change, "--json"], 0)
    };
    let same = whatif("plan.global_batch=8");
    let text = same.to_string();
    assert!(!text.contains("calibration-left-out"), "{text}");
    let times: Vec<f64> = step_times(&same);
    // Two steps and their difference.
    assert!(
        times.len() >= 3 && times.iter().all(|t| *t == 0.0 || (t / times[0] - 1.0).abs() < 1e-9),
        "{times:?}"
    );
    assert_eq!(times.iter().filter(|t| **t == 0.0).count(), 1, "{times:?}");
    assert!((times[0] / number(&with, "step_time") - 1.0).abs() < 1e-9);
    assert!(whatif("cluster.preset=dgx-b200").to_string().contains("calibration-left-out"));
    let _ = std::fs::remove_file(&file);
}

/// Every step time in a result.
fn step_times(answer: &Value) -> Vec<f64> {
    match answer {
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, value)| match value.as_f64() {
                Some(time) if key == "step_time" => vec![time],
                _ => step_times(value),
            })
            .collect(),
        Value::Array(list) => list.iter().flat_map(step_times).collect(),
        _ => Vec::new(),
    }
}

/// Measurements on one accelerator cannot calibrate a run on another, and nothing is written.
#[test]
fn measurements_of_another_accelerator_than_the_runs_are_refused() {
    let file = scratch("other-accelerator.toml");
    let _ = std::fs::remove_file(&file);
    let (traces, run_file) = (path("traces/param_dlrm_8r"), path("runs/modded-nanogpt-dp8.toml"));
    let outcome = run(&["calibrate", &traces, "--run", &run_file, "-o", &file]);
    assert_eq!(outcome.code, 2, "{}", outcome.stdout);
    assert!(outcome.stderr.contains("the measurements are from a v100"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("uses h100-sxm5-80gb"), "{}", outcome.stderr);
    assert!(!std::path::Path::new(&file).exists());
}

#[test]
fn half_a_trace_predicts_the_other_half() {
    let trace = path("traces/modded_nanogpt_h100/ab/hook-rank0.json.gz");
    let answer =
        json(&["calibrate", &trace, "--hold-out", "--software", "torchtitan-2024-compile", "--json"], 0);
    let held = line(&answer, "held_out", "products.bf16");
    assert!(number(held, "error_before") > 0.15 && number(held, "error_after") < 0.04, "{held}");
}

#[test]
fn a_v100_pair_is_predicted_closer_and_its_waits_stay_apart() {
    let (traces, run_file) = (path("traces/megatron_tp2_v100"), path("runs/tiny-gpt-tp2.toml"));
    let answer = json(
        &["calibrate", &traces, "--run", &run_file, "--set", "plan.attention_kernel=unfused", "--json"],
        0,
    );
    let reduce = line(&answer, "lines", "all_reduce x2");
    assert!(number(reduce, "error_after") < number(reduce, "error_before"), "{reduce}");
    // Both ranks were traced, so it has a separate link model, which also predicts the second half of the
    // recording.
    let law = &answer["calibration"]["collective"][0];
    assert_eq!((law["operation"].as_str(), law["regime"].as_str()), (Some("all_reduce"), Some("sustained")));
    assert!(number(&law["evidence"], "uncertainty") > 0.0, "{law}");
    let held = json(
        &[
            "calibrate",
            &traces,
            "--run",
            &run_file,
            "--set",
            "plan.attention_kernel=unfused",
            "--hold-out",
            "--json",
        ],
        0,
    );
    let held = line(&held, "held_out", "all_reduce x2");
    assert!(number(held, "error_after") < number(held, "error_before"), "{held}");
    assert!(number(held, "error_after") < 0.10, "{held}");
    // A prediction excludes the time in which ranks waited for each other.
    let step = number(line(&answer, "steps", "step"), "measured");
    let waits = number(line(&answer, "steps", "waiting"), "measured");
    let outcome = |key: &str| number(line(&answer, "steps", "step"), key) / (step - waits);
    assert!(outcome("before") < 0.5, "{}", outcome("before"));
    assert!((0.8..1.2).contains(&outcome("after")), "{}", outcome("after"));
}

/// Two shapes in unlike stretches of work, and one measurement of attention: no fit to a part predicts the
/// rest, so the defaults are kept.
#[test]
fn an_mi300x_layer_is_predicted_no_worse_where_it_is_held_out() {
    let trace = path("traces/tracelens_samples/torch_compile_triton_trace.json.gz");
    let answer = json(&["calibrate", &trace, "--hold-out", "--json"], 0);
    assert_eq!(answer["calibration"]["accelerator"], "mi300x");
    for set in ["lines", "held_out"] {
        let products = line(&answer, set, "products.bf16");
        assert!(number(products, "error_after") <= number(products, "error_before"), "{set}: {products}");
    }
    let products = line(&answer, "lines", "products.bf16");
    assert!(number(products, "error_left_out") > number(products, "error_before"), "{products}");
    let remarks = answer["remarks"].to_string();
    for part in ["products.bf16: the default is kept", "attention.forward: the default is kept"] {
        assert!(remarks.contains(part), "{remarks}");
    }
    // A file without content is not written.
    let file = scratch("nothing.toml");
    let outcome = run(&["calibrate", &trace, "--hold-out", "-o", &file]);
    assert!(outcome.code == 2 && outcome.stderr.contains("nothing to write"), "{}", outcome.stderr);
    assert!(!std::path::Path::new(&file).exists());
}

/// One rank of two: its all-reduce times include waits and are reported as bounds.
#[test]
fn one_rank_of_two_bounds_its_collectives() {
    let trace = path("traces/megatron_tp2_v100/rank0*");
    let answer = json(&["calibrate", &trace, "--json"], 0);
    let reduce = line(&answer, "lines", "all_reduce x2");
    assert_eq!(reduce["is_bound"], true, "{reduce}");
    let rate = &answer["calibration"]["collective_rate"];
    assert!(rate.is_null() || number(rate, "rate") > 0.8, "{rate}");
    let outcome = run(&["calibrate", &trace]);
    assert!(outcome.stdout.contains("in the run, upper bound"), "{}", outcome.stdout);
}

#[test]
fn logs_of_nccl_tests_become_laws_and_a_network() {
    let file = scratch("nccl.toml");
    let logs = ["all_reduce", "all_gather", "reduce_scatter", "alltoall"]
        .map(|op| path(&format!("nccl_tests/h100-{op}-8.log")));
    let mut arguments = vec!["calibrate", "--nccl-tests"];
    arguments.extend(logs.iter().map(String::as_str));
    arguments.extend(["--cluster", "dgx-h100", "-o", &file]);
    let outcome = run(&arguments);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let shown = json(&["calibrate", "--show", &file, "--json"], 0);
    let laws = shown["calibration"]["collective"].as_array().expect("laws");
    assert_eq!(laws.len(), 4);
    // 1.75 x 1 GiB in the logged time is about 480 GB/s of bus bandwidth on H100 with NVLS.
    let reduce = laws.iter().find(|l| l["operation"] == "all_reduce").expect("all-reduce");
    assert!((430.0..560.0).contains(&number(reduce, "bandwidth_gb")), "{reduce}");
    assert!(laws.iter().all(|l| number(&l["evidence"], "error_after") < 0.08), "{laws:?}");
    // Tensor parallelism in the domain is priced with them.
    let llama = [
        "estimate",
        "llama-3-8b",
        "--cluster",
        "dgx-h100",
        "--gpus",
        "8",
        "--tp",
        "8",
        "--json",
        "--calibration",
        &file,
    ];
    let answer = json(&llama, 0);
    let sources: Vec<&str> = answer["communication"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|r| r["source"].as_str())
        .collect();
    assert!(sources.contains(&"calibrated"), "{sources:?}");
    let _ = std::fs::remove_file(&file);

    let across = path("nccl_tests/a100-all_reduce-16.log");
    let answer = json(&["calibrate", "--nccl-tests", &across, "--cluster", "a100-sxm4-40gb", "--json"], 0);
    let evidence = &answer["calibration"]["network"]["evidence"];
    // Two nodes of this kind were predicted well before: a fit must not lose that.
    assert!(number(evidence, "error_after") < number(evidence, "error_before") + 1e-3, "{evidence}");
    assert!(number(evidence, "error_after") < 0.06, "{evidence}");
    // The file records the measured range.
    let network = &answer["calibration"]["network"];
    assert_eq!((number(network, "from_domains"), number(network, "to_domains")), (2.0, 2.0));
    assert!(number(evidence, "uncertainty") > 0.0, "{evidence}");
}

/// A log with another batch, size and width than the run is rejected, with all differences listed.
#[test]
fn a_log_of_another_run_is_refused() {
    let log = path("traces/logs/megatron_deepspeed_gpt3_0.125B_moe.log.gz");
    let expected = |run_file: &str| run(&["calibrate", &log, "--run", run_file]);
    let outcome = expected(&path("runs/modded-nanogpt-dp8.toml"));
    assert_eq!(outcome.code, 2, "{}", outcome.stdout);
    for part in [
        "belongs to another run",
        "the global batch is 256 in the measurement and 8 in the run",
        "the sequence length is 2,048 in the measurement and 32,768 in the run",
        "the number of layers is 12 in the measurement and 11 in the run",
    ] {
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
    // Eight devices and width 768 are the same in both and not complained of.
    assert!(
        !outcome.stderr.contains("devices is") && !outcome.stderr.contains("the hidden size is"),
        "{}",
        outcome.stderr
    );
    // Without a run, the size of the traced job is used.
    let traces = path("traces/megatron_tp2_v100");
    let outcome = run(&["calibrate", &traces, &log]);
    assert_eq!(outcome.code, 2, "{}", outcome.stdout);
    assert!(outcome.stderr.contains("it used 8 devices, but the traced job has 2"), "{}", outcome.stderr);
}

/// A log that states its run needs no `--run`; without the hardware it is refused as before.
#[test]
fn a_log_is_its_own_run() {
    let log = path("traces/logs/megatron_deepspeed_gpt3_0.125B_moe.log.gz");
    let of = |more: &[&str]| {
        let mut line = vec!["calibrate", log.as_str(), "--cluster", "dgx-a100", "--json"];
        line.extend(more);
        json(&line, 0)
    };
    assert_eq!(of(&[])["calibration"], of(&["--run", &log])["calibration"]);
    let outcome = run(&["calibrate", &log]);
    assert_eq!(outcome.code, 2, "{}", outcome.stdout);
    assert!(outcome.stderr.contains("do not record their device"), "{}", outcome.stderr);
}

/// Every row shows whether it uses the calibration, and `--why` has the file, the source and the samples.
#[test]
fn validate_and_why_name_the_calibration() {
    let file = scratch("who.toml");
    let logs =
        ["all_reduce", "all_gather", "reduce_scatter"].map(|op| path(&format!("nccl_tests/h100-{op}-8.log")));
    let mut arguments = vec!["calibrate", "--nccl-tests"];
    arguments.extend(logs.iter().map(String::as_str));
    arguments.extend(["--cluster", "dgx-h100", "-o", &file]);
    assert_eq!(run(&arguments).code, 0);
    let why = run(&[
        "estimate",
        "llama-3-8b",
        "--cluster",
        "dgx-h100",
        "--gpus",
        "8",
        "--tp",
        "8",
        "--calibration",
        &file,
        "--why",
        "exposed.tensor",
    ]);
    assert_eq!(why.code, 0, "{}", why.stderr);
    let plain: String = why.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["who.toml", "measurements", "h100-", "alone"] {
        assert!(plain.contains(part), "{part}: {}", why.stdout);
    }
    // No row of the table ran on an H100: this is reported, and no row uses the calibration.
    let none = run(&["validate", "runs.csv", "--calibration", &file]);
    assert!(none.stdout.contains("no row ran on the accelerator of"), "{}", none.stdout);
    let text = std::fs::read_to_string(&file).expect("written").replace("h100-sxm5-80gb", "a100-sxm4-80gb");
    let text = text.replace("NVLink4", "NVLink3");
    std::fs::write(&file, text).expect("written");
    let answer = json(&["validate", "runs.csv", "--calibration", &file, "--json"], 0);
    let used =
        answer["rows"].as_array().expect("rows").iter().filter(|row| row["calibrated"] == true).count();
    assert_eq!(used, 3, "{answer}");
    assert_eq!(answer["calibration"]["rows"], 3);
    assert_eq!(answer["calibration"]["unchanged"], 0);
    assert_eq!(answer["calibration"]["with"]["rows"], 3);
    let without = number(&answer["calibration"]["without"]["step_time"], "bias");
    assert!((without - number(&answer["calibration"]["with"]["step_time"], "bias")).abs() > 1e-6, "{answer}");
    let plain = json(&["validate", "runs.csv", "--json"], 0);
    assert!((without - number(&plain["summary"]["overall"]["step_time"], "bias")).abs() < 1e-12);
    assert!(plain.get("calibration").is_none());
    let csv = run(&["validate", "runs.csv", "--calibration", &file, "--format", "csv"]);
    assert!(csv.stdout.lines().next().is_some_and(|head| head.ends_with(",calibrated")), "{}", csv.stdout);
    assert_eq!(csv.stdout.lines().filter(|line| line.ends_with(",yes")).count(), 3, "{}", csv.stdout);
    let _ = std::fs::remove_file(&file);
}

/// A log of small sizes determines latencies only: its noise must not become a bandwidth.
#[test]
fn small_sizes_keep_the_catalogues_bandwidth() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/nccl_tests/h100-all_gather-8.log"
    ))
    .expect("a log");
    let is_small = |line: &&str| {
        line.split_whitespace().next().and_then(|w| w.parse::<u64>().ok()).is_none_or(|size| size <= 65536)
    };
    let cut: Vec<&str> = text.lines().filter(is_small).collect();
    let log = scratch("small.log");
    std::fs::write(&log, cut.join("\n")).expect("written");
    let file = scratch("small.toml");
    let outcome = run(&["calibrate", "--nccl-tests", &log, "--cluster", "dgx-h100", "-o", &file]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("only the latency"), "{}", outcome.stdout);
    let run_of = |more: &[&str]| {
        let mut line = vec![
            "estimate",
            "llama-3.1-70b",
            "--cluster",
            "dgx-h100",
            "--gpus",
            "64",
            "--tp",
            "8",
            "--pp",
            "4",
            "--json",
        ];
        line.extend(more);
        number(&json(&line, 0), "step_time")
    };
    let (bare, with) = (run_of(&[]), run_of(&["--calibration", &file]));
    assert!((with / bare - 1.0).abs() < 0.05, "{bare} s became {with} s");
    let _ = (std::fs::remove_file(&file), std::fs::remove_file(&log));
}

#[test]
fn bad_input_is_reported() {
    let expected = |arguments: &[&str]| {
        let outcome = run(arguments);
        assert_eq!(outcome.code, 2, "{}{}", outcome.stdout, outcome.stderr);
        outcome.stderr
    };
    assert!(expected(&["calibrate"]).contains("no measurements to calibrate with"));
    assert!(expected(&["calibrate", "--nccl-tests", "nowhere.log"]).contains("nowhere.log"));
    let log = path("nccl_tests/h100-all_reduce-8.log");
    assert!(expected(&["calibrate", "--nccl-tests", &log, "--cluster", "dgx-h200x"]).contains("dgx-h200"));
    assert!(
        expected(&["calibrate", "--nccl-tests", &log, "--software", "torchtitan-2042"])
            .contains("torchtitan-2042")
    );
    assert!(expected(&["calibrate", "--show", &log]).contains("railwright calibrate"));
    assert!(
        expected(&["calibrate", "--nccl-tests", &log, "--cluster", "dgx-a100"]).contains("are from a h100")
    );
    let (h100, mi300) = (
        path("traces/modded_nanogpt_h100/ab/hook-rank0.json.gz"),
        path("traces/tracelens_samples/torch_compile_triton_trace.json.gz"),
    );
    assert!(expected(&["calibrate", &h100, &mi300]).contains("2 jobs found"));
    assert!(
        expected(&["calibrate", &path("runs/tiny-gpt-tp2.toml")])
            .contains("expected a trace or a log, found ")
    );
    // A calibration of another accelerator is rejected.
    let file = scratch("wrong.toml");
    assert_eq!(run(&["calibrate", &h100, "-o", &file]).code, 0);
    let refused =
        expected(&["estimate", "llama-3-8b", "--cluster", "mi300x", "--gpus", "8", "--calibration", &file]);
    assert!(refused.contains("is for `h100-sxm5-80gb`, but the cluster has `mi300x`"), "{refused}");
    let _ = std::fs::remove_file(&file);
    assert!(
        expected(&["estimate", "llama-3-8b", "--cluster", "dgx-h100", "--calibration", "nowhere.toml"])
            .contains("nowhere.toml")
    );
}
