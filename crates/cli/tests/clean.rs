//! Outside names with escape sequences: no output format contains them.

use crate::support::{Folder, Outcome, run};

/// ESC, CSI, a bell and an order turned round.
const EVIL: &str = "x\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}y";
/// The same as JSON and TOML write it.
const WRITTEN: &str = r"x\u001b[2J\u001b]0;owned\u0007\u009b31m\u202ey";

fn steers(c: char) -> bool {
    (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Runs a command in every format; all output is clean.
fn clean(arguments: &[&str]) -> Outcome {
    let mut last = None;
    for voice in ["table", "md", "csv", "json"] {
        let outcome = run(&[arguments, &["--format", voice]].concat());
        assert!(outcome.code != 3, "{arguments:?}: {}", outcome.stderr);
        for text in [&outcome.stdout, &outcome.stderr] {
            let bad: Vec<char> = text.chars().filter(|c| steers(*c)).collect();
            assert!(bad.is_empty(), "{arguments:?} as {voice}: {bad:?} in {text:?}");
        }
        last = Some(outcome);
    }
    last.expect("four voices")
}

fn trace(name: &str) -> String {
    let kernel = |at: u32, name: &str| {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": 7, "ts": {}, "dur": 9, "args": {{"stream": 7}}}}"#,
            at * 10
        )
    };
    let events: Vec<String> = (0..5).map(|at| kernel(at, if at % 2 == 0 { name } else { "k" })).collect();
    format!(
        r#"{{"schemaVersion": 1, "host_name": "{WRITTEN}", "deviceProperties": [{{"id": 0, "name": "{WRITTEN}"}}],
        "distributedInfo": {{"rank": 0, "world_size": 1, "backend": "{WRITTEN}"}}, "traceEvents": [
        {{"ph": "X", "cat": "user_annotation", "name": "{WRITTEN}", "pid": 1, "tid": 1, "ts": 0, "dur": 60}},
        {{"ph": "X", "cat": "kernel", "name": "{WRITTEN}", "ts": "{WRITTEN}", "dur": 1}},
        {{"ph": "X", "cat": "kernel", "name": "{WRITTEN}", "ts": 5, "dur": -1}},
        {}]}}"#,
        events.join(",\n")
    )
}

#[test]
fn names_in_traces_do_not_steer() {
    let folder = Folder::new("clean-traces");
    let path = folder.put(&format!("rank0{EVIL}.json"), trace(WRITTEN));
    clean(&["profile", &path]);
    clean(&["query", "SELECT name FROM gpu", &path]);
    clean(&["comm", &path]);
    clean(&["stragglers", &path]);
    let saved = folder.at(&format!("saved{EVIL}.railwright"));
    let outcome = run(&["save", &path, "-o", &saved]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(!outcome.stderr.chars().any(steers), "{:?}", outcome.stderr);
    // Damages and names are restored from the saved profile.
    clean(&["profile", &saved]);
    let page = folder.at("page.html");
    assert_eq!(run(&["profile", &saved, "-o", &page]).code, 0);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(!page.chars().any(|c| steers(c) && c != '\t'), "a page must not steer");
}

#[test]
fn names_of_models_clusters_and_files_do_not_steer() {
    let folder = Folder::new("clean-models");
    let config = format!(
        r#"{{"model_type": "llama", "_name_or_path": "{WRITTEN}", "hidden_size": 512, "intermediate_size": 1024, "num_attention_heads": 8,
        "num_hidden_layers": 4, "vocab_size": 1000, "{WRITTEN}": 1, "torch_dtype": "{WRITTEN}"}}"#
    );
    let config = folder.put(&format!("{EVIL}.json"), &config);
    clean(&["estimate", &config, "--cluster", "dgx-h100", "--gpus", "8", "--tp", "1"]);
    clean(&["estimate", EVIL, "--cluster", EVIL, "--gpus", "8"]);
    clean(&["models", "show", EVIL]);
    let run_file = folder.put(
        "run.toml",
        format!(
            "[model]\nname = \"llama-3-8b\"\n[cluster]\npreset = \"dgx-h100\"\ndevices = 8\nname = \"{WRITTEN}\"\n[plan]\ntensor_parallel = 1\n\"{WRITTEN}\" = 3\n"
        ),
    );
    clean(&["estimate", "--run", &run_file]);
    let log = folder.put(
        "train.log",
        format!("{EVIL} iteration 1/ 10 | elapsed time per iteration (ms): 1.0 | {EVIL}\n").repeat(20),
    );
    clean(&["log", &log]);
    let table =
        folder.put("runs.csv", format!("id,source,model_name,gpu,n_gpus\n{EVIL},=1+1,{EVIL},{EVIL},8\n"));
    clean(&["validate", &table]);
}

#[test]
fn csv_has_no_formulas() {
    let folder = Folder::new("clean-csv");
    let path = folder.put("rank0.json", trace("=HYPERLINK(1)"));
    let outcome = run(&["query", "SELECT DISTINCT name FROM gpu", &path, "--format", "csv"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.lines().any(|line| line == "'=HYPERLINK(1)"), "{}", outcome.stdout);
}
