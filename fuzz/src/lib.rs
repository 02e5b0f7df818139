//! The fuzz targets, shared by libFuzzer (nightly) and the mutation test (stable).
//!
//! Responsible for: handing text to a reader as a command would, and processing its result: accepted input
//! must be priced or rejected without a panic. Does not check values: see the tests of the crates.

pub mod mutator;
pub mod networks;
pub mod recordings;
pub mod records;
pub mod tables;

use railwright_calculator::costing::Machine;
use railwright_calculator::defaults::resolve_run;
use railwright_calculator::{estimate, validation};
use railwright_network::bill::{bill, prices::Prices};
use railwright_network::failures::classes;
use railwright_network::topology::{self, DesignSpec, Detail, Topology, svg};
use railwright_profiler::readers::{self, Keep, Recording};
use railwright_profiler::{Job, hta};
use railwright_spec::problem::Problem;
use railwright_spec::{cluster, model, run};

/// A reader under attack.
pub type Target = fn(&str);

/// Every target by name; `fuzz/seeds/NAME` holds its seeds.
pub const TARGETS: &[(&str, Target)] = &[
    ("hugging_face_config", hugging_face_config),
    ("run_file", run_file),
    ("set_expression", set_expression),
    ("measured_runs_table", measured_runs_table),
    ("cluster_file", cluster_file),
    ("launch_file", launch_file),
    ("network_design", network_design),
    ("network_prices", network_prices),
    ("trace_file", trace_file),
    ("fabric_file", networks::fabric_file),
    ("flow_table", networks::flow_table),
];

/// A `config.json`; an accepted model is counted.
pub fn hugging_face_config(text: &str) {
    if let Ok(model) = model::from_hugging_face(text, "config.json") {
        assert!(model.num_layers() > 0, "a model without layers was accepted");
    }
}

/// A run file with the defaults of the program; an accepted run is priced.
pub fn run_file(text: &str) {
    let Ok(spec) = run::parse(text, "run.toml") else { return };
    // A rewritten file must read as the same.
    let again = run::parse(&spec.to_toml(), "again.toml");
    assert!(again.is_ok(), "a run file does not survive being written: {:?}", again.err());
    let read = |name: &str| Err(Problem::new(format!("`{name}` is not read here")));
    if let Ok((run, _)) = resolve_run(&spec, read)
        && let Ok(estimate) = estimate::estimate_run(&run)
    {
        assert!(estimate.step_time.get().is_finite());
    }
}

/// One setting per line as `--set` takes it, on top of a run that is possible.
pub fn set_expression(text: &str) {
    let Ok(mut spec) =
        run::parse("[model]\nname = \"llama-3-8b\"\n[cluster]\npreset = \"dgx-h100\"\ndevices = 8\n", "base")
    else {
        return;
    };
    for line in text.lines().take(32) {
        drop(spec.set(line));
    }
    drop(spec.resolve_valid(|name| Err(Problem::new(format!("`{name}` is not read here")))));
}

/// A table of measured runs, and its predictions.
pub fn measured_runs_table(text: &str) {
    // Rows cost a prediction each: more of them find nothing that a few do not.
    let end = text.match_indices('\n').nth(8).map_or(text.len(), |(at, _)| at);
    if let Ok(answer) = validation::validate(&text[..end], "table.csv") {
        for row in &answer.rows {
            assert!(row.predicted_step_time_s.is_none_or(|t| t.is_finite() && t > 0.0), "{row:?}");
        }
    }
}

/// A cluster file.
pub fn cluster_file(text: &str) {
    if let Ok(mut spec) = cluster::ClusterSpec::parse(text, "cluster.toml") {
        spec.devices.get_or_insert(8);
        if let Ok(cluster) = spec.resolve() {
            drop(Machine::new(&cluster));
        }
    }
}

/// A launch file or a log under every reader. Every writer writes the accepted valid runs, and the files read
/// back.
pub fn launch_file(text: &str) {
    for reader in railwright_launch::readers() {
        match reader.read(text, "launch") {
            Ok(launch) => written_again(launch),
            Err(problems) => assert!(!problems.is_empty(), "refused without a reason"),
        }
    }
    drop(railwright_launch::detect(text));
}

fn written_again(launch: railwright_launch::Launch) {
    let mut spec = launch.spec;
    spec.cluster.preset = Some("dgx-h100".to_owned());
    spec.cluster.devices.get_or_insert(64);
    if spec.model == run::ModelSpec::default() {
        spec.model.name = Some("llama-3-8b".to_owned());
    }
    let config = launch.model_config;
    let read = |name: &str| config.clone().ok_or_else(|| Problem::new(format!("`{name}` is not read here")));
    let Ok((run, _)) = spec.resolve_valid(read) else { return };
    for writer in railwright_launch::writers() {
        let written = writer.write(&run);
        // Plans that a framework cannot run are rejected with the reason.
        let Some(file) = written.files.first() else {
            assert!(!written.refused.is_empty(), "{}: nothing was written, for no reason", writer.name());
            continue;
        };
        let unread = written.not_expressed.iter().find(|lost| lost.key == "plan");
        assert!(unread.is_none(), "{}: {unread:?}\n{}", writer.name(), file.text);
    }
}

/// A design file; an accepted network is counted, drawn and, if it is small, built.
pub fn network_design(text: &str) {
    let Ok(sheet) = topology::parse(text, "network.toml") else { return };
    let Ok(design) = sheet.spec.resolve() else { return };
    assert!(
        topology::parse(&sheet.spec.to_toml(), "again.toml").is_ok(),
        "a design does not survive being written"
    );
    let counts = design.counts();
    assert!(
        counts.tiers.iter().all(|tier| tier.ports_used <= tier.ports),
        "more ports in use than there are"
    );
    assert!(svg::draw(&design).len() < 1 << 20);
    // Beyond, each takes a while by design: a device at a time.
    if design.devices < 10_000 && counts.links() < 100_000 {
        drop(classes(&design));
        drop(sheet.spec.summary());
        if let Ok(topology) = Topology::build(&design, Detail::Links) {
            assert!(
                topology.route(0, topology.graph.devices() - 1, 0).is_some(),
                "the last device is out of reach"
            );
        }
    }
}

/// A price list; an accepted one prices a network.
pub fn network_prices(text: &str) {
    let Ok(own) = Prices::parse(text, "own.csv") else { return };
    let Ok(mut prices) = Prices::catalogue() else { return };
    prices.overlay(own);
    if let Ok(design) = DesignSpec::default().resolve()
        && let Ok(bill) = bill(&design, &prices)
    {
        assert!(bill.total.get().is_finite() && bill.total.get() >= 0.0);
    }
}

/// A profile under every reader, whole and as a stream; a trace must be in order and survive being counted.
pub fn trace_file(text: &str) {
    let bytes = text.as_bytes();
    drop(readers::inflate(bytes));
    let _ = readers::detect(bytes);
    for reader in readers::all() {
        let keep = Keep { python: bytes.len().is_multiple_of(2) };
        let whole = reader.read("trace", bytes, keep);
        let parts = reader.read_stream("trace", &mut &*bytes, keep);
        assert!(whole == parts, "{}: a stream reads differently", reader.name());
        for recording in whole.unwrap_or_default() {
            if let Recording::Rank(trace) = recording {
                in_order(&trace);
                drop(hta::tables(&Job::new(vec![*trace])));
            }
        }
    }
}

fn in_order(trace: &railwright_profiler::RankTrace) {
    let report = &trace.report;
    assert!(report.kept == (trace.gpu.len() + trace.host.len()) as u64, "rows were lost: {report:?}");
    assert!(report.kept <= report.events, "more rows than events: {report:?}");
    assert!(trace.gpu.starts().is_sorted() && trace.host.starts().is_sorted(), "rows are out of order");
    let names = trace.names.len() as u32;
    let calls = trace.collectives.len() as u32;
    for row in trace.gpu.iter() {
        assert!(row.start <= row.end && row.name.0 < names, "{row:?}");
        assert!(row.collective.is_none_or(|c| c < calls), "{row:?}");
    }
    for row in trace.host.iter() {
        assert!(row.start <= row.end && row.name.0 < names, "{row:?}");
        assert!(row.collective.is_none_or(|c| c < calls), "{row:?}");
    }
    let groups = trace.groups.len() as u32;
    assert!(
        trace.collectives.iter().all(|c| c.group.is_none_or(|g| g < groups)),
        "a group that is not there"
    );
}
