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
        "Kernels that only move data about"
    }

    fn text(&self) -> &'static str {
        "Copies between layouts and formats, transposes, concatenations. Reported from 4 % of the step on; the cost is their time.\n\n\
         What helps: layouts that kernels take as they are, casts fused into their neighbours, weights kept in the format of the products, buffers instead of concatenations."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let (moved, all) = context.arithmetic(|_, name| moves(name));
        if context.share(all) < 0.04 {
            return Vec::new();
        }
        vec![Finding {
            id: self.id().to_owned(),
            message: format!(
                "{} that only move data take {} of the step",
                context.work(),
                percent(context.share(all))
            ),
            cost: Some(all),
            evidence: context.dearest(moved, 3),
            advice: "find which operator asks for another layout or format, and give it that from the start"
                .to_owned(),
            ..Finding::default()
        }]
    }
}
