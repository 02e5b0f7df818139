//! Remedies for idle time, by the frames of the job.
//!
//! Responsible for: advice for a cause of idle time by its recorded frames: kind of allocation, annotation
//! without further frames, compiled regions, and programs other than PyTorch on CUDA or ROCm. Does not decide
//! the cause.

use crate::NameId;
use crate::causes::{Cause, CauseRow, Stacks, is_convolution};
use crate::trace::{HostKind, RankTrace, Source};
use crate::view::{Role, View};
use std::collections::BTreeMap;

/// Minimum share of memory that operators free, in the time of allocation, for retries: growth alone frees
/// nothing.
const RETRIED: f64 = 0.1;

/// Time of the selected rows, in nanoseconds per rank and step.
fn sum(rows: &[&CauseRow], fits: impl Fn(&CauseRow) -> bool) -> f64 {
    rows.iter().filter(|row| fits(row)).map(|row| row.mean_ns).sum()
}

/// Tests whether the innermost frame of a row contains one of these words, which are in lower case.
fn calls(row: &CauseRow, words: &[&str]) -> bool {
    row.frame.as_ref().is_some_and(|name| {
        let name = name.to_ascii_lowercase();
        words.iter().any(|word| name.contains(word))
    })
}

/// Maximum number of times that libraries free memory in their initialization, per rank: handles and
/// workspaces of cuBLAS and cuDNN.
const INITIAL: usize = 4;

/// Calls of a trace that free device memory, as rows of its host.
fn frees(trace: &RankTrace) -> Vec<usize> {
    let host = &trace.host;
    let is_free = |at: usize| {
        let name = host.names().get(at).map_or("", |name| trace.names.get(*name));
        host.kinds().get(at) == Some(&HostKind::Runtime) && matches!(name, "cudaFree" | "hipFree")
    };
    (0..host.len()).filter(|at| is_free(*at)).collect()
}

/// Tests whether every rank frees memory rarely: libraries do so when they create handles and workspaces.
fn frees_rarely(views: &[&View<'_>]) -> bool {
    views.iter().all(|view| frees(view.trace).len() <= INITIAL)
}

/// Tests whether operators free memory only in the first call of their kind, and rarely: libraries then
/// create handles and workspaces. A retry of the allocator recurs, or frees the blocks of the whole cache. In
/// a recording of one step (`is_single`) nothing shows that it recurs.
fn frees_at_first_call(views: &[&View<'_>], is_single: bool) -> bool {
    let mut any = false;
    for view in views {
        let (trace, host) = (view.trace, &view.trace.host);
        let frees = frees(trace);
        if frees.is_empty() {
            continue;
        }
        let stacks = Stacks::new(trace);
        let operators: Vec<(u32, &str)> = frees.iter().filter_map(|&at| stacks.operator(at as u32)).collect();
        let is_first = |&(at, _): &(u32, &str)| {
            let own = host.names().get(at as usize);
            let mut alike = host.names().iter().zip(host.kinds());
            let first = alike.position(|(name, kind)| Some(name) == own && *kind == HostKind::Operator);
            first == Some(at as usize)
        };
        if operators.len() > INITIAL || !is_single && !operators.iter().all(is_first) {
            return false;
        }
        any |= !operators.is_empty();
    }
    any
}

/// Minimum ratio of allocations to launches of kernels without a cache: PyTorch's caching allocator asks the
/// driver only while it grows or after a retry.
const UNCACHED: f64 = 0.25;

/// Minimum number of allocations of a rank without a cache: a cache that grows and libraries that create
/// their workspaces make some tens of them in a first step.
const MANY: f64 = 100.0;

/// Minimum ratio of frees to allocations without a cache: each tensor returns its memory.
const RETURNED: f64 = 0.5;

/// Tests whether tensors get their memory from the driver: allocations accompany the launches of all ranks,
/// and are freed again.
fn is_uncached(views: &[&View<'_>]) -> bool {
    let count = |view: &View<'_>, names: [&str; 2]| {
        let rows = view.trace.host.kinds().iter().zip(view.trace.host.names());
        let calls = rows.filter(|(kind, _)| **kind == HostKind::Runtime);
        calls.filter(|(_, name)| names.contains(&view.trace.names.get(**name))).count() as f64
    };
    !views.is_empty()
        && views.iter().all(|view| {
            let kernels = view.role.iter().filter(|role| **role == Role::Compute).count() as f64;
            let made = count(view, ["cudaMalloc", "hipMalloc"]);
            made >= MANY
                && made >= UNCACHED * kernels
                && count(view, ["cudaFree", "hipFree"]) >= RETURNED * made
        })
}

/// Advice for memory allocation: without a cache, of pinned memory, retries that free the cache,
/// libraries in their first call, a cache that the program empties, or one that grows.
fn of_allocation(views: &[&View<'_>], rows: &[&CauseRow], is_single: bool) -> &'static str {
    let all = sum(rows, |_| true);
    let is_pinned = |row: &CauseRow| {
        calls(
            row,
            &["hostalloc", "hostregister", "hostunregister", "freehost", "hostmalloc", "hostfree", "memhost"],
        )
    };
    let is_free = |row: &CauseRow| {
        !is_pinned(row) && calls(row, &["cudafree", "hipfree", "memfree", "memunmap", "memrelease"])
    };
    if is_uncached(views) {
        "tensors get their memory from the driver instead of PyTorch's cache: unset `PYTORCH_NO_CUDA_MEMORY_CACHING` \
         (`PYTORCH_NO_HIP_MEMORY_CACHING`), or use an allocator with a pool"
    } else if 2.0 * sum(rows, is_pinned) > all {
        "allocate pinned memory once and reuse it: keep pinned buffers between steps (`pin_memory=True` of the loader reuses its own)"
    } else if sum(rows, |row| is_free(row) && row.operator.is_some()) >= RETRIED * all
        && frees_at_first_call(views, is_single)
        || 2.0 * sum(rows, is_free) > all && is_single && frees_rarely(views)
    {
        "record after warm-up: libraries create their handles and workspaces in the first call of an operator, and the cache grows"
    } else if sum(rows, |row| is_free(row) && row.operator.is_some()) >= RETRIED * all {
        "set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, keep shapes and buffers between steps, reduce the peak; check \
         `num_alloc_retries`"
    } else if 2.0 * sum(rows, is_free) > all {
        "the cache is emptied here: remove `torch.cuda.empty_cache()` from the step, because later allocations return to the driver"
    } else {
        "the allocator's cache grows: record after more warm-up steps; if it recurs, keep shapes constant, or set \
         `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`"
    }
}

/// The annotation that contains most of the idle time without a cause; `None` if most of it has no frame at
/// all.
pub(super) fn annotation<'a>(rows: &[&'a CauseRow]) -> Option<&'a str> {
    let all = sum(rows, |_| true);
    let most = rows.iter().filter(|row| !row.rest).max_by(|a, b| a.mean_ns.total_cmp(&b.mean_ns))?;
    let name = most.frame.as_deref()?;
    (2.0 * sum(rows, |row| row.frame.as_deref() == Some(name)) > all).then_some(name)
}

/// Advice for idle time of one step alone, in an annotation that other steps have as well.
pub(super) const PAUSE: &str = "only one step is idle here: check for preempted threads (`perf sched`), garbage collection and locks, and record more \
                                steps";

/// Tests whether the annotation with most of the idle time occurs in every step of every rank.
pub(super) fn recurs(views: &[&View<'_>], rows: &[&CauseRow], steps: usize) -> bool {
    let Some(name) = annotation(rows) else { return false };
    views.iter().all(|view| {
        let names = view.trace.host.names().iter();
        names.filter(|own| view.trace.names.get(**own) == name).count() >= steps
    })
}

/// Advice for idle time without a cause inside an annotation.
fn of_annotation(name: &str, of_nsight: bool) -> String {
    let lower = name.to_ascii_lowercase();
    if ["wandb", "tensorboard", "mlflow", "add_scalar", "logging", "log_metrics"]
        .iter()
        .any(|word| lower.contains(word))
    {
        return format!("call `{name}` less often, or in another thread or process");
    }
    let recorded = if of_nsight {
        "`nsys profile --python-sampling=true` samples its Python functions"
    } else {
        "`with_stack=True` records its Python functions"
    };
    format!("inspect the code in `{name}`: {recorded}")
}

/// Advice for compiled regions whose host code launches nothing for a long time.
pub(super) const COMPILED: &str = "record with `with_stack=True` to see the functions of these compiled regions: Triton launches that build \
                                   tensor descriptors or autotune are common; CUDA graphs (`mode=\"reduce-overhead\"`) replay none of it";

/// Tests whether a recording is of JAX or another program on XLA.
pub(super) fn of_xla(views: &[&View<'_>]) -> bool {
    views.iter().any(|view| view.is_of_xla())
}

/// Tests whether the profiler that recorded this rank also records other programs than those of PyTorch.
fn records_any_program(view: &View<'_>) -> bool {
    matches!(view.trace.identity.source, Source::NsightSystems | Source::Rocpd | Source::XPlane)
}

/// Tests whether PyTorch's profiler recorded the job: only it has stacks and `record_function`.
pub(super) fn recorded_by_pytorch(views: &[&View<'_>]) -> bool {
    !views.iter().any(|view| records_any_program(view))
}

/// Tests whether the program is PyTorch: its profiler made the recording, or names are those of its operators
/// and kernels.
pub(super) fn is_pytorch(views: &[&View<'_>]) -> bool {
    let of = |name: &str| {
        ["aten::", "at::native", "c10::", "torch", "triton_"].iter().any(|part| name.contains(part))
    };
    views.iter().any(|view| !records_any_program(view) || view.trace.names.iter().any(of))
}

/// Advice for a cause of idle time in a program that calls CUDA or ROCm itself; `None` if the usual one has
/// no options of PyTorch.
fn of_plain(views: &[&View<'_>], cause: Cause, rows: &[&CauseRow]) -> Option<&'static str> {
    let is_pooled = |row: &CauseRow| calls(row, &["mallocasync", "freeasync", "mallocfrompool"]);
    Some(match cause {
        Cause::Allocation if 2.0 * sum(rows, is_pooled) > sum(rows, |_| true) => {
            "allocate device memory once, before the loop, and reuse it; the pool returns its memory at each synchronization unless \
             `cudaMemPoolAttrReleaseThreshold` is raised"
        }
        Cause::Allocation => {
            "allocate device memory once, before the loop, and reuse it, or allocate from a pool (`cudaMallocAsync`)"
        }
        Cause::BlockingCopy => {
            "copy asynchronously from pinned memory (`cudaHostAlloc`, `cudaMemcpyAsync`), and read results less often"
        }
        Cause::Synchronisation => {
            "remove synchronizing calls (`cudaDeviceSynchronize`, `cudaStreamSynchronize`) between kernels"
        }
        Cause::Compilation => {
            "record after warm-up: kernels are loaded at their first launch (`CUDA_MODULE_LOADING=EAGER` loads them at start)"
        }
        Cause::LaunchBound if copies_with_launches(views) => RESIDENT,
        Cause::LaunchBound => {
            "launch fewer, larger kernels: fuse them, or capture them in CUDA graphs; keep host cores free"
        }
        _ => return None,
    })
}

/// Advice for programs that copy the same buffers around their kernels.
pub(super) const RESIDENT: &str = "the same copies between host and device accompany the kernels: keep the data on the device between them (`acc data`, \
                                   `omp target data`, buffers that are copied once)";

/// Minimum ratio of repeated copies to kernels, and minimum number of them.
const REPEATED: f64 = 0.5;
const OFTEN: usize = 4;

/// Tests whether copies between host and device accompany the kernels of every rank, outside of PyTorch and
/// XLA: copies of one size and direction are about as many as kernels.
pub(super) fn copies_with_launches(views: &[&View<'_>]) -> bool {
    !views.is_empty()
        && !of_xla(views)
        && !is_pytorch(views)
        && views.iter().all(|view| {
            let kernels = view.role.iter().filter(|role| **role == Role::Compute).count();
            let mut alike: BTreeMap<(NameId, u64), usize> = BTreeMap::new();
            for (row, _) in view.gpu.iter().zip(&view.role).filter(|(_, role)| **role == Role::Copy) {
                let name = view.trace.names.get(row.name);
                if ["HtoD", "DtoH"].iter().any(|way| name.contains(way)) {
                    *alike.entry((row.name, row.bytes)).or_default() += 1;
                }
            }
            let most = alike.into_values().max().unwrap_or(0);
            most >= OFTEN && most as f64 >= REPEATED * kernels as f64
        })
}

/// Tests whether Nsight Systems made the recording.
pub(super) fn of_nsight(views: &[&View<'_>]) -> bool {
    views.iter().any(|view| view.trace.identity.source == Source::NsightSystems)
}

/// Advice for trial runs of algorithms.
pub(super) const SEARCH: &str = "the library times its algorithms here (`torch.backends.cudnn.benchmark`): record after warm-up; if it recurs, keep input \
                                 shapes constant, or set it to `False`";

/// Tests whether a row waits for an event within a convolution: a search of its algorithm.
pub(super) fn is_search(row: &CauseRow) -> bool {
    let within = row.operator.as_deref().is_some_and(is_convolution);
    within && calls(row, &["eventsynchronize"])
}

/// Tests whether the program calls the runtime of CUDA or ROCm, by the names of its calls; true without
/// recorded calls.
pub(super) fn has_cuda(views: &[&View<'_>]) -> bool {
    let of = |name: &str| ["cuda", "hip", "cuLaunch"].iter().any(|start| name.starts_with(start));
    views.iter().all(|view| view.trace.host.is_empty())
        || views.iter().any(|view| view.trace.names.iter().any(of))
}

/// Advice for late launches of programs that have no CUDA graphs or `torch.compile`; `None` for others.
pub(super) fn of_launches(views: &[&View<'_>]) -> Option<&'static str> {
    if of_xla(views) {
        Some(
            "run more work per dispatch: larger functions under `jax.jit`, `jax.lax.scan` for loops, fewer callbacks; keep host cores free",
        )
    } else if !has_cuda(views) {
        Some(
            "launch fewer, larger kernels: compiled graphs, fused operators, larger micro-batches; keep host cores free",
        )
    } else {
        None
    }
}

/// Tests whether the job only runs forward: no backward pass and no optimizer is recorded.
pub(super) fn is_forward(views: &[&View<'_>]) -> bool {
    let trains = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.contains("backward")
            || name.contains("optimizer")
            || name.contains("bwd")
            || name.contains("adam")
    };
    !views.iter().any(|view| view.trace.names.iter().any(trains))
}

/// Advice for idle time without a cause.
pub(super) fn of_unknown(views: &[&View<'_>], rows: &[&CauseRow], is_compiled: bool) -> Option<String> {
    if of_xla(views) {
        return None;
    }
    if is_compiled {
        return Some(COMPILED.to_owned());
    }
    if let Some(name) = annotation(rows) {
        return Some(of_annotation(name, of_nsight(views)));
    }
    let how = if of_nsight(views) {
        "add NVTX ranges, or sample the host's functions (`nsys profile --sample=process-tree`)"
    } else {
        "record the host's operators as well (`ProfilerActivity.CPU`)"
    };
    has_only_calls(views).then(|| format!("{how}: the trace contains only runtime API calls"))
}

/// Tests whether the hosts recorded calls of the device's runtime alone: no operator, function or annotation.
fn has_only_calls(views: &[&View<'_>]) -> bool {
    let kinds = || views.iter().flat_map(|view| view.trace.host.kinds());
    let names =
        |kind: &HostKind| matches!(kind, HostKind::Operator | HostKind::Python | HostKind::Annotation);
    kinds().any(|kind| *kind == HostKind::Runtime) && !kinds().any(names)
}

/// Advice for a cause that depends on its frames or on the program; `None` if it does not. `serves` is true
/// for an inference server, `is_single` for a recording of one step.
pub(super) fn of_cause(
    views: &[&View<'_>],
    serves: bool,
    is_single: bool,
    cause: Cause,
    rows: &[&CauseRow],
) -> Option<&'static str> {
    match cause {
        Cause::LaunchBound if of_launches(views).is_some() => of_launches(views),
        _ if !of_xla(views) && !is_pytorch(views) => of_plain(views, cause, rows),
        Cause::Allocation if !serves => Some(of_allocation(views, rows, is_single)),
        _ => None,
    }
}
