//! Attention of trainers on Hugging Face models.
//!
//! Responsible for: settings that select attention without a kernel of its own, by each trainer's keys.
//! The choice among kernels is a property of the software generation.

use super::common::Dialect;
use crate::fields::Fields;
use railwright_spec::plan::AttentionKernel;

/// Sets attention whose scores are in memory.
pub(super) fn read(fields: &mut Fields<'_>, dialect: Dialect) {
    for path in ["attn_implementation", "attn_impl", "flash_attn", "eager_attention"] {
        let Some(word) = fields.word(path).map(|word| word.to_ascii_lowercase()) else { continue };
        let is_eager = match path {
            // LLaMA-Factory passes `disabled` on as `eager` (`model/model_utils/attention.py`).
            "flash_attn" => dialect == Dialect::LlamaFactory && word == "disabled",
            "eager_attention" => dialect == Dialect::Axolotl && word == "true",
            _ => word == "eager",
        };
        if is_eager {
            fields.set("plan.attention_kernel", &AttentionKernel::Unfused, path);
        }
    }
}
