//! Advice that follows the recorded frames, groups and streams, and costs that are counted once.

use super::*;
use crate::profile::Report;

fn report_of(traces: Vec<RankTrace>) -> Report {
    let mut job = crate::Job::new(traces);
    let joined = join(&mut job, &JoinOptions::default());
    profile(&job, &joined, &Options::default(), &OneByOne).expect("a profile").report
}

const ALL_REDUCE: &str = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

/// Parallel sizes attribute recorded groups only.
#[test]
fn communication_without_groups_gets_no_advice_about_the_layout() {
    let found = one_rank(|_, r| r.row(ALL_REDUCE, 2_000 * MICROSECOND, GpuKind::Kernel, 20, None));
    let one = the(&found, "exposed-other");
    assert!(!one.advice.contains("layout") && one.advice.contains("reductions"), "{one:#?}");
    assert!(one.evidence.iter().any(|line| line.contains("no trace records the groups")), "{one:#?}");
    assert!(one.evidence[1].starts_with("all_reduce of an unrecorded group: 2.00 ms"), "{one:#?}");
}

/// Without a backward pass, reductions cannot overlap with it. Without steps, nothing shows that broadcasts
/// recur.
#[test]
fn remedies_of_unknown_groups_follow_what_was_recorded() {
    let of = |trains: bool| {
        let found = one_rank(|_, r| {
            r.row(ALL_REDUCE, 2_000 * MICROSECOND, GpuKind::Kernel, 20, None);
            r.kernel(if trains { "flash_bwd_kernel" } else { GEMM }, 2_000 * MICROSECOND);
        });
        the(&found, "exposed-other").advice.contains("backward pass")
    };
    assert!(of(true) && !of(false));
    let mut recorder = Recorder::new(0, 2, &[]);
    for at in 0..6 {
        recorder.row("ncclDevKernel_Broadcast_RING_LL()", 900 * MICROSECOND, GpuKind::Kernel, 20, None);
        recorder.kernel(GEMM, (500 + 70 * at * at) * MICROSECOND);
    }
    let found = context_of(vec![recorder.done()]);
    assert!(the(&found, "exposed-other").advice.contains("after the start"), "{found:#?}");
}

fn one_of_two(elements: u64) -> Vec<Finding> {
    let mut traces = two_traces(&["undefined"], |_, r, at| {
        let from = r.host;
        r.collective(CollectiveKind::AllReduce, ALL_REDUCE, 0, elements, at, at + 6_000 * MICROSECOND);
        r.host_row(HostKind::Annotation, "DistributedDataParallel.forward", from, r.host, None);
    });
    traces.truncate(1);
    let name = "NVIDIA H100 80GB HBM3".to_owned();
    traces[0].identity.devices = vec![crate::trace::Device { name, ..Default::default() }];
    context_of(traces)
}

#[test]
fn a_group_of_all_ranks_is_named_and_its_framework_gives_the_advice() {
    let found = one_of_two(1 << 30);
    let one = the(&found, "exposed-other");
    assert!(one.message.contains("of the whole world"), "{one:#?}");
    assert!(one.advice.contains("DistributedDataParallel") && !one.advice.contains("--layout"), "{one:#?}");
}

/// 32 MiB in 6 ms between two ranks: the bus bandwidth of an all-reduce is its bytes over the time. It
/// explains the exposed time.
#[test]
fn an_implausible_bandwidth_precedes_the_exposed_time_that_it_causes() {
    let found = one_of_two(1 << 24);
    let ids: Vec<&str> = found.iter().map(|one| one.id.as_str()).collect();
    let at = |id: &str| ids.iter().position(|known| *known == id).expect("a finding");
    assert!(at("implausible-bandwidth") < at("exposed-other"), "{ids:?}");
    let one = the(&found, "implausible-bandwidth");
    assert!(
        one.message.starts_with(
            "all_reduce of whole world reaches a bus bandwidth of at most 2.80 GB/s of 450 GB/s"
        ),
        "{one:#?}"
    );
}

/// A call with inner operators that launches nothing.
fn call(r: &mut Recorder, around: &str, outer: &str, inner: &str, count: i64) {
    let from = r.host.max(r.device);
    let each = 50 * MICROSECOND;
    for at in 0..count {
        r.host_row(HostKind::Operator, inner, from + at * each, from + (at + 1) * each - MICROSECOND, None);
    }
    let end = from + count * each;
    r.host_row(HostKind::Operator, outer, from, end, None);
    r.host_row(HostKind::Annotation, around, from - MICROSECOND, end + MICROSECOND, None);
    r.host = end + 2 * MICROSECOND;
}

#[test]
fn the_outermost_operator_decides_on_the_advice() {
    let advice = |around: &'static str, outer: &'static str, inner: &'static str| {
        let found = one_rank(|_, r| call(r, around, outer, inner, 40));
        let one = the(&found, "host-work").clone();
        assert!(one.evidence[0].starts_with(&format!("{outer} ({inner}")), "{one:#?}");
        one.advice
    };
    let buffers = advice("DistributedDataParallel.forward", "aten::unflatten_dense_tensors", "aten::view");
    assert!(buffers.contains("broadcast_buffers=False"), "{buffers}");
    let update = advice("Optimizer.step#SGD.step", "aten::_foreach_mul_", "aten::result_type");
    assert!(update.contains("fused=True"), "{update}");
    // Views move no data, and without a known caller their cause is unknown.
    let views = advice("forward", "aten::split_with_sizes", "aten::as_strided");
    assert!(
        views.contains("the cause is elsewhere") && !views.contains("move long host operators"),
        "{views}"
    );
}

#[test]
fn checks_of_compiled_code_are_named() {
    let found = one_rank(|_, r| {
        let from = r.host.max(r.device);
        for at in 0..40 {
            let start = from + at * 50 * MICROSECOND;
            let name = "<built-in function assert_size_stride>";
            r.host_row(HostKind::Python, name, start, start + 49 * MICROSECOND, None);
        }
        r.host = from + 2_000 * MICROSECOND;
        r.host_row(HostKind::Python, "/tmp/torchinductor_root/ab/cd.py(40): call", from, r.host, None);
    });
    assert!(the(&found, "host-work").advice.contains("size_asserts"), "{found:#?}");
}

/// One operator takes 2 ms once in a while, and 30 us usually.
#[test]
fn an_operator_that_shows_a_pause_is_a_bystander() {
    let found = one_rank(|step, r| {
        for at in 0..10 {
            let from = r.host.max(r.device);
            r.host = from + if step > 1 && at == 5 { 2_000 } else { 30 } * MICROSECOND;
            r.kernel(GEMM, 10 * MICROSECOND);
            r.host_row(HostKind::Operator, "aten::mm", from, r.host, None);
        }
    });
    let one = the(&found, "host-work");
    assert!(
        one.advice.contains("the cause is elsewhere") && one.evidence[0].contains("usually 3"),
        "{one:#?}"
    );
}

#[test]
fn pauses_of_a_loader_with_workers_follow_its_finding() {
    let name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    let found = one_rank(|step, r| {
        if step == 3 {
            r.host_busy(HostKind::Operator, name, 6_000 * MICROSECOND);
        }
        r.kernel(GEMM, 10 * MICROSECOND);
    });
    let pauses = the(&found, "host-pauses");
    assert!(pauses.advice.contains("already has workers"), "{found:#?}");
    let at = |id: &str| found.iter().position(|one| one.id == id).expect("a finding");
    assert!(at("data-loading") < at("host-pauses"), "{found:#?}");
}

#[test]
fn copies_on_their_own_stream_get_no_advice_to_use_one() {
    let copies = |stream: u32| {
        let found = one_rank(|_, r| {
            let from = r.host;
            r.host += MICROSECOND;
            r.row("Memcpy HtoD (Pinned -> Device)", 400 * MICROSECOND, GpuKind::Copy, stream, None);
            r.host_row(HostKind::Operator, "aten::_to_copy", from, r.host, None);
        });
        the(&found, "memory-copies").clone()
    };
    assert!(copies(7).advice.contains("on a separate stream"));
    let own = copies(22);
    assert!(
        own.advice.contains("stream of their own") && !own.advice.contains("separate stream"),
        "{own:#?}"
    );
    assert!(own.evidence.iter().any(|line| line.contains("is in aten::_to_copy")), "{own:#?}");
}

/// Gaps before small kernels are part of the late launches; element-wise kernels are not GEMMs.
#[test]
fn costs_are_shared_where_their_times_are_the_same() {
    let report = report_of(vec![{
        let mut recorder = Recorder::new(0, 1, &[]);
        for number in 1..=4 {
            recorder.step(number, |r| {
                (0..4).for_each(|_| r.kernel("ampere_sgemm_128x64_nn", 500 * MICROSECOND));
                r.kernel("void at::native::vectorized_elementwise_kernel<4, gelu>(int)", 5_000 * MICROSECOND);
                for _ in 0..60 {
                    r.host = r.host.max(r.device + 20 * MICROSECOND);
                    r.kernel("void at::native::vectorized_elementwise_kernel<4, add>(int)", 4 * MICROSECOND);
                }
            });
        }
        recorder.done()
    }]);
    let found = &report.findings;
    let small = the(found, "small-kernels");
    assert!(small.shared > 0.95 * small.cost.expect("a cost"), "{found:#?}");
    for id in ["memory-bound", "float32-products", "host-bound"] {
        assert!(the(found, id).shared < 1.0, "{found:#?}");
    }
}

#[test]
fn pages_of_unified_memory_move_during_kernels() {
    let within = |kernel: i64, during: i64| {
        one_rank(move |_, r| {
            r.kernel(GEMM, kernel * MICROSECOND);
            r.device -= during * MICROSECOND;
            r.row("Memcpy HtoD (unified memory)", 300 * MICROSECOND, GpuKind::Copy, 99, None);
        })
    };
    let of = |during: i64| within(500, during);
    // The kernel of 500 us waits for at most its whole duration.
    assert!((490.0..510.0).contains(&cost(&of(300), "page-migration")), "{:#?}", of(300));
    assert_eq!(the(&of(300), "page-migration").certainty, Some(crate::certainty::Certainty::AtMost));
    // Few pages explain little of a kernel.
    let found = within(2_000, 280);
    assert!((270.0..290.0).contains(&cost(&found, "page-migration")), "{found:#?}");
    assert_eq!(the(&found, "page-migration").certainty, None);
    // Prefetched pages move between kernels.
    assert!(!ids(&of(0)).contains("page-migration"), "{:#?}", of(0));
}

#[test]
fn a_loss_in_the_first_step_alone_is_no_loss_per_day() {
    let allocates = |steps: std::ops::RangeInclusive<u32>| {
        let found = one_rank(|step, r| {
            if steps.contains(&step) {
                r.host_busy(HostKind::Runtime, "cudaMalloc", 3_000 * MICROSECOND);
            }
            r.kernel(GEMM, 10 * MICROSECOND);
        });
        the(&found, "memory-allocation").gpu_hours_per_day
    };
    assert_eq!(allocates(1..=1), None);
    assert!(allocates(1..=4).is_some());
    let few = |steps: u32| {
        let mut recorder = Recorder::new(0, 1, &[]);
        for number in 1..=steps {
            recorder.step(number, |r| {
                r.host_busy(HostKind::Runtime, "cudaMalloc", 3_000 * MICROSECOND);
                r.kernel(GEMM, 10 * MICROSECOND);
            });
        }
        the(&context_of(vec![recorder.done()]), "memory-allocation").gpu_hours_per_day.is_some()
    };
    assert_eq!((few(2), few(3)), (false, true));
}

#[test]
fn many_small_collectives() {
    let kernel = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)";
    let found = two_ranks(&["DATA_PARALLEL_GROUP"], |_, r, at| {
        for n in 0..40 {
            let begin = at + n * 50 * MICROSECOND;
            r.collective(CollectiveKind::AllReduce, kernel, 0, 1 << 16, begin, begin + 40 * MICROSECOND);
        }
    });
    assert!((1_100.0..1_300.0).contains(&cost(&found, "fragmented-collectives")), "{found:#?}");
}

#[test]
fn many_short_calls_without_sizes() {
    let found = one_rank(|_, r| {
        (0..200).for_each(|_| r.row(ALL_REDUCE, 10 * MICROSECOND, GpuKind::Kernel, 20, None));
    });
    assert!((1_400.0..1_600.0).contains(&cost(&found, "fragmented-collectives")), "{found:#?}");
}

#[test]
fn a_slow_link_within_a_host_has_no_network_card() {
    let plan = Synthetic {
        tensor: 4,
        data: 4,
        overlapped: true,
        slow_links: vec![(1, 20.0)],
        ..Synthetic::default()
    };
    let mut traces: Vec<RankTrace> = plan.job().members.into_iter().map(|m| m.trace).collect();
    for trace in &mut traces {
        trace.identity.host = Some("vm".to_owned());
    }
    let found = context_of(traces);
    assert!(the(&found, "slow-group").advice.starts_with("these ranks are on one host"), "{found:#?}");
}

/// A step of 30 ms: the host decodes for 20 ms, and the device computes for 10 ms.
#[test]
fn a_step_begins_with_its_host_if_the_device_is_idle() {
    let step_time = |steps: u32| {
        let mut recorder = Recorder::new(0, 1, &[]);
        for number in 1..=steps {
            recorder.host = recorder.host.max(recorder.device) + 10 * MICROSECOND;
            let start = recorder.host;
            recorder.host_busy(HostKind::Operator, "video::decode", 20_000 * MICROSECOND);
            (0..20).for_each(|_| recorder.kernel(GEMM, 500 * MICROSECOND));
            recorder.host = recorder.device;
            let name = format!("ProfilerStep#{number}");
            recorder.host_row(HostKind::Annotation, &name, start, recorder.host, None);
        }
        report_of(vec![recorder.done()])
    };
    for steps in [1, 4] {
        let report = step_time(steps);
        assert!((29.9e6..30.1e6).contains(&report.step_time), "{steps}: {}", report.step_time);
        assert!(
            (19_900.0..20_100.0).contains(&cost(&report.findings, "host-work")),
            "{:#?}",
            report.findings
        );
    }
}

#[test]
fn accelerators_without_an_entry_and_gemms_without_shapes_are_noted() {
    let trace = |shapes: Option<&str>| {
        let mut recorder = Recorder::new(0, 1, &[]);
        let device = crate::trace::Device { name: "abacus".to_owned(), ..Default::default() };
        recorder.trace.identity.devices.push(device);
        for number in 1..=4 {
            recorder.step(number, |r| {
                let from = r.host;
                r.host += MICROSECOND;
                (0..20).for_each(|_| r.kernel(GEMM, 500 * MICROSECOND));
                r.host_row(HostKind::Operator, "aten::mm", from, r.host, shapes);
            });
        }
        report_of(vec![recorder.done()])
    };
    let ids = |report: &Report| report.warnings.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
    let with = ids(&trace(Some("[[64, 64], [64, 64]]")));
    assert!(with.iter().any(|id| id == "accelerator-unknown"), "{with:?}");
    let without = ids(&trace(None));
    assert!(!without.iter().any(|id| id == "accelerator-unknown"), "{without:?}");
    assert!(without.iter().any(|id| id == "gemms-not-assessed"), "{without:?}");
}
