//! Input of the rules, and sums over it that several rules use.
//!
//! Responsible for: times per rank and step, names with most time as lines of evidence, and savings by
//! replay.

use super::words::{both_ends, short, time, top};
use crate::Job;
use crate::Names;
use crate::attribution::{Replays, StragglerReport};
use crate::causes::{Cause, CauseRow};
use crate::joined::Joined;
use crate::occupancy::Intervals;
use crate::roofline::Roofline;
use crate::telemetry::Health;
use crate::trace::GpuKind;
use crate::view::{Role, View};
use crate::waterfall::{KernelUse, Label, RankWaterfall, Use, Waterfall};
use crate::windows::Windows;
use indexmap::IndexMap;
use railwright_spec::human;
use railwright_step::OperatorFamily;
use rustc_hash::FxBuildHasher;

/// Input of rules. The lists are parallel: one entry for each displayed rank.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The job, with aligned clocks.
    pub job: &'a Job,
    /// The joined ranks of the job.
    pub joined: &'a Joined,
    /// Views of the displayed ranks.
    pub views: &'a [&'a View<'a>],
    /// Names of their traces.
    pub names: &'a [&'a Names],
    /// The steps.
    pub windows: &'a Windows,
    /// Time of these ranks by label.
    pub waterfall: &'a Waterfall,
    /// Idle time by cause.
    pub causes: &'a [CauseRow],
    /// Operators relative to the roofline; `None` without recorded shapes.
    pub roofline: Option<&'a Roofline>,
    /// Straggler report; `None` with a single recorded rank.
    pub stragglers: Option<&'a StragglerReport>,
    /// Replays of the job; `None` with a single recorded rank.
    pub replays: Option<&'a Replays>,
    /// Device counters by rank.
    pub health: Option<&'a Health>,
    /// True for a trace of an inference server ([`super::serves`]).
    pub serves: bool,
}

/// Minimum share of a finding's cost that its evidence must explain.
pub(super) const EXPLAINED: f64 = 0.5;

/// Maximum number of names listed to reach that share; the others are one line.
const LISTED: usize = 6;

/// Share of a cost below which a name is no evidence for it.
const NEGLIGIBLE: f64 = 0.005;

/// Maximum number of kernels in the subject of a finding.
const LEADING: usize = 3;

impl<'a> Context<'a> {
    /// Tests whether there is no device: host operators then replace kernels.
    pub fn from_host(&self) -> bool {
        !self.views.is_empty() && self.views.iter().all(|view| view.from_host)
    }

    /// Tests whether only host operators were recorded of a job that launches device work: their durations
    /// are not those of the work.
    pub(super) fn has_launches_alone(&self) -> bool {
        self.from_host() && self.views.iter().any(|view| crate::launches::launches_work(view.trace))
    }

    /// Tests whether copies of a device were recorded without its kernels: the device may work while it
    /// appears to be idle.
    pub(super) fn lacks_kernels(&self) -> bool {
        self.views.iter().any(|view| view.trace.lacks_kernels())
            && !self.views.iter().any(|view| view.gpu.kinds().contains(&GpuKind::Kernel))
    }

    /// Name of the unit of work: kernels on a device, operators on a host.
    pub fn work(&self) -> &'static str {
        if self.from_host() { "operators" } else { "kernels" }
    }

    /// Divisor from sums of times to times per rank and step.
    pub fn samples(&self) -> f64 {
        self.waterfall.samples() as f64
    }

    /// Duration of a step of a rank, in nanoseconds.
    pub fn step(&self) -> f64 {
        self.waterfall.time() as f64 / self.samples()
    }

    /// Mean time of a label per rank and step, in nanoseconds.
    pub fn mean(&self, label: Label) -> f64 {
        self.waterfall.total.get(label) as f64 / self.samples()
    }

    /// Mean time of all selected labels, per rank and step, in nanoseconds.
    pub fn sum(&self, fits: impl Fn(Label) -> bool) -> f64 {
        self.waterfall.total.sum(fits) as f64 / self.samples()
    }

    /// Unusual device counters of the given ranks.
    pub(super) fn health_of(&self, ranks: impl IntoIterator<Item = u32>) -> Vec<String> {
        ranks.into_iter().filter_map(|rank| Some(self.health?.remarks(rank))).flatten().collect()
    }

    /// A number of occurrences per rank and step, for a sentence.
    pub(super) fn per_step(&self, count: u64) -> String {
        human::whole((count as f64 / self.samples()).round() as u64)
    }

    /// Step time saved without the idle time of a cause on all ranks, by replay, in nanoseconds. `None` if
    /// only some ranks are displayed, or without an accurate replay.
    pub(super) fn saved(&self, cause: Cause) -> Option<f64> {
        let of = |rank: &RankWaterfall| {
            let has = |row: u32| rank.causes.get(row as usize).is_some_and(|part| part.cause == cause);
            let origin = self.windows.span().0;
            let parts = rank.idle.iter().filter(|part| has(part.row));
            let parts = parts.map(|part| (origin + part.start, origin + part.end));
            Intervals::union(parts.collect())
        };
        let without: Vec<Intervals> = self.waterfall.ranks.iter().map(of).collect();
        self.replays.filter(|_| !self.from_host())?.saved(self.joined, &without)
    }

    /// A time as a share of the step (0 to 1).
    pub fn share(&self, time: f64) -> f64 {
        if self.step() > 0.0 { time / self.step() } else { 0.0 }
    }

    /// The ranks with the names of their traces.
    pub(super) fn ranks(&self) -> impl Iterator<Item = (&'a RankWaterfall, &'a Names)> {
        self.waterfall.ranks.iter().zip(self.names.iter().copied())
    }

    /// Every use of a label by a kernel, with the kernel's name; idle time has no kernel.
    pub(super) fn uses(&self) -> impl Iterator<Item = (&'a Use, &'a str)> {
        self.ranks().flat_map(|(rank, names)| {
            rank.uses.iter().map(move |u| (u, u.name.map_or("", |name| names.get(name))))
        })
    }

    /// The time of a label by kernel.
    pub(super) fn times_under(&self, fits: impl Fn(Label) -> bool) -> impl Iterator<Item = (&'a str, i64)> {
        self.uses().filter(move |(u, _)| fits(u.label)).map(|(u, name)| (name, u.time))
    }

    /// Compute kernels that fit with their times, and the mean time per rank and step, both in nanoseconds.
    /// None if only their launches were recorded.
    pub(super) fn arithmetic(
        &self,
        fits: impl Fn(OperatorFamily, &str) -> bool,
    ) -> (Vec<(&'a str, i64)>, f64) {
        if self.has_launches_alone() {
            return (Vec::new(), 0.0);
        }
        // Thousands of ranks have the same names.
        let mut known: IndexMap<(u8, &str), bool, FxBuildHasher> = IndexMap::default();
        let mut fits = |family: OperatorFamily, name| {
            *known.entry((family as u8, name)).or_insert_with(|| fits(family, name))
        };
        let fitting = self.kernels().filter(|(k, name)| k.role == Role::Compute && fits(k.family, name));
        let times: Vec<(&str, i64)> = fitting.map(|(k, name)| (name, k.duration)).collect();
        let all = times.iter().map(|(_, time)| time).sum::<i64>() as f64 / self.samples();
        (times, all)
    }

    /// Savings by kernel per rank and step in nanoseconds: a share of these times.
    pub(super) fn savings(&self, times: &[(&str, i64)], share: f64) -> Vec<(String, f64)> {
        let all = top(times.iter().copied(), usize::MAX).into_iter();
        all.map(|(name, time)| (name.to_owned(), share * time as f64 / self.samples())).collect()
    }

    /// Lines of evidence for all of these times. The names with most time come first, `count` or as many as
    /// cover half of it. If those cover less, one line sums the others.
    pub(super) fn costliest<'n>(
        &self,
        times: impl IntoIterator<Item = (&'n str, i64)>,
        count: usize,
    ) -> Vec<String> {
        let all = top(times.into_iter(), usize::MAX);
        let sum: i64 = all.iter().map(|entry| entry.1).sum();
        let per_step = |all: i64| time(all as f64 / self.samples());
        let (mut lines, mut listed) = (Vec::new(), 0_i64);
        for (name, of_name) in &all {
            let enough =
                lines.len() >= count && (listed as f64 >= EXPLAINED * sum as f64 || lines.len() >= LISTED);
            if enough || !lines.is_empty() && (*of_name as f64) < NEGLIGIBLE * sum as f64 {
                break;
            }
            let alike = all
                .iter()
                .take(lines.len() + count.max(LISTED))
                .filter(|one| short(one.0) == short(name))
                .count();
            let shown = if alike > 1 { both_ends(name) } else { short(name) };
            lines.push(format!("{shown}: {} per step", per_step(*of_name)));
            listed += of_name;
        }
        if (listed as f64) < EXPLAINED * sum as f64 {
            let others = all.len() - lines.len();
            lines.push(format!(
                "{} others: {} per step",
                human::whole(others as u64),
                per_step(sum - listed)
            ));
        }
        lines
    }

    /// Full names with most time, for the subject of a finding.
    pub(super) fn leading<'n>(times: impl IntoIterator<Item = (&'n str, i64)>) -> Vec<String> {
        top(times.into_iter(), LEADING).into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Every kernel with its name, including overlapped ones.
    pub(super) fn kernels(&self) -> impl Iterator<Item = (&'a KernelUse, &'a str)> {
        self.ranks().flat_map(|(rank, names)| rank.kernels.iter().map(move |k| (k, names.get(k.name))))
    }
}
