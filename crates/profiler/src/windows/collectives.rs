//! Steps by the collectives that all ranks share: no rank leaves them before all have entered, so their ends
//! are one moment.
//!
//! Responsible for: moving the edges of steps to such a moment if ranks disagree, and finding steps by a
//! collective that recurs at equal distances. Excludes collectives that only some of the recorded ranks take
//! part in.

use super::StepWindow;
use crate::RankTrace;
use crate::matching::Matching;
use indexmap::IndexMap;
use railwright_step::CollectiveKind;
use rustc_hash::FxBuildHasher;

/// Minimum disagreement between ranks, as a share of a step, for a common moment: that would cut the first
/// step and the last.
const AGREED: f64 = 0.05;

/// Maximum shift of an edge, as a share of a step.
const FARTHEST: f64 = 0.2;

/// Maximum deviation of the distances of a step-marking collective from their median, as a share.
const REGULAR: f64 = 0.25;

/// Key of the collectives of a step.
type Signature = (u32, u8, u64);

/// Ends of collectives of all ranks by key, each list in order.
fn ends(matching: &Matching) -> Vec<(Signature, Vec<i64>)> {
    let ranks = matching.parts.iter().filter(|parts| !parts.is_empty()).count();
    let operation =
        |operation: Option<CollectiveKind>| operation.map_or(u8::MAX, |operation| operation as u8);
    let mut lists: IndexMap<Signature, Vec<i64>, FxBuildHasher> = IndexMap::default();
    if ranks == 1 {
        for part in matching.parts.iter().flatten() {
            let group = part.group.map_or(u32::MAX, |group| group.0);
            let signature = (group, operation(part.operation), part.bytes.unwrap_or(0));
            lists.entry(signature).or_default().push(part.end);
        }
    } else {
        for collective in &matching.collectives {
            let members = matching.members(collective);
            if members.len() == ranks && collective.operation.is_none_or(CollectiveKind::blocks_all) {
                let end = members.iter().map(|at| matching.part(*at).end).max().unwrap_or_default();
                let signature =
                    (collective.communicator, operation(collective.operation), collective.bytes.unwrap_or(0));
                lists.entry(signature).or_default().push(end);
            }
        }
    }
    let mut lists: Vec<(Signature, Vec<i64>)> = lists.into_iter().collect();
    for (_, list) in &mut lists {
        list.sort_unstable();
    }
    lists.sort();
    lists
}

/// The nearest of ordered moments.
fn nearest(moments: &[i64], to: i64) -> Option<i64> {
    let after = moments.partition_point(|moment| *moment < to);
    let around = moments[after.saturating_sub(1)..].iter().take(2);
    around.copied().min_by_key(|moment| (moment - to).abs())
}

/// Moves edges on which ranks disagree to the nearest end of a collective of all ranks. Returns whether it
/// did. The end of the last step is kept unless such a collective ends it.
pub(super) fn settle(steps: &mut [StepWindow], spread: i64, matching: &Matching) -> bool {
    let Some(last) = steps.last().cloned() else { return false };
    let length = (last.end - steps[0].start) / i64::try_from(steps.len()).unwrap_or(i64::MAX);
    if (spread as f64) < AGREED * length as f64 {
        return false;
    }
    let reach = (FARTHEST * length as f64) as i64;
    let edges: Vec<i64> = steps.iter().map(|step| step.start).collect();
    let fit = |moments: &[i64]| -> Option<(i64, Vec<i64>)> {
        let moved: Vec<i64> = edges.iter().map(|edge| nearest(moments, *edge)).collect::<Option<_>>()?;
        let farthest = moved.iter().zip(&edges).map(|(a, b)| (a - b).abs()).max()?;
        (farthest <= reach && moved.is_sorted_by(|a, b| a < b) && *moved.last()? < last.end)
            .then_some((farthest, moved))
    };
    let best = ends(matching).iter().filter_map(|(_, moments)| fit(moments)).min_by_key(|fit| fit.0);
    let Some((_, moved)) = best else { return false };
    let ends = moved.iter().skip(1).copied().chain([last.end]).collect::<Vec<i64>>();
    for ((step, start), end) in steps.iter_mut().zip(moved).zip(ends) {
        (step.start, step.end) = (start, end);
    }
    true
}

/// Steps between the ends of a collective that recurs at equal distances; of several, the rarest one. `None`
/// if some kernels are rarer: then the collective marks layers.
pub(super) fn periods<'a>(
    traces: impl Iterator<Item = &'a RankTrace>,
    matching: &Matching,
) -> Option<Vec<StepWindow>> {
    let regular = |moments: &[i64]| -> Option<i64> {
        let mut distances: Vec<i64> = moments.windows(2).map(|pair| pair[1] - pair[0]).collect();
        distances.sort_unstable();
        let middle = *distances.get(distances.len() / 2).filter(|_| distances.len() > 1)?;
        let allowed = (middle as f64 * REGULAR) as i64;
        let even = middle > 0 && distances.iter().all(|distance| (distance - middle).abs() <= allowed);
        even.then_some(middle)
    };
    let lists = ends(matching);
    let (_, moments) = lists
        .iter()
        .filter_map(|(_, moments)| Some((regular(moments)?, moments)))
        .max_by_key(|(distance, moments)| (*distance, std::cmp::Reverse(moments.first().copied())))?;
    let whole = |trace: &RankTrace| super::repetition::in_every_step(trace, moments.len().saturating_sub(1));
    let mut traces = traces;
    if !traces.all(whole) {
        return None;
    }
    let step = |pair: &[i64]| StepWindow { number: None, start: pair[0], end: pair[1], without: Vec::new() };
    Some(moments.windows(2).map(step).collect())
}
