//! Pairs of measured runs that differ in one setting, compared with the what-if prediction of that change.
//!
//! The pairs are found mechanically in `catalog/evidence/measured_runs.csv`: rows of one source that differ
//! in one input column. `cargo test -p railwright-tuner pairs -- --nocapture` prints the table that
//! docs/guides/what-if.md shows.

use super::*;
use crate::whatif::{evidence, facts};
use railwright_calculator::validation::{Case, Machines, Row, cases, evaluate_case, table::Cells};
use railwright_spec::cluster::ClusterSpec;
use railwright_spec::plan::PlanSpec;
use railwright_spec::run::{Cost, Training};
use std::collections::BTreeMap;
use std::sync::LazyLock;

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let text = include_str!("../../../../../catalog/evidence/measured_runs.csv");
    cases(text, "measured_runs.csv").expect("readable")
});

/// Columns that describe the run; `dp` follows from the others.
const INPUTS: [&str; 29] = [
    "source",
    "model_name",
    "n_layers",
    "hidden",
    "ffn_hidden",
    "n_heads",
    "n_kv_heads",
    "vocab",
    "n_experts",
    "top_k",
    "moe_ffn_hidden",
    "seq_len",
    "gpu",
    "gpus_per_node",
    "n_gpus",
    "inter_node_bw_gbps",
    "framework",
    "dtype",
    "tp",
    "pp",
    "cp",
    "ep",
    "vpp",
    "sequence_parallel",
    "zero_stage",
    "recompute",
    "optimizer_offload",
    "micro_batch",
    "global_batch_seqs",
];

/// Step times predicted by constants fitted without the run's publication, by identifier: the basis of the
/// printed evidence.
static LEFT_OUT: LazyLock<BTreeMap<String, f64>> = LazyLock::new(|| {
    let text = include_str!("../../../../../catalog/evidence/left_out.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let column = |name: &str| header.iter().position(|h| h == name).expect("a column");
    let (id, time) = (column("id"), column("left_out_s"));
    let rows = reader.records().map(|record| record.expect("a row"));
    rows.map(|row| (row[id].to_owned(), row[time].parse().expect("seconds"))).collect()
});

struct Pair {
    before: Case,
    after: Case,
    /// Measured step time after over before.
    measured: f64,
}

fn pairs(column: &str, keys: &[&str]) -> Vec<Pair> {
    let mut groups: BTreeMap<Vec<String>, Vec<(String, Case)>> = BTreeMap::new();
    for (cells, case) in ROWS.iter() {
        let Ok(case) = case else { continue };
        let text = |cells: &Cells, name: &str| cells.text(name).unwrap_or_default().to_owned();
        if text(cells, column).is_empty() || case.step_time.is_none() || !case.complete || case.out_of_memory
        {
            continue;
        }
        let key = INPUTS.iter().filter(|name| **name != column).map(|name| text(cells, name)).collect();
        groups.entry(key).or_default().push((text(cells, column), case.clone()));
    }
    let mut found = Vec::new();
    for mut group in groups.into_values() {
        group.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.id.cmp(&b.1.id)));
        for two in group.windows(2) {
            let (before, after) = (two[0].1.clone(), two[1].1.clone());
            // Notes may contain more than columns: other differences exclude the pair.
            let moved = facts::moved(&run_of(&before), &run_of(&after));
            let is_one = moved.iter().all(|moved| keys.iter().any(|key| moved.key.starts_with(key)));
            if let (Some(old), Some(new)) = (before.step_time, after.step_time)
                && !moved.is_empty()
                && is_one
            {
                found.push(Pair { before, after, measured: new / old });
            }
        }
    }
    found
}

fn run_of(case: &Case) -> Run {
    Run {
        model: case.model.clone(),
        cluster: case.cluster.clone(),
        plan: case.plan.clone(),
        training: Training::default(),
        cost: Cost::default(),
        software_origin: case.software_origin(),
        open_settings: case.spec.open_settings(),
    }
}

/// The predicted ratio of the change that converts one run of a pair to the other.
fn rehearsed(pair: &Pair) -> f64 {
    let before = run_of(&pair.before);
    let mut spec = RunSpec::default();
    spec.plan = PlanSpec::from_plan(&before.plan);
    spec.cluster = ClusterSpec::from_cluster(&before.cluster);
    let moved = facts::moved(&before, &run_of(&pair.after));
    let text: Vec<String> = moved
        .iter()
        .map(|moved| format!("{}={}", moved.key, moved.after.as_deref().unwrap_or("none")))
        .collect();
    let change = Change::parse(&text.join(",")).expect("a change");
    let answer = rehearse(&Baseline { spec: &spec, run: &before, read: &no_file, network: None }, &[change])
        .expect("priced");
    let possible = answer.alone[0].possible().unwrap_or_else(|| panic!("{:?}", answer.alone[0]));
    possible.after.step_time / answer.before.step_time
}

fn evaluated(pair: &Pair, machines: &mut Machines) -> f64 {
    let mut time = |case: &Case| {
        let software = railwright_calculator::software::by_id(&case.plan.software).expect("known");
        evaluate_case(case, machines.of(case), software).expect("priced").time.total
    };
    time(&pair.after) / time(&pair.before)
}

/// The ratio predicted by constants fitted without the pair's publication.
fn left_out(pair: &Pair) -> f64 {
    let time = |case: &Case| LEFT_OUT.get(&case.id).copied().unwrap_or_else(|| panic!("{}", case.id));
    time(&pair.after) / time(&pair.before)
}

fn known(what: &str) -> (&'static [&'static str], Evidence) {
    *evidence::KNOWN.iter().find(|(_, evidence)| evidence.what == what).expect(what)
}

/// Checks the errors of predicted ratios against their documented values, and the share of correct directions
/// among pairs with a measured difference above 5%.
fn errors(name: &str, pairs: &[Pair], mut predict: impl FnMut(&Pair) -> f64) -> f64 {
    let mut errors = Vec::new();
    let (mut clear, mut right) = (0.0_f64, 0.0);
    for pair in pairs {
        let predicted = predict(pair);
        errors.push((predicted / pair.measured).ln().abs());
        if pair.measured.ln().abs() > 0.05 {
            clear += 1.0;
            right += f64::from(u8::from(predicted.ln().signum() == pair.measured.ln().signum()));
        }
    }
    errors.sort_by(f64::total_cmp);
    let at = |share: f64| errors[(errors.len() as f64 * share) as usize];
    let (median, ninth, right) = (at(0.5), at(0.9), right / clear.max(1.0));
    #[expect(clippy::print_stdout, reason = "the table of the guide, with `-- --nocapture`")]
    {
        println!(
            "| {name} | {} | {:.1}% | {:.1}% | {:.0}% of {clear} |",
            pairs.len(),
            median * 100.0,
            ninth * 100.0,
            right * 100.0
        );
    }
    let published = known(name).1;
    assert_eq!(pairs.len(), published.pairs as usize, "{name}");
    assert!(
        (median - published.median).abs() < 5e-3 && (ninth - published.ninth).abs() < 1e-2,
        "{name}: {median} {ninth}"
    );
    right
}

#[test]
fn the_format_of_products() {
    let (keys, evidence) = known("number format");
    let pairs = pairs("dtype", keys);
    let right = errors("number format", &pairs, left_out);
    // The documented band of this kind: 6% in the median, 17% for nine of ten, and the direction almost
    // always.
    assert!(evidence.median < 0.06 && evidence.ninth < 0.17 && right > 0.95, "{right}");
    // The what-if prediction is the evaluation of the changed run and nothing else.
    let mut machines = Machines::default();
    for pair in pairs.iter().take(20) {
        assert!((rehearsed(pair) / evaluated(pair, &mut machines) - 1.0).abs() < 1e-9, "{}", pair.before.id);
    }
}

#[test]
fn one_choice_of_the_plan_at_a_time() {
    for (name, column) in [
        ("micro-batch", "micro_batch"),
        ("tensor parallel", "tp"),
        ("pipeline parallel", "pp"),
        ("devices", "n_gpus"),
        ("global batch", "global_batch_seqs"),
    ] {
        let (keys, _) = known(name);
        let pairs = pairs(column, keys);
        let right = errors(name, &pairs, left_out);
        assert!(right > 0.85, "{name}: {right}");
    }
}
