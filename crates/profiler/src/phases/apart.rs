//! The forward pass of recordings that name only the backward pass.
//!
//! Responsible for: recordings of kernels without launches or ranges. Libraries have the backward pass in the
//! names of their kernels (`flash_bwd_...`), but no name marks the forward pass. A longer sequence of compute
//! without a backward kernel is forward work. Kernels at its borders are excluded if they occur in no other
//! forward sequence. A shorter sequence next to backward kernels is backward work. Excludes recordings with
//! another mark of a forward pass, and those with too few kernels of either.

use super::FoundBy;
use crate::communication::NameTable;
use crate::trace::{GpuActivities, GpuKind};
use crate::{NameId, RankTrace};
use railwright_step::{CollectiveKind, Phase};
use std::collections::BTreeSet;
use std::ops::Range;

/// Maximum number of successive kernels in a backward pass without a backward mark.
const NEAR: usize = 16;

/// Minimum share of kernel time in backward work, and outside it.
const SHARE: f64 = 0.2;

pub(super) fn forward(trace: &RankTrace, gpu: &GpuActivities, found: &mut [Option<Phase>], by: &mut FoundBy) {
    let is_backward = |phase: &Option<Phase>| {
        matches!(phase, Some(Phase::Backward | Phase::BackwardInput | Phase::BackwardWeight))
    };
    if !found.iter().any(is_backward) || found.contains(&Some(Phase::Forward)) {
        return;
    }
    let classes = NameTable::shipped().classes(&trace.names);
    let is_kernel = |at: &usize| gpu.kinds().get(*at) == Some(&GpuKind::Kernel);
    let communicates = |at: usize| {
        gpu.get(at).is_some_and(|row| row.collective.is_some() || classes.get(row.name).is_some())
    };
    let kernels: Vec<usize> = (0..gpu.len()).filter(is_kernel).collect();
    // Passes of a pipeline end at messages, and all passes at parameter updates.
    let message = |at: &usize| {
        let operation = gpu.get(*at).and_then(|row| classes.get(row.name)?.operation);
        operation.is_some_and(CollectiveKind::may_be_message)
    };
    let stretches = kernels.split(|at| message(at) || found[*at] == Some(Phase::Optimizer));
    let stretches = stretches.map(|rows| rows.iter().copied().filter(|&at| !communicates(at)).collect());
    let stretches: Vec<Stretch> =
        stretches.map(|rows| Stretch::of(rows, |at| is_backward(&found[at]))).collect();
    let time = |rows: &[usize]| -> f64 {
        rows.iter().filter_map(|&at| gpu.get(at)).map(|row| row.end - row.start).sum::<i64>() as f64
    };
    let all: f64 = stretches.iter().map(|stretch| time(&stretch.rows)).sum();
    let backward: f64 = stretches.iter().flat_map(Stretch::backward).map(time).sum();
    if backward < SHARE * all || backward > (1.0 - SHARE) * all {
        return;
    }
    let name = |at: &usize| gpu.names()[*at];
    let group_backward: BTreeSet<NameId> =
        stretches.iter().flat_map(Stretch::backward).flatten().map(name).collect();
    let group_forward: BTreeSet<NameId> = stretches
        .iter()
        .flat_map(Stretch::forward)
        .flat_map(|(stretch, run)| &stretch.rows[run.sure()])
        .map(name)
        .collect();
    let only_backward = |at: &usize| !group_forward.contains(&name(at)) && group_backward.contains(&name(at));
    let mut fill = |rows: &[usize], phase: Phase| {
        for &at in rows {
            if found[at].is_none() {
                found[at] = Some(phase);
                by.apart += 1;
            }
        }
    };
    for stretch in &stretches {
        for (_, run) in stretch.forward() {
            // Parts of a backward pass at the borders: up to the farthest kernel that occurs in no forward
            // pass.
            let rows = &stretch.rows[run.all.clone()];
            let (head, tail) = (run.head(), run.tail());
            let before = rows[..head].iter().rposition(only_backward).map_or(0, |last| last + 1);
            let after = rows[tail..].iter().position(only_backward).map_or(rows.len(), |first| tail + first);
            let after = after.max(before);
            fill(&rows[..before], Phase::Backward);
            fill(&rows[before..after], Phase::Forward);
            fill(&rows[after..], Phase::Backward);
        }
        if stretch.marks.contains(&true) {
            let short = stretch.runs().filter(|run| !stretch.marks[run.start] && run.len() <= NEAR);
            short.for_each(|run| fill(&stretch.rows[run], Phase::Backward));
        }
    }
}

/// A long sequence without a backward kernel, and whether one precedes and follows it.
struct Forward {
    all: Range<usize>,
    begins: bool,
    ends: bool,
}

impl Forward {
    /// Maximum number of its first rows that may be the end of a backward pass.
    fn head(&self) -> usize {
        if self.begins { NEAR } else { 0 }
    }

    /// Index of the first row that may be the beginning of a backward pass.
    fn tail(&self) -> usize {
        self.all.len() - if self.ends { NEAR } else { 0 }
    }

    /// Rows that do not belong to a backward pass; empty for a short sequence.
    fn sure(&self) -> Range<usize> {
        let (from, until) = (self.head(), self.tail());
        self.all.start + from..self.all.start + until.max(from)
    }
}

/// Compute kernels between two messages.
struct Stretch {
    rows: Vec<usize>,
    /// By kernel: true if the name marks the backward pass.
    marks: Vec<bool>,
}

impl Stretch {
    fn of(rows: Vec<usize>, names_backward: impl Fn(usize) -> bool) -> Self {
        let marks = rows.iter().map(|&at| names_backward(at)).collect();
        Self { rows, marks }
    }

    /// Runs of rows with and without a backward mark.
    fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        self.marks.chunk_by(|a, b| a == b).scan(0, |until, run| {
            let from = *until;
            *until += run.len();
            Some(from..*until)
        })
    }

    /// Long sequences without a backward mark.
    fn forward(&self) -> impl Iterator<Item = (&Self, Forward)> {
        let runs = self.runs().filter(|run| !self.marks[run.start] && run.len() > NEAR);
        runs.map(move |all| {
            let (begins, ends) = (all.start > 0, all.end < self.rows.len());
            (self, Forward { all, begins, ends })
        })
    }

    /// The backward work: marked rows and the few between them. Libraries name a tenth of it; most of the
    /// rest are GEMMs without such a mark.
    fn backward(&self) -> impl Iterator<Item = &[usize]> {
        let runs = self.runs().filter(|run| {
            let between = run.start > 0 && run.end < self.rows.len();
            self.marks[run.start] || (between && run.len() <= NEAR)
        });
        runs.map(|run| &self.rows[run])
    }
}
