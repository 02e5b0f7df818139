//! The same bytes at any number of threads, from every command that reads recordings.
//!
//! Responsible for: results and written files at 1 and at 8 threads. Excludes their content: see the other
//! tests.

use crate::support::program;

const TRACES: &str = "../../../../fixtures/traces";

/// Output and exit code of a command for a number of threads.
fn outcome(arguments: &[&str], threads: usize) -> (Option<i32>, Vec<u8>, Vec<u8>) {
    let output = program(arguments)
        .env("RAYON_NUM_THREADS", threads.to_string())
        .output()
        .expect("the program starts");
    (output.status.code(), output.stdout, output.stderr)
}

#[test]
fn answers_do_not_depend_on_threads() {
    let at = |path: &str| format!("{TRACES}/{path}");
    let (param, torchrec) = (at("param_dlrm_8r"), at("torchrec_v100_4r/sst_long_a2a_optimizer_3"));
    let (gloo, primus) = (at("generated_torch215_gloo_pp2dp2/rank*"), at("primus_pp8_mi300/pp8"));
    let (jax, records) = (at("jaxtoolbox_nsys_fsdp4"), at("generated_torch215_gloo_pp2dp2/*.pickle"));
    let (metrics, log) = (at("xpu_timer_metrics"), at("logs/megatron_deepspeed_gpt3_0.125B_moe.log.gz"));
    let megatron = at("megatron_tp2_v100/rank*");
    let sql = "SELECT rank, name, count(*), sum(duration_us) FROM gpu GROUP BY rank, name";
    for line in [
        &["profile", &param, "--json"][..],
        &["profile", &gloo, "--json"],
        &["profile", &jax, "--json"],
        &["profile", &torchrec, "--step", "5", "--rank", "2"],
        &["profile", &param, "--compat", "hta", "--json"],
        &["compare", &param, &torchrec, "--json"],
        &["comm", &torchrec, "--clocks", "align", "--json"],
        &["comm", "inspector.jsonl", "--json"],
        &["stragglers", &param, "--json"],
        &["stragglers", &torchrec, "--json"],
        &["pipeline", &primus, "--json"],
        &["pipeline", &gloo, "--json"],
        &["hang", &records, "--json"],
        &["hang", &metrics, "--json"],
        &["log", &log, "--json"],
        &["query", sql, &megatron, "--json", "--limit", "0"],
    ] {
        let (one, many) = (outcome(line, 1), outcome(line, 8));
        assert!(one == many, "{line:?}: other bytes at 8 threads than at 1");
        assert!(one.0.is_some_and(|code| code < 2) && !one.1.is_empty(), "{line:?}: {one:?}");
    }
}

#[test]
fn written_files_do_not_depend_on_threads() {
    let (param, gloo) =
        (format!("{TRACES}/param_dlrm_8r"), format!("{TRACES}/generated_torch215_gloo_pp2dp2/rank*"));
    for (command, paths, suffix) in [
        (&["save"][..], &param, "railwright"),
        (&["export-perfetto"], &param, "json.gz"),
        (&["export-perfetto"], &gloo, "tar"),
        (&["profile"], &param, "html"),
    ] {
        let written = |threads: usize| {
            let name = format!("railwright-threads-{}-{threads}.{suffix}", std::process::id());
            let path = std::env::temp_dir().join(name).to_string_lossy().into_owned();
            let line = [command, &[paths.as_str(), "-o", &path]].concat();
            let (code, _, expected) = outcome(&line, threads);
            assert_eq!(code, Some(0), "{line:?}: {}", String::from_utf8_lossy(&expected));
            let bytes = std::fs::read(&path).expect("a file");
            std::fs::remove_file(&path).expect("removed");
            bytes
        };
        let (one, many) = (written(1), written(8));
        assert!(
            one == many && one.len() > 1000,
            "{command:?} to .{suffix}: other bytes at 8 threads than at 1"
        );
    }
}
