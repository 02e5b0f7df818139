//! `tune` on launch files, and one loader for every command that takes a run.

use crate::support::{json, run, scratch};
use std::fs;

const ROOT: &str = "../../../..";
const SCRIPT: &str = "examples/launch/llama3_70b.sh";

fn at(path: &str) -> String {
    format!("{ROOT}/{path}")
}

/// A copy of an example that may be changed.
fn copy(path: &str, name: &str) -> String {
    let text = fs::read_to_string(format!("../../{path}")).expect("the example");
    let to = scratch(name);
    fs::write(&to, text).expect("a file");
    to
}

#[test]
fn a_script_is_changed_to_the_layout_that_was_priced() {
    let file = copy(SCRIPT, "tuned.sh");
    let before = fs::read_to_string(&file).expect("the copy");
    let answer = json(&["tune", &file, "--cluster", "dgx-h100", "--json", "--quiet", "--top", "3"], 0);
    assert_eq!(answer["own"]["plan"]["tensor_parallel"], 8);
    let first = &answer["layouts"][0];
    assert!(first["change"].as_f64().is_some_and(|change| change < -0.1), "{first:?}");
    assert!(
        answer["origins"].as_array().is_some_and(|all| all.iter().any(|o| o["line"] == 79)),
        "{answer:?}"
    );
    assert_eq!(answer["untouched"][0], "--loss-scaling-factr");
    let diff = run(&["tune", &file, "--cluster", "dgx-h100", "--diff", "--quiet"]);
    assert_eq!(diff.code, 0, "{}", diff.stderr);
    assert!(diff.stdout.starts_with("--- ") && diff.stdout.contains("\n-PP=4\n"), "{}", diff.stdout);
    assert_eq!(fs::read_to_string(&file).expect("the copy"), before, "a diff changes nothing");
    let written = run(&["tune", &file, "--cluster", "dgx-h100", "--in-place", "--quiet"]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    let after = json(&["estimate", &file, "--cluster", "dgx-h100", "--json", "--quiet"], 0);
    for key in [
        "tensor_parallel",
        "pipeline_parallel",
        "virtual_stages",
        "micro_batch",
        "sharding",
        "recompute",
        "software",
    ] {
        assert_eq!(after["plan"][key], first["plan"][key], "{key}");
    }
    // The layout is without the flag that dated the script; a comment keeps the generation.
    let comment = "\n+# railwright: plan.software = \"megatron-core-2025\"\n";
    assert!(diff.stdout.contains(comment), "{}", diff.stdout);
    let time = |answer: &serde_json::Value| answer["step_time"].as_f64().expect("a time");
    assert!((time(&after) / time(first) - 1.0).abs() < 1e-9, "{} {}", time(&after), time(first));
    let _ = fs::remove_file(&file);
}

#[test]
fn what_is_kept_and_what_is_pinned_stays() {
    let file = at(SCRIPT);
    let answer =
        json(&["tune", &file, "--cluster", "dgx-h100", "--keep", "pp", "--vp", "10", "--json", "--quiet"], 0);
    assert_eq!(answer["own"]["plan"]["virtual_stages"], 5, "a flag narrows the search and not the own run");
    let layouts = answer["layouts"].as_array().expect("layouts");
    assert!(!layouts.is_empty());
    for layout in layouts {
        let degrees = [&layout["plan"]["pipeline_parallel"], &layout["plan"]["virtual_stages"]];
        assert_eq!(degrees, [&4, &10]);
    }
    let unknown = run(&["tune", &file, "--cluster", "dgx-h100", "--keep", "frobnicate"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("--keep"), "{}", unknown.stderr);
}

#[test]
fn a_log_is_not_edited_and_its_measurement_refines_the_ranking() {
    let log = at("examples/launch/mixtral_8x7b.log");
    let answer = json(
        &["tune", &log, "--cluster", "dgx-h100", "--measured", &log, "--json", "--quiet", "--top", "2"],
        0,
    );
    let measured = answer["own"]["measured"]["seconds"].as_f64().expect("a time");
    assert!((measured - 5.41).abs() < 0.1, "{measured}");
    let factor = answer["level"]["factor"].as_f64().expect("a factor");
    let predicted = answer["own"]["step_time"].as_f64().expect("a time");
    assert!((factor - measured / predicted).abs() < 1e-9, "{factor}");
    for layout in answer["layouts"].as_array().expect("layouts") {
        let expected = &layout["expected"];
        let time = layout["step_time"].as_f64().expect("a time") * factor;
        assert!((expected["seconds"].as_f64().expect("a time") / time - 1.0).abs() < 1e-9);
        assert!(expected["low"].as_f64() < expected["high"].as_f64());
        assert!(layout["refused"]["reason"].as_str().is_some_and(|reason| {
            reason.contains("a log cannot be edited: change the script of the run")
        }));
    }
    let refused = run(&["tune", &log, "--cluster", "dgx-h100", "--diff", "--quiet"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("by hand"), "{}", refused.stderr);
}

/// A log that prints another layout than the variant that it is mapped to.
#[test]
fn a_log_is_not_credited_to_another_layout() {
    let log = at("examples/launch/mixtral_8x7b.log");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/launch/mixtral_8x7b.log");
    let text = fs::read_to_string(example).expect("an example");
    let own = "micro_batch_size ................................ 1\n";
    assert!(text.contains(own));
    let variant = scratch("other-layout.log");
    fs::write(&variant, text.replace(own, &own.replace(" 1\n", " 2\n"))).expect("a place for a file");
    let pair = format!("{variant}={log}");
    let refused = run(&["tune", &log, "--cluster", "dgx-h100", "--measured", &pair, "--quiet"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("a layout other than that of the file to which it is mapped"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("the micro-batch is 1 in the measurement and 2 in the run"),
        "{}",
        refused.stderr
    );
    let missing = run(&["tune", &log, "--cluster", "dgx-h100", "--measured", "absent.log", "--quiet"]);
    assert!(missing.stderr.contains("file not found"), "{}", missing.stderr);
    assert!(!missing.stderr.contains("pass its variant"), "{}", missing.stderr);
    let _ = fs::remove_file(&variant);
}

#[test]
fn variants_are_written_into_a_folder() {
    let folder = format!("{}/", scratch("variants"));
    let outcome = run(&["tune", &at(SCRIPT), "--cluster", "dgx-h100", "--top", "2", "-o", &folder]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    for name in ["llama3_70b-1.sh", "llama3_70b-2.sh"] {
        let path = format!("{folder}{name}");
        assert_eq!(run(&["estimate", &path, "--cluster", "dgx-h100", "--quiet"]).code, 0, "{path}");
    }
    let _ = fs::remove_dir_all(&folder);
}

/// Files of every kind with the settings that they leave open: settings of the model and the GPUs.
const FORMATS: &[(&str, &str, &[&str])] = &[
    ("Megatron script", "examples/launch/llama3_70b.sh", &[]),
    ("Megatron command", "examples/launch/deepseek_v3_command.txt", &["cluster.devices=1024"]),
    ("Megatron log", "examples/launch/mixtral_8x7b.log", &[]),
    ("torchtitan", "examples/launch/llama3_8b_torchtitan.toml", &["cluster.devices=16"]),
    ("DeepSpeed", "examples/launch/zero3.json", &["model.name=llama-3-8b", "cluster.devices=32"]),
    ("nanotron", "crates/launch/tests/fixtures/nanotron/llama.yaml", &[]),
    ("accelerate", "crates/launch/tests/fixtures/accelerate/fsdp2_mesh.yaml", &["model.name=llama-3-8b"]),
    ("run file", "examples/runs/llama-3-8b-fsdp.toml", &[]),
    ("config.json", "catalog/models/llama-2-7b.json", &["cluster.devices=16"]),
    ("catalogue", "llama-3-8b", &["cluster.devices=16"]),
];

#[test]
fn every_command_takes_every_format() {
    let trace = "../../../../fixtures/traces/megatron_tp2_v100";
    for (kind, path, settings) in FORMATS {
        let path = if path.contains('/') { at(path) } else { (*path).to_owned() };
        let mut set: Vec<String> = vec!["--set".to_owned(), "cluster.preset=dgx-h100".to_owned()];
        set.extend(settings.iter().flat_map(|setting| ["--set".to_owned(), (*setting).to_owned()]));
        let commands: &[&[&str]] = &[
            &["estimate", &path, "--quiet"],
            &["estimate", "--run", &path, "--quiet"],
            &["estimate", "--launch", &path, "--quiet"],
            &["memory", &path, "--quiet"],
            &["timeline", &path, "--quiet", "-o", "/dev/null", "--svg"],
            &["init", &path],
            &["pipeline", "--predict", &path, "--quiet"],
            &["network", "cost", "--run", &path, "--quiet"],
            &["profile", trace, "--quiet", "--run", &path],
        ];
        for command in commands {
            let mut words: Vec<&str> = command.to_vec();
            words.extend(set.iter().map(String::as_str));
            let outcome = run(&words);
            // A layout that does not fit is a valid result.
            assert!(outcome.code <= 1, "{kind}: {}: {}", words.join(" "), outcome.stderr);
        }
    }
}

#[test]
fn what_is_missing_is_asked_for_with_the_option_of_the_command() {
    let script = at(SCRIPT);
    let trace = "../../../../fixtures/traces/megatron_tp2_v100";
    let hints: &[(&[&str], &str)] = &[
        (&["estimate", &script], "--cluster dgx-h100"),
        (&["profile", trace, "--run", &script], "--cluster dgx-h100"),
        (&["network", "cost", "--run", &script], "--set cluster.preset=dgx-h100"),
        (&["pipeline", "--predict", &script], "--cluster dgx-h100"),
        (&["estimate", &at("examples/launch/zero3.json"), "--cluster", "dgx-h100"], "--set model.name="),
    ];
    for (words, hint) in hints {
        let outcome = run(words);
        assert!(outcome.code == 2 && outcome.stderr.contains(hint), "{words:?}: {}", outcome.stderr);
    }
}

#[test]
fn flags_of_frameworks_are_taken() {
    let typed = &[
        "estimate",
        "llama-3-8b",
        "--cluster",
        "dgx-h100",
        "--gpus",
        "16",
        "--tensor-model-parallel-size",
        "2",
        "--fp8-format=hybrid",
        "--bf16",
        "--pipeline-model-parallel-size",
        "2",
        "--json",
        "--quiet",
    ];
    let answer = json(typed, 0);
    assert_eq!(
        (&answer["plan"]["tensor_parallel"], &answer["plan"]["pipeline_parallel"]),
        (&2.into(), &2.into())
    );
    assert_eq!(answer["plan"]["precision"]["compute"], "fp8");
    let titan = json(
        &[
            "estimate",
            "llama-3-8b",
            "--cluster",
            "h100",
            "--gpus",
            "8",
            "--parallelism.tensor_parallel_degree",
            "4",
            "--json",
            "--quiet",
        ],
        0,
    );
    assert_eq!(titan["plan"]["tensor_parallel"], 4);
    let count =
        json(&["estimate", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "1k", "--json", "--quiet"], 0);
    assert_eq!(
        count["devices"].as_u64().or(count["plan"]["data_parallel"].as_u64()).map(|n| n > 1),
        Some(true)
    );
    let unknown = run(&["estimate", "llama-3-8b", "--frobnicate", "3"]);
    assert!(unknown.code == 2 && !unknown.stderr.contains("similar"), "{}", unknown.stderr);
    let slip = run(&["estimate", "llama-3-8b", "--micro-batchs", "3"]);
    assert!(slip.stderr.contains("--micro-batch"), "{}", slip.stderr);
}

/// A layout that does not fit has the step time of `estimate`, not that of a device that retries allocations.
#[test]
fn a_layout_that_lacks_memory_keeps_its_step_time() {
    let file = scratch("lacking.sh");
    let words =
        "export llama-3-70b --cluster dgx-h100 --gpus 256 --gbs 1024 --tp 4 --pp 4 --vp 5 --to megatron -o";
    let export: Vec<&str> = words.split(' ').chain([file.as_str(), "--quiet"]).collect();
    let written = run(&export);
    assert!(std::path::Path::new(&file).exists(), "{}", written.stderr);
    let estimated = run(&["estimate", &file, "--cluster", "dgx-h100", "--json", "--quiet"]);
    let estimated: serde_json::Value = serde_json::from_str(&estimated.stdout).expect("JSON");
    let tuned = json(&["tune", &file, "--cluster", "dgx-h100", "--json", "--quiet"], 0);
    assert_eq!(tuned["own"]["step_time"], estimated["step_time"]);
    let own = &tuned["own"];
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    assert!(number(&own["probability_of_fitting"]) < 0.9, "{own}");
    let interval = &own["step_time_interval"];
    assert!(number(&interval["low"]) < number(&own["step_time"]), "{own}");
    assert!(number(&own["step_time"]) < number(&interval["high"]), "{own}");
    let printed = run(&["tune", &file, "--cluster", "dgx-h100", "--quiet"]);
    assert!(printed.stdout.contains("likely to fit in memory"), "{}", printed.stdout);
}

#[test]
fn a_search_of_a_script_frees_what_the_script_pins() {
    let file = at(SCRIPT);
    let search = |more: &[&str]| {
        let mut words = vec!["search", &file, "--cluster", "dgx-h100", "--json", "--quiet"];
        words.extend(more);
        json(&words, 0)
    };
    let answer = search(&[]);
    let own = &answer["own"][0]["ranked"];
    let tuned = json(&["tune", &file, "--cluster", "dgx-h100", "--json", "--quiet"], 0);
    assert_eq!(own["candidate"]["plan"], tuned["own"]["plan"], "the file's own layout is the first row");
    assert_eq!(own["candidate"]["step_time"], tuned["own"]["step_time"]);
    assert!(answer["counters"]["enumerated"].as_u64() > Some(10_000), "{}", answer["counters"]);
    let first = &answer["candidates"][0]["ranked"]["candidate"];
    for key in ["global_batch", "sequence_length", "precision", "software"] {
        assert_eq!(first["plan"][key], own["candidate"]["plan"][key], "{key}");
    }
    // Both commands have the same families; `tune` also counts the changes of the file.
    let tied =
        answer["candidates"].as_array().expect("candidates").iter().map(|row| &row["ranked"]["candidate"]);
    let mut tied = tied.filter(|candidate| candidate["tied_with_best"] == true);
    assert!(tied.any(|candidate| {
        candidate["plan"]["pipeline_parallel"] == tuned["layouts"][0]["plan"]["pipeline_parallel"]
    }));
    // The command of a row overrides the file.
    let command = answer["candidates"][0]["command"].as_str().expect("a command");
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--json", "--quiet"]).collect();
    let again = json(&words, 0);
    assert_eq!(again["plan"], first["plan"], "{command}");

    let kept = search(&["--keep", "pp", "--mbs", "2"]);
    for row in kept["candidates"].as_array().expect("rows") {
        let plan = &row["ranked"]["candidate"]["plan"];
        assert_eq!((&plan["pipeline_parallel"], &plan["micro_batch"]), (&4.into(), &2.into()));
    }
    assert_eq!(kept["own"][0]["ranked"]["candidate"]["plan"]["micro_batch"], 1);
    let larger = search(&["--gpus", "128", "--top", "2"]);
    assert_eq!(larger["candidates"][0]["ranked"]["candidate"]["devices"], 128);
    let nothing = run(&["search", "llama-3-8b", "--cluster", "h100", "--gpus", "8", "--keep", "tp"]);
    assert!(nothing.code == 2 && nothing.stderr.contains("--keep"), "{}", nothing.stderr);
}

/// A launch file dates a framework and does not name its generation. Every command uses the interval of all
/// versions of the framework, until one is named.
#[test]
fn software_of_a_launch_file_is_inferred_for_every_command() {
    let file = at(SCRIPT);
    let width = |interval: &serde_json::Value| {
        let end = |name: &str, index: usize| {
            interval.get(name).or_else(|| interval.get(index)).and_then(serde_json::Value::as_f64)
        };
        end("high", 1).expect("an end") / end("low", 0).expect("an end")
    };
    let widths = |more: &[&str]| {
        let ask = |command: &[&str]| {
            let common = ["--cluster", "dgx-h100", "--json", "--quiet"];
            json(&[command, &common, more].concat(), 0)
        };
        let estimate = ask(&["estimate", &file]);
        let tune = ask(&["tune", &file, "--top", "1"]);
        let check = ask(&["check", &file]);
        let all = [
            width(&estimate["step_time_interval"]),
            width(&tune["own"]["step_time_interval"]),
            width(&check["files"][0]["figures"]["step_time_interval_s"]),
        ];
        assert!(all.iter().all(|own| (own / all[0] - 1.0).abs() < 1e-6), "{all:?}");
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        (all[0], text(&estimate["plan"]["software"]), text(&estimate["step_time_interval"]["source"]))
    };
    let (open, software, why) = widths(&[]);
    let (named, same, source) = widths(&["--software", &software]);
    assert_eq!(same, software);
    // The interval of the named generation may already contain those of the framework's other versions.
    assert!(open >= named * (1.0 - 1e-9) && open < 1.5 * named, "{open} {named}");
    assert!(why.contains("was inferred") && !source.contains("inferred"), "{why} {source}");
}

/// The run file of a search over a launch file records that its generation was not specified: writing it does
/// not narrow the interval.
#[test]
fn a_run_file_of_a_launch_file_keeps_its_interval() {
    let found = json(&["search", &at(SCRIPT), "--cluster", "dgx-h100", "--top", "1", "--json", "--quiet"], 0);
    let best = &found["candidates"][0];
    let text = best["run_file"].as_str().expect("a run file");
    let directory = std::env::temp_dir().join(format!("railwright-inferred-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a folder");
    let ratio = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("written");
        let estimate = json(&["estimate", &path.display().to_string(), "--json", "--quiet"], 0);
        let ends = &estimate["step_time_interval"];
        let end = |name: &str, index: usize| {
            ends.get(name).or_else(|| ends.get(index)).and_then(serde_json::Value::as_f64).expect("an end")
        };
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        (end("high", 1) / end("low", 0), text(&estimate["plan"]["software"]), text(&ends["source"]))
    };
    let (written, software, why) = ratio("written.toml", text);
    let named: String =
        text.lines().filter(|line| !line.starts_with("software")).fold(String::new(), |all, line| {
            let more = if line == "[plan]" { format!("\nsoftware = \"{software}\"") } else { String::new() };
            all + line + &more + "\n"
        });
    let (specified, same, source) = ratio("named.toml", &named);
    let _ = std::fs::remove_dir_all(&directory);
    assert_eq!(same, software);
    assert!(written >= specified * (1.0 - 1e-9), "{written} {specified}\n{text}");
    assert!(why.contains("was inferred") && !source.contains("inferred"), "{why} {source}");
}

/// The command of a row is the file and the fewest flags: without any one of them another plan results, and
/// with all of them the row's. A batch that was typed is among them, because the file has another one.
#[test]
fn the_command_of_a_row_has_the_fewest_flags() {
    let file = scratch("fewest.toml");
    let text = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n\n[training]\nlocal_batch_size = 1\nseq_len = 8192\nsteps = 10\n\n\
        [parallelism]\ntensor_parallel_degree = 2\n\n[activation_checkpoint]\nmode = \"full\"\n";
    fs::write(&file, text).expect("a file");
    let typed = ["search", &file, "--cluster", "dgx-h100", "--gpus", "16", "--global-batch", "64"];
    let found = json(&[&typed[..], &["--top", "1", "--json", "--quiet"]].concat(), 0);
    let row = &found["candidates"][0];
    let wanted = &row["ranked"]["candidate"]["plan"];
    let command = row["command"].as_str().expect("a command");
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    // The order of ranks has no effect without a pipeline, and no flag.
    let effective = |plan: &serde_json::Value| {
        let mut plan = plan.clone();
        plan.as_object_mut().map(|plan| plan.remove("rank_order"));
        plan
    };
    assert_eq!(wanted["pipeline_parallel"], 1);
    let wanted = &effective(wanted);
    let plan = |words: &[&str]| {
        let text = run(&[words, &["--json", "--quiet"]].concat()).stdout;
        serde_json::from_str::<serde_json::Value>(&text).map(|answer| effective(&answer["plan"])).ok()
    };
    assert_eq!(plan(&words).as_ref(), Some(wanted), "{command}");
    let flags: Vec<usize> = (0..words.len()).filter(|&at| words[at].starts_with("--")).collect();
    let names: Vec<&str> = flags.iter().map(|&at| words[at]).collect();
    assert!(names.contains(&"--gbs"), "{command}");
    for (index, &at) in flags.iter().enumerate() {
        if ["--cluster", "--gpus"].contains(&words[at]) {
            continue;
        }
        let end = flags.get(index + 1).copied().unwrap_or(words.len());
        let fewer = [&words[..at], &words[end..]].concat();
        assert_ne!(plan(&fewer).as_ref(), Some(wanted), "{} is needed: {command}", words[at]);
    }
    let _ = fs::remove_file(&file);
}

/// Transformers' Trainer has neither stages nor tensor parallelism nor recompute of some layers: neither
/// `tune` nor `search` ranks such a layout for its files.
#[test]
fn a_trainers_script_is_tuned_within_what_the_trainer_has() {
    let file = scratch("trainer.sh");
    let script = "#!/bin/bash\ntorchrun --nnodes 4 --nproc_per_node 8 train.py --model_name_or_path Qwen/Qwen3-8B \\\n  \
                  --per_device_train_batch_size 2 --gradient_accumulation_steps 8 --bf16 --max_length 4096 \\\n  \
                  --deepspeed ds_z3_config.json --gradient_checkpointing --output_dir out --logging_steps 1\n";
    fs::write(&file, script).expect("a file");
    let tuned = json(&["tune", &file, "--cluster", "dgx-h100", "--json", "--quiet"], 0);
    let searched = json(&["search", &file, "--cluster", "dgx-h100", "--json", "--quiet"], 0);
    let rows = tuned["layouts"].as_array().into_iter().chain(searched["candidates"].as_array()).flatten();
    let mut count = 0;
    for row in rows {
        let plan = if row["plan"].is_object() { &row["plan"] } else { &row["ranked"]["candidate"]["plan"] };
        let plan = if plan.is_object() { plan } else { &row["candidate"]["plan"] };
        let sizes =
            ["tensor_parallel", "pipeline_parallel", "context_parallel"].map(|key| plan[key].as_u64());
        assert_eq!(sizes, [Some(1); 3], "{row}");
        let recompute = &plan["recompute"];
        assert!(recompute["mode"] != "selective" && recompute["layers"].is_null(), "{recompute}");
        count += 1;
    }
    assert!(count > 2, "{count} layouts");
    let _ = fs::remove_file(&file);
}
