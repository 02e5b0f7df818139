//! Common steps of all ranks.
//!
//! Responsible for: one start and one end of each step from those of the ranks, the ranks without recording
//! in it, and warnings about excluded steps. Excludes steps of half of the ranks or fewer. One short file
//! must not exclude the others' steps, but few ranks do not represent the job.

use super::StepWindow;
use super::cut::Boundary;
use crate::trace::DamageKind;
use crate::view::View;
use railwright_spec::problem::Warning;
use railwright_spec::{human, lower_median};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum unrecorded share of a step for a rank without step marks that still counts as recorded.
const NEAR: f64 = 0.05;

/// Maximum number of named ranks.
const NAMED: usize = 4;

/// Steps of one rank.
pub(super) struct Cut {
    /// Index of the rank in the job.
    pub member: usize,
    /// From its device's first activity to the end of the last, in nanoseconds.
    pub extent: (i64, i64),
    /// Starts of its steps.
    pub boundaries: Vec<Boundary>,
    /// True if its last step may not have been recorded to its end.
    pub is_open: bool,
}

/// Tests whether a rank's last step may lack its end: its file is truncated, or the step has fewer kernels
/// than its others.
pub(super) fn is_open(view: &View<'_>, boundaries: &[Boundary]) -> bool {
    if view.trace.report.count(DamageKind::Truncated) > 0 {
        return true;
    }
    let starts = view.gpu.starts();
    let before = |time: i64| starts.partition_point(|start| *start < time);
    let mut counts: Vec<f64> = boundaries
        .windows(2)
        .map(|pair| before(pair[1].time).saturating_sub(before(pair[0].time)) as f64)
        .collect();
    let last = counts.pop();
    !counts.is_empty() && last.is_some_and(|last| last < (1.0 - NEAR) * lower_median(&mut counts))
}

/// Minimum number of steps for which an incomplete last one is dropped.
const DROPPED_FROM: usize = 3;

/// Drops the last step of recordings without step marks that end within it on every rank: its duration is not
/// that of a step.
pub(super) fn drop_open(cuts: &mut [Cut]) {
    if cuts.iter().all(|cut| cut.is_open && cut.boundaries.len() > DROPPED_FROM) {
        for cut in cuts {
            cut.boundaries.pop();
            cut.is_open = false;
        }
    }
}

/// The common steps.
pub(super) struct Met {
    pub steps: Vec<StepWindow>,
    /// Spread of step starts over ranks, in nanoseconds.
    pub spread: i64,
    /// Excluded steps, recorded by too few ranks or not consecutive with the others: numbers, or indices
    /// without numbers.
    pub left_out: Vec<u64>,
}

/// Renumbers steps that every rank counted from its own first one, like `reference` (an index in the job):
/// recordings of ranks begin at different steps. The first step of a rank gets the number of the nearest
/// start there.
pub(super) fn number_alike(cuts: &mut [Cut], reference: usize) {
    let Some(reference) = cuts.iter().find(|cut| cut.member == reference) else { return };
    let reference = reference.boundaries.clone();
    for cut in cuts {
        let Some(first) = cut.boundaries.first().copied() else { continue };
        let numbered = reference.iter().filter(|one| one.number.is_some());
        let nearest = numbered.min_by_key(|one| one.time.abs_diff(first.time));
        let (Some(own), Some(there)) = (first.number, nearest.and_then(|one| one.number)) else { continue };
        for boundary in &mut cut.boundaries {
            boundary.number = boundary.number.map(|number| (number + there).saturating_sub(own));
        }
    }
}

/// Steps recorded by most ranks: each begins and ends at the median of the ranks' times. `None` if most ranks
/// have no step in common.
pub(super) fn meet(cuts: &[Cut]) -> Option<Met> {
    // Ranks are matched by step number, without numbers by index.
    let numbered = cuts.iter().any(|cut| cut.boundaries.iter().any(|boundary| boundary.number.is_some()));
    let mut recorded: BTreeMap<u64, Vec<(usize, i64, i64)>> = BTreeMap::new();
    for cut in cuts {
        for (place, pair) in cut.boundaries.windows(2).enumerate() {
            let name = if numbered { pair[0].number } else { Some(place as u64) };
            if let Some(name) = name {
                recorded.entry(name).or_default().push((cut.member, pair[0].time, pair[1].time));
            }
        }
    }
    // Only consecutive steps are shown together: the longest sequence, the first of equal ones.
    let held: Vec<(u64, bool)> =
        recorded.iter().map(|(&name, moments)| (name, moments.len() * 2 > cuts.len())).collect();
    let rows = held.chunk_by(|a, b| a.1 && b.1).filter(|row| row[0].1);
    let longest = rows.fold(&[][..], |best, row| if row.len() > best.len() { row } else { best });
    let best = longest.iter().map(|(name, _)| *name);
    let mut steps: Vec<StepWindow> = Vec::new();
    let mut names: Vec<u64> = Vec::new();
    let mut spread = 0;
    for name in best {
        let moments = &recorded[&name];
        let mut begins: Vec<i64> = moments.iter().map(|moment| moment.1).collect();
        let mut ends: Vec<i64> = moments.iter().map(|moment| moment.2).collect();
        begins.sort_unstable();
        ends.sort_unstable();
        // With two ranks, the earlier one begins a step and the later one ends it.
        let (from, to) = (begins[(begins.len() - 1) / 2], ends[ends.len() / 2]);
        if from >= to {
            continue;
        }
        if let Some(last) = steps.last_mut() {
            if from <= last.start {
                break;
            }
            last.end = from;
        }
        spread = spread.max(begins[begins.len() - 1] - begins[0]);
        names.push(name);
        steps.push(StepWindow {
            number: numbered.then_some(name),
            start: from,
            end: to,
            without: Vec::new(),
        });
    }
    for (step, name) in steps.iter_mut().zip(&names) {
        let near = (step.duration() as f64 * NEAR) as i64;
        // Members are in order.
        let covers = |cut: &Cut| cut.extent.0 <= step.start + near && cut.extent.1 >= step.end - near;
        let starts = |cut: &Cut| {
            let moments = &recorded[name];
            let at = moments.binary_search_by_key(&cut.member, |moment| moment.0).ok();
            at.map(|at| moments[at].2)
        };
        // A start without the end is not a record of the step.
        let ends = |cut: &Cut| {
            let last = cut.boundaries.last().map(|boundary| boundary.time);
            starts(cut).is_some_and(|start| !(cut.is_open && last == Some(start)))
        };
        let without = |marks: &dyn Fn(&Cut) -> bool| -> Vec<usize> {
            let lacks = |cut: &&Cut| !marks(cut) && !covers(cut);
            cuts.iter().filter(lacks).map(|cut| cut.member).collect()
        };
        step.without = without(&ends);
        // If every rank lacks the end, none is compared with a whole step.
        if step.without.len() == cuts.len() {
            step.without = without(&|cut| starts(cut).is_some());
        }
    }
    // Names are in order, like the rows of `recorded`.
    let left_out = recorded.keys().copied().filter(|name| names.binary_search(name).is_err()).collect();
    (!steps.is_empty()).then_some(Met { steps, spread, left_out })
}

/// Warnings about ranks that were not recorded in all steps, and about steps excluded because of them.
pub(super) fn doubts(
    views: &[View<'_>],
    cuts: &[Cut],
    steps: &[StepWindow],
    left_out: &[u64],
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let name = |at: usize| steps[at].number.unwrap_or(at as u64) as u32;
    let mut short: Vec<(usize, Vec<u32>)> = Vec::new();
    for cut in cuts {
        let lacks: Vec<u32> = (0..steps.len()).filter(|&at| !steps[at].holds(cut.member)).map(name).collect();
        if !lacks.is_empty() {
            short.push((cut.member, lacks));
        }
    }
    if !short.is_empty() {
        let mut parts: Vec<String> = short
            .iter()
            .take(NAMED)
            .map(|(member, lacks)| format!("{} in {}", called(views, *member), human::steps(lacks)))
            .collect();
        if short.len() > NAMED {
            parts.push(format!("{} more ranks", short.len() - NAMED));
        }
        let message = format!(
            "not fully recorded: {}; excluded from the means of these steps, and waits for them are \
             estimates",
            parts.join("; ")
        );
        warnings.push(Warning::new("steps-partly-recorded", message));
    }
    if !left_out.is_empty() {
        let left: BTreeSet<u64> = left_out.iter().copied().collect();
        let numbered = steps.iter().any(|step| step.number.is_some());
        let lacks = |cut: &Cut| {
            let own = cut.boundaries.windows(2).enumerate();
            let held = own.filter(|(place, pair)| {
                let name = if numbered { pair[0].number } else { Some(*place as u64) };
                name.is_some_and(|name| left.contains(&name))
            });
            left.len() - held.count().min(left.len())
        };
        let mut because: Vec<(usize, usize)> =
            cuts.iter().map(|cut| (lacks(cut), cut.member)).filter(|(lacks, _)| *lacks > 0).collect();
        because.sort_by_key(|&(lacks, member)| (std::cmp::Reverse(lacks), member));
        let mut ranks: Vec<String> =
            because.iter().take(NAMED).map(|(_, member)| called(views, *member)).collect();
        if because.len() > NAMED {
            ranks.push(format!("{} more", because.len() - NAMED));
        }
        let lost: Vec<u32> = left.iter().map(|&name| name as u32).collect();
        let message = format!(
            "excluded: {}, recorded by at most half of the ranks or out of order; not in {}: omit these files \
             to include them",
            human::steps(&lost),
            ranks.join(", ")
        );
        warnings.push(Warning::new("steps-left-out", message));
    }
    warnings
}

/// Name of a rank, with its file.
fn called(views: &[View<'_>], member: usize) -> String {
    let identity = &views[member].trace.identity;
    let rank = identity.rank.map_or_else(|| "a rank".to_owned(), |rank| format!("rank {rank}"));
    if identity.label.is_empty() { rank } else { format!("{rank} ({})", identity.label) }
}
