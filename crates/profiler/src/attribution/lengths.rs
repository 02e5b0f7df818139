//! Ranks that delay each other in turn because one kind of kernel takes longer on different ranks: attention
//! on sequences of different lengths, or grouped GEMMs of experts with different loads.
//!
//! Responsible for: the evidence in kernels, and the step time with equal work. Evidence: at one position of
//! the program the times of these kernels differ between ranks, those of other GEMMs and attention do not.
//! The step time is a replay with every such kernel at the mean of its position. Excludes jobs whose other
//! kernels differ as much: their ranks are slower in turn for another reason.

use super::event::Chains;
use super::replay::replay;
use crate::communication::NameTable;
use crate::joined::Joined;
use crate::kernels::{KernelTable, is_grouped};
use crate::workers::Workers;
use crate::{Job, RankTrace};
use railwright_spec::median;
use railwright_step::{Dimension, OperatorFamily};
use std::collections::BTreeMap;

/// Work that differs between ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Attention on sequences of different lengths.
    Lengths,
    /// Grouped GEMMs of experts with different loads.
    Experts,
    /// Attention on chunks of sequences: the same chunk of every context-parallel group is longer, as with a
    /// causal mask.
    Chunks,
}

impl Work {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Lengths, Self::Experts, Self::Chunks];

    /// Cause of such a delay in [`super::Named`].
    pub const fn cause(self) -> &'static str {
        match self {
            Self::Lengths => "sequence lengths",
            Self::Experts => "expert loads",
            Self::Chunks => "context parallel chunks",
        }
    }

    /// Tests whether a kernel has this work. `None` for kernels that are not compared.
    pub(super) fn has(self, family: OperatorFamily, name: &str) -> Option<bool> {
        let is_attention = match family {
            OperatorFamily::Attention => true,
            OperatorFamily::MatrixProduct => false,
            _ => return None,
        };
        match (self, is_grouped(name)) {
            // The loads of experts differ for a reason of their own.
            (Self::Lengths | Self::Chunks, true) if !is_attention => None,
            (Self::Lengths | Self::Chunks, _) => Some(is_attention),
            (Self::Experts, grouped) => Some(grouped && !is_attention),
        }
    }
}

/// Minimum reported share of a step: sequences and routing of any data set differ somewhat, and a better
/// balance costs work.
const LEAST_SHARE: f64 = 0.03;

/// Minimum scatter of this work between ranks, the root mean square as a share of its duration; kernels of
/// equal work differ by 1% or 2%.
const SCATTER: f64 = 0.05;

/// Minimum ratio of that scatter to the scatter of other GEMMs and attention.
const APART: f64 = 3.0;

/// Minimum difference between the largest and the smallest attention time of a context-parallel group, as a
/// share of its mean.
const UNEVEN: f64 = 0.1;

/// Maximum scatter of one position's attention time between context-parallel groups, as a share of that
/// difference.
const ALIKE: f64 = 0.25;

/// Maximum number of compared ranks; of more, evenly chosen ones.
const COMPARED: usize = 256;

/// Calls of one kernel on one rank in the order of time: (end, duration), in nanoseconds.
type Calls = Vec<(i64, i64)>;

/// Compared kernels within a time range, by name: whether they have this work, and calls.
type Heavy = BTreeMap<String, (bool, Calls)>;

/// Ends of kernels with this work and their excess over the mean of their position, in nanoseconds; by
/// member.
type Excesses = Vec<Vec<(i64, i64)>>;

/// Reduction of the step time if this work were equal at every position, in nanoseconds of all steps. `None`
/// without evidence of unequal work.
pub(super) fn cost(
    work: Work,
    job: &Job,
    table: &NameTable,
    (chains, joined): (&Chains, &Joined),
    base: i64,
    workers: &impl Workers,
) -> Option<i64> {
    let stride = job.members.len().div_ceil(COMPARED).max(1);
    let heavy = workers.map(&job.members, |_, member| heavy(work, &member.trace, table, chains.span));
    let compared: Vec<&Heavy> = heavy.iter().step_by(stride).collect();
    let mut scatters: BTreeMap<bool, (f64, f64)> = BTreeMap::new();
    let mut means: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    let names: std::collections::BTreeSet<&String> = compared.iter().flat_map(|heavy| heavy.keys()).collect();
    for name in names {
        let Some((has_work, places)) = places(&compared, name) else { continue };
        let sum = scatters.entry(has_work).or_default();
        let usual: Vec<i64> = places
            .into_iter()
            .map(|mut place| {
                let middle = median(&mut place);
                // Squares, so that one rank of many with a different load counts: in each step it may be
                // another one.
                sum.0 += place.iter().map(|duration| (duration - middle).powi(2)).sum::<f64>();
                sum.1 += middle * middle * place.len() as f64;
                // Equal shares have the same work in total; times are skewed, so medians would remove some of
                // it.
                (place.iter().sum::<f64>() / place.len().max(1) as f64) as i64
            })
            .collect();
        if has_work {
            means.insert(name.as_str(), usual);
        }
    }
    let scatter = |of: bool| scatters.get(&of).map_or(0.0, |(apart, all)| (apart / all.max(1.0)).sqrt());
    if scatter(true) < SCATTER || scatter(true) < APART * scatter(false) {
        return None;
    }
    let excesses: Excesses = heavy.iter().map(|heavy| excesses(heavy, &means)).collect();
    let own = |member: usize, place: usize| {
        let (event, before) = (&chains.events[member][place], place.checked_sub(1));
        let from = before
            .map_or(event.time - event.own - event.unknown, |before| chains.events[member][before].time);
        (event.own - within(&excesses[member], from, event.time)).max(0)
    };
    let transfer = |member: usize, place: usize| chains.events[member][place].transfer;
    let saved = base - replay(chains, joined, &own, &transfer).span;
    (saved as f64 > LEAST_SHARE * base as f64).then_some(saved)
}

/// Members with the longer chunks of their sequences: the same positions of all context-parallel groups, at
/// least two, have more attention than the mean of their group. `None` if groups differ in it, because
/// sequences of different lengths are longer on all of a group's ranks.
pub(super) fn longer_chunks(
    job: &Job,
    table: &NameTable,
    (chains, joined): (&Chains, &Joined),
    workers: &impl Workers,
) -> Option<Vec<usize>> {
    let groups = joined.groups.groups.iter();
    let groups = groups.filter(|group| group.dimension.dimension == Dimension::Context);
    let members: Vec<Vec<usize>> = groups
        .filter_map(|group| {
            let ranks = group.ranks.as_ref()?.ranks();
            let members: Option<Vec<usize>> = ranks.iter().map(|&rank| job.position(rank)).collect();
            members.filter(|members| members.len() > 1)
        })
        .collect();
    let size = members.first()?.len();
    if members.len() < 2 || members.iter().any(|group| group.len() != size) {
        return None;
    }
    let attention = workers.map(&job.members, |_, member| {
        let heavy = heavy(Work::Chunks, &member.trace, table, chains.span);
        let of_work = heavy.values().filter(|of| of.0).flat_map(|of| &of.1);
        of_work.map(|call| call.1).sum::<i64>() as f64
    });
    // By group: attention time of each position relative to the group's mean.
    let shares: Vec<Vec<f64>> = members
        .iter()
        .map(|group| {
            let times = || group.iter().filter_map(|&member| attention.get(member).copied());
            let mean = times().sum::<f64>() / size as f64;
            times().map(|time| time / mean.max(1.0)).collect()
        })
        .collect();
    let at = |position: usize| shares.iter().filter_map(move |group| group.get(position).copied());
    let (mut means, mut scatter) = (Vec::new(), 0.0_f64);
    for position in 0..size {
        let mean = at(position).sum::<f64>() / shares.len() as f64;
        scatter = at(position).map(|share| (share - mean).abs()).fold(scatter, f64::max);
        means.push(mean);
    }
    let (least, most) =
        means.iter().fold((f64::MAX, 0.0_f64), |(least, most), &mean| (least.min(mean), most.max(mean)));
    if most - least < UNEVEN || scatter > ALIKE * (most - least) {
        return None;
    }
    let longer: Vec<usize> = (0..size)
        .filter(|&position| means.get(position).is_some_and(|mean| *mean > 1.0 + UNEVEN / 2.0))
        .collect();
    Some(members.iter().flat_map(|group| longer.iter().filter_map(|&at| group.get(at).copied())).collect())
}

/// Durations of a kernel by position, on all ranks with the most frequent number of calls. `None` with fewer
/// than three ranks.
fn places(compared: &[&Heavy], name: &str) -> Option<(bool, Vec<Vec<f64>>)> {
    let all: Vec<&(bool, Calls)> = compared.iter().filter_map(|heavy| heavy.get(name)).collect();
    let has_work = all.first()?.0;
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for of in &all {
        *counts.entry(of.1.len()).or_default() += 1;
    }
    let (count, ranks) = counts.into_iter().max_by_key(|of| (of.1, of.0))?;
    let same = || all.iter().filter(|of| of.1.len() == count);
    let place = |at: usize| same().filter_map(|of| of.1.get(at)).map(|call| call.1 as f64).collect();
    (ranks >= 3).then(|| (has_work, (0..count).map(place).collect()))
}

/// Excess of a rank's kernels over the mean of their positions, ordered by end.
fn excesses(heavy: &Heavy, means: &BTreeMap<&str, Vec<i64>>) -> Vec<(i64, i64)> {
    let mut found: Vec<(i64, i64)> = heavy
        .iter()
        .filter_map(|(name, (_, calls))| Some((calls, means.get(name.as_str())?)))
        .filter(|(calls, usual)| calls.len() == usual.len())
        .flat_map(|(calls, usual)| calls.iter().zip(usual).map(|(call, usual)| (call.0, call.1 - usual)))
        .collect();
    found.sort_unstable();
    found
}

/// Sum of the excesses of kernels that end in `(from, to]`, in nanoseconds.
fn within(excesses: &[(i64, i64)], from: i64, to: i64) -> i64 {
    let before = |time: i64| excesses.partition_point(|excess| excess.0 <= time);
    excesses.get(before(from)..before(to)).unwrap_or_default().iter().map(|excess| excess.1).sum()
}

fn heavy(work: Work, trace: &RankTrace, table: &NameTable, span: (i64, i64)) -> Heavy {
    let classes = table.classes(&trace.names);
    let families = KernelTable::shipped();
    let mut known: BTreeMap<crate::NameId, Option<bool>> = BTreeMap::new();
    let mut calls: BTreeMap<crate::NameId, Calls> = BTreeMap::new();
    for row in trace.gpu.iter() {
        if !classes.computes(&row) || row.start < span.0 || row.end > span.1 {
            continue;
        }
        let has_work = known.entry(row.name).or_insert_with(|| {
            let name = trace.names.get(row.name);
            work.has(families.family(name), name)
        });
        if has_work.is_some() {
            calls.entry(row.name).or_default().push((row.end, row.end - row.start));
        }
    }
    let named = |(name, mut calls): (crate::NameId, Calls)| {
        calls.sort_unstable();
        let has_work = known.get(&name).copied().flatten()?;
        Some((trace.names.get(name).to_owned(), (has_work, calls)))
    };
    calls.into_iter().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::{Kind, StragglerReport, Verdict, straggler_report};
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    /// Enough that no rank has the longest sequences of most steps.
    const RANKS: u32 = 16;
    const STEPS: u32 = 8;

    fn plan(sequences: u64, jitter: u64) -> Synthetic {
        let plan =
            Synthetic { data: RANKS, tensor: 1, steps: STEPS, overlapped: true, ..Synthetic::default() };
        Synthetic { jitter, sequences, ..plan }
    }

    fn report(plan: &Synthetic) -> StragglerReport {
        straggler_report(&mut plan.job(), &JoinOptions::default())
    }

    /// Excess of the rank with most attention over the means of all positions, in nanoseconds: mean over the
    /// steps. Gradients are reduced once all ranks have finished.
    fn planted(plan: &Synthetic) -> f64 {
        let job = plan.job();
        let of_rank = |trace: &RankTrace| -> Vec<f64> {
            let rows = trace.gpu.iter().filter(|row| trace.names.get(row.name) == "flash_fwd_kernel");
            rows.map(|row| (row.end - row.start) as f64).collect()
        };
        let ranks: Vec<Vec<f64>> = job.members.iter().map(|member| of_rank(&member.trace)).collect();
        let layers = plan.layers as usize;
        let beyond = |at: usize| {
            let usual = ranks.iter().map(|rank| rank[at]).sum::<f64>() / f64::from(RANKS);
            ranks.iter().map(|rank| rank[at] - usual).collect::<Vec<f64>>()
        };
        let of_step = |step: usize| {
            let mut sums = vec![0.0; ranks.len()];
            for at in step * layers..(step + 1) * layers {
                sums.iter_mut().zip(beyond(at)).for_each(|(sum, beyond)| *sum += beyond);
            }
            sums.into_iter().fold(0.0, f64::max)
        };
        (0..STEPS as usize).map(of_step).sum::<f64>() / f64::from(STEPS)
    }

    #[test]
    fn sequences_of_different_lengths_are_an_imbalance_of_all_ranks() {
        assert_eq!(report(&plan(1, 0)).verdict, Verdict::None);
        let uneven = plan(700, 0);
        let report = report(&uneven);
        assert_eq!(report.verdict, Verdict::Imbalance);
        let [named] = report.culprits.as_slice() else { panic!("{:?}", report.culprits) };
        assert_eq!(
            (named.kind, named.cause, named.ranks.len()),
            (Kind::Group, Work::Lengths.cause(), RANKS as usize)
        );
        let (cost, planted) = (named.cost_s * 1e9, planted(&uneven));
        assert!((cost / planted - 1.0).abs() < 0.15, "{cost} of {planted}");
    }

    /// With all attention at the median of such lengths, the job would have less work.
    #[test]
    fn skewed_sequences_cost_what_equal_ones_of_the_same_work_save() {
        let skewed = Synthetic { skewed: true, ..plan(700, 0) };
        let report = report(&skewed);
        let [named] = report.culprits.as_slice() else {
            panic!("{:?} {:?}", report.culprits, report.reasons)
        };
        assert_eq!(named.cause, Work::Lengths.cause());
        let (cost, planted) = (named.cost_s * 1e9, planted(&skewed));
        assert!((cost / planted - 1.0).abs() < 0.05, "{cost} of {planted}");
    }

    /// The same variation in grouped GEMMs: experts with more tokens on different ranks in turn.
    #[test]
    fn experts_of_different_load_in_turn_are_an_imbalance_of_all_ranks() {
        let uneven = plan(700, 0);
        let mut job = uneven.job();
        for member in &mut job.members {
            let trace = &mut member.trace;
            let [attention, grouped] = ["flash_fwd_kernel", "void cutlass::gemm::GroupedGemm<1>"]
                .map(|name| trace.names.intern(name));
            let mut renamed = crate::trace::GpuActivities::default();
            for row in trace.gpu.iter() {
                let name = if row.name == attention { grouped } else { row.name };
                renamed.push(crate::trace::GpuActivity { name, ..row });
            }
            trace.gpu = renamed;
        }
        let report = straggler_report(&mut job, &JoinOptions::default());
        let [named] = report.culprits.as_slice() else {
            panic!("{:?} {:?}", report.culprits, report.reasons)
        };
        assert_eq!((named.kind, named.work()), (Kind::Group, Some(Work::Experts)));
        assert_eq!(report.verdict, Verdict::Imbalance);
        let (cost, planted) = (named.cost_s * 1e9, planted(&uneven));
        assert!((cost / planted - 1.0).abs() < 0.15, "{cost} of {planted}");
    }

    #[test]
    fn ranks_whose_products_differ_as_much_are_not_accused_of_their_sequences() {
        let report = report(&plan(200, 200));
        assert!(
            report.culprits.iter().all(|named| named.cause != Work::Lengths.cause()),
            "{:?}",
            report.culprits
        );
    }
}
