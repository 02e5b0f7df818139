//! Token mixers: softmax attention, latent attention, linear attention, state spaces.

use super::widths::{Widths, is_indexed};
use super::{Kernel, Operation};
use crate::costing::Costing;
use crate::operators::{AttentionKernel, AttentionShape};
use crate::work::Family;
use railwright_spec::model::{Convolution, Layer, Mixer, SelectiveScan, Span};
use railwright_spec::plan::{ContextKind, Plan};
use railwright_spec::quantity::{Bytes, Flop};
use railwright_step::Phase;

/// Number of kernels of unfused attention forward: scores, scale and mask with softmax, dropout, GEMM with
/// values.
const UNFUSED_LAUNCHES: f64 = 6.0;

/// Visits the layer's mixers.
pub(super) fn visit(costing: &Costing<'_>, layer: &Layer, visit: &mut impl FnMut(Operation<'_>)) {
    for mixer in layer.mixer.each() {
        one(costing, mixer, visit);
    }
}

/// Visits a forward and a backward kernel, with their numbers of launches.
fn both([forward, backward]: [(Kernel, f64); 2], visit: &mut impl FnMut(Operation<'_>)) {
    for (phase, (kernel, launches)) in [(Phase::Forward, forward), (Phase::BackwardInput, backward)] {
        visit(Operation::new(Family::AttentionCore, phase, kernel, launches));
    }
}

fn one(costing: &Costing<'_>, mixer: &Mixer, visit: &mut impl FnMut(Operation<'_>)) {
    match mixer {
        Mixer::Attention(_) | Mixer::Latent(_) => softmax(costing, mixer, visit),
        Mixer::Linear(a) => {
            let state = (a.value_heads * a.key_head_dim * a.value_head_dim) as f64;
            let width = (2 * a.key_heads * a.key_head_dim + 2 * a.value_heads * a.value_head_dim) as f64;
            scan(costing, (state, width), visit);
        }
        Mixer::StateSpace(s) => {
            let state = (s.heads * s.head_dim * s.state_size) as f64;
            let width = (2 * s.heads * s.head_dim + 2 * s.groups * s.state_size) as f64;
            scan(costing, (state, width), visit);
        }
        Mixer::Selective(s) => selective(costing, s, visit),
        Mixer::Convolution(c) => convolution(costing, c, visit),
        Mixer::Several { .. } | Mixer::Unpriced { .. } | Mixer::None => {}
    }
}

/// Keys that a query of softmax attention sees.
#[derive(Clone, Copy)]
pub(crate) struct Keys {
    span: Span,
    /// Keys, or entries of the compressed past, that a learned index keeps.
    top_k: Option<u64>,
    /// Heads of this index and their width.
    index: [u64; 2],
    /// Tokens per entry of a compressed past; 0 without one.
    rate: u64,
}

impl Keys {
    /// Keys of a mixer; `None` if it is no softmax attention.
    pub(crate) fn of(mixer: &Mixer) -> Option<Self> {
        match mixer {
            Mixer::Attention(a) => {
                Some(Self { span: a.span, top_k: a.sparse_top_k, index: a.index, rate: a.compress_rate })
            }
            Mixer::Latent(a) => {
                Some(Self { span: Span::Causal, top_k: a.sparse_top_k, index: a.index, rate: 0 })
            }
            _ => None,
        }
    }

    /// The span, or a window of the same number of keys. An index keeps at most `top_k` keys of the span. A
    /// compressed past adds its entries to the span: those that the index keeps, or without an index the mean
    /// over causal queries of all, `length / (2 rate)`.
    pub(crate) fn seen(self, length: f64) -> Span {
        let kept = |keys: u64| self.top_k.map_or(keys, |k| keys.min(k));
        match self.span {
            Span::Window(n) if self.rate > 0 => {
                let entries = length as u64 / self.rate;
                Span::Window(n + self.top_k.map_or(entries / 2, |k| entries.min(k)))
            }
            Span::Window(n) => Span::Window(kept(n)),
            span => self.top_k.map_or(span, Span::Window),
        }
    }
}

/// Tokens of the document of a token, on average over tokens.
pub(crate) fn attended_length(plan: &Plan) -> f64 {
    attended_by_documents(plan.sequence_length, plan.document_length, plan.document_length_cv)
}

/// Tokens of the document of a token, on average over tokens, for documents with this mean length and
/// coefficient of variation. Packed documents attend only to themselves, like separate short sequences of
/// this length.
///
/// `sum(d^2) / sum(d) = mean (1 + cv^2)`: a document of length `d` has `d` tokens, so long documents have
/// more weight than in the mean. Documents end at the sequence, which bounds the result.
pub(crate) fn attended_by_documents(sequence_length: u64, mean: Option<u64>, variation: f64) -> f64 {
    let sequence = sequence_length as f64;
    mean.map_or(sequence, |mean| (mean as f64 * (1.0 + variation * variation)).min(sequence))
}

/// Attention of the whole sequence for the heads of one rank. Context parallelism divides its time: balanced
/// rings and gathers divide the queries, Ulysses the heads, and both leave each rank `1/context_parallel` of
/// the work.
fn shape(costing: &Costing<'_>, widths: &Widths, span: Span) -> AttentionShape {
    let plan = costing.plan;
    let sequence = plan.sequence_length as f64;
    let length = attended_length(plan);
    // Keys from another stack: its number of tokens, or the number of queries if the data determines it.
    let (key_length, span) = match span {
        Span::Memory(0) => (length, Span::Bidirectional),
        Span::Memory(keys) => (keys as f64, Span::Bidirectional),
        span => (length, span),
    };
    AttentionShape {
        batch: plan.micro_batch as f64 * sequence / length,
        query_length: length,
        key_length,
        heads: widths.heads,
        kv_heads: widths.kv_heads,
        head_dim: widths.key,
        value_dim: widths.value,
        span,
    }
}

/// Attention under a mask of all pairs of positions: the kernel computes every pair of the row, including
/// those of different documents and of later keys, `batch x heads x sequence^2` scores instead of those that
/// are visible. PyTorch's kernels read such a mask as a bias.
fn masked(costing: &Costing<'_>, shape: AttentionShape) -> AttentionShape {
    let plan = costing.plan;
    if matches!(costing.attention_kernel, AttentionKernel::Unfused { .. })
        || !costing.software.has_whole_mask(plan)
    {
        return shape;
    }
    let sequence = plan.sequence_length as f64;
    AttentionShape {
        batch: plan.micro_batch as f64,
        query_length: sequence,
        key_length: if shape.span == Span::Bidirectional { shape.key_length } else { sequence },
        span: Span::Bidirectional,
        ..shape
    }
}

/// Softmax attention, and the scores of the index that selects its keys.
fn softmax(costing: &Costing<'_>, mixer: &Mixer, visit: &mut impl FnMut(Operation<'_>)) {
    let widths = Widths::of(mixer, costing.plan.tensor_parallel as f64);
    let (Some(widths), Some(keys)) = (widths, Keys::of(mixer)) else { return };
    let mut shape = shape(costing, &widths, keys.span);
    shape.span = Keys { span: shape.span, ..keys }.seen(shape.key_length);
    index(costing, shape, keys, visit);
    let shape = masked(costing, shape);
    let is_unfused = matches!(costing.attention_kernel, AttentionKernel::Unfused { .. });
    let ring = turns_around(costing, mixer);
    let launches = if is_unfused { UNFUSED_LAUNCHES } else { 1.0 } * ring;
    let kernel = Kernel::Attention { shape, ranks: dividing_ranks(costing, &shape) };
    both([(kernel, launches), (kernel, 2.0 * launches)], visit);
    if ring > 1.0 {
        merge(costing, &widths, ring, visit);
    }
}

/// Pieces of a rank's attention: one, or one per rank of a ring, whose keys and values arrive one after
/// another.
fn turns_around(costing: &Costing<'_>, mixer: &Mixer) -> f64 {
    let is_ring = costing.plan.context_kind == ContextKind::Ring && !is_indexed(mixer);
    if is_ring { costing.plan.context_parallel as f64 } else { 1.0 }
}

/// Merges the pieces of ring attention. Forward, each piece's output is written, read, scaled by its share of
/// the softmax and added to the whole; backward, each piece's gradients of queries, keys and values are added
/// up. With `n` pieces that is `(4 n - 1) x elements x bytes` beyond the output of one kernel: `n - 1` more
/// writes, and `n` sums of two reads and a write. Under a causal mask balanced over the ranks, pieces other
/// than the first have half of the queries or half of the keys alternately: 3/4 on average.
///
/// Transformer Engine, context_parallel.py: `flash_attn_fwd_out_correction` and the sums of `dq` and `dkv`,
/// a kernel for the statistics and one for the output of each piece, three backward.
fn merge(costing: &Costing<'_>, widths: &Widths, ring: f64, visit: &mut impl FnMut(Operation<'_>)) {
    let part = if costing.software.contiguous_context { 1.0 } else { 0.75 };
    let pieces = 1.0 + (ring - 1.0) * part;
    let unit = (4.0 * pieces - 1.0) * costing.tokens * costing.activation_bytes;
    let kernel = |width: f64| Kernel::Stream { bytes: Bytes::new(unit * width), derived: None };
    let gradients = widths.queries() + widths.keys() + widths.values();
    both([(kernel(widths.outputs()), 2.0 * ring), (kernel(gradients), 3.0 * ring)], visit);
}

/// Scores of a learned index: `2 H d` operations for each query and earlier key, or each earlier entry of a
/// compressed past, in `H` heads of width `d` with one key for all heads (DeepSeek-V3.2, section 2.1). Every
/// tensor-parallel rank computes all heads. Backward has the gradients of both operands. Excludes the
/// selection itself and the teacher's scores.
fn index(
    costing: &Costing<'_>,
    attention: AttentionShape,
    keys: Keys,
    visit: &mut impl FnMut(Operation<'_>),
) {
    let [heads, width] = keys.index.map(|number| number as f64);
    let rate = keys.rate.max(1) as f64;
    if heads <= 0.0 || width <= 0.0 {
        return;
    }
    let shape = AttentionShape {
        query_length: attention.query_length / rate,
        key_length: attention.key_length / rate,
        batch: attention.batch * rate,
        heads,
        kv_heads: 1.0,
        head_dim: width,
        value_dim: 0.0,
        span: Span::Causal,
    };
    // The past is divided as that of attention over all keys.
    let whole = AttentionShape { span: Span::Causal, ..attention };
    let kernel = Kernel::Attention { shape, ranks: dividing_ranks(costing, &whole) };
    both([(kernel, 1.0), (kernel, 2.0)], visit);
}

/// Number by which context parallelism over `c` ranks divides attention on the busiest rank: `c`, or
/// `c^2 / (2c - 1)` where every rank has a contiguous part of a causal sequence. The last part has `(2c - 1)
/// / c^2` of the pairs of query and key. Documents that end within the sequence have as many pairs per token
/// in every part.
fn dividing_ranks(costing: &Costing<'_>, shape: &AttentionShape) -> f64 {
    let plan = costing.plan;
    let ranks = plan.context_parallel as f64;
    let is_whole = shape.span == Span::Causal && shape.query_length >= plan.sequence_length as f64;
    let is_contiguous = costing.software.contiguous_context && plan.context_kind != ContextKind::Ulysses;
    if is_whole && is_contiguous { ranks * ranks / (2.0 * ranks - 1.0) } else { ranks }
}

/// Tokens of a chunk of a scan (`chunk_size` of Mamba 2's kernels).
const CHUNK: f64 = 256.0;
/// Reads and writes of a chunk's state, by the kernels of chunk states, of state passing and of the output.
const STATE_PASSES: f64 = 6.0;

/// Backward passes of scans over forward ones: they recompute the states.
const SCAN_BACKWARD: f64 = 2.5;

/// A chunked scan over a recurrent state of `state` elements per token with `width` elements of input and
/// output per token.
///
/// The chunked form (Mamba 2, gated delta net) does about `4 x state` multiply-adds per token as GEMMs of
/// chunk width. It reads its inputs about four times, and writes and reads an fp32 state per chunk of 256
/// tokens about six times between its kernels: `bytes = 4 width tokens e passes + 6 x 4 state tokens / 256`.
fn scan(costing: &Costing<'_>, (state, width): (f64, f64), visit: &mut impl FnMut(Operation<'_>)) {
    let tokens = costing.tokens / costing.plan.tensor_parallel as f64;
    let flop = Flop::new(8.0 * state * tokens);
    let inputs = 4.0 * width * tokens * costing.activation_bytes * costing.software.elementwise_passes;
    let bytes = Bytes::new(inputs + STATE_PASSES * 4.0 * state * tokens / CHUNK);
    let kernel = |times| Kernel::Scan { flop, bytes, times };
    both([(kernel(1.0), 5.0), (kernel(SCAN_BACKWARD), 10.0)], visit);
}

/// Floating-point operations per token and element of state of a selective scan: decay, input and update of
/// the state, and its read-out, `9 B L D N` in total (the count by the authors of Mamba for their kernel).
const SCAN_FLOP: f64 = 9.0;

/// A selective scan (Gu and Dao 2023, section 3.3): one kernel reads inputs, steps and gates, keeps its state
/// on the chip and writes the output: `9 D N tokens` operations and `(4 D + 2 N) tokens e` bytes. Backward
/// recomputes the states: 2.5 times forward.
fn selective(costing: &Costing<'_>, scan: &SelectiveScan, visit: &mut impl FnMut(Operation<'_>)) {
    let tokens = costing.tokens / costing.plan.tensor_parallel as f64;
    let (inner, state) = (scan.inner as f64, scan.state_size as f64);
    let flop = Flop::new((SCAN_FLOP * state + 2.0 * scan.conv_kernel as f64) * inner * tokens);
    let bytes = Bytes::new((4.0 * inner + 2.0 * state) * tokens * costing.activation_bytes);
    let kernel = |times| Kernel::SelectiveScan { flop, bytes, times };
    both([(kernel(1.0), 2.0), (kernel(SCAN_BACKWARD), 4.0)], visit);
}

/// A gated short convolution (LFM2): it reads two gates and a value and writes one, with `2 taps` operations
/// an element, so memory limits it: `4 width tokens e`. Backward reads those and a gradient and writes three
/// gradients: `8 width tokens e`.
fn convolution(costing: &Costing<'_>, convolution: &Convolution, visit: &mut impl FnMut(Operation<'_>)) {
    let tokens = costing.tokens / costing.plan.tensor_parallel as f64;
    let unit = convolution.width as f64 * tokens * costing.activation_bytes;
    let flop = 2.0 * convolution.taps as f64 * convolution.width as f64 * tokens;
    let kernel = |widths: f64, flop: f64| Kernel::Stream {
        bytes: Bytes::new(widths * unit * costing.software.elementwise_passes),
        derived: Some(Flop::new(flop)),
    };
    both([(kernel(4.0, flop), 3.0), (kernel(8.0, 2.0 * flop), 5.0)], visit);
}
