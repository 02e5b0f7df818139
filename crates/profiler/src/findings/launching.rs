//! Launches of device work.
//!
//! Responsible for: the operators that launch, and the work that late launches delay. Excludes traces
//! without a device.

use crate::causes::{Cause, Idle, LATE_START};
use crate::trace::{GpuKind, HostKind};
use crate::view::{Role, View};
use crate::waterfall::Piece;
use crate::windows::Windows;
use std::collections::{BTreeMap, BTreeSet};

/// Names of operators within which kernels were launched: compute and communication. Copies need neither
/// algorithms nor libraries.
pub(super) fn operators<'a>(views: &[&View<'a>]) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    views.iter().filter(|view| !view.from_host).for_each(|view| of_rank(view, &mut names));
    names
}

/// Open operators of a thread, and the number of outer ones that are known to launch.
#[derive(Default)]
struct Open {
    stack: Vec<(u32, i64)>,
    known: usize,
}

/// Linear in the rows: each operator is added once, however many launches it contains.
fn of_rank<'a>(view: &View<'a>, names: &mut BTreeSet<&'a str>) {
    let host = &view.trace.host;
    let mut launches = vec![false; host.len()];
    let kernels = view.launch.iter().zip(&view.role);
    for (&launch, _) in kernels.filter(|(_, role)| matches!(role, Role::Compute | Role::Communication)) {
        if let Some(cell) = launches.get_mut(launch as usize) {
            *cell = true;
        }
    }
    let mut threads: BTreeMap<u32, Open> = BTreeMap::new();
    for (row, launches) in host.iter().zip(launches) {
        let open = threads.entry(row.thread).or_default();
        while open.stack.last().is_some_and(|&(_, end)| end <= row.start) {
            open.stack.pop();
        }
        open.known = open.known.min(open.stack.len());
        if row.kind == HostKind::Operator {
            open.stack.push((row.name.0, row.end));
        } else if launches {
            let new = &open.stack[open.known..];
            names.extend(new.iter().map(|&(name, _)| view.trace.names.get(crate::NameId(name))));
            open.known = open.stack.len();
        }
    }
}

/// The launch-bound part of an idle interval, in nanoseconds.
pub(super) fn launch_bound(idle: &mut Idle<'_>, view: &View<'_>, piece: Piece) -> i64 {
    let mut begin = piece.start;
    let mut sum = 0;
    for part in idle.stretches(view, piece) {
        if part.cause == Cause::LaunchBound {
            sum += part.end - begin;
        }
        begin = part.end;
    }
    sum
}

/// Idle time before work that was launched on an idle device, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Late {
    all: i64,
    /// Before parts of CUDA graphs.
    graphs: i64,
    /// Before copies and fills.
    copies: i64,
    /// Before the first launch of a kernel in the recording.
    firsts: i64,
}

impl Late {
    /// Sums of all ranks within the steps. A gap counts up to [`LATE_START`]: longer ones have other causes.
    pub(super) fn new(views: &[&View<'_>], windows: &Windows) -> Self {
        let (from, to) = windows.span();
        let mut late = Self::default();
        for view in views.iter().filter(|view| !view.from_host) {
            let is_graph = |name: &str| name.to_ascii_lowercase().contains("graphlaunch");
            let known: Vec<bool> = view.trace.names.iter().map(is_graph).collect();
            let names = view.trace.host.names();
            let mut seen = vec![false; view.trace.names.len()];
            let (mut until, mut parts): (Option<i64>, _) = (None, Idle::new(view));
            for (at, row) in view.gpu.iter().enumerate().filter(|(at, _)| view.role[*at] != Role::None) {
                let is_new =
                    seen.get_mut(row.name.0 as usize).is_some_and(|seen| !std::mem::replace(seen, true));
                let free = until.filter(|free| *free < row.start);
                let waits = view.launched(at).zip(free).is_some_and(|(call, free)| call >= free);
                until = until.max(Some(row.end));
                let Some(free) = free.filter(|_| waits && row.start >= from && row.start < to) else {
                    continue;
                };
                // Allocations and blocking copies in the same gap have findings of their own.
                let piece = Piece { start: free, end: row.start, role: Role::None, row: at as u32 };
                let idle = launch_bound(&mut parts, view, piece).min(LATE_START);
                let name = names.get(view.launch[at] as usize).map(|name| name.0 as usize);
                let by_graph = name.and_then(|name| known.get(name)) == Some(&true);
                late.all += idle;
                late.graphs += if by_graph { idle } else { 0 };
                late.copies += if view.role[at] == Role::Copy { idle } else { 0 };
                late.firsts += if is_new && row.kind == GpuKind::Kernel { idle } else { 0 };
            }
        }
        late
    }

    /// Advice for most of this time; `None` if the usual one applies. `is_single` is true for a recording of
    /// one step: nothing shows that its launches recur.
    pub(super) fn advice(self, is_single: bool) -> Option<&'static str> {
        let is_most = |part: i64| 2 * part > self.all;
        if is_most(self.graphs) {
            Some(
                "these kernels already run as CUDA graphs: prepare the next graph's inputs while the device \
                 works, and launch fewer, larger graphs",
            )
        } else if is_most(self.copies) {
            Some(
                "most of this time is before copies and fills: copy fewer, larger buffers from pinned memory, and keep \
                 data on the device",
            )
        } else if is_single && is_most(self.firsts) {
            Some(
                "most of this time is before the first launch of a kernel: record several steps after warm-up; if it recurs, launch \
                 fewer, larger kernels (CUDA graphs, fusion)",
            )
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{GpuActivity, GpuKind, HostActivity, RankTrace};
    use crate::view::Tables;
    use std::time::{Duration, Instant};

    /// Operators that never end: each launch is within all previous ones.
    #[test]
    fn operators_that_stay_open_are_named_once() {
        const COUNT: i64 = 30_000;
        let mut trace = RankTrace::default();
        let [operator, call, kernel] =
            ["aten::linear", "cudaLaunchKernel", "gemm"].map(|name| trace.names.intern(name));
        for at in 0..COUNT {
            let correlation = u32::try_from(at + 1).ok();
            let (start, end) = (4 * at, 8 * COUNT);
            trace.host.push(HostActivity {
                start,
                end,
                name: operator,
                kind: HostKind::Operator,
                ..HostActivity::default()
            });
            trace.host.push(HostActivity {
                start: start + 1,
                end: start + 2,
                name: call,
                kind: HostKind::Runtime,
                correlation,
                ..HostActivity::default()
            });
            trace.gpu.push(GpuActivity {
                start: start + 2,
                end: start + 3,
                name: kernel,
                kind: GpuKind::Kernel,
                correlation,
                ..GpuActivity::default()
            });
        }
        let tables = Tables::shipped();
        let view = View::new(&trace, &tables);
        let begun = Instant::now();
        assert_eq!(operators(&[&view]), BTreeSet::from(["aten::linear"]));
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    }
}
