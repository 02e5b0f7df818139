//! FLOP and bytes of operators, by name and shape.
//!
//! Responsible for: GEMMs, attention, convolutions, normalization, element-wise work, copies and lookups of
//! PyTorch. Excludes unknown operators, and convolutions with unknown output.

use crate::inputs;
use crate::samples::{attention, product};
use serde::Serialize;
use std::collections::BTreeMap;

/// Kind of work an operator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// GEMMs.
    Product,
    /// Fused attention.
    Attention,
    /// GEMMs of tokens with the experts that they are routed to.
    Experts,
    /// Convolutions.
    Convolution,
    /// Norms and softmax.
    Normalisation,
    /// Element-wise operators.
    Elementwise,
    /// Sums and means.
    Reduction,
    /// Copies and concatenation.
    Copy,
    /// Lookups of rows.
    Embedding,
}

impl Kind {
    /// Label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Product => "GEMM",
            Self::Attention => "attention",
            Self::Experts => "experts",
            Self::Convolution => "convolution",
            Self::Normalisation => "normalisation",
            Self::Elementwise => "element-wise",
            Self::Reduction => "reduction",
            Self::Copy => "copy",
            Self::Embedding => "embedding",
        }
    }
}

/// The work of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Operations.
    pub flop: f64,
    /// Bytes, every input read once and the output written once.
    pub bytes: f64,
}

/// Tests by its name whether an operator contracts (GEMMs, attention, convolutions). Readers keep the shapes
/// of these.
pub(crate) fn contracts(operator: &str) -> bool {
    let base = operator.rsplit("::").next().unwrap_or_default().to_ascii_lowercase();
    let words = ["matmul", "gemm", "linear", "conv", "attention", "attn", "flash", "sdpa", "einsum"];
    base.ends_with("mm") || base.ends_with("mm_out") || words.iter().any(|word| base.contains(word))
}

/// Outputs of convolutions by input and weight.
pub(super) type Outputs = BTreeMap<(Vec<u64>, Vec<u64>), Vec<u64>>;

/// Outputs of convolutions, from the gradients of their backward passes: for recorders without the settings
/// of the forward pass.
pub(super) fn outputs<'a>(operators: impl Iterator<Item = (&'a str, &'a str)>) -> Outputs {
    let mut all = Outputs::new();
    for (operator, shapes) in operators.filter(|(operator, _)| operator.ends_with("convolution_backward")) {
        let _ = operator;
        if let [gradient, input, weight, ..] = crate::samples::lists(shapes).as_slice() {
            all.insert((input.clone(), weight.clone()), gradient.clone());
        }
    }
    all
}

fn elements(shape: &[u64]) -> f64 {
    if shape.is_empty() { 0.0 } else { shape.iter().map(|side| *side as f64).product() }
}

/// Output of a convolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convolved {
    output: Vec<u64>,
    transposed: bool,
}

/// Output of a forward convolution: from its recorded settings, otherwise from a backward pass with the same
/// input and weight. A backward pass has only its settings.
pub(super) fn convolved(text: &str, shapes: &[Vec<u64>], outputs: &Outputs) -> Option<Convolved> {
    let [input, weight, ..] = shapes else { return None };
    if let Some(settings) = inputs::convolution(text) {
        // The gradient, which is the first input of a backward pass, has no such output; only the
        // transposition matters there.
        let output = settings.output(input, weight).unwrap_or_default();
        return Some(Convolved { output, transposed: settings.transposed });
    }
    let output = outputs.get(&(input.clone(), weight.clone()))?.clone();
    let transposed = output.get(1) != weight.first();
    Some(Convolved { output, transposed })
}

/// Operations of a convolution: `2 N C_out H W ... (C_in / groups) K_h K_w ...`, elements of the output times
/// weights of one output channel. A transposed one is the gradient of a convolution whose output is its
/// input.
fn operations(input: &[u64], output: &[u64], weight: &[u64], transposed: bool) -> f64 {
    let side = if transposed { input } else { output };
    2.0 * elements(side) * elements(weight.get(1..).unwrap_or_default())
}

/// Fused GEMMs of experts: tokens `[T, h]`, up and gate weights `[E, u, h]`, down weights `[E, h, d]`, chosen
/// experts `[T, k]` (`fused_moe` of vLLM and AITER). `2 T k h (u + d)` operations. The weights of at most `T
/// k` experts are read, of at least `k` with `fewest`; tokens are read and written.
fn experts(shapes: &[Vec<u64>], width: f64, fewest: bool) -> Option<Work> {
    let [tokens, up, down, chosen, ..] = shapes else { return None };
    let ([t, h], [e, u, up_in], [down_e, down_out, d], [routed, k]) =
        (tokens.as_slice(), up.as_slice(), down.as_slice(), chosen.as_slice())
    else {
        return None;
    };
    if (up_in, down_out, down_e, routed) != (h, h, e, t) || k > e {
        return None;
    }
    let [t, h, e, u, d, k] = [*t, *h, *e, *u, *d, *k].map(|side| side as f64);
    let read = if fewest { k } else { e.min(t * k) } * h * (u + d);
    Some(Work { flop: 2.0 * t * k * h * (u + d), bytes: (read + 2.0 * t * h) * width })
}

/// Tests whether an operator multiplies tokens with the experts that they are routed to.
fn routes(operator: &str) -> bool {
    operator.contains("fused_moe") || operator.contains("fused_experts")
}

/// The same work if all tokens of a call chose the same experts: the minimum of weight reads.
pub(super) fn fewest_experts(operator: &str, shapes: &[Vec<u64>], width: f64) -> Option<Work> {
    experts(shapes, width, true).filter(|_| routes(operator))
}

/// Work of an operator's call with elements of `width` bytes; `None` if unknown. `convolved` is the output of
/// a convolution.
pub fn work(
    operator: &str,
    shapes: &[Vec<u64>],
    width: f64,
    convolved: Option<&Convolved>,
) -> Option<(Kind, Work)> {
    if let Some([batch, m, n, k]) = product(operator, shapes) {
        // 2 m n k operations; both inputs read, the output written.
        let [batch, m, n, k] = [batch, m, n, k].map(|side| side as f64);
        let bytes = batch * (m * k + k * n + m * n) * width;
        return Some((Kind::Product, Work { flop: 2.0 * batch * m * n * k, bytes }));
    }
    if routes(operator) {
        return experts(shapes, width, false).map(|work| (Kind::Experts, work));
    }
    let base = operator.strip_prefix("aten::")?;
    if base.contains("attention") {
        let ([batch, queries, keys, heads, kv_heads, head], backward) = attention(operator, shapes)?;
        let [batch, queries, keys, heads, kv_heads, head] =
            [batch, queries, keys, heads, kv_heads, head].map(|side| side as f64);
        // Two GEMMs of 2 q k d each, five in the backward pass (Dao, "FlashAttention-2", section 3). Assumes
        // no mask, because shapes do not show it.
        let one = 2.0 * batch * heads * queries * keys * head;
        let passed = batch * head * (2.0 * heads * queries + 2.0 * kv_heads * keys) * width;
        let (flop, bytes) = if backward { (5.0 * one, 2.0 * passed) } else { (2.0 * one, passed) };
        return Some((Kind::Attention, Work { flop, bytes }));
    }
    if base == "convolution_backward" {
        let [gradient, input, weight, ..] = shapes else { return None };
        // The gradients of the input and of the weight, each as much as the forward pass.
        let bytes = 2.0 * (elements(gradient) + elements(input) + elements(weight)) * width;
        let transposed = convolved.is_some_and(|convolved| convolved.transposed);
        let flop = 2.0 * operations(input, gradient, weight, transposed);
        return Some((Kind::Convolution, Work { flop, bytes }));
    }
    if base.contains("conv") {
        let [input, weight, ..] = shapes else { return None };
        let Convolved { output, transposed } = convolved.filter(|convolved| !convolved.output.is_empty())?;
        let bytes = (elements(output) + elements(input) + elements(weight)) * width;
        let flop = operations(input, output, weight, *transposed);
        return Some((Kind::Convolution, Work { flop, bytes }));
    }
    let base = base.trim_end_matches("_out").trim_end_matches('_');
    let all: f64 = shapes.iter().map(|shape| elements(shape)).sum();
    let most = shapes.iter().map(|shape| elements(shape)).fold(0.0, f64::max);
    // Output of element-wise work has the size of its largest input, the minimum under broadcasting.
    let (kind, moved, flop) = match base {
        "copy" => (Kind::Copy, all, 0.0),
        "cat" | "_cat" => (Kind::Copy, 2.0 * all, 0.0),
        "sum" | "mean" | "norm" | "linalg_vector_norm" => (Kind::Reduction, all, most),
        "add"
        | "sub"
        | "mul"
        | "div"
        | "addcmul"
        | "addcdiv"
        | "lerp"
        | "where"
        | "threshold_backward"
        | "gelu_backward"
        | "silu_backward"
        | "sigmoid_backward"
        | "tanh_backward"
        | "native_dropout_backward" => {
            // Further tensors are outputs (`out=`), included in `most`.
            let inputs = if matches!(base, "addcmul" | "addcdiv" | "lerp" | "where") { 3 } else { 2 };
            let read: f64 = shapes.iter().take(inputs).map(|shape| elements(shape)).sum();
            (Kind::Elementwise, read + most, most)
        }
        "gelu" | "silu" | "relu" | "sigmoid" | "tanh" | "exp" | "neg" | "pow" | "sqrt" | "rsqrt"
        | "clamp" | "clamp_min" | "dropout" | "native_dropout" | "leaky_relu" | "hardtanh" => {
            (Kind::Elementwise, 2.0 * most, most)
        }
        "_softmax" | "_log_softmax" | "native_layer_norm" | "native_group_norm" | "native_batch_norm"
        | "cudnn_batch_norm" | "miopen_batch_norm" | "_fused_rms_norm" => {
            (Kind::Normalisation, 2.0 * most, 5.0 * most)
        }
        "_softmax_backward_data"
        | "_log_softmax_backward_data"
        | "native_layer_norm_backward"
        | "native_batch_norm_backward"
        | "cudnn_batch_norm_backward"
        | "miopen_batch_norm_backward" => (Kind::Normalisation, 3.0 * most, 8.0 * most),
        "embedding" => {
            let [table, indices, ..] = shapes else { return None };
            // The rows looked up, read and written.
            let row = *table.last()? as f64;
            (Kind::Embedding, 2.0 * elements(indices) * row, 0.0)
        }
        _ => return None,
    };
    (moved > 0.0).then_some((kind, Work { flop, bytes: moved * width }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::lists;

    fn of(operator: &str, shapes: &str) -> Option<(Kind, f64, f64)> {
        let outputs = outputs([("aten::convolution_backward", BACKWARD)].into_iter());
        let sides = lists(shapes);
        let convolved = convolved(shapes, &sides, &outputs);
        work(operator, &sides, 2.0, convolved.as_ref()).map(|(kind, work)| (kind, work.flop, work.bytes))
    }

    /// The first convolution of ResNet-50 on a batch of 32: 112 x 112 outputs of 64 channels.
    const BACKWARD: &str = "[[32, 64, 112, 112], [32, 3, 224, 224], [64, 3, 7, 7], [0]]";

    #[test]
    fn convolutions_take_their_output_from_the_backward_pass() {
        // 118,013,952 multiply-adds per image (torchvision and fvcore's tables of ResNet-50), two operations
        // each.
        let forward = 2.0 * 118_013_952.0 * 32.0;
        let found = of("aten::cudnn_convolution", "[[32, 3, 224, 224], [64, 3, 7, 7], []]").expect("known");
        assert_eq!((found.0, found.1), (Kind::Convolution, forward));
        assert_eq!(of("aten::convolution_backward", BACKWARD).map(|found| found.1), Some(2.0 * forward));
        assert_eq!(of("aten::cudnn_convolution", "[[8, 3, 224, 224], [64, 3, 7, 7], []]"), None);
    }

    #[test]
    fn convolutions_have_the_output_of_their_settings() {
        let shapes = "[[32, 3, 224, 224], [64, 3, 7, 7]];type=float;stride=2,2;padding=3,3;dilation=1,1";
        let forward = 2.0 * 118_013_952.0 * 32.0;
        assert_eq!(of("aten::miopen_convolution", shapes).map(|found| found.1), Some(forward));
        // One output channel per input channel: 9 multiplications per output (MobileNet, section 3.1).
        let depthwise = "[[8, 1024, 32, 32], [1024, 1, 3, 3]];stride=1,1;padding=1,1;dilation=1,1";
        assert_eq!(of("aten::convolution", depthwise).map(|found| found.1), Some(2.0 * 8_388_608.0 * 9.0));
        // ConvTranspose2d: every input element is multiplied with the whole kernel of its channel; the output
        // is twice as wide.
        let transposed =
            "[[4, 512, 8, 8], [512, 256, 4, 4]];stride=2,2;padding=1,1;dilation=1,1;transposed=True";
        let found = of("aten::convolution", transposed).expect("known");
        assert_eq!(found.1, 2.0 * 131_072.0 * 4096.0);
        assert_eq!(found.2, (131_072.0 + 2_097_152.0 + 262_144.0) * 2.0);
    }

    #[test]
    fn attention_is_two_products_forward_and_five_backward() {
        // FlashAttention-2's benchmark counts 4 seqlen^2 head_dim heads forward: 4 * 2048^2 * 128 * 16 for
        // one sequence, and 2.5 times that backward.
        let shapes = "[[1, 16, 2048, 128], [1, 16, 2048, 128], [1, 16, 2048, 128], []]";
        let forward = of("aten::_scaled_dot_product_flash_attention", shapes).expect("known");
        assert_eq!(forward.1, 4.0 * 2048.0 * 2048.0 * 128.0 * 16.0);
        assert_eq!(forward.2, 4.0 * 2048.0 * 16.0 * 128.0 * 2.0);
        // torch 2.11 with cuDNN: 8 of 32 heads have keys and values, and the first input of the backward pass
        // is the output's gradient.
        let shapes = "[[1, 32, 8192, 128], [1, 8, 8192, 128], [1, 8, 8192, 128], [], [], []]";
        let forward = of("aten::_cudnn_attention_forward", shapes).expect("known");
        assert_eq!(forward.1, 4.0 * 8192.0 * 8192.0 * 128.0 * 32.0);
        let shapes = "[[1, 32, 8192, 128], [1, 32, 8192, 128], [1, 8, 8192, 128], [1, 8, 8192, 128], [1, 32, 8192, 128]]";
        let backward = of("aten::_cudnn_attention_backward", shapes).expect("known");
        assert_eq!(backward.1, 2.5 * forward.1);
    }

    #[test]
    fn experts_that_are_chosen_are_read_once() {
        // 16 tokens, two of 64 experts each: 2 * 16 * 2 * 4096 * (22016 + 11008) operations, the weights of
        // 32 experts.
        let shapes = "[[16, 4096], [64, 22016, 4096], [64, 4096, 11008], [16, 2]]";
        let found = of("vllm::rocm_aiter_fused_moe", shapes).expect("known");
        assert_eq!((found.0, found.1), (Kind::Experts, 8_657_043_456.0));
        assert_eq!(found.2, (32.0 * 4096.0 * 33_024.0 + 2.0 * 16.0 * 4096.0) * 2.0);
        let fewest = fewest_experts("vllm::rocm_aiter_fused_moe", &lists(shapes), 2.0).expect("known");
        assert_eq!(fewest.bytes, (2.0 * 4096.0 * 33_024.0 + 2.0 * 16.0 * 4096.0) * 2.0);
        assert_eq!(
            of("vllm::rocm_aiter_fused_moe", "[[16, 4096], [64, 22016, 512], [64, 4096, 11008], [16, 2]]"),
            None
        );
    }

    #[test]
    fn bytes_are_those_that_must_move() {
        assert_eq!(of("aten::copy_", "[[1024], [1024], []]"), Some((Kind::Copy, 0.0, 4096.0)));
        assert_eq!(of("aten::add_", "[[1024], [1024], []]"), Some((Kind::Elementwise, 1024.0, 6144.0)));
        assert_eq!(of("aten::gelu", "[[4, 256]]"), Some((Kind::Elementwise, 1024.0, 4096.0)));
        assert_eq!(
            of("aten::embedding", "[[32000, 64], [8, 16], []]"),
            Some((Kind::Embedding, 0.0, 32768.0))
        );
        assert_eq!(
            of("aten::native_layer_norm", "[[16, 64], [], [64], [64], []]").map(|f| f.2),
            Some(4096.0)
        );
        assert_eq!(of("aten::view", "[[16, 64]]"), None);
        assert_eq!(of("aten::add", "[[], []]"), None);
    }
}
