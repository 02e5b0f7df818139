//! Networks: designs in numbers and pictures, bills side by side, and what cannot be built.

mod support;

use support::{json, run, transcript};

/// Small designs, whose counts were checked by hand.
#[test]
fn designs_in_numbers() {
    let mut text = String::new();
    for line in [
        &["network", "show", "rail-only", "--gpus", "32768", "--domain", "256"][..],
        &["network", "show", "rail-optimized", "--gpus", "1016", "--extra-endpoints", "4"],
        &["network", "show", "dragonfly", "--gpus", "4096", "--radix", "31", "--routing", "spray"],
        &["network", "show", "clos", "--gpus", "24576", "--leaf-oversubscription", "3", "--format", "md"],
        &["network", "show", "scale-up", "--gpus", "576", "--domain-bandwidth", "900 GB/s", "--ascii"],
        &["network", "show", "../../../../examples/networks/hpn-pod.toml"],
        &["network", "show", "../../../../examples/networks/tpu-v4-pod.toml", "--format", "csv"],
        &["network", "topologies"],
        &["network", "topologies", "dragonfly-plus"],
    ] {
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn bills_side_by_side() {
    let on: [&str; 8] = ["network", "cost", "--gpus", "32768", "--domain", "256", "--radix", "64"];
    let with = |more: &[&'static str]| [&on[..], more].concat();
    let mut text = String::new();
    for line in [
        with(&[]),
        with(&["--designs", "clos,rail-only", "--lines", "--tokens-per-second", "1.5e7"]),
        with(&["--designs", "clos,rail-only,scale-up,slim-fly", "--speed", "100G", "--format", "csv"]),
        with(&["--designs", "clos,rail-only", "--prices", "own-prices.csv", "--format", "md"]),
    ] {
        text.push_str(&transcript(&line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn failures_by_class() {
    let mut text = String::new();
    for line in [
        &["network", "failures", "rail-only", "--gpus", "16384", "--radix", "128", "--exposed-share", "0.2"]
            [..],
        &["network", "failures", "../../../../examples/networks/hpn-pod.toml"],
        &["network", "failures", "clos", "--gpus", "4096", "--exposed-share", "0.1", "--format", "csv"],
        &["network", "failures", "dragonfly", "--gpus", "4096", "--radix", "31", "--format", "md"],
    ] {
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_papers_savings_come_out_of_the_command() {
    let line = [
        "network",
        "cost",
        "--gpus",
        "32768",
        "--domain",
        "256",
        "--speed",
        "100G",
        "--designs",
        "clos,rail-only",
    ];
    for (radix, expected) in [("64", 0.374), ("128", 0.748), ("256", 0.598)] {
        let answer = json(&[&line[..], &["--radix", radix, "--json"]].concat(), 0);
        let saving = answer["designs"][1]["saving_ports_and_transceivers"].as_f64().expect("a number");
        assert!((saving - expected).abs() < 6e-4, "{radix}: {saving}");
    }
}

#[test]
fn published_systems_agree() {
    let answer = json(&["network", "topologies", "--published", "--json"], 0);
    let rows = answer["rows"].as_array().expect("rows");
    assert!(rows.len() >= 40);
    for row in rows {
        for compared in row["compared"].as_array().expect("a list") {
            assert_eq!(compared["published"], compared["here"], "{row}");
        }
    }
}

#[test]
fn pictures_stand_alone() {
    for kind in ["clos", "rail-only", "dual-plane", "dragonfly", "dragonfly-plus", "torus", "scale-up"] {
        let said = run(&["network", "show", kind, "--gpus", "4096", "--svg"]);
        assert_eq!(said.code, 0, "{kind}: {}", said.stderr);
        assert!(said.stdout.starts_with("<svg ") && said.stdout.len() < 120_000, "{kind}");
        assert!(
            !said.stdout.contains("http://www.w3.org/1999") && !said.stdout.contains("<script"),
            "{kind}"
        );
    }
}

#[test]
fn what_cannot_be_built_is_told() {
    let mut text = String::new();
    for line in [
        &["network", "show", "rail-onyl"][..],
        &["network", "show", "clos", "--gpus", "131072"],
        &["network", "show", "clos", "--gpus", "4096", "--tiers", "2"],
        &["network", "show", "clos", "--gpus", "1000", "--domain", "72"],
        &["network", "show", "clos", "--radix", "1"],
        &["network", "show", "clos", "--radix", "2", "--gpus", "64"],
        &["network", "show", "clos", "--radix", "many"],
        &["network", "show", "clos", "--speed", "0 Gbit/s"],
        &["network", "show", "clos", "--speed", "400"],
        &["network", "show", "clos", "--port-speed", "300 Gbit/s"],
        &["network", "show", "clos", "--dimensions", "4,4"],
        &["network", "show", "clos", "--gpus", "0"],
        &["network", "show", "clos", "--gpus", "99999999999"],
        &["network", "show", "rail-only", "--forwarding", "none"],
        &["network", "show", "rail-optimized", "--rails", "3"],
        &["network", "show", "torus", "--gpus", "64", "--dimensions", "4,4"],
        &["network", "show", "dragonfly", "--gpus", "64", "--hosts-per-router", "60"],
        &["network", "show", "dragonfly", "--gpus", "300000"],
        &["network", "show", "not-here.toml"],
        &["network", "show", "bad-network.toml"],
        &["network", "show", "impossible-network.toml"],
        &["network", "cost", "--gpus", "131072", "--designs", "clos,trimmed"],
        &["network", "cost", "--speed", "300G"],
        &["network", "cost", "--prices", "bad-prices.csv"],
        &["network", "cost", "--accelerator", "h10"],
        &["network", "cost", "--years", "0"],
        &["network", "cost", "--tokens-per-second", "nan"],
        &["network", "failures", "clos", "--exposed-share", "2"],
        &["network", "topologies", "dragonfy"],
    ] {
        let said = run(line);
        assert_eq!(said.code, 2, "{line:?}: {}", said.stdout);
        assert!(said.stdout.is_empty() && said.stderr.starts_with("error: "), "{line:?}: {}", said.stderr);
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}
