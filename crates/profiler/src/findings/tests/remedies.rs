//! Advice follows the recorded frames: each on a job with these frames.

use super::*;

/// Advice of a finding for a job whose host spends 2 ms of each step in an outer and an inner frame.
fn advice(outer: Option<(HostKind, &str)>, inner: (HostKind, &str), id: &str) -> Finding {
    let found = one_rank(|_, r| {
        let from = r.host.max(r.device);
        if let Some((kind, name)) = outer {
            r.host_row(kind, name, from, from + 2_010 * MICROSECOND, None);
        }
        r.host = from;
        r.device = from;
        r.host_busy(inner.0, inner.1, 2_000 * MICROSECOND);
    });
    the(&found, id).clone()
}

#[test]
fn allocation_is_of_pinned_memory_a_retry_an_emptied_or_a_growing_cache() {
    use HostKind::{Annotation, Operator, Runtime};
    let operator = Some((Operator, "aten::cat"));
    for (outer, call, word) in [
        (None, "cudaHostAlloc", "pinned"),
        (None, "cudaHostUnregister", "pinned"),
        (operator, "cudaFree", "num_alloc_retries"),
        (operator, "cudaMalloc", "cache grows"),
        (Some((Annotation, "capture")), "hipFree", "empty_cache"),
    ] {
        let finding = advice(outer, (Runtime, call), "memory-allocation");
        assert!(finding.advice.contains(word), "{call}: {finding:#?}");
    }
}

#[test]
fn an_annotation_around_idle_time_is_named() {
    let finding = advice(None, (HostKind::Annotation, "# sparse arch"), "idle-unknown");
    assert_eq!(finding.message, "the host records no call in `# sparse arch` and leaves the device idle");
    assert!(finding.advice.starts_with("inspect the code in `# sparse arch`"), "{finding:#?}");
    let finding = advice(None, (HostKind::Annotation, "wandb.log"), "idle-unknown");
    assert!(finding.advice.contains("`wandb.log` less often"), "{finding:#?}");
    let finding = advice(None, (HostKind::Annotation, "## Call CompiledFxGraph f1 ##"), "idle-unknown");
    assert!(finding.advice.contains("Triton launches"), "{finding:#?}");
    // Without any frame, only a better recording helps.
    let found = one_rank(|_, r| r.host += 15_000 * MICROSECOND);
    assert!(the(&found, "idle-unknown").advice.contains("with_stack"), "{found:#?}");
}

#[test]
fn phases_of_compilation_and_capture_are_compilation() {
    for name in
        ["entire_frame_compile (dynamo_timed)", "CUDAGraphNode.record (dynamo_timed)", "capture_8_PIECEWISE"]
    {
        let finding = advice(None, (HostKind::Annotation, name), "compilation");
        assert!(finding.advice.contains("warm-up"), "{finding:#?}");
    }
    assert_eq!(
        advice(None, (HostKind::Annotation, "torch.cuda.empty_cache"), "memory-allocation").evidence.len(),
        1
    );
}

#[test]
fn only_optimizers_with_a_fused_version_are_told_to_use_it() {
    for (step, word) in
        [("Optimizer.step#AdamW.step", "fused=True"), ("Optimizer.step#Shampoo.step", "torch.compile")]
    {
        let found = one_rank(|_, r| {
            let from = r.host.max(r.device);
            r.host_row(HostKind::Annotation, step, from, from + 2_010 * MICROSECOND, None);
            r.host = from;
            r.host_busy(HostKind::Operator, "aten::_foreach_mul_", 2_000 * MICROSECOND);
        });
        let finding = the(&found, "host-work");
        assert!(finding.advice.contains(word), "{step}: {finding:#?}");
    }
}

#[test]
fn late_launches_of_other_programs_have_no_cuda_graphs() {
    let of = |source: Source, call: &'static str| {
        let mut recorder = Recorder::new(0, 1, &[]);
        recorder.trace.identity.source = source;
        recorder.call = call;
        for number in 1..=4 {
            recorder.step(number, |r| {
                r.kernel(GEMM, 5_000 * MICROSECOND);
                (0..6).for_each(|_| r.host_busy(HostKind::Operator, "dispatch", 500 * MICROSECOND));
                r.kernel(GEMM, MICROSECOND);
            });
        }
        the(&context_of(vec![recorder.done()]), "host-bound").advice.clone()
    };
    assert!(of(Source::Kineto, "cudaLaunchKernel").contains("CUDA graphs"));
    assert!(of(Source::XPlane, "Execute").contains("jax.jit"));
    let other = of(Source::Kineto, "runFunction");
    assert!(!other.contains("CUDA") && other.contains("compiled graphs"), "{other}");
}

#[test]
fn copies_to_the_host_are_not_pinned_by_the_loader() {
    let of = |name: &str| {
        let found = one_rank(|_, r| r.row(name, 2_000 * MICROSECOND, GpuKind::Copy, 7, None));
        the(&found, "memory-copies").advice.clone()
    };
    assert!(of("Memcpy HtoD (Pageable -> Device)").contains("pin_memory=True"));
    assert!(of("Memcpy DtoH (Device -> Pageable)").contains("read them less often"));
}

#[test]
fn gradients_that_are_cleared_by_kernels_need_none() {
    let found = one_rank(|_, r| {
        let from = r.host.max(r.device);
        r.host_row(
            HostKind::Annotation,
            "Optimizer.zero_grad#SGD.zero_grad",
            from,
            from + 600 * MICROSECOND,
            None,
        );
        r.host = from;
        (0..20).for_each(|_| {
            r.host_busy(HostKind::Operator, "aten::fill_", 20 * MICROSECOND);
            r.kernel("vectorized_elementwise_kernel<4, FillFunctor<float>>", 2 * MICROSECOND);
        });
    });
    assert!(the(&found, "small-kernels").advice.contains("set_to_none=True"), "{found:#?}");
}
