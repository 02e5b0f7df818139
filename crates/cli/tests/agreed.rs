//! Commands agree on what they leave open, on ties, on verdicts and on flags.
//!
//! Responsible for: one number of devices if none is set, the memory verdict of written files and of runs
//! that do not fit, one notation of fit probabilities, one reference for ties, repeated flags and suffixes of
//! output files.

use crate::support::{json, program, rejected, run, scratch};

const OPEN: [&str; 3] = ["llama-3-70b", "--cluster", "dgx-h100"];

/// A command on a model and a cluster, without a number of devices.
fn open<'a>(command: &[&'a str]) -> Vec<&'a str> {
    [&command[..1], &OPEN, &command[1..]].concat()
}

#[test]
fn every_command_takes_the_fewest_devices_that_fit() {
    let estimated = json(&open(&["estimate", "--json", "--quiet"]), 0);
    let devices = estimated["cluster"]["devices"].as_u64().expect("devices");
    assert!(devices > 8, "one node is too small for this test: {devices}");
    let trace = scratch("agreed.json");
    let stated = format!("{devices} GPUs: the smallest power of two that fits");
    for command in [
        &["memory"][..],
        &["recompute"],
        &["sensitivity"],
        &["balance"],
        &["whatif", "--change", "hbm=x2"],
        &["network", "traffic"],
        &["export", "--to", "megatron"],
        &["timeline", "-o", &trace],
        &["search", "--top", "1"],
    ] {
        let arguments = match command {
            ["network", kind] => [&["network", *kind], &OPEN[..]].concat(),
            other => open(other),
        };
        let outcome = run(&arguments);
        assert_eq!(outcome.code, 0, "{arguments:?}: {}", outcome.stderr);
        let all = format!("{}{}", outcome.stdout, outcome.stderr).replace('\n', " ");
        assert!(all.contains(&stated), "{arguments:?}: {}", all.chars().take(2000).collect::<String>());
    }
    let _ = std::fs::remove_file(&trace);
    let tuned = json(&open(&["tune", "--json", "--quiet"]), 0);
    assert!(tuned["title"].as_str().is_some_and(|title| title.contains(&format!("on {devices} x"))));
}

#[test]
fn an_exported_run_has_the_verdict_of_its_memory() {
    let path = scratch("too-large.sh");
    let too_large = open(&["export", "--gpus", "256", "--tp", "1", "--to", "megatron", "-o", path.as_str()]);
    let outcome = run(&too_large);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("warning: does not fit: "), "{}", outcome.stderr);
    assert!(std::fs::read_to_string(&path).is_ok_and(|text| text.contains("torchrun")));
    let _ = std::fs::remove_file(&path);
    let fits = run(&open(&["export", "--gpus", "256", "--to", "megatron"]));
    assert_eq!(fits.code, 0, "{}", fits.stderr);
    assert!(!fits.stderr.contains("at risk") && !fits.stderr.contains("does not fit"), "{}", fits.stderr);
}

#[test]
fn assumed_bridges_are_named_with_the_setting_that_removes_them() {
    let asked =
        |more: &[&str]| {
            let outcome =
                run(&[&["estimate", "llama-2-13b", "--cluster", "a100-pcie-80gb", "--gpus", "16"], more]
                    .concat());
            outcome.stdout.replace('\n', " ")
        };
    let bridged = asked(&[]);
    assert!(
        bridged.contains("pairs of GPUs with NVLink bridges (assumed; `--set cluster.scale_up.domain=1`"),
        "{bridged}"
    );
    assert!(!asked(&["--set", "cluster.scale_up.domain=1"]).contains("NVLink bridges"));
}

#[test]
fn flags_that_fix_the_layout_are_named_and_can_be_freed() {
    let fixed = ["--gpus", "256", "--tp", "4", "--cp", "2", "--pp", "4", "--vp", "5", "--mbs", "1"];
    let outcome = run(&open(&[&["tune"], &fixed[..]].concat()));
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let text = outcome.stdout.replace('\n', " ");
    assert!(
        text.contains("flags fix tensor_parallel") && text.contains("`--free tensor_parallel,"),
        "{text}"
    );
    // Without a file, the flags are the user's own layout.
    let set = [&fixed[..], &["--json", "--quiet"]].concat();
    let own = &json(&open(&[&["tune"], &set[..]].concat()), 0)["own"];
    assert_eq!(own["step_time"], json(&open(&[&["estimate"], &set[..]].concat()), 0)["step_time"]);
    let freed = [&fixed[..], &["--free", "tp,pp,cp,vp,mbs", "--json", "--quiet"]].concat();
    let answer = json(&open(&[&["tune"], &freed[..]].concat()), 0);
    assert_eq!(answer["own"]["plan"]["tensor_parallel"], 4);
    let layouts = answer["layouts"].as_array().expect("layouts");
    assert!(layouts.iter().any(|row| row["plan"]["tensor_parallel"] != 4), "{layouts:?}");
}

/// Every row within the band has the mark of a tie, measured from the reference that the column names.
#[test]
fn ties_and_the_column_of_differences_have_one_reference() {
    let question = open(&["search", "--gpus", "256", "--top", "10"]);
    let text = run(&question).stdout;
    let band = text.split("Step times within ").nth(1).and_then(|rest| rest.split('%').next());
    let band: f64 = band.and_then(|band| band.parse().ok()).expect("the band");
    let mut rows = 0;
    // The heading may have two lines.
    assert!(text.contains("vs.") && text.contains("fastest"), "{text}");
    for line in text.lines() {
        let Some(at) = line.find("  +") else { continue };
        let Some((lag, rest)) = line[at + 3..].split_once('%') else { continue };
        let Ok(lag) = lag.parse::<f64>() else { continue };
        rows += 1;
        assert_eq!(lag <= band, rest.starts_with(", tie"), "{line}");
    }
    assert!(rows > 5, "{text}");
}

#[test]
fn a_change_within_the_model_error_is_no_difference() {
    let change = ["--gpus", "256", "--change", "hbm=x1.3"];
    let answer = json(&open(&[&["whatif"], &change[..], &["--json", "--quiet"]].concat()), 0);
    let share = answer["alone"][0]["outcome"]["difference"]["share"].as_f64().expect("a share");
    let band = answer["tie_band"].as_f64().expect("a band");
    assert!(share < -5e-4 && share > -band, "{share} {band}");
    let text = run(&open(&[&["whatif"], &change[..]].concat())).stdout;
    assert!(text.starts_with("no significant difference"), "{text}");
}

#[test]
fn recompute_compares_times_in_the_headline_and_in_the_table() {
    let text = run(&open(&["recompute", "--gpus", "64", "--tp", "8", "--pp", "4"])).stdout;
    let gain = text.split(": ").nth(1).and_then(|rest| rest.split(" shorter").next()).expect("a gain");
    let best = text.lines().find(|line| line.starts_with("best ") && line.contains('%')).expect("a row");
    assert!(best.contains(&format!("-{gain}")), "{gain}: {best}");
}

#[test]
fn sizes_name_their_references_and_the_missing_price() {
    let asked =
        |more: &[&str]| run(&open(&[&["size", "--tokens", "2T"], more].concat())).stdout.replace('\n', " ");
    let late = asked(&["--gpus", "256", "--deadline", "60d"]);
    assert!(!late.contains("`--deadline TIME` or") && late.contains("next: try other sizes"), "{late}");
    let sizes = asked(&["--gpus", "128,256,320,360,384"]);
    assert!(sizes.contains("since the next smaller efficient size (128, "), "{sizes}");
    let outcome =
        run(&["size", "llama-3-8b", "--cluster", "a800-pcie-80gb", "--gpus", "8,16", "--tokens", "1T"]);
    assert!(outcome.stdout.contains("no rent: A800 PCIe 80GB has no price"), "{}", outcome.stdout);
}

#[test]
fn a_search_by_cost_needs_a_price() {
    let unpriced =
        ["search", "llama-3-8b", "--cluster", "a800-pcie-80gb", "--gpus", "16", "--objective", "cost"];
    let text = rejected(&unpriced);
    assert!(
        text.contains("--objective: the catalogue has no price for A800")
            && text.contains("--price-per-device-hour")
    );
    assert_eq!(run(&[&unpriced[..], &["--price-per-device-hour", "2"]].concat()).code, 0);
}

#[test]
fn one_flag_with_two_values_is_an_error() {
    let text = rejected(&open(&["estimate", "--tensor-model-parallel-size", "8", "--tp", "4"]));
    assert!(text.contains("`--tp 4` contradicts `--tensor-model-parallel-size 8`"), "{text}");
    let text = rejected(&open(&["estimate", "--tensor-parallel", "8", "--tp", "4"]));
    assert!(
        text.contains("--tensor-parallel (also --tp") && text.contains("two values, `8` and `4`"),
        "{text}"
    );
    assert!(rejected(&open(&["search", "--gpus", "256", "--gpus", "512"])).contains("`256` and `512`"));
    assert_eq!(run(&open(&["estimate", "--gpus", "64", "--gpus", "64"])).code, 0);
    assert_eq!(run(&open(&["estimate", "--gpus", "1k", "--gpus", "1024"])).code, 0);
}

#[test]
fn a_timeline_of_an_unknown_suffix_is_refused_like_a_report() {
    let path = scratch("step.pdf");
    for command in ["estimate", "timeline"] {
        let text = rejected(&open(&[command, "--gpus", "64", "-o", path.as_str()]));
        assert!(text.contains("unknown output format for the suffix `.pdf`"), "{text}");
        assert!(std::fs::metadata(&path).is_err());
    }
}

#[test]
fn errors_lead_to_the_nearest_valid_input() {
    let run_file = scratch("no-cluster.toml");
    std::fs::write(&run_file, "[model]\nname = \"llama-3-8b\"\n").expect("a file");
    let script = scratch("few-flags.sh");
    std::fs::write(&script, "torchrun pretrain_gpt.py --num-layers 12\n").expect("a file");
    for (arguments, words) in [
        (&["estimate", "llama-3-8b", "--cluster", "h10"][..], "did you mean `dgx-h100`"),
        (&["whatif", OPEN[0], "--cluster", "h100", "--change", "cluster=b20"], "did you mean `dgx-b200`"),
        (&["whatif", OPEN[0], "--cluster", "h100", "--change", "tp"], "`--change tp=VALUE`"),
        (
            &["whatif", OPEN[0], "--cluster", "h100", "--change", "micro_batch=1..4"],
            "`--change micro_batch=1`",
        ),
        (&["estimate", OPEN[0], "--cluster", "h100", "--sequence-length", "8KB"], "as in `8192`, `8k`"),
        (&["estimate", "--run", &run_file], "no-cluster.toml: no cluster is set"),
        (&["init", "foo"], "unknown model `foo`"),
        (&["estimate", &script, "--cluster", "h100"], "of Megatron-LM with too few flags"),
    ] {
        let text = rejected(arguments);
        assert!(text.contains(words), "{arguments:?}: {text}");
    }
    assert!(!rejected(&["estimate", OPEN[0], "--format", "xml"]).contains("similar"));
    let _ = (std::fs::remove_file(&run_file), std::fs::remove_file(&script));
}

#[test]
fn narrow_reports_keep_the_columns_that_answer() {
    let narrow = |arguments: &[&str]| {
        let output = program(arguments).env("COLUMNS", "80").output().expect("the program starts");
        String::from_utf8(output.stdout).expect("text")
    };
    for (arguments, column) in [
        (&["recompute", OPEN[0], "--cluster", "h100", "--gpus", "64"][..], " recomputed "),
        (&["estimate", OPEN[0], "--cluster", "h100", "--gpus", "64", "-v"], " option"),
        (&["estimate", OPEN[0], "--cluster", "h100", "--gpus", "64", "-v"], " ranks "),
        (
            &[
                "size",
                OPEN[0],
                "--cluster",
                "h100",
                "--gpus",
                "128,256",
                "--tokens",
                "2T",
                "--deadline",
                "200d",
            ],
            "layout",
        ),
    ] {
        let text = narrow(arguments);
        let is_heading = |line: &&str| line.contains(column) && !line.starts_with("hidden columns");
        assert!(text.lines().any(|line| is_heading(&line)), "{column}: {text}");
    }
}

/// A plan far above the memory: verdicts have the code of `estimate`, and other figures carry its verdict.
#[test]
fn figures_of_a_run_that_does_not_fit_carry_its_verdict() {
    let layout = ["--gpus", "16", "--tp", "2", "--pp", "8", "--recompute", "none"];
    let of = |command: &[&str]| {
        let named = command.iter().take_while(|word| !word.starts_with('-')).count();
        let arguments = [&command[..named], &OPEN, &layout, &command[named..]].concat();
        (run(&arguments), arguments.join(" "))
    };
    let trace = scratch("agreed-unfit.json");
    for command in [&["estimate"][..], &["memory"], &["sensitivity"], &["export", "--to", "megatron"]] {
        let (outcome, arguments) = of(command);
        assert_eq!(outcome.code, 1, "{arguments:?}: {}", outcome.stderr);
        let first = outcome.stdout.split("\n\n").next().unwrap_or_default().replace('\n', " ");
        assert!(format!("{first}{}", outcome.stderr).contains("does not fit"), "{arguments:?}: {first}");
    }
    for command in [&["network", "simulate"][..], &["network", "traffic"], &["timeline", "-o", &trace]] {
        let (outcome, arguments) = of(command);
        assert_eq!(outcome.code, 0, "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("warning: does not fit: "), "{arguments:?}: {}", outcome.stderr);
        let is_written = command.contains(&"-o");
        assert!(
            is_written || outcome.stdout.starts_with("does not fit; "),
            "{arguments:?}: {}",
            outcome.stdout
        );
    }
    let _ = std::fs::remove_file(&trace);
}

const AT_RISK: &str = "../../../../examples/runs/llama-3.1-405b.toml";

/// One notation of a fit probability, and one verdict: every report of a run at risk has both.
#[test]
fn a_fit_probability_has_one_notation() {
    let memory = json(&["memory", AT_RISK, "--json", "--quiet"], 4);
    let probability = memory["memory"]["probability_of_fitting"]
        .as_f64()
        .or_else(|| memory["probability_of_fitting"].as_f64())
        .expect("a probability");
    assert!((0.11..0.89).contains(&probability), "{probability}");
    let likely = format!("{:.0}%", (probability * 100.0).floor());
    for command in [
        &["estimate"][..],
        &["memory"],
        &["whatif", "--change", "hbm=x2"],
        &["recompute"],
        &["balance"],
        &["tune", "--top", "1"],
    ] {
        let outcome = run(&[&command[..1], &[AT_RISK], &command[1..]].concat());
        let text = outcome.stdout.replace('\n', " ");
        let stated = [format!("at risk, {likely}"), format!("{likely} likely to fit")];
        assert!(stated.iter().any(|words| text.contains(words)), "{command:?}: {likely}: {}", outcome.stdout);
        assert!(!text.contains(", which does not fit"), "{command:?}: {}", outcome.stdout);
    }
}

/// The batch of a run file with `micro_batches` depends on the layout, which a search changes.
#[test]
fn the_next_step_of_an_estimate_works() {
    let file = "../../../../examples/runs/llama-3-8b-fsdp.toml";
    let text = run(&["estimate", file]).stdout.replace('\n', " ");
    let next =
        text.split("next: `railwright ").nth(1).and_then(|rest| rest.split('`').next()).expect("a command");
    let words: Vec<&str> = next.split(' ').collect();
    let outcome = run(&[&words[..1], &[file], &words[1..], &["--top", "1"]].concat());
    assert_eq!(outcome.code, 0, "{next}: {}", outcome.stderr);
}

#[test]
fn the_figures_of_an_estimate_are_in_its_report() {
    let estimated = run(&["estimate", AT_RISK]).stdout.replace('\n', " ");
    assert!(estimated.contains(" of steps at an availability of 90.0%"), "{estimated}");
    let recomputed = run(&["estimate", "../../../../examples/runs/llama-3-8b-fsdp.toml"]).stdout;
    let share = recomputed.split("largest loss: recompute, ").nth(1).and_then(|rest| rest.split('%').next());
    let row = recomputed.lines().find(|line| line.contains("of which recompute")).expect("a row");
    assert!(row.contains(&format!("{}%", share.expect("a share"))), "{row}: {share:?}");
}

/// At 80 columns, no addend of the peak is hidden.
#[test]
fn memory_of_a_stage_sums_to_its_peak() {
    let mut command = program(&["memory", AT_RISK]);
    let output = command.env("COLUMNS", "80").output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = text.lines().skip_while(|line| !line.starts_with("stage "));
    let header: Vec<&str> = lines.next().expect("a table").split_whitespace().collect();
    let peak = header.iter().position(|name| *name == "peak").expect("a peak");
    let mut rows = 0;
    for line in lines.skip(1).take_while(|line| !line.trim().is_empty() && !line.starts_with("hidden")) {
        let cells: Vec<f64> = line.split_whitespace().filter_map(|cell| cell.parse().ok()).collect();
        // An empty cell has no word, and columns behind the peak are no addends.
        let behind = header.len() - 1 - peak;
        let [_, parts @ .., peak] = &cells[..cells.len() - behind] else { panic!("{line}") };
        assert!((parts.iter().sum::<f64>() - peak).abs() < 0.35, "{line}");
        rows += 1;
    }
    assert!(rows >= 5, "{text}");
}
