//! Advice follows the recorded frames: each on a job with these frames.

use super::idle::launch_late;
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
    assert_eq!(
        finding.message,
        "the host leaves the device idle in `# sparse arch`, without a recorded call"
    );
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

#[test]
fn a_search_of_algorithms_is_no_synchronization_of_the_program() {
    use HostKind::{Operator, Runtime};
    let call = (Runtime, "cudaEventSynchronize");
    let finding = advice(Some((Operator, "aten::cudnn_convolution")), call, "synchronization");
    assert!(finding.advice.contains("cudnn.benchmark"), "{finding:#?}");
    let finding = advice(Some((Operator, "aten::index")), call, "synchronization");
    assert!(finding.advice.contains("`.item()`"), "{finding:#?}");
}

/// Gradients alone need a scaled loss.
#[test]
fn only_training_in_fp16_scales_its_loss() {
    let gemm = |r: &mut Recorder| r.kernel("volta_sgemm_128x64_nt", 5_000 * MICROSECOND);
    let of = |trains: bool| {
        let mut recorder = Recorder::new(0, 1, &[]);
        for number in 1..=4 {
            recorder.step(number, |r| {
                gemm(r);
                let from = r.host;
                if trains {
                    r.host_row(HostKind::Annotation, "Optimizer.step#Adam.step", from, from + 10, None);
                }
                gemm(r);
            });
        }
        the(&context_of(vec![recorder.done()]), "float32-products").advice.clone()
    };
    assert!(of(true).contains("fp16 with loss scaling"), "{}", of(true));
    assert!(of(false).starts_with("run float32 GEMMs in fp16: "), "{}", of(false));
}

#[test]
fn recordings_of_nsight_get_the_options_of_nsight() {
    let of = |name: Option<&str>| {
        let mut recorder = Recorder::new(0, 1, &[]);
        recorder.trace.identity.source = Source::NsightSystems;
        for number in 1..=4 {
            recorder.step(number, |r| {
                r.kernel(GEMM, 5_000 * MICROSECOND);
                match name {
                    Some(name) => r.host_busy(HostKind::Annotation, name, 5_000 * MICROSECOND),
                    None => r.host = r.host.max(r.device) + 15_000 * MICROSECOND,
                }
                r.kernel(GEMM, MICROSECOND);
            });
        }
        the(&context_of(vec![recorder.done()]), "idle-unknown").advice.clone()
    };
    for advice in [of(Some("Forward")), of(None)] {
        assert!(advice.contains("--python-sampling=true"), "{advice}");
        assert!(!advice.contains("with_stack") && !advice.contains("jax"), "{advice}");
    }
}

/// Nothing shows that calls recur in a recording without steps.
#[test]
fn calls_of_a_recording_without_steps_may_be_the_first() {
    let mut recorder = Recorder::new(0, 1, &[]);
    for _ in 0..12 {
        launch_late(&mut recorder, "aten::cudnn_convolution", 2_000);
    }
    let found = context_of(vec![recorder.done()]);
    let one = the(&found, "host-work");
    assert!(one.advice.contains("record several steps after warm-up"), "{one:#?}");
    assert!(!one.advice.contains("recur in later steps"), "{one:#?}");
}

/// A first call is suspect at a smaller ratio to the others than a later one.
#[test]
fn a_first_call_of_some_times_its_usual_time_is_warm_up() {
    let launch = |r: &mut Recorder, late: i64| launch_late(r, "autograd::AddmmBackward0", late);
    let found = one_rank(|step, r| {
        launch(r, if step == 1 { 2_400 } else { 300 });
        launch(r, 300);
    });
    let one = the(&found, "host-work");
    assert!(one.advice.contains("first calls select algorithms"), "{one:#?}");
}

/// Calls that wait for kernels are no loss if the kernels were not recorded.
#[test]
fn calls_that_wait_for_unrecorded_kernels_are_no_findings() {
    let mut recorder = Recorder::new(0, 1, &[]);
    for number in 1..=4 {
        recorder.step(number, |r| {
            r.host_busy(HostKind::Runtime, "cudaLaunchKernel", 10 * MICROSECOND);
            r.host_busy(HostKind::Operator, "aten::mm", 500 * MICROSECOND);
            r.host_busy(HostKind::Runtime, "cudaFree", 5_000 * MICROSECOND);
            r.host_busy(HostKind::Runtime, "cudaDeviceSynchronize", 5_000 * MICROSECOND);
            r.host_busy(HostKind::Operator, "aten::mm", 500 * MICROSECOND);
        });
    }
    let found = context_of(vec![recorder.done()]);
    let ids = ids(&found);
    assert!(!ids.contains("memory-allocation") && !ids.contains("synchronization"), "{found:#?}");
}

/// One recorded step shows no retry of the allocator and no emptied cache unless calls are many: nothing
/// recurs.
#[test]
fn allocation_of_the_first_calls_is_no_retry() {
    let one_pass = |frees: usize, operator: bool| {
        let mut recorder = Recorder::new(0, 1, &[]);
        recorder.kernel(GEMM, 500 * MICROSECOND);
        for _ in 0..frees {
            let from = recorder.host.max(recorder.device);
            if operator {
                recorder.host_row(HostKind::Operator, "aten::addmm", from, from + 2_010 * MICROSECOND, None);
            }
            recorder.host = from;
            recorder.device = from;
            recorder.host_busy(HostKind::Runtime, "cudaFree", 2_000 * MICROSECOND);
            recorder.kernel(GEMM, 500 * MICROSECOND);
        }
        the(&context_of(vec![recorder.done()]), "memory-allocation").advice.clone()
    };
    for (frees, operator, word) in [
        (2, true, "first call of an operator"),
        (2, false, "first call of an operator"),
        (9, true, "num_alloc_retries"),
        (9, false, "empty_cache"),
    ] {
        let advice = one_pass(frees, operator);
        assert!(advice.contains(word), "{frees} {operator}: {advice}");
    }
}

/// An update alone is no step: its share of one is unknown.
#[test]
fn a_recording_of_updates_alone_has_no_optimizer_share() {
    let of = |with_backward: bool| {
        let mut recorder = Recorder::new(0, 1, &[]);
        for number in 1..4 {
            recorder.step(number, |r| {
                let from = r.host;
                for _ in 0..4 {
                    r.kernel("multi_tensor_apply_kernel<FusedAdamMathFunctor<float>>", 500 * MICROSECOND);
                }
                r.host_row(HostKind::Annotation, "Optimizer.step#AdamW.step", from, r.host, None);
                if with_backward {
                    r.kernel("flash_bwd_kernel", 2_000 * MICROSECOND);
                }
            });
        }
        context_of(vec![recorder.done()]).iter().any(|finding| finding.id == "optimizer")
    };
    assert!(of(true));
    assert!(!of(false));
}

/// Without kernels in the recording, idle time of the device is unknown.
#[test]
fn copies_alone_show_no_idle_device() {
    let of = |kernels: bool| {
        let mut recorder = Recorder::new(0, 1, &[]);
        for _ in 0..4 {
            recorder.row("Memcpy HtoD (Pageable -> Device)", 100 * MICROSECOND, GpuKind::Copy, 7, None);
            recorder.host += 5_000 * MICROSECOND;
            if kernels {
                recorder.kernel(GEMM, 100 * MICROSECOND);
            }
        }
        let mut trace = recorder.done();
        trace.identity.source = crate::trace::Source::NsightSystems;
        context_of(vec![trace]).iter().any(|finding| finding.id == "idle-unknown")
    };
    assert!(of(true) && !of(false));
}
