//! SQL over profiles, saved profiles and exports, on real traces.

use crate::support::{json, run, scratch};

const MEGATRON: &str = "../../../../fixtures/traces/megatron_tp2_v100/rank*";

#[test]
fn waits_are_queried_and_a_saved_profile_agrees() {
    let sql = "SELECT rank, round(sum(wait_us)) AS us FROM matches GROUP BY rank";
    let asked = json(&["query", sql, MEGATRON, "--json"], 0);
    assert_eq!(asked["columns"], serde_json::json!(["rank", "us"]));
    // 48.2 ms on rank 1, which waits for rank 0.
    assert!((48_000.0..48_400.0).contains(&asked["rows"][1][1].as_f64().expect("a number")), "{asked}");
    let saved = scratch("run.railwright");
    let written = run(&["profile", MEGATRON, "-o", &saved]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    assert_eq!(json(&["query", sql, &saved, "--json"], 0)["rows"], asked["rows"]);
    let size = std::fs::metadata(&saved).expect("a file").len();
    std::fs::remove_file(&saved).expect("removed");
    assert!(size < 161_848, "larger than the two gzipped traces: {size}");
}

#[test]
fn parquet_tables_are_asked() {
    let sql = "SELECT stage, count(*) FROM passes WHERE kind = 'forward' GROUP BY stage";
    let asked =
        json(&["query", sql, "../../../../fixtures/traces/bytedance_whatif/trace-ST.parquet", "--json"], 0);
    assert_eq!(asked["rows"], serde_json::json!([[0, 256], [1, 256], [2, 256], [3, 256]]));
    let sql = "SELECT label, gpu_rows > 13000 FROM ranks ORDER BY rank";
    let asked = json(&["query", sql, "../../../../fixtures/traces/jaxtoolbox_nsys_fsdp4/proc*", "--json"], 0);
    assert_eq!(asked["rows"].as_array().map(Vec::len), Some(2), "{asked}");
}

#[test]
fn every_format_has_it_and_a_limit_is_reported() {
    let sql = "SELECT rank, id FROM gpu ORDER BY rank, id";
    let table = run(&["query", sql, MEGATRON, "--limit", "3"]);
    assert_eq!(table.code, 0, "{}", table.stderr);
    assert!(table.stderr.contains("only 3 rows are shown"), "{}", table.stderr);
    let csv = run(&["query", sql, MEGATRON, "--limit", "3", "--format", "csv"]);
    assert_eq!(csv.stdout, "rank,id\n0,0\n0,1\n0,2\n");
    let schema = run(&["query", "--schema", "--format", "csv"]);
    assert!(schema.stdout.starts_with("table,column,type,meaning\ngpu,rank,INTEGER,"), "{}", schema.stdout);
}

#[test]
fn mistakes_are_reported() {
    for (arguments, expected) in [
        (vec!["query", "SELECT nam FROM gpu", MEGATRON], "unknown column `nam`"),
        (vec!["query", "SELECT 1 FROM gpu", "no-such-file.json"], "file not found"),
        (vec!["query", "DELETE FROM gpu", MEGATRON], "only SELECT statements"),
        (vec!["query", "SELECT 1"], "PATH"),
        (vec!["save", MEGATRON, "-o", "run.zip"], "does not end with `.railwright`"),
        (vec!["export-perfetto", MEGATRON, "-o", "run.zip"], "unknown trace format for the name"),
        (
            vec![
                "export-perfetto",
                "../../../../fixtures/traces/bytedance_whatif/trace-ST.parquet",
                "-o",
                "x.json",
            ],
            "tables of pipeline passes",
        ),
    ] {
        let ended = run(&arguments);
        assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.stdout);
        assert!(ended.stderr.contains(expected), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn an_export_is_read_again() {
    let count = "SELECT rank, gpu_rows, host_rows FROM ranks ORDER BY rank";
    let before = json(&["query", count, MEGATRON, "--json"], 0);
    let tar = scratch("merged.tar");
    let written = run(&["export-perfetto", MEGATRON, "-o", &tar]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    let after = json(&["query", count, &tar, "--json"], 0);
    std::fs::remove_file(&tar).expect("removed");
    assert_eq!(after["rows"], before["rows"]);
    let merged = scratch("merged.json.gz");
    assert_eq!(run(&["export", "--perfetto", MEGATRON, "-o", &merged]).code, 0);
    let rows = json(&["query", "SELECT count(*) FROM gpu", &merged, "--json"], 0);
    std::fs::remove_file(&merged).expect("removed");
    let both = before["rows"].as_array().expect("rows").iter().map(|row| row[1].as_u64().expect("a count"));
    assert_eq!(rows["rows"][0][0].as_u64(), Some(both.sum()));
}

#[test]
fn the_tables_of_a_path_are_those_that_have_rows() {
    let all = json(&["query", "--schema", "--json"], 0);
    let some = json(&["query", "--schema", MEGATRON, "--json"], 0);
    let names = |answer: &serde_json::Value| -> Vec<String> {
        let tables = answer["tables"].as_array().expect("tables").iter();
        tables.filter_map(|table| table["name"].as_str().map(str::to_owned)).collect()
    };
    assert!(names(&all).contains(&"passes".to_owned()) && !names(&some).contains(&"passes".to_owned()));
    for table in some["tables"].as_array().expect("tables") {
        let count = format!("SELECT count(*) FROM {}", table["name"].as_str().expect("a name"));
        let counted = json(&["query", &count, MEGATRON, "--json"], 0);
        assert_eq!(table["rows"], counted["rows"][0][0], "{count}");
    }
    assert!(all["tables"][0].get("rows").is_none());
    let missing = run(&["query", "--schema", "no-such-folder"]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("file not found"), "{}", missing.stderr);
}
