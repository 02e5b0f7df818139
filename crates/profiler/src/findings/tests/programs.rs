//! Advice follows the program: training, a forward pass alone, or kernels without PyTorch.

use super::*;

/// Findings of a recording of Nsight Systems whose host spends 2 ms of each step in a call, in a program with
/// this kernel.
fn of_nsight(call: (HostKind, &str), kernel: &str) -> Vec<Finding> {
    let mut recorder = Recorder::new(0, 1, &[]);
    recorder.trace.identity.source = Source::NsightSystems;
    for number in 1..=4 {
        recorder.step(number, |r| {
            r.kernel(kernel, 5_000 * MICROSECOND);
            r.host = r.host.max(r.device);
            r.host_busy(call.0, call.1, 2_000 * MICROSECOND);
            r.kernel(kernel, 5_000 * MICROSECOND);
        });
    }
    context_of(vec![recorder.done()])
}

#[test]
fn programs_without_pytorch_get_no_options_of_pytorch() {
    use HostKind::Runtime;
    for (call, id, word) in [
        ("cudaMalloc", "memory-allocation", "cudaMallocAsync"),
        ("cudaMemcpy", "blocking-copies", "cudaMemcpyAsync"),
        ("cudaDeviceSynchronize", "synchronization", "cudaStreamSynchronize"),
    ] {
        let of = |kernel: &str| the(&of_nsight((Runtime, call), kernel), id).advice.clone();
        let plain = of("compute_distances(float *, int)");
        assert!(plain.contains(word), "{call}: {plain}");
        assert!(!plain.contains("PYTORCH") && !plain.contains(".item()"), "{call}: {plain}");
        assert_ne!(of("void at::native::vectorized_elementwise_kernel<4>"), plain, "{call}");
    }
}

/// Four steps of one kernel or copy.
fn only(name: &str, kind: GpuKind) -> Vec<Finding> {
    let mut recorder = Recorder::new(0, 1, &[]);
    for number in 1..=4 {
        recorder.step(number, |r| r.row(name, 2_000 * MICROSECOND, kind, 7, None));
    }
    context_of(vec![recorder.done()])
}

const SOFTMAX: &str = "void softmax_warp_forward<float, float, float, 11, false, true>(float*)";

#[test]
fn a_softmax_alone_is_no_attention() {
    let with_gemms = one_rank(|_, r| r.kernel(SOFTMAX, 2_000 * MICROSECOND));
    assert!(ids(&with_gemms).contains("unfused-attention"));
    let alone = only(SOFTMAX, GpuKind::Kernel);
    assert!(!ids(&alone).contains("unfused-attention"), "{alone:#?}");
}

#[test]
fn no_overlap_hides_copies_that_take_longer_than_compute() {
    const COPY: &str = "Memcpy HtoD (Pinned -> Device)";
    // Each step has 10 ms of GEMMs.
    let of = |copy: i64| one_rank(|_, r| r.row(COPY, copy * MICROSECOND, GpuKind::Copy, 7, None));
    assert!(the(&of(40_000), "memory-copies").advice.contains("keep the data on the device"));
    assert!(the(&of(4_000), "memory-copies").advice.contains("overlap the copy with compute"));
    // Without compute there is no step that they delay.
    assert!(!ids(&only(COPY, GpuKind::Copy)).contains("memory-copies"));
}

/// NCCL's functions return at once, except while they connect ranks.
#[test]
fn connections_of_a_communicator_are_warm_up() {
    for name in ["ncclAllReduce", "cuMemImportFromShareableHandle", "cuKernelGetFunction"] {
        let found = one_rank(|number, r| {
            r.kernel(GEMM, 1_000 * MICROSECOND);
            r.host = r.host.max(r.device);
            if number == 2 {
                r.host_busy(HostKind::Annotation, "distributed_training", 10 * MICROSECOND);
                r.host_busy(HostKind::Operator, name, 6_000 * MICROSECOND);
            }
            r.kernel(GEMM, 1_000 * MICROSECOND);
        });
        let one = the(&found, "host-work");
        assert!(one.advice.contains("initialize libraries"), "{name}: {one:#?}");
    }
}

/// One throttled device delays the others by its whole growth, not by its share of all ranks, and once.
#[test]
fn others_wait_for_the_device_that_slows_down() {
    let plan = Synthetic {
        tensor: 1,
        data: 4,
        steps: 6,
        slow_chip: vec![(2, 1.2)],
        slow_chip_steps: vec![3, 4, 5],
        ..Synthetic::default()
    };
    let found = context_of(plan.job().members.into_iter().map(|member| member.trace).collect());
    let (hot, late) = (the(&found, "clock-throttling"), cost(&found, "straggler"));
    assert!(cost(&found, "clock-throttling") > 0.3 * late, "{found:#?}");
    assert!(hot.shared > 0.9 * hot.cost.expect("a cost"), "{found:#?}");
}
