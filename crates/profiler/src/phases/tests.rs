//! Phases on small hand-made traces.

use super::*;
use crate::launches::launches;
use crate::trace::{GpuActivity, HostActivity};

type HostRow<'a> = (i64, i64, HostKind, &'a str, u32, Option<u32>);

/// Rows of the host as (start, end, kind, name, thread, correlation), and of the device as (start, name,
/// correlation).
fn trace(host: &[HostRow<'_>], gpu: &[(i64, &str, Option<u32>)]) -> RankTrace {
    let mut trace = RankTrace::default();
    for &(start, end, kind, name, thread, correlation) in host {
        let name = trace.names.intern(name);
        trace.host.push(HostActivity {
            start,
            end,
            name,
            kind,
            thread,
            correlation,
            ..HostActivity::default()
        });
    }
    for &(start, name, correlation) in gpu {
        let name = trace.names.intern(name);
        trace.gpu.push(GpuActivity {
            start,
            end: start + 5,
            name,
            stream: 7,
            correlation,
            ..GpuActivity::default()
        });
    }
    trace.host.sort();
    trace
}

fn found(trace: &RankTrace) -> (Vec<Phase>, FoundBy) {
    let launches = launches(trace, &trace.gpu);
    let phases = phases(trace, &trace.gpu, &launches);
    (phases.gpu, phases.by)
}

#[test]
fn launches_lead_to_phases() {
    use HostKind::{Annotation, Operator, Runtime};
    let trace = trace(
        &[
            (0, 10, Operator, "aten::mm", 0, None),
            (2, 3, Runtime, "cudaLaunchKernel", 0, Some(1)),
            (20, 60, Operator, "autograd::engine::evaluate_function: CheckpointFunctionBackward", 1, None),
            (22, 30, Operator, "aten::mm", 1, None),
            (23, 24, Runtime, "cudaLaunchKernel", 1, Some(2)),
            (32, 50, Operator, "autograd::engine::evaluate_function: MmBackward0", 1, None),
            (34, 35, Runtime, "cudaLaunchKernel", 1, Some(3)),
            (70, 90, Annotation, "Optimizer.step#Adam.step", 0, None),
            (71, 72, Runtime, "cudaLaunchKernel", 0, Some(4)),
            (95, 96, Runtime, "cudaMemcpyAsync", 0, Some(5)),
        ],
        &[
            (4, "gemm", Some(1)),
            (24, "gemm", Some(2)),
            (36, "gemm", Some(3)),
            (73, "adam", Some(4)),
            (98, "copy", Some(5)),
        ],
    );
    let (phases, by) = found(&trace);
    assert_eq!(phases, [Phase::Forward, Phase::Recompute, Phase::Backward, Phase::Optimizer, Phase::Other]);
    assert_eq!((by.launch, by.unknown), (4, 1));
}

#[test]
fn rows_without_launch_are_known_by_name_kernel_or_neighbours() {
    use HostKind::{Annotation, Runtime};
    use Phase::{Backward, Forward, Other};
    let trace = trace(
        &[
            (100, 200, Annotation, "## forward ##", 0, None),
            (101, 102, Runtime, "cudaLaunchKernel", 0, Some(1)),
            (103, 104, Runtime, "cudaLaunchKernel", 0, Some(2)),
        ],
        &[
            (0, "lonely", None),
            (10, "only_in_forward", None),
            (20, "rms_norm_bwd_kernel", None),
            (110, "only_in_forward", Some(1)),
            (120, "between", None),
            (130, "last", Some(2)),
            (140, "after", None),
        ],
    );
    let (phases, by) = found(&trace);
    assert_eq!(phases, [Other, Forward, Backward, Forward, Forward, Forward, Other]);
    assert_eq!((by.name, by.same_kernel, by.neighbours, by.unknown), (1, 1, 1, 2));
}

#[test]
fn inference_has_no_phases() {
    use HostKind::{Operator, Runtime};
    let trace = trace(
        &[(0, 10, Operator, "aten::mm", 0, None), (2, 3, Runtime, "cudaLaunchKernel", 0, Some(1))],
        &[(4, "gemm", Some(1))],
    );
    assert_eq!(found(&trace).0, [Phase::Other]);
}

/// Two updates with a step of ten kernels between them: even without an identifying launch, the ten are not
/// part of the update.
#[test]
fn a_short_step_between_two_updates_is_no_update() {
    use HostKind::{Annotation, Runtime};
    let rows = |kernels: i64| {
        let mut host: Vec<HostRow<'_>> = Vec::new();
        let mut gpu: Vec<(i64, &str, Option<u32>)> = Vec::new();
        for step in 0..3_i64 {
            let begin = 1000 * step;
            gpu.extend((0..kernels).map(|n| (begin + 10 * n, "kernel", None)));
            for n in 0..2_i64 {
                let (call, number) = (begin + 500 + 10 * n, (2 * step + n) as u32);
                host.push((call, call + 2, Runtime, "cudaLaunchKernel", 0, Some(number)));
                gpu.push((call + 5, "multi_tensor", Some(number)));
            }
            host.push((begin + 490, begin + 530, Annotation, "Optimizer.step#Adam.step", 0, None));
        }
        (host, gpu)
    };
    let (host, gpu) = rows(10);
    let (phases, by) = found(&trace(&host, &gpu));
    let updates = phases.iter().filter(|phase| **phase == Phase::Optimizer).count();
    assert_eq!((updates, by.neighbours, by.unknown), (6, 0, 30));
    // A single kernel as short as its neighbours could be part of the update, unless a step begins before it.
    let (mut host, gpu) = rows(1);
    assert_eq!(found(&trace(&host, &gpu)).1.neighbours, 2);
    for (step, name) in ["ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"].into_iter().enumerate() {
        let begin = 1000 * step as i64;
        host.push((begin, begin + 990, Annotation, name, 0, None));
    }
    assert_eq!(found(&trace(&host, &gpu)).1.neighbours, 0);
}

/// A model's own operators on lists of tensors belong to its pass; outside every pass they belong to the
/// optimizer.
#[test]
fn lists_of_tensors_belong_to_the_pass_around_them() {
    use HostKind::{Annotation, Operator, Runtime};
    let trace = trace(
        &[
            (0, 20, Annotation, "## forward ##", 0, None),
            (2, 10, Operator, "aten::_foreach_mul", 0, None),
            (3, 4, Runtime, "cudaLaunchKernel", 0, Some(1)),
            (20, 40, Operator, "autograd::engine::evaluate_function: MulBackward0", 1, None),
            (22, 30, Operator, "aten::_foreach_add", 1, None),
            (23, 24, Runtime, "cudaLaunchKernel", 1, Some(2)),
            (50, 60, Operator, "aten::_foreach_norm", 0, None),
            (51, 52, Runtime, "cudaLaunchKernel", 0, Some(3)),
            (70, 80, Annotation, "## backward ##", 0, None),
            (71, 78, Operator, "aten::_fused_adamw_", 0, None),
            (72, 73, Runtime, "cudaLaunchKernel", 0, Some(4)),
        ],
        &[(5, "k", Some(1)), (25, "k", Some(2)), (55, "k", Some(3)), (75, "k", Some(4))],
    );
    assert_eq!(found(&trace).0, [Phase::Forward, Phase::Backward, Phase::Optimizer, Phase::Optimizer]);
}

/// Non-reentrant checkpoints run the forward pass again in the hook that unpacks saved tensors, within a node
/// of the backward pass.
#[test]
fn a_checkpoint_that_unpacks_saved_tensors_is_recompute() {
    use HostKind::{Operator, Python, Runtime};
    let node = "autograd::engine::evaluate_function: MmBackward0";
    let trace = trace(
        &[
            (0, 60, Operator, node, 1, None),
            (2, 40, Python, "torch/utils/checkpoint.py(1118): unpack_hook", 1, None),
            (4, 30, Python, "torch/nn/modules/linear.py(114): forward", 1, None),
            (5, 25, Operator, "aten::mm", 1, None),
            (6, 7, Runtime, "cudaLaunchKernel", 1, Some(1)),
            (42, 58, Operator, "aten::mm", 1, None),
            (43, 44, Runtime, "cudaLaunchKernel", 1, Some(2)),
        ],
        &[(100, "gemm", Some(1)), (110, "gemm", Some(2))],
    );
    assert_eq!(found(&trace).0, [Phase::Recompute, Phase::Backward]);
}
