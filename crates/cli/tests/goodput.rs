//! Goodput of a job: the report, settings left at defaults, and invalid requests.

use crate::support::{Folder, json, run, transcript};

fn goodput(arguments: &[&str]) -> serde_json::Value {
    json(&[&["goodput"], arguments, &["--json"]].concat(), 0)
}

#[test]
fn a_job_with_everything_given_assumes_nothing_of_its_times() {
    insta::assert_snapshot!(transcript(&[
        "goodput",
        "--cluster",
        "dgx-h100",
        "--gpus",
        "16384",
        "--checkpoint-bytes",
        "6TB",
        "--storage-bandwidth",
        "200GB/s",
        "--checkpoint-stall",
        "5s",
        "--interval",
        "20min",
        "--detection-time",
        "2min",
        "--restart-time",
        "3min",
        "--spares",
        "8",
        "--repair-time",
        "2d",
        "--slow-share",
        "0.0001",
        "--slow-factor",
        "1.1",
        "--price-per-device-hour",
        "2",
    ]));
}

/// The shares make up the calendar, and a useful hour costs an hour over the goodput.
#[test]
fn shares_sum_to_the_calendar() {
    let answer = goodput(&["--gpus", "4096", "--checkpoint-time", "60s", "--price-per-device-hour", "2"]);
    let shares = answer["split"].as_object().expect("an object");
    let sum: f64 = shares.values().map(|share| share.as_f64().expect("a share")).sum();
    assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    let number = |path: &str| answer.pointer(path).and_then(serde_json::Value::as_f64).expect(path);
    assert_eq!(number("/price/hour"), 8192.0);
    assert!((number("/price/useful_hour") - 8192.0 / number("/goodput")).abs() < 1e-6);
    let (low, high) = (number("/range/lowest_ettr"), number("/range/highest_ettr"));
    assert!(low < number("/goodput") && number("/goodput") < high, "{low} {high}");
}

/// A run file has one goodput: `estimate` spreads its steps over the calendar by the share that `goodput`
/// reports.
#[test]
fn the_goodput_of_a_run_is_that_of_estimate() {
    let text = "[model]\nname = \"bloom-176b\"\n[cluster]\npreset = \"dgx-a100\"\ndevices = 384\n[plan]\ntp = 4\npp = 12\nuneven_stages = true\n\
        micro_batch = 2\nglobal_batch = 2048\nsequence_length = 2048\n[training]\ntokens = \"366B\"\n\
        checkpoint_time = \"60 s\"\ncheckpoint_stall = \"5 s\"\n";
    let folder = Folder::new("goodput-of-a-run");
    let file = folder.at("run.toml");
    std::fs::write(&file, text).expect("writable");
    let asked = goodput(&["--run", &file]);
    let estimated = &json(&["estimate", "--run", &file, "--json"], 0)["money"];
    assert!(asked["goodput"].as_f64().is_some_and(|share| 0.5 < share && share < 1.0), "{asked:#}");
    assert_eq!(asked["goodput"], estimated["availability"]);
    assert_eq!(asked["job"]["mtbf"], estimated["failures"]["mtbf"]);
    assert_eq!(asked["range"]["lowest_ettr"], estimated["failures"]["lowest"]);
}

/// Flaps and slow parts have one computation: `goodput`, `estimate` and `size` have the device-hours of
/// `network failures`.
#[test]
fn flaps_cost_equally_everywhere() {
    const RATES: &str = "../../../../examples/networks/flaps.csv";
    let number = |answer: &serde_json::Value, path: &str| {
        answer.pointer(path).and_then(serde_json::Value::as_f64).unwrap_or_else(|| panic!("{path}"))
    };
    let network = ["network", "failures", "--gpus", "4096", "--domain", "8", "--interruption-hours", "0.5"];
    let network = json(&[&network[..], &["--rates", RATES, "--json"]].concat(), 0);
    let parts =
        network.pointer("/designs/0/expected/brief").and_then(serde_json::Value::as_array).expect("parts");
    let of = |kind: &str| -> f64 {
        parts.iter().filter_map(|part| part[kind]["lost_hours_per_month"].as_f64()).sum()
    };
    let share = (of("flaps") + of("slow")) / 4096.0 / 730.0;
    let job = ["--gpus", "4096", "--checkpoint-time", "60s"];
    let with = goodput(&[&job[..], &["--rates", RATES]].concat());
    let (lost, stops) = (number(&with, "/disruptions/lost"), number(&with, "/disruptions/stops_per_hour"));
    assert!((lost + stops * 0.5 - share).abs() < 1e-12, "{lost} {stops} {share}");
    // With the same interruptions, the goodput is that without flaps times what they leave.
    let mtbf = format!("{}s", number(&with, "/job/mtbf"));
    let without = goodput(&[&job[..], &["--mtbf", &mtbf]].concat());
    let expected = number(&without, "/goodput") * (1.0 - lost);
    assert!((number(&with, "/goodput") - expected).abs() < 1e-9 && lost > 0.001);

    let folder = Folder::new("flaps-of-a-run");
    let (run, rates) = (folder.at("run.toml"), folder.at("rates.csv"));
    std::fs::copy("../../examples/networks/flaps.csv", &rates).expect("copied");
    let text = format!(
        "[model]\nname = \"llama-3-8b\"\n[cluster]\npreset = \"dgx-h100\"\ndevices = 64\n[plan]\ntp = 2\nglobal_batch = 512\n\
         [training]\ntokens = \"1T\"\ncheckpoint_time = \"60 s\"\npart_rates = {rates:?}\n"
    );
    std::fs::write(&run, text).expect("writable");
    let estimated = json(&["estimate", "--run", &run, "--json"], 0);
    let asked = goodput(&["--run", &run]);
    assert_eq!(number(&asked, "/goodput"), number(&estimated, "/money/availability"));
    let given =
        goodput(&["--cluster", "dgx-h100", "--gpus", "64", "--checkpoint-time", "60s", "--rates", RATES]);
    assert!((number(&asked, "/disruptions/lost") / number(&given, "/disruptions/lost") - 1.0).abs() < 1e-9);
    let sized = json(&["size", "--run", &run, "--deadline", "900d", "--json"], 0);
    // The run's batch divides over these sizes.
    for row in sized["size"]["rows"].as_array().expect("rows").iter().take(2) {
        let gpus = row["devices"].to_string();
        let same = goodput(&["--run", &run, "--gpus", &gpus]);
        assert!((number(row, "/bill/availability") / number(&same, "/goodput") - 1.0).abs() < 1e-9);
    }
}

/// A specified MTBF replaces the published rates: none of them is shown.
#[test]
fn a_specified_mtbf_has_no_published_range() {
    let answer = goodput(&["--gpus", "1024", "--checkpoint-time", "60s", "--mtbf", "12h"]);
    assert_eq!(answer["job"]["mtbf"], 43_200.0);
    assert!(answer["range"].is_null());
    assert_eq!(answer["published"].as_array().map(Vec::len), Some(0));
    assert_eq!(answer["rates"].as_array().map(Vec::len), Some(0));
}

#[test]
fn questions_without_an_answer_are_refused() {
    let refused = [
        (&["--gpus", "8"][..], "--checkpoint-time"),
        (&["--gpus", "8", "--checkpoint-time", "30"], "`30` has no unit"),
        (&["--gpus", "8", "--checkpoint-time", "1s", "--component-mtbf", "fan=3"], "--component-mtbf"),
        (&["--gpus", "8", "--checkpoint-time", "1s", "--component-mtbf", "gpu"], "has no `=`"),
        (&["--gpus", "8", "--checkpoint-time", "1s", "--component-mtbf", "gpu=-3"], "--component-mtbf"),
        (&["--gpus", "16384", "--checkpoint-time", "30s", "--mtbf", "1s"], "makes no progress"),
        (&["--gpus", "8", "--checkpoint-time", "10s", "--checkpoint-stall", "1min"], "--checkpoint-stall"),
        (&["--gpus", "8", "--checkpoint-time", "1s", "--spares", "2"], "--repair-time"),
        (&["--gpus", "8", "--checkpoint-bytes", "1TB", "--storage-bandwidth", "0GB/s"], "more than 0"),
    ];
    for (arguments, part) in refused {
        let outcome = run(&[&["goodput"], arguments].concat());
        assert_eq!(outcome.code, 2, "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.stderr.contains(part), "{arguments:?}: {}", outcome.stderr);
    }
}
