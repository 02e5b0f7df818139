//! The recorded steps.
//!
//! Responsible for: how many there are, which one a time lies in, how much they vary. Refuses to cut steps where no annotation does: then the recorded window is
//! one step.

use crate::Job;
use crate::NameId;
use crate::matching::line::median;
use crate::trace::HostKind;

/// The steps of one rank by its host's annotations.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Steps {
    /// (start, number), in order.
    pub starts: Vec<(i64, u32)>,
    /// Where the last one ends.
    pub end: i64,
}

impl Steps {
    /// The steps as the annotations of a member say.
    pub(super) fn of(job: &Job, member: usize) -> Self {
        let Some(trace) = job.members.get(member).map(|member| &member.trace) else { return Self::default() };
        let number = |name: NameId| -> Option<u32> {
            trace.names.get(name).strip_prefix("ProfilerStep#")?.trim().parse().ok()
        };
        let mut steps = Self::default();
        for row in trace.host.iter().filter(|row| row.kind != HostKind::Runtime) {
            if let Some(number) = number(row.name) {
                steps.starts.push((row.start, number));
                steps.end = steps.end.max(row.end);
            }
        }
        steps.starts.sort_unstable();
        steps.starts.dedup_by_key(|step| step.1);
        steps
    }

    /// How many steps a span of time is, at least 1.
    pub(super) fn count(&self) -> f64 {
        self.starts.len().max(1) as f64
    }

    /// The step of a time; device work of a step may run on after its annotation, so the last one is open.
    pub(super) fn at(&self, time: i64) -> Option<u32> {
        let after = self.starts.partition_point(|step| step.0 <= time);
        self.starts.get(after.checked_sub(1)?).map(|step| step.1)
    }

    /// The median absolute deviation of the steps' durations, in nanoseconds; none below four steps.
    pub(super) fn noise(&self) -> Option<f64> {
        if self.starts.len() < 4 {
            return None;
        }
        let mut durations: Vec<f64> =
            self.starts.windows(2).map(|pair| (pair[1].0 - pair[0].0) as f64).collect();
        let middle = median(&mut durations);
        let mut off: Vec<f64> = durations.iter().map(|duration| (duration - middle).abs()).collect();
        Some(median(&mut off))
    }
}
