//! Reports: their shape, their width, and plausible numbers. Predicted numbers are not pinned here: the
//! calculator's own tests compare them with measurements.

use crate::support::{json, run, run_with_stdin, transcript};

const LLAMA: [&str; 10] =
    ["estimate", "llama-3.1-405b", "--cluster", "dgx-h100", "--gpus", "1024", "--tp", "8", "--pp", "16"];

fn llama(more: &[&'static str]) -> Vec<&'static str> {
    [&LLAMA[..], &["--uneven", "--recompute", "full", "--tokens", "15T"][..], more].concat()
}

#[test]
fn an_engineer_believes_the_report_of_405b() {
    let answer = json(&llama(&["--json"]), 0);
    let number = |pointer: &str| answer.pointer(pointer).and_then(serde_json::Value::as_f64).expect(pointer);
    // Full recompute costs a quarter of the best: between 30% and 45% of the peak.
    let mfu = number("/efficiency/model_flop/0/utilisation/0/share");
    assert!((0.30..0.45).contains(&mfu), "{mfu}");
    assert!(
        number("/step_time_interval/low") < number("/step_time")
            && number("/step_time") < number("/step_time_interval/high")
    );
    let peak = number("/memory/peak") / f64::from(1 << 30);
    assert!((20.0..60.0).contains(&peak), "{peak} GiB");
    assert_eq!(answer["memory"]["fit"], "fits");
    assert_eq!(answer["stages"].as_array().map(Vec::len), Some(16));
    // 15T tokens at 145 to 230 tokens per second and device.
    let hours = number("/money/device_hours");
    assert!((18e6..36e6).contains(&hours), "{hours}");
    let parts: f64 =
        answer["time"]["children"].as_array().expect("parts").iter().filter_map(|p| p["time"].as_f64()).sum();
    assert!((parts / number("/time/time") - 1.0).abs() < 1e-9, "the parts do not sum to the step");
}

#[test]
fn every_section_is_there_and_fits_the_terminal() {
    let wide = run(&llama(&["-v"]));
    assert_eq!(wide.code, 0, "{}", wide.stderr);
    assert!(wide.stderr.is_empty(), "{}", wide.stderr);
    for section in [
        "defaults: ",
        "  step time   ",
        "  MFU  ",
        "  HFU  ",
        "  memory  ",
        "step breakdown: on the critical stage, ",
        "communication: ",
        "pipeline stages: ",
        "memory: ",
        "cost: ",
        "railwright ",
    ] {
        assert!(wide.stdout.contains(section), "`{section}` is missing in\n{}", wide.stdout);
    }
    for columns in ["160", "100", "72", "50"] {
        let mut command = crate::support::program(&llama(&["-v"]));
        let output = command.env("COLUMNS", columns).output().expect("starts");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let width: usize = columns.parse().expect("a number");
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{columns} columns: {line}");
        }
    }
}

#[test]
fn without_unicode_everything_is_ascii() {
    for more in [&["--ascii"][..], &[]] {
        let mut command = crate::support::program(&llama(&[]));
        let output = command.args(more).env("LC_ALL", if more.is_empty() { "C" } else { "C.UTF-8" }).output();
        let text = output.expect("starts").stdout;
        assert!(text.is_ascii() && text.contains(&b'#'));
    }
    let memory = run(&["memory", "llama-3-8b", "--cluster", "h100", "--tp", "2", "--ascii"]);
    assert!(memory.stdout.is_ascii() && memory.stdout.contains('#'), "{}", memory.stdout);
}

#[test]
fn what_does_not_fit_is_a_no() {
    let line = ["estimate", "llama-3-70b", "--cluster", "dgx-h100", "--gpus", "8", "--tp", "8"];
    let outcome = run(&line);
    assert_eq!(outcome.code, 1);
    assert!(
        outcome.stdout.contains("does not fit") && outcome.stdout.contains("[memory-does-not-fit]"),
        "{}",
        outcome.stdout
    );
    let memory = [&["memory"][..], &line[1..]].concat();
    assert_eq!(run(&memory).code, 1);
    assert_eq!(json(&[&line[..], &["--json"][..]].concat(), 1)["memory"]["fit"], "does_not_fit");
}

#[test]
fn without_a_layout_one_that_fits_is_chosen() {
    let answer = json(&["estimate", "llama-3-70b", "--cluster", "dgx-h100", "--gpus", "64", "--json"], 0);
    assert_eq!(answer["memory"]["fit"], "fits");
    let chosen = answer["chosen"][0].as_str().expect("words");
    assert!(chosen.starts_with("layout: the fastest of "), "{chosen}");
    let plan = &answer["plan"];
    let product: u64 = ["tensor_parallel", "pipeline_parallel", "context_parallel", "data_parallel"]
        .iter()
        .map(|key| plan[key].as_u64().expect("a degree"))
        .product();
    assert_eq!(product, 64);
}

/// Sizes that are 1 because another is set are named, and `auto` chooses them.
#[test]
fn a_size_is_chosen_beside_one_that_is_set() {
    let of = |sizes: &[&'static str], code: i32| {
        let run = ["estimate", "llama-3-70b", "--cluster", "dgx-h100", "--gpus", "256", "--json"];
        json(&[&run[..], sizes].concat(), code)
    };
    let set = of(&["--tp", "2"], 1);
    let chosen = set["chosen"].as_array().expect("a list");
    assert!(chosen.iter().any(|text| text == "pp 1, cp 1 (`auto` chooses a size)"), "{chosen:?}");
    assert_eq!(set["memory"]["fit"], "does_not_fit");
    let auto = of(&["--tp", "2", "--pp", "auto"], 0);
    assert_eq!((&auto["plan"]["tensor_parallel"], &auto["memory"]["fit"]), (&2.into(), &"fits".into()));
    assert!(auto["plan"]["pipeline_parallel"].as_u64() > Some(1), "{}", auto["plan"]);
    assert_eq!(auto["step_time"], of(&["--tp", "2", "--auto", "pp"], 0)["step_time"]);
}

#[test]
fn a_config_by_path_by_folder_and_by_stdin_is_the_same_model() {
    let total = |line: &[&str]| json(line, 0)["model"]["parameters"]["total"].as_u64();
    let tail = ["--cluster", "h100", "--tp", "2", "--json"];
    let with = |model| total(&[&["estimate", model][..], &tail[..]].concat());
    assert_eq!(with("llama/config.json"), Some(8_030_261_248));
    assert_eq!(with("llama"), Some(8_030_261_248));
    assert_eq!(with("meta-llama/Meta-Llama-3-8B"), Some(8_030_261_248));
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/inputs/llama/config.json"));
    let outcome = run_with_stdin(&[&["estimate", "-"][..], &tail[..]].concat(), &text.expect("it is there"));
    assert!(outcome.code == 0 && outcome.stdout.contains("\"total\": 8030261248"), "{}", outcome.stderr);
}

#[test]
fn the_later_layer_wins() {
    let tensor = |more: &[&str]| {
        let line = [&["estimate", "--run", "three-tensor-ranks.toml", "--json"][..], more].concat();
        json(&line, 0)["plan"]["tensor_parallel"].as_u64()
    };
    assert_eq!(tensor(&["--tp", "2"]), Some(2));
    assert_eq!(tensor(&["--tp", "2", "--set", "plan.tensor_parallel=4"]), Some(4));
    let devices = json(
        &["estimate", "--run", "three-tensor-ranks.toml", "--cluster", "dgx-h200", "--tp", "2", "--json"],
        0,
    );
    assert_eq!(
        (devices["cluster"]["devices"].as_u64(), devices["cluster"]["name"].as_str()),
        (Some(8), Some("dgx-h200"))
    );
}

#[test]
fn memory_by_kind_module_and_layer_is_the_same_sum() {
    let line = ["memory", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "8", "--tp", "2", "--pp", "2"];
    let answer = json(&[&line[..], &["--json"][..]].concat(), 0);
    let over_time = &answer["over_time"];
    assert!(over_time["highest_bytes"].as_array().is_some_and(|points| points.len() == 256));
    // The kinds of every piece add up to it, and the fullest piece is the peak.
    let parts = over_time["parts"].as_array().expect("parts");
    let sum = |piece: usize| parts.iter().filter_map(|part| part["bytes"][piece].as_i64()).sum::<i64>();
    assert!((0..256).all(|piece| over_time["highest_bytes"][piece] == sum(piece)));
    assert_eq!((0..256).map(sum).max(), over_time["peak"]["bytes"].as_i64());
    for by in ["kind", "module", "layer"] {
        let outcome = run(&[&line[..], &["--by", by][..]].concat());
        let shares: f64 = outcome
            .stdout
            .lines()
            .filter(|line| line.starts_with("    ") && line.contains('%'))
            .filter_map(|line| {
                line.split_whitespace().find_map(|word| word.strip_suffix('%')?.parse::<f64>().ok())
            })
            .sum();
        assert!((shares - 100.0).abs() < 1.5, "{by}: {shares}\n{}", outcome.stdout);
    }
}

#[test]
fn a_timeline_is_a_trace_or_a_picture() {
    let line = [
        "timeline",
        "llama-3-8b",
        "--cluster",
        "dgx-h100",
        "--gpus",
        "8",
        "--pp",
        "4",
        "--micro-batches",
        "8",
    ];
    let trace = json(&line, 0);
    assert!(trace["traceEvents"].as_array().is_some_and(|events| events.len() > 64));
    let picture = run(&[&line[..], &["--svg"][..]].concat());
    assert!(
        picture.code == 0
            && picture.stdout.starts_with("<svg")
            && picture.stdout.trim_end().ends_with("</svg>")
    );
}

#[test]
fn why_explains_each_part() {
    let whole = run(&llama(&["--why"]));
    for id in [
        "step_time: ",
        "compute.mlp: ",
        "exposed.tensor: ",
        "bubble: ",
        "mfu.full_attention: ",
        "device_hours: ",
        "evidence for the step time",
    ] {
        assert!(whole.stdout.contains(id), "{id}\n{}", whole.stdout);
    }
    assert!(whole.stdout.lines().all(|line| line.chars().count() <= 100));
    let one = run(&llama(&["--why", "compute.mlp"]));
    assert!(
        one.code == 0 && one.stdout.contains("forward FLOP = ") && !one.stdout.contains("bubble: "),
        "{}",
        one.stdout
    );
    for (word, id) in [
        ("step_time", "step_time"),
        ("step", "step_time"),
        ("memory", "memory.peak"),
        ("tensor parallel", "exposed.tensor"),
        ("mfu", "mfu.full_attention"),
        ("cost", "device_hours"),
        ("interval", "interval"),
        ("compute.mlp.backward", "compute.mlp.backward"),
        ("zb-v", "zb-v"),
    ] {
        let answer = json(&llama(&["--why", word, "--json"]), 0);
        assert_eq!(answer["explained"][0]["id"], id, "--why {word}");
        assert!(
            answer["why"].as_array().is_some_and(|all| all.len() > 30),
            "the estimate's own explanations"
        );
    }
}

#[test]
fn every_warning_has_a_topic() {
    let lines: [&[&str]; 3] = [
        &["estimate", "llama-3-70b", "--cluster", "dgx-h100", "--gpus", "64", "--tp", "16", "--json"],
        &[
            "estimate",
            "llama-3-8b",
            "--cluster",
            "dgx-h100",
            "--gpus",
            "64",
            "--pp",
            "8",
            "--micro-batches",
            "3",
            "--json",
        ],
        &[
            "estimate",
            "deepseek-v3",
            "--cluster",
            "dgx-h100",
            "--gpus",
            "512",
            "--pp",
            "1",
            "--ep",
            "64",
            "--json",
        ],
    ];
    let mut seen = 0;
    for line in lines {
        let outcome = run(line);
        let answer: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        for warning in answer["warnings"].as_array().expect("warnings") {
            let id = warning["id"].as_str().expect("an identifier");
            assert_eq!(run(&["explain", id]).code, 0, "no topic explains `{id}`");
            seen += 1;
        }
    }
    assert!(seen > 3);
}

#[test]
fn validate_predicts_rows_and_gives_reasons() {
    let answer = json(&["validate", "runs.csv", "--json"], 0);
    let rows = answer["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 4);
    for row in rows {
        for key in [
            "id",
            "predicted_step_time_s",
            "predicted_peak_memory_bytes",
            "predicted_fits",
            "measured_step_time_s",
            "measured_peak_memory_bytes",
            "skipped",
        ] {
            assert!(row.get(key).is_some(), "{key} is missing in {row}");
        }
    }
    assert!(
        rows[0]["predicted_step_time_s"].as_f64().is_some_and(|s| (3.0..4.5).contains(&s)),
        "{}",
        rows[0]
    );
    assert!(rows[3]["skipped"].as_str().is_some_and(|reason| !reason.is_empty()), "{}", rows[3]);
    let table = run(&["validate", "runs.csv"]);
    assert!(
        table.stdout.contains("errors by group of sources") && table.stdout.contains("skipped"),
        "{}",
        table.stdout
    );
    let csv = run(&["validate", "runs.csv", "--format", "csv"]);
    assert_eq!(csv.stdout.lines().count(), 5);
}

#[test]
fn validate_judges_the_choice_within_sweeps() {
    let answer = json(&["validate", "sweep.csv", "--regret", "--json"], 0);
    assert_eq!(answer["kind"], "regret");
    let sweeps = answer["sweeps"].as_array().expect("sweeps");
    assert_eq!((sweeps.len(), &sweeps[0]["layouts"]), (1, &serde_json::json!(8)));
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let (pick, best) = (number(&sweeps[0]["pick_measured_s"]), number(&sweeps[0]["best_measured_s"]));
    assert!((number(&sweeps[0]["regret"]) - (pick / best - 1.0)).abs() < 1e-9);
    assert_eq!((number(&answer["memory"]["out_of_memory"]), number(&answer["memory"]["sweeps"])), (1.0, 1.0));
    assert!(answer["met"].is_boolean());
    let table = run(&["validate", "sweep.csv", "--regret"]);
    assert!(
        table.stdout.contains("regret of the predicted choice, by source")
            && table.stdout.contains("aim: median"),
        "{}",
        table.stdout
    );
    let csv = run(&["validate", "sweep.csv", "--regret", "--format", "csv"]);
    assert_eq!(csv.stdout.lines().count(), 2, "{}", csv.stdout);
    let markdown = run(&["validate", "sweep.csv", "--regret", "--format", "md"]);
    assert!(markdown.stdout.contains("| ---"), "{}", markdown.stdout);
    // A table without sweeps reports that.
    let none = run(&["validate", "runs.csv", "--regret"]);
    assert_eq!((none.code, none.stdout.contains("no sweep")), (0, true), "{}", none.stdout);
}

#[test]
fn the_catalogue_is_shown() {
    for (name, line) in [
        ("models_list", &["models", "list", "llama-3*"][..]),
        ("models_show", &["models", "show", "llama-3-8b"][..]),
        ("models_show_moe", &["models", "show", "deepseek-v3"][..]),
        ("gpus_show", &["gpus", "show", "h100"][..]),
        ("clusters_list", &["clusters", "list"][..]),
        ("clusters_show", &["clusters", "show", "dgx-h100"][..]),
        ("explain", &["explain", "mfu"][..]),
        ("nothing_matches", &["gpus", "list", "abacus"][..]),
        ("examples", &["examples"][..]),
    ] {
        insta::assert_snapshot!(name, transcript(line));
    }
}

#[test]
fn a_run_file_from_init_gives_the_same_run() {
    let line = [
        "llama-3-8b",
        "--cluster",
        "dgx-h100",
        "--gpus",
        "16",
        "--tp",
        "2",
        "--recompute",
        "full",
        "--tokens",
        "1T",
    ];
    let direct = json(&[&["estimate"][..], &line[..], &["--json"][..]].concat(), 0);
    let file = run(&[&["init"][..], &line[..]].concat());
    assert_eq!(file.code, 0, "{}", file.stderr);
    let path = std::env::temp_dir().join(format!("railwright-{}-run.toml", std::process::id()));
    std::fs::write(&path, file.stdout).expect("a folder for temporary files");
    let again = json(&["estimate", "--run", path.to_str().expect("UTF-8"), "--json"], 0);
    std::fs::remove_file(&path).expect("it was written");
    assert_eq!(direct["step_time"], again["step_time"]);
    assert_eq!(direct["plan"], again["plan"]);
}

#[test]
fn every_example_runs() {
    for name in ["llama-3-8b-fsdp", "llama-3.1-405b", "gpt3-175b", "deepseek-v3"] {
        let text = run(&["examples", name]).stdout;
        let outcome = run_with_stdin(&["estimate", "--run", "-", "--json"], &text);
        // Fits, does not fit, or is at risk.
        assert!([0, 1, 4].contains(&outcome.code), "{name}: {}", outcome.stderr);
    }
}
#[test]
fn executed_arithmetic_is_divided_among_all_ranks() {
    // Attention dominates at this length; without recompute the executed part is that below the causal mask.
    for degree in [["--cp", "8"], ["--tp", "8"]] {
        let line =
            ["estimate", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "64", "--seq", "131072", "--json"];
        let outcome = run(&[&line[..], &degree[..], &["--recompute", "none"]].concat());
        let answer: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        let share =
            |pointer: &str| answer.pointer(pointer).and_then(serde_json::Value::as_f64).expect("a share");
        let executed = share("/efficiency/hardware/0/share");
        let causal = share("/efficiency/model_flop/1/utilisation/0/share");
        // Flash attention computes its scores again in the backward pass, and blocks on the diagonal
        // completely.
        assert!((0.98..1.25).contains(&(executed / causal)), "{degree:?}: {executed} {causal}");
    }
}
