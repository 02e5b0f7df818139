//! Time of one operator on one accelerator: GEMMs, attention and element-wise kernels.
//!
//! Responsible for burst performance of individual kernels, from models fitted to measurements in
//! `/catalog/operators`. Excludes launch and host overhead, software generations and power limits of long
//! runs: layers apply those.

mod attention;
mod calibrated;
mod catalogue;
mod gemm;
mod memo;
mod memory;
mod unfused;

pub use attention::{AttentionKernel, AttentionShape, Width};
pub use memo::ProductMemo;

use attention::AttentionLaws;
use calibrated::Corrections;
use gemm::GemmLaw;
use memory::MemoryLaw;
use railwright_spec::calibration::Calibration;
use railwright_spec::cluster::Accelerator;
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{Bytes, Flop, Seconds};

/// Evidence for a cost, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A model corrected by measurements of the user's own machine.
    Calibrated,
    /// A model of this accelerator with a correction from measurements near this shape.
    Measured,
    /// A model fitted to measurements on this accelerator.
    Fitted,
    /// A model fitted on another accelerator of the same architecture, scaled by data sheets.
    Derived,
    /// Data sheet and a typical share of it.
    Roofline,
}

/// Cost of one operator.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Time of the kernels on the accelerator.
    pub time: Seconds,
    /// Executed arithmetic, excluding masked parts.
    pub flop: Flop,
    /// Minimum traffic of device memory.
    pub bytes: Bytes,
    /// Evidence for the time.
    pub source: Source,
}

impl Cost {
    /// Cost of no work.
    pub const ZERO: Self =
        Self { time: Seconds::ZERO, flop: Flop::ZERO, bytes: Bytes::ZERO, source: Source::Calibrated };

    /// Cost of the same operator `count` times in sequence.
    #[must_use]
    pub fn times(self, count: f64) -> Self {
        Self { time: self.time * count, flop: self.flop * count, bytes: self.bytes * count, ..self }
    }
}

impl std::ops::Add for Cost {
    type Output = Self;
    /// Sum of sequential operators, with the weaker evidence of the two.
    fn add(self, other: Self) -> Self {
        Self {
            time: self.time + other.time,
            flop: self.flop + other.flop,
            bytes: self.bytes + other.bytes,
            source: self.source.max(other.source),
        }
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, |sum, cost| sum + cost)
    }
}

/// GEMM of a linear layer, or half of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pass {
    /// Y = X W.
    Forward,
    /// dX = dY W'. For attention: the whole backward pass.
    DataGradient,
    /// dW = X' dY. For attention: nothing, as its backward pass is counted once.
    WeightGradient,
}

/// Operator models of one accelerator; built once per run.
#[derive(Clone, Debug)]
pub struct Device {
    /// By [`DataType`] in the order of [`DataType::ALL`].
    gemm: [GemmLaw; DataType::ALL.len()],
    attention: AttentionLaws,
    memory: MemoryLaw,
    accumulate: bool,
    corrections: Option<Corrections>,
}

impl Device {
    /// Models of `accelerator`: its own if it was measured, otherwise those of its architecture, otherwise a
    /// roofline.
    pub fn new(accelerator: &Accelerator) -> Self {
        let memory = MemoryLaw::new(accelerator);
        let bf16 = GemmLaw::new(accelerator, DataType::Bf16);
        Self {
            gemm: DataType::ALL.map(|data_type| GemmLaw::new(accelerator, data_type)),
            attention: AttentionLaws::new(accelerator, &bf16),
            memory,
            accumulate: true,
            corrections: None,
        }
    }

    /// The same device with models corrected by a calibration: burst rates by micro-benchmarks, or sustained
    /// rates, which the time then includes.
    #[must_use]
    pub fn calibrated(self, calibration: &Calibration) -> Self {
        Self { corrections: Some(Corrections::new(calibration)), ..self }
    }

    /// Tests whether times of GEMMs in a format already include the sustained rate.
    pub fn includes_sustained_gemm_rate(&self, data_type: DataType) -> bool {
        self.corrections.as_ref().is_some_and(|c| c.includes_sustained_gemm_rate(data_type))
    }

    /// The sustained over the burst rate of matrix units of an unmeasured part, from that of a related part.
    /// More power relative to the peak raises it, up to 1.
    pub fn sustained(&self, rate: f64, data_type: DataType) -> f64 {
        rate.max((rate * self.gemm[data_type as usize].relief).min(1.0))
    }

    /// Tests whether times of fused attention already include the sustained rate, forward and backward.
    pub fn sustains_attention(&self, pass: Pass) -> bool {
        self.corrections.as_ref().is_some_and(|c| c.sustains_attention(pass))
    }

    fn corrected(&self, cost: Cost, data_type: DataType) -> Cost {
        match &self.corrections {
            Some(corrections) => corrections.product(cost, data_type),
            None => cost,
        }
    }

    /// Sets the destination of weight gradients: added to a 32-bit main gradient by the GEMM itself
    /// (Megatron's fused accumulation, the default), or written in the GEMM's type.
    #[must_use]
    pub fn with_accumulation(self, accumulate: bool) -> Self {
        Self { accumulate, ..self }
    }

    /// The same device with a different minimum time of kernels, as a multiple: the start and end of one on
    /// the device.
    #[must_use]
    pub fn with_floors(mut self, factor: f64) -> Self {
        self.gemm.iter_mut().for_each(|law| law.scale_floors(factor));
        self.attention.scale_floors(factor);
        self.memory.floor *= factor;
        self
    }

    /// One GEMM of a linear layer with `m` tokens, `k` inputs and `n` outputs; `pass` selects one of its
    /// three GEMMs.
    ///
    /// Low-precision types: only the GEMM; the cast of its inputs is an element-wise kernel.
    pub fn gemm(&self, m: f64, n: f64, k: f64, data_type: DataType, pass: Pass) -> Cost {
        self.corrected(self.gemm[data_type as usize].cost(1.0, m, n, k, pass, self.accumulate), data_type)
    }

    /// The GEMMs of `groups` experts on one rank, equal tokens each, as one grouped kernel.
    pub fn grouped_gemm(
        &self,
        groups: f64,
        tokens_per_group: f64,
        n: f64,
        k: f64,
        data_type: DataType,
        pass: Pass,
    ) -> Cost {
        let law = &self.gemm[data_type as usize];
        self.corrected(law.cost(groups, tokens_per_group, n, k, pass, self.accumulate), data_type)
    }

    /// `batch` independent GEMMs of `m` x `k` by `k` x `n`, both operands activations (attention without
    /// fusion).
    pub fn batched_gemm(&self, batch: f64, m: f64, n: f64, k: f64, data_type: DataType) -> Cost {
        self.gemm[data_type as usize].batched(batch, m, n, k)
    }

    /// Attention between projected queries, keys and values, forward or backward ([`Pass::DataGradient`]).
    pub fn attention(&self, shape: &AttentionShape, kernel: AttentionKernel, pass: Pass) -> Cost {
        self.attention_in(shape, kernel, pass, Width::SIXTEEN)
    }

    /// Attention with operands of this width; an unfused kernel has its own format.
    pub fn attention_in(
        &self,
        shape: &AttentionShape,
        kernel: AttentionKernel,
        pass: Pass,
        width: Width,
    ) -> Cost {
        if pass == Pass::WeightGradient {
            return Cost::ZERO;
        }
        let cost = match kernel {
            AttentionKernel::Unfused { fused_softmax, dropout, format } => {
                unfused::cost(self, shape, (fused_softmax, dropout), format, pass)
            }
            _ => self.attention.cost(shape, kernel, pass, width),
        };
        self.corrections.as_ref().map_or(cost, |c| c.attention(cost, pass))
    }

    /// A kernel bound by memory: element-wise, normalization, cast, optimizer.
    pub fn memory_bound(&self, bytes: Bytes) -> Cost {
        let cost = self.memory.cost(bytes);
        self.corrections.as_ref().map_or(cost, |c| c.stream(cost))
    }
}

#[cfg(test)]
mod tests;
