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
fn estimate_balance_and_whatif_agree_and_name_both_kinds() {
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
