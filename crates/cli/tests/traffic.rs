//! Traffic of runs: sums in every format, files, and traffic that does not fit a network.

use crate::support::{json, rejected, transcript};
use std::collections::BTreeMap;
use std::path::PathBuf;

const DENSE: &str = "../../../../examples/runs/llama-3.1-405b.toml";
const EXPERTS: &str = "../../../../examples/runs/deepseek-v3.toml";
const SMALL: [&str; 11] =
    ["network", "traffic", "mixtral-8x7b", "--cluster", "dgx-h100", "--gpus", "64", "--tp", "2", "--ep", "8"];

#[test]
fn traffic_by_everything() {
    let small = |more: &[&'static str]| [&SMALL[..], more].concat();
    let mut text = String::new();
    for line in [
        vec!["network", "traffic", "--run", DENSE],
        vec!["network", "traffic", "--run", EXPERTS, "--by", "pair"],
        vec!["network", "traffic", "--run", DENSE, "--by", "link", "--topology", "rail-only"],
        vec!["network", "traffic", "--run", DENSE, "--by", "rail", "--format", "md"],
        small(&["--by", "domain", "--format", "csv"]),
        small(&["--by", "pair", "--algorithm", "hierarchical", "--all-to-all", "hierarchical"]),
        small(&[
            "--by",
            "link",
            "--network",
            "leaf_oversubscription=3",
            "--network",
            "radix=16",
            "--topology",
            "clos",
            "--ascii",
        ]),
        small(&["--by", "kind", "--format", "csv"]),
        small(&["--by", "matrix", "--cells", "4"]),
    ] {
        text.push_str(&transcript(&line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

/// GPT-3 175B with tensor 8, pipeline 8, data 512: HPN (SIGCOMM 2024) has 5.5 GB of gradients and 6 MB
/// between stages.
#[test]
fn published_traffic_comes_out() {
    let line = [
        "network",
        "traffic",
        "gpt3-175b",
        "--cluster",
        "dgx-h100",
        "--gpus",
        "32768",
        "--tp",
        "8",
        "--pp",
        "8",
        "--global-batch",
        "8192",
        "--seq",
        "2048",
        "--micro-batch",
        "1",
        // The paper counts two bytes per parameter.
        "--precision-gradient-reduce",
        "bf16",
        "--json",
    ];
    let answer = json(&line, 0);
    let rows = answer["exchanges"].as_array().expect("rows");
    let bytes = |dimension: &str, kind: &str| {
        let row =
            rows.iter().find(|row| row["dimension"] == dimension && row["kind"] == kind).expect("a row");
        row["bytes"].as_f64().expect("a number")
    };
    assert!((bytes("data", "reduce_scatter") / 5.5e9 - 1.0).abs() < 0.02);
    assert!((bytes("pipeline", "send") / 6e6 - 1.0).abs() < 0.05);
    // The rail-only paper's claims about its own exchanges, as executed here.
    assert!(answer["silent_share"].as_f64().expect("a share") > 0.99);
    assert!(answer["inside_share"].as_f64().expect("a share") > 0.85);
}

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn files_hold_what_the_answer_sums() {
    let matrix = scratch("traffic-matrix.csv");
    let cells = scratch("traffic-cells.csv");
    let with = |more: &[&str]| json(&[&SMALL[..], more, &["--json", "--quiet"]].concat(), 0);
    let answer = with(&["--matrix", matrix.to_str().expect("a path")]);
    let sent = answer["sent"].as_f64().expect("a number");
    let text = std::fs::read_to_string(&matrix).expect("written");
    let mut seen = BTreeMap::new();
    let mut sum = 0.0;
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let bytes: f64 = fields[2].parse().expect("a number");
        assert!(bytes > 0.0 && seen.insert((fields[0].to_owned(), fields[1].to_owned()), bytes).is_none());
        sum += bytes;
    }
    assert!((sum / sent - 1.0).abs() < 1e-9, "{sum} {sent}");
    let talking: u64 = answer["pairs"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["talking"].as_u64().expect("a count"))
        .sum();
    assert_eq!(talking, seen.len() as u64);
    with(&["--matrix", cells.to_str().expect("a path"), "--cells", "8"]);
    let text = std::fs::read_to_string(&cells).expect("written");
    assert!(text.starts_with("from_first,from_last,to_first,to_last,mean_bytes\n0,7,0,7,"), "{text}");

    let (svg, png) = (scratch("traffic.svg"), scratch("traffic.png"));
    with(&["--heat", svg.to_str().expect("a path")]);
    assert!(std::fs::read_to_string(&svg).expect("written").ends_with("</svg>\n"));
    with(&["--heat", png.to_str().expect("a path"), "--cells", "16"]);
    let bytes = std::fs::read(&png).expect("written");
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() < 100_000);
    let reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a picture");
    assert_eq!((reader.info().width, reader.info().height), (1270, 1108), "with ranks and a scale around it");
}

/// The web UI's heat map of rails has the sums of the rows of rails.
#[test]
fn rails_against_rails_are_the_rails() {
    let answer = json(&[&SMALL[..], &["--by", "rail", "--json", "--quiet"]].concat(), 0);
    let sum = |rows: &serde_json::Value, key: &str| -> f64 {
        rows.as_array().expect("rows").iter().map(|row| row[key].as_f64().expect("a number")).sum()
    };
    let leaves = sum(&answer["rails"], "along") + sum(&answer["rails"], "sent");
    let whole = answer["squares"][0]["bytes"].as_f64().expect("a number");
    assert!(leaves > 0.0 && (whole / leaves - 1.0).abs() < 1e-9, "{whole} {leaves}");
    assert!(answer["squares"][0]["dimension"].is_null() && answer["squares"][1]["dimension"].is_string());
}

#[test]
fn what_cannot_be_laid_out_is_reported() {
    let mut text = String::new();
    for more in [
        &["--heat", "heat.jpg"][..],
        &["--cells", "0"],
        &["--cells", "5000", "--heat", "heat.svg"],
        &["--matrix", "no-such-folder/matrix.csv"],
        &["--heat", "no-such-folder/heat.png"],
        &["--by", "link", "--topology", "rail-onyl"],
        &["--by", "link", "--topology", "slim-fly"],
        &["--by", "link", "--topology", "not-here.toml"],
        &["--topology", "rail-only", "--network", "gpus=32"],
        &["--topology", "rail-only", "--network", "gpus=65"],
        &["--network", "radix"],
        &["--network", "radix=many"],
        &["--network", "colour=red"],
        &["--network", "speed=0 Gbit/s"],
        &["--pp", "3"],
        &["--by", "links"],
    ] {
        let line = [&SMALL[..], more].concat();
        text.push_str(&rejected(&line));
    }
    insta::assert_snapshot!(text);
}
