//! Idle time by cause, and operators below the roofline: each on a job that has it.

use super::*;

/// An operator that launches a kernel after the device has become idle, and lasts `late` microseconds.
pub(super) fn launch_late(r: &mut Recorder, operator: &str, late: i64) {
    let from = r.host.max(r.device);
    r.host = from + late * MICROSECOND;
    r.kernel(GEMM, 10 * MICROSECOND);
    r.host_row(HostKind::Operator, operator, from, r.host, None);
}

#[test]
fn host_bound_regions() {
    let found =
        one_rank(|_, r| (0..4).for_each(|_| r.host_busy(HostKind::Operator, "python", 500 * MICROSECOND)));
    assert!((1_900.0..2_100.0).contains(&cost(&found, "host-bound")), "{found:#?}");
    let hours = the(&found, "host-bound").gpu_hours_per_day.expect("hours");
    assert!((3.6..4.2).contains(&hours), "{hours}");
}

/// The next kernel was launched before the gap.
#[test]
fn a_device_that_idles_with_queued_work() {
    let found = one_rank(|_, r| r.device += 2_000 * MICROSECOND);
    assert!((1_900.0..2_100.0).contains(&cost(&found, "device-gaps")), "{found:#?}");
    let finding = the(&found, "device-gaps");
    assert_eq!(finding.evidence[0], "1 ms or longer, others: 2.00 ms per step in 4 gaps, longest 2.00 ms");
    assert!(finding.advice.contains("Nsight Systems"));
    assert!(!ids(&found).contains("host-bound") && !ids(&found).contains("small-kernels"), "{found:#?}");
}

/// One gap of half the time is no property of the kernels.
#[test]
fn larger_kernels_do_not_shorten_a_single_gap() {
    // Short steps, so that a gap below 1 ms is a notable part of them.
    let of = |single: i64, others: i64| {
        let mut recorder = Recorder::new(0, 1, &[]);
        for number in 1..=2 {
            recorder.step(number, |r| {
                for at in 0..20 {
                    r.kernel(GEMM, 100 * MICROSECOND);
                    r.device += if number == 1 && at == 9 { single } else { others } * MICROSECOND;
                }
                r.kernel(GEMM, MICROSECOND);
            });
        }
        the(&context_of(vec![recorder.done()]), "device-gaps").advice.clone()
    };
    assert!(of(30, 30).starts_with("run fewer, larger kernels"), "{}", of(30, 30));
    assert!(of(900, 1).starts_with("one gap has most of this time"), "{}", of(900, 1));
}

#[test]
fn synchronising_calls() {
    let found = one_rank(|_, r| {
        let from = r.device;
        r.host = from;
        r.host_row(
            HostKind::Runtime,
            "cudaStreamSynchronize",
            from - 100 * MICROSECOND,
            from + 400 * MICROSECOND,
            None,
        );
        r.host = from + 400 * MICROSECOND;
    });
    assert!((300.0..450.0).contains(&cost(&found, "synchronization")), "{found:#?}");
    assert!(the(&found, "synchronization").evidence[0].starts_with("cudaStreamSynchronize: "));
}

/// A rank is named for a cause if it has a notable part of it. Of hundreds of ranks, one with three times the
/// usual has one percent.
#[test]
fn a_rank_with_a_small_part_of_a_cause_is_no_evidence() {
    let evidence = |ranks: u32| {
        let trace = |rank: u32| {
            let mut recorder = Recorder::new(rank, ranks, &[]);
            for number in 1..=4 {
                recorder.step(number, |r| {
                    r.kernel(GEMM, 5_000 * MICROSECOND);
                    let busy = if rank == 5 { 900 } else { 300 };
                    r.host_busy(HostKind::Operator, "python", busy * MICROSECOND);
                    r.kernel(GEMM, MICROSECOND);
                });
            }
            recorder.done()
        };
        the(&context_of((0..ranks).map(trace).collect()), "host-bound").evidence.join("; ")
    };
    let few = evidence(8);
    assert!(few.contains("rank 5: "), "{few}");
    let many = evidence(300);
    assert!(!many.contains("rank 5: ") && many.contains("in 1,199 intervals"), "{many}");
}

#[test]
fn every_cause_of_idle_time_has_its_finding() {
    for (kind, name, id) in [
        (HostKind::Runtime, "cudaMalloc", "memory-allocation"),
        (HostKind::Runtime, "cudaMemcpy", "blocking-copies"),
        (HostKind::Annotation, "TSL:XlaCompile", "compilation"),
        (HostKind::Python, "<built-in function collect>", "garbage-collection"),
        (HostKind::Annotation, "save_checkpoint", "checkpoint"),
        (HostKind::Annotation, "evaluate", "evaluation"),
        (HostKind::Overhead, "Buffer Flush", "profiler-overhead"),
        (HostKind::Operator, "aten::randperm", "host-work"),
        (HostKind::Annotation, "log metrics", "idle-unknown"),
        (HostKind::Operator, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "data-loading"),
    ] {
        let found = one_rank(|_, r| r.host_busy(kind, name, 2_000 * MICROSECOND));
        assert!((1_800.0..2_100.0).contains(&cost(&found, id)), "{id}: {found:#?}");
        assert!(!ids(&found).contains("host-bound"), "{id}: {found:#?}");
        // One cause, counted once.
        let all: f64 = found.iter().filter_map(|one| one.cost).sum();
        let joint: f64 = all - found.iter().map(|one| one.shared).sum::<f64>();
        assert!(joint <= 3_000_000.0, "{id}: {found:#?}");
    }
}

#[test]
fn work_that_starts_long_after_its_launch() {
    let found = one_rank(|_, r| {
        // The launch comes when the device falls idle, and the kernel starts 2 ms later.
        r.host = r.device + 10 * MICROSECOND;
        r.device = r.host + 2_000 * MICROSECOND;
        r.kernel(GEMM, 10 * MICROSECOND);
    });
    assert!((1_800.0..2_100.0).contains(&cost(&found, "launch-latency")), "{found:#?}");
}

#[test]
fn additions_that_stream_at_a_fifth_of_the_bandwidth() {
    let found = {
        let mut recorder = Recorder::new(0, 1, &[]);
        let device = crate::trace::Device { name: "NVIDIA A100-SXM4-80GB".to_owned(), ..Default::default() };
        recorder.trace.identity.devices.push(device);
        for number in 1..=4 {
            recorder.step(number, |r| {
                (0..20).for_each(|_| r.kernel(GEMM, 500 * MICROSECOND));
                let from = r.host;
                r.host += MICROSECOND;
                // 805 MB in 2 ms: 403 of 2,039 GB/s. At 70% of them it would take 564 us.
                r.kernel(
                    "void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>",
                    2_000 * MICROSECOND,
                );
                r.host_row(
                    HostKind::Operator,
                    "aten::add",
                    from,
                    r.host,
                    Some("[[8192, 8192], [8192, 8192], []]"),
                );
            });
        }
        context_of(vec![recorder.done()])
    };
    assert!((1_430.0..1_442.0).contains(&cost(&found, "below-roofline")), "{found:#?}");
    assert!(
        the(&found, "below-roofline").evidence[0].contains("403 GB/s, 19.7% of the roofline"),
        "{found:#?}"
    );
}

#[test]
fn operators_of_a_thread_that_launches_nothing() {
    let found = one_rank(|_, r| {
        let from = r.host.max(r.device);
        let (end, name) = (from + 2_000 * MICROSECOND, r.trace.names.intern("aten::stack"));
        let row = HostActivity { start: from, end, name, thread: 1, ..HostActivity::default() };
        r.trace.host.push(row);
        r.host = end;
    });
    assert!((1_800.0..2_100.0).contains(&cost(&found, "other-thread")), "{found:#?}");
}

#[test]
fn data_that_comes_late() {
    let name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    let found = one_rank(|_, r| r.host_busy(HostKind::Annotation, name, 1_000 * MICROSECOND));
    assert!((900.0..1_100.0).contains(&cost(&found, "data-loading")), "{found:#?}");
    // Only a loader with worker processes has this iterator.
    let one = the(&found, "data-loading");
    assert!(!one.advice.contains("above 0") && one.advice.contains("raise `num_workers`"), "{one:#?}");
}

#[test]
fn operators_that_launch_late_are_first_calls_or_preempted() {
    let launch = |r: &mut Recorder, late: i64| launch_late(r, "aten::addmm", late);
    let found = one_rank(|step, r| launch(r, if step == 1 { 4_000 } else { 20 }));
    let one = the(&found, "host-work");
    assert!(one.advice.contains("first calls select algorithms"), "{one:#?}");
    // What recurs is not warm-up.
    let found = one_rank(|_, r| launch(r, 2_000));
    let one = the(&found, "host-work");
    assert!(one.advice.contains("recur in later steps"), "{one:#?}");
    // Copies need no algorithms.
    let found = one_rank(|_, r| {
        let from = r.host.max(r.device);
        r.host = from + 2_000 * MICROSECOND;
        r.row("Memcpy HtoD (Pageable -> Device)", 10 * MICROSECOND, GpuKind::Copy, 7, None);
        r.host_row(HostKind::Operator, "aten::embedding_lookup", from, r.host, None);
    });
    assert!(!the(&found, "host-work").advice.contains("first calls"), "{found:#?}");
    // An operator without launches is work of the host.
    let found = one_rank(|_, r| r.host_busy(HostKind::Operator, "aten::randperm", 2_000 * MICROSECOND));
    assert!(the(&found, "host-work").advice.contains("move long host operators"));
}

#[test]
fn launches_of_graphs_get_no_advice_to_use_graphs() {
    let found = one_rank(|_, r| {
        for _ in 0..30 {
            r.host = r.host.max(r.device + 30 * MICROSECOND);
            r.kernel(GEMM, 10 * MICROSECOND);
        }
    });
    assert!(the(&found, "host-bound").advice.contains("CUDA graphs, torch.compile"));
    let found = one_rank(|_, r| {
        r.call = "cudaGraphLaunch";
        for _ in 0..30 {
            r.host = r.host.max(r.device + 30 * MICROSECOND);
            r.kernel(GEMM, 10 * MICROSECOND);
        }
    });
    assert!(the(&found, "host-bound").advice.contains("already run as CUDA graphs"));
}

/// The kernels of the last 20 ms of a rank are not recorded.
#[test]
fn time_after_the_recording_of_a_rank_is_no_pause() {
    let mut traces = two_traces(&["DATA_PARALLEL_GROUP"], |_, _, _| {});
    let last = *traces[1].gpu.starts().last().expect("kernels");
    crate::testing::keep(&mut traces[1], |row| row.start < last);
    let found = context_of(traces);
    assert!(!ids(&found).contains("host-pauses"), "{found:#?}");
}

fn of_plan(plan: &Synthetic) -> Vec<Finding> {
    context_of(plan.job().members.into_iter().map(|member| member.trace).collect())
}

#[test]
fn pauses_that_visit_all_ranks_are_one_cause() {
    let plan = Synthetic { data: 4, steps: 6, ..Synthetic::default() };
    let stalls = (0..8).map(|rank| (rank, rank * 5 % 6, 20_000_000)).collect();
    let found = of_plan(&Synthetic { stalls, ..plan.clone() });
    let pauses = the(&found, "host-pauses");
    assert!(pauses.message.contains("8 of 8 ranks at different times"), "{pauses:#?}");
    assert!(pauses.subject.ranks.is_empty() && pauses.advice.contains("gc.collect"), "{pauses:#?}");
    let found = of_plan(&Synthetic { stalls: vec![(3, 2, 20_000_000), (3, 4, 20_000_000)], ..plan.clone() });
    assert_eq!(the(&found, "host-pauses").subject.ranks, [3]);
    // The first recorded step alone is warm-up.
    let found = of_plan(&Synthetic { stalls: vec![(3, 0, 4_000_000)], ..plan });
    assert!(!ids(&found).contains("host-pauses"), "{found:#?}");
}

#[test]
fn many_short_gaps_are_no_pause() {
    let busy = |gap: i64, count: usize| {
        one_rank(move |step, r| {
            for at in 0..100 {
                r.kernel("ampere_sgemm_128x64_nn", 100 * MICROSECOND);
                if step == 3 && at < count {
                    r.host_busy(HostKind::Operator, "aten::add", gap);
                }
            }
        })
    };
    assert!(ids(&busy(20_000 * MICROSECOND, 1)).contains("host-pauses"));
    assert!(!ids(&busy(500 * MICROSECOND, 90)).contains("host-pauses"));
}

/// The host of one rank pauses in every step, and the seven others wait for it: the mean over ranks is an
/// eighth.
#[test]
fn idle_time_of_one_rank_costs_what_the_others_wait() {
    let stalls = (0..6).map(|step| (3, step, 4_000_000)).collect();
    let found = of_plan(&Synthetic { data: 4, steps: 6, stalls, ..Synthetic::default() });
    assert!((3_600.0..4_400.0).contains(&cost(&found, "idle-unknown")), "{found:#?}");
}

/// All other ranks allocate for as long, but at the start of the step, where that is usual.
#[test]
fn the_frames_of_a_straggler_are_those_of_the_intervals_that_delay_others() {
    let steps = 0..6;
    let plan = Synthetic {
        data: 4,
        steps: 6,
        stalls: steps.clone().map(|step| (3, step, 4_000_000)).collect(),
        late: steps
            .flat_map(|step| (0..8).filter(|rank| *rank != 3).map(move |rank| (rank, step, 4_000_000)))
            .collect(),
        ..Synthetic::default()
    };
    let mut job = plan.job();
    for member in &mut job.members {
        let trace = &mut member.trace;
        let name = trace.names.intern("cudaMalloc");
        let mut free: Option<i64> = None;
        let rows: Vec<(i64, i64)> = trace.gpu.iter().map(|row| (row.start, row.end)).collect();
        for (start, end) in rows {
            if let Some(free) = free.filter(|free| start - free > 2_000_000) {
                let (start, end) = (free + 20_000, start - 40_000);
                trace.host.push(HostActivity {
                    start,
                    end,
                    name,
                    kind: HostKind::Runtime,
                    ..HostActivity::default()
                });
            }
            free = Some(free.map_or(end, |free| free.max(end)));
        }
        trace.host.sort();
    }
    let found = context_of(job.members.into_iter().map(|member| member.trace).collect());
    let finding = the(&found, "straggler");
    assert_eq!(finding.subject.ranks, [3]);
    let line = "of its additional idle time has the cause `memory allocation` in cudaMalloc";
    assert!(finding.evidence.iter().any(|one| one.contains(line)), "{finding:#?}");
}

#[test]
fn small_kernels_after_allocations_are_not_launch_bound() {
    // A call that allocates memory before each of them is the cause.
    let found = one_rank(|_, r| {
        for _ in 0..50 {
            r.host_busy(HostKind::Runtime, "cudaMalloc", 10 * MICROSECOND);
            r.kernel("void at::native::vectorized_elementwise_kernel<4, add>(int)", 4 * MICROSECOND);
        }
    });
    assert!(!ids(&found).contains("small-kernels"), "{found:#?}");
    assert!((480.0..620.0).contains(&cost(&found, "memory-allocation")), "{found:#?}");
}
