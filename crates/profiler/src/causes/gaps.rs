//! An idle interval of a device, split by host activity.
//!
//! Responsible for: the thread to examine, and the cause of each part. The thread is the one that launches
//! the work at the end of the interval. If it has no frame, the thread that launched before it is next, then
//! others that launch. Excludes the pipeline as a cause: that needs other ranks.

use super::frames::{self, Frames};
use super::launched::{LONG, Launched};
use super::{Cause, CauseTable};
use crate::NameId;
use crate::captures::captures;
use crate::launches::lacks_first;
use crate::occupancy::Intervals;
use crate::trace::{HostActivity, HostKind, NONE};
use crate::view::{Role, View};
use crate::waterfall::{Label, Piece};
use std::cell::OnceCell;

#[cfg(test)]
mod tests;

/// Minimum length of time between two calls of the runtime without a recorded cause, in nanoseconds, if the
/// host recorded these calls alone: five times the 20 us that a launch costs at most.
const BARE: i64 = 100_000;

/// Maximum number of examined launching threads.
const THREADS: usize = 4;

/// A part of an idle interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Cause of idle time.
    pub(crate) cause: Cause,
    /// Label of its time in the waterfall.
    pub(crate) label: Label,
    /// The innermost frame, a row of the host, or [`NONE`].
    pub(crate) frame: u32,
    /// End time, in nanoseconds.
    pub(crate) end: i64,
}

/// Conversion of one rank's idle intervals to causes.
pub(crate) struct Idle<'a> {
    frames: Frames<'a>,
    table: &'static CauseTable,
    /// By name: matching rows of the table. A name nearly always has one kind; otherwise the first kind
    /// looked up decides.
    known: Vec<OnceCell<Vec<u8>>>,
    /// Threads that launch, those with most launches first.
    launching: Vec<u32>,
    /// Threads with operators or allocations but without launches.
    others: Vec<u32>,
    /// Overhead of the profiler and the driver, in order: (start, end, row).
    overhead: Vec<(i64, i64, u32)>,
    /// Index of the first overhead that may overlap the next interval.
    next: usize,
    /// True if the host recorded calls of the runtime alone: nothing shows the work between them.
    only_calls: bool,
    /// Copies and launches of the host with their device work.
    launched: Launched,
    /// Capture times of graphs: kernels launched then do not run.
    captures: Intervals,
    /// Recorded time of the rank on its device or host, in nanoseconds; all time without host rows.
    recorded: (i64, i64),
}

impl<'a> Idle<'a> {
    pub(crate) fn new(view: &View<'a>) -> Self {
        let trace = view.trace;
        let host = &trace.host;
        let most = host.threads().iter().copied().filter(|t| (*t as usize) < frames::THREADS).max();
        let mut launches = vec![0u64; most.map_or(0, |thread| thread as usize + 1)];
        for &row in &view.launch {
            if let Some(&thread) = host.threads().get(row as usize)
                && let Some(count) = launches.get_mut(thread as usize)
            {
                *count += 1;
            }
        }
        let mut launching: Vec<u32> = (0u32..).zip(&launches).filter(|l| *l.1 > 0).map(|l| l.0).collect();
        launching.sort_by_key(|&thread| (std::cmp::Reverse(launches[thread as usize]), thread));
        launching.truncate(THREADS);
        let mut operates = vec![false; launches.len()];
        let mut overhead = Vec::new();
        let table = CauseTable::shared();
        let mut allocates: Vec<Option<bool>> = vec![None; trace.names.len()];
        let mut allocates = |name: NameId| {
            let places = || table.places(HostKind::Runtime, trace.names.get(name));
            let is_one = |place: &u8| table.row(*place).is_some_and(|row| row.0 == Cause::Allocation);
            let known = allocates.get_mut(name.0 as usize);
            known.is_some_and(|known| *known.get_or_insert_with(|| places().first().is_some_and(is_one)))
        };
        for (at, kind) in host.kinds().iter().enumerate() {
            let is_work = match kind {
                HostKind::Operator => true,
                HostKind::Runtime => allocates(host.names()[at]),
                _ => false,
            };
            if let Some(cell) = operates.get_mut(host.threads()[at] as usize) {
                *cell |= is_work;
            }
            if *kind == HostKind::Overhead {
                overhead.push((host.starts()[at], host.ends()[at], at as u32));
            }
        }
        let idle = |thread: &u32| operates[*thread as usize] && launches[*thread as usize] == 0;
        let others = (0..operates.len() as u32).filter(idle).take(THREADS).collect();
        Self {
            frames: Frames::new(trace),
            table,
            known: vec![OnceCell::new(); trace.names.len()],
            launching,
            others,
            overhead,
            next: 0,
            only_calls: host
                .kinds()
                .iter()
                .all(|kind| matches!(kind, HostKind::Runtime | HostKind::Overhead)),
            launched: if view.from_host {
                Launched::default()
            } else {
                Launched::new(view.trace, &view.gpu, &view.launch)
            },
            captures: Intervals::union(captures(trace)),
            recorded: recorded(view),
        }
    }

    /// Labels of an idle piece in order of time, as (label, end in nanoseconds). Pieces must be in order.
    pub(crate) fn labels(&mut self, view: &View<'_>, piece: Piece) -> Vec<(Label, i64)> {
        let mut labels: Vec<(Label, i64)> = Vec::new();
        for part in self.stretches(view, piece) {
            match labels.last_mut() {
                Some(last) if last.0 == part.label => last.1 = part.end,
                _ => labels.push((part.label, part.end)),
            }
        }
        labels
    }

    /// Parts of an idle piece in order of time. Pieces must be in order.
    pub(crate) fn stretches(&mut self, view: &View<'_>, piece: Piece) -> Vec<Stretch> {
        let (first, last) = self.recorded;
        let (start, end) = (piece.start.clamp(first, last), piece.end.clamp(first, last));
        let outside = |end: i64| {
            let cause = Cause::NotRecorded;
            Stretch { cause, label: cause.label(), frame: NONE, end }
        };
        let mut parts = Vec::new();
        if piece.start < start {
            parts.push(outside(start.min(piece.end)));
        }
        if start < end {
            parts.extend(self.recorded_stretches(view, Piece { start, end, ..piece }));
        }
        if end < piece.end && piece.start < piece.end && parts.last().is_none_or(|last| last.end < piece.end)
        {
            parts.push(outside(piece.end));
        }
        parts
    }

    /// Parts of a piece within the recording.
    fn recorded_stretches(&mut self, view: &View<'_>, piece: Piece) -> Vec<Stretch> {
        let (start, end) = (piece.start, piece.end);
        let one = |cause: Cause, label: Label| vec![Stretch { cause, label, frame: NONE, end }];
        let launch = view.launch.get(piece.row as usize).copied().unwrap_or(NONE);
        let Some(call) = self.frames.row(launch) else {
            return if view.from_host {
                one(Cause::Unknown, Label::Host)
            } else if piece.row == NONE {
                self.after_last(view, start, end)
            } else {
                self.unlaunched(start, end)
            };
        };
        // The device is the cause if its queue was not empty when it became idle.
        if !view.from_host && call.end <= start {
            return one(Cause::Device, Cause::Device.label());
        }
        // Launch latency also counts as host time; long latencies are separate.
        let until = if view.from_host || end - call.end < LONG { end } else { call.end.clamp(start, end) };
        let mut threads = vec![call.thread];
        let before = Self::before(view, piece.row).and_then(|row| self.frames.row(row));
        for thread in before.map(|row| row.thread).into_iter().chain(self.launching.iter().copied()) {
            if !threads.contains(&thread) {
                threads.push(thread);
            }
        }
        let mut parts = Vec::new();
        self.look(&threads, NONE, start, until, &mut parts);
        let mut all: Vec<Stretch> = Vec::with_capacity(parts.len() + 1);
        let mut from = start;
        let silent = if view.from_host { vec![0; parts.len()] } else { self.silences(start, &parts) };
        for ((frame, end), silent) in parts.into_iter().zip(silent) {
            // Inner frames cut a call into parts: the call is long or short as a whole.
            let call = if view.from_host { 0 } else { self.longest_call(frame, start, call.start) };
            let long = (end - from).max(call).max(silent);
            let cause = self.cause(view, frame, (from, end), long);
            let label =
                if view.from_host && cause.label() == Label::Gap { Label::Host } else { cause.label() };
            all.push(Stretch { cause, label, frame, end });
            from = end;
        }
        if until < end {
            let cause = Cause::LaunchLatency;
            all.push(Stretch { cause, label: cause.label(), frame: launch, end });
        }
        all
    }

    /// By part of a gap: time without any call or operator around it, in nanoseconds; 0 for parts with one.
    /// Annotations launch nothing, so several in turn are as long as one.
    fn silences(&self, start: i64, parts: &[(u32, i64)]) -> Vec<i64> {
        let is_silent =
            |part: &(u32, i64)| self.frames.row(part.0).is_none_or(|row| row.kind == HostKind::Annotation);
        let mut from = start;
        let mut silences = Vec::with_capacity(parts.len());
        for run in parts.chunk_by(|a, b| is_silent(a) && is_silent(b)) {
            let until = run.last().map_or(from, |part| part.1);
            let time = if run.first().is_some_and(is_silent) { until - from } else { 0 };
            let time = if self.only_calls && time >= BARE { time.max(LONG) } else { time };
            silences.extend(std::iter::repeat_n(time, run.len()));
            from = until;
        }
        silences
    }

    /// Time of the longest call on the stack of a frame that begins in a gap, until the launch at the end of
    /// the gap, in nanoseconds. It launches nothing before.
    fn longest_call(&self, frame: u32, start: i64, launch: i64) -> i64 {
        let begins = |row: &HostActivity| row.kind != HostKind::Annotation && row.start >= start;
        let calls = self.frames.stack(frame).map(|(_, row)| row).filter(begins);
        calls.map(|row| row.end.min(launch) - row.start).max().unwrap_or(0)
    }

    /// Parts of an interval after the last device work, by the frames of launching threads. Short host work
    /// there delays no launch, so its time has no cause.
    fn after_last(&mut self, view: &View<'_>, start: i64, end: i64) -> Vec<Stretch> {
        let threads = self.launching.clone();
        let mut parts = Vec::new();
        self.look(&threads, NONE, start, end, &mut parts);
        let mut all: Vec<Stretch> = Vec::with_capacity(parts.len());
        let mut from = start;
        for (frame, until) in parts {
            let long = (until - from).max(self.longest_call(frame, start, end));
            let cause = self.cause(view, frame, (from, until), long);
            let known = !matches!(cause, Cause::LaunchBound | Cause::Unknown | Cause::Device);
            let (cause, label) =
                if known { (cause, cause.label()) } else { (Cause::Unknown, Label::Unexplained) };
            match all.last_mut() {
                Some(last) if !known && last.label == Label::Unexplained => last.end = until,
                _ => all.push(Stretch { cause, label, frame: if known { frame } else { NONE }, end: until }),
            }
            from = until;
        }
        all
    }

    /// Parts of an interval without a recorded launch at its end: captures of graphs, and unexplained time.
    fn unlaunched(&self, start: i64, end: i64) -> Vec<Stretch> {
        let mut parts: Vec<Stretch> = Vec::new();
        let part = |cause: Cause, label: Label, end: i64| Stretch { cause, label, frame: NONE, end };
        let mut from = start;
        while let Some((begin, until)) =
            self.captures.next(from).filter(|(begin, _)| from < end && *begin < end)
        {
            if begin > from {
                parts.push(part(Cause::Unknown, Label::Unexplained, begin));
            }
            from = until.min(end);
            parts.push(part(Cause::Compilation, Cause::Compilation.label(), from));
        }
        if from < end {
            parts.push(part(Cause::Unknown, Label::Unexplained, end));
        }
        parts
    }

    /// Launch of the row before the one at the end of an interval.
    fn before(view: &View<'_>, row: u32) -> Option<u32> {
        let rows = view.role.get(..row as usize)?;
        let at = rows.iter().rposition(|role| *role != Role::None)?;
        view.launch.get(at).copied()
    }

    /// The innermost frames of an interval: of the first thread that has one. Otherwise the annotation around
    /// the first thread.
    fn look(&self, threads: &[u32], weak: u32, from: i64, to: i64, parts: &mut Vec<(u32, i64)>) {
        let Some((&thread, rest)) = threads.split_first() else {
            parts.push((if weak == NONE { self.other(from, to) } else { weak }, to));
            return;
        };
        self.frames.walk(thread, from, to, |frame, from, to| {
            let kind = self.frames.row(frame).map(|row| row.kind);
            match kind {
                None => self.look(rest, weak, from, to, parts),
                // The engine's threads run the backward pass, and this thread waits for them.
                Some(HostKind::Python) if self.awaits_backward(frame) => {
                    self.look(rest, if weak == NONE { frame } else { weak }, from, to, parts);
                }
                Some(HostKind::Annotation) if !self.tells(frame) => {
                    let own = if self.is_step(frame) { NONE } else { frame };
                    self.look(rest, if weak == NONE { own } else { weak }, from, to, parts);
                }
                Some(_) => parts.push((frame, to)),
            }
        });
    }

    /// An operator or an allocation on a thread without launches that spans a whole interval. Allocations
    /// synchronize the device, so they delay the launches of all threads.
    fn other(&self, from: i64, to: i64) -> u32 {
        let mut found = NONE;
        for &thread in &self.others {
            self.frames.walk(thread, from, to, |frame, start, end| {
                let is_one = self.frames.row(frame).is_some_and(|row| match row.kind {
                    HostKind::Operator => true,
                    HostKind::Runtime => self.allocates(&row),
                    _ => false,
                });
                if found == NONE && is_one && 2 * (end - start) > to - from {
                    found = frame;
                }
            });
        }
        found
    }

    fn is_step(&self, frame: u32) -> bool {
        self.frames.row(frame).is_some_and(|row| self.frames.name(row.name).starts_with("ProfilerStep#"))
    }

    /// Tests whether a thread waits in a frame for the threads of PyTorch's autograd engine.
    fn awaits_backward(&self, frame: u32) -> bool {
        self.frames.row(frame).is_some_and(|row| self.frames.name(row.name).contains("run_backward"))
    }

    /// Tests whether an annotation on the stack of a frame names a cause by itself.
    fn tells(&self, frame: u32) -> bool {
        self.frames.stack(frame).any(|(_, row)| self.fits(&row).is_some())
    }

    /// Reason why the device was idle while the host was in a frame, in a part of a call of this length, in
    /// nanoseconds.
    fn cause(&mut self, view: &View<'_>, frame: u32, (from, to): (i64, i64), long: i64) -> Cause {
        let fits = |(at, row)| if self.launched.repeats(at) { None } else { self.fits(&row) };
        let place = self.frames.stack(frame).filter_map(fits).min();
        let named = place.and_then(|place| self.table.row(place)).map(|row| row.0);
        if let Some(cause) = named {
            return cause;
        }
        if self.launched.is_staged(frame) {
            return Cause::BlockingCopy;
        }
        if let Some(cause) = self.overhead(from, to) {
            return cause;
        }
        if self.captures.next(from).is_some_and(|(begin, until)| begin <= from && to <= until) {
            return Cause::Compilation;
        }
        let short = long < LONG;
        match self.frames.row(frame) {
            // Threads of XLA's runtime pass the work on to the one that launches: they do not compete with
            // it.
            Some(row) if self.others.contains(&row.thread) && view.is_of_xla() => {
                if short {
                    Cause::LaunchBound
                } else {
                    Cause::Unknown
                }
            }
            Some(row) if !view.from_host && self.others.contains(&row.thread) => Cause::OtherThread,
            _ if short => Cause::LaunchBound,
            Some(row) if row.kind != HostKind::Annotation => Cause::HostWork,
            _ => Cause::Unknown,
        }
    }

    /// Tests whether a call of the runtime allocates or frees memory.
    fn allocates(&self, row: &HostActivity) -> bool {
        let cause = self.fits(row).and_then(|place| self.table.row(place)).map(|found| found.0);
        cause == Some(Cause::Allocation)
    }

    /// Index of the first row of the table that fits a frame.
    fn fits(&self, row: &HostActivity) -> Option<u8> {
        let places = || self.table.places(row.kind, self.frames.name(row.name));
        let fit = |places: &[u8]| {
            let long = |place: u8| self.table.row(place).is_some_and(|(_, least)| row.duration() >= least);
            places.iter().copied().find(|&place| long(place))
        };
        match self.known.get(row.name.0 as usize) {
            Some(cell) => fit(cell.get_or_init(places)),
            None => fit(&places()),
        }
    }

    /// The cause of an interval with at least half of its time covered by overhead of the profiler or the
    /// driver. Intervals must be in order.
    fn overhead(&mut self, from: i64, to: i64) -> Option<Cause> {
        while self.overhead.get(self.next).is_some_and(|own| own.1 <= from) {
            self.next += 1;
        }
        let within = self.overhead.get(self.next..)?.iter().take_while(|own| own.0 < to);
        let row = within
            .filter(|own| 2 * (own.1.min(to) - own.0.max(from)) >= to - from)
            .map(|own| own.2)
            .next()?;
        let row = self.frames.row(row)?;
        let place = self.fits(&row)?;
        self.table.row(place).map(|row| row.0)
    }
}

/// Recorded time of a rank, in nanoseconds: from its first activity to the end of its last, or all time
/// without host rows. Without the device's first work it begins with the device, because earlier idle time
/// may belong to a busy device.
fn recorded(view: &View<'_>) -> (i64, i64) {
    let host = &view.trace.host;
    let (Some(&first), Some(last)) = (host.starts().first(), host.ends().iter().copied().max()) else {
        return (i64::MIN, i64::MAX);
    };
    let device = view.gpu.starts().first().copied().zip(view.gpu.ends().iter().copied().max());
    device.map_or((first, last), |device| {
        let begin = if lacks_first(view.trace) { device.0 } else { first.min(device.0) };
        (begin, last.max(device.1))
    })
}

impl Idle<'_> {
    /// Calls back with a frame and its enclosing frames.
    pub(crate) fn hold(&self, frame: u32, mut tell: impl FnMut(u32)) {
        self.frames.stack(frame).for_each(|(at, _)| tell(at));
    }

    /// The frames, for their names.
    pub(super) fn frames(&self) -> &Frames<'_> {
        &self.frames
    }
}
