//! Launches of device work.
//!
//! Responsible for: the operators that launch, and whether most kernels come from CUDA graphs. Excludes
//! traces without a device.

use crate::trace::{HostKind, NONE};
use crate::view::{Role, View};
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

/// Tests whether most compute kernels were launched as parts of CUDA graphs.
pub(super) fn by_graphs(views: &[&View<'_>], windows: &Windows) -> bool {
    let (from, to) = windows.span();
    let (mut graphs, mut all) = (0_usize, 0_usize);
    for view in views.iter().filter(|view| !view.from_host) {
        let is_graph = |name: &str| name.to_ascii_lowercase().contains("graphlaunch");
        let known: Vec<bool> = view.trace.names.iter().map(is_graph).collect();
        let names = view.trace.host.names();
        for (at, &launch) in view.launch.iter().enumerate() {
            let start = view.gpu.starts()[at];
            if view.role[at] != Role::Compute || launch == NONE || start < from || start >= to {
                continue;
            }
            all += 1;
            let name = names.get(launch as usize).map(|name| name.0 as usize);
            graphs += usize::from(name.and_then(|name| known.get(name)) == Some(&true));
        }
    }
    2 * graphs > all
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
