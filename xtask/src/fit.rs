//! Fits a generation's constants to measured runs, robustly and with a penalty on deviations from their
//! present values.
//!
//! The loss is the mean over sources of the mean of a damped absolute log error. A source with many rows or
//! with outliers therefore does not dominate. A penalty on leaving the start value is added: a constant that
//! the data does not determine stays.

use crate::descent::{Steps, descend};
use railwright_calculator::memory::SoftwareCatalogue;
use railwright_calculator::software::{self, Software};
use railwright_calculator::validation::report::assume_recompute;
use railwright_calculator::validation::statistics::{quantile, summarize};
use railwright_calculator::validation::{Case, Machines, cases, evaluate_case};
use std::collections::BTreeMap;

/// Text of the constants of all generations from the working tree: a constant can be tried without a build.
pub(crate) fn constants() -> Result<String, String> {
    const CONSTANTS: &str = "catalog/software.toml";
    std::fs::read_to_string(CONSTANTS).map_err(|e| format!("{CONSTANTS}: {e}"))
}

/// The generations with the constants of the working tree.
pub(crate) fn generations() -> Result<Vec<Software>, String> {
    software::parse(&constants()?)
}

/// Tests whether a run belongs to a generation, with any features.
pub(crate) fn is_of(case: &Case, generation: &str) -> bool {
    software::generation_of(&case.plan.software) == generation
}

/// Physical bounds of a constant: no rate above the separately measured burst rate, no fewer passes than full
/// fusion requires, a share within 0 and 1.
fn bounds(key: &str) -> (f64, f64) {
    match key.split('/').next().unwrap_or(key) {
        "matmul" | "collective_rate" => (0.1, 1.0),
        "attention_rate" => (0.3, 1.0),
        "expert_rate" => (0.2, 1.1),
        "elementwise_passes" | "cast_passes" => (1.0, 6.0),
        "tensor_overlap_exposed"
        | "expert_overlap_exposed"
        | "weight_gather_exposed"
        | "overlap_slowdown" => (0.0, 1.0),
        _ => (0.0, f64::INFINITY),
    }
}

/// Weight of the penalty on log(constant / start) squared: of 0.004, 0.03, 0.1 and 0.4 the one whose left-out
/// predictions err least at the 90th percentile of publications.
const PULL: f64 = 0.03;

/// Log errors beyond this count little more.
const ROUNDING: f64 = 0.25;

pub(crate) fn load(path: &str) -> Result<Vec<Case>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let mut skipped: BTreeMap<String, usize> = BTreeMap::new();
    let mut list = Vec::new();
    let memory = SoftwareCatalogue::shared().map_err(|p| p.to_string())?;
    for (_, case) in cases(&text, path).map_err(|p| p.to_string())? {
        match case {
            Ok(mut case) if case.step_time.is_some() => {
                let constants = memory.get(&case.plan.software);
                assume_recompute(&mut case, constants);
                list.push(case);
            }
            Ok(_) => {}
            Err(reason) => *skipped.entry(reason).or_default() += 1,
        }
    }
    for (reason, count) in skipped {
        eprintln!("skipped {count}: {reason}");
    }
    Ok(list)
}

/// The constant that a key names: a field, or `table/Architecture.format` for one of the tables. A table's
/// missing entry is made with the value that the generation would use for it.
fn slot<'s>(software: &'s mut Software, key: &str) -> Option<&'s mut f64> {
    if let Some((table, part)) = key.split_once('/') {
        let table = match table {
            "matmul" => &mut software.matmul,
            "attention_rate" => &mut software.attention_rate,
            "expert_rate" => &mut software.expert_rate,
            _ => return None,
        };
        let (architecture, format) = part.split_once('.').unwrap_or((part, ""));
        let now = Software::rate(table, architecture, format);
        return Some(table.entry(part.to_owned()).or_insert(now));
    }
    Some(match key {
        "elementwise_passes" => &mut software.elementwise_passes,
        "cast_passes" => &mut software.cast_passes,
        "loss_bytes_per_logit" => &mut software.loss_bytes_per_logit,
        "host_us_per_kernel" => &mut software.host_us_per_kernel,
        "host_us_per_layer" => &mut software.host_us_per_layer,
        "host_us_per_micro_batch" => &mut software.host_us_per_micro_batch,
        "host_us_per_transfer" => &mut software.host_us_per_transfer,
        "host_us_per_expert_layer" => &mut software.host_us_per_expert_layer,
        "host_us_per_expert_product" => &mut software.host_us_per_expert_product,
        "host_ms_per_step" => &mut software.host_ms_per_step,
        "tensor_overlap_exposed" => &mut software.tensor_overlap_exposed,
        "expert_overlap_exposed" => &mut software.expert_overlap_exposed,
        "weight_gather_exposed" => &mut software.weight_gather_exposed,
        "collective_rate" => &mut software.collective_rate,
        "overlap_slowdown" => &mut software.overlap_slowdown,
        "jitter_per_doubling" => &mut software.jitter_per_doubling,
        "optimizer_bytes_per_parameter" => &mut software.optimizer_bytes_per_parameter,
        "router_kernels" => &mut software.router_kernels,
        "pipelined_collective_stall_us" => &mut software.pipelined_collective_stall_us,
        "spanning_collective_stall_us" => &mut software.spanning_collective_stall_us,
        "gradient_bucket_elements" => &mut software.gradient_bucket_elements,
        _ => return None,
    })
}

pub(crate) fn get(software: &Software, key: &str) -> Option<f64> {
    slot(&mut software.clone(), key).map(|value| *value)
}

pub(crate) fn set(software: &mut Software, key: &str, value: f64) {
    if let Some(slot) = slot(software, key) {
        *slot = value;
    }
}

pub(crate) fn log_errors(list: &[&Case], machines: &mut Machines, software: &Software) -> Vec<f64> {
    list.iter()
        .map(|case| {
            let machine = machines.of(case);
            let predicted = software::with_features(software, &case.plan.software)
                .and_then(|stack| evaluate_case(case, machine, &stack))
                .map_or(f64::NAN, |e| e.time.total.get());
            (predicted / case.step_time.unwrap_or(1.0)).ln()
        })
        .collect()
}

/// A constant that is fitted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    /// Its name, as used by [`get`].
    pub(crate) name: String,
    /// Start value of the fit.
    pub(crate) start: f64,
    /// Weight of the penalty on log(constant / start) squared.
    pub(crate) pull: f64,
}

fn loss(list: &[&Case], machines: &mut Machines, software: &Software, keys: &[Key]) -> f64 {
    let errors = log_errors(list, machines, software);
    let mut by_source: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (case, error) in list.iter().zip(errors) {
        let rounded =
            if error.is_finite() { (error.abs() / ROUNDING).min(1e6).ln_1p() * ROUNDING } else { 10.0 };
        let slot = by_source.entry(case.source.as_str()).or_default();
        slot.0 += rounded;
        slot.1 += 1.0;
    }
    // A source weighs as the root of its rows.
    let (sum, weight) =
        by_source.values().fold((0.0, 0.0), |(s, w), (e, n)| (s + e / n * n.sqrt(), w + n.sqrt()));
    let pull: f64 = keys
        .iter()
        .map(|key| {
            let now = get(software, &key.name).unwrap_or(key.start);
            key.pull * (now.max(1e-9) / key.start.max(1e-9)).ln().powi(2)
        })
        .sum();
    sum / weight + pull
}

/// Moves the constants in turn, in steps that are halved when none helps, down to `finest`. Returns the loss.
pub(crate) fn search(
    list: &[&Case],
    machines: &mut Machines,
    software: &mut Software,
    keys: &[Key],
    finest: f64,
) -> f64 {
    let with = |at: &[f64]| {
        let mut candidate = software.clone();
        for (key, &value) in keys.iter().zip(at) {
            set(&mut candidate, &key.name, value);
        }
        candidate
    };
    let mut at: Vec<f64> = keys.iter().map(|key| get(software, &key.name).unwrap_or(0.0)).collect();
    let bounds: Vec<(f64, f64)> = keys.iter().map(|key| bounds(&key.name)).collect();
    let steps = Steps { first: 0.3, finest, gain: 1e-7 };
    let found = descend(&mut at, &bounds, steps, |at| {
        Ok::<_, std::convert::Infallible>(loss(list, machines, &with(at), keys))
    });
    *software = with(&at);
    let Ok(best) = found;
    best
}

/// `xtask fit TABLE GENERATION CONSTANT...`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [table, generation, wanted @ ..] = arguments else {
        return Err("fit TABLE GENERATION CONSTANT...".into());
    };
    let all = load(table)?;
    let list: Vec<&Case> = all.iter().filter(|c| is_of(c, generation)).collect();
    let found = generations()?.into_iter().find(|known| known.id == *generation);
    let mut software = found.ok_or_else(|| format!("unknown generation {generation}"))?;
    let mut keys = Vec::new();
    for key in wanted {
        let (key, start) = match key.split_once('=') {
            Some((key, value)) => (key.to_owned(), value.parse::<f64>().ok()),
            None => (key.clone(), None),
        };
        let start =
            start.or_else(|| get(&software, &key)).ok_or_else(|| format!("unknown constant {key}"))?;
        set(&mut software, &key, start);
        keys.push(Key { name: key, start, pull: PULL });
    }
    let mut machines = Machines::default();
    println!("{} rows, loss {:.4}", list.len(), loss(&list, &mut machines, &software, &keys));
    let best = search(&list, &mut machines, &mut software, &keys, 0.004);
    println!("loss {best:.4}");
    for Key { name: key, start, .. } in &keys {
        println!("{key} = {:.4}   (from {start})", get(&software, key).unwrap_or(f64::NAN));
    }
    report(&list, &mut machines, &software);
    Ok(())
}

/// `xtask validate TABLE`: the summary of `railwright validate`, for quick looks.
pub(crate) fn summary(arguments: &[String]) -> Result<(), String> {
    let [table] = arguments else { return Err("validate TABLE".into()) };
    let text = std::fs::read_to_string(table).map_err(|e| format!("{table}: {e}"))?;
    let validation = railwright_calculator::validation::validate(&text, table).map_err(|p| p.to_string())?;
    let line = |name: &str, e: &railwright_calculator::validation::report::Errors| {
        let time = e.step_time.clone().unwrap_or_default();
        let memory = e.peak_memory.clone().unwrap_or_default();
        println!(
            "{:5} rows {:5} predicted, time n{} med {:5.1}% mean {:5.1}% p90 {:5.1}% bias {:+5.1}% | memory n{} med {:5.1}% p90 {:5.1}% bias {:+5.1}% | inside {:5.1}% rank {:.3} | {}",
            e.rows,
            e.predicted,
            time.n,
            time.median_absolute * 100.0,
            time.mean_absolute * 100.0,
            time.p90_absolute * 100.0,
            time.bias * 100.0,
            memory.n,
            memory.median_absolute * 100.0,
            memory.p90_absolute * 100.0,
            memory.bias * 100.0,
            e.interval_coverage.unwrap_or(f64::NAN) * 100.0,
            e.rank_correlation.unwrap_or(f64::NAN),
            name
        );
    };
    for (name, errors) in &validation.summary.groups {
        line(name, errors);
    }
    line("overall", &validation.summary.overall);
    println!("{:?}", validation.summary.out_of_memory);
    println!("{:?}", validation.summary.skipped);
    if let Ok(path) = std::env::var("RAILWRIGHT_ROWS") {
        let text = serde_json::to_string(&validation).map_err(|e| e.to_string())?;
        std::fs::write(&path, text).map_err(|e| format!("{path}: {e}"))?;
    }
    Ok(())
}

/// `xtask errors TABLE [GENERATION]`
pub(crate) fn errors(arguments: &[String]) -> Result<(), String> {
    let [table, rest @ ..] = arguments else { return Err("errors TABLE [GENERATION]".into()) };
    let all = load(table)?;
    let mut machines = Machines::default();
    for generation in &generations()? {
        if rest.first().is_some_and(|g| *g != generation.id) {
            continue;
        }
        let list: Vec<&Case> = all.iter().filter(|c| is_of(c, &generation.id)).collect();
        if list.is_empty() {
            continue;
        }
        println!("== {} ({} rows)", generation.id, list.len());
        report(&list, &mut machines, generation);
        if rest.get(1).is_some_and(|f| f == "rows") {
            let errors = log_errors(&list, &mut machines, generation);
            for (case, error) in list.iter().zip(errors) {
                let machine = machines.of(case);
                let Ok(t) = evaluate_case(case, machine, generation).map(|e| e.time) else { continue };
                let p = &case.plan;
                println!(
                    "{:+.3} {:9.4} {} n{} tp{} pp{}v{} cp{} dp{} ep{} z{} mb{} m{} s{} | cmp {:.3} rec {:.3} exp {:.3?} host {:.3} bub {:.3} dp {:.3} opt {:.3} fix {:.3} jit {:.3}",
                    error,
                    case.step_time.unwrap_or(0.0),
                    case.id,
                    case.cluster.devices,
                    p.tensor_parallel,
                    p.pipeline_parallel,
                    p.virtual_stages,
                    p.context_parallel,
                    p.data_parallel,
                    p.expert_parallel,
                    p.sharding.zero_stage,
                    p.micro_batch,
                    p.micro_batches(),
                    p.sequence_length,
                    t.compute.iter().map(|c| c.1.get()).sum::<f64>(),
                    t.recompute.get(),
                    t.exposed.iter().map(|c| c.1.get()).collect::<Vec<_>>(),
                    t.host.get(),
                    t.bubble.get(),
                    t.data_parallel.get(),
                    t.optimizer.get(),
                    t.fixed.get(),
                    t.jitter.get()
                );
            }
        }
    }
    Ok(())
}

fn report(list: &[&Case], machines: &mut Machines, software: &Software) {
    let errors = log_errors(list, machines, software);
    let mut by_source: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (case, error) in list.iter().zip(&errors) {
        by_source.entry(case.source.as_str()).or_default().push(error.exp() - 1.0);
    }
    for (source, errors) in &by_source {
        if let Some(s) = summarize(errors) {
            let (lo, hi) = (quantile(errors, 0.05), quantile(errors, 0.95));
            println!(
                "{:4} med {:5.1}% mean {:5.1}% p90 {:6.1}% bias {:+6.1}% [{:+.2} {:+.2}] {}",
                s.n,
                s.median_absolute * 100.0,
                s.mean_absolute * 100.0,
                s.p90_absolute * 100.0,
                s.bias * 100.0,
                lo,
                hi,
                source.chars().take(90).collect::<String>()
            );
        }
    }
    let all: Vec<f64> = errors.iter().map(|e| e.exp() - 1.0).collect();
    if let Some(s) = summarize(&all) {
        println!(
            "ALL {} med {:.1}% mean {:.1}% p90 {:.1}% bias {:+.1}%",
            s.n,
            s.median_absolute * 100.0,
            s.mean_absolute * 100.0,
            s.p90_absolute * 100.0,
            s.bias * 100.0
        );
    }
}
