//! Logits and loss on the last stage.
//!
//! Responsible for: bytes per logit at the loss and while waiting for the backward pass. Independent of
//! layers.

use crate::program::saved::{self, Saving};
use railwright_spec::model::Model;

/// Bytes of the head for one micro-batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct HeadBytes {
    /// Kept until the backward pass: the final norm's and the head's inputs, and the softmax.
    pub saved: f64,
    /// At the peak of the loss, `saved` of this micro-batch included.
    pub peak: f64,
}

/// Bytes of the head: per logit and per element of the last hidden state.
///
/// A vocabulary-parallel cross entropy of Megatron holds bf16 logits, their fp32 copy and one fp32 temporary:
/// 10 bytes per logit at the peak, 4 (the softmax) after it. torch's own holds logits, fp32 copy, log-softmax
/// and gradient: 14-16. Without vocabulary parallelism in the loss, each rank of the tensor group gathers all
/// logits. It then holds the result of the all-gather, in the format of activations, in addition to the
/// tensors of the loss. In a loss of n chunks, all of these are of one chunk: `peak = saved + (logit_bytes -
/// logit_saved_bytes + gathered) / n * logits`, in bytes.
pub(crate) fn head_bytes(model: &Model, saving: &Saving<'_>) -> HeadBytes {
    let Saving { plan, software, sizes } = *saving;
    let mut saved = 0.0;
    saved::head(model, saving, &mut |tensor| saved += tensor.bytes);
    let returned = if software.gathered_logits { sizes.micro.activation_bytes } else { 0.0 };
    // Losses of further predictions are sequential: their saved parts add, their peaks do not. A loss in
    // chunks gathers and holds the logits of one chunk at a time.
    let temporary = ((software.logit_bytes - software.logit_saved_bytes).max(0.0) + returned)
        / software.logit_chunks.max(1.0);
    // A host that waits for transfers between stages does not run ahead: runs with two or more stages do not
    // hold these.
    let waiting = if plan.pipeline_parallel == 1 { software.waiting_hidden } else { 0.0 };
    let buffers = (software.loss_hidden + waiting) * sizes.hidden * sizes.micro.tokens;
    HeadBytes { saved, peak: saved + temporary * saved::logits(model, saving) + buffers }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{MemorySoftware, SoftwareCatalogue, testing};
    use crate::program::saved::SavedSizes;
    use railwright_spec::plan::Plan;

    fn of(model: &Model, plan: &Plan, software: &MemorySoftware) -> HeadBytes {
        let sizes = SavedSizes::new(model, &testing::cluster(80.0), plan, software);
        head_bytes(model, &Saving { plan, software, sizes: &sizes })
    }

    /// A loss on gathered logits holds as much as one without tensor parallelism, except for the head's
    /// inputs.
    #[test]
    fn gathered_logits_are_not_cut() {
        let model = testing::llama(4096, 14336, 32, 8, 2, 128_256);
        let (mut plan, mut software) = (testing::plan(), testing::neutral());
        software.logit_bytes = 10.0;
        let peak = |plan: &Plan, software: &MemorySoftware| of(&model, plan, software).peak;
        plan.tensor_parallel = 1;
        let alone = peak(&plan, &software);
        plan.tensor_parallel = 4;
        let cut = peak(&plan, &software);
        software.gathered_logits = true;
        let gathered = peak(&plan, &software);
        // 10 bytes of the loss, and the 16-bit logits that the all-gather returns.
        assert!(cut < 0.4 * alone && (gathered / alone / 1.2 - 1.0).abs() < 0.02, "{cut} {gathered} {alone}");
    }

    /// PyTorch's loss on gathered logits: the 16-bit ones returned by the all-gather, their fp32 copy, the
    /// log-softmax and the gradients of both, 2 + 4 + 4 + 4 + 4 bytes. On one device there is no gather,
    /// but the head's output is held as well.
    #[test]
    fn a_plain_loss_on_gathered_logits_holds_eighteen_bytes() {
        let model = testing::llama(4096, 14336, 32, 8, 2, 128_256);
        let (mut plan, catalogue) = (testing::plan(), SoftwareCatalogue::built_in().expect("reads"));
        let tokens = (plan.micro_batch * plan.sequence_length) as f64;
        for (stack, bytes) in [
            ("megatron-core-2024+gathered-loss+plain-loss", 18.0),
            ("megatron-core-2024+gathered-loss", 14.0),
            ("megatron-core-2024+plain-loss", 16.0 / 4.0),
        ] {
            plan.tensor_parallel = 4;
            let software = catalogue.get(stack);
            let inputs = 4.0 * 4096.0 * tokens;
            let per_logit = (of(&model, &plan, software).peak - inputs) / 128_256.0 / tokens;
            assert!((per_logit - bytes).abs() < 1e-9, "{stack}: {per_logit}");
        }
    }

    /// Liger's loss of 32 chunks (Hsu 2024, section 3.2) on gathered logits: 2 bytes that the all-gather
    /// returns and 12 of the loss, of one chunk.
    #[test]
    fn a_chunked_loss_gathers_one_chunk() {
        let model = testing::llama(4096, 14336, 32, 8, 2, 128_256);
        let (mut plan, catalogue) = (testing::plan(), SoftwareCatalogue::built_in().expect("reads"));
        plan.tensor_parallel = 4;
        let tokens = (plan.micro_batch * plan.sequence_length) as f64;
        for (loss, chunks) in [("fused-loss", 32.0), ("chunked-loss", 8.0)] {
            let software = catalogue.get(&format!("megatron-core-2024+gathered-loss+{loss}"));
            let inputs = 4.0 * 4096.0 * tokens;
            let per_logit = (of(&model, &plan, software).peak - inputs) / 128_256.0 / tokens;
            assert!((per_logit - 14.0 / chunks).abs() < 1e-9, "{loss}: {per_logit}");
        }
    }

    #[test]
    fn buffers_wait_for_another_stream_without_a_pipeline_alone() {
        let model = testing::llama(4096, 14336, 32, 8, 2, 128_256);
        let mut plan = testing::plan();
        let mut software = testing::neutral();
        let peak = |plan: &Plan, software: &MemorySoftware| of(&model, plan, software).peak;
        let without = peak(&plan, &software);
        software.waiting_hidden = 10.0;
        let tokens = (plan.micro_batch * plan.sequence_length) as f64;
        assert_eq!(peak(&plan, &software) - without, 10.0 * 4096.0 * tokens);
        plan.pipeline_parallel = 2;
        assert_eq!(peak(&plan, &software), without);
    }

    #[test]
    fn a_large_vocabulary_costs_gigabytes() {
        // 8,192 tokens of a 128,256-word vocabulary at 10 bytes a logit: 9.8 GiB, sharded by tensor
        // parallelism.
        let model = testing::llama(4096, 14336, 32, 8, 2, 128_256);
        let mut plan = testing::plan();
        plan.sequence_length = 8192;
        let mut software = testing::neutral();
        software.logit_bytes = 10.0;
        let one = of(&model, &plan, &software);
        let inputs = 4.0 * 4096.0 * 8192.0;
        assert_eq!(one.peak, 8192.0 * 128_256.0 * 10.0 + inputs);
        plan.tensor_parallel = 8;
        let eight = of(&model, &plan, &software);
        assert_eq!(eight.peak - inputs, (one.peak - inputs) / 8.0);
    }
}
