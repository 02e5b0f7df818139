//! Steps as flows on topologies: reports, their cost, and invalid requests.

use crate::support::{json, run, transcript};

const RUN: [&str; 15] = [
    "network",
    "simulate",
    "llama-3.1-70b",
    "--cluster",
    "dgx-h100",
    "--gpus",
    "256",
    "--tp",
    "8",
    "--pp",
    "4",
    "--mbs",
    "1",
    "--gbs",
    "64",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&RUN[..], more].concat()
}

#[test]
fn a_step_on_topologies() {
    let mut text = String::new();
    for line in [
        with(&["--topology", "rail-only"]),
        with(&[
            "--topology",
            "clos",
            "--routing",
            "spray",
            "--network",
            "leaf_oversubscription=4",
            "--format",
            "md",
        ]),
        with(&["--topology", "rail-only", "--fail", "nic:3", "--background", "0.3"]),
        with(&[
            "--topology",
            "rail-optimized",
            "--routing",
            "ecmp",
            "--network",
            "radix=32",
            "--format",
            "csv",
        ]),
    ] {
        text.push_str(&transcript(&line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn what_cannot_be_simulated_is_reported() {
    let mut text = String::new();
    for more in [
        &["--topology", "rail-onyl"][..],
        &["--topology", "clos", "--fail", "leaf:0"],
        &["--topology", "rail-only", "--fail", "leef:0"],
        &["--topology", "rail-only", "--fail", "leaf:99"],
        &["--topology", "rail-only", "--fail", "link:leaf-spine"],
        &["--topology", "clos", "--network", "radix=1"],
        &["--topology", "clos", "--network", "speed=0 Gbit/s"],
        &["--topology", "clos", "--network", "gpus=100"],
        &["--topology", "clos", "--network", "gpus=128"],
        &["--topology", "clos", "--network", "domain=16"],
        &["--topology", "clos", "--network", "radiks=16"],
        &["--topology", "rail-only", "--network", "forwarding=none"],
        &["--topology", "clos", "--routing", "luck"],
        &["--topology", "slim-fly"],
        &["--background", "2"],
        &["--background", "spare=0.5"],
    ] {
        text.push_str(&transcript(&with(more)));
        text.push('\n');
    }
    let estimate: Vec<&str> = [&["estimate"], &RUN[2..]].concat();
    for more in [&["--network", "flwo"][..], &["--topology", "clos"], &["--network", "radix=64"]] {
        text.push_str(&transcript(&[&estimate[..], more].concat()));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn circumstances_add_up_to_the_step() {
    let answer =
        json(&with(&["--topology", "rail-only", "--fail", "nic:3", "--background", "0.3", "--json"]), 0);
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let changes = answer["changes"].as_array().expect("a list");
    assert_eq!(changes.len(), 4);
    let sum: f64 = changes.iter().map(|change| number(&change["cost"])).sum();
    assert!((number(&answer["closed_form"]) + sum - number(&answer["step_time"])).abs() < 1e-9);
    assert!(number(&changes[3]["cost"]) > 0.0 && number(&changes[2]["cost"]) > 0.0);
}

/// On a network that never blocks the flows' estimate is the closed form's; on a thin one it is longer.
#[test]
fn estimates_price_collectives_by_flows() {
    let estimate: Vec<&str> = [&["estimate"], &RUN[2..], &["--json", "--quiet"]].concat();
    let step = |more: &[&str]| {
        let outcome = run(&[&estimate[..], more].concat());
        let answer: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        answer["step_time"].as_f64().expect("a number")
    };
    let closed = step(&[]);
    let flow = step(&["--network", "flow"]);
    assert!((flow / closed - 1.0).abs() < 1e-6, "{flow} {closed}");
    let thin = step(&["--network", "flow", "--topology", "clos", "--network", "leaf_oversubscription=4"]);
    assert!(thin > closed * 1.001, "{thin} {closed}");
}

/// A search ranked by flows: the same at any number of threads, never faster than without contention, and its
/// command has the same result.
#[test]
fn a_search_ranks_by_flows() {
    let search = |more: &[&'static str]| {
        let plain = ["search", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "32", "--global-batch", "64"];
        json(&[&plain[..], &["--space", "pp=1..2", "--top", "3", "--json"], more].concat(), 0)
    };
    let thin = ["--network", "flow", "--topology", "clos", "--network", "leaf_oversubscription=4"];
    let wide = ["--network", "hosts_per_leaf=8"];
    let (one, two) = (
        search(&[&thin[..], &wide, &["--threads", "1"]].concat()),
        search(&[&thin[..], &wide, &["--threads", "2"]].concat()),
    );
    assert_eq!(one, two);
    assert!(one.to_string().contains("collectives simulated on clos"), "{one}");
    let first = |answer: &serde_json::Value| answer["candidates"][0].clone();
    assert!(
        first(&one)["command"].as_str().is_some_and(|text| text.contains("--network flow")),
        "{}",
        first(&one)
    );
    let time = |answer: &serde_json::Value| {
        first(answer)["ranked"]["candidate"]["step_time"].as_f64().expect("a time")
    };
    assert!(time(&one) >= time(&search(&[])) * (1.0 - 1e-9), "{} {}", time(&one), time(&search(&[])));
    for more in [&["--network", "flow", "--topology", "cloz"][..], &["--topology", "clos"]] {
        let output =
            run(&[&["search", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "32"][..], more].concat());
        assert_eq!(output.code, 2, "{more:?}");
    }
}

/// One hash seed is a draw: the headline over several is their median, and the tables name their seed.
#[test]
fn a_step_over_seeds_is_their_median() {
    let line = with(&["--topology", "clos", "--routing", "ecmp", "--seeds", "5", "--quiet"]);
    let over = &json(&[&line[..], &["--json"]].concat(), 0)["over_seeds"];
    let median = over["median"].as_f64().expect("a median");
    let median = railwright_spec::human::seconds(railwright_spec::quantity::Seconds::new(median));
    let text = run(&line).stdout;
    let verdict = format!("{median} per step on clos, the median of 5 hash seeds: ");
    assert!(text.starts_with(&verdict), "{text}");
    assert!(text.contains(&format!("step time    {median}\n")), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the tables show seed 0 with "), "{text}");
}
