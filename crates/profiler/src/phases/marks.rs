//! Phase in the name of an operator or an annotation.
//!
//! Responsible for: names of PyTorch, Megatron, DeepSpeed and of users' own ranges. Ignores names without a
//! phase; their content keeps the phase around it.

use railwright_step::Phase;

/// The phase of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// No phase.
    None,
    /// A phase of the step.
    Phase(Phase),
    /// The optimizer, unless a phase encloses it: an operator on lists of tensors, which a model may call,
    /// too.
    Lists,
    /// The backward pass of a checkpoint: forward work directly within it is recompute.
    Checkpoint,
}

/// The phase in the name of an operator or an annotation.
pub(super) fn mark(name: &str) -> Mark {
    if let Some(function) = name.strip_prefix("autograd::engine::evaluate_function: ") {
        return if is_checkpoint(function) { Mark::Checkpoint } else { Mark::Phase(Phase::Backward) };
    }
    if updates(name) {
        return Mark::Phase(Phase::Optimizer);
    }
    if is_on_lists(name) {
        return Mark::Lists;
    }
    if name.starts_with("aten::") || name.starts_with("nccl:") || name.starts_with("c10d::") {
        return Mark::None;
    }
    if name.starts_with("Optimizer.step#") || name.starts_with("Optimizer.zero_grad#") {
        return Mark::Phase(Phase::Optimizer);
    }
    if is_checkpoint(name) {
        return Mark::Checkpoint;
    }
    let lower = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&["dataloader", "wait_for_batch", "batch-generator", "get_batch"]) {
        return Mark::Phase(Phase::Other);
    }
    if has(&["recomput", "rematerial"]) {
        return Mark::Phase(Phase::Recompute);
    }
    if has(&["backward_weight", "backward-weight", "weight_grad", "wgrad"]) {
        return Mark::Phase(Phase::BackwardWeight);
    }
    if has(&["backward_input", "backward-input", "input_grad", "dgrad"]) {
        return Mark::Phase(Phase::BackwardInput);
    }
    // A range around both phases marks neither.
    if has(&["forward_backward", "forward-backward", "fwd_bwd", "forwardbackward"]) {
        return Mark::None;
    }
    if has(&["backward", "bwd"]) {
        return Mark::Phase(Phase::Backward);
    }
    if has(&["optimizer", "grad_clip", "clip_grad", "grad-clip", "optim_step"]) {
        return Mark::Phase(Phase::Optimizer);
    }
    if has(&["forward", "fwd"]) {
        return Mark::Phase(Phase::Forward);
    }
    Mark::None
}

/// Tests whether an operator updates parameters or unscales gradients, and does nothing else.
fn updates(name: &str) -> bool {
    let updates = ["aten::_fused_adam", "aten::_fused_sgd", "aten::_fused_adagrad", "aten::_amp_foreach_"];
    updates.iter().any(|head| name.starts_with(head))
}

/// Tests whether an operator works on a list of tensors, mostly parameters or gradients: their norm,
/// clipping, scaling and update. Copies are excluded: FSDP moves shards with lists of copies.
fn is_on_lists(name: &str) -> bool {
    name.starts_with("aten::_foreach_") && !name.starts_with("aten::_foreach_copy")
}

/// Tests whether a kernel of lists of tensors only copies them (`aten::_foreach_copy_`); its lowercase name
/// without arguments.
fn copies_lists(kernel: &str) -> bool {
    kernel.contains("multi_tensor_apply") && (kernel.contains("copyfunctor<") || kernel.contains("::copy<"))
}

/// Tests whether a range runs the forward pass of a checkpoint again: the backward node of reentrant
/// checkpoints, or the hook that unpacks saved tensors of non-reentrant ones (`torch/utils/checkpoint.py`,
/// `_checkpoint_hook`).
fn is_checkpoint(name: &str) -> bool {
    is_unpacking(name)
        || name.starts_with("CheckpointFunctionBackward")
        || name.starts_with("CheckpointWithoutOutputFunctionBackward")
}

/// Tests whether a Python function is the hook of a non-reentrant checkpoint.
pub(super) fn is_unpacking(name: &str) -> bool {
    name.contains("checkpoint.py") && name.contains(": unpack_hook")
}

/// Phase in the name of a kernel without a launch: compilers and libraries include it.
pub(super) fn kernel(name: &str) -> Option<Phase> {
    let lower = name.to_ascii_lowercase();
    // A C++ name may contain brackets before those of the arguments.
    let lower = lower.replace("(anonymous namespace)::", "");
    let head = lower.split('(').next().unwrap_or_default();
    let update = ["adamfunctor", "fusedadam", "sgdfunctor", "multi_tensor_apply"];
    if update.iter().any(|word| head.contains(word)) && !copies_lists(head) {
        return Some(Phase::Optimizer);
    }
    // Gradients are also clipped, measured and scaled after the backward pass.
    if ["clip_grad", "grad_norm", "zero_grad", "unscale"].iter().any(|word| head.contains(word)) {
        return None;
    }
    let backward = ["backward", "bwd", "dgrad", "wgrad", "grad_input", "gradinput", "gradgamma", "_grad_"];
    backward.iter().any(|word| head.contains(word)).then_some(Phase::Backward)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_map_to_their_part() {
        for (name, phase) in [
            ("autograd::engine::evaluate_function: MmBackward0", Phase::Backward),
            ("Optimizer.step#NorMuon.step", Phase::Optimizer),
            ("Optimizer.zero_grad#Adam.zero_grad", Phase::Optimizer),
            ("## forward ##", Phase::Forward),
            ("DistributedDataParallel.forward", Phase::Forward),
            ("train_step/optimizer", Phase::Optimizer),
            ("## backward ##", Phase::Backward),
            ("stage1/forward", Phase::Forward),
            ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", Phase::Other),
            ("recompute_attention", Phase::Recompute),
            ("layer_3 wgrad", Phase::BackwardWeight),
            ("aten::_fused_adamw_", Phase::Optimizer),
        ] {
            assert_eq!(mark(name), Mark::Phase(phase), "{name}");
        }
        assert_eq!(mark("autograd::engine::evaluate_function: CheckpointFunctionBackward"), Mark::Checkpoint);
        assert_eq!(mark("aten::_foreach_norm"), Mark::Lists);
        for name in [
            "aten::embedding_dense_backward",
            "aten::_foreach_copy_",
            "train_step/forward_backward",
            "ProfilerStep#3",
            "nccl:all_reduce",
        ] {
            assert_eq!(mark(name), Mark::None, "{name}");
        }
        assert_eq!(kernel("triton_red_fused_rms_norm_backward_3"), Some(Phase::Backward));
        assert_eq!(kernel("void multi_tensor<AdamFunctor<float>>(int)"), Some(Phase::Optimizer));
        assert_eq!(kernel("volta_sgemm(backward)"), None);
        for (name, phase) in [
            (
                "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<float>(float const*)",
                Some(Phase::Backward),
            ),
            (
                "void at::native::(anonymous namespace)::cunn_SoftMaxBackwardSmem<4, float>(float*)",
                Some(Phase::Backward),
            ),
            (
                "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<int>(int)",
                Some(Phase::Optimizer),
            ),
            (
                "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous \
                 namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::UnaryOpFunctor<long, 2, \
                 1, 1>, at::native::Copy<long, long> >(int)",
                None,
            ),
            ("void cuComputeGradInput<float, float>(float const*)", Some(Phase::Backward)),
            ("triton_poi_fused_clip_grad_norm_0", None),
            ("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(int, float)", None),
        ] {
            assert_eq!(kernel(name), phase, "{name}");
        }
    }
}
