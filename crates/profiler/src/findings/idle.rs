//! A device that is idle because of its host, by cause.
//!
//! Responsible for: a rule for each cause of idle time that the host's frames show, with its advice. Refuses to advise on a cause that no frame shows: then it says how
//! to record one.

use super::{Context, Inference, Rule, percent, short, time};
use crate::causes::{Cause, CauseRow};
use crate::profile::Finding;
use crate::view::Role;
use crate::waterfall::Label;

pub(super) struct IdleCause {
    pub(super) cause: Cause,
    id: &'static str,
    title: &'static str,
    text: &'static str,
    /// From which share of the step on it is told.
    least: f64,
    message: &'static str,
    advice: &'static str,
}

/// One for each cause; `joint` knows their labels.
pub(super) const IDLE: [IdleCause; 14] = [
    IdleCause {
        cause: Cause::Allocation,
        id: "memory-allocation",
        title: "The device waits while memory is allocated",
        text: "Idle time of the device while its launching thread was in `cudaMalloc`, `cudaFree`, `cudaHostAlloc` or their relatives. PyTorch's caching allocator calls them when \
               its cache has no block that fits; a retry frees the whole cache first. Reported from 1 % of the step on; the cost is that time.\n\n\
               What helps: `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, shapes that repeat, a smaller peak, pinned buffers that are kept. `torch.cuda.memory_stats()` counts \
               `num_alloc_retries` and `num_device_alloc`; `railwright memory-snapshot` shows fragmentation.",
        least: 0.01,
        message: "memory allocation leaves the device idle",
        advice: "set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, keep shapes and buffers from step to step, lower the peak; check `num_alloc_retries`",
    },
    IdleCause {
        cause: Cause::DataLoading,
        id: "data-loading",
        title: "The device waits for data",
        text: "Idle time of the device while its host was in a data loader: an annotation, operator or Python function. Reported from 1 % of the step on; the cost is that time.\n\n\
               What helps: more workers, prefetching, pinned memory, data on local disks, tokenising beforehand.",
        least: 0.01,
        message: "data loading leaves the device idle",
        advice: "load ahead: `num_workers` above 0, `prefetch_factor`, `pin_memory=True`, tokenised data on a local disk",
    },
    IdleCause {
        cause: Cause::BlockingCopy,
        id: "blocking-copies",
        title: "The host waits for copies",
        text: "Idle time of the device while its host was in a copy that returns only when it has ended: `cudaMemcpy`, `hipMemcpyWithStream`, or an asynchronous copy of pageable memory. \
               Reported from 1 % of the step on; the cost is that time.\n\n\
               What helps: pinned memory with `non_blocking=True`, tensors made on the device, results read once in many steps.",
        least: 0.01,
        message: "blocking copies leave the device idle",
        advice: "copy from pinned memory with `non_blocking=True`, create tensors on the device, read results less often",
    },
    IdleCause {
        cause: Cause::Synchronisation,
        id: "synchronisation",
        title: "The host waits for the device, then the device waits for the host",
        text: "Idle time of the device while its host stood in a call that waits for it (`cudaStreamSynchronize`, `.item()`): until the call returns nothing new is \
               launched. Reported from 1 % of the step on; the cost is that time.\n\n\
               What helps: no `.item()`, `.cpu()`, `nonzero` or printing of losses in every step; gradient norms and loss scales kept on the device.",
        least: 0.01,
        message: "synchronization leaves the device idle",
        advice: "take `.item()`, `.cpu()`, `nonzero` and explicit synchronization out of the step",
    },
    IdleCause {
        cause: Cause::Compilation,
        id: "compilation",
        title: "The device waits for a compiler",
        text: "Idle time of the device while its host compiled (XLA, torch.compile, Triton, NVRTC) or loaded modules of kernels: a launch of 1 ms or longer beside an idle \
               device is counted as one that loads its module first. Reported from 1 % of the step on; the cost is that time.\n\n\
               What helps: warm-up steps before the recording, a compile cache on disk, shapes that repeat (`mark_dynamic`, padding), `TORCH_LOGS=recompiles` to find the cause of recompiles.",
        least: 0.01,
        message: "compilation or loading of kernel modules leaves the device idle",
        advice: "record after warm-up; if it recurs, keep shapes constant and look for recompiles with `TORCH_LOGS=recompiles`",
    },
    IdleCause {
        cause: Cause::GarbageCollection,
        id: "garbage-collection",
        title: "The device waits for Python's garbage collection",
        text: "Idle time of the device while its host collected garbage, as recorded by the profiler. Reported from 1 % of the step on; the cost is that time.\n\n\
               What helps: `gc.disable()` and `gc.collect()` at the same step on all ranks (`--manual-gc`), `gc.freeze()` after initialisation.",
        least: 0.01,
        message: "garbage collection leaves the device idle",
        advice: "call `gc.disable()` and collect at the same step on all ranks (`--manual-gc`), `gc.freeze()` after initialisation",
    },
    IdleCause {
        cause: Cause::Checkpoint,
        id: "checkpoint",
        title: "The device waits for a checkpoint",
        text: "Idle time of the device while its host wrote a checkpoint. Reported from 1 % of the step on; the cost is that time, on average of the recorded steps.\n\n\
               What helps: asynchronous checkpoints (`torch.distributed.checkpoint.async_save`, `--async-save`), fewer of them, a faster file system.",
        least: 0.01,
        message: "a checkpoint leaves the device idle",
        advice: "write checkpoints asynchronously (`async_save`), or less often",
    },
    IdleCause {
        cause: Cause::Evaluation,
        id: "evaluation",
        title: "The device waits within an evaluation",
        text: "Idle time of the device within an evaluation. Reported from 1 % of the step on; the cost is that time, on average of the recorded steps.\n\n\
               What helps: evaluating less often or on other devices, larger batches in evaluation.",
        least: 0.01,
        message: "evaluation leaves the device idle",
        advice: "evaluate less often, with larger batches, or on other devices",
    },
    IdleCause {
        cause: Cause::Profiler,
        id: "profiler-overhead",
        title: "The device waits for the profiler",
        text: "Idle time of the device while the profiler flushed its buffers. Reported from 1 % of the step on; a run without the profiler does not have it.\n\n\
               What helps: fewer recorded activities (`with_stack=False`, `record_shapes=False`), a warm-up phase in the profiler's schedule.",
        least: 0.01,
        message: "the profiler leaves the device idle",
        advice: "record less (`with_stack=False`), and leave this time out of comparisons with runs that are not profiled",
    },
    IdleCause {
        cause: Cause::OtherThread,
        id: "other-thread",
        title: "Another thread runs while the launching thread does not",
        text: "Idle time of the device while the launching thread had no recorded frame and a thread that launches nothing ran an operator. Reported from 1 % of the step on; the cost is that \
               time. The interpreter's lock or missing cores are the usual reasons.\n\n\
               What helps: work of other threads in processes of their own, more cores for the job, fewer intra-operator threads.",
        least: 0.01,
        message: "operators of another thread run while the device is idle",
        advice: "move that work into a process of its own; give the job more cores",
    },
    IdleCause {
        cause: Cause::HostWork,
        id: "host-work",
        title: "A long call of the host keeps the device idle",
        text: "Idle time of the device while its host was for 1 ms or longer in one operator, function or call of the runtime without launching. Reported from 1 % of the step on; the cost is \
               that time.\n\n\
               What helps: moving the operator to the device, doing it ahead in another process, calling it less often.",
        least: 0.01,
        message: "long calls on the host leave the device idle",
        advice: "move these operators to the device, do them ahead in another process, or call them less often",
    },
    IdleCause {
        cause: Cause::LaunchBound,
        id: "host-bound",
        title: "The device waits for the host to launch",
        text: "Idle time of the device whose next kernel had not been launched when the one before ended, while its host went through operators and launches, each of them for less than \
               1 ms. Reported from 5 % of the step on; the cost is that time.\n\n\
               What helps: CUDA graphs, torch.compile, fused optimizers, fewer and larger kernels, larger micro-batches, nothing else on the host's cores.",
        least: 0.05,
        message: "launches leave the device idle",
        advice: "reduce launches: CUDA graphs, torch.compile, fused kernels, larger micro-batches; keep host cores free",
    },
    IdleCause {
        cause: Cause::LaunchLatency,
        id: "launch-latency",
        title: "Work starts long after it was launched, on an idle device",
        text: "Idle time of the device after the next work had been launched within the same gap, where that work started 1 ms or more after its launch returned. A launch takes some 10 us to \
               arrive. Reported from 1 % of the step on; the cost is that time.\n\n\
               Reasons: another process on the device, a driver that is throttled by the profiler, work of streams that was not recorded. `nvidia-smi` shows other processes.",
        least: 0.01,
        message: "launched work starts late on an idle device",
        advice: "check for other processes on the device, and compare the step time without the profiler",
    },
    IdleCause {
        cause: Cause::Unknown,
        id: "idle-unknown",
        title: "The device waits for its host for an unknown reason",
        text: "Idle time of the device while its host recorded nothing for 1 ms or longer, or nothing but an annotation. Reported from 1 % of the step on; the cost is that time.\n\n\
               What helps: recording with `with_stack=True`, which adds the Python functions; annotations (`record_function`) around data loading, logging and checkpoints. Garbage \
               collection, locks and other processes on the host's cores leave no frame either.",
        least: 0.01,
        message: "the device is idle and the recorded frames show no cause",
        advice: "record with `with_stack=True`, or annotate data loading, logging and checkpoints with `record_function`",
    },
];

/// The words for a cause where hosts pause: what it is called and what helps. None for causes that say nothing.
pub(super) fn advice(cause: Cause) -> Option<&'static str> {
    let rule = IDLE.iter().find(|rule| rule.cause == cause)?;
    (!matches!(cause, Cause::Unknown | Cause::LaunchBound)).then_some(rule.advice)
}

/// What a frame is called with all that holds it.
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
            Cause::Allocation => Inference::Advice(
                "allocate workspaces and caches at start; keep shapes within the captured sizes, and lower the share of memory that the KV cache takes",
            ),
            Cause::Synchronisation => Inference::Advice(
                "schedule and sample asynchronously (overlap scheduling), so that the next step is launched before tokens are read back",
            ),
            Cause::LaunchBound => Inference::Advice(
                "capture these steps in CUDA graphs, overlap scheduling with the device; keep host cores free",
            ),
            Cause::HostWork | Cause::Unknown => Inference::Advice(
                "find the scheduler's, sampler's or tokenizer's part of this time with `with_stack=True`; overlap it with the device",
            ),
            Cause::GarbageCollection => {
                Inference::Advice("freeze objects after start (`gc.freeze()`), and collect between requests")
            }
            Cause::DataLoading | Cause::Checkpoint | Cause::Evaluation => Inference::Silent,
            _ => Inference::Same,
        }
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let rows: Vec<&CauseRow> = context.causes.iter().filter(|row| row.cause == self.cause).collect();
        // Idle time whose launch was not recorded has a finding of its own.
        let elsewhere = if self.cause == Cause::Unknown { context.mean(Label::Unexplained) } else { 0.0 };
        let lost: f64 = rows.iter().map(|row| row.mean_ns).sum::<f64>() - elsewhere;
        if context.share(lost) < self.least {
            return Vec::new();
        }
        let bound = self.cause == Cause::LaunchBound;
        let shown = rows.iter().filter(|row| !(row.rest || bound && row.frame.is_none())).take(3);
        let mut evidence: Vec<String> = shown
            .map(|row| {
                format!(
                    "{}: {} of a step in {} gaps, longest {}",
                    place(row),
                    time(row.mean_ns),
                    row.count,
                    time(row.longest_ns as f64)
                )
            })
            .collect();
        evidence.extend(on_ranks(context, self.cause));
        evidence.extend(in_steps(context, self.cause));
        if bound {
            evidence.insert(0, kernels(context));
        }
        vec![Finding {
            id: self.id.to_owned(),
            message: if bound && context.from_host() {
                format!("hosts spend {} of the step outside of operators", percent(context.share(lost)))
            } else {
                format!("{} {} of the step", self.message, percent(context.share(lost)))
            },
            cost: Some(lost),
            evidence,
            advice: if bound && context.from_host() {
                "call fewer, larger operators: compilation, larger micro batches; keep the host's cores free"
            } else {
                self.advice
            }
            .to_owned(),
            ..Finding::default()
        }]
    }
}

/// How many kernels there are and how long they take: what launches are measured against.
fn kernels(context: &Context<'_>) -> String {
    let kernels = context.kernels().filter(|(k, _)| k.role == Role::Compute);
    let (count, duration) = kernels.fold((0, 0), |(n, d), (k, _)| (n + k.count, d + k.duration));
    let mean = duration as f64 / count.max(1) as f64;
    format!("{:.0} {} a step of {} on average", count as f64 / context.samples(), context.work(), time(mean))
}

/// The rank with most of a cause, where it has far more than its share.
fn on_ranks(context: &Context<'_>, cause: Cause) -> Option<String> {
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
    (ranks.len() > 1 && share * ranks.len() as f64 > 1.5)
        .then(|| format!("rank {rank} has {} of it", percent(share)))
}

/// The step with most of a cause, where it has far more than its share.
fn in_steps(context: &Context<'_>, cause: Cause) -> Option<String> {
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
        .then(|| format!("step {} has {} of it", context.windows.name(step), percent(share)))
}
