//! Tables of flows and fabrics from files: reports, and errors of invalid ones.

use crate::support::{json, run, transcript};

const FLOWS: &str = "../../../../examples/networks/incast.csv";
const FABRIC: &str = "../../../../examples/networks/two-leaves.dot";

#[test]
fn flows_on_designs_and_fabrics() {
    let mut text = String::new();
    for line in [
        &["network", "flows", FLOWS, "--topology", "clos", "--network", "gpus=64"][..],
        &[
            "network",
            "flows",
            FLOWS,
            "--fabric",
            FABRIC,
            "--routing",
            "ecmp",
            "--seeds",
            "16",
            "--format",
            "csv",
        ],
        &[
            "network",
            "flows",
            "two-hosts-flows.csv",
            "--fabric",
            "two-hosts.ibnet",
            "--cluster",
            "two-hosts.toml",
        ],
        &[
            "network",
            "collective",
            "all-to-all",
            "--fabric",
            FABRIC,
            "--routing",
            "ecmp",
            "--bytes",
            "64M,256M",
        ],
        // Invalid requests.
        &["network", "flows", FLOWS, "--fabric", FABRIC, "--topology", "clos"],
        &["network", "flows", FLOWS, "--fabric", FABRIC, "--routing", "adaptive"],
        &["network", "flows", FABRIC, "--fabric", FABRIC],
        &["network", "flows", FLOWS, "--fabric", FLOWS],
        &["network", "flows", FLOWS, "--network", "gpus=8"],
        &["network", "flows", FLOWS, "--network", "gpus=64", "--seeds", "0"],
        &["network", "collective", "all-reduce", "--fabric", FABRIC, "--ranks", "0-63"],
        &["network", "collective", "all-reduce", "--fabric", "two-hosts.ibnet", "--gpus", "4"],
    ] {
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

/// Eight senders of 1 MiB: the seven from other domains share a NIC of 50 GB/s, one is in the receiver's
/// domain and has 450 GB/s; the reply begins 5 us after the last.
#[test]
fn every_flow_has_its_begin_and_end() {
    let folder = std::env::temp_dir().join(format!("railwright-flows-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let ends = folder.join("ends.csv");
    let path = ends.to_string_lossy().into_owned();
    let answer = json(&["network", "flows", FLOWS, "--fabric", FABRIC, "--ends", &path, "--json"], 0);
    let flows = answer["flows"].as_array().expect("flows");
    let of = |name: &str, key: &str| {
        let flow = flows.iter().find(|flow| flow["name"] == name).expect("the flow");
        flow[key].as_f64().expect("a number")
    };
    // Both leaves' senders are below the receiver's leaf: one of the eight crosses the network, device 8.
    assert!((of("in8", "end") - (2e-6 + 1_048_576.0 / 50e9)).abs() < 1e-12);
    assert!((of("in1", "end") - 7.0 * 1_048_576.0 / 450e9).abs() < 1e-12);
    assert!((of("reply", "begin") - (of("in8", "end") + 5e-6)).abs() < 1e-15);
    let table = std::fs::read_to_string(&ends).expect("a table");
    assert_eq!(table.lines().count(), 11);
    assert!(
        table.starts_with(
            "name,source,destination,bytes,begin_s,end_s,latest_end_s\nin1,gpu1,gpu0,1048576,0,"
        )
    );
    std::fs::remove_dir_all(&folder).expect("removed");
}

/// A step that is written for other simulators is read again, and takes the time of its compute and its
/// bytes.
#[test]
fn traces_are_written_and_simulated() {
    let folder = crate::support::Folder::new("traces");
    let path = folder.at("step");
    let run = ["llama-3-8b", "--cluster", "dgx-h100", "--gpus", "16", "--tp", "4", "--global-batch", "16"];
    let export = [&["network", "export"][..], &run, &["--to", "astra-sim", "-o", &path, "--quiet"]].concat();
    let outcome = crate::support::run(&export);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    for file in ["step.0.et", "step.15.et", "comm_groups.json", "network.yml", "system.json"] {
        assert!(folder.path().join("step").join(file).is_file(), "{file}");
    }
    let played = json(&["network", "flows", &path, "--network", "gpus=16", "--json"], 0);
    let estimate = json(&[&["estimate"][..], &run, &["--json"]].concat(), 0);
    let played = played["makespan"].as_f64().expect("a time");
    let step = estimate["step_time"].as_f64().expect("a time");
    assert!(played < 1.02 * step && played > 0.75 * step, "{played} {step}");
}

/// Devices have the names of their file, and the headline over several hash seeds is their median.
#[test]
fn devices_of_a_fabric_have_their_names() {
    let line =
        ["network", "flows", FLOWS, "--fabric", FABRIC, "--routing", "ecmp", "--seeds", "16", "--quiet"];
    let text = run(&line).stdout;
    let words = |line: &str| line.split_whitespace().take(3).map(str::to_owned).collect::<Vec<_>>();
    assert!(text.lines().any(|line| words(line) == ["in8", "gpu8", "gpu0"]), "{text}");
    let answer = json(&[&line[..], &["--json"]].concat(), 0);
    let median = answer["over_seeds"]["median"].as_f64().expect("a median");
    let median = railwright_spec::human::seconds(railwright_spec::quantity::Seconds::new(median));
    assert!(text.contains(&format!("take {median}, the median of 16 hash seeds;")), "{text}");
    assert_eq!(answer["flows"][0]["source"], 1);
}
