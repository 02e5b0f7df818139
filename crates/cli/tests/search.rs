//! `search` from the command line: properties of every result, independent of the predicted numbers.

use crate::support::{json, program, rejected, run, scratch};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A space that is searched quickly.
const SMALL: [&str; 12] = [
    "search",
    "llama-3-8b",
    "--cluster",
    "dgx-h100",
    "--gpus",
    "8",
    "--space",
    "vp=1,2",
    "--space",
    "cp=1,2",
    "--space",
    "micro_batch=1,2",
];

fn small(more: &[&'static str]) -> Vec<&'static str> {
    [&SMALL[..], more].concat()
}

fn candidates(answer: &Value) -> &Vec<Value> {
    answer["candidates"].as_array().expect("a list")
}

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} in {value}"))
}

#[test]
fn a_ranking_names_the_best_and_what_ties_with_it() {
    let outcome = run(&small(&["--top", "4", "-v"]));
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    for part in [
        "llama-3-8b, 8.030B parameters on 8 x H100",
        "best by step time, with a fit probability of at least 0.9",
        "defaults: ",
        "ranking: by step time",
        "vs.",
        "step breakdown: ",
        "best layout\nrailwright estimate llama-3-8b --cluster dgx-h100 --gpus 8 --tp ",
        "railwright export --to megatron",
    ] {
        assert!(outcome.stdout.contains(part), "`{part}` is missing in\n{}", outcome.stdout);
    }
    assert!(!outcome.stdout.contains("a second"), "speed differs from run to run");
    assert!(outcome.stderr.contains("layouts evaluated in"), "{}", outcome.stderr);
    for columns in ["160", "100", "72", "50"] {
        let output = program(&small(&[])).env("COLUMNS", columns).output().expect("starts");
        let width: usize = columns.parse().expect("a number");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        // Commands are pasted, so they may not be broken inside a word.
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{columns} columns: {line}");
        }
    }
}

#[test]
fn numbers_are_those_of_the_estimate_and_parts_add_up() {
    let answer = json(&small(&["--json", "--top", "3"]), 0);
    assert_eq!(answer["complete"], true);
    assert!(number(&answer, "/counters/enumerated") > 100.0);
    let list = candidates(&answer);
    assert_eq!(list.len(), 3);
    for (index, one) in list.iter().enumerate() {
        let time = number(one, "/ranked/candidate/step_time");
        let expected = number(one, "/ranked/candidate/expected_time");
        assert!(expected >= time);
        assert_eq!(number(one, "/ranked/rank"), index as f64 + 1.0);
        let parts: f64 =
            one["ranked"]["spent"].as_array().expect("parts").iter().map(|p| number(p, "/time")).sum();
        assert!((parts / time - 1.0).abs() < 1e-6, "{parts} of {time}");
        // The printed command line gives the same plan.
        let command = one["command"].as_str().expect("a command");
        let words: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
        let estimate = json(&words, 0);
        assert_eq!(number(&estimate, "/step_time"), time, "{command}");
        assert_eq!(estimate["plan"], one["ranked"]["candidate"]["plan"], "{command}");
    }
    let retimed = number(&list[0], "/ranked/retimed/difference");
    assert!(retimed.abs() < 0.01, "{retimed}");
}

#[test]
fn the_number_of_threads_does_not_show() {
    for format in ["table", "json", "csv", "md"] {
        let with = |threads: &'static str| {
            let outcome = run(&small(&["--format", format, "--threads", threads, "--why-not", "tp=8"]));
            assert_eq!(outcome.code, 0, "{}", outcome.stderr);
            outcome.stdout
        };
        let one = with("1");
        assert_eq!(one, with("2"), "{format}");
        assert_eq!(one, with("7"), "{format}");
    }
}

#[test]
fn pins_and_bounds_hold_in_every_result() {
    let line = [
        "search",
        "mixtral-8x7b",
        "--cluster",
        "dgx-h100",
        "--gpus",
        "32",
        "--ep",
        "8",
        "--micro-batch=1",
        "--space",
        "pp=1..4",
        "--space",
        "plan.tensor_parallel=1,2",
        "--space",
        "schedule=1f1b",
        "--space",
        "recompute=none,full",
        "--space",
        "cp=1",
        "--space",
        "vpp=1",
        "--global-batch",
        "256",
        "--top",
        "40",
        "--json",
    ];
    let answer = json(&line, 0);
    assert!(candidates(&answer).len() > 3);
    for one in candidates(&answer) {
        let plan = &one["ranked"]["candidate"]["plan"];
        let at = |key: &str| plan[key].as_u64().expect(key);
        assert_eq!((at("expert_parallel"), at("micro_batch"), at("context_parallel")), (8, 1, 1));
        assert!((1..=4).contains(&at("pipeline_parallel")) && [1, 2].contains(&at("tensor_parallel")));
        assert_eq!((at("virtual_stages"), at("global_batch")), (1, 256));
        assert_eq!(plan["schedule"], "1f1b");
        assert!(["none", "full"].contains(&plan["recompute"]["mode"].as_str().expect("a mode")));
        let ranks = at("tensor_parallel") * at("pipeline_parallel") * at("data_parallel");
        assert_eq!(ranks, 32);
    }
}

#[test]
fn what_was_saved_reads_back_to_the_same_step_time() {
    let path = scratch("best.toml");
    let mut line: Vec<&str> = small(&["--json", "--tokens", "1T", "--price-per-device-hour", "2.5"]);
    line.extend(["--save", &path]);
    let answer = json(&line, 0);
    let best = &candidates(&answer)[0]["ranked"];
    let estimate = json(&["estimate", "--run", &path, "--json"], 0);
    assert_eq!(number(&estimate, "/step_time"), number(best, "/candidate/step_time"));
    assert_eq!(estimate["plan"], best["candidate"]["plan"]);
    assert_eq!(number(&estimate, "/money/rent"), number(best, "/bill/rent"));
    std::fs::remove_file(&path).expect("it was written");
}

#[test]
fn a_batch_in_tokens_divides_and_the_command_line_wins_over_the_file() {
    let path = scratch("tokens.toml");
    let text = "[model]\nname = \"llama-3-8b\"\n[cluster]\npreset = \"dgx-h100\"\ndevices = 8\n[plan]\nbatch_tokens = \"1M\"\nmicro_batch = 1\n\
                context_parallel = 1\nvirtual_stages = 1\n";
    std::fs::write(&path, text).expect("a folder for temporary files");
    let answer = json(&["search", "--run", &path, "--top", "1", "--json"], 0);
    let best = &candidates(&answer)[0];
    assert_eq!(number(best, "/ranked/candidate/plan/global_batch"), 120.0);
    let command = best["command"].as_str().expect("a command");
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
    let estimate = json(&words, 0);
    assert_eq!(number(&estimate, "/step_time"), number(best, "/ranked/candidate/step_time"), "{command}");
    std::fs::remove_file(&path).expect("it was written");
}

#[test]
fn what_does_not_fit_names_the_nearest_and_a_remedy() {
    let line = [
        "search",
        "llama-3-70b",
        "--cluster",
        "dgx-h100",
        "--gpus",
        "8",
        "--space",
        "vp=1",
        "--space",
        "cp=1",
        "--space",
        "micro_batch=1",
    ];
    let outcome = run(&line);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    for part in ["nothing fits: no layout ", "closest layouts", "changes that make the run fit", "--gpus "] {
        assert!(outcome.stdout.contains(part), "`{part}` is missing in\n{}", outcome.stdout);
    }
    let answer = json(&[&line[..], &["--json"][..]].concat(), 1);
    let misses = answer.pointer("/nothing_fits/nearest_misses").and_then(Value::as_array).expect("misses");
    assert!(!misses.is_empty() && number(&misses[0], "/miss/missing") > 0.0);
    let remedies = answer.pointer("/nothing_fits/remedies").and_then(Value::as_array).expect("remedies");
    // Any model fits on more machines of the same kind.
    let more = remedies.iter().find(|r| r["change"] == "more_devices").expect("more devices help");
    assert!(number(more, "/devices") >= 16.0 && number(more, "/step_time") > 0.0);
}

#[test]
fn why_not_has_an_answer_for_the_impossible_the_large_the_slow_and_the_best() {
    let verdict = |named: &str, line: &[&str]| {
        let line = [line, &["--json", "--why-not", named][..]].concat();
        json(&line, 0)["why_not"][0]["why_not"].clone()
    };
    let line = small(&[]);
    let impossible = verdict("tp=3", &line);
    assert_eq!(impossible["verdict"], "impossible");
    assert!(!impossible["problems"].as_array().expect("problems").is_empty());
    let slow = verdict("tp=8,recompute=full", &line);
    assert_eq!(slow["verdict"], "slower");
    assert!(number(&slow, "/behind") > 0.0);
    let lost: f64 = slow["differences"].as_array().expect("parts").iter().map(|d| number(d, "/more")).sum();
    assert!(lost > 0.0, "{slow}");
    let large = verdict("tp=1,pp=1,dp=8,zero=none,recompute=none,mbs=4", &line);
    assert_eq!(large["verdict"], "too_large");
    assert!(number(&large, "/lacks") > 0.0);
    assert_eq!(number(&large, "/lacks"), number(&large, "/miss/missing"));
    // 512 sequences are not a multiple of three, and the divisor is named.
    let third = verdict("mbs=3", &line);
    let message = third["problems"][0]["message"].as_str().expect("a message");
    assert!(message.contains("512 sequences cannot be divided into micro-batches of 3"), "{message}");
    // Unsearched layouts are reported, faster or not.
    let outside = |named: &'static str| {
        json(&small(&["--json", "--why-not", named]), 0)["why_not"][0]["outside"].clone()
    };
    assert!(
        outside("precision=fp8")
            .as_str()
            .is_some_and(|text| text.contains("`precision.compute` is not searched"))
    );
    assert_eq!(outside("tp=8"), Value::Null);
    // With every layout listed by time the first row is the fastest.
    let answer = json(&small(&["--json", "--all"]), 0);
    let plan = &candidates(&answer)[0]["ranked"]["candidate"]["plan"];
    let own = format!("tp={},pp={}", plan["tensor_parallel"], plan["pipeline_parallel"]);
    let all = small(&["--all"]);
    assert_eq!(verdict(&own, &all)["verdict"], "best");
    // It ties with a simpler first row and is not slower.
    let tied = verdict(&own, &line);
    assert!(tied["verdict"] == "best" || tied["is_tie"] == true && number(&tied, "/behind") <= 0.0, "{tied}");
}

#[test]
fn a_front_holds_nothing_that_another_beats() {
    let answer = json(&small(&["--json", "--pareto", "time,memory", "--top", "1000"]), 0);
    let points: Vec<(f64, f64)> = candidates(&answer)
        .iter()
        .map(|c| {
            let c = &c["ranked"]["candidate"];
            (number(c, "/tokens_per_second"), number(c, "/headroom"))
        })
        .collect();
    assert!(points.len() > 2, "{points:?}");
    // Two of them are its ends, and the report mentions more.
    let ends = json(&small(&["--json", "--pareto", "time,memory", "--top", "2"]), 0);
    assert_eq!(number(&ends, "/found"), points.len() as f64);
    let shown = candidates(&ends);
    assert_eq!(number(&shown[0], "/ranked/candidate/headroom"), points[0].1);
    assert_eq!(number(&shown[1], "/ranked/candidate/headroom"), points[points.len() - 1].1);
    let outcome = run(&small(&["--pareto", "time,memory", "--top", "2"]));
    let spread = format!(" of {} layouts on the Pareto front", points.len());
    assert!(outcome.stdout.contains(&spread), "{}", outcome.stdout);
    for (i, a) in points.iter().enumerate() {
        for (j, b) in points.iter().enumerate() {
            assert!(i == j || !(b.0 >= a.0 && b.1 >= a.1), "{a:?} is beaten by {b:?}");
        }
    }
}

#[test]
fn several_clusters_and_numbers_make_one_table() {
    let line = [
        "search",
        "llama-3-8b",
        "--cluster",
        "dgx-h100,dgx-a100",
        "--gpus",
        "8,16",
        "--space",
        "vp=1",
        "--space",
        "cp=1",
        "--space",
        "micro_batch=1",
        "--objective",
        "cost",
        "--all",
        "--top",
        "60",
        "--json",
    ];
    let answer = json(&line, 0);
    let mut seen: Vec<(String, u64)> = Vec::new();
    let mut last = 0.0;
    for one in candidates(&answer) {
        let c = &one["ranked"]["candidate"];
        let price = number(c, "/dollars_per_billion_tokens");
        assert!(price >= last);
        last = price;
        assert_eq!(
            number(c, "/plan/global_batch"),
            number(&candidates(&answer)[0], "/ranked/candidate/plan/global_batch")
        );
        let own =
            (one["cluster"].as_str().expect("a name").to_owned(), c["devices"].as_u64().expect("a number"));
        if !seen.contains(&own) {
            seen.push(own);
        }
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}

/// A search that takes a while, stopped: partial results are printed and marked, with their exit code.
#[cfg(unix)]
#[test]
fn an_interrupt_keeps_the_best_so_far() {
    let line =
        ["search", "llama-3.1-405b", "--cluster", "dgx-h100", "--gpus", "16384", "--json", "--threads", "1"];
    let line = [&line[..], &["--why-not", "tp=2"]].concat();
    let child = program(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    std::thread::sleep(Duration::from_millis(700));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let output = child.wait_with_output().expect("ends");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let verdict = &answer["why_not"][0]["why_not"]["verdict"];
    // A machine that is faster than the interrupt has the whole result.
    if answer["complete"] == true {
        assert!(matches!(output.status.code(), Some(0 | 130)));
    } else {
        assert_eq!(output.status.code(), Some(130));
        assert_eq!(verdict, "unanswered");
    }
}

/// The number of devices of a launch file is part of its run: it is asked for, not chosen.
#[test]
fn a_launch_file_without_a_number_of_devices_is_asked_for_it() {
    let path = scratch("no-number.sh");
    let script = "torchrun --nnodes $NNODES pretrain_gpt.py --num-layers 8 --hidden-size 1024 --num-attention-heads 8 \
        --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 64 --bf16 \
        --vocab-size 32000 --tokenizer-type NullTokenizer --train-iters 10\n";
    std::fs::write(&path, script).expect("written");
    let on = |command: &'static str| [command, &path, "--cluster", "dgx-h100"].map(str::to_owned);
    for command in ["search", "tune", "estimate"] {
        let line = on(command);
        let text = rejected(&line.each_ref().map(String::as_str));
        assert!(text.contains("the number of devices is not set"), "{command}: {text}");
    }
    let line = on("search");
    let line: Vec<&str> = line.iter().map(String::as_str).chain(["--gpus", "8"]).collect();
    assert_eq!(run(&line).code, 0);
    std::fs::remove_file(&path).expect("removed");
}

#[test]
fn mistakes_are_reported() {
    let on = ["search", "llama-3-8b", "--cluster", "dgx-h100"];
    let mut text = String::new();
    for more in [
        &["--gpus", "64", "--tp", "8", "--pp", "16"][..],
        &["--gpus", "64", "--tp", "7"],
        &["--gpus", "64", "--tp", "8", "--dp", "3"],
        &["--gpus", "64", "--space", "tp=16..32"],
        &["--gpus", "64", "--space", "tpp=1"],
        &["--gpus", "64", "--space", "tp"],
        &["--gpus", "64", "--space", "tp=x"],
        &["--gpus", "64", "--space", "tp=8..2"],
        &["--gpus", "64", "--tp", "2", "--space", "tp=1,2"],
        &["--gpus", "64", "--space", "precision=fp8"],
        &["--gpus", "64", "--space", "schedule=zb-h9"],
        &["--gpus", "0"],
        &["--gpus", "many"],
        &["--gpus", "1..3"],
        &["--gpus", "8", "--pareto", "time"],
        &["--gpus", "8", "--pareto", "time,time"],
        &["--gpus", "8", "--pareto", "time,speed"],
        &["--gpus", "8", "--fit-probability", "2"],
        &["--gpus", "8", "--threads", "0"],
        &["--gpus", "8", "--top", "0"],
        &["--gpus", "8", "--micro-batches", "8"],
        &["--gpus", "8", "--global-batch", "7", "--dp", "8"],
        &["--gpus", "8", "--why-not", "8"],
        &["--gpus", "8", "--why-not", "tq=8"],
        &["--gpus", "8", "--why-not", "tp=eight"],
    ] {
        let line = [&on[..], more].concat();
        text.push_str(&rejected(&line));
    }
    insta::assert_snapshot!("search_mistakes", text);
}

#[test]
fn odd_numbers_of_devices_have_a_batch_that_divides_among_them() {
    let line = ["search", "llama-3.1-70b", "--cluster", "dgx-a100", "--space", "tp=8", "--space", "vp=1"];
    let with = |more: &[&'static str]| run(&[&line[..], &["--top", "1"], more].concat());
    for (devices, batch) in [("1000", "500"), ("3000", "375")] {
        let outcome = with(&["--gpus", devices, "--space", "micro_batch=1"]);
        assert_eq!(outcome.code, 0, "{devices}: {}", outcome.stderr);
        assert!(outcome.stdout.contains(&format!("; {batch} sequences of ")), "{}", outcome.stdout);
    }
    let outcome = with(&["--gpus", "1000", "--global-batch", "512"]);
    assert_eq!(outcome.code, 2);
    for part in ["512 sequences per step are not divisible by any possible number of replicas", "500"] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
}
