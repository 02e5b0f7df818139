//! Slow hosts of stages.
//!
//! Responsible for: a stage whose devices wait for launches of their hosts in every step far longer than the
//! devices of the other stages. Where a stage has no replica, or all of its ranks are equally late, such
//! hosts differ from nothing but the other stages. Excludes pauses: they differ from other steps of the rank.

use super::event::Event;
use crate::occupancy::Occupancy;
use crate::windows::StepWindow;
use railwright_spec::median;

/// Minimum number of other stages for a single rank: of two, the slower one may be either normal or slow.
const OTHERS: usize = 2;

/// Minimum ratio of the idle time until launches to the median of the other stages: embedding, head and data
/// loading differ by less.
const FAR: f64 = 4.0;

/// Minimum excess as a share of the rank's own time.
const NOTABLE: f64 = 0.03;

/// Time of a rank in all steps, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct OwnTime {
    /// Everything except exposed communication.
    pub all: i64,
    /// Own time without compute until the host launches it, if all steps had that of the median one.
    /// Messages that the rank sends run meanwhile.
    pub host: i64,
}

/// Own time before each event, as (start, end) in nanoseconds.
fn own(events: &[Event]) -> impl Iterator<Item = (i64, i64)> {
    let mut previous = events.first().map_or(0, |first| first.time - first.own - first.unknown);
    events.iter().map(move |event| {
        let since = std::mem::replace(&mut previous, event.time);
        (since, since + event.own + event.unknown)
    })
}

impl OwnTime {
    pub(super) fn of(events: &[Event], on: &Occupancy, steps: &[StepWindow]) -> Self {
        let spent = steps.iter().map(|step| on.spent(step.start, step.end));
        let all = spent.map(|one| one.compute + one.copy + one.host + one.late + one.idle).sum();
        let own: Vec<(i64, i64)> = own(events).collect();
        let of_step = |step: &StepWindow| {
            let within = own
                .iter()
                .skip(own.partition_point(|part| part.1 <= step.start))
                .take_while(|part| part.0 < step.end);
            within
                .map(|&(from, to)| on.compute_late.within(from.max(step.start), to.min(step.end)))
                .sum::<i64>()
        };
        let mut hosts: Vec<i64> = steps.iter().map(of_step).collect();
        hosts.sort_unstable();
        let usual = hosts.get(hosts.len().saturating_sub(1) / 2).copied().unwrap_or(0);
        Self { all, host: usual * hosts.len() as i64 }
    }
}

/// Idle time of the other stages until launches, in nanoseconds. `None` if the hosts are no slower than
/// theirs, or if a rank `is_alone` on its stage and the others are too few.
pub(super) fn usual(own: OwnTime, others: &[OwnTime], is_alone: bool) -> Option<i64> {
    if others.len() < if is_alone { OTHERS } else { 1 } {
        return None;
    }
    let mut idle: Vec<f64> = others.iter().map(|other| other.host as f64).collect();
    let usual = median(&mut idle);
    let excess = own.host as f64 - usual;
    let is_slow = own.host as f64 > FAR * usual && excess > NOTABLE * own.all as f64;
    is_slow.then(|| usual.round() as i64)
}

/// Own time of each event in nanoseconds, with this share of the idle time until launches.
pub(super) fn with_share(events: &[Event], on: &Occupancy, kept: f64) -> Vec<i64> {
    let kept = |(event, (from, to)): (&Event, (i64, i64))| {
        let idle = on.compute_late.within(from, to).min(event.own);
        event.own - (idle as f64 * (1.0 - kept)).round() as i64
    };
    events.iter().zip(own(events)).map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::super::event::What;
    use super::*;

    #[test]
    fn a_host_far_slower_than_those_of_the_other_stages() {
        let own = |host: i64| OwnTime { all: 100_000 + host, host };
        let others = [own(1_000), own(2_000), own(3_000)];
        assert_eq!(usual(own(42_000), &others, true), Some(2_000));
        assert_eq!(usual(own(7_000), &others, true), None, "within the differences of stages");
        assert_eq!(usual(own(3_000), &[own(0), own(0)], true), None, "less than 3%");
        assert_eq!(usual(own(42_000), &others[..1], true), None, "of two, either may be the normal one");
        assert_eq!(usual(own(42_000), &others[..1], false), Some(1_000), "all ranks of a stage");
    }

    /// A message runs for 300 ns of the 400 ns in which the host prepares the next kernel.
    #[test]
    fn a_message_of_the_rank_does_not_hide_its_slow_host() {
        use crate::communication::NameTable;
        use crate::trace::{GpuActivity, GpuKind, HostActivity, HostKind, NONE, RankTrace};
        let mut trace = RankTrace::default();
        let [call, kernel, message] =
            ["cudaLaunchKernel", "gemm", "ncclDevKernel_SendRecv"].map(|name| trace.names.intern(name));
        for (at, start, end, from, to, name) in
            [(1, 0, 5, 10, 100, kernel), (2, 60, 80, 100, 400, message), (3, 450, 500, 510, 600, kernel)]
        {
            let (kind, correlation) = (HostKind::Runtime, Some(at));
            trace.host.push(HostActivity {
                start,
                end,
                name: call,
                kind,
                correlation,
                ..HostActivity::default()
            });
            let kind = GpuKind::Kernel;
            trace.gpu.push(GpuActivity {
                start: from,
                end: to,
                name,
                kind,
                correlation,
                ..GpuActivity::default()
            });
        }
        let on = Occupancy::of(&trace, NameTable::shipped());
        let event = Event {
            what: What::End,
            collective: NONE,
            time: 600,
            own: 590,
            unknown: 0,
            least: 0,
            transfer: 0,
            behind: None,
            part: None,
        };
        let step = StepWindow { number: None, start: 10, end: 600, without: Vec::new() };
        assert_eq!(OwnTime::of(&[event], &on, &[step]).host, 400);
        assert_eq!(with_share(&[event], &on, 0.25), [290]);
    }
}
