//! Runs on the hosts of an allocation: reports, orders of hosts, a second run, and invalid placements.

use crate::support::{Folder, json, run};

const RUN: [&str; 14] = [
    "llama-3.1-70b",
    "--cluster",
    "dgx-h100",
    "--gpus",
    "256",
    "--tp",
    "8",
    "--pp",
    "4",
    "--mbs",
    "1",
    "--gbs",
    "64",
    "--quiet",
];
/// Leaves of 4 hosts with a quarter of their bandwidth upwards.
const CLOS: [&str; 6] =
    ["--topology", "clos", "--network", "leaf_oversubscription=4", "--network", "hosts_per_leaf=32"];
/// Every second host, then the others.
const IN_TURN: [&str; 4] = ["--nodelist", "gpu[001-032:2,002-032:2]", "--first-node", "1"];

fn with<'a>(command: &'a str, more: &[&[&'a str]]) -> Vec<&'a str> {
    [&["network", command][..], &RUN, &CLOS, &more.concat()].concat()
}

fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn reports_have_the_ranks_of_leaf_groups() {
    for command in ["simulate", "traffic"] {
        let text = run(&with(command, &[&IN_TURN])).stdout;
        assert!(text.contains("32 hosts, 8 leaf groups (at least 8)"), "{text}");
        // The first leaf has hosts 1 and 3 of the odd ones, and 2 and 4 of the even ones.
        assert!(text.contains("0-15, 128-143"), "{text}");
    }
}

/// Two commands report the same position of an allocation and the same distances of its traffic.
#[test]
fn simulate_and_traffic_agree_on_an_allocation() {
    let placed = json(&with("simulate", &[&IN_TURN, &["--json"]]), 0)["placed"].clone();
    let traffic = json(&with("traffic", &[&IN_TURN, &["--json"]]), 0)["placement"].clone();
    assert_eq!(placed["survey"], traffic["survey"]);
    let order = |name: &str| {
        let rows = placed["orders"].as_array().expect("a list");
        rows.iter().find(|row| row["order"] == name).map(|row| row["bytes"].clone()).expect(name)
    };
    assert_eq!(
        (order("given"), order("contiguous")),
        (traffic["bytes"].clone(), traffic["contiguous"].clone())
    );
}

/// Of the eight hops of a stage's rings, hosts in turn cross leaves at four and sorted hosts at two. Sorted
/// hosts are contiguous.
#[test]
fn orders_of_hosts_are_compared() {
    let folder = Folder::new("placement");
    let hosts = folder.at("hosts.txt");
    let path = hosts.as_str();
    let answer = json(&with("simulate", &[&IN_TURN, &["--reordered", path, "--json"]]), 0);
    let placed = &answer["placed"];
    let order = |name: &str| {
        let rows = placed["orders"].as_array().expect("a list");
        rows.iter().find(|row| row["order"] == name).unwrap_or_else(|| panic!("{name}: {placed}"))
    };
    let step = |name: &str| number(&order(name)["step_time"]);
    assert!(step("given") > step("contiguous"));
    assert!((step("by_network") / step("contiguous") - 1.0).abs() < 1e-9);
    assert_eq!((&placed["survey"]["leaf_groups"], &placed["survey"]["hosts"]), (&8.into(), &32.into()));
    let written = std::fs::read_to_string(&hosts).expect("written");
    assert_eq!(written.lines().count(), 32);
    assert!(written.lines().all(|line| line.starts_with("gpu0") && line.ends_with(" slots=8")), "{written}");
    // The written file is read back: the same hosts in the best order, which no other order improves.
    let again = json(&with("simulate", &[&["--hostfile", path, "--first-node", "1", "--json"]]), 0);
    let best = step(placed["best"].as_str().expect("a name"));
    assert!((number(&again["step_time"]) / best - 1.0).abs() < 1e-9);
    assert_eq!(again["placed"]["best"], "given");
}

/// Bytes at all levels are the bytes of the run, wherever it is placed.
#[test]
fn placement_moves_bytes_and_adds_none() {
    let answer = json(
        &with("traffic", &[&["--network", "gpus=512", "--fragments", "4,1,3,4,4,4,4,4,4", "--json"]]),
        0,
    );
    let levels = ["same_domain", "same_leaf_group", "same_pod", "other_pod"];
    let sum = |row: &serde_json::Value| levels.iter().map(|level| number(&row[level])).sum::<f64>();
    let placement = &answer["placement"];
    assert!((sum(&placement["bytes"]) / number(&answer["sent"]) - 1.0).abs() < 1e-9);
    assert!((sum(&placement["contiguous"]) / number(&answer["sent"]) - 1.0).abs() < 1e-9);
    assert_eq!(placement["survey"]["leaf_groups"], 9);
    assert_eq!(placement["survey"]["least_leaf_groups"], 8);
}

#[test]
fn a_second_run_shares_the_network() {
    let folder = Folder::new("two-runs");
    let text = "model = \"llama-3.1-70b\"\n[cluster]\npreset = \"dgx-h100\"\ndevices = 256\n[plan]\n\
                tensor_parallel = 8\npipeline_parallel = 4\nmicro_batch = 1\nglobal_batch = 64\n";
    let file = folder.put("job.toml", text);
    let job = file.as_str();
    let apart = json(&with("simulate", &[&["--job", job, "--json"]]), 0);
    let slowdown = |answer: &serde_json::Value, n: usize| number(&answer["jobs"][n]["slowdown"]);
    assert!((slowdown(&apart, 0) - 1.0).abs() < 1e-9 && (slowdown(&apart, 1) - 1.0).abs() < 1e-9, "{apart}");
    let mixed = ["--nodelist", "n[0-63:2]", "--job", job, "--json"];
    let mixed = json(&with("simulate", &[&mixed]), 0);
    assert!(slowdown(&mixed, 0) > 1.0001 && slowdown(&mixed, 1) > 1.0001, "{}", mixed["jobs"]);
}

/// A named second run needs its hosts in the network, and has the links of the first run's cluster.
#[test]
fn a_second_run_is_on_the_network_of_the_first() {
    let folder = Folder::new("two-clusters");
    let text = "model = \"llama-3-8b\"\n[cluster]\npreset = \"dgx-a100\"\ndevices = 64\n[plan]\ntensor_parallel = 8\n\
                micro_batch = 1\nglobal_batch = 64\n";
    let job = folder.put("job.toml", text);
    let job = ["--job", job.as_str(), "--job-nodelist", "n[40-47]", "--json"];
    let answer = json(&with("simulate", &[&["--nodelist", "n[0-33]"], &job]), 0);
    assert_eq!(answer["devices"], 384, "{answer}");
    assert_eq!(answer["jobs"][1]["ranks"], 64);
    let chosen: Vec<&str> =
        answer["chosen"].as_array().expect("a list").iter().filter_map(|line| line.as_str()).collect();
    assert!(chosen.contains(&"2 hosts unused for 256 ranks"), "{chosen:?}");
    assert!(
        chosen.contains(&"the second run uses the links of dgx-h100, but its cluster is dgx-a100"),
        "{chosen:?}"
    );
}

/// CSV has the same table with and without hosts.
#[test]
fn named_hosts_keep_the_table_of_steps() {
    let header = |more: &[&str]| {
        let text = run(&with("simulate", &[more, &["--format", "csv"]])).stdout;
        text.lines().next().map(str::to_owned)
    };
    assert_eq!(header(&IN_TURN), header(&[]));
    assert_eq!(header(&[]).as_deref(), Some("effect,step_s,added_time_s"));
}

#[test]
fn what_cannot_be_placed_is_reported() {
    let small = ["--network", "gpus=256"];
    for (more, expected) in [
        (&["--nodelist", "gpu[001-"][..], "error: --nodelist: `gpu[001-` is not a node list"),
        (&["--nodelist", "gpu[1-8]"], "the allocation has 64 devices, but the run has 256 ranks"),
        (&["--nodelist", "gpu[1-32]"], "host `gpu32` is not in the network, whose hosts are 0 to 31"),
        (&["--nodelist", "gpu[0-30,0]"], "ranks 0 and 248 share device 0"),
        (&["--fragments", "4,5"], "leaf group 1 has 4 hosts, fewer than 5"),
        (&["--fragments", "4,x"], "`x` is not a number of hosts"),
        (&["--first-node", "1"], "--first-node: a first node has no effect without named hosts"),
        (&["--reordered", "hosts.txt"], "there are no hosts to write to `hosts.txt`"),
        (&["--hostfile", "hosts.txt", "--nodelist", "gpu1"], "cannot be used with"),
    ] {
        let outcome = run(&with("simulate", &[&small, more]));
        assert_eq!(outcome.code, 2, "{more:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{more:?}: {}", outcome.stderr);
    }
}
