//! What mixes tokens: softmax attention, latent attention, linear attention, state spaces.

use super::LayerCost;
use crate::costing::Costing;
use crate::operators::{AttentionKernel, AttentionShape, Cost, Pass, Source};
use crate::work::Family;
use railwright_spec::model::{Convolution, Layer, Mixer, SelectiveScan, Span};
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{Bytes, Flop};

/// Kernels that unfused attention launches forward: scores, scale and mask with softmax, dropout, product with values.
const UNFUSED_LAUNCHES: f64 = 6.0;

/// Adds the layer's mixers.
pub(super) fn add(costing: &Costing<'_>, layer: &Layer, cost: &mut LayerCost) {
    for mixer in layer.mixer.each() {
        one(costing, mixer, cost);
    }
}

fn one(costing: &Costing<'_>, mixer: &Mixer, cost: &mut LayerCost) {
    match mixer {
        Mixer::Attention(a) => {
            let mut shape = shape(costing, a.heads, a.kv_heads, a.head_dim, a.value_dim, a.span);
            if let Some(top_k) = a.sparse_top_k {
                shape.span = sparse(shape.span, top_k);
            }
            softmax(costing, &shape, cost);
        }
        Mixer::Latent(a) => {
            let width = a.qk_nope_head_dim + a.qk_rope_head_dim;
            let mut shape = shape(costing, a.heads, a.heads, width, a.v_head_dim, Span::Causal);
            if let Some(top_k) = a.sparse_top_k {
                shape.span = sparse(shape.span, top_k);
            }
            softmax(costing, &shape, cost);
        }
        Mixer::Linear(a) => {
            let state = (a.value_heads * a.key_head_dim * a.value_head_dim) as f64;
            let width = (2 * a.key_heads * a.key_head_dim + 2 * a.value_heads * a.value_head_dim) as f64;
            scan(costing, state, width, cost);
        }
        Mixer::StateSpace(s) => {
            let state = (s.heads * s.head_dim * s.state_size) as f64;
            let width = (2 * s.heads * s.head_dim + 2 * s.groups * s.state_size) as f64;
            scan(costing, state, width, cost);
        }
        Mixer::Selective(s) => selective(costing, s, cost),
        Mixer::Convolution(c) => convolution(costing, c, cost),
        Mixer::Several { .. } | Mixer::Unpriced { .. } | Mixer::None => {}
    }
}

/// A learned index that keeps `top_k` keys works on at most a window of as many.
fn sparse(span: Span, top_k: u64) -> Span {
    match span {
        Span::Window(n) => Span::Window(n.min(top_k)),
        _ => Span::Window(top_k),
    }
}

/// The whole sequence's attention for the heads of one rank. Context parallelism divides its time: balanced rings and gathers
/// divide the queries, Ulysses the heads, and both leave each rank `1/context_parallel` of the work.
fn shape(
    costing: &Costing<'_>,
    heads: u64,
    kv_heads: u64,
    head_dim: u64,
    value_dim: u64,
    span: Span,
) -> AttentionShape {
    let plan = costing.plan;
    let tp = plan.tensor_parallel as f64;
    let sequence = plan.sequence_length as f64;
    // Packed documents attend to themselves alone: as many short sequences.
    let length = plan.document_length.map_or(sequence, |d| (d as f64).min(sequence));
    // Another stack's tokens: as many as it has, or where the data decides as many as there are queries.
    let (key_length, span) = match span {
        Span::Memory(0) => (length, Span::Bidirectional),
        Span::Memory(keys) => (keys as f64, Span::Bidirectional),
        span => (length, span),
    };
    AttentionShape {
        batch: plan.micro_batch as f64 * sequence / length,
        query_length: length,
        key_length,
        heads: heads as f64 / tp,
        kv_heads: (kv_heads as f64 / tp).max(1.0),
        head_dim: head_dim as f64,
        value_dim: value_dim as f64,
        span,
    }
}

fn softmax(costing: &Costing<'_>, shape: &AttentionShape, cost: &mut LayerCost) {
    let device = &costing.machine.device;
    let kernel = costing.attention_kernel;
    let context = costing.plan.context_parallel as f64;
    let launches = if matches!(kernel, AttentionKernel::Unfused { .. }) { UNFUSED_LAUNCHES } else { 1.0 };
    // The whole sequence's kernel sets the rate; the rank does its share of the work.
    let share = |cost: Cost| Cost {
        time: cost.time / context,
        flop: cost.flop / context,
        bytes: cost.bytes / context,
        ..cost
    };
    let forward = share(device.attention(shape, kernel, Pass::Forward));
    let backward = share(device.attention(shape, kernel, Pass::DataGradient));
    let rate = costing.attention_rate;
    cost.forward.add_compute(Family::AttentionCore, forward, rate, launches);
    cost.backward_input.add_compute(Family::AttentionCore, backward, rate, 2.0 * launches);
}

/// Tokens of a chunk of a scan (`chunk_size` of Mamba 2's kernels).
const CHUNK: f64 = 256.0;
/// How often a chunk's state is written or read: by the kernels of chunk states, of passing states on and of the output.
const STATE_PASSES: f64 = 6.0;

/// A chunked scan over a recurrent state of `state` elements per token with `width` elements of input and output per token.
///
/// The chunked form (Mamba 2, gated delta net) does about `4 x state` multiply-adds a token as matrix products of chunk width,
/// which sustain about a fifth of a large product's rate; it streams its inputs about four times, and writes and reads an fp32 state
/// per chunk of 256 tokens about six times between its kernels: `bytes = 4 width tokens e passes + 6 x 4 state tokens / 256`.
fn scan(costing: &Costing<'_>, state: f64, width: f64, cost: &mut LayerCost) {
    let tp = costing.plan.tensor_parallel as f64;
    let tokens = costing.tokens / tp;
    let flop = Flop::new(8.0 * state * tokens);
    let inputs = 4.0 * width * tokens * costing.activation_bytes * costing.software.elementwise_passes;
    let bytes = Bytes::new(inputs + STATE_PASSES * 4.0 * state * tokens / CHUNK);
    let device = &costing.machine.device;
    // A square product of the same arithmetic gives the rate of the matrix units at this size.
    let side = (flop.get() / 2.0).cbrt().max(1.0);
    let product = device.gemm(side, side, side, DataType::Bf16, Pass::Forward);
    let streams = device.memory_bound(bytes);
    let forward = Cost { time: product.time * 5.0 + streams.time, flop, bytes, source: Source::Derived };
    let backward =
        Cost { time: forward.time * 2.5, flop: flop * 2.5, bytes: bytes * 2.5, source: Source::Derived };
    cost.forward.add_compute(Family::AttentionCore, forward, costing.matmul_rate, 5.0);
    cost.backward_input.add_compute(Family::AttentionCore, backward, costing.matmul_rate, 10.0);
}

/// Floating-point operations per token and element of state of a selective scan: decay, input and update of the state, and its
/// read-out, `9 B L D N` in all (the count that the authors of Mamba give for their kernel).
const SCAN_FLOP: f64 = 9.0;
/// How much slower the vector units are than the matrix units in bf16: A100 19.5 against 312 TFLOP/s, H100 67 against 989.
const VECTOR_RATIO: f64 = 16.0;

/// A selective scan (Gu and Dao 2023, section 3.3): one kernel reads inputs, steps and gates, keeps its state on the chip and writes
/// the output. It has no matrix product, so the vector units or the memory set its pace:
/// `max(9 D N tokens / vector rate, (4 D + 2 N) tokens e / bandwidth)`. Backward makes the states again: 2.5 times forward.
fn selective(costing: &Costing<'_>, scan: &SelectiveScan, cost: &mut LayerCost) {
    let tokens = costing.tokens / costing.plan.tensor_parallel as f64;
    let (inner, state) = (scan.inner as f64, scan.state_size as f64);
    let flop = Flop::new((SCAN_FLOP * state + 2.0 * scan.conv_kernel as f64) * inner * tokens);
    let bytes = Bytes::new((4.0 * inner + 2.0 * state) * tokens * costing.activation_bytes);
    let device = &costing.machine.device;
    // A product of the same arithmetic at the rate of the matrix units, as many times slower as the vector units are.
    let side = (flop.get() / 2.0).cbrt().max(1.0);
    let product = device.gemm(side, side, side, DataType::Bf16, Pass::Forward);
    let time = (product.time * VECTOR_RATIO).max(device.memory_bound(bytes).time);
    let forward = Cost { time, flop, bytes, source: Source::Derived };
    let backward = Cost { time: time * 2.5, flop: flop * 2.5, bytes: bytes * 2.5, source: Source::Derived };
    cost.forward.add_compute(Family::AttentionCore, forward, 1.0, 2.0);
    cost.backward_input.add_compute(Family::AttentionCore, backward, 1.0, 4.0);
}

/// A gated short convolution (LFM2): it reads two gates and a value and writes one, with `2 taps` operations an element, so memory
/// sets its pace: `4 width tokens e`; backward reads those and a gradient and writes three gradients: `8 width tokens e`.
fn convolution(costing: &Costing<'_>, convolution: &Convolution, cost: &mut LayerCost) {
    let tokens = costing.tokens / costing.plan.tensor_parallel as f64;
    let unit = convolution.width as f64 * tokens * costing.activation_bytes;
    let stream = |widths: f64, flop: f64| Cost {
        flop: Flop::new(flop),
        source: Source::Derived,
        ..costing.machine.device.memory_bound(Bytes::new(widths * unit * costing.software.elementwise_passes))
    };
    let flop = 2.0 * convolution.taps as f64 * convolution.width as f64 * tokens;
    cost.forward.add_compute(Family::AttentionCore, stream(4.0, flop), 1.0, 3.0);
    cost.backward_input.add_compute(Family::AttentionCore, stream(8.0, 2.0 * flop), 1.0, 5.0);
}
