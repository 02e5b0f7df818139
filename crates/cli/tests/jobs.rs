//! Folders with several jobs: rejections, and reports of skipped files.

use std::process::{Command, Output};

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces");

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_railwright")).args(arguments).output().expect("it runs")
}

fn talk(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_folder_of_several_jobs_is_refused_with_the_command_for_one() {
    let folder = format!("{TRACES}/torchrec_v100_4r");
    for command in ["profile", "comm", "stragglers"] {
        let output = run(&[command, &folder]);
        let expected = talk(&output);
        assert_eq!(output.status.code(), Some(2), "{expected}");
        assert!(expected.contains("3 jobs found"), "{expected}");
        for job in
            ["resnet18 (PyTorch profiler, 2 ranks", "sst_long_a2a_optimizer_3 (PyTorch profiler, 4 ranks"]
        {
            assert!(expected.contains(job), "{command}: {expected}");
        }
        assert!(expected.contains(&format!("`railwright {command} {folder}/resnet18`")), "{expected}");
        assert!(output.stdout.is_empty(), "no half an answer");
    }
    let one = run(&["comm", &format!("{folder}/resnet18"), "--json"]);
    assert_eq!(one.status.code(), Some(0), "{}", talk(&one));
}

#[test]
fn tables_beside_traces_are_not_dropped_silently() {
    let folder = format!("{TRACES}/bytedance_whatif");
    for (command, job) in
        [("pipeline", "trace-AR.parquet (operator table"), ("profile", "timeline-ST.json.gz")]
    {
        let output = run(&[command, &folder]);
        let expected = talk(&output);
        assert_eq!(output.status.code(), Some(2), "{expected}");
        assert!(expected.contains("6 jobs found") && expected.contains(job), "{expected}");
    }
    // One job of traces among others: it is analysed, and the others are listed with their command.
    let mixed = format!("{TRACES}/generated_torch215_gloo_pp2dp2");
    let output = run(&["comm", &mixed]);
    let expected = talk(&output);
    assert_eq!(output.status.code(), Some(0), "{expected}");
    assert!(expected.contains("skipped: fr_ok_* (flight record, 4 ranks"), "{expected}");
    assert!(expected.contains("`railwright hang"), "{expected}");
    // Dumps present as JSON and as pickle are one job, with each rank used once.
    let hang = run(&["hang", &mixed]);
    // Gloo dumps have no world size, and there is no sign of a missing dump.
    assert_eq!(hang.status.code(), Some(0), "{}", talk(&hang));
    assert!(talk(&hang).contains("both belong to rank 0"), "{}", talk(&hang));
}

/// Files passed together belong together, unless a rank occurs twice.
#[test]
fn what_is_named_together_is_one_job() {
    let file = |folder: &str, begins: &str| {
        let all = std::fs::read_dir(format!("{TRACES}/{folder}")).expect("a folder").flatten();
        let mut all: Vec<String> = all.map(|entry| entry.path().display().to_string()).collect();
        all.sort();
        all.into_iter().find(|path| path.contains(begins)).expect("a file")
    };
    let (zero, one) = (file("megatron_tp2_v100", "/rank0"), file("param_dlrm_8r", "/worker1"));
    let output = run(&["comm", &zero, &one, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    assert!(talk(&output).contains("look like 2 jobs"), "{}", talk(&output));
    let output = run(&["comm", &zero, &file("param_dlrm_8r", "/worker0")]);
    assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
}

#[test]
fn two_runs_of_one_rank_are_distinguished_by_their_names() {
    let folder = format!("{TRACES}/modded_nanogpt_h100");
    let expected = talk(&run(&["stragglers", &folder]));
    assert!(expected.contains("current-rank0.json.gz (PyTorch profiler, 1 of 8 ranks"), "{expected}");
    assert!(expected.contains("hook-rank0.json.gz"), "{expected}");
}
