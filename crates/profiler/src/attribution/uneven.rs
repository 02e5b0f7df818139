//! Unequal work, detected from kernels.
//!
//! Responsible for: distinguishing a slow chip, which slows all GEMMs and attention kernels, from more work
//! in some of them: an expert with more tokens, longer sequences. Excludes kernels that are slow only
//! occasionally (other load of the device), and memory-bound ones, which a lower clock does not affect.

use super::cause::Evidence;
use super::lengths::Work;
use super::peers::Stretches;
use super::stretch::Stretch;
use crate::Job;
use crate::RankTrace;
use crate::communication::NameTable;
use crate::kernels::KernelTable;
use railwright_spec::median;
use railwright_step::OperatorFamily;
use std::collections::BTreeMap;

/// Minimum factor of a kernel that takes longer.
const LONGER: f64 = 1.04;

/// A kernel is unaffected if it grew by less than this share of the growth of affected ones.
const UNAFFECTED: f64 = 0.25;

/// Minimum share of unaffected kernels in the time of GEMMs and attention.
const LEFT: f64 = 0.25;

/// Minimum share of the total growth that affected kernels must explain.
const EXPLAINED: f64 = 0.5;

/// Maximum number of compared peers of an interval.
const OTHERS: usize = 16;

/// Number of quantiles of kernel durations: one name covers GEMMs of several sizes, between which a median is
/// unstable.
const QUANTILES: usize = 16;

/// Durations of one kernel on one rank, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    pub total: f64,
    quantiles: [f64; QUANTILES],
    pub count: usize,
}

/// Median over ranks of a value of a kernel.
type Middle<'a> = &'a dyn Fn(&dyn Fn(&Taken) -> f64) -> f64;

impl Taken {
    pub(super) fn of(durations: &mut [f64]) -> Self {
        durations.sort_by(f64::total_cmp);
        let quantile = |at: usize| durations.get((2 * at + 1) * durations.len() / (2 * QUANTILES)).copied();
        Self {
            total: durations.iter().sum(),
            quantiles: std::array::from_fn(|at| quantile(at).unwrap_or(0.0)),
            count: durations.len(),
        }
    }

    /// Durations on the usual rank: `middle` gives the median of a value over ranks.
    pub(super) fn usual(count: usize, total: f64, middle: Middle<'_>) -> Self {
        let quantile = |at: usize| middle(&|one| one.quantiles.get(at).copied().unwrap_or(0.0));
        Self { total, quantiles: std::array::from_fn(quantile), count }
    }

    /// Ratio to the usual duration: the median over quantiles.
    pub(super) fn factor(&self, usual: &Self) -> f64 {
        let pairs = self.quantiles.iter().zip(&usual.quantiles).filter(|(_, usual)| **usual > 0.0);
        let mut factors: Vec<f64> = pairs.map(|(own, usual)| own / usual).collect();
        if factors.is_empty() { 1.0 } else { median(&mut factors) }
    }
}

/// Compute kernels of a rank within a time range, by name.
pub(super) fn taken(trace: &RankTrace, table: &NameTable, span: (i64, i64)) -> BTreeMap<String, Taken> {
    let classes = table.classes(&trace.names);
    let mut durations: BTreeMap<crate::NameId, Vec<f64>> = BTreeMap::new();
    for row in trace.gpu.iter() {
        if classes.computes(&row) && row.start >= span.0 && row.end <= span.1 {
            durations.entry(row.name).or_default().push((row.end - row.start) as f64);
        }
    }
    let summed = |(name, mut durations): (crate::NameId, Vec<f64>)| {
        (trace.names.get(name).to_owned(), Taken::of(&mut durations))
    };
    durations.into_iter().map(summed).collect()
}

/// The kernel that takes longer on a member than on its peers in every call, while other GEMMs and attention
/// kernels do not. `None` without such a kernel.
pub(super) fn uneven(
    job: &Job,
    table: &NameTable,
    member: usize,
    peers: &[usize],
    span: (i64, i64),
) -> Option<Evidence> {
    let own = taken(&job.members.get(member)?.trace, table, span);
    let others: Vec<BTreeMap<String, Taken>> = peers
        .iter()
        .filter_map(|&peer| job.members.get(peer))
        .map(|peer| taken(&peer.trace, table, span))
        .collect();
    let families = KernelTable::shipped();
    let mut excess = 0.0;
    // GEMMs and attention kernels: (name, own, usual).
    let mut heavy: Vec<(&str, Taken, Taken)> = Vec::new();
    for (name, own) in &own {
        let same: Vec<Taken> = others.iter().filter_map(|other| other.get(name).copied()).collect();
        let of = |get: &dyn Fn(&Taken) -> f64| median(&mut same.iter().map(get).collect::<Vec<f64>>());
        if same.len() * 2 < others.len() || same.is_empty() {
            continue;
        }
        let usual = Taken::usual(own.count, of(&|taken| taken.total), &of);
        excess += own.total - usual.total;
        let family = families.family(name);
        if matches!(family, OperatorFamily::MatrixProduct | OperatorFamily::Attention) && usual.total > 0.0 {
            heavy.push((name, *own, usual));
        }
    }
    let sum = |of: &dyn Fn(&(&str, Taken, Taken)) -> f64| heavy.iter().map(of).sum::<f64>();
    let longer = |at: &(&str, Taken, Taken)| at.1.factor(&at.2) >= LONGER;
    let when = |holds: bool, value: f64| if holds { value } else { 0.0 };
    let usual = sum(&|at| when(longer(at), at.2.total));
    let more = sum(&|at| when(longer(at), at.1.total)) - usual;
    let growth = more / usual.max(1.0);
    let left = sum(&|at| when(at.1.factor(&at.2) < 1.0 + UNAFFECTED * growth, at.2.total));
    if excess <= 0.0 || more < EXPLAINED * excess || left < LEFT * sum(&|at| at.2.total) {
        return None;
    }
    let most = heavy.iter().filter(|at| longer(at));
    let (name, own, usual) =
        most.max_by(|a, b| (a.1.total - a.2.total).total_cmp(&(b.1.total - b.2.total))).copied()?;
    Some(Evidence {
        name: format!("mean {}", short(name)),
        own: own.total / own.count.max(1) as f64,
        peers: usual.total / own.count.max(1) as f64,
        unit: "ns",
    })
}

/// Compute kernels of a member in order of time: end, with the time of all kernels and of those with one kind
/// of work up to then, in nanoseconds.
type Sums = Vec<(i64, i64, i64)>;

fn sums(work: Work, trace: &RankTrace, table: &NameTable) -> Sums {
    let classes = table.classes(&trace.names);
    let families = KernelTable::shipped();
    let mut known: BTreeMap<crate::NameId, bool> = BTreeMap::new();
    let mut sums: Sums = Vec::new();
    for row in trace.gpu.iter().filter(|row| classes.computes(row)) {
        let has_work = *known.entry(row.name).or_insert_with(|| {
            let name = trace.names.get(row.name);
            work.has(families.family(name), name) == Some(true)
        });
        let time = row.end - row.start;
        sums.push((row.end, time, if has_work { time } else { 0 }));
    }
    sums.sort_unstable();
    let (mut all, mut of_work) = (0, 0);
    for sum in &mut sums {
        (all, of_work) = (all + sum.1, of_work + sum.2);
        (sum.1, sum.2) = (all, of_work);
    }
    sums
}

/// Time of all kernels and of those with the work that end within an interval, in nanoseconds.
fn ended(sums: &Sums, stretch: &Stretch) -> (f64, f64) {
    let until = |time: i64| {
        let before = sums.partition_point(|sum| sum.0 <= time).checked_sub(1);
        before.and_then(|at| sums.get(at)).map_or((0, 0), |sum| (sum.1, sum.2))
    };
    let (from, to) = (until(stretch.from), until(stretch.to));
    ((to.0 - from.0) as f64, (to.1 - from.1) as f64)
}

/// Tests whether one kind of work causes most of the excess of a member's intervals over those of its peers.
/// Only intervals with an excess count: a rank with longer sequences in some of the steps may have as much
/// attention as others in all of them.
pub(super) fn is_of(work: Work, job: &Job, table: &NameTable, member: usize, stretches: &Stretches) -> bool {
    let mut known: BTreeMap<u32, Sums> = BTreeMap::new();
    let mut of = |stretch: &Stretch| {
        let sums = known.entry(stretch.member).or_insert_with(|| {
            job.members
                .get(stretch.member as usize)
                .map(|one| sums(work, &one.trace, table))
                .unwrap_or_default()
        });
        ended(sums, stretch)
    };
    let (mut excess, mut explained) = (0.0, 0.0);
    for stretch in stretches.lists[member].iter().filter(|stretch| stretch.own > stretch.usual) {
        let (mut all, mut of_work): (Vec<f64>, Vec<f64>) =
            stretches.others(stretch, OTHERS).map(&mut of).unzip();
        if all.is_empty() {
            continue;
        }
        let own = of(stretch);
        excess += own.0 - median(&mut all);
        explained += own.1 - median(&mut of_work);
    }
    excess > 0.0 && explained > (1.0 - UNAFFECTED) * excess
}

/// A kernel's name without its arguments.
fn short(name: &str) -> String {
    let name = name.strip_prefix("void ").unwrap_or(name);
    name.split(['<', '(']).next().unwrap_or(name).chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_two_sizes_under_one_name_grow_by_one_factor() {
        // Equal numbers of calls of 200 and of 300 us: the median jumps between the two.
        let durations = |factor: f64, noise: f64| -> Vec<f64> {
            let size = |at: usize| if at.is_multiple_of(2) { 200e3 } else { 300e3 };
            (0..40)
                .map(|at| size(at) * factor * (1.0 + noise * ((at * 7 % 11) as f64 / 10.0 - 0.5)))
                .collect()
        };
        let usual = Taken::of(&mut durations(1.0, 0.02));
        for factor in [1.0, 1.08, 1.2] {
            let own = Taken::of(&mut durations(factor, 0.03));
            assert!((own.factor(&usual) / factor - 1.0).abs() < 0.01, "{}", own.factor(&usual));
        }
        let mut now_and_then = durations(1.0, 0.02);
        now_and_then.iter_mut().take(8).for_each(|duration| *duration *= 2.0);
        assert!(Taken::of(&mut now_and_then).factor(&usual) < LONGER);
    }
}
