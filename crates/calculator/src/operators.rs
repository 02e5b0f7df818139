//! Time of one operator on one accelerator: GEMMs, attention and element-wise kernels.
//!
//! Responsible for burst performance of individual kernels, from models fitted to measurements in
//! `/catalog/operators`. Excludes launch and host overhead, software generations and power limits of long
//! runs: layers apply those.

mod attention;
mod calibrated;
mod catalogue;
mod cost;
mod gemm;
mod memo;
mod memory;
mod unfused;

pub use attention::{AttentionKernel, AttentionShape, Width};
pub use cost::{Cost, Pass, Source};
pub use memo::ProductMemo;

use attention::AttentionLaws;
use calibrated::Corrections;
use gemm::GemmLaw;
use memory::MemoryLaw;
use railwright_spec::calibration::Calibration;
use railwright_spec::cluster::Accelerator;
use railwright_spec::precision::DataType;
use railwright_spec::quantity::Bytes;

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
                let heads = shape.batch * shape.heads;
                let product = |m, n, k| self.batched_gemm(heads, m, n, k, format);
                let stream = |bytes| self.memory_bound(bytes);
                unfused::cost((&product, &stream), shape, (fused_softmax, dropout), format, pass)
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
