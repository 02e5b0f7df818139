//! How device work was launched.
//!
//! Responsible for: the operators that launch, and whether most kernels come from CUDA graphs. Excludes traces without a device.

use crate::trace::{HostKind, NONE};
use crate::view::{Role, View};
use crate::windows::Windows;
use std::collections::{BTreeMap, BTreeSet};

/// The names of operators within which device work was launched.
pub(super) fn operators<'a>(views: &[&View<'a>]) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    views.iter().filter(|view| !view.from_host).for_each(|view| of_rank(view, &mut names));
    names
}

fn of_rank<'a>(view: &View<'a>, names: &mut BTreeSet<&'a str>) {
    let host = &view.trace.host;
    let mut launches = vec![false; host.len()];
    for &launch in &view.launch {
        if let Some(cell) = launches.get_mut(launch as usize) {
            *cell = true;
        }
    }
    // By thread the operators that are open: name and end.
    let mut open: BTreeMap<u32, Vec<(u32, i64)>> = BTreeMap::new();
    for (row, launches) in host.iter().zip(launches) {
        let stack = open.entry(row.thread).or_default();
        while stack.last().is_some_and(|&(_, end)| end <= row.start) {
            stack.pop();
        }
        if row.kind == HostKind::Operator {
            stack.push((row.name.0, row.end));
        } else if launches {
            names.extend(stack.iter().map(|&(name, _)| view.trace.names.get(crate::NameId(name))));
        }
    }
}

/// Whether most kernels of arithmetic were launched as parts of CUDA graphs.
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
