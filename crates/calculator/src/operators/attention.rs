//! Time of fused attention kernels.
//!
//! Responsible for: the shape of attention (number of visible keys), and the model of kernels that keep
//! scores on chip. Excludes projections around attention, and kernels that write scores to memory (see
//! `unfused`).
//!
//! Model, per pass, with blocks of 128 queries as the unit of work of one multiprocessor:
//!
//! t = floor + (C^4 + M^4)^(1/4), seconds
//!
//! C = f * 2 * 128 (d_qk + d_v) / (e P / U) * max(u (s + s0 + s1), q (S + s0)),  M = bytes / (0.85 B)
//!
//! with u = batch * heads * ceil(queries / 128) / U blocks per multiprocessor (at least 1, partly rounded
//! up); s the mean and S the largest number of keys visible to a query; s0 the start of a block in keys; s1
//! the masked half of diagonal blocks; e the share of peak P at a head width; q the exposed share of the
//! longest block; f = 1 forward and 2.5 backward (which has its own e and s0). Constants: `catalog/operators/
//! attention.csv`.

use super::catalogue;
use super::cost::{Cost, Pass, Source};
use super::gemm::{GemmLaw, UNKNOWN_UNITS};
use railwright_spec::cluster::Accelerator;
use railwright_spec::model::Span;
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{Bytes, Flop, Seconds};

/// Arithmetic of the backward pass over the forward pass: five GEMMs of scores' size against two.
const BACKWARD_FLOP: f64 = 2.5;

/// Queries in a block.
const BLOCK: f64 = 128.0;

/// A generation of attention kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AttentionKernel {
    /// Scores are written to memory: batched GEMMs with softmax between them, over the full square.
    Unfused {
        /// True if scale, mask and softmax are one kernel.
        fused_softmax: bool,
        /// True if probabilities have dropout.
        dropout: bool,
        /// The format of the GEMMs and of the scores between them.
        format: DataType,
    },
    /// FlashAttention 1.
    Flash1,
    /// FlashAttention 2, and versions of it bundled with frameworks.
    Flash2,
    /// FlashAttention 3 (Hopper).
    Flash3,
    /// Vendor kernels (cuDNN), the default of Transformer Engine on Hopper and Blackwell.
    CuDnn,
}

/// The shape of one attention operator on one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttentionShape {
    /// Sequences.
    pub batch: f64,
    /// Queries per sequence; they are the last of the keys. A rank's balanced share under context
    /// parallelism attends to half of all keys on average: pass that number of keys and
    /// [`Span::Bidirectional`].
    pub query_length: f64,
    /// Keys per sequence.
    pub key_length: f64,
    /// Query heads on this rank.
    pub heads: f64,
    /// Key-value heads on this rank.
    pub kv_heads: f64,
    /// Width of a query and key head.
    pub head_dim: f64,
    /// Width of a value head.
    pub value_dim: f64,
    /// Attention mask.
    pub span: Span,
}

impl AttentionShape {
    /// Mean number of keys visible to a query: for queries at positions a..b that see the last w keys, the
    /// mean of min(position, w); causal is w = b.
    pub fn mean_keys(&self) -> f64 {
        let end = self.key_length;
        let start = (end - self.query_length).max(0.0);
        let window = match self.span {
            Span::Bidirectional | Span::Memory(_) => return end,
            Span::Causal => end,
            Span::Window(window) => (window as f64).min(end),
            Span::Chunk(chunk) => return (chunk as f64).min(end) / 2.0,
        };
        if window <= start || end <= start {
            return window;
        }
        ((window * window - start * start) / 2.0 + window * (end - window)) / (end - start)
    }

    /// The largest number of keys visible to a query.
    pub fn most_keys(&self) -> f64 {
        match self.span {
            Span::Bidirectional | Span::Memory(_) | Span::Causal => self.key_length,
            Span::Window(keys) | Span::Chunk(keys) => (keys as f64).min(self.key_length),
        }
    }

    /// FLOP of the forward pass: 2 * batch * heads * queries * mean keys * (d_qk + d_v), without masked
    /// scores.
    pub fn forward_flop(&self) -> Flop {
        let scores = self.batch * self.heads * self.query_length * self.mean_keys();
        Flop::new(2.0 * scores * (self.head_dim + self.value_dim))
    }

    /// Bytes of queries, keys, values and output, once each, in 16 bits.
    pub fn operand_bytes(&self) -> Bytes {
        let widths = self.head_dim + self.value_dim;
        Bytes::new(
            2.0 * self.batch * widths * (self.query_length * self.heads + self.key_length * self.kv_heads),
        )
    }
}

/// Width of a fused kernel's operands. Arithmetic and traffic depend on it, the floor of a kernel does not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width {
    /// Peak of the format over that of the measured 16-bit formats, at most 1.
    pub rate: f64,
    /// Bytes of an element.
    pub bytes: f64,
}

impl Width {
    /// The 16-bit formats of the measurements.
    pub const SIXTEEN: Self = Self { rate: 1.0, bytes: 2.0 };
}

/// One kernel generation on one accelerator.
#[derive(Clone, Copy, Debug)]
struct AttentionLaw {
    /// Share of peak at head widths 64, 128, 192 and 256.
    shares: [f64; 4],
    backward: f64,
    key_start: f64,
    key_start_backward: f64,
    diagonal: f64,
    wave: f64,
    single: f64,
    floor: f64,
    source: Source,
}

/// Graphics cards of Blackwell (compute capability 12.0) have the matrix instructions of Ada, not those of
/// B200 (10.0). Kernels of one do not run on the other, so neither's share of the peak is evidence for the
/// other's.
fn has_kernels_of_its_own(accelerator: &Accelerator) -> bool {
    accelerator.architecture == "Blackwell RTX"
}

/// Head widths with a known share of peak.
const WIDTHS: [f64; 4] = [64.0, 128.0, 192.0, 256.0];

impl AttentionLaw {
    fn find(accelerator: &Accelerator, kernel: &str) -> Option<Self> {
        let (row, source) = catalogue::find(catalogue::ATTENTION, accelerator, kernel)
            .filter(|(_, source)| *source == Source::Fitted || !has_kernels_of_its_own(accelerator))?;
        Some(Self {
            shares: [3, 4, 5, 6].map(|column| row.number(column, 0.5)),
            backward: row.number(7, 0.8),
            key_start: row.number(8, 0.0),
            key_start_backward: row.number(9, 100.0),
            diagonal: row.number(10, 64.0),
            wave: row.number(11, 0.2),
            single: row.number(12, 0.5),
            floor: row.number(13, 3.0) * 1e-6,
            source,
        })
    }

    /// Fallback without attention measurements: two thirds of the GEMM efficiency, the ratio on A100 and
    /// H100.
    fn from_products(products: &GemmLaw) -> Self {
        let share = products.efficiency() * 0.67;
        Self {
            shares: [0.75, 1.0, 0.95, 0.9].map(|width| share * width),
            backward: 0.8,
            key_start: 50.0,
            key_start_backward: 100.0,
            diagonal: 64.0,
            wave: 0.2,
            single: 0.5,
            floor: 4e-6,
            source: Source::Roofline,
        }
    }

    fn scaled(self, factor: f64) -> Self {
        Self {
            shares: self.shares.map(|share| share * factor),
            source: self.source.max(Source::Derived),
            ..self
        }
    }

    /// Share of peak at a head width, linear between the known ones; proportionally less for narrower heads.
    fn share(&self, width: f64) -> f64 {
        let [first, .., last] = self.shares;
        if width <= WIDTHS[0] {
            return first * (width / WIDTHS[0]).max(0.05);
        }
        for i in 1..WIDTHS.len() {
            if width <= WIDTHS[i] {
                let part = (width - WIDTHS[i - 1]) / (WIDTHS[i] - WIDTHS[i - 1]);
                return self.shares[i - 1] + part * (self.shares[i] - self.shares[i - 1]);
            }
        }
        last
    }
}

/// Steps of head widths that kernels exist for; other widths are padded. A TPU's registers have 128 lanes: 64
/// is padded to 128, and 192 to 256 (jax-ml/jax issues 26433 and 30861, pull request 26676;
/// AI-Hypercomputer/maxtext issue 1047).
fn head_step(accelerator: &Accelerator) -> f64 {
    if accelerator.architecture.starts_with("TPU") { 128.0 } else { 32.0 }
}

/// The kernel generations on one accelerator.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttentionLaws {
    flash1: AttentionLaw,
    flash2: AttentionLaw,
    flash3: AttentionLaw,
    cudnn: AttentionLaw,
    head_step: f64,
    units: f64,
    peak: f64,
    bandwidth: f64,
}

/// FlashAttention 2 reaches about twice the rate of FlashAttention 1 on A100 (its own publication).
const FLASH1_SHARE: f64 = 0.5;

impl AttentionLaws {
    pub(super) fn new(accelerator: &Accelerator, products: &GemmLaw) -> Self {
        let common = AttentionLaw::from_products(products);
        let [flash2, flash3, cudnn] =
            ["flash2", "flash3", "cudnn"].map(|k| AttentionLaw::find(accelerator, k));
        // A generation that does not exist on an architecture is replaced by the nearest that does. Newer
        // ones are not built for old hardware; older ones run on new hardware with its old
        // instructions (on Blackwell at Hopper's pace, 0.37 of 989 TFLOP/s against 0.58 of 2250).
        let old = flash2.or_else(|| flash3.or(cudnn).map(|law| law.scaled(0.3))).unwrap_or(common);
        let new = flash3.or(cudnn).or(flash2).unwrap_or(common);
        Self {
            flash1: old.scaled(FLASH1_SHARE),
            flash2: old,
            flash3: new,
            cudnn: cudnn.or(flash3).or(flash2).unwrap_or(common),
            head_step: head_step(accelerator),
            units: accelerator.compute_units.map_or(UNKNOWN_UNITS, |units| f64::from(units.max(1))),
            peak: products.peak(),
            bandwidth: accelerator.memory_bandwidth.get().max(1.0),
        }
    }

    /// Multiplies the minimum time of every kernel.
    pub(super) fn scale_floors(&mut self, factor: f64) {
        for law in [&mut self.flash1, &mut self.flash2, &mut self.flash3, &mut self.cudnn] {
            law.floor *= factor;
        }
    }

    /// One fused attention operator; see the module's equation.
    pub(super) fn cost(
        &self,
        shape: &AttentionShape,
        kernel: AttentionKernel,
        pass: Pass,
        width: Width,
    ) -> Cost {
        let law = match kernel {
            AttentionKernel::Flash1 => &self.flash1,
            AttentionKernel::Flash2 => &self.flash2,
            AttentionKernel::Flash3 => &self.flash3,
            AttentionKernel::CuDnn | AttentionKernel::Unfused { .. } => &self.cudnn,
        };
        let forward = shape.forward_flop();
        if forward <= Flop::ZERO || !forward.is_finite() {
            return Cost { source: law.source, ..Cost::ZERO };
        }
        let (factor, share, start, moved) = match pass {
            Pass::Forward => (1.0, 1.0, law.key_start, 1.0),
            _ => (BACKWARD_FLOP, law.backward, law.key_start_backward, 2.0),
        };
        let diagonal = if shape.span == Span::Bidirectional { 0.0 } else { law.diagonal };
        let padded = |width: f64| (width / self.head_step).ceil() * self.head_step;
        let (head_dim, value_dim) = (padded(shape.head_dim), padded(shape.value_dim));
        let widths = head_dim + value_dim;
        let peak = self.peak * width.rate;
        let rate = peak * share * law.share(head_dim) / self.units;
        let blocks = shape.batch * shape.heads * (shape.query_length / BLOCK).ceil() / self.units;
        let filled = (law.wave * blocks.ceil() + (1.0 - law.wave) * blocks).max(1.0);
        let keys =
            (filled * (shape.mean_keys() + start + diagonal)).max(law.single * (shape.most_keys() + start));
        let arithmetic = factor * 2.0 * BLOCK * widths / rate * keys;
        let bytes = shape.operand_bytes() * (moved * width.bytes / Width::SIXTEEN.bytes);
        let flop = forward * factor;
        let roofline = (flop.get() / peak).max(bytes.get() / self.bandwidth);
        let moving = bytes.get() / (0.85 * self.bandwidth);
        let (arithmetic, moving) = (arithmetic * arithmetic, moving * moving);
        let both = (arithmetic * arithmetic + moving * moving).sqrt().sqrt();
        let time = (law.floor + both).max(roofline);
        Cost { time: Seconds::new(time), flop, bytes, source: law.source }
    }
}
