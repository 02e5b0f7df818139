//! Residuals: the tables for every printed interval and every tie of a search.
//!
//! Responsible for: `catalog/intervals.toml`, made from the predictions of `left_out` and of publications
//! that were never fitted, with the coverage of measured runs by such an interval without their own
//! publication; and `catalog/differences.toml`, made with the shipped constants, because a level common to
//! two layouts cancels in their comparison. Does not fit.

use crate::fit;
use crate::left_out::{LeftOut, TABLE, publication, read, shares};
use crate::own_runs::{self, Kinds};
use railwright_calculator::intervals::FRAMEWORK;
use railwright_calculator::software::{self, Part};
use railwright_calculator::validation::regret::differences;
use railwright_calculator::validation::{Case, Machines, evaluate_case};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Weight of all owners relative to those of one class, in owners, divided by the owners of the class: a
/// class of up to two owners is mostly pooled. Software that is named has errors nearly as large as software
/// that is not: 14.0% and 14.4% in the second draw of unseen runs.
const POOLED: f64 = 5.0;

/// Quantiles of a 90% range. Tails of a few publications are heavier than they appear. With these, 95% of the
/// fitted runs and 90% of those of the draws are inside the range without their publication, before what a
/// plan leaves open widens it. With the 92nd percentile 86% of the latter are.
const TAILS: (f64, f64) = (0.01, 0.94);

/// Quantiles of the range that half of the runs are in, before [`half`] extends it to the prediction. Without
/// their publication, 52.4% of the runs of the draws and 47.9% of the fitted runs are inside it.
const HALF: (f64, f64) = (0.25, 0.75);

/// Owner of publications: the author of the measured stack.
#[derive(Debug, Deserialize)]
struct Owner {
    name: String,
    fragments: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Owners {
    owner: Vec<Owner>,
}

static OWNERS: LazyLock<Vec<Owner>> = LazyLock::new(|| {
    let read = toml::from_str::<Owners>(include_str!("../../catalog/evidence/owners.toml"));
    read.expect("the bundled list reads").owner
});

/// The owner of a publication; a publication without one is its own.
fn owner(publication: &str) -> &str {
    let name = publication.to_lowercase();
    let is_of = |owner: &&Owner| owner.fragments.iter().any(|fragment| name.contains(fragment.as_str()));
    OWNERS.iter().find(is_of).map_or(publication, |owner| owner.name.as_str())
}

/// The class of a framework without measurements.
const ANY: &str = "any";

/// Runs of a class: one software generation, or all of a framework by `framework:` and its name; dense models
/// or mixtures of experts.
pub(crate) type Class<'r> = (&'r str, bool);

/// Tests whether a run belongs to a class.
fn is_of(row: &LeftOut, class: Class<'_>) -> bool {
    let is_named = match class.0.strip_prefix(FRAMEWORK) {
        Some(framework) => framework_of(row) == Some(framework),
        None => row.generation == class.0,
    };
    is_named && row.mixture_of_experts == class.1
}

fn framework_of(row: &LeftOut) -> Option<&'static str> {
    let of_row = software::by_id(software::generation_of(&row.generation)).ok()?;
    Some(of_row.framework.as_str())
}

/// Quantiles of measured over predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    /// The lower quantile.
    pub(crate) low: f64,
    /// The upper quantile.
    pub(crate) high: f64,
}

/// The smallest value with a given share of the weight at or below it.
pub(crate) fn weighted_quantile(values: &mut [(f64, f64)], share: f64) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = share * values.iter().map(|v| v.1).sum::<f64>();
    let mut passed = 0.0;
    for (value, weight) in values.iter() {
        passed += weight;
        if passed >= wanted - 1e-9 {
            return Some(*value);
        }
    }
    values.last().map(|v| v.0)
}

/// The 90% range of measured over predicted for a class, from all publications but one. Each owner of
/// publications of the class weighs 1, for any number of publications and runs: those of one owner are not
/// independent, because they share code, recipes and tuning. All others, of dense models and of mixtures of
/// experts, weigh [`POOLED`] over the number of these together. Stacks of both kinds scatter by similar
/// amounts, and the few publications with experts do not show their tails.
///
/// In a class of fewer than 17 owners the 94th percentile is its largest error, that of one owner. Such a
/// class is no wider than all runs together: to know the software does not add doubt.
pub(crate) fn range(rows: &[LeftOut], class: Class<'_>, without: Option<&str>) -> Option<Range> {
    let (found, own) = pooled(rows, class, without, TAILS)?;
    if own == 0 || own as f64 * (1.0 - TAILS.1) >= 1.0 {
        return Some(found);
    }
    let all = range(rows, (ANY, class.1), without)?;
    Some(Range { low: found.low.max(all.low), high: found.high.min(all.high) })
}

/// The range that half of the runs of a class are in, weighted in the same way. It contains the prediction:
/// where most runs of a class were slower, it reaches from the prediction to the slower ones. It is within
/// the range of [`range`], which is no wider than that of all runs.
pub(crate) fn half(rows: &[LeftOut], class: Class<'_>, without: Option<&str>) -> Option<Range> {
    let Range { low, high } = pooled(rows, class, without, HALF)?.0;
    let whole = range(rows, class, without)?;
    Some(Range { low: low.min(1.0).max(whole.low), high: high.max(1.0).min(whole.high) })
}

/// Quantiles of measured over predicted, pooled as in [`range`], and the number of owners of the class.
fn pooled(
    rows: &[LeftOut],
    class: Class<'_>,
    without: Option<&str>,
    tails: (f64, f64),
) -> Option<(Range, usize)> {
    let mut owners: BTreeMap<(bool, bool, &str), Vec<f64>> = BTreeMap::new();
    for row in rows.iter().filter(|r| Some(r.publication.as_str()) != without) {
        let own = is_of(row, class);
        let key = (own, row.mixture_of_experts, owner(&row.publication));
        owners.entry(key).or_default().push(row.measured_s / row.left_out_s);
    }
    let own = owners.keys().filter(|key| key.0).count();
    let others = (owners.len() - own).max(1) as f64;
    let weight_of_others = POOLED / own.max(1) as f64 / others;
    let mut values: Vec<(f64, f64)> = Vec::new();
    for ((own, ..), ratios) in &owners {
        let weight = if *own { 1.0 } else { weight_of_others } / ratios.len() as f64;
        values.extend(ratios.iter().map(|ratio| (*ratio, weight)));
    }
    let found = Range {
        low: weighted_quantile(&mut values, tails.0)?,
        high: weighted_quantile(&mut values, tails.1)?,
    };
    Some((found, own))
}

/// Share of measured times inside the interval of their left-out prediction, the interval made without their
/// publication as well.
pub(crate) fn coverage<'r>(rows: &[LeftOut], judged: impl Iterator<Item = &'r LeftOut>) -> Option<f64> {
    coverage_by(rows, judged, range, |row| &row.generation)
}

/// A definition of the range of a class without a publication: [`range`] or [`half`].
type RangeOf = fn(&[LeftOut], Class<'_>, Option<&str>) -> Option<Range>;

/// The same for any definition of the range, with the class that `name` gives each run.
fn coverage_by<'r>(
    rows: &[LeftOut],
    judged: impl Iterator<Item = &'r LeftOut>,
    range_of: RangeOf,
    name: impl Fn(&'r LeftOut) -> &'r str,
) -> Option<f64> {
    let mut ranges: BTreeMap<(&str, bool, &str), Option<Range>> = BTreeMap::new();
    let (mut inside, mut all) = (0.0, 0.0);
    for row in judged {
        let class = (name(row), row.mixture_of_experts);
        let key = (class.0, class.1, row.publication.as_str());
        let found = ranges.entry(key).or_insert_with(|| range_of(rows, class, Some(&row.publication)));
        if let Some(range) = found {
            let ratio = row.measured_s / row.left_out_s;
            inside += f64::from(u8::from((range.low..=range.high).contains(&ratio)));
            all += 1.0;
        }
    }
    (all > 0.0).then(|| inside / all)
}

fn left_out() -> Result<Vec<LeftOut>, String> {
    read(&std::fs::read_to_string(TABLE).map_err(|e| format!("{TABLE}: {e}; make it with `xtask loso`"))?)
}

/// Runs that rates are fitted to.
const FITTED: &str = "catalog/evidence/measured_runs.csv";

/// Runs of publications that no fit of a rate used, predicted by the shipped constants: all draws.
const UNSEEN: [&str; 18] = [
    "catalog/evidence/unseen_runs.csv",
    "catalog/evidence/third_draw.csv",
    "catalog/evidence/fourth_draw.csv",
    "catalog/evidence/fifth_draw.csv",
    "catalog/evidence/sixth_draw.csv",
    "catalog/evidence/seventh_draw.csv",
    "catalog/evidence/eighth_draw.csv",
    "catalog/evidence/ninth_draw.csv",
    "catalog/evidence/tenth_draw.csv",
    "catalog/evidence/eleventh_draw.csv",
    "catalog/evidence/twelfth_draw.csv",
    "catalog/evidence/thirteenth_draw.csv",
    "catalog/evidence/fourteenth_draw.csv",
    "catalog/evidence/fifteenth_draw.csv",
    "catalog/evidence/sixteenth_draw.csv",
    "catalog/evidence/seventeenth_draw.csv",
    "catalog/evidence/eighteenth_draw.csv",
    "catalog/evidence/nineteenth_draw.csv",
];

/// Generation of a run whose text names no framework: what its accelerator suggests is not evidence about
/// that software.
const UNNAMED: &str = "unnamed";

/// The predicted runs of [`UNSEEN`].
fn unseen() -> Result<Vec<LeftOut>, String> {
    let mut machines = Machines::default();
    let mut row = |case: &Case| {
        let software = software::by_id(&case.plan.software).ok()?;
        let time = evaluate_case(case, machines.of(case), software).ok()?.time.total.get();
        let generation = if case.is_software_named { software::generation_of(&software.id) } else { UNNAMED };
        let parts = shares(&[case], &mut machines, software);
        let share = |part: Part| parts[part as usize].first().copied().unwrap_or(0.0);
        Some(LeftOut {
            id: case.id.clone(),
            publication: publication(&case.source).to_owned(),
            generation: generation.to_owned(),
            mixture_of_experts: case.model.is_mixture_of_experts(),
            fitted_to: 0,
            measured_s: case.step_time?,
            fitted_s: time,
            left_out_s: time,
            products: share(Part::Products),
            streams: share(Part::Streams),
            host: share(Part::Host),
            communication: share(Part::Communication),
        })
    };
    let mut rows = Vec::new();
    for table in UNSEEN {
        rows.extend(fit::load(table)?.iter().filter_map(&mut row));
    }
    Ok(rows)
}

/// The kinds of all runs: those of the fitted table and of the draws.
fn kinds() -> Result<Kinds, String> {
    let mut found = Kinds::new();
    for table in [FITTED].iter().chain(&UNSEEN) {
        let text = std::fs::read_to_string(table).map_err(|e| format!("{table}: {e}"))?;
        found.extend(own_runs::kinds(&text, table)?);
    }
    Ok(found)
}

/// `xtask logs`: errors after some measured runs, for catalog/evidence/after_logs.csv.
pub(crate) fn logs() -> Result<(), String> {
    let mut rows = left_out()?;
    rows.extend(unseen()?);
    own_runs::logs(&rows, &kinds()?)
}

/// `xtask intervals`: the range of each class, for catalog/intervals.toml.
pub(crate) fn intervals(arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err("intervals takes no arguments; it reads what `loso` wrote".into());
    }
    let mut rows = left_out()?;
    let fitted = rows.len();
    rows.extend(unseen()?);
    let inside = |judged: &[LeftOut]| 100.0 * coverage(&rows, judged.iter()).unwrap_or(0.0);
    eprintln!(
        "inside their interval, made without their publication: {:.1}% of the fitted runs, {:.1}% of those of the draws",
        inside(&rows[..fitted]),
        inside(&rows[fitted..])
    );
    let in_half = |judged: &[LeftOut]| {
        100.0 * coverage_by(&rows, judged.iter(), half, |row| &row.generation).unwrap_or(0.0)
    };
    eprintln!(
        "inside the range for half of the runs: {:.1}% of the fitted runs, {:.1}% of those of the draws",
        in_half(&rows[..fitted]),
        in_half(&rows[fitted..])
    );
    let mut classes: BTreeMap<Class<'_>, usize> = BTreeMap::new();
    let frameworks: Vec<Option<String>> =
        rows.iter().map(|row| framework_of(row).map(|name| format!("{FRAMEWORK}{name}"))).collect();
    for (row, framework) in rows.iter().zip(&frameworks) {
        if let Some(framework) = framework {
            *classes.entry((framework, row.mixture_of_experts)).or_default() += 1;
        }
        if row.generation != UNNAMED {
            *classes.entry((&row.generation, row.mixture_of_experts)).or_default() += 1;
        }
        // All publications, dense and of experts, are pooled for unknown software.
        *classes.entry((ANY, false)).or_default() += 1;
        *classes.entry((ANY, true)).or_default() += 1;
    }
    println!(
        "# 1st and 94th percentile of measured over predicted step time, the 25th and 75th for half of the runs, extended to 1. No constants saw the run."
    );
    println!(
        "# An owner of publications of the class weighs 1; all others, of dense models and of experts, weigh {POOLED} over the number of these."
    );
    println!(
        "# Made by `cargo run --release -p xtask -- intervals > catalog/intervals.toml` from {TABLE} and the draws."
    );
    for (class, runs) in classes {
        let (Some(range), Some(half)) = (range(&rows, class, None), half(&rows, class, None)) else {
            continue;
        };
        println!(
            "\n[[residuals]]\nsoftware = \"{}\"\nmixture_of_experts = {}\nruns = {runs}\nlow = {:.3}\nhigh = {:.3}\nhalf_low = {:.3}\nhalf_high = {:.3}",
            class.0, class.1, range.low, range.high, half.low, half.high
        );
    }
    print!("{}", own_runs::tables(&rows, &kinds()?)?);
    Ok(())
}

/// `xtask differences TABLE`: errors of predicted differences within sweeps, for catalog/differences.toml.
pub(crate) fn differences(arguments: &[String]) -> Result<(), String> {
    let [table] = arguments else { return Err("differences TABLE".into()) };
    let text = std::fs::read_to_string(table).map_err(|e| format!("{table}: {e}"))?;
    let validation = railwright_calculator::validation::validate(&text, table).map_err(|p| p.to_string())?;
    println!(
        "# Errors of predicted differences: quantiles of |ln(predicted ratio) - ln(measured ratio)| over pairs of layouts of one sweep, both"
    );
    println!(
        "# predicted within half of the sweep's fastest, by software generation, by the shipped constants. Two layouts of a search"
    );
    println!("# that are closer than `two_thirds` are a tie.");
    println!("# Made by `cargo run --release -p xtask -- differences {table} > catalog/differences.toml`.");
    for d in differences::differences(&validation) {
        println!(
            "\n[[difference]]\nsoftware = \"{}\"\nsweeps = {}\npairs = {}\nhalf = {:.3}\ntwo_thirds = {:.3}\nnine_tenths = {:.3}",
            d.software, d.sweeps, d.pairs, d.half, d.two_thirds, d.nine_tenths
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn row(generation: &str, publication: &str, ratio: f64) -> LeftOut {
        LeftOut {
            id: format!("{publication}-{ratio}"),
            publication: publication.to_owned(),
            generation: generation.to_owned(),
            mixture_of_experts: false,
            fitted_to: 10,
            measured_s: ratio,
            fitted_s: 1.0,
            left_out_s: 1.0,
            products: 1.0,
            streams: 0.0,
            host: 0.0,
            communication: 0.0,
        }
    }

    /// A publication of a thousand runs moves a range no more than one of two.
    #[test]
    fn publications_weigh_alike() {
        let mut rows: Vec<LeftOut> =
            (0..1000).map(|i| row("x", "large", 1.0 + f64::from(i) * 1e-5)).collect();
        rows.extend([row("x", "small", 0.5), row("x", "small", 0.6)]);
        let range = range(&rows, ("x", false), None).expect("rows");
        assert!((range.low - 0.5).abs() < 1e-9 && range.high > 1.0, "{range:?}");
    }

    /// Ten publications of one owner move a range no more than one: another owner's single publication sets
    /// its end.
    #[test]
    fn publications_of_one_owner_weigh_as_one() {
        let mut rows: Vec<LeftOut> =
            (0..10).map(|i| row("x", &format!("NVIDIA recipes {i}"), 1.0 + 0.001 * f64::from(i))).collect();
        rows.push(row("x", "a user", 1.5));
        let found = range(&rows, ("x", false), None).expect("rows");
        assert!((found.high - 1.5).abs() < 1e-9, "{found:?}");
        assert_eq!((owner("MLPerf Training v4"), owner("a user")), ("NVIDIA", "a user"));
    }

    /// One owner far from the others does not make a small class wider than all runs.
    #[test]
    fn a_small_class_is_no_wider_than_all() {
        let mut rows: Vec<LeftOut> =
            (0..60).map(|i| row("y", &format!("p{i}"), 0.8 + 0.01 * f64::from(i % 40))).collect();
        rows.extend([row("x", "a", 1.0), row("x", "b", 5.0)]);
        let of = |class| range(&rows, (class, false), None);
        let (all, class) = (of(ANY), of("x"));
        let (all, class) = (all.expect("rows"), class.expect("rows"));
        assert!(class.high <= all.high && all.high < 2.0, "{class:?} {all:?}");
    }

    /// A class with experts takes its tails from the publications of dense models as well, and its middle
    /// from its own.
    #[test]
    fn other_kinds_contribute_their_tails() {
        let mut rows: Vec<LeftOut> =
            (0..40).map(|i| row("x", &format!("p{i}"), 0.7 + 0.02 * f64::from(i))).collect();
        for at in 0..3 {
            let experts = row("x", &format!("e{at}"), 1.0 + 0.01 * f64::from(at));
            rows.push(LeftOut { mixture_of_experts: true, ..experts });
        }
        let own: Vec<LeftOut> = rows.iter().filter(|r| r.mixture_of_experts).cloned().collect();
        let of = |rows: &[LeftOut]| range(rows, ("x", true), None).expect("rows");
        let (alone, pooled) = (of(&own), of(&rows));
        assert!(alone.high < 1.06 && pooled.high > 1.15 && pooled.low < 0.9, "{alone:?} {pooled:?}");
        // Less than if the others are in the class.
        let few = range(&rows, ("x", false), None).expect("rows");
        assert!(pooled.high < few.high + 0.01, "{pooled:?} {few:?}");
    }

    /// Without its own publication a class is evaluated by the others alone, and a run far from them is
    /// outside.
    #[test]
    fn coverage_leaves_the_judged_publication_out() {
        let mut rows: Vec<LeftOut> =
            ["a", "b", "c"].iter().flat_map(|p| [row("x", p, 0.95), row("x", p, 1.05)]).collect();
        rows.extend([row("x", "odd", 2.0), row("x", "odd", 1.0)]);
        let odd = rows.iter().filter(|r| r.publication == "odd");
        assert_eq!(coverage(&rows, odd), Some(0.5));
        assert_eq!(coverage(&rows, rows.iter().filter(|r| r.publication == "none")), None);
    }

    /// The range of a framework, made without a publication of it, covers about nine in ten of that
    /// publication's runs. With the time of the right version among those that an interval spans, it
    /// covers no fewer if the version is unknown.
    #[test]
    fn ranges_of_frameworks_hold_publications_that_they_never_saw() {
        const FRAMEWORK_CORE: &str = "framework:megatron-core";
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(TABLE);
        let rows = read(&std::fs::read_to_string(root).expect("bundled")).expect("reads");
        let core: Vec<&LeftOut> =
            rows.iter().filter(|row| framework_of(row) == Some("megatron-core")).collect();
        assert!(core.len() > 300, "{}", core.len());
        let held = coverage_by(&rows, core.into_iter(), range, |_| FRAMEWORK_CORE).expect("rows");
        // All but a few of these publications have one owner, whose runs scatter less than the interval
        // allows for others.
        assert!(held >= 0.87, "{held}");
    }

    /// The range for half of the runs contains about half of those of publications that it never saw.
    /// Publications weigh alike, as they do in the range: two of them have more than half of the rows.
    #[test]
    fn half_of_the_left_out_runs_are_in_the_range_for_half() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(TABLE);
        let rows = read(&std::fs::read_to_string(root).expect("bundled")).expect("reads");
        let publications: BTreeSet<&str> = rows.iter().map(|row| row.publication.as_str()).collect();
        let of = |publication: &&str| {
            let own = rows.iter().filter(|row| row.publication == **publication);
            coverage_by(&rows, own, half, |row| &row.generation)
        };
        let shares: Vec<f64> = publications.iter().filter_map(of).collect();
        let held = shares.iter().sum::<f64>() / shares.len() as f64;
        assert!(shares.len() > 30 && (0.4..0.65).contains(&held), "{held} of {}", shares.len());
    }
}
