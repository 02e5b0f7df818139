//! Left-out errors by mechanism: those that cause the tail.
//!
//! Responsible for: groups of runs by their plan and machine, for all publications, and the table of their
//! errors. Independent of sources.

use super::validation::{percent, signed};
use crate::left_out::LeftOut;
use railwright_calculator::validation::statistics::{quantile, summarize};
use railwright_calculator::validation::{Case, cases};
use railwright_spec::plan::Optimizer;
use railwright_spec::precision::DataType;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A group: its name, and the test for its runs.
type Group = (&'static str, fn(&Case) -> bool);

/// Fewer runs have no percentiles.
const FEWEST: usize = 4;

fn domain(case: &Case) -> u64 {
    case.cluster.scale_up.domain_size.max(1)
}

fn is_moe(case: &Case) -> bool {
    case.model.is_mixture_of_experts()
}

fn on(case: &Case, architecture: &str) -> bool {
    case.cluster.accelerator.architecture.starts_with(architecture)
}

fn computes_in(case: &Case, format: DataType) -> bool {
    case.plan.precision.compute == format
}

/// Groups overlap: a run counts in each that it belongs to.
const GROUPS: [Group; 26] = [
    ("all", |_| true),
    ("context parallelism", |c| c.plan.context_parallel > 1),
    ("sequences of 16k and longer, no context parallelism", |c| {
        c.plan.sequence_length >= 16_384 && c.plan.context_parallel == 1
    }),
    ("experts inside a scale-up domain", |c| is_moe(c) && c.plan.expert_parallel <= domain(c)),
    ("experts across domains", |c| is_moe(c) && c.plan.expert_parallel > domain(c)),
    ("tensor parallelism across domains", |c| c.plan.tensor_parallel > domain(c)),
    ("tensor parallelism inside a domain", |c| (2..=domain(c)).contains(&c.plan.tensor_parallel)),
    ("pipeline", |c| c.plan.pipeline_parallel > 1),
    ("pipeline with ZeRO 2 or 3", |c| c.plan.pipeline_parallel > 1 && c.plan.sharding.zero_stage >= 2),
    ("ZeRO 3, fewer than 64 devices", |c| c.plan.sharding.zero_stage == 3 && c.cluster.devices < 64),
    ("ZeRO 3, 64 devices and more", |c| c.plan.sharding.zero_stage == 3 && c.cluster.devices >= 64),
    ("fp8", |c| computes_in(c, DataType::Fp8)),
    ("mxfp8", |c| computes_in(c, DataType::Mxfp8)),
    ("nvfp4", |c| computes_in(c, DataType::Nvfp4)),
    ("LoRA", |c| c.plan.optimizer == Optimizer::Lora),
    ("recompute not published", |c| !c.recompute_known),
    ("framework not known", |c| !c.is_software_named),
    ("1 device", |c| c.cluster.devices == 1),
    ("2 to 8 devices", |c| (2..=8).contains(&c.cluster.devices)),
    ("512 devices and more", |c| c.cluster.devices >= 512),
    ("Ampere", |c| on(c, "Ampere")),
    ("Hopper", |c| on(c, "Hopper")),
    ("Blackwell", |c| on(c, "Blackwell") && !on(c, "Blackwell RTX")),
    ("graphics cards", |c| on(c, "Ada") || on(c, "Blackwell RTX")),
    ("AMD", |c| on(c, "CDNA")),
    ("TPU", |c| on(c, "TPU")),
];

/// The table, from the left-out predictions and the table of measured runs.
pub(super) fn table(all: &[LeftOut], runs: &str) -> Result<String, String> {
    let known: BTreeMap<&str, &LeftOut> = all.iter().map(|row| (row.id.as_str(), row)).collect();
    let mut levels: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    for row in all {
        levels.entry((&row.publication, &row.generation)).or_default().push(row.error().ln_1p());
    }
    let level = |row: &LeftOut| -> f64 {
        let logs = &levels[&(row.publication.as_str(), row.generation.as_str())];
        logs.iter().sum::<f64>() / logs.len() as f64
    };
    let rows: Vec<(Case, &LeftOut)> = cases(runs, "measured_runs.csv")
        .map_err(|problem| problem.to_string())?
        .into_iter()
        .filter_map(|(_, case)| case.ok())
        .filter_map(|case| known.get(case.id.as_str()).map(|row| (case, *row)))
        .collect();
    let mut out = String::from(
        "Errors by feature of a run. Groups overlap. \"Around its level\" is the error once the level of each publication and generation is\n\
         known, due to mechanisms and noise.\n\n\
         | group | publications | runs | median error | 90% within | bias | around its level: median | 90% within |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    for (name, belongs) in GROUPS {
        let group: Vec<&LeftOut> =
            rows.iter().filter(|(case, _)| belongs(case)).map(|(_, row)| *row).collect();
        let errors: Vec<f64> = group.iter().map(|row| row.error()).collect();
        let Some(errors) = summarize(&errors).filter(|errors| errors.n >= FEWEST) else { continue };
        let around: Vec<f64> =
            group.iter().map(|row| ((row.error().ln_1p() - level(row)).exp() - 1.0).abs()).collect();
        let publications: BTreeSet<&str> = group.iter().map(|row| row.publication.as_str()).collect();
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {} | {} | {} | {} | {} |",
            publications.len(),
            errors.n,
            percent(errors.median_absolute),
            percent(errors.p90_absolute),
            signed(errors.bias),
            percent(quantile(&around, 0.5)),
            percent(quantile(&around, 0.9)),
        );
    }
    out.push('\n');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every group of the table has runs in the repository's own table but those without a publication.
    #[test]
    fn groups_are_recognised_by_plans() {
        let runs = include_str!("../../../catalog/evidence/measured_runs.csv");
        let all =
            crate::left_out::read(include_str!("../../../catalog/evidence/left_out.csv")).expect("reads");
        let table = table(&all, runs).expect("a table");
        let count = |name: &str| -> usize {
            let line = table.lines().find(|line| line.starts_with(&format!("| {name} |")));
            line.and_then(|line| line.split('|').nth(3)).map_or(0, |cell| cell.trim().parse().unwrap_or(0))
        };
        assert_eq!(count("all"), all.len());
        assert_eq!(count("experts inside a scale-up domain") + count("experts across domains"), {
            all.iter().filter(|row| row.mixture_of_experts).count()
        });
        assert!(count("context parallelism") > 100 && count("LoRA") > 50 && count("TPU") > 10);
    }
}
