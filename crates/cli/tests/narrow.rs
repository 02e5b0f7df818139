//! Reports on narrow terminals: no word is cut, and options keep their values.

use crate::support::program;
use std::collections::BTreeSet;

const TRACES: &str = "../../../../fixtures/traces";

/// Commands of every kind of report.
fn commands() -> Vec<Vec<String>> {
    let lines = [
        "estimate llama-3-70b --cluster dgx-h100 --gpus 64 --tp 4 --pp 4 --vp 5",
        "estimate deepseek-v3 --cluster h800 --gpus 2048 --tp 2 --pp 16 --ep 64 --uneven-stages",
        "memory llama-3-70b --cluster dgx-h100 --gpus 64 --tp 4 --pp 4",
        "search llama-3-8b --cluster dgx-h100 --gpus 16 --space vp=1..4 --space micro_batch=1,2",
        "size llama-3-8b --cluster dgx-h100 --tokens 1T --gpus 8,16 --space vp=1 --space micro_batch=1",
        "whatif llama-3-8b --cluster dgx-h100 --gpus 8 --change precision=fp8",
        "sensitivity llama-3-8b --cluster dgx-h100 --gpus 8",
        "recompute llama-3-70b --cluster dgx-h100 --gpus 32 --tp 8 --pp 4",
        "balance llama-3-70b --cluster dgx-h100 --gpus 32 --tp 8 --pp 4",
        "models list",
        "models show deepseek-v3",
        "gpus list",
        "clusters list",
        "network cost --gpus 1024",
        "network show rail-optimized --gpus 1024",
        "network failures --gpus 1024",
        "network traffic llama-3-8b --cluster dgx-h100 --gpus 64 --tp 8",
        "network simulate llama-3-8b --cluster dgx-h100 --gpus 64 --tp 8",
        "network collective all-reduce --gpus 64",
        "network design llama-3-8b --cluster dgx-h100 --gpus 64 --domains 8 --speeds 400G --tp 8 --pp 1 --cp 1",
        "network rail-only",
        "validate runs.csv",
        "explain",
    ];
    let mut commands: Vec<Vec<String>> =
        lines.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
    for command in ["comm", "stragglers"] {
        commands.push(vec![command.to_owned(), format!("{TRACES}/megatron_tp2_v100")]);
    }
    commands
}

/// Reports whose first screen is limited. Lists, ten layouts with two lines each, tables of a file and claims
/// of a paper are longer.
const ONE_SCREEN: [&str; 8] =
    ["estimate", "memory", "size", "whatif", "recompute", "balance", "tune", "sensitivity"];

/// A script and the machine to tune it for.
const SCRIPT: &str = "../../../../examples/launch/llama3_70b.sh";

fn tuned() -> Vec<String> {
    ["tune", SCRIPT, "--cluster", "dgx-h100"].map(str::to_owned).to_vec()
}

fn checked() -> Vec<String> {
    let mut words = tuned();
    "check".clone_into(&mut words[0]);
    words.push("--tokens".to_owned());
    words.push("1T".to_owned());
    words.push("../../../../examples/launch/gpt3_175b_2022.sh".to_owned());
    words
}

/// The line of hidden columns.
fn hidden(report: &str) -> String {
    let text = report.replace("\n  ", " ");
    let lines = text.lines().filter_map(|line| line.strip_prefix("hidden columns: "));
    lines.collect::<Vec<_>>().join("; ")
}

fn report(words: &[String], columns: &str, more: &[&str]) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let output = program(&words).env("COLUMNS", columns).output().expect("starts");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Words with a letter, without the punctuation around them.
fn words(text: &str) -> BTreeSet<&str> {
    let is_edge = |c: char| !c.is_alphanumeric();
    text.split_whitespace()
        .map(|word| word.trim_matches(is_edge))
        .filter(|word| word.chars().any(char::is_alphabetic))
        .collect()
}

/// Lists and claims of a paper have no next step.
#[test]
fn reports_end_with_the_next_step() {
    let is_list = |command: &[String]| {
        ["models", "gpus", "clusters", "explain"].contains(&command[0].as_str())
            || command.get(1).is_some_and(|word| word == "rail-only")
    };
    for command in commands().into_iter().filter(|command| !is_list(command)) {
        let report = report(&command, "80", &["--quiet"]);
        let end = report.rsplit("\n\n").next().unwrap_or_default();
        let next = report.rfind("next: ").map_or("", |at| &report[at..]);
        assert!(!next.is_empty() && !next.trim_end().contains("\n\n"), "{command:?}: {end}");
    }
}

/// The first paragraph is the verdict. Lists have none.
#[test]
fn verdicts_are_one_line() {
    let is_list =
        |command: &[String]| ["models", "gpus", "clusters", "explain"].contains(&command[0].as_str());
    let all = commands().into_iter().chain([tuned(), checked()]);
    for command in all.filter(|command| !is_list(command)) {
        // A verdict that wraps at 80 columns is longer at 100.
        let first = |columns| {
            let report = report(&command, columns, &["--quiet"]);
            report.lines().next().unwrap_or_default().to_owned()
        };
        assert_eq!(first("80"), first("100"), "{command:?}");
        assert!(!first("80").is_empty(), "{command:?}");
    }
}

#[test]
fn details_are_behind_a_flag_and_the_rest_is_one_screen() {
    /// Lines of one screen.
    const SCREEN: usize = 50;
    for command in commands().into_iter().chain([tuned()]) {
        let usual = report(&command, "80", &["--quiet"]);
        let whole = report(&command, "80", &["--quiet", "-v"]);
        let added = usual.contains("`-v` adds: ");
        assert_eq!(added, whole.lines().count() > usual.lines().count(), "{command:?}");
        assert!(!whole.contains("`-v` adds: "), "{command:?}");
        if ONE_SCREEN.contains(&command[0].as_str()) {
            assert!(usual.lines().count() <= SCREEN, "{command:?}: {} lines", usual.lines().count());
        }
    }
}

/// Costs, layouts, memory and utilization decide, so a narrow terminal shows them.
#[test]
fn no_deciding_column_is_hidden() {
    let design = "network design llama-3-8b --cluster dgx-h100 --gpus 64 --domains 8 --speeds 400G --tp 8 --pp 1 --cp 1";
    let named = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let size =
        "size llama-3-8b --cluster dgx-h100 --tokens 1T --gpus 8,16 --space vp=1 --space micro_batch=1";
    let search = "search llama-3-8b --cluster dgx-h100 --gpus 16 --space vp=1..4 --space micro_batch=1,2";
    for (command, deciding) in [
        (named(design), &["cost per M tokens", "plan", "price"][..]),
        (named(size), &["layout", "MFU", "rent", "marginal"]),
        (named(search), &["layout", "MFU", "memory", "$/T tokens"]),
        (tuned(), &["memory", "layout", "90% interval"]),
        (checked(), &["MFU", "rent", "days", "peak memory"]),
    ] {
        let report = report(&command, "80", &["--quiet"]);
        let hidden = hidden(&report);
        let lost: Vec<&&str> = deciding
            .iter()
            .filter(|name| hidden.split("; ").any(|one| one.split(" (--format").next() == Some(**name)))
            .collect();
        assert!(lost.is_empty(), "{command:?} hides {lost:?}\n{report}");
        assert!(report.lines().all(|line| line.chars().count() <= 80), "{command:?}\n{report}");
    }
}

#[test]
fn messages_fit_the_terminal_and_are_one_line_without_one() {
    let words = [
        "estimate",
        "llama-3-8b",
        "--cluster",
        "dgx-h100",
        "--gpus",
        "7",
        "--tp",
        "2",
        "--pp",
        "2",
        "--ep",
        "eight",
    ];
    let printed = |columns: Option<&str>| {
        let mut program = program(&words);
        match columns {
            Some(columns) => program.env("COLUMNS", columns),
            None => program.env_remove("COLUMNS"),
        };
        String::from_utf8(program.output().expect("starts").stderr).expect("UTF-8")
    };
    let narrow = printed(Some("40"));
    assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
    let wide = printed(None);
    assert_eq!(narrow.replace("\n  ", " "), wide);
    assert!(wide.lines().any(|line| line.chars().count() > 40), "{wide}");
}

/// Keys keep their spelling, and reports use the field's.
#[test]
fn parts_have_display_names() {
    let traces = format!("{TRACES}/megatron_tp2_v100");
    let command = ["profile".to_owned(), traces];
    let shown = report(&command, "100", &["--quiet"]);
    let json = report(&command, "100", &["--quiet", "--json"]);
    assert!(shown.contains("synchronization") && !shown.contains("synchronisation"), "{shown}");
    assert!(shown.contains("GEMMs") && !shown.contains("matrix product"), "{shown}");
    assert!(json.contains("\"synchronisation\"") && json.contains("\"matrix_products\""));
}

#[test]
fn no_word_is_cut() {
    for command in commands() {
        // Markdown has no width, and a wide terminal has the words of charts.
        let wide = [report(&command, "180", &["--format", "md"]), report(&command, "180", &["-v"])].concat();
        assert!(words(&wide).len() > 20, "{command:?}: {wide}");
        for columns in ["100", "80", "72"] {
            let narrow = report(&command, columns, &[]);
            let hidden =
                ["hidden", "columns", "format", "csv", "shows", "all", "adds", "v", "below", "each", "row"];
            let known = words(&wide);
            let cut: Vec<&str> = words(&narrow)
                .into_iter()
                .filter(|word| !known.contains(word) && !hidden.contains(word))
                .collect();
            assert!(cut.is_empty(), "{columns} columns, {command:?}: {cut:?}\n{narrow}");
        }
    }
}

#[test]
fn options_keep_their_values() {
    let command: Vec<String> = "search llama-3-70b --cluster dgx-h100 --gpus 64 --space micro_batch=1,2"
        .split(' ')
        .map(str::to_owned)
        .collect();
    let narrow = report(&command, "80", &["-v"]);
    let table = narrow.split("step breakdown").next().expect("a table");
    // A list of recomputed modules may be wider than the column.
    let valued = ["--tp", "--pp", "--cp", "--mbs", "--sharding", "--vp"];
    let torn: Vec<&str> =
        table.lines().filter(|line| valued.iter().any(|name| line.trim_end().ends_with(name))).collect();
    assert!(table.contains("--pp ") && torn.is_empty(), "{torn:?}\n{narrow}");
}
