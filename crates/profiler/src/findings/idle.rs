//! Idle device time by host cause.
//!
//! Responsible for: a rule for each cause of idle time that the host's frames show, with its advice. Without
//! a recorded frame, the advice is to record one.

use super::context::EXPLAINED;
use super::host_work::{host_calls, is_compiled, longest_frame, on_one_rank};
use super::launching::Late;
use super::serving::served;
use super::words::{percent, short, time};
use super::{Context, Inference, Rule, remedies};
use crate::attribution::{CauseClass, Named};
use crate::causes::{Cause, CauseRow, is_convolution};
use crate::certainty::Certainty;
use crate::profile::{Explained, Finding, Subject};
use crate::trace::HostKind;
use crate::view::Role;
use crate::waterfall::Label;
use railwright_spec::human;
use railwright_step::columns::Class;

pub(super) struct IdleCause {
    pub(super) cause: Cause,
    id: &'static str,
    title: &'static str,
    text: &'static str,
    /// Minimum reported share of the step.
    least: f64,
    message: &'static str,
    advice: &'static str,
}

/// Minimum number of listed frames; more are listed until they cover half of the cost.
const FEWEST: usize = 3;
const MOST: usize = 8;

/// Minimum share of a cause on the rank that is named for it: of thousands of ranks, the first has next to
/// nothing.
const NOTABLE: f64 = 0.05;

/// A rule for each cause; `joint` has their labels.
pub(super) const IDLE: [IdleCause; 14] = [
    IdleCause {
        cause: Cause::Allocation,
        id: "memory-allocation",
        title: "Idle time during memory allocation",
        text: "Idle time of the device while its launching thread was in `cudaMalloc`, `cudaFree`, \
               `cudaHostAlloc` or similar calls. PyTorch's caching allocator calls them if its cache has no \
               free block of that size; a retry first frees the whole cache. Threshold: 1% of the step. \
               Cost: that time.\n\n\
               Remedies: `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, constant shapes and a lower peak if \
               operators free memory (retries); more warm-up steps if the cache only grows; persistent pinned buffers. `torch.cuda.memory_stats()` counts `num_alloc_retries` and \
               `num_device_alloc`; `railwright memory-snapshot` shows fragmentation.",
        least: 0.01,
        message: "memory allocation leaves the device idle",
        advice: "set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, keep shapes and buffers between \
            steps, reduce the peak; check `num_alloc_retries`",
    },
    IdleCause {
        cause: Cause::DataLoading,
        id: "data-loading",
        title: "Idle time during data loading",
        text: "Idle time of the device while its host was in a data loader: an annotation, operator or Python \
               function. Threshold: 1% of the step. Cost: that time.\n\n\
               Remedies: more workers, prefetching, pinned memory, data on local disks, decoding and tokenization in \
               advance.",
        least: 0.01,
        message: "data loading leaves the device idle",
        advice: "prefetch: `num_workers` above 0, `prefetch_factor`, `pin_memory=True`, data \
            prepared in advance on a local disk",
    },
    IdleCause {
        cause: Cause::BlockingCopy,
        id: "blocking-copies",
        title: "Idle time during blocking copies",
        text: "Idle time of the device while its host was in a blocking copy: `cudaMemcpy`, \
               `hipMemcpyWithStream`, or an asynchronous copy of pageable memory. Threshold: 1% of the \
               step. Cost: that time.\n\n\
               Remedies: pinned memory with `non_blocking=True`, tensors created on the device, results read \
               less often.",
        least: 0.01,
        message: "blocking copies leave the device idle",
        advice: "copy from pinned memory with `non_blocking=True`, create tensors on the device, read results less often",
    },
    IdleCause {
        cause: Cause::Synchronisation,
        id: "synchronization",
        title: "Idle time after synchronization",
        text: "Idle time of the device while its host was in a synchronizing call (`cudaStreamSynchronize`, \
               `.item()`): no kernel is launched until the call returns. Threshold: 1% of the step. Cost: \
               that time.\n\n\
               Remedies: no `.item()`, `.cpu()`, `nonzero` or printing of losses in every step; gradient \
               norms and loss scales kept on the device.",
        least: 0.01,
        message: "synchronization leaves the device idle",
        advice: "remove `.item()`, `.cpu()`, `nonzero` and explicit synchronization from the step",
    },
    IdleCause {
        cause: Cause::Compilation,
        id: "compilation",
        title: "Idle time during compilation",
        text: "Idle time of the device while its host compiled (XLA, torch.compile, Triton, NVRTC), captured \
               CUDA graphs, or loaded kernel modules. A launch of 1 ms or longer on an idle device is \
               counted as module loading if its kernel had not run before. \
               Threshold: 1% of the step. Cost: that time.\n\n\
               Remedies: warm-up steps before the recording, a compile cache on disk, constant shapes \
               (`mark_dynamic`, padding), `TORCH_LOGS=recompiles` to find the cause of recompiles.",
        least: 0.01,
        message: "compilation, graph capture or loading of kernel modules leaves the device idle",
        advice: "record after warm-up; if it recurs, keep shapes constant and look for recompiles with `TORCH_LOGS=recompiles`",
    },
    IdleCause {
        cause: Cause::GarbageCollection,
        id: "garbage-collection",
        title: "Idle time during garbage collection",
        text: "Idle time of the device while its host collected garbage, as recorded by the profiler. \
               Threshold: 1% of the step. Cost: that time.\n\n\
               Remedies: `gc.disable()` and `gc.collect()` at the same step on all ranks (`--manual-gc`), \
               `gc.freeze()` after initialization.",
        least: 0.01,
        message: "garbage collection leaves the device idle",
        advice: "call `gc.disable()` and collect at the same step on all ranks (`--manual-gc`), `gc.freeze()` after initialization",
    },
    IdleCause {
        cause: Cause::Checkpoint,
        id: "checkpoint",
        title: "Idle time during a checkpoint",
        text: "Idle time of the device while its host wrote a checkpoint. Threshold: 1% of the step. \
               Cost: that time, averaged over the recorded steps.\n\n\
               Remedies: asynchronous checkpoints (`torch.distributed.checkpoint.async_save`, \
               `--async-save`), fewer of them, a faster file system.",
        least: 0.01,
        message: "a checkpoint leaves the device idle",
        advice: "write checkpoints asynchronously (`async_save`), or less often",
    },
    IdleCause {
        cause: Cause::Evaluation,
        id: "evaluation",
        title: "Idle time during evaluation",
        text: "Idle time of the device within an evaluation. Threshold: 1% of the step. Cost: that time, \
               averaged over the recorded steps.\n\n\
               Remedies: evaluating less often or on other devices, larger batches in evaluation.",
        least: 0.01,
        message: "evaluation leaves the device idle",
        advice: "evaluate less often, with larger batches, or on other devices",
    },
    IdleCause {
        cause: Cause::Profiler,
        id: "profiler-overhead",
        title: "Idle time caused by the profiler",
        text: "Idle time of the device while the profiler flushed its buffers. Threshold: 1% of the step; \
               a run without the profiler does not have it.\n\n\
               Remedies: fewer recorded activities (`with_stack=False`, `record_shapes=False`), a warm-up \
               phase in the profiler's schedule.",
        least: 0.01,
        message: "the profiler leaves the device idle",
        advice: "record less (`with_stack=False`), and leave this time out of comparisons with runs that are not profiled",
    },
    IdleCause {
        cause: Cause::OtherThread,
        id: "other-thread",
        title: "Idle time during operators of another thread",
        text: "Idle time of the device while the launching thread had no recorded frame and another thread \
               ran an operator. Threshold: 1% of the step. Cost: that time. Common causes: the Python \
               GIL, too few cores.\n\n\
               Remedies: work of other threads in separate processes, more cores for the job, fewer \
               intra-operator threads.",
        least: 0.01,
        message: "operators of another thread run while the device is idle",
        advice: "move operators of other threads to a separate process; use more cores for the job",
    },
    IdleCause {
        cause: Cause::HostWork,
        id: "host-work",
        title: "Idle time during long host calls",
        text: "Idle time of the device while its host spent 1 ms or more in one operator, function or runtime \
               call without launching. Threshold: 1% of the step. Cost: that time. Operators that launch \
               device work take that long on first calls, which select algorithms and initialize libraries, \
               or if their thread was preempted.\n\n\
               Remedies: warm-up steps before the recording; moving host work to the device, running it in advance \
               in another process, calling it less often.",
        least: 0.01,
        message: "long calls on the host leave the device idle",
        advice: "move long host operators to the device, run them in advance in another process, or call them \
            less often",
    },
    IdleCause {
        cause: Cause::LaunchBound,
        id: "host-bound",
        title: "Idle time between kernel launches",
        text: "Idle time of the device before a kernel that was launched after the end of the previous one. Its host \
               ran operators and launches shorter than 1 ms. Threshold: 5% of the step. \
               Cost: that time.\n\n\
               Remedies: CUDA graphs, torch.compile, fused optimizers, fewer and larger kernels, larger \
               micro-batches, no other load on the cores of the host.",
        least: 0.05,
        message: "late launches delay the device",
        advice: "reduce launches: CUDA graphs, torch.compile, fused kernels, larger micro-batches; keep host cores free",
    },
    IdleCause {
        cause: Cause::LaunchLatency,
        id: "launch-latency",
        title: "Idle time between launch and start",
        text: "Idle time of the device between a launch and the start of its kernel, at least 1 ms after the launch \
               returned. Usual launch latency is about 10 us. Threshold: 1% \
               of the step. Cost: that time.\n\n\
               Common causes: another process on the device, driver overhead of the profiler, unrecorded work \
               on other streams. `nvidia-smi` shows other processes.",
        least: 0.01,
        message: "launched kernels start late although the device is idle",
        advice: "check for other processes on the device, and compare the step time without the profiler",
    },
    IdleCause {
        cause: Cause::Unknown,
        id: "idle-unknown",
        title: "Idle time with an unknown host cause",
        text: "Idle time of the device while its host recorded nothing for 1 ms or longer, or only an \
               annotation. Threshold: 1% of the step. Cost: that time.\n\n\
               Remedies: recording with `with_stack=True`, which adds Python functions; annotations \
               (`record_function`) around data loading, logging and checkpoints. Garbage collection, locks \
               and other processes on the host's cores leave no frame either.",
        least: 0.01,
        message: "the device is idle and the recorded frames show no cause",
        advice: "record with `with_stack=True`, or annotate data loading, logging and checkpoints with `record_function`",
    },
];

/// Remedy for a cause of pauses, by its frames in this job. `None` for uninformative causes.
pub(super) fn advice(context: &Context<'_>, cause: Cause) -> Option<String> {
    let rule = IDLE.iter().find(|rule| rule.cause == cause).filter(|_| is_informative(cause))?;
    let rows: Vec<&CauseRow> = context.causes.iter().filter(|row| row.cause == cause).collect();
    Some(rule.advice_for(context, &rows).to_owned())
}

/// Tests whether a cause has a remedy.
pub(super) fn is_informative(cause: Cause) -> bool {
    IDLE.iter().any(|rule| rule.cause == cause) && !matches!(cause, Cause::Unknown | Cause::LaunchBound)
}

/// Name of a frame with its enclosing operator, module, function and annotation.
pub(super) fn place(row: &CauseRow) -> String {
    let Some(frame) = &row.frame else { return "no recorded frame".to_owned() };
    let held = [&row.operator, &row.module, &row.python, &row.annotation];
    let held: Vec<String> = held.into_iter().flatten().map(|name| short(name)).collect();
    let within = if held.is_empty() { String::new() } else { format!(" in {}", held.join(", ")) };
    format!("{}{within}", short(frame))
}

impl Rule for IdleCause {
    fn id(&self) -> &'static str {
        self.id
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn text(&self) -> &'static str {
        self.text
    }

    fn inference(&self) -> Inference {
        match self.cause {
            Cause::DataLoading | Cause::Checkpoint | Cause::Evaluation => Inference::Silent,
            _ => Inference::Same,
        }
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let rows: Vec<&CauseRow> = context.causes.iter().filter(|row| row.cause == self.cause).collect();
        // Without recorded kernels, a call that waits for them is no loss: the device works meanwhile.
        if context.lacks_kernels()
            || context.has_launches_alone()
                && matches!(self.cause, Cause::Allocation | Cause::Synchronisation | Cause::LaunchBound)
        {
            return Vec::new();
        }
        // Idle time without a recorded launch has a finding of its own.
        let elsewhere = if self.cause == Cause::Unknown {
            context.mean(Label::Unexplained) - outside(context)
        } else {
            0.0
        };
        let mean: f64 = rows.iter().map(|row| row.mean_ns).sum::<f64>() - elsewhere;
        // Other ranks wait for an idle rank, and slack may hide it: the mean over ranks is not a cost.
        let replayed = context.saved(self.cause).filter(|_| mean > 0.0);
        let lost = replayed.unwrap_or(mean);
        if context.share(lost) < self.least {
            return Vec::new();
        }
        let bound = self.cause == Cause::LaunchBound;
        let of_unknown = (self.cause == Cause::Unknown && !context.from_host() && !context.serves)
            .then(|| remedies::of_unknown(context.views, &rows, mostly(&rows, is_compiled)))
            .flatten();
        let advice = of_unknown.unwrap_or_else(|| self.advice_for(context, &rows).to_owned());
        let most = on_ranks(context, self.cause);
        let host = most.as_ref().and_then(|most| one_host(context, self.cause, most.0, most.2));
        let host = host.filter(|cost| *cost >= EXPLAINED * lost);
        let calls = (self.cause == Cause::HostWork && !context.from_host())
            .then(|| host_calls(context, |_, _, _| true));
        let of_calls = calls.as_ref().and_then(|calls| calls.advice(context.serves));
        let of_one = most
            .as_ref()
            .filter(|most| self.cause == Cause::HostWork && most.2 >= ONE_RANK)
            .and_then(|most| on_one_rank(context, most.0, longest_frame(context, most.0)?));
        let advice = if host.is_some() { ONE_HOST.to_owned() } else { of_one.or(of_calls).unwrap_or(advice) };
        let lost = host.map_or(lost, |cost| cost.min(lost));
        let shown = rows.iter().filter(|row| !(row.rest || bound && row.frame.is_none()));
        // Short launches are summed below; for other causes, the frames with most of the cost are listed.
        let mut explained = 0.0;
        let enough = |(at, row): &(usize, &&CauseRow)| {
            let more = *at < FEWEST || !bound && explained < mean / 2.0;
            explained += if more { row.mean_ns } else { 0.0 };
            more
        };
        let listed: Vec<&CauseRow> =
            shown.enumerate().take(MOST).take_while(enough).map(|(_, row)| *row).collect();
        let line = |row: &&CauseRow| {
            format!(
                "{}: {} per step in {}, longest {}",
                place(row),
                time(row.mean_ns),
                human::several(row.count, "interval"),
                time(row.longest_ns as f64)
            )
        };
        let in_calls = calls.map_or_else(Vec::new, |calls| calls.evidence(mean));
        let by_call = !in_calls.is_empty();
        let mut evidence = if by_call { in_calls } else { listed.iter().map(line).collect() };
        // With many short frames, their common parents are the evidence.
        if !bound && !by_call && explained < mean / 2.0 {
            evidence.push(format!("other frames: {} per step", time(mean - explained)));
        }
        if replayed.is_some() && host.is_none() {
            evidence.push(format!(
                "cost: replay without this idle time ({} per rank and step on average)",
                time(mean)
            ));
        }
        evidence.extend(most.iter().map(|most| most.1.clone()));
        let worst = in_steps(context, self.cause);
        let pause = worst.as_ref().filter(|worst| self.cause == Cause::Unknown && worst.2 > ALONE);
        let recurs = pause.is_some() && remedies::recurs(context.views, &rows, context.windows.steps.len());
        let advice = if recurs { remedies::PAUSE.to_owned() } else { advice };
        let one_off = worst.as_ref().is_some_and(|worst| worst.0 == 0);
        evidence.extend(worst.map(|worst| worst.1));
        if bound {
            // Rows count parts of gaps by host frame, not gaps.
            evidence.insert(0, kernels(context));
        }
        if bound || self.cause == Cause::HostWork {
            evidence.extend(stacks_recorded(context));
        }
        vec![Finding {
            id: self.id.to_owned(),
            message: match (context.from_host(), self.cause) {
                (true, Cause::LaunchBound) => "hosts spend time outside operators".to_owned(),
                (true, Cause::HostWork) => {
                    "hosts run functions of 1 ms or longer outside operators".to_owned()
                }
                (true, Cause::Unknown) => {
                    "host-bound time without a recorded operator or frame: its cause is unknown".to_owned()
                }
                (false, Cause::Unknown) => match remedies::annotation(&rows) {
                    _ if mostly(&rows, is_compiled) => {
                        "host code of compiled regions leaves the device idle".to_owned()
                    }
                    Some(name) => {
                        format!(
                            "the host leaves the device idle in `{}`, without a recorded call",
                            short(name)
                        )
                    }
                    None => self.message.to_owned(),
                },
                _ => self.message.to_owned(),
            },
            cost: Some(lost),
            explained: Explained::Whole,
            subject: Subject {
                kernels: listed.iter().filter_map(|row| row.frame.clone()).collect(),
                ..Subject::of_ranks(Vec::from_iter(most.map(|most| most.0)), [Class::Host])
            },
            evidence,
            advice,
            // The mean of a recording that begins with it is more than later steps lose.
            certainty: one_off.then_some(Certainty::AtMost),
            one_off,
            ..Finding::default()
        }]
    }
}

impl IdleCause {
    /// Advice for this cause in this job.
    fn advice_for(&self, context: &Context<'_>, rows: &[&CauseRow]) -> &'static str {
        match self.cause {
            Cause::DataLoading if has_workers(rows) => {
                "the loader already has workers: raise `num_workers` and `prefetch_factor`, use `persistent_workers=True`, move decoding and \
                 tokenization out of the job; check the CPUs and the storage of these hosts"
            }
            Cause::LaunchBound if context.from_host() => {
                "call fewer, larger operators: compilation, larger micro-batches; keep cores of the host free"
            }
            Cause::HostWork if context.from_host() => {
                "call these functions less often, or run them in advance in another thread or process"
            }
            cause => {
                let is_single = context.windows.steps.len() < 2;
                of_late_launches(context, cause, rows)
                    .or_else(|| remedies::of_cause(context.views, context.serves, is_single, cause, rows))
                    .unwrap_or_else(|| self.usual_advice(context, rows))
            }
        }
    }

    /// Advice for this cause without a remedy by its frames.
    fn usual_advice(&self, context: &Context<'_>, rows: &[&CauseRow]) -> &'static str {
        match self.cause {
            Cause::Synchronisation if most(rows, remedies::is_search) => remedies::SEARCH,
            Cause::Unknown if remedies::of_nsight(context.views) => {
                "add NVTX ranges around data loading, logging and checkpoints, or sample Python functions \
                 (`nsys profile --python-sampling=true`)"
            }
            Cause::Unknown if !remedies::recorded_by_pytorch(context.views) => {
                "annotate data loading, logging and checkpoints on the host (`jax.profiler.TraceAnnotation`, NVTX ranges)"
            }
            cause if context.serves => served(cause).unwrap_or(self.advice),
            _ => self.advice,
        }
    }
}

/// Advice for late launches by the delayed work; `None` if the usual one applies.
fn of_late_launches(context: &Context<'_>, cause: Cause, rows: &[&CauseRow]) -> Option<&'static str> {
    if cause != Cause::LaunchBound || remedies::of_launches(context.views).is_some() {
        return None;
    }
    if mostly(rows, is_convolution) && context.causes.iter().any(remedies::is_search) {
        return Some(remedies::SEARCH);
    }
    if mostly(rows, is_compiled) {
        return Some(
            "most of these launches come from compiled regions: run them as CUDA graphs (`mode=\"reduce-overhead\"`), and remove graph \
             breaks between them",
        );
    }
    let is_single = context.windows.steps.len() < 2 && !context.serves;
    Late::new(context.views, context.windows).advice(is_single)
}

/// Tests whether most of the time of some rows is in frames with such names.
fn mostly(rows: &[&CauseRow], fits: impl Fn(&str) -> bool) -> bool {
    most(rows, |row| {
        let names = [&row.frame, &row.operator, &row.module, &row.python, &row.annotation];
        names.into_iter().flatten().any(|name| fits(name))
    })
}

/// Tests whether most of the time of some rows is in those that fit.
fn most(rows: &[&CauseRow], fits: impl Fn(&CauseRow) -> bool) -> bool {
    let all: f64 = rows.iter().map(|row| row.mean_ns).sum();
    2.0 * rows.iter().filter(|row| fits(row)).map(|row| row.mean_ns).sum::<f64>() > all
}

/// Tests whether most data loading is a wait for worker processes.
fn has_workers(rows: &[&CauseRow]) -> bool {
    most(rows, |row| {
        let names = [&row.frame, &row.operator].into_iter().flatten();
        names.into_iter().any(|name| name.contains("_MultiProcessingDataLoaderIter"))
    })
}

/// Time of a step before or after the recordings of ranks, in nanoseconds: it has no cause on them.
pub(super) fn outside(context: &Context<'_>) -> f64 {
    let rows = context.causes.iter().filter(|row| row.cause == Cause::NotRecorded);
    rows.map(|row| row.mean_ns).sum()
}

/// Minimum share of host rows that are Python functions, for a note.
const STACKS: f64 = 0.3;

/// Note on recorded stacks: each call of a Python function then takes longer than without the profiler.
fn stacks_recorded(context: &Context<'_>) -> Option<String> {
    let kinds = || context.views.iter().flat_map(|view| view.trace.host.kinds());
    let python = kinds().filter(|kind| **kind == HostKind::Python).count();
    (remedies::recorded_by_pytorch(context.views) && python as f64 > STACKS * kinds().count() as f64).then(|| {
        "recorded with `with_stack=True`, which lengthens host calls: compare with a recording without stacks".to_owned()
    })
}

/// Number and mean duration of kernels: the reference for launch times.
fn kernels(context: &Context<'_>) -> String {
    let kernels = context.kernels().filter(|(k, _)| k.role == Role::Compute);
    let (count, duration) = kernels.fold((0, 0), |(n, d), (k, _)| (n + k.count, d + k.duration));
    let mean = duration as f64 / count.max(1) as f64;
    format!("{} {} per step, {} on average", context.per_step(count), context.work(), time(mean))
}

/// The rank with most of a cause, if it has far more than its share, with its line of evidence.
fn on_ranks(context: &Context<'_>, cause: Cause) -> Option<(u32, String, f64)> {
    let of = |rank: &crate::waterfall::RankWaterfall| {
        rank.causes.iter().filter(|part| part.cause == cause).map(|part| part.time).sum::<i64>()
    };
    let ranks = &context.waterfall.ranks;
    let all: i64 = ranks.iter().map(of).sum();
    let (most, rank) = ranks
        .iter()
        .map(|rank| (of(rank), rank.rank))
        .max_by_key(|&(time, rank)| (time, std::cmp::Reverse(rank)))?;
    let share = most as f64 / all.max(1) as f64;
    let steps = ranks
        .iter()
        .find(|one| one.rank == rank)
        .map_or(1, |one| one.step_causes.len().saturating_sub(one.missing.len()).max(1));
    let line = || {
        format!(
            "rank {rank}: {} per step on this rank, {} of all ranks' time",
            time(most as f64 / steps as f64),
            percent(share)
        )
    };
    (ranks.len() > 1 && share * ranks.len() as f64 > 1.5 && share > NOTABLE).then(|| (rank, line(), share))
}

/// Advice if the host of one rank has most of a cause that all hosts share otherwise.
const ONE_HOST: &str = "most of it is on this host, so the program is not the cause: compare its CPUs, clocks and other processes with those of its peers \
                        (`railwright stragglers`)";

/// Minimum share of the time of long calls on one of several ranks for which its host is compared with those
/// of its peers.
const ONE_RANK: f64 = 0.8;

/// Cost per step of a straggler with a slow host that has most of the launch overhead, in nanoseconds.
fn one_host(context: &Context<'_>, cause: Cause, rank: u32, share: f64) -> Option<f64> {
    if cause != Cause::LaunchBound || share <= 0.5 {
        return None;
    }
    let is_slow = |named: &&Named| named.ranks.contains(&rank) && named.cause == CauseClass::SlowHost.name();
    context.stragglers?.culprits.iter().find(is_slow).map(|named| named.cost_s * 1e9)
}

/// Minimum share of the only step with a cause.
const ALONE: f64 = 0.9;

/// The step with most of a cause, if it has far more than its share: its index, its line of evidence, and its
/// share (0 to 1).
fn in_steps(context: &Context<'_>, cause: Cause) -> Option<(usize, String, f64)> {
    let count = context.windows.steps.len();
    let of = |step: usize| {
        let ranks = context.waterfall.ranks.iter().filter(|rank| !rank.missing.contains(&step));
        ranks.filter_map(|rank| rank.step_causes.get(step)).map(|times| times[cause as usize]).sum::<i64>()
    };
    let all: i64 = (0..count).map(of).sum();
    let (most, step) = (0..count)
        .map(|step| (of(step), step))
        .max_by_key(|&(time, step)| (time, std::cmp::Reverse(step)))?;
    let share = most as f64 / all.max(1) as f64;
    (count > 1 && share > 0.5 && share * count as f64 > 1.5)
        .then(|| (step, format!("step {}: {} of it", context.windows.name(step), percent(share)), share))
}
