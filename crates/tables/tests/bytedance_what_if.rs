//! Slowdowns of production jobs against the published answers of the authors' own analysis
//! (`fixtures/traces/bytedance_whatif`: `result-*.json`, `ms-*.json`, `mw-*.json`).

use railwright_profiler::passes::{PassKind, Passes};
use railwright_profiler::pipeline::{Question, page};
use railwright_profiler::readers::{Keep, Reader, Recording};
use railwright_profiler::replay::{Replay, WhatIf};
use railwright_tables::ParquetTable;
use serde_json::Value;
use std::path::PathBuf;

fn file(name: &str) -> Vec<u8> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces/bytedance_whatif"));
    std::fs::read(root.join(name)).expect(name)
}

fn published(name: &str) -> Value {
    serde_json::from_slice(&file(name)).expect(name)
}

fn job(name: &str) -> Passes {
    let bytes = file(&format!("trace-{name}.parquet"));
    match ParquetTable.read(name, &bytes, Keep::default()).expect("passes").remove(0) {
        Recording::Passes(passes) => passes,
        _ => Passes::default(),
    }
}

/// Results for a job, after checking every published one.
fn checked(name: &str) -> WhatIf {
    let passes = job(name);
    let replay = Replay::new(&passes).expect("a replay");
    assert_eq!(replay.circular(), 0);
    let result = published(&format!("result-{name}.json"));
    for step in replay.replayed() {
        let published = |key: &str| result[key][step.step.to_string()].as_f64().expect(key);
        assert!((step.measured as f64 / 1e9 / published("step_t_base") - 1.0).abs() < 1e-5, "{step:?}");
        assert!((step.replayed as f64 / 1e9 / published("step_t_nodelay") - 1.0).abs() < 1e-4, "{step:?}");
    }
    let answer = replay.what_if();
    let close = |ours: f64, published: &Value| {
        let published = published.as_f64().expect("a number");
        assert!((ours - published).abs() < 1e-3, "{name}: {ours}, published {published}");
    };
    close(answer.slowdown.slowdown, &result["blocking_slowdown"]);
    close(answer.worst_ranks.recovered, &published(&format!("mw-{name}.json"))["Mw"]);
    close(answer.last_stage.recovered, &published(&format!("ms-{name}.json"))["Ms"]);
    for stage in &answer.stages {
        close(stage.alone, &result["blocking_decompose_by_stage"][stage.subset.stages[0].to_string()]);
    }
    for replica in &answer.replicas {
        close(
            replica.alone,
            &result["blocking_decompose_by_dp_rank"][replica.subset.replicas[0].to_string()],
        );
    }
    answer
}

/// Row bytedance_ST: the last stage causes most of the slowdown.
#[test]
fn the_last_stage_is_to_blame() {
    let answer = checked("ST");
    assert!((answer.slowdown.slowdown - 1.179).abs() < 0.005);
    assert!(
        (answer.last_stage.recovered - 1.219).abs() < 0.02
            && (answer.worst_ranks.recovered - 0.031).abs() < 0.02
    );
}

/// Row bytedance_AR: one worker of sixteen causes all of the slowdown.
#[test]
fn one_worker_is_to_blame() {
    let answer = checked("AR");
    assert!((answer.slowdown.slowdown - 1.973).abs() < 0.005);
    assert!(
        (answer.worst_ranks.recovered - 1.002).abs() < 0.02
            && (answer.last_stage.recovered + 0.001).abs() < 0.02
    );
    assert_eq!(answer.worst_ranks.subset.ranks, [0]);
}

/// A slow collective in several concurrent groups has one cause: fixing one group alone does not shorten the
/// step.
#[test]
fn groups_that_are_slow_at_once_are_one_stall() {
    let page = page(job("ST"), &Question::default()).expect("a page");
    let message: Vec<_> = page.stalls.iter().map(|s| (s.step, s.kind, s.ranks.clone(), s.passes)).collect();
    let (reduce, update) = (PassKind::EmbeddingReduce, PassKind::Optimizer);
    let all = vec![0, 1, 6, 7];
    assert_eq!(message, [(25, reduce, all.clone(), 4), (23, reduce, all, 4), (33, update, vec![2, 3], 2)]);
    for stall in &page.stalls {
        let of_step = page.steps.iter().find(|s| s.step == stall.step).expect("its step");
        assert_eq!(stall.cost, of_step.stall_cost, "{stall:?}");
    }
    // Steps 23 and 25 took 169 and 162 ms longer than the median; without the stall they would have been
    // shorter than it.
    assert!(page.stalls[..2].iter().all(|s| s.cost > 160_000_000), "{:?}", page.stalls);
}
