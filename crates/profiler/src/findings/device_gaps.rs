//! Idle time of a device with queued work.
//!
//! Responsible for: its amount, split by length and by whether one CUDA graph contains both neighbours. The
//! recording does not contain the reason. Excludes gaps that end with a later launch: they have causes on the
//! host.

use super::words::time;
use super::{Context, Rule};
use crate::profile::{Explained, Finding, Subject};
use crate::view::{Role, View};
use crate::waterfall::Label;
use railwright_spec::human;
use railwright_step::columns::Class;

pub(super) struct DeviceGaps;

/// Minimum length of a gap that is not a pause between two queued kernels, in nanoseconds: those take
/// microseconds.
const LONG: i64 = 1_000_000;

/// Minimum share of the longest gap in the time of short ones that larger kernels do not shorten.
const SINGLE: f64 = 0.5;

/// Number and total length of gaps, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Gaps {
    count: u64,
    time: i64,
    longest: i64,
}

impl Gaps {
    fn add(&mut self, length: i64) {
        self.count += 1;
        self.time += length;
        self.longest = self.longest.max(length);
    }
}

/// Gaps of a rank before queued work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Found {
    /// Gaps of [`LONG`] or longer within one CUDA graph.
    graph: Gaps,
    /// Other gaps of [`LONG`] or longer.
    long: Gaps,
    /// Shorter gaps.
    short: Gaps,
}

/// Adds the gaps of a rank within the steps.
fn add(found: &mut Found, view: &View<'_>, from: i64, to: i64) {
    // End of activity so far, and the launch of the row that ended last.
    let mut busy: Option<(i64, u32)> = None;
    for (at, row) in view.gpu.iter().enumerate() {
        if view.role[at] == Role::None {
            continue;
        }
        let launch = view.launch[at];
        if let Some((until, before)) = busy {
            let gap = row.start.min(to) - until.max(from);
            if gap > 0 && view.returned(at).is_some_and(|end| end <= until) {
                match (gap >= LONG, before == launch) {
                    (true, true) => found.graph.add(gap),
                    (true, false) => found.long.add(gap),
                    (false, _) => found.short.add(gap),
                }
            }
        }
        if busy.is_none_or(|(until, _)| row.end > until) {
            busy = Some((row.end, launch));
        }
    }
}

impl Rule for DeviceGaps {
    fn id(&self) -> &'static str {
        "device-gaps"
    }

    fn title(&self) -> &'static str {
        "Idle device with queued work"
    }

    fn text(&self) -> &'static str {
        "The device was idle although the next kernel had already been launched. Threshold: 5% of the step. Cost: that \
         time. Two queued kernels of one stream start microseconds apart. Gaps of 1 ms or longer are waits for an \
         event, another process on the device, or unrecorded work. So is a single gap with most of the \
         time. Kernels within CUDA graphs and on other processes are often missing.\n\n\
         Remedies: a second recording with Nsight Systems (`--cuda-graph-trace=node`) shows missing work; for many \
         short gaps, fewer and larger kernels."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let lost = context.mean(Label::Gap);
        if context.from_host() || context.lacks_kernels() || context.share(lost) < 0.05 {
            return Vec::new();
        }
        let (from, to) = context.windows.span();
        let mut found = Found::default();
        context.views.iter().for_each(|view| add(&mut found, view, from, to));
        let per_step = |nanoseconds: i64| nanoseconds as f64 / context.samples();
        let line = |what: &str, gaps: Gaps| {
            (gaps.count > 0).then(|| {
                format!(
                    "{what}: {} per step in {}, longest {}",
                    time(per_step(gaps.time)),
                    human::several(gaps.count, "gap"),
                    time(gaps.longest as f64)
                )
            })
        };
        let evidence = [
            line("1 ms or longer, between kernels of one CUDA graph", found.graph),
            line("1 ms or longer, others", found.long),
            line("shorter than 1 ms", found.short),
        ];
        let long = found.graph.time + found.long.time;
        vec![Finding {
            id: self.id().to_owned(),
            message: "the device is idle although work is queued, for an unrecorded reason".to_owned(),
            cost: Some(lost),
            explained: Explained::Part(per_step(long + found.short.time)),
            subject: Subject::of_spans([Class::Host]),
            evidence: evidence.into_iter().flatten().collect(),
            advice: if long > found.short.time {
                "record again with Nsight Systems (`--cuda-graph-trace=node`): kernels may be missing from the \
                 recording; check for other processes on the device"
            } else if found.short.longest as f64 > SINGLE * found.short.time as f64 {
                "one gap has most of this time, so larger kernels do not help: record more steps, and inspect the \
                 gap with Nsight Systems if it recurs"
            } else {
                "run fewer, larger kernels: fusion, larger micro-batches"
            }
            .to_owned(),
            ..Finding::default()
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{GpuActivity, GpuKind, HostActivity, HostKind, RankTrace};
    use crate::view::Tables;

    /// Kernels as (start, end, index of the call); calls by their time.
    fn gaps(kernels: &[(i64, i64, u32)], calls: &[i64]) -> Found {
        let mut trace = RankTrace::default();
        let [call, kernel] = ["cudaGraphLaunch", "gemm"].map(|name| trace.names.intern(name));
        for (at, &start) in (1..).zip(calls) {
            let kind = HostKind::Runtime;
            let row = HostActivity { start, end: start + 1, name: call, kind, ..HostActivity::default() };
            trace.host.push(HostActivity { correlation: Some(at), ..row });
        }
        for &(start, end, of) in kernels {
            let row =
                GpuActivity { start, end, name: kernel, kind: GpuKind::Kernel, ..GpuActivity::default() };
            trace.gpu.push(GpuActivity { correlation: Some(of), ..row });
        }
        let tables = Tables::shipped();
        let mut found = Found::default();
        add(&mut found, &View::new(&trace, &tables), 0, 100_000_000);
        found
    }

    #[test]
    fn only_gaps_before_queued_work_count() {
        let of = |count, time| Gaps { count, time, longest: time };
        // Within a graph, between graphs, between queued kernels, and before a late launch.
        let kernels = [
            (10, 20, 1),
            (5_000_020, 5_000_030, 1),
            (9_000_030, 9_000_040, 2),
            (9_000_045, 9_000_050, 2),
            (20_000_000, 20_000_010, 3),
        ];
        let found = gaps(&kernels, &[0, 5, 19_999_990]);
        assert_eq!(found, Found { graph: of(1, 5_000_000), long: of(1, 4_000_000), short: of(1, 5) });
    }
}
