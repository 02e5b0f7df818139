//! Timelines in columns: modelled, measured, and measured passes with the expected ones beneath.

use crate::support::{json, run};
use serde_json::Value;

const RUN: [&str; 12] = [
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
    "--format",
    "columns",
];

fn fixture(name: &str) -> String {
    format!("{}/../../fixtures/traces/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn numbers(track: &Value, column: &str) -> Vec<i64> {
    track[column].as_array().map_or(Vec::new(), |all| all.iter().filter_map(Value::as_i64).collect())
}

/// Every track is sorted and without overlaps, all columns have equal length, and every index is valid.
fn holds_together(columns: &Value) -> Vec<&Value> {
    assert_eq!((&columns["kind"], &columns["schema_version"]), (&"timeline".into(), &2.into()));
    let tracks: Vec<&Value> = columns["tracks"].as_array().expect("tracks").iter().collect();
    let names = columns["names"].as_array().expect("names").len() as i64;
    let classes = columns["classes"].as_array().expect("classes").len() as i64;
    for (at, track) in tracks.iter().enumerate() {
        assert_eq!(track["id"], at);
        let (starts, lengths) = (numbers(track, "starts"), numbers(track, "lengths"));
        for column in ["names", "colours", "micro_batch", "chunk", "layer", "bytes", "counts", "busy"] {
            let length = numbers(track, column).len();
            assert!(length == 0 || length == starts.len(), "{column}");
        }
        let ends = starts.iter().zip(&lengths).map(|(start, length)| start + length);
        assert!(
            ends.zip(starts.iter().skip(1)).all(|(end, next)| end <= *next),
            "{} overlaps",
            track["name"]
        );
        assert!(numbers(track, "names").iter().all(|name| (0..names).contains(name)));
        assert!(numbers(track, "colours").iter().all(|class| (0..classes).contains(class)));
    }
    for place in columns["critical"].as_array().expect("a path") {
        let track = tracks[place[0].as_u64().expect("a track") as usize];
        assert!((place[1].as_u64().expect("a span") as usize) < numbers(track, "starts").len());
    }
    tracks
}

#[test]
fn a_modelled_step_has_bubbles_messages_and_a_critical_path() {
    let columns = json(&RUN, 0);
    let tracks = holds_together(&columns);
    assert_eq!(tracks.iter().filter(|track| track["name"] == "compute").count(), 4);
    assert_eq!(columns["bubbles"].as_array().map(Vec::len), Some(4));
    let bubble = columns["classes"].as_array().and_then(|all| all.iter().position(|one| one == "bubble"));
    let bubble = bubble.expect("a class of bubbles") as i64;
    let hatched = |track: &&&Value| numbers(track, "colours").contains(&bubble);
    assert!(tracks.iter().filter(hatched).count() >= 3, "stages wait");
    assert!(columns["arrows"]["from_track"].as_array().is_some_and(|all| all.len() >= 48));
    let parts = columns["critical_parts"].as_array().expect("parts");
    let sum: i64 = parts.iter().filter_map(|part| part["time_ns"].as_i64()).sum();
    let step = columns["duration_ns"].as_i64().expect("a length");
    assert!((step - sum).abs() <= parts.len() as i64, "{sum} of {step}");
}

#[test]
fn parts_and_single_ranks_are_marked_as_incomplete() {
    let all = json(&RUN, 0);
    let half = all["duration_ns"].as_i64().expect("a length") / 2;
    let between = format!("0..{half}");
    let part = json(&[&RUN[..], &["--between", &between, "--rank", "0", "--most-spans", "100"]].concat(), 0);
    let tracks = holds_together(&part);
    assert!(tracks.iter().all(|track| track["rank"] == 0 && numbers(track, "starts").len() <= 102));
    assert_eq!(part["hidden_ranks"].as_array().map(Vec::len), Some(3));
    assert!(part["spans"].as_u64() < all["spans"].as_u64());
    assert_eq!(part["window"]["to"], half);
}

#[test]
fn measured_steps_have_every_rank_and_findings_with_places() {
    let folder = fixture("generated_torch215_gloo_pp2dp2");
    let columns = json(&["profile", &folder, "--columns"], 0);
    let tracks = holds_together(&columns);
    let devices: Vec<_> = tracks.iter().filter(|track| track["name"] == "device").collect();
    assert_eq!(devices.len(), 4);
    for device in devices {
        let sum: i64 = numbers(device, "lengths").iter().sum();
        assert_eq!(columns["duration_ns"], sum, "the device accounts for every nanosecond");
    }
    assert!(columns["marks"].as_array().is_some_and(|marks| marks.iter().any(|mark| mark["track"].is_u64())));
    let one = json(&["profile", &folder, "--columns", "--step", "3", "--rank", "1", "--host"], 0);
    let tracks = holds_together(&one);
    assert!(tracks.iter().any(|track| track["name"].as_str().is_some_and(|name| name.starts_with("thread"))));
    assert!(tracks.iter().all(|track| track["rank"] == 1));
}

#[test]
fn measured_stages_have_what_was_expected_beneath() {
    let columns = json(&["pipeline", &fixture("primus_pp8_mi300"), "--columns"], 0);
    let tracks = holds_together(&columns);
    assert_eq!(tracks.len(), 16);
    for pair in tracks.chunks(2) {
        assert_eq!((&pair[0]["name"], &pair[1]["name"]), (&"measured".into(), &"expected".into()));
        assert_eq!(pair[0]["stage"], pair[1]["stage"]);
    }
}

#[test]
fn what_is_not_there_is_refused() {
    for (more, expected) in [
        (["--rank", "3"], "rank 3 does not represent a stage"),
        (["--between", "2s..1s"], "is not a time range within a step"),
        (["--most-spans", "3"], "expected 100 or more"),
    ] {
        let outcome = run(&[&RUN[..], &more[..]].concat());
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    }
    let outcome = run(&["profile", &fixture("generated_torch215_gloo_pp2dp2"), "--columns", "--step", "77"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("there is no step 77"), "{}", outcome.stderr);
}
