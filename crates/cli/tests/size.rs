//! `size` in use: choices meet goals, no cheaper size does, and a negative result has the closest size.

use crate::support::{json, rejected, run, transcript};
use serde_json::Value;

/// Small enough for a quick search.
const SMALL: [&str; 18] = [
    "size",
    "llama-3-8b",
    "--cluster",
    "dgx-h100",
    "--tokens",
    "1T",
    "--price-per-device-hour",
    "2",
    "--micro-batch",
    "1",
    "--space",
    "vp=1",
    "--space",
    "cp=1",
    "--space",
    "hybrid_group=8",
    "--tp",
    "2",
];

fn small(more: &[&'static str]) -> Vec<&'static str> {
    [&SMALL[..], more].concat()
}

fn rows(answer: &Value) -> &Vec<Value> {
    answer["size"]["rows"].as_array().expect("rows")
}

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} in {value}"))
}

const DAY: f64 = 86_400.0;

#[test]
fn a_deadline_is_met_by_the_cheapest_row_that_meets_it() {
    let answer = json(&small(&["--deadline", "20d", "--json"]), 0);
    let chosen = answer["size"]["verdict"]["chosen"].as_u64().expect("a row") as usize;
    let rows = rows(&answer);
    let rent = |row: &Value| number(row, "/bill/rent");
    assert!(number(&rows[chosen], "/bill/calendar") <= 20.0 * DAY);
    for row in rows {
        let is_in_time = number(row, "/bill/calendar") <= 20.0 * DAY;
        assert_eq!(row["in_time"], is_in_time);
        assert!(!is_in_time || rent(row) >= rent(&rows[chosen]), "{row}");
        // The same training everywhere.
        assert_eq!(number(row, "/plan/global_batch"), number(&answer, "/global_batch"));
        assert_eq!(number(row, "/plan/tensor_parallel"), 2.0);
        assert_eq!(number(row, "/machines") * 8.0, number(row, "/devices"));
    }
    assert!(rows.windows(2).all(|pair| number(&pair[0], "/devices") < number(&pair[1], "/devices")));
    assert!((number(&rows[0], "/efficiency") - 1.0).abs() < 1e-12);
    // The command to paste predicts the row's step time.
    let command = answer["command"].as_str().expect("a command");
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
    assert_eq!(number(&json(&words, 0), "/step_time"), number(&rows[chosen], "/step_time"), "{command}");
}

#[test]
fn a_budget_is_used_for_the_soonest_end() {
    let answer = json(&small(&["--budget", "100K", "--gpus", "8,16,32,64,256,1024", "--json"]), 0);
    let chosen = answer["size"]["verdict"]["chosen"].as_u64().expect("a row") as usize;
    let rows = rows(&answer);
    assert_eq!(rows.len(), 6);
    assert!(number(&rows[chosen], "/bill/rent") <= 100e3);
    for row in rows {
        let is_affordable = number(row, "/bill/rent") <= 100e3;
        assert_eq!(row["in_budget"], is_affordable);
        assert!(!is_affordable || number(row, "/bill/calendar") >= number(&rows[chosen], "/bill/calendar"));
    }
}

#[test]
fn what_cannot_be_met_is_a_no_with_the_nearest() {
    let outcome = run(&small(&["--deadline", "1h", "--gpus", "8,64"]));
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("not within ") && outcome.stdout.contains("; nearest: 64 H100"),
        "{}",
        outcome.stdout
    );
    let answer = json(&small(&["--budget", "1", "--gpus", "8,64", "--json"]), 1);
    assert_eq!(answer["size"]["verdict"]["is_no"], true);
    assert!(number(&answer, "/size/verdict/nearest/over_budget") > 1000.0);
}

#[test]
fn the_table_names_its_criterion_and_its_batch() {
    let outcome = run(&small(&["--gpus", "8..128"]));
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    for part in [
        "llama-3-8b, 8.030B parameters, 1.000T tokens in steps of 512 x 8,192 (assumed; a larger batch scales to more GPUs)",
        "cluster sizes: best layout of each with --tp 2 --mbs 1, with the same global batch",
        "scaling is still efficient at 128 GPUs of dgx-h100",
        "(--worth)",
        "--growing-batch",
        "defaults: ",
    ] {
        let flat = outcome.stdout.replace('\n', " ");
        assert!(flat.contains(part), "`{part}` is missing in\n{}", outcome.stdout);
    }
    let grown = json(&small(&["--gpus", "8,16", "--growing-batch", "--json"]), 0);
    let batch = |row: usize| number(&rows(&grown)[row], "/plan/global_batch");
    assert_eq!(batch(1), 2.0 * batch(0));
    let strict = json(&small(&["--gpus", "8,16,32", "--worth", "1", "--json"]), 0);
    assert_eq!(strict["size"]["verdict"]["stops"][0]["is_reached"], true);
}

/// DeepSeek-V3 was trained with 15,360 sequences of 4,096 tokens per step (arXiv:2412.19437, section 4.2).
#[test]
fn the_batch_is_the_published_one_where_there_is_one() {
    let on = |more: &[&'static str]| {
        let line = [
            "size",
            "deepseek-v3",
            "--cluster",
            "h800",
            "--tokens",
            "14.8T",
            "--gpus",
            "2048",
            "--pp",
            "16",
            "--ep",
            "8",
            "--space",
            "vp=1,2",
            "--space",
            "cp=1",
            "--space",
            "micro_batch=1",
        ];
        json(&[&line[..], more, &["--json"]].concat(), 0)
    };
    let answer = on(&[]);
    let title = answer["title"].as_str().expect("a title");
    assert!(title.contains("15,360 x 4,096 (as published: ") && title.contains("2412.19437"), "{title}");
    assert_eq!(number(&rows(&answer)[0], "/plan/global_batch"), 15_360.0);
    assert_eq!(number(&rows(&answer)[0], "/plan/sequence_length"), 4096.0);
    // Equally many tokens in longer sequences; a specified batch stays.
    assert_eq!(number(&on(&["--seq", "8192"]), "/global_batch"), 7680.0);
    let uneven = on(&["--seq", "7000"]);
    assert_eq!(number(&uneven, "/global_batch"), 9216.0);
    assert!(
        uneven["title"].as_str().is_some_and(|t| t.contains("(tokens of the published batch: ")),
        "{uneven}"
    );
    let own = on(&["--global-batch", "1024"]);
    assert_eq!(number(&rows(&own)[0], "/plan/global_batch"), 1024.0);
    assert!(own["title"].as_str().is_some_and(|title| title.contains("set by the user")));
    // Other models have the default batch, and line 1 names it an assumption.
    let usual = json(&small(&["--gpus", "8", "--json"]), 0);
    assert!(usual["title"].as_str().is_some_and(|title| title.contains("assumed; ")), "{usual}");
}

/// `size` and `search` rank by one function: ties by simplicity.
#[test]
fn the_layout_of_a_size_is_the_first_row_of_a_search() {
    let settings = ["llama-3-8b", "--cluster", "dgx-h100", "--gpus", "64", "--json"];
    let sized = json(&[&["size", "--tokens", "1T"], &settings[..]].concat(), 0);
    let searched = json(&[&["search"], &settings[..]].concat(), 0);
    let first = searched.pointer("/candidates/0/ranked/candidate/plan").expect("a row");
    assert_eq!(sized["size"]["rows"][0]["plan"], *first);
}

/// With a batch for 32 GPUs, ranks beyond it shorten no step.
#[test]
fn sizes_that_are_no_faster_are_listed() {
    let line = small(&["--gbs", "16"]);
    let answer = json(&[&line[..], &["--json"]].concat(), 0);
    let times: Vec<(f64, f64)> =
        rows(&answer).iter().map(|row| (number(row, "/devices"), number(row, "/bill/calendar"))).collect();
    let wasted: Vec<String> = times
        .iter()
        .filter(|row| times.iter().any(|other| other.0 < row.0 && other.1 <= row.1))
        .map(|row| row.0.to_string())
        .collect();
    assert!(!wasted.is_empty(), "{times:?}");
    let report = run(&line).stdout;
    assert!(report.contains(&format!("not faster than a smaller size: {}", wasted.join(", "))), "{report}");
}

#[test]
fn the_number_of_threads_does_not_show() {
    for format in ["table", "json", "csv", "md"] {
        let with = |threads: &'static str| {
            run(&small(&["--gpus", "8,16", "--format", format, "--threads", threads])).stdout
        };
        let one = with("1");
        assert!(!one.is_empty());
        assert_eq!(one, with("2"), "{format}");
    }
    let csv = run(&small(&["--gpus", "8,16", "--format", "csv"])).stdout;
    assert!(csv.starts_with("cluster,devices,machines,step_time_s,"), "{csv}");
    assert_eq!(csv.lines().count(), 3);
}

#[test]
fn mistakes_are_reported() {
    let on = ["size", "llama-3-8b", "--cluster", "dgx-h100"];
    let mut text = String::new();
    for more in [
        &["--deadline", "90d"][..],
        &["--tokens", "1T", "--deadline", "soon"],
        &["--tokens", "1T", "--deadline", "90"],
        &["--tokens", "1T", "--deadline", "0d"],
        &["--tokens", "1T", "--budget", "a lot"],
        &["--tokens", "1T", "--budget=-5"],
        &["--tokens", "1T", "--worth", "0"],
        &["--tokens", "1T", "--gpus", "0"],
        &["--tokens", "0", "--gpus", "8"],
        &["--tokens", "1T", "--micro-batches", "8"],
        &["--tokens", "1T", "--gpus", "8", "--space", "tpp=1"],
    ] {
        let line = [&on[..], more].concat();
        text.push_str(&rejected(&line));
    }
    let unpriced = ["size", "llama-3-8b", "--cluster", "h800", "--tokens", "1T", "--budget", "1M"];
    assert_eq!(run(&unpriced).code, 2);
    text.push_str(&transcript(&unpriced));
    insta::assert_snapshot!("size_mistakes", text);
}
