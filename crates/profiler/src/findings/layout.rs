//! Kernels that only move data about.
//!
//! Responsible for: copies and transposes done by kernels. Refuses copies between host and device.

use super::{Context, Rule, percent};
use crate::profile::Finding;

pub(super) struct Layout;

fn moves(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
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

impl Rule for Layout {
    fn id(&self) -> &'static str {
        "layout-copies"
    }

    fn title(&self) -> &'static str {
        "Layout and format conversions"
    }

    fn text(&self) -> &'static str {
        "Copies between layouts and formats, transposes and concatenations. Reported from 4 % of the step. \
         Cost: their time.\n\n\
         Remedies: layouts that kernels accept directly, casts fused into adjacent kernels, weights kept in \
         the GEMM format, preallocated buffers instead of concatenations."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let (moved, all) = context.arithmetic(|_, name| moves(name));
        if context.share(all) < 0.04 {
            return Vec::new();
        }
        vec![Finding {
            id: self.id().to_owned(),
            message: format!(
                "{} for layout and format conversions take {} of the step",
                context.work(),
                percent(context.share(all))
            ),
            cost: Some(all),
            evidence: context.dearest(moved, 3),
            advice: "find the operator that needs another layout or format, and produce that format directly"
                .to_owned(),
            ..Finding::default()
        }]
    }
}
