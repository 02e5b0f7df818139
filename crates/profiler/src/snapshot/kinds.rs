//! Purpose of memory, from the stack that allocated it.
//!
//! Responsible for: the kinds, with the calculator's names, and the frames of each kind. Without a stack the
//! kind is unknown.

use super::read::Frame;
use serde::Serialize;
use std::sync::Arc;

/// Purpose of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Use {
    /// Weights, allocated during the construction or the move of a module.
    Parameters,
    /// Moments and master weights, allocated during an optimizer step.
    Optimizer,
    /// Allocated within the backward pass: gradients and its temporaries.
    Backward,
    /// Allocated within a forward pass.
    Activations,
    /// Buckets and gathered weights of data parallelism, and communicators' buffers.
    Communication,
    /// Workspaces of libraries.
    Workspace,
    /// Allocated elsewhere.
    Other,
    /// No stack was recorded.
    Unknown,
}

impl Use {
    /// Label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parameters => "parameters",
            Self::Optimizer => "optimizer states",
            Self::Backward => "gradients and backward",
            Self::Activations => "activations",
            Self::Communication => "communication buffers",
            Self::Workspace => "workspace",
            Self::Other => "other",
            Self::Unknown => "unknown (no stack)",
        }
    }
}

/// Tests whether a frame belongs to the framework rather than to the user.
pub(super) fn is_framework(frame: &Frame) -> bool {
    let file = &*frame.file;
    file.is_empty()
        || file == "??"
        || file.starts_with('<')
        || [".cpp", ".cu", ".h", ".cc", ".c", ".so"].iter().any(|end| file.ends_with(end))
        || ["/torch/", "torch/"]
            .iter()
            .any(|part| file.starts_with(part) || file.contains("/site-packages/torch/"))
        || file.contains("/lib/python3") && !file.contains("-packages/")
}

/// Purpose from a single frame; `None` if the frame has none.
fn of(frame: &Frame) -> Option<Use> {
    let (file, name) = (&*frame.file, &*frame.name);
    let any = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    if any(name, &["CUDABlasWorkspace", "ChosenWorkspaceSize", "cublasLt", "cudnn_workspace", "Workspace("]) {
        return Some(Use::Workspace);
    }
    if any(file, &["torch/distributed/", "megatron/core/distributed/", "deepspeed/runtime/zero/"])
        || any(name, &["c10d::", "ProcessGroupNCCL", "Reducer::"])
    {
        return Some(Use::Communication);
    }
    if any(
        file,
        &[
            "torch/optim/",
            "apex/optimizers/",
            "transformer_engine/pytorch/optimizers/",
            "megatron/core/optimizer/",
            "bitsandbytes/optim/",
        ],
    ) {
        return Some(Use::Optimizer);
    }
    if any(name, &["autograd::Engine", "autograd::Node", "_engine_run_backward"])
        || name == "backward" && (file.contains("torch/autograd") || file.contains("torch/_tensor"))
    {
        return Some(Use::Backward);
    }
    // Frames of the profiler have no file.
    if file.is_empty() {
        return match name {
            _ if name.starts_with("autograd::engine::evaluate_function") => Some(Use::Backward),
            _ if name.starts_with("Optimizer.step#") => Some(Use::Optimizer),
            _ if name.starts_with("nn.Module: ") => Some(Use::Activations),
            _ => None,
        };
    }
    if name == "__init__" && any(file, &["torch/nn/modules/", "torch/nn/parameter"])
        || any(name, &["_apply", "reset_parameters"]) && file.contains("torch/nn/modules/module.py")
        || file.contains("torch/nn/init.py")
        || name == "load_state_dict"
    {
        return Some(Use::Parameters);
    }
    (name == "forward" || name == "_call_impl").then_some(Use::Activations)
}

/// Purpose of the allocations of a stack (innermost frame first): the first in the order below that any of
/// its frames has.
pub(super) fn kind(stack: Option<&[Arc<Frame>]>) -> Use {
    let Some(stack) = stack.filter(|stack| !stack.is_empty()) else { return Use::Unknown };
    let shown: Vec<Use> = stack.iter().filter_map(|frame| of(frame)).collect();
    // A forward pass within a backward pass is recompute, and the frames of the autograd engine enclose it.
    // Workspaces keep their own kind, independent of the outer frames.
    let order = [
        Use::Workspace,
        Use::Communication,
        Use::Optimizer,
        Use::Backward,
        Use::Parameters,
        Use::Activations,
    ];
    order.into_iter().find(|kind| shown.contains(kind)).unwrap_or(Use::Other)
}

/// Position of a stack in the user's code: its innermost frame outside the framework, otherwise its innermost
/// one.
pub(super) fn place(stack: Option<&[Arc<Frame>]>) -> String {
    let Some(frame) =
        stack.and_then(|stack| stack.iter().find(|frame| !is_framework(frame)).or(stack.first()))
    else {
        return String::new();
    };
    written(frame)
}

/// Module whose forward pass allocates: the innermost `forward` outside the framework.
pub(super) fn module(stack: Option<&[Arc<Frame>]>) -> Option<String> {
    let is_module = |frame: &&Arc<Frame>| {
        &*frame.name == "forward" && !is_framework(frame) || frame.name.starts_with("nn.Module: ")
    };
    stack?.iter().find(is_module).map(|frame| written(frame))
}

/// Formats a frame in a line, with the last two parts of its file's path.
pub(super) fn written(frame: &Frame) -> String {
    let start = frame.file.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    let file = frame.file.get(start..).unwrap_or_default();
    match frame.line {
        0 => frame.name.to_string(),
        line => format!("{file}:{line} {}", frame.name),
    }
}
