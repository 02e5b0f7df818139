//! Advice and certainty by contrasts: ranks with their peers, steps with each other, copies with kernels.

use super::*;
use crate::certainty::Certainty;

#[test]
fn tensors_without_a_cache_get_their_memory_from_the_driver() {
    let of = |frees: bool| {
        let found = one_rank(|_, r| {
            for _ in 0..30 {
                r.host_busy(HostKind::Runtime, "hipMalloc", 50 * MICROSECOND);
                r.kernel(GEMM, 10 * MICROSECOND);
                if frees {
                    r.host_busy(HostKind::Runtime, "hipFree", 50 * MICROSECOND);
                }
            }
        });
        the(&found, "memory-allocation").advice.clone()
    };
    assert!(of(true).contains("PYTORCH_NO_HIP_MEMORY_CACHING"), "{}", of(true));
    // A cache that only grows returns nothing.
    assert!(!of(false).contains("PYTORCH_NO_HIP_MEMORY_CACHING"), "{}", of(false));
}

#[test]
fn copies_around_kernels_stay_on_the_device() {
    let of = |source: Source, copies: usize| {
        let mut recorder = Recorder::new(0, 1, &[]);
        recorder.trace.identity.source = source;
        for number in 1..=4 {
            recorder.step(number, |r| {
                for at in 0..20 {
                    if at < copies {
                        r.row("Memcpy HtoD (Pageable -> Device)", 300 * MICROSECOND, GpuKind::Copy, 7, None);
                    }
                    r.kernel("solve_rows", 500 * MICROSECOND);
                }
            });
        }
        the(&context_of(vec![recorder.done()]), "memory-copies").advice.clone()
    };
    assert!(of(Source::NsightSystems, 20).contains("omp target data"));
    // One input in many kernels is copied, and PyTorch has no such regions.
    assert!(of(Source::NsightSystems, 2).contains("cudaHostAlloc"));
    assert!(of(Source::Kineto, 20).contains("pin_memory"));
}

#[test]
fn idle_time_of_the_first_step_is_a_bound() {
    let of = |steps: std::ops::RangeInclusive<u32>| {
        let found = one_rank(|number, r| {
            if steps.contains(&number) {
                r.host_busy(HostKind::Runtime, "cudaStreamSynchronize", 3_000 * MICROSECOND);
                r.kernel(GEMM, MICROSECOND);
            }
        });
        the(&found, "synchronization").certainty
    };
    assert_eq!(of(1..=1), Some(Certainty::AtMost));
    assert_eq!(of(1..=4), None);
}

/// One rank that works in the middle of the steps of another one.
#[test]
fn time_before_and_after_a_rank_s_work_is_no_gap() {
    let of = |gap: i64| {
        let mut recorder = Recorder::new(0, 1, &[]);
        recorder.step(1, |r| {
            r.kernel(GEMM, 2_000 * MICROSECOND);
            r.device += gap * MICROSECOND;
            r.kernel(GEMM, 2_000 * MICROSECOND);
            // Work of which no launch was recorded ends the gap.
            let last = r.trace.gpu.len() - 1;
            let mut rows: Vec<GpuActivity> = r.trace.gpu.iter().collect();
            rows[last].correlation = None;
            r.trace.gpu = crate::trace::GpuActivities::default();
            for row in rows {
                r.trace.gpu.push(row);
            }
            r.host = r.device + (5_000 - gap) * MICROSECOND;
        });
        context_of(vec![recorder.done()])
    };
    assert!(ids(&of(4_000)).contains("unexplained"), "{:#?}", of(4_000));
    assert!(!ids(&of(100)).contains("unexplained"), "{:#?}", of(100));
}

/// Findings of a job in which the hosts of these ranks spend 4 ms of each step in a call, and those of the
/// others 100 us in one of this name.
fn late_hosts(ranks: &[u32], peers: &str) -> Vec<Finding> {
    let stalls =
        ranks.iter().flat_map(|rank| (0..6).map(move |step| (*rank, step, 4_000_000))).collect::<Vec<_>>();
    let plan = Synthetic { data: 4, tensor: 1, steps: 6, stalls, ..Synthetic::default() };
    let mut job = plan.job();
    for (rank, member) in job.members.iter_mut().enumerate() {
        let trace = &mut member.trace;
        let thread = trace.host.iter().find(|row| row.correlation.is_some()).expect("a launch").thread;
        let own = trace.names.intern("aten::copy_");
        let other = trace.names.intern(peers);
        let rows: Vec<(i64, i64)> = trace.gpu.iter().map(|row| (row.start, row.end)).collect();
        let is_late = ranks.contains(&(rank as u32));
        let mut free: Option<i64> = None;
        for (start, end) in rows {
            let gap = free.map(|free| (free, start)).filter(|(free, start)| start - free > 2_000_000);
            let row = match gap {
                Some((free, start)) if is_late => Some((free + 20_000, start - 40_000, own)),
                _ if !is_late && free.is_none_or(|free| start > free) => Some((end, end + 1_000, other)),
                _ => None,
            };
            if let Some((start, end, name)) = row {
                trace.host.push(HostActivity {
                    start,
                    end,
                    name,
                    kind: HostKind::Operator,
                    thread,
                    ..HostActivity::default()
                });
            }
            free = Some(free.map_or(end, |free| free.max(end)));
        }
        trace.host.sort();
    }
    context_of(job.members.into_iter().map(|member| member.trace).collect())
}

#[test]
fn calls_of_all_ranks_are_long_on_one_host() {
    let found = late_hosts(&[3], "aten::copy_");
    let straggler = the(&found, "straggler");
    assert_eq!(straggler.subject.ranks, [3]);
    assert!(straggler.advice.contains("the peers run `aten::copy_` as well"), "{straggler:#?}");
    assert!(the(&found, "host-work").advice.contains("the peers run"), "{found:#?}");
    let found = late_hosts(&[3], "aten::mm");
    assert!(the(&found, "straggler").advice.contains("less often or never"), "{found:#?}");
}

#[test]
fn reductions_of_both_passes_are_those_of_activations() {
    const REDUCE: &str = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
    const BACKWARD: &str = "autograd::engine::evaluate_function: MmBackward0";
    let of = |passes: [&'static str; 2]| {
        let found = one_rank(move |_, r| {
            for operator in passes {
                let from = r.host;
                r.host += MICROSECOND;
                r.row(REDUCE, 2_000 * MICROSECOND, GpuKind::Kernel, 20, None);
                r.host += MICROSECOND;
                r.host_row(HostKind::Operator, operator, from, r.host, None);
                r.kernel(GEMM, MICROSECOND);
            }
        });
        the(&found, "exposed-other").advice.clone()
    };
    assert!(of(["aten::linear", BACKWARD]).contains("activations"), "{}", of(["aten::linear", BACKWARD]));
    let gradients = of([BACKWARD, BACKWARD]);
    assert!(gradients.contains("start these reductions earlier"), "{gradients}");
    // A forward pass alone.
    assert!(of(["aten::linear", "aten::linear"]).contains("activations"));
}

#[test]
fn allocations_before_copies_are_no_late_launches() {
    let of = |allocates: bool| {
        let mut recorder = Recorder::new(0, 1, &[]);
        for number in 1..=4 {
            recorder.step(number, |r| {
                for _ in 0..20 {
                    if allocates {
                        r.host_busy(HostKind::Runtime, "cudaMalloc", 200 * MICROSECOND);
                    } else {
                        r.host = r.host.max(r.device + 200 * MICROSECOND);
                    }
                    r.row("Memcpy HtoD (Pinned -> Device)", 10 * MICROSECOND, GpuKind::Copy, 7, None);
                    r.host = r.host.max(r.device + 100 * MICROSECOND);
                    r.kernel(GEMM, 100 * MICROSECOND);
                }
            });
        }
        the(&context_of(vec![recorder.done()]), "host-bound").advice.clone()
    };
    assert!(of(false).contains("before copies"), "{}", of(false));
    assert!(!of(true).contains("before copies"), "{}", of(true));
}
