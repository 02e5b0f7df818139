//! The same network and run in several commands: equal step times, and CSV headers with the units of their
//! numbers.

use crate::support::{json, run};

/// Largest difference of two steps, as a share.
const ROUNDING: f64 = 1e-9;

fn near(a: f64, b: f64) {
    assert!((a / b - 1.0).abs() < ROUNDING, "{a} {b}");
}

fn of(value: &serde_json::Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("no {key}"))
}

#[test]
fn a_run_on_a_design_takes_the_same_step_in_cost_and_simulate() {
    let file = "../../../../examples/runs/llama-3.1-405b.toml";
    let cost = json(&["network", "cost", "--run", file, "--designs", "rail-only,dual-plane", "--json"], 0);
    for design in cost["designs"].as_array().expect("designs") {
        let kind = design["name"].as_str().expect("a name");
        let simulated = json(&["network", "simulate", file, "--topology", kind, "--json"], 0);
        near(of(&design["step"], "step_time"), of(&simulated, "step_time"));
        // Congestion is part of both, and the closed form has none.
        assert!(of(&simulated, "step_time") > of(&simulated, "closed_form") * (1.0 + ROUNDING), "{kind}");
    }
}

/// The command that `network design` prints simulates the network of its table, with its plan.
#[test]
fn the_next_command_of_a_design_has_the_step_of_its_table() {
    let words = "network design llama-3-8b --cluster dgx-h100 --gpus 128 --domains 8 --speeds 200G --topologies rail-only \
                 --oversubscriptions 1 --tp 2 --pp 1 --cp 1 --gbs 128";
    let words: Vec<&str> = words.split_whitespace().collect();
    let answer = json(&[&words[..], &["--json"]].concat(), 0);
    let text = run(&words).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, next) = text.split_once("next: `railwright ").expect("a next command");
    let (next, _) = next.split_once('`').expect("in quotes");
    let next: Vec<&str> = next.split(' ').chain(["--json"]).collect();
    let simulated = json(&next, 0);
    let row = &answer["rows"][0];
    near(of(&row["simulated"], "step_time"), of(&simulated, "step_time"));
}

/// The slowdown by one failed part is that of the simulation without it, for each class that has one.
#[test]
fn failures_of_a_run_have_the_steps_of_simulate() {
    let file = "../../../../examples/runs/llama-3-8b-fsdp.toml";
    let on = ["--set", "cluster.devices=256", "--json"];
    let mut several = 0;
    for design in ["rail-optimized", "dual-plane"] {
        let failures = json(&[&["network", "failures", design, "--run", file][..], &on].concat(), 0);
        let simulate = |more: &[&str]| {
            let line = ["network", "simulate", file, "--topology", design];
            of(&json(&[&line[..], &on, more].concat(), 0), "step_time")
        };
        let whole = simulate(&[]);
        for loss in failures["designs"][0]["expected"]["classes"].as_array().expect("classes") {
            let part = loss["part"].as_str().expect("a part");
            let name = match part {
                "NIC" => "nic:0",
                "leaf" => "leaf:0",
                "spine" => "spine:0",
                "leaf-spine link" => "link:leaf-spine:0",
                _ => continue,
            };
            assert_eq!(loss["simulated"], true, "{design} {part}");
            near(of(loss, "slowdown"), simulate(&["--fail", name]) / whole);
            several += 1;
        }
    }
    assert!(several >= 6, "{several}");
}

/// The exposed share of the network is that of the simulated step, in both commands.
#[test]
fn cost_and_failures_have_the_same_exposed_share() {
    for (run, design) in [("llama-3.1-405b", "rail-only"), ("gpt3-175b", "dual-plane")] {
        let file = format!("../../../../examples/runs/{run}.toml");
        let cost = json(&["network", "cost", "--run", &file, "--designs", design, "--json"], 0);
        let failures = json(&["network", "failures", design, "--run", &file, "--json"], 0);
        let step = &cost["designs"][0]["step"];
        assert!(step["unsimulated"].is_null() && of(step, "step_time") > of(step, "closed_form"), "{run}");
        near(of(step, "network_share"), of(&failures["job"], "exposed_share"));
    }
}

/// The header of a command's CSV.
fn header(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().chain(["--format", "csv", "--quiet"]).collect();
    let outcome = run(&words);
    assert!(outcome.code < 2, "{line}: {}", outcome.stderr);
    outcome.stdout.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn headers_of_tables_have_units() {
    let run = "llama-3-8b --cluster dgx-h100 --gpus 16";
    let expected = [
        (
            "flows two-hosts-flows.csv --fabric two-hosts.ibnet --cluster two-hosts.toml",
            "flow,source,destination,size_bytes,begin_s,end_s,mean_rate_gb_s",
        ),
        (
            "collective all-reduce --gpus 16 --bytes 1M",
            "size_bytes,algorithm,closed_form_s,closed_form_busbw_gb_s,time_s,algbw_gb_s,busbw_gb_s",
        ),
        (&format!("simulate {run}"), "effect,step_s,added_time_s"),
        (
            &format!("traffic {run} --by link"),
            "layer,direction,links,used,total_bytes,mean_bytes,maximum_bytes,busy_s,busiest link",
        ),
        (
            "cost --designs clos --gpus 1024",
            "design,switches,ports,cables,transceivers,price_without_NICs_usd,price_usd,low_usd,high_usd,price_per_device_usd,saving_share,power_w,share of cluster",
        ),
        ("show clos --gpus 64", "tier,switches,ports,ports in use"),
    ];
    for (line, wanted) in expected {
        assert_eq!(header(&format!("network {line}")), wanted, "{line}");
    }
}

/// One of seven links of 64 GB/s between two MI300X, 448 GB/s behind a switch, and a NIC at most at the speed
/// of its device.
#[test]
fn flows_have_the_links_and_the_limits_of_the_machine() {
    let folder = crate::support::Folder::new("machine-flows");
    let file = folder.at("flows.csv");
    let time = |flows: &str, more: &str| {
        std::fs::write(&file, format!("source,destination,bytes\n{flows}\n")).expect("written");
        let words: Vec<&str> = ["network", "flows", &file]
            .into_iter()
            .chain(more.split_whitespace())
            .chain(["--json"])
            .collect();
        of(&json(&words, 0), "makespan")
    };
    let mesh = time("0,1,6.4 GB", "--cluster mi300x --network gpus=16");
    assert!((mesh - 0.1).abs() < 1e-5, "{mesh}");
    let switched = time("0,1,6.4 GB", "--cluster dgx-h100 --network gpus=16");
    assert!((switched - 6.4 / 450.0).abs() < 1e-5, "{switched}");
    let of_speed = |speed: &str| {
        time("0,8,6.4 GB", &format!("--cluster dgx-h100 --network gpus=16 --network speed={speed}"))
    };
    assert_eq!(of_speed("1600G"), of_speed("3200G"), "the device limits both");
    assert!(of_speed("1600G") > 6.4 / 200.0 * 1.5);
}
