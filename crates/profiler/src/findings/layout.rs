//! Kernels that only move data.
//!
//! Responsible for: copies and transposes by kernels. Excludes copies between host and device.

use super::words::percent;
use super::{Context, Rule, remedies};
use crate::profile::{Explained, Finding, Subject};

pub(super) struct Layout;

/// Operators that move data, as in names of compiled kernels, the longest first.
const MOVING: [&str; 24] = [
    "split_with_sizes",
    "constant_pad_nd",
    "_reshape_alias",
    "_unsafe_view",
    "contiguous",
    "as_strided",
    "transpose",
    "unsqueeze",
    "_to_copy",
    "permute",
    "squeeze",
    "reshape",
    "select",
    "expand",
    "repeat",
    "empty_like",
    "unbind",
    "slice",
    "split",
    "stack",
    "clone",
    "view",
    "copy",
    "cat",
];

/// Tests whether a compiled kernel (`triton_poi_fused_cat_clone_3`) contains only operators that move data.
fn moves_alone(fused: &str) -> bool {
    let rest = MOVING.iter().fold(fused.to_owned(), |rest, word| rest.replace(word, ""));
    let rest = rest.trim_matches(|c: char| c == '_' || c.is_ascii_digit());
    rest.is_empty() || rest == "t"
}

fn moves(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if lower.starts_with("triton_") {
        return lower.split_once("_fused_").is_some_and(|(_, fused)| moves_alone(fused));
    }
    [
        "direct_copy_kernel",
        "transpose",
        "catarraybatchedcopy",
        "bfloat16_copy",
        "float16_copy",
        "copy_device_to_device",
        "nchwtonhwc",
        "nhwctonchw",
        "permute_kernel",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

fn concatenates(name: &str) -> bool {
    name.contains("CatArrayBatchedCopy") || name == "aten::cat"
}

/// Tests whether a kernel that moves data converts its format: PyTorch's copies with a cast, and compiled
/// conversion kernels.
fn converts(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if lower.starts_with("triton_") {
        return lower.contains("_to_copy");
    }
    ["bfloat16_copy", "float16_copy", "loadwithcast"].iter().any(|word| lower.contains(word))
}

impl Rule for Layout {
    fn id(&self) -> &'static str {
        "layout-copies"
    }

    fn title(&self) -> &'static str {
        "Copies, concatenations and conversions"
    }

    fn text(&self) -> &'static str {
        "Kernels that only copy between layouts and formats, transpose or concatenate; compiled kernels that also \
         compute are not counted. Threshold: 4% of the step. Cost: their time.\n\n\
         Remedies: layouts that kernels accept directly, casts fused into adjacent kernels, weights kept in \
         the GEMM format, preallocated buffers instead of concatenations."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let (moved, all) = context.arithmetic(|_, name| moves(name));
        let joined: i64 = moved.iter().filter(|(name, _)| concatenates(name)).map(|(_, time)| *time).sum();
        let converted: i64 = moved.iter().filter(|(name, _)| converts(name)).map(|(_, time)| *time).sum();
        let share = |part: i64| if all > 0.0 { part as f64 / context.samples() / all } else { 0.0 };
        let (joined, converted) = (share(joined), share(converted));
        if context.share(all) < 0.04 {
            return Vec::new();
        }
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("{} only copy, concatenate or convert", context.work()),
            cost: Some(all),
            savings: context.savings(&moved, 1.0),
            explained: Explained::Whole,
            subject: Subject::of_kernels(Context::leading(moved.iter().copied())),
            evidence: context
                .costliest(moved, 3)
                .into_iter()
                .chain(
                    (converted > 0.0)
                        .then(|| format!("{} of it is casts between formats", percent(converted))),
                )
                .collect(),
            advice: if joined > 0.5 {
                "write the parts into one preallocated buffer instead of concatenating them"
            } else if converted > 0.5 && remedies::is_forward(context.views) {
                "keep weights in the format of the GEMMs, outside of autocast; let `torch.compile` fuse the casts of activations"
            } else if converted > 0.5 {
                "keep weights in the format of the GEMMs, with float32 copies in the optimizer alone; let \
                 `torch.compile` fuse the casts of activations"
            } else {
                "find the operator that needs another layout or format, and produce that format directly"
            }
            .to_owned(),
            ..Finding::default()
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_differ_from_other_copies() {
        for (name, expected) in [
            ("triton_poi_fused__to_copy_t_6", true),
            ("triton_poi_fused_clone_3", false),
            ("void at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)", true),
            ("void unrolled_elementwise_kernel<direct_copy_kernel_cuda, memory::LoadWithCast<1>>(int)", true),
            ("void elementwise_kernel<128, 4, gpu_kernel_impl_nocast<direct_copy_kernel_cuda>>(int)", false),
            ("void CatArrayBatchedCopy<float>(float*)", false),
        ] {
            assert_eq!(converts(name), expected, "{name}");
        }
    }

    #[test]
    fn compiled_kernels_move_if_nothing_else_is_in_them() {
        for (name, expected) in [
            ("triton_poi_fused__to_copy_3", true),
            ("triton_poi_fused_cat_clone_transpose_view_12", true),
            ("triton_poi_fused__unsafe_view_addmm_cat_clone_gelu_transpose_view_34", false),
            ("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_5", false),
            ("void at::native::direct_copy_kernel_cuda", true),
            ("void cutlass::Kernel", false),
        ] {
            assert_eq!(moves(name), expected, "{name}");
        }
    }
}
