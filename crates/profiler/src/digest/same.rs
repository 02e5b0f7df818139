//! Equality of the analyses of a trace with and without some rows.
//!
//! Responsible for: comparing all values that joint analyses derive from the host of one rank. The comparison
//! is exact: any different launch, phase, gap or step is a difference.

use crate::causes::{Cause, CauseUse, Stacks, Where};
use crate::communication::NameTable;
use crate::occupancy::Occupancy;
use crate::trace::{HostActivity, NONE};
use crate::view::{Role, Tables, View};
use crate::waterfall::{Exchanges, Parts, RankWaterfall};
use crate::windows::{CutBy, StepWindow, Windows, host_steps};
use crate::{NameId, RankTrace};

/// Tests whether the analyses of the shorter trace equal those of the whole one.
pub(super) fn same(whole: &View<'_>, short: &RankTrace, tables: &Tables) -> bool {
    let view = View::new(short, tables);
    whole.phase == view.phase
        && whole.found_by == view.found_by
        && whole.role == view.role
        && launches(whole).eq(launches(&view))
        && copiers(whole) == copiers(&view)
        && host_steps(whole.trace) == host_steps(short)
        && occupancy(whole.trace) == occupancy(short)
        && idle(whole) == idle(&view)
}

/// Launching host row of every device row: start, end, thread.
fn launches(view: &View<'_>) -> impl Iterator<Item = Option<(i64, i64, u32)>> {
    let of = |row: HostActivity| (row.start, row.end, row.thread);
    view.launch.iter().map(move |&at| view.trace.host.get(at as usize).map(of))
}

/// Outermost operator of every copy, by device row.
fn copiers<'a>(view: &View<'a>) -> Vec<Option<&'a str>> {
    let stacks = Stacks::new(view.trace);
    let rows = view.role.iter().zip(&view.launch);
    rows.map(|(role, &launch)| (*role == Role::Copy).then(|| stacks.outermost(launch)).flatten()).collect()
}

fn occupancy(trace: &RankTrace) -> Occupancy {
    Occupancy::of(trace, NameTable::shipped())
}

/// Idle time by cause: names of its place, total time, count, and longest gap (times in nanoseconds).
type Gap<'a> = (Cause, [&'a str; 5], i64, u64, i64);

/// Idle time of a rank by cause and place, and by label.
fn idle<'a>(view: &View<'a>) -> (Vec<Gap<'a>>, Parts) {
    let Some((start, end)) = super::extent::recorded(view) else { return Default::default() };
    let all = Windows {
        cut_by: CutBy::Nothing,
        common: (start, end),
        steps: vec![StepWindow { number: None, start, end, without: Vec::new() }],
        warm_up: Vec::new(),
        at_collective: false,
        spread: 0,
        added: 0,
        warnings: Vec::new(),
    };
    let rank = RankWaterfall::new(0, 0, view, &all, &Exchanges::default());
    let names = &view.trace.names;
    let name = |id: u32| if id == NONE { "" } else { names.get(NameId(id)) };
    let gap = |part: &CauseUse| {
        let Where { frame, operator, module, python, annotation } = part.place;
        let place = [frame, operator, module, python, annotation].map(name);
        (part.cause, place, part.time, part.count, part.longest)
    };
    (rank.causes.iter().map(gap).collect(), rank.total)
}
