//! Long host calls, by the calls that contain their frames.
//!
//! Responsible for: the outermost operator above the frames of an idle interval, and the remedy that it
//! allows. Operators that move no data or usually take far less time are bystanders: their findings state
//! that the cause is unknown.

use super::remedies::of_xla;
use super::serving::served;
use super::words::{short, time};
use super::{Context, launching};
use crate::NameId;
use crate::causes::{Cause, CauseUse, Key, Stacks, Usual, key};
use crate::replay::lower_median;
use crate::trace::{HostKind, NONE};
use crate::view::View;
use crate::waterfall::RankWaterfall;
use railwright_spec::human;
use std::collections::{BTreeMap, BTreeSet};

/// Number of ranks whose frames are read, those with most of this time first.
const RANKS: usize = 8;

/// Minimum ratio of a call to the usual duration of its operator: the operator's own work does not vary that
/// much.
const STALLED: i64 = 10;

/// Minimum ratio of a first call to the usual duration of its operator: being the first is evidence as well.
const FIRST: i64 = 4;

/// Minimum number of calls of an operator with a usual duration.
const FEWEST: usize = 4;

/// Minimum share of the time of a remedy that is listed after the first.
const ADVISED: f64 = 0.25;

/// Minimum share of size checks in the time of compiled host code.
const CHECKS: f64 = 0.05;

/// Minimum and maximum number of listed calls.
const LISTED: (usize, usize) = (3, 8);

/// Operators that create another view of a tensor or read its properties: they move no data.
const VIEWS: [&str; 25] = [
    "view",
    "slice",
    "narrow",
    "as_strided",
    "detach",
    "split",
    "split_with_sizes",
    "expand",
    "transpose",
    "t",
    "permute",
    "select",
    "unsqueeze",
    "squeeze",
    "alias",
    "_reshape_alias",
    "_unsafe_view",
    "reshape",
    "unbind",
    "chunk",
    "result_type",
    "empty",
    "empty_strided",
    "empty_like",
    "lift_fresh",
];

/// Steps of the optimizers that PyTorch fuses (`torch.optim`: `fused=True`).
const FUSED: [&str; 4] = ["#Adam.step", "#AdamW.step", "#SGD.step", "#Adagrad.step"];

/// Calls that only prepare later ones: connections of a communicator (NCCL otherwise returns at once), memory
/// of other processes, kernels, streams, contexts and properties of devices.
const SET_UP: [&str; 14] = [
    "ncclAll",
    "ncclComm",
    "ncclBroadcast",
    "ncclReduce",
    "ShareableHandle",
    "IpcOpenMemHandle",
    "cuKernelGetFunction",
    "ModuleGetFunction",
    "LibraryGetKernel",
    "StreamCreate",
    "CtxCreate",
    "PrimaryCtxRetain",
    "GetDeviceProperties",
    "GetDeviceCount",
];

/// Advice for long calls that launch the work of JAX or another program on XLA.
const DISPATCH: &str = "these calls recur in later steps: run more work per dispatch (larger functions under `jax.jit`, `jax.lax.scan` for \
                        loops), and keep host cores free of other work";

/// Remedy for a long host call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Remedy {
    Asserts,
    Buffers,
    Optimizer,
    OtherOptimizer,
    First,
    Compiled,
    Launching,
    /// As [`Self::Launching`], in a recording of one step or without steps.
    Once,
    Functions,
    Operators,
    /// None: the frames do not show the cause.
    Unknown,
}

impl Remedy {
    const fn advice(self) -> &'static str {
        match self {
            Self::Asserts => {
                "compiled code checks sizes and strides on the host: set `torch._inductor.config.size_asserts = False`, or use \
                 `mode=\"reduce-overhead\"` (CUDA graphs)"
            }
            Self::Buffers => {
                "DistributedDataParallel copies its buffers in each forward pass: pass `broadcast_buffers=False` if ranks may keep their \
                 own, or use fewer and larger buffers"
            }
            Self::Optimizer => {
                "use a fused optimizer (`fused=True`): its host work per parameter is much shorter"
            }
            Self::OtherOptimizer => {
                "this optimizer runs many operators on the host: compile its step (`torch.compile`), or update fewer, larger tensors"
            }
            Self::First => {
                "record after warm-up: first calls select algorithms and initialize libraries; if it recurs, keep host cores free of \
                 other work"
            }
            Self::Compiled => {
                "this is the host code of compiled regions: use CUDA graphs (`mode=\"reduce-overhead\"`), or fewer and larger regions"
            }
            Self::Launching => {
                "these calls recur in later steps: compile or capture them, or call fewer, larger ones; keep host cores free of \
                 other work"
            }
            Self::Once => {
                "record several steps after warm-up, because first calls select algorithms and initialize libraries; if these \
                 calls recur, compile or capture them, or call fewer, larger ones"
            }
            Self::Functions => {
                "call these functions less often, or run them in advance in another thread or process"
            }
            Self::Operators => {
                "move long host operators to the device, run them in advance in another process, or call them less often"
            }
            Self::Unknown => {
                "these operators are usually far shorter, so the cause is elsewhere: check for preempted threads (`perf sched`), \
                 other processes on these cores and locks"
            }
        }
    }
}

/// Idle time in one call.
#[derive(Clone, Debug, Default)]
struct Sum {
    time: i64,
    /// Number of idle intervals with this call, and the longest time in one of them. Inner frames cut an
    /// interval into parts.
    count: u64,
    longest: i64,
    /// Rank and start of the last interval, and time in it so far.
    last: Option<(u32, i64)>,
    within: i64,
    /// Time by innermost frame.
    frames: BTreeMap<String, i64>,
    /// Time by remedy.
    remedies: BTreeMap<Remedy, i64>,
    /// Usual duration of its operator if the call is far above it, in nanoseconds.
    usual: Option<i64>,
}

/// Calls with most of the idle time.
pub(super) struct HostCalls {
    /// By name of the call and of its surroundings.
    sums: BTreeMap<(String, String), Sum>,
    /// True for programs on XLA.
    xla: bool,
}

/// Reads the long host calls of the selected intervals: rank, start and end in nanoseconds since the steps
/// began.
pub(super) fn host_calls(context: &Context<'_>, fits: impl Fn(u32, i64, i64) -> bool) -> HostCalls {
    let of = |rank: &RankWaterfall| {
        let own = rank.causes.iter().filter(|part| part.cause == Cause::HostWork);
        own.map(|part| part.time).sum::<i64>()
    };
    let mut ranks: Vec<(&View<'_>, &RankWaterfall)> =
        context.views.iter().copied().zip(&context.waterfall.ranks).collect();
    ranks.sort_by_key(|(_, rank)| (std::cmp::Reverse(of(rank)), rank.rank));
    let launching = launching::operators(context.views);
    let mut calls = HostCalls { sums: BTreeMap::new(), xla: of_xla(context.views) };
    for (view, rank) in ranks.into_iter().take(RANKS).filter(|(_, rank)| of(rank) > 0) {
        calls.add(&Reader::new(context, view, &launching), rank, &fits);
    }
    calls
}

/// Frames of one rank with the usual durations of their operators.
struct Reader<'a> {
    view: &'a View<'a>,
    stacks: Stacks<'a>,
    usual: BTreeMap<Key, Usual>,
    /// First rows of operators, and of other calls with the name of one that launches.
    firsts: BTreeMap<Key, u32>,
    launching: &'a BTreeSet<&'a str>,
    /// Start of the steps, and end of the first one, in nanoseconds.
    begin: i64,
    first_step: i64,
    /// True for one step, or a recording without steps: nothing shows that a call recurs.
    is_single: bool,
}

impl<'a> Reader<'a> {
    fn new(context: &Context<'_>, view: &'a View<'a>, launching: &'a BTreeSet<&'a str>) -> Self {
        let kinds = view.trace.host.kinds().iter().zip(view.trace.host.names());
        let operators: BTreeSet<NameId> =
            kinds.filter(|(kind, _)| **kind == HostKind::Operator).map(|(_, name)| *name).collect();
        let names = view.trace.names.iter().enumerate().filter(|(_, name)| launching.contains(name));
        let launches: BTreeSet<NameId> = names.map(|(at, _)| NameId(at as u32)).collect();
        Self {
            view,
            stacks: Stacks::new(view.trace),
            usual: Stacks::usual(view.trace, |name| operators.contains(&name)),
            firsts: Stacks::firsts(view.trace, |name| operators.contains(&name) || launches.contains(&name)),
            launching,
            begin: context.windows.span().0,
            first_step: context.windows.steps.first().map_or(i64::MIN, |step| step.end),
            is_single: context.windows.steps.len() < 2,
        }
    }

    /// Usual duration of the innermost operator of a frame, if the call is far above it.
    fn stalled(&self, frame: u32) -> Option<(u32, i64)> {
        let (at, _) = self.stacks.operator(frame)?;
        let (row, _) = self.stacks.row(at)?;
        let usual = self.usual.get(&key(&row)).filter(|usual| usual.count() >= FEWEST)?;
        let is_far = row.duration() > STALLED * usual.median() && usual.is_rare(row.duration());
        is_far.then_some((at, usual.median()))
    }

    /// Tests whether the call of a frame is the first of its operator: with these shapes, or in the first
    /// recorded step.
    fn is_first(&self, frame: u32, call: u32) -> bool {
        let operator = self.stacks.operator(frame).map_or(call, |found| found.0);
        let Some((row, name)) = self.stacks.row(operator) else { return false };
        let launches = self.launching.contains(name)
            || self.stacks.row(call).is_some_and(|call| self.launching.contains(call.1));
        let apart = self
            .usual
            .get(&key(&row))
            .is_none_or(|usual| usual.count() < FEWEST || row.duration() > FIRST * usual.median());
        launches && apart && (row.start < self.first_step || self.firsts.get(&key(&row)) == Some(&operator))
    }

    fn remedy(&self, frame: u32, call: u32) -> Remedy {
        let any =
            |words: &[&str]| self.stacks.any(frame, |name| words.iter().any(|word| name.contains(word)));
        let Some((row, name)) = self.stacks.row(frame) else { return Remedy::Unknown };
        let outer = self.stacks.row(call).map_or("", |call| call.1);
        let operator = self.stacks.operator(frame).map(|found| found.1);
        if any(&["assert_size_stride", "assert_alignment"]) {
            Remedy::Asserts
        } else if outer.contains("flatten_dense_tensors") && any(&["DistributedDataParallel"]) {
            Remedy::Buffers
        } else if any(&["Optimizer.step"]) && outer.contains("_foreach_") {
            if any(&FUSED) { Remedy::Optimizer } else { Remedy::OtherOptimizer }
        } else if any(&SET_UP) || self.is_first(frame, call) {
            Remedy::First
        } else if operator.is_some_and(is_view) || self.stalled(frame).is_some() {
            Remedy::Unknown
        } else if self.stacks.any(frame, is_compiled) {
            Remedy::Compiled
        } else if operator.is_some_and(|name| self.launching.contains(name)) || self.launching.contains(name)
        {
            if self.is_single { Remedy::Once } else { Remedy::Launching }
        } else if row.kind == HostKind::Python {
            Remedy::Functions
        } else {
            Remedy::Operators
        }
    }
}

/// Tests whether an operator only creates another view of a tensor.
pub(super) fn is_view(name: &str) -> bool {
    name.strip_prefix("aten::").is_some_and(|name| VIEWS.contains(&name.trim_end_matches('_')))
}

/// Frame with most of a rank's time in long host calls.
pub(super) fn longest_frame<'a>(context: &Context<'a>, rank: u32) -> Option<&'a str> {
    let (own, names) = context.ranks().find(|(one, _)| one.rank == rank)?;
    let mut times: BTreeMap<u32, i64> = BTreeMap::new();
    for part in own.causes.iter().filter(|part| part.cause == Cause::HostWork && part.place.frame != NONE) {
        *times.entry(part.place.frame).or_default() += part.time;
    }
    let (frame, _) = times.into_iter().max_by_key(|&(frame, time)| (time, std::cmp::Reverse(frame)))?;
    Some(names.get(NameId(frame)))
}

/// Advice for long calls on one rank alone: its peers run the same program, so moving these calls helps only
/// if they do not run them. `None` without a recorded frame, or if only some ranks are displayed.
pub(super) fn on_one_rank(context: &Context<'_>, rank: u32, frame: &str) -> Option<String> {
    // The devices of a process on XLA have one host.
    if of_xla(context.views) {
        return None;
    }
    let at = context.waterfall.ranks.iter().position(|one| one.rank == rank)?;
    let calls = |view: &&View<'_>| {
        let names = view.trace.host.names().iter();
        names.filter(|name| view.trace.names.get(**name) == frame).count() as i64
    };
    let own = context.views.get(at).map(calls).filter(|own| *own > 0 && !frame.is_empty())?;
    let others = context.views.iter().enumerate().filter(|(other, _)| *other != at);
    let usual = lower_median(&mut others.map(|(_, view)| calls(view)).collect::<Vec<_>>())?;
    Some(if 2 * usual >= own {
        format!(
            "the peers run `{}` as well, without this delay: check this host for preempted threads (`perf sched`), other processes \
             on its cores, clocks and locks",
            short(frame)
        )
    } else {
        format!(
            "the peers run `{}` less often or never: run it on all ranks at the same time, less often, or in another thread or process",
            short(frame)
        )
    })
}

/// Names around a call: module, function and annotation.
fn around(names: &crate::Names, part: &CauseUse, call: &str) -> String {
    let place = part.place;
    let name = |id: u32| if id == NONE { "" } else { names.get(NameId(id)) };
    let mut held: Vec<String> = Vec::new();
    for name in [place.module, place.python, place.annotation].map(name) {
        if !name.is_empty() && name != call && !held.iter().any(|held| held == name) {
            held.push(short(name));
        }
    }
    if held.is_empty() { String::new() } else { format!(" in {}", held.join(", ")) }
}

impl HostCalls {
    fn add(&mut self, reader: &Reader<'_>, rank: &RankWaterfall, fits: &impl Fn(u32, i64, i64) -> bool) {
        let names = &reader.view.trace.names;
        // Start of the idle interval that contains a part.
        let (mut begin, mut until) = (i64::MIN, i64::MIN);
        let mut remedies: BTreeMap<(u32, u32), Remedy> = BTreeMap::new();
        for idle in &rank.idle {
            if idle.start != until {
                begin = idle.start;
            }
            until = idle.end;
            let Some(part) = rank.causes.get(idle.row as usize) else { continue };
            if part.cause != Cause::HostWork || !fits(rank.rank, idle.start, idle.end) {
                continue;
            }
            let time = idle.end - idle.start;
            let call = reader.stacks.call(idle.frame, begin + reader.begin);
            let remedy =
                *remedies.entry((idle.frame, call)).or_insert_with(|| reader.remedy(idle.frame, call));
            let called = reader.stacks.row(call);
            let frame = if part.place.frame == NONE { "" } else { names.get(NameId(part.place.frame)) };
            let name = called.filter(|(row, _)| row.kind != HostKind::Python).map_or(frame, |row| row.1);
            let sum = self.sums.entry((name.to_owned(), around(names, part, name))).or_default();
            sum.time += time;
            if sum.last != Some((rank.rank, begin)) {
                (sum.last, sum.within) = (Some((rank.rank, begin)), 0);
                sum.count += 1;
            }
            sum.within += time;
            sum.longest = sum.longest.max(sum.within);
            *sum.frames.entry(frame.to_owned()).or_default() += time;
            *sum.remedies.entry(remedy).or_default() += time;
            if remedy == Remedy::Unknown {
                sum.usual = sum.usual.max(reader.stalled(idle.frame).map(|stalled| stalled.1));
            }
        }
    }
}

impl HostCalls {
    /// Advice for the remedies with most of the time, for training or for an inference server. `None` without
    /// any call.
    pub(super) fn advice(&self, inference: bool) -> Option<String> {
        let mut times: BTreeMap<Remedy, i64> = BTreeMap::new();
        for (remedy, time) in self.sums.values().flat_map(|sum| &sum.remedies) {
            *times.entry(*remedy).or_default() += time;
        }
        // Between the checks of compiled code, its own frame is the innermost one.
        let checks = times.get(&Remedy::Asserts).copied().unwrap_or(0);
        if let Some(compiled) =
            times.get(&Remedy::Compiled).copied().filter(|all| checks as f64 > CHECKS * *all as f64)
        {
            times.remove(&Remedy::Compiled);
            times.insert(Remedy::Asserts, checks + compiled);
        }
        // Both ask for a recording after warm-up.
        if let Some(once) = times.get(&Remedy::Once).copied() {
            let first = times.remove(&Remedy::First).unwrap_or(0);
            times.insert(Remedy::Once, once + first);
        }
        let all: i64 = times.values().sum();
        let mut times: Vec<(Remedy, i64)> = times.into_iter().collect();
        times.sort_by_key(|&(remedy, time)| (std::cmp::Reverse(time), remedy));
        let listed =
            times.iter().enumerate().filter(|(at, one)| *at == 0 || one.1 as f64 >= ADVISED * all as f64);
        let of = |remedy: Remedy| match remedy {
            Remedy::Launching | Remedy::Once | Remedy::Asserts | Remedy::Compiled if self.xla => DISPATCH,
            // With recorded functions, there is nothing more to record.
            Remedy::Functions if inference => {
                "overlap this host work with the previous step (asynchronous scheduling), capture whole steps in graphs, and compare with \
                 a recording without stacks"
            }
            Remedy::Operators if inference => served(Cause::HostWork).unwrap_or(remedy.advice()),
            _ => remedy.advice(),
        };
        let advice: Vec<&str> = listed.map(|one| of(one.1.0)).collect();
        (!advice.is_empty()).then(|| advice.join("; "))
    }

    /// Lines of evidence: calls with most of the time, which is `all` nanoseconds per rank and step. Times of
    /// unread ranks are in proportion.
    pub(super) fn evidence(&self, all: f64) -> Vec<String> {
        let sum: i64 = self.sums.values().map(|one| one.time).sum();
        let mut rows: Vec<(&(String, String), &Sum)> = self.sums.iter().collect();
        rows.sort_by(|a, b| b.1.time.cmp(&a.1.time).then_with(|| a.0.cmp(b.0)));
        let per_step = |part: i64| all * part as f64 / sum.max(1) as f64;
        let (mut lines, mut listed) = (Vec::new(), 0_i64);
        for ((name, around), one) in rows {
            if lines.len() >= LISTED.1 || lines.len() >= LISTED.0 && 2 * listed > sum {
                break;
            }
            listed += one.time;
            let mut frames: Vec<(&String, i64)> =
                one.frames.iter().map(|(name, time)| (name, *time)).collect();
            frames.sort_by_key(|&(name, time)| (std::cmp::Reverse(time), name));
            let inner: Vec<String> = frames
                .iter()
                .filter(|(frame, _)| *frame != name && !frame.is_empty())
                .take(2)
                .map(|(frame, _)| short(frame))
                .collect();
            let inner = if inner.is_empty() { String::new() } else { format!(" ({})", inner.join(", ")) };
            let usual = one.usual.map_or(String::new(), |usual| format!("; usually {}", time(usual as f64)));
            lines.push(format!(
                "{}{inner}{around}: {} per step in {}, longest {}{usual}",
                short(name),
                time(per_step(one.time)),
                human::several(one.count, "interval"),
                time(one.longest as f64)
            ));
        }
        if 2 * listed <= sum && sum > 0 {
            lines.push(format!("other calls: {} per step", time(per_step(sum - listed))));
        }
        lines
    }
}

/// Tests whether a frame belongs to a region of `torch.compile`.
pub(super) fn is_compiled(name: &str) -> bool {
    ["Torch-Compiled Region", "CompiledFxGraph", "torchinductor", "CompiledFunction"]
        .iter()
        .any(|word| name.contains(word))
}
