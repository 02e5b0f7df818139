//! Collectives over message sizes: tables, charts, placements, and invalid requests.

use crate::support::{json, run, transcript};

#[test]
fn collectives_on_topologies() {
    let mut text = String::new();
    for line in [
        &[
            "network",
            "collective",
            "all-reduce",
            "--cluster",
            "dgx-h100",
            "--gpus",
            "64",
            "--bytes",
            "8M..8G",
            "--factor",
            "32",
        ][..],
        &[
            "network",
            "collective",
            "all-to-all",
            "--gpus",
            "256",
            "--topology",
            "clos",
            "--network",
            "leaf_oversubscription=2",
            "--routing",
            "ecmp",
            "--bytes",
            "64M,256M",
        ],
        &[
            "network",
            "collective",
            "all-gather",
            "--topology",
            "../../../../examples/networks/hpn-pod.toml",
            "--ranks",
            "0-63",
            "--ranks",
            "1024-1087",
            "--bytes",
            "1G",
            "--format",
            "csv",
        ],
        &[
            "network",
            "collective",
            "allreduce",
            "--nodelist",
            "gpu[001-004,065-068]",
            "--first-node",
            "1",
            "--topology",
            "rail-optimized",
            "--network",
            "gpus=1024",
            "--bytes",
            "1G",
            "--format",
            "md",
        ],
        &[
            "network",
            "collective",
            "sendrecv",
            "--ranks",
            "0-63:8",
            "--topology",
            "rail-only",
            "--network",
            "gpus=64",
            "--fail",
            "nic:8",
            "--bytes",
            "1G",
            "--format",
            "csv",
        ],
        // Invalid requests.
        &["network", "collective", "all-reduce"],
        &["network", "collective", "all-reduce", "--gpus", "8", "--bytes", "1Q"],
        &["network", "collective", "all-reduce", "--ranks", "0-7,7"],
        &["network", "collective", "all-reduce", "--ranks", "0-7", "--seeds", "4"],
        &["network", "collective", "all-reduce", "--nodelist", "gpu[1-2]", "--first-node", "2"],
        &["network", "collective", "all-reduce", "--gpus", "8", "--first-node", "2"],
        &["network", "collective", "all-reduce", "--gpus", "99999999999"],
    ] {
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_chart_has_a_curve_for_the_topology_and_the_closed_form() {
    let svg = run(&["network", "collective", "all-reduce", "--gpus", "64", "--svg"]).stdout;
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<polyline").count(), 2);
    let hashed = run(&[
        "network",
        "collective",
        "all-reduce",
        "--gpus",
        "64",
        "--topology",
        "clos",
        "--routing",
        "ecmp",
        "--svg",
    ]);
    assert_eq!(hashed.stdout.matches("<polyline").count(), 3);
}

/// A ring over every eighth rank uses one NIC of each server: an eighth of the bandwidth of all 64 ranks.
#[test]
fn json_has_every_size_and_the_spread_over_seeds() {
    let bus = |ranks: &str| {
        let answer =
            json(&["network", "collective", "all-gather", "--ranks", ranks, "--bytes", "1G,8G", "--json"], 0);
        assert_eq!(
            (answer["kind"].as_str(), answer["slowdown"]["seeds"].as_u64()),
            (Some("network_collective"), Some(1))
        );
        answer["points"].as_array().expect("sizes")[1]["bus_bandwidth"].as_f64().expect("a number")
    };
    let ratio = bus("0-63") / bus("0-63:8");
    assert!((6.0..8.5).contains(&ratio), "{ratio}");
}
