//! Networks: designs in numbers and diagrams, bills in comparison, and designs that cannot be built.

use crate::support::{json, rejected, run, transcript};

/// Small designs, with counts checked by hand.
#[test]
fn designs_in_numbers() {
    let mut text = String::new();
    for line in [
        &["network", "show", "rail-only", "--gpus", "32768", "--domain", "256"][..],
        &["network", "show", "rail-optimized", "--gpus", "1016", "--extra-endpoints", "4"],
        &["network", "show", "dragonfly", "--gpus", "4096", "--radix", "31", "--routing", "spray"],
        &["network", "show", "clos", "--gpus", "24576", "--leaf-oversubscription", "3", "--format", "md"],
        &["network", "show", "scale-up", "--gpus", "576", "--domain-bandwidth", "900 GB/s", "--ascii"],
        &["network", "show", "../../../../examples/networks/hpn-pod.toml"],
        &["network", "show", "../../../../examples/networks/tpu-v4-pod.toml", "--format", "csv"],
        &["network", "show", "clos", "--gpus", "131072", "--tiers", "4", "--core-oversubscription", "4"],
        &[
            "network",
            "show",
            "rail-optimized",
            "--gpus",
            "1016",
            "--storage",
            "ports=2,oversubscription=4:3,endpoints=56",
            "--in-band",
            "ports=2,oversubscription=15,endpoints=20",
            "--out-of-band",
            "endpoints=150",
        ],
        &["network", "topologies"],
        &["network", "topologies", "dragonfly-plus"],
    ] {
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn bills_side_by_side() {
    let on: [&str; 8] = ["network", "cost", "--gpus", "32768", "--domain", "256", "--radix", "64"];
    let with = |more: &[&'static str]| [&on[..], more].concat();
    let mut text = String::new();
    for line in [
        with(&[]),
        with(&["--designs", "clos,rail-only", "--lines", "--tokens-per-second", "1.5e7"]),
        with(&["--designs", "clos,rail-only,scale-up,slim-fly", "--speed", "100G", "--format", "csv"]),
        with(&["--designs", "clos,rail-only", "--prices", "own-prices.csv", "--format", "md"]),
        with(&["--designs", "clos,rail-only", "--spine-medium", "co-packaged", "--format", "csv"]),
        with(&["--designs", "clos", "--storage", "ports=2", "--server", "8", "--out-of-band", "ports=1"]),
    ] {
        text.push_str(&transcript(&line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn failures_by_class() {
    let mut text = String::new();
    for line in [
        &["network", "failures", "rail-only", "--gpus", "16384", "--radix", "128", "--exposed-share", "0.2"]
            [..],
        &["network", "failures", "../../../../examples/networks/hpn-pod.toml"],
        &["network", "failures", "clos", "--gpus", "4096", "--exposed-share", "0.1", "--format", "csv"],
        &["network", "failures", "dragonfly", "--gpus", "4096", "--radix", "31", "--format", "md"],
        &["network", "failures", "clos", "rail-only", "dual-plane", "--gpus", "16384"],
        &["network", "failures", "dual-plane", "--gpus", "4096", "--fail", "leaf#0", "--fail", "nic#12"],
        &["network", "failures", "clos", "--gpus", "512", "--fail", "leaf#0", "--recovery", "neighbour"],
        &["network", "failures", "rail-only", "--gpus", "4096", "--fail", "leaf=2", "--sample-seed", "7"],
        &[
            "network",
            "failures",
            "rail-only",
            "--gpus",
            "1024",
            "--samples",
            "2000",
            "--rates",
            "own-rates.csv",
        ],
        &["network", "failures", "rail-only", "--run", "../../../../examples/runs/llama-3.1-405b.toml"],
        &["network", "failures", "torus", "--run", "../../../../examples/runs/llama-3.1-405b.toml"],
        &["network", "failures", "clos", "--gpus", "1000", "--radix", "64", "--format", "csv"],
        &["network", "failures", "slim-fly", "--gpus", "1000", "--format", "csv"],
        &["network", "failures", "clos", "--gpus", "512", "--fail", "leaf:0", "--fail", "nic:12"],
    ] {
        text.push_str(&transcript(line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_papers_savings_come_out_of_the_command() {
    let line = [
        "network",
        "cost",
        "--gpus",
        "32768",
        "--domain",
        "256",
        "--speed",
        "100G",
        "--designs",
        "clos,rail-only",
    ];
    for (radix, expected) in [("64", 0.374), ("128", 0.748), ("256", 0.598)] {
        let answer = json(&[&line[..], &["--radix", radix, "--json"]].concat(), 0);
        let saving = answer["designs"][1]["saving_ports_and_transceivers"].as_f64().expect("a number");
        assert!((saving - expected).abs() < 6e-4, "{radix}: {saving}");
    }
}

#[test]
fn published_systems_agree() {
    let answer = json(&["network", "topologies", "--published", "--json"], 0);
    let rows = answer["rows"].as_array().expect("rows");
    assert!(rows.len() >= 40);
    for row in rows {
        for compared in row["compared"].as_array().expect("a list") {
            assert_eq!(compared["published"], compared["here"], "{row}");
        }
    }
}

/// A list of designs and designs one by one are the same question.
#[test]
fn failures_take_designs_as_cost_does() {
    let on = ["--gpus", "4096", "--format", "json"];
    let ask = |designs: &[&'static str]| json(&[&["network", "failures"][..], designs, &on[..]].concat(), 0);
    let listed = ask(&["--designs", "clos,rail-only"]);
    assert_eq!(listed["designs"].as_array().map(Vec::len), Some(2));
    assert_eq!(listed, ask(&["clos", "rail-only"]));
    assert_eq!(listed, ask(&["clos", "--designs", "rail-only"]));
}

/// The network's share is that of a cluster of devices with such domains; where none has a price, it is
/// unknown.
#[test]
fn the_clusters_devices_have_the_domains_of_the_designs() {
    let share = |domain: &'static str, more: &[&'static str]| {
        let line = ["network", "cost", "--gpus", "9216", "--domain", domain, "--designs", "clos", "--json"];
        let answer = json(&[&line[..], more].concat(), 0);
        (
            answer["cluster"]["accelerator"].as_str().unwrap_or_default().to_owned(),
            !answer["designs"][0]["share"]["of_dollars"].is_null(),
        )
    };
    assert_eq!(share("8", &[]), ("h100-sxm5-80gb".to_owned(), true));
    assert_eq!(share("72", &[]), ("gb200-nvl72".to_owned(), true));
    assert_eq!(share("256", &[]), (String::new(), false));
    assert_eq!(share("256", &["--accelerator", "h200"]), ("h200-sxm-141gb".to_owned(), true));
}

/// Islands of three tiers from the command line to the step: four to one above cores, and a lost top switch.
#[test]
fn islands_in_a_report() {
    let shown =
        json(&["network", "show", "clos", "--gpus", "256", "--radix", "16", "--zones", "2", "--json"], 0);
    assert_eq!(shown["design"]["fabric"]["clos"]["clos"]["upper"]["zones"].as_u64(), Some(2));
    let line = ["network", "simulate", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "256", "--tp", "8"];
    let on = ["--topology", "clos", "--network", "radix=16", "--network", "zones=2", "--json"];
    let step = |more: &[&'static str]| {
        json(&[&line[..], &on[..], more].concat(), 0)["step_time"].as_f64().expect("seconds")
    };
    let (even, over) = (step(&[]), step(&["--network", "core_oversubscription=4"]));
    let least = even * (1.0 - 1e-9);
    assert!(over >= least, "{over} {even}");
    assert!(step(&["--fail", "top:0"]) >= least);
}

/// Flaps and slow parts of a table of rates are a part of what failures cost.
#[test]
fn flaps_in_a_report() {
    let line = ["network", "failures", "rail-optimized", "dual-plane", "--gpus", "4096", "--json"];
    let plain = json(&line, 0);
    let with = json(&[&line[..], &["--rates", "../../../../examples/networks/flaps.csv"]].concat(), 0);
    let lost = |answer: &serde_json::Value, n: usize| {
        answer["designs"][n]["expected"]["lost_hours_per_month"].as_f64().expect("hours")
    };
    assert!(plain["designs"][0]["expected"]["brief"].is_null());
    assert!(lost(&with, 0) > lost(&plain, 0));
    // A second plane ends stalls when routes avoid the port.
    let flaps = |n: usize| {
        let brief = with["designs"][n]["expected"]["brief"].as_array().expect("parts");
        brief.iter().filter_map(|part| part["flaps"]["stopping"].as_f64()).fold(0.0, f64::max)
    };
    assert!(flaps(0) > 0.01 && flaps(1) == 0.0, "{} {}", flaps(0), flaps(1));
}

/// The published run over three continents: 83% of the time is compute.
#[test]
fn sites_in_a_report() {
    let line =
        ["network", "sites", "10.2B", "--sites", "14", "--bandwidth", "0.3231Gbit/s", "--step", "22.8s"];
    let answer = json(&[&line[..], &["--outer-bits", "8", "--local-steps", "1,100", "--json"]].concat(), 0);
    let share = |n: usize| answer["rows"][n]["utilization"].as_f64().expect("a share");
    assert!((share(1) - 0.83).abs() < 1e-3 && share(0) < 0.05, "{} {}", share(0), share(1));
}

/// Modular spines from the command line to the bill and the JSON answer.
#[test]
fn modular_spines_in_a_report() {
    let on = ["--gpus", "131072", "--spine-radix", "576"];
    let shown = json(&[&["network", "show", "clos", "--json"][..], &on[..]].concat(), 0);
    let tiers = shown["counts"]["tiers"].as_array().expect("tiers");
    let each: Vec<_> = tiers
        .iter()
        .map(|tier| tier["ports"].as_u64().unwrap_or(0) / tier["switches"].as_u64().unwrap_or(1))
        .collect();
    assert_eq!(each, [64, 576, 576]);
    let report = run(&[&["network", "cost", "--designs", "clos"][..], &on[..]].concat());
    for part in ["switches of 64 (leaf), 576 (spine)", "network-chassis-unpriced"] {
        assert!(report.stdout.contains(part), "{part}: {}", report.stdout);
    }
    let foreign = run(&["network", "show", "dragonfly", "--spine-radix", "576"]);
    assert!(foreign.stderr.contains("a dragonfly has no `spine_radix`"), "{}", foreign.stderr);
}

#[test]
fn pictures_stand_alone() {
    for kind in ["clos", "rail-only", "dual-plane", "dragonfly", "dragonfly-plus", "torus", "scale-up"] {
        let outcome = run(&["network", "show", kind, "--gpus", "4096", "--svg"]);
        assert_eq!(outcome.code, 0, "{kind}: {}", outcome.stderr);
        assert!(outcome.stdout.starts_with("<svg ") && outcome.stdout.len() < 120_000, "{kind}");
        assert!(
            !outcome.stdout.contains("http://www.w3.org/1999") && !outcome.stdout.contains("<script"),
            "{kind}"
        );
    }
}

#[test]
fn what_cannot_be_built_is_reported() {
    let mut text = String::new();
    for line in [
        &["network", "show", "rail-onyl"][..],
        &["network", "show", "clos", "--gpus", "131072"],
        &["network", "show", "clos", "--gpus", "4096", "--tiers", "2"],
        &["network", "show", "clos", "--gpus", "1000", "--domain", "72"],
        &["network", "show", "clos", "--radix", "1"],
        &["network", "show", "clos", "--radix", "2", "--gpus", "64"],
        &["network", "show", "clos", "--radix", "many"],
        &["network", "show", "clos", "--speed", "0 Gbit/s"],
        &["network", "show", "clos", "--speed", "400"],
        &["network", "show", "clos", "--speed", "-5Gbit/s"],
        &["network", "show", "clos", "--port-speed", "300 Gbit/s"],
        &["network", "show", "clos", "--dimensions", "4,4"],
        &["network", "show", "clos", "--gpus", "0"],
        &["network", "show", "clos", "--gpus", "99999999999"],
        &["network", "show", "rail-only", "--forwarding", "none"],
        &["network", "show", "rail-optimized", "--rails", "3"],
        &["network", "show", "torus", "--gpus", "64", "--dimensions", "4,4"],
        &["network", "show", "dragonfly", "--gpus", "64", "--hosts-per-router", "60"],
        &["network", "show", "dragonfly", "--gpus", "300000"],
        &["network", "show", "not-here.toml"],
        &["network", "show", "bad-network.toml"],
        &["network", "show", "impossible-network.toml"],
        &["network", "cost", "--gpus", "131072", "--designs", "clos,trimmed"],
        &["network", "cost", "--speed", "3200G"],
        &["network", "cost", "--prices", "bad-prices.csv"],
        &["network", "cost", "--accelerator", "h10"],
        &["network", "cost", "--years", "0"],
        &["network", "cost", "--tokens-per-second", "nan"],
        &["network", "failures", "clos", "--exposed-share", "2"],
        &["network", "topologies", "dragonfy"],
    ] {
        text.push_str(&rejected(line));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_run_on_each_design() {
    let run = "../../../../examples/runs/llama-3.1-405b.toml";
    insta::assert_snapshot!(transcript(&[
        "network",
        "cost",
        "--run",
        run,
        "--designs",
        "clos,rail-only,torus"
    ]));
}

const DESIGN: [&str; 13] = [
    "network",
    "design",
    "llama-3-8b",
    "--cluster",
    "dgx-h100",
    "--gpus",
    "64",
    "--domains",
    "8,32",
    "--speeds",
    "100G,400G",
    "--topologies",
    "rail-optimized,rail-only",
];

#[test]
fn networks_and_strategies_together() {
    let with = |more: &[&'static str]| [&DESIGN[..], more].concat();
    let mut text = String::new();
    for line in [
        with(&["--quiet"]),
        with(&["--scale-up-price", "32=2500", "--all", "--format", "csv", "--quiet"]),
        with(&["--oversubscriptions", "1", "--network", "radix=32", "--tokens", "1T", "--format", "md"]),
    ] {
        text.push_str(&transcript(&line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

/// Without a cluster, the default cluster is used and reported.
#[test]
fn a_design_needs_no_cluster() {
    let axes = ["--gpus", "64", "--domains", "8", "--speeds", "400G", "--topologies", "rail-only"];
    let with = |more: &[&'static str]| {
        run(&[&["network", "design", "llama-3-8b", "--quiet"][..], &axes, more].concat())
    };
    let (open, named) = (with(&[]), with(&["--cluster", "dgx-h100"]));
    assert_eq!(open.code, 0, "{}", open.stderr);
    // The printed command has `--cluster` in any case.
    let chosen = " cluster dgx-h100";
    let outcome: Vec<&str> = open.stdout.lines().filter(|line| line.contains(chosen)).collect();
    assert_eq!(outcome.len(), 1, "{}", open.stdout);
    assert!(!named.stdout.contains(chosen));
    let rows = |text: &str| {
        text.lines().filter(|line| line.contains("rail-only")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rows(&open.stdout), rows(&named.stdout));
}

/// The command at the end of a design simulates the cheapest network with its plan, and gives the same step.
#[test]
fn the_next_command_of_a_design_runs() {
    let design = [
        &["network", "design", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "64", "--quiet"][..],
        &["--domains", "8", "--speeds", "200G", "--topologies", "clos", "--oversubscriptions", "2"],
        &["--network", "radix=16"],
    ]
    .concat();
    let printed = run(&design).stdout;
    let (_, next) = printed.split_once("next: `").expect("a next step");
    let (command, _) = next.split_once('`').expect("a command");
    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    assert_eq!(words[..3], ["network", "simulate", "llama-3-8b"]);
    let simulated = json(&[&words[..], &["--json", "--quiet"]].concat(), 0);
    let designed = json(&[&design[..], &["--json"]].concat(), 0);
    let cheapest = &designed["rows"][0]["simulated"]["step_time"];
    let [here, there] = [&simulated["step_time"], cheapest].map(|time| time.as_f64().expect("a time"));
    // The step of a design includes the retries of an allocator close to the limit, a fraction of a
    // thousandth here.
    assert!((-1e-9..1e-3).contains(&(there / here - 1.0)), "{command}: {here} {there}");
}

/// A budget leaves out more expensive networks before the search, and a budget below all is an error.
#[test]
fn a_budget_of_a_design() {
    let with = |budget: &'static str| [&DESIGN[..], &["--quiet", "--budget", budget]].concat();
    let within = json(&[&with("100K")[..], &["--json"]].concat(), 0);
    let rows = within["rows"].as_array().expect("rows");
    assert!(!rows.is_empty() && rows.iter().all(|row| row["dollars"].as_f64() <= Some(1e5)), "{within}");
    let text = run(&with("100K")).stdout.replace("\n  ", " ");
    assert!(
        text.contains("4 networks above $100,000 are excluded; the cheapest of them costs $230,384"),
        "{text}"
    );
    let none = run(&with("1000"));
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("--budget: every network costs more than $1,000"), "{}", none.stderr);
    assert!(none.stderr.contains("hint: the cheapest costs $66,912"), "{}", none.stderr);
}

#[test]
fn a_design_is_the_same_at_any_number_of_threads() {
    let with =
        |threads: &'static str| run(&[&DESIGN[..], &["--json", "--quiet", "--threads", threads]].concat());
    assert_eq!(with("1").stdout, with("3").stdout);
    let svg = run(&[&DESIGN[..], &["--svg", "--quiet"]].concat()).stdout;
    assert!(svg.starts_with("<svg") && svg.contains("domains of 32"));
}

#[test]
fn what_makes_no_sense_is_reported() {
    let failures = ["network", "failures", "rail-only", "--gpus", "1024"];
    let design = ["network", "design", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "64"];
    let mut text = String::new();
    for line in [
        [&failures[..], &["--fail", "leaf"]].concat(),
        [&failures[..], &["--tiers", "4"]].concat(),
        ["network", "show", "clos", "--gpus", "1024", "--storage", "prots=2"].to_vec(),
        ["network", "show", "clos", "--gpus", "576", "--domain", "72", "--storage", "ports=2"].to_vec(),
        [&failures[..], &["--fail", "lead=2"]].concat(),
        [&failures[..], &["--fail", "leaf#999999"]].concat(),
        [&failures[..], &["--fail", "leaf=999999"]].concat(),
        [&failures[..], &["--fail", "leaf#1", "--fail", "spine=1"]].concat(),
        [&failures[..], &["--samples", "0"]].concat(),
        [&failures[..], &["--exposed-share", "nan"]].concat(),
        [&failures[..], &["--interruption-hours", "-1"]].concat(),
        [&failures[..], &["--recovery", "nobody"]].concat(),
        [&failures[..], &["--rates", "own-prices.csv"]].concat(),
        [&failures[..], &["--run", "../../../../examples/runs/llama-3.1-405b.toml"]].concat(),
        vec!["network", "failures", "torus", "--gpus", "64", "--fail", "link=2"],
        [&design[..], &["--domains", "7"]].concat(),
        [&design[..], &["--domains", "0"]].concat(),
        [&design[..], &["--speeds", "0G"]].concat(),
        [&design[..], &["--speeds", "fast"]].concat(),
        [&design[..], &["--speeds", "3200G"]].concat(),
        [&design[..], &["--topologies", "cloz"]].concat(),
        [&design[..], &["--topologies", "torus"]].concat(),
        [&design[..], &["--oversubscriptions", "nan"]].concat(),
        [&design[..], &["--network", "radix"]].concat(),
        [&design[..], &["--network", "radix=1"]].concat(),
        [&design[..], &["--network", "speed=400G"]].concat(),
        [&design[..], &["--network", "radik=64"]].concat(),
        [&design[..], &["--scale-up-price", "72"]].concat(),
        [&design[..], &["--years", "0"]].concat(),
        [&design[..], &["--tp", "3"]].concat(),
        vec!["network", "design", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "64,128"],
    ] {
        text.push_str(&transcript(&line));
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

/// A network prepared for its growth discards nothing; as needed, today's network is the same as without
/// growth.
#[test]
fn growth_compares_two_ways_to_a_larger_network() {
    fn cost<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["network", "cost", "--gpus", "1024", "--designs", "clos,dragonfly"], more].concat()
    }
    let answer = json(&cost(&["--grow-to", "8192", "--json"]), 0);
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let today = json(&cost(&["--json"]), 0);
    let larger = json(&["network", "cost", "--gpus", "8192", "--designs", "clos,dragonfly", "--json"], 0);
    for (n, name) in ["clos", "dragonfly"].iter().enumerate() {
        let growth = &answer["growth"][n];
        assert_eq!(growth["name"], *name);
        let needed = &growth["as_needed"];
        assert_eq!(needed["now"], today["designs"][n]["bill"]["total"], "{growth}");
        let left = number(&needed["now"]) + number(&needed["later"]) - number(&needed["discarded"]);
        let total = number(&larger["designs"][n]["bill"]["total"]);
        assert!((left / total - 1.0).abs() < 1e-9, "{growth} {total}");
    }
    let prepared = &answer["growth"][0]["prepared"];
    assert!(number(&prepared["now"]) > number(&answer["growth"][0]["as_needed"]["now"]), "{prepared}");
    assert_eq!((number(&prepared["discarded"]), &prepared["moved_links"]), (0.0, &0.into()));
    assert!(answer["growth"][1]["prepared"].is_null());
    let text = run(&cost(&["--grow-to", "8192"])).stdout;
    assert!(text.contains("growth to 8,192 devices") && text.contains("prepared"), "{text}");
    let smaller = run(&cost(&["--grow-to", "512"]));
    assert_eq!(smaller.code, 2);
    assert!(
        smaller.stderr.contains("--grow-to: 512 devices are not more than the initial 1,024"),
        "{}",
        smaller.stderr
    );
}
