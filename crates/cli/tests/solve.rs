//! `recompute` and `balance`: properties in every format, and rejections. Predicted numbers are not fixed
//! here.

use crate::support::{json, rejected, run};
use serde_json::Value;

const LARGE: [&str; 12] = [
    "llama-3.1-405b",
    "--cluster",
    "dgx-h100",
    "--gpus",
    "1024",
    "--tp",
    "8",
    "--pp",
    "16",
    "--uneven",
    "--global-batch",
    "512",
];

fn with(command: &'static str, run: &[&'static str], more: &[&'static str]) -> Vec<&'static str> {
    [&[command][..], run, more].concat()
}

fn number(answer: &Value, pointer: &str) -> f64 {
    answer.pointer(pointer).and_then(Value::as_f64).expect(pointer)
}

/// The first case study: without recompute it does not fit, with full recompute it does, and the result is at
/// least a fifth faster. Gradients as in the published study of recompute; Megatron-Core keeps them in fp32
/// by default.
const SIXTEEN_BIT_GRADIENTS: [&str; 4] =
    ["--precision-gradients", "bf16", "--precision-gradient-reduce", "bf16"];

#[test]
fn selective_recompute_of_405b_gains_a_fifth() {
    let large = [&LARGE[..], &SIXTEEN_BIT_GRADIENTS].concat();
    let answer = json(&with("recompute", &large, &["--json"]), 0);
    let step = |which: &str| number(&answer, &format!("/recompute/{which}/step_time"));
    assert_eq!(answer.pointer("/recompute/none/fits"), Some(&Value::Bool(false)));
    assert_eq!(answer.pointer("/recompute/full/fits"), Some(&Value::Bool(true)));
    assert!(step("full") / step("uniform") > 1.2 && step("uniform") >= step("best"));
    assert_eq!(answer["recompute"]["kinds"][0]["kind"], "activations");
    assert!(number(&answer, "/recompute/kinds/0/share") > 0.5);
    assert!(number(&answer, "/recompute/gap").abs() < 1e-9);
    let stages = answer["recompute"]["stages"].as_array().expect("stages");
    assert_eq!(stages.len(), 16);
    for stage in stages {
        assert!(number(stage, "/probability_of_fitting") > 0.9 - 1e-6, "{stage}");
        assert!(number(stage, "/memory") <= number(&answer, "/recompute/limit") * 1.000_001);
    }
    // The plan of the result is valid: estimating it gives the same step.
    let path = std::env::temp_dir().join(format!("railwright-solve-{}.toml", std::process::id()));
    let file = path.to_str().expect("a path");
    let saved = run(&[&["recompute"][..], &large, &["--save", file]].concat());
    assert_eq!(saved.code, 0, "{}", saved.stderr);
    let again = json(&["estimate", "--run", file, "--json"], 0);
    assert!((number(&again, "/step_time") / step("best") - 1.0).abs() < 1e-9);
    let _ = std::fs::remove_file(path);
}

#[test]
fn flags_give_what_is_equal_on_all_stages() {
    let answer = run(&with("recompute", &LARGE, &["--uniform", "-v"]));
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    for line in ["--recompute-granularity", "[activation_checkpoint]", "memory without recompute", "per GiB"]
    {
        assert!(answer.stdout.contains(line), "`{line}` is missing in\n{}", answer.stdout);
    }
    let csv = run(&with("recompute", &LARGE, &["--format", "csv"]));
    assert_eq!(csv.stdout.lines().count(), 17, "{}", csv.stdout);
    let markdown = run(&with("recompute", &LARGE, &["--format", "md"]));
    assert!(markdown.stdout.contains("| --- |") || markdown.stdout.contains("|---"), "{}", markdown.stdout);
}

/// The second case study: a vocabulary of 262,144 on the last of eight stages.
#[test]
fn a_heavy_head_is_balanced() {
    let gemma =
        ["gemma-3-27b", "--cluster", "dgx-h100", "--gpus", "256", "--tp", "4", "--pp", "8", "--uneven"];
    let answer = json(&with("balance", &gemma, &["--global-batch", "512", "--json"]), 0);
    let gain = number(&answer, "/balance/gain");
    assert!((0.05..0.35).contains(&gain), "{gain}");
    assert!(number(&answer, "/balance/best/idle") < number(&answer, "/balance/before/idle"));
    let layers = answer["balance"]["best"]["layers"].as_array().expect("layers");
    assert!(layers[7].as_u64() < layers[1].as_u64());
    assert_eq!(layers.iter().filter_map(Value::as_u64).sum::<u64>(), 62);
    assert_eq!(answer["plan"]["layers_per_stage"], answer["balance"]["best"]["layers"]);
    let csv = run(&with("balance", &gemma, &["--global-batch", "512", "--format", "csv"]));
    assert_eq!(csv.stdout.lines().count(), 9, "{}", csv.stdout);
}

/// Layers that do not divide evenly are the purpose of `balance`; its memory is that of an estimate, in both
/// solvers.
#[test]
fn balance_spreads_by_itself_and_memory_is_that_of_an_estimate() {
    let gemma = ["gemma-3-27b", "--cluster", "dgx-h100", "--gpus", "256", "--tp", "4", "--pp", "8"];
    let batch = ["--global-batch", "512", "--json"];
    let answer = json(&with("balance", &gemma, &batch), 0);
    let estimate = json(&with("estimate", &gemma, &["--uneven", "--global-batch", "512", "--json"]), 0);
    let memory = number(&estimate, "/memory/peak");
    assert!((number(&answer, "/balance/before/memory") / memory - 1.0).abs() < 1e-9);
    let none = json(&with("recompute", &gemma, &["--uneven", "--global-batch", "512", "--json"]), 0);
    assert!((number(&none, "/recompute/none/memory") / memory - 1.0).abs() < 1e-9);
    let text = run(&with("balance", &gemma, &batch[..2]));
    assert!(
        text.stdout.contains("\n\nfor torchtitan") && text.stdout.contains("]\n\nnext: "),
        "{}",
        text.stdout
    );
}

/// The choice matches the flags; a schedule without a bound has no proof.
#[test]
fn balance_reports_its_recompute_and_what_it_cannot_prove() {
    let chosen = run(&with("balance", &LARGE, &["--with-recompute", "--recompute", "none"]));
    assert_eq!(chosen.code, 0, "{}", chosen.stderr);
    for words in [
        "not expressible:",
        "recompute that differs by stage: set the recompute_* fields of the TransformerConfig of each stage",
        "which does not fit)",
    ] {
        assert!(chosen.stdout.contains(words), "`{words}` is missing in\n{}", chosen.stdout);
    }
    let both = ["llama-3-8b", "--cluster", "dgx-h100", "--gpus", "8", "--tp", "1", "--pp", "4"];
    let more = ["--schedule", "dualpipe", "--recompute", "full", "--micro-batches", "16"];
    let answer = run(&with("balance", &both, &more));
    assert!(answer.stdout.contains("the optimum"), "{}{}", answer.stdout, answer.stderr);
}

#[test]
fn nothing_fits_is_an_answer() {
    let tight = ["llama-3.1-405b", "--cluster", "dgx-h100", "--gpus", "1024", "--tp", "8", "--pp", "2"];
    let tight = [&tight[..], &SIXTEEN_BIT_GRADIENTS].concat();
    let answer = run(&with("recompute", &tight, &[]));
    assert_eq!(answer.code, 1, "{}{}", answer.stdout, answer.stderr);
    assert!(answer.stdout.contains("nothing fits") && answer.stdout.contains("--pp 4"), "{}", answer.stdout);
    let answer = run(&with("balance", &tight, &[]));
    assert_eq!(answer.code, 1, "{}{}", answer.stdout, answer.stderr);
    assert!(answer.stdout.contains("no layer assignment fits"), "{}", answer.stdout);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let small = ["llama-3-8b", "--cluster", "dgx-h100", "--gpus", "8"];
    let lines: Vec<Vec<&str>> = vec![
        with("balance", &small, &["--pp", "1", "--tp", "2"]),
        with("balance", &small, &["--pp", "4", "--fit-probability", "2"]),
        with("recompute", &small, &["--pp", "4", "--fit-probability", "nan"]),
        with("recompute", &small, &["--pp", "4", "--modules", "mpl"]),
        with("recompute", &small, &["--uniform", "--allow-offload"]),
        with("recompute", &small, &["--pp", "4", "--stage-recompute", "full,full"]),
        with("recompute", &small, &["--pp", "4", "--stage-recompute", "full:9,none*3"]),
        with("recompute", &small, &["--pp", "4", "--stage-recompute", "moe*4"]),
        with("recompute", &small, &["--pp", "4", "--stage-recompute", "full*4", "--recompute", "full"]),
        with("balance", &small, &["--pp", "4", "--stage-recompute", "full*4"]),
    ];
    let mut text = String::new();
    for line in &lines {
        text.push_str(&rejected(line));
    }
    insta::assert_snapshot!("refused_by_solvers", text);
}
