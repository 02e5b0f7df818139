//! Time of a step before its first device work.
//!
//! Responsible for: recordings of one rank whose device waits for the host at the start of steps. A step from
//! its first kernel on lacks the host's work before it, such as data loading, so of N steps N - 1 heads would
//! count. Excludes hosts that run ahead of the device, and steps of several ranks, which begin together on
//! the device, but for the only step of a synchronous job.

use super::cut::{Boundary, LITTLE};
use super::marked::host_steps;
use crate::replay::lower_median;
use crate::view::{Role, View};

/// Minimum head of the first and of the median later step, or tail of a single one, as a share of the mean
/// step.
const NOTABLE: f64 = 0.02;

/// Moves boundaries to the later of the start of the host's step and the end of earlier device work, if that
/// is notable. A single step also ends with its host step.
pub(super) fn include(view: &View<'_>, boundaries: &mut [Boundary]) {
    let steps = host_steps(view.trace);
    let Some((end, firsts)) = boundaries.split_last().filter(|(_, firsts)| !firsts.is_empty()) else {
        return;
    };
    let of = |boundary: &Boundary| steps.iter().find(|step| Some(step.0) == boundary.number);
    let Some(hosts) = firsts.iter().map(of).collect::<Option<Vec<_>>>() else { return };
    let (Some(first), Some(last)) = (firsts.first(), hosts.last()) else { return };
    let mean = (end.time - first.time) as f64 / firsts.len() as f64;
    let starts = starts(view, firsts.iter().zip(&hosts).map(|(first, host)| (host.1, first.time)));
    let mut heads: Vec<i64> = firsts.iter().zip(&starts).map(|(first, start)| first.time - start).collect();
    let notable = |time: i64| time as f64 > NOTABLE * mean;
    let tail = if firsts.len() == 1 { last.2 - end.time } else { 0 };
    let rest = heads.get_mut(1..).and_then(lower_median);
    let have_heads = heads.first().is_some_and(|head| notable(*head)) && rest.is_none_or(notable);
    if !have_heads && !notable(tail) {
        return;
    }
    let until = end.time + tail.max(0);
    for (boundary, start) in boundaries.iter_mut().zip(starts) {
        boundary.time = start;
    }
    if let Some(end) = boundaries.last_mut() {
        end.time = until;
    }
}

/// Moves the only step of one of several ranks to the start of its host, if the job is synchronous. Ranks of
/// other jobs begin at the median of their first device work.
pub(super) fn include_loading(view: &View<'_>, boundaries: &mut [Boundary]) {
    let [first, end] = boundaries else { return };
    if let [step] = host_steps(view.trace).as_slice()
        && is_synchronous(view, (first.time, end.time), *step)
    {
        first.time = step.1;
    }
}

/// Tests whether the only step began on an idle device: it has ended when the host's step ends, as the step
/// before had, and no earlier work was recorded. The time until its first work (a data loader) is then a part
/// of the step; with further steps it is the end of the previous one.
fn is_synchronous(view: &View<'_>, (first, end): (i64, i64), step: (u64, i64, i64)) -> bool {
    let is_idle = || view.gpu.starts().first().is_none_or(|start| *start >= step.1);
    end <= step.2 && (first - step.1) as f64 > LITTLE * (step.2 - step.1) as f64 && is_idle()
}

/// Starts of steps in nanoseconds: the later of the host's start and the end of work that was launched
/// before, at most the step's first device work. Takes host starts and first device work of the steps, in
/// order; linear in the rows.
fn starts(view: &View<'_>, steps: impl Iterator<Item = (i64, i64)>) -> Vec<i64> {
    let (mut row, mut busy) = (0, i64::MIN);
    let begin = |(host, first): (i64, i64)| {
        while let Some(&start) = view.gpu.starts().get(row).filter(|start| **start < first) {
            let is_work = view.role.get(row).is_some_and(|role| *role != Role::None);
            // Work without a recorded launch was launched before the recording.
            if is_work && view.launched(row).is_none_or(|call| call < host) {
                busy = busy.max(view.gpu.ends().get(row).copied().unwrap_or(start));
            }
            row += 1;
        }
        busy.max(host).min(first)
    };
    steps.map(begin).collect()
}
