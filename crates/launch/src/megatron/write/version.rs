//! Releases of Megatron-LM that lack some of the flags of the newest version.
//!
//! Responsible for: a script that the parser of a release accepts. Its facts are a table made by that parser
//! (`xtask/peers/exports/table_megatron_versions.py`), and the relations that only earlier releases check. A
//! missing flag that determines the trained model or its division is an error. Flags that only save time are
//! omitted and listed.

use super::Group;
use super::choices::overlaps_experts;
use super::structure::Structure;
use crate::Lost;
use railwright_spec::plan::Optimizer;
use railwright_spec::run::Run;

/// Arguments of the newest version that earlier releases lack.
const TABLE: &str = include_str!("../../../data/megatron_versions.csv");

/// The version that flags are written for: the main branch of this month.
pub(super) const NEWEST: &str = "2026-08";

/// Every version, newest first.
pub(super) const ALL: &[&str] = &[NEWEST, "0.19", "0.18", "0.17", "0.16"];

/// Flags that only save time.
const SAVERS: &[&str] = &[
    "--cuda-graph-impl",
    "--cuda-graph-modules",
    "--moe-expert-rank-capacity-factor",
    "--moe-paged-stash",
    "--use-transformer-engine-op-fuser",
];

/// Flags under the names of releases that lack the newer one.
const RENAMED: &[(&str, &str)] = &[("--cuda-graph-modules", "--cuda-graph-scope")];

/// The version, as a known one.
pub(super) fn known(version: &str) -> &'static str {
    ALL.iter().copied().find(|known| *known == version).unwrap_or(NEWEST)
}

/// The version as a suffix of the framework's name.
pub(super) fn shown(version: &str) -> String {
    if version == NEWEST { String::new() } else { format!(" {version}") }
}

/// Number of versions that a release is behind the newest one.
fn age(version: &str) -> usize {
    ALL.iter().position(|known| *known == version).unwrap_or(0)
}

/// Difference of an option in a release: `None` if equal, `-` if the option is missing, else the allowed
/// words.
fn lacks(version: &str, option: &str) -> Option<&'static str> {
    TABLE.lines().find_map(|line| {
        let mut cells = line.split(',');
        (cells.next() == Some(version) && cells.next() == Some(option)).then(|| cells.next().unwrap_or("-"))
    })
}

/// Reduces the flags to those of a release, and returns the omitted ones.
pub(super) fn fit(version: &str, run: &Run, groups: &mut Vec<Group>) -> Result<Vec<Lost>, Lost> {
    if let Some(why) = refusal(version, run) {
        return Err(Lost { key: "plan".to_owned(), message: format!("Megatron-LM {version} {why}") });
    }
    let mut dropped: Vec<String> = Vec::new();
    for group in groups.iter_mut() {
        let mut kept = Vec::with_capacity(group.flags.len());
        for flag in group.flags.drain(..) {
            let (option, words) = flag.split_once(' ').unwrap_or((&flag, ""));
            let Some(allowed) = lacks(version, option) else {
                kept.push(flag);
                continue;
            };
            let is_missing = allowed == "-";
            let is_allowed =
                |word: &str| allowed.is_empty() || allowed.split_whitespace().any(|known| known == word);
            if !is_missing && words.split_whitespace().all(is_allowed) {
                kept.push(flag);
            } else if let Some((_, older)) = RENAMED.iter().find(|(newer, _)| is_missing && *newer == option)
            {
                kept.push(format!("{older} {words}"));
            } else if SAVERS.contains(&option) {
                dropped.push(flag);
            } else {
                let what = if is_missing { option.to_owned() } else { format!("`{flag}`") };
                return Err(Lost {
                    key: "plan".to_owned(),
                    message: format!("Megatron-LM {version} does not have {what}"),
                });
            }
        }
        group.flags = kept;
    }
    groups.retain(|group| !group.flags.is_empty());
    let lost = |flag: String| Lost {
        key: "software".to_owned(),
        message: format!(
            "`{}` is estimated with `{flag}`, which Megatron-LM {version} lacks; the script omits it",
            run.plan.software
        ),
    };
    Ok(dropped.into_iter().map(lost).collect())
}

/// Reason why a release rejects a run that the newest version accepts.
fn refusal(version: &str, run: &Run) -> Option<&'static str> {
    let (plan, age) = (&run.plan, age(version));
    let at_most = |version: &str| age > 0 && age >= self::age(version);
    let is_sparse = Structure::of(&run.model, plan).is_ok_and(|structure| structure == Structure::Sparse);
    let shards = plan.sharding.zero_stage > 0 || plan.overlap.gradient_reduce;
    let predicts = run.model.multi_token_prediction.as_ref().is_some_and(|prediction| prediction.depth > 0);
    let has_delta_nets =
        Structure::of(&run.model, plan).is_ok_and(|structure| matches!(structure, Structure::DeltaNet(_)));
    if at_most("0.17") && has_delta_nets && plan.context_parallel > 1 {
        Some("has no gated delta nets with context parallelism")
    } else if at_most("0.18") && is_sparse && plan.context_parallel > 1 {
        Some("has no sparse attention with context parallelism")
    } else if at_most("0.17") && plan.optimizer == Optimizer::Muon && shards {
        Some("has no Muon with a sharded optimizer or with overlapped reduction")
    } else if at_most("0.17") && predicts && overlaps_experts(run) && plan.pipeline_parallel == 1 {
        Some(
            "overlaps expert communication of a model with multi-token-prediction modules only between pipeline stages",
        )
    } else {
        None
    }
}
