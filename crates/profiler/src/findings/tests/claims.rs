//! Claims that the events do not carry are not made: each on a job with the events that contradict them.

use super::*;

const ADD: &str = "void at::native::vectorized_elementwise_kernel<4, add>(int)";

/// A call of the host on an idle device, for `length` microseconds, that launches one device row at its end.
fn call(r: &mut Recorder, name: &str, length: i64, row: &str, kind: GpuKind) {
    let from = r.host.max(r.device);
    r.host = from + (length - 1) * MICROSECOND;
    r.row(row, 5 * MICROSECOND, kind, 7, None);
    let last = r.trace.host.len() - 1;
    let mut rows: Vec<HostActivity> = r.trace.host.iter().collect();
    rows[last].start = from;
    rows[last].name = r.trace.names.intern(name);
    r.trace.host = crate::trace::HostActivities::default();
    for row in rows {
        r.trace.host.push(row);
    }
}

#[test]
fn copies_of_pageable_memory_are_no_late_launches() {
    let copied = |memory: &'static str| {
        one_rank(move |_, r| {
            for _ in 0..40 {
                call(r, "cudaMemcpyAsync", 30, &format!("Memcpy HtoD ({memory} -> Device)"), GpuKind::Copy);
            }
        })
    };
    let found = copied("Pageable");
    assert!((1_000.0..1_300.0).contains(&cost(&found, "blocking-copies")), "{found:#?}");
    assert!(!ids(&found).contains("host-bound"), "{found:#?}");
    let found = copied("Pinned");
    assert!(!ids(&found).contains("blocking-copies"), "{found:#?}");
    assert!(the(&found, "host-bound").advice.contains("before copies"), "{found:#?}");
}

#[test]
fn a_kernel_that_ran_before_is_not_loaded() {
    let launched =
        |name: &'static str| one_rank(move |_, r| call(r, "cudaLaunchKernel", 2_000, name, GpuKind::Kernel));
    let found = launched(GEMM);
    assert!((1_900.0..2_100.0).contains(&cost(&found, "host-work")), "{found:#?}");
    assert!(!ids(&found).contains("compilation"), "{found:#?}");
    // The first launch of a kernel may load its module.
    let found = launched("a_kernel_of_its_own");
    assert!((450.0..550.0).contains(&cost(&found, "compilation")), "{found:#?}");
}

#[test]
fn graphs_are_named_if_they_are_late() {
    let found = one_rank(|_, r| {
        r.call = "cudaGraphLaunch";
        (0..40).for_each(|_| r.kernel(GEMM, 100 * MICROSECOND));
        r.call = "cudaLaunchKernel";
        for _ in 0..30 {
            r.host = r.host.max(r.device + 30 * MICROSECOND);
            r.kernel(GEMM, 10 * MICROSECOND);
        }
    });
    assert!(!the(&found, "host-bound").advice.contains("already"), "{found:#?}");
}

#[test]
fn first_launches_of_one_step_may_not_recur() {
    let late = |name: fn(u32) -> String| {
        let mut recorder = Recorder::new(0, 1, &[]);
        recorder.kernel(GEMM, 10 * MICROSECOND);
        for number in 0..30 {
            recorder.host = recorder.host.max(recorder.device + 30 * MICROSECOND);
            recorder.kernel(&name(number), 10 * MICROSECOND);
        }
        the(&context_of(vec![recorder.done()]), "host-bound").advice.clone()
    };
    assert!(late(|number| format!("kernel_{number}")).contains("record several steps"));
    assert!(!late(|_| GEMM.to_owned()).contains("record several steps"));
}

/// An operator that launches a kernel and waits for it as in the search of an algorithm.
fn convolution(r: &mut Recorder, kernel: &str, searches: bool) {
    let from = r.host.max(r.device) + 20 * MICROSECOND;
    r.host = from + MICROSECOND;
    r.kernel(kernel, 400 * MICROSECOND);
    if searches {
        let until = r.device + MICROSECOND;
        r.host_row(HostKind::Runtime, "cudaEventSynchronize", r.host, until, None);
        r.host = until;
    }
    r.host_row(HostKind::Operator, "aten::cudnn_convolution", from, r.host, None);
}

#[test]
fn trial_runs_of_algorithms_have_no_remedy() {
    let of = |searches: bool| {
        one_rank(move |_, r| {
            (0..4).for_each(|_| convolution(r, "volta_scudnn_128x64_relu_interior_nn_v1", searches));
        })
    };
    assert!((750.0..850.0).contains(&cost(&of(false), "float32-products")), "{:#?}", of(false));
    assert!(!ids(&of(true)).contains("float32-products"), "{:#?}", of(true));
}

#[test]
fn a_softmax_of_a_router_is_no_attention() {
    let of = |between: usize| {
        one_rank(move |_, r| {
            (0..between).for_each(|_| r.kernel(ADD, MICROSECOND));
            r.kernel("void softmax_warp_forward<float>(float*)", 600 * MICROSECOND);
            (0..between).for_each(|_| r.kernel(ADD, MICROSECOND));
        })
    };
    assert!(ids(&of(3)).contains("unfused-attention"), "{:#?}", of(3));
    // Sorting, histograms and permutations follow a router.
    assert!(!ids(&of(9)).contains("unfused-attention"), "{:#?}", of(9));
}

#[test]
fn scores_of_attention_are_fused_and_not_padded() {
    let product = |r: &mut Recorder, operator: &str, shapes: &str, kernel: &str| {
        let from = r.host;
        r.host += MICROSECOND;
        r.kernel(kernel, 500 * MICROSECOND);
        r.host_row(HostKind::Operator, operator, from, r.host, Some(shapes));
    };
    let of = |attends: bool| {
        one_rank(move |_, r| {
            product(r, "aten::bmm", "[[96, 3137, 64], [96, 64, 3137]]", GEMM);
            if attends {
                let softmax = "void softmax_warp_forward<float>(float*)";
                product(r, "aten::_softmax", "[[8, 12, 3137, 3137], [], []]", softmax);
            }
            product(r, "aten::bmm", "[[96, 3137, 3137], [96, 3137, 64]]", GEMM);
        })
    };
    assert!(ids(&of(false)).contains("matrix-shapes"), "{:#?}", of(false));
    assert!(!ids(&of(true)).contains("matrix-shapes"), "{:#?}", of(true));
}

#[test]
fn a_pause_of_one_step_is_not_that_of_its_annotation() {
    let found = one_rank(|number, r| {
        let from = r.host.max(r.device);
        r.host = from + if number == 3 { 3_000 } else { 3 } * MICROSECOND;
        r.host_row(HostKind::Annotation, "Optimizer.step#Adam.step", from, r.host, None);
    });
    assert!(the(&found, "idle-unknown").advice.contains("preempted"), "{found:#?}");
}

#[test]
fn one_file_with_a_number_shows_no_other_ranks() {
    let found = |known: bool| {
        let mut recorder = Recorder::new(4, 8, &[]);
        if !known {
            recorder.trace.identity.world_size = None;
        }
        recorder.step(1, |r| (0..20).for_each(|_| r.kernel(GEMM, 500 * MICROSECOND)));
        context_of(vec![recorder.done()])
    };
    assert!(ids(&found(true)).contains("missing-ranks"));
    assert!(!ids(&found(false)).contains("missing-ranks"), "{:#?}", found(false));
}

#[test]
fn programs_with_a_pool_are_not_told_to_use_one() {
    let of = |call: &'static str| {
        let mut recorder = Recorder::new(0, 1, &[]);
        recorder.trace.identity.source = Source::NsightSystems;
        for number in 1..=4 {
            recorder.step(number, |r| {
                (0..20).for_each(|_| r.kernel("solve_rows", 500 * MICROSECOND));
                r.host_busy(HostKind::Runtime, call, 2_000 * MICROSECOND);
                r.kernel("solve_rows", MICROSECOND);
            });
        }
        the(&context_of(vec![recorder.done()]), "memory-allocation").advice.clone()
    };
    assert!(of("cudaMallocAsync").contains("cudaMemPoolAttrReleaseThreshold"));
    assert!(of("cudaMalloc").contains("or allocate from a pool"));
}
