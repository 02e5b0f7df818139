//! Devices of several kinds in one job: the same figures in every command, and refusals.

use crate::support::{json, rejected, run};

const RUN: [&str; 12] = [
    "llama-3-8b",
    "--cluster",
    "dgx-h100",
    "--gpus",
    "32",
    "--pools",
    "dgx-a100:16",
    "--tp",
    "4",
    "--pp",
    "4",
    "--quiet",
];

fn line<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command][..], &RUN, more].concat()
}

#[test]
fn commands_agree_and_name_both_kinds() {
    let estimate = json(&line("estimate", &["--json"]), 0);
    let step = estimate["step_time"].as_f64().expect("a time");
    assert_eq!(estimate["cluster"]["pools"][0]["first_rank"], 16);
    assert!(
        estimate["warnings"].to_string().contains("devices-of-several-kinds"),
        "{}",
        estimate["warnings"]
    );
    let balance = json(&line("balance", &["--json"]), 0);
    assert_eq!(balance["balance"]["before"]["step_time"].as_f64(), Some(step));
    let best = balance["balance"]["best"]["step_time"].as_f64().expect("a division");
    assert!(best < 0.7 * step, "{best} {step}");
    let layers = balance["balance"]["best"]["layers"].to_string();
    let again =
        json(&line("estimate", &["--layers-per-stage", layers.trim_matches(['[', ']']), "--json"]), 0);
    assert_eq!(again["step_time"].as_f64(), Some(best));
    let changed = json(&line("whatif", &["--change", "nvlink=x2", "--json"]), 0);
    assert_eq!(changed["before"]["step_time"].as_f64(), Some(step));
    let memory = json(&line("memory", &["--json"]), 0);
    assert_eq!(memory["memory"]["margin"], estimate["memory"]["margin"], "{memory}");
    let text = run(&line("estimate", &[])).stdout;
    assert!(text.contains("16 x H100 SXM5 80GB + 16 x A100 SXM4 80GB"), "{text}");
}

#[test]
fn a_search_prices_its_layouts_as_estimate_does() {
    let pools = ["--gpus", "16", "--pools", "dgx-a100:8", "--gbs", "64"];
    let common = [&["llama-3-8b", "--cluster", "dgx-h100"], &pools[..], &["--quiet", "--json"]].concat();
    let found = json(&[&["search"], &common[..], &["--top", "1"]].concat(), 0);
    let command = found["candidates"][0]["command"].as_str().or_else(|| found["command"].as_str());
    let command = command.expect("a command").strip_prefix("railwright ").expect("of this program");
    assert!(command.contains("--pools=dgx-a100:8"), "{command}");
    let words: Vec<&str> = command.split_whitespace().chain(["--quiet", "--json"]).collect();
    let estimate = json(&words, 0);
    assert_eq!(estimate["step_time"], found["candidates"][0]["ranked"]["candidate"]["step_time"]);
}

#[test]
fn questions_without_a_rule_for_several_kinds_are_refused() {
    for command in [&["network", "simulate"][..], &["network", "traffic"], &["recompute"]] {
        let outcome = rejected(&[command, &RUN].concat());
        assert!(outcome.contains("devices of several kinds"), "{outcome}");
    }
    let size = ["size", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "32", "--pools", "dgx-a100:16"];
    let outcome = rejected(&[&size[..], &["--tokens", "1T", "--quiet"]].concat());
    assert!(outcome.contains("devices of several kinds"), "{outcome}");
    let outcome = rejected(&[
        "estimate",
        "llama-3-8b",
        "--cluster",
        "dgx-h100",
        "--gpus",
        "16",
        "--pools",
        "dgx-a100:16",
    ]);
    assert!(outcome.contains("counts the devices of all kinds"), "{outcome}");
}

#[test]
fn a_format_that_one_kind_lacks_is_refused() {
    let outcome = rejected(&line("estimate", &["--precision", "fp8"]));
    assert!(outcome.contains("A100 SXM4 80GB does not support GEMMs in fp8"), "{outcome}");
    // Without a precision, the format of all kinds is chosen.
    let both = ["llama-3-8b", "--cluster", "dgx-h100", "--gpus", "32", "--pools", "dgx-v100:16"];
    let estimate =
        json(&[&["estimate"], &both[..], &["--tp", "4", "--pp", "4", "--quiet", "--json"]].concat(), 0);
    assert!(
        estimate["plan_summary"].as_str().expect("text").ends_with("fp16"),
        "{}",
        estimate["plan_summary"]
    );
}

/// The table of a search and its bill have one price of a device-hour: the mean over all devices.
#[test]
fn a_search_has_the_price_of_its_bill() {
    let run = ["llama-3-8b", "--cluster", "dgx-h100", "--gpus", "16", "--pools", "dgx-a100:8", "--gbs", "64"];
    let more = ["--tokens", "1T", "--top", "1", "--quiet", "--json"];
    let found = json(&[&["search"], &run[..], &more].concat(), 0);
    let row = &found["candidates"][0]["ranked"];
    let per_trillion = row["dollars_per_trillion_tokens"].as_f64().expect("a price");
    let rent = row["bill"]["rent"].as_f64().expect("a rent");
    assert!((rent / per_trillion - 1.0).abs() < 1e-3, "{rent} {per_trillion}");
}
