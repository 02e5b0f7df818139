//! Parts of a step that measured step times can correct, and generations with scaled parts.
//!
//! Responsible for: the assignment of constants to parts. Excludes the factors, which are in a calibration.

use super::Software;
use serde::{Deserialize, Serialize};

/// A part of the step; its constants are scaled together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// GEMMs and fused attention.
    Products,
    /// Kernels limited by memory bandwidth: element-wise, casts, loss, update.
    Streams,
    /// Launches and other host work.
    Host,
    /// Collectives within the run.
    Communication,
}

/// Number of parts.
pub const PARTS: usize = 4;

impl Part {
    /// All parts, in the order of their factors.
    pub const ALL: [Self; PARTS] = [Self::Products, Self::Streams, Self::Host, Self::Communication];

    /// Name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Products => "products",
            Self::Streams => "streams",
            Self::Host => "host",
            Self::Communication => "communication",
        }
    }

    /// Title in reports.
    pub fn title(self) -> &'static str {
        match self {
            Self::Products => "GEMMs and attention",
            Self::Streams => "memory-bound kernels",
            Self::Host => "host",
            Self::Communication => "collectives",
        }
    }
}

impl Software {
    /// Generation with the times of its parts multiplied by factors, in the order of [`Part::ALL`]: rates are
    /// divided, bytes and times multiplied.
    #[must_use]
    pub fn with_parts(&self, factors: [f64; PARTS]) -> Self {
        let [products, streams, host, communication] = factors;
        let slower = |table: &std::collections::BTreeMap<String, f64>| {
            let mut table = table.clone();
            table.entry("default".to_owned()).or_insert(1.0);
            for rate in table.values_mut() {
                *rate /= products;
            }
            table
        };
        let longer = |bytes: Option<[f64; 2]>| bytes.map(|bytes| bytes.map(|each| each * streams));
        let scaled = self.with_host_rate(1.0 / host);
        Self {
            matmul: slower(&self.matmul),
            attention_rate: slower(&self.attention_rate),
            elementwise_passes: self.elementwise_passes * streams,
            norm_bytes: longer(self.norm_bytes),
            uncast_norm_bytes: longer(self.uncast_norm_bytes),
            rotary_bytes: longer(self.rotary_bytes),
            composed_gelu_bytes: longer(self.composed_gelu_bytes),
            clamp_bytes: longer(self.clamp_bytes),
            expert_bias_bytes: longer(self.expert_bias_bytes),
            weight_cast_bytes: self.weight_cast_bytes * streams,
            adapter_cast_bytes: self.adapter_cast_bytes * streams,
            cast_passes: self.cast_passes * streams,
            loss_bytes_per_logit: self.loss_bytes_per_logit * streams,
            optimizer_bytes_per_parameter: self.optimizer_bytes_per_parameter * streams,
            host_us_per_transfer: self.host_us_per_transfer * host,
            host_ms_per_step: self.host_ms_per_step * host,
            collective_rate: self.collective_rate / communication,
            ..scaled
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::software::generations;

    #[test]
    fn parts_are_scaled_and_everything_else_stays() {
        for own in generations() {
            assert_eq!(own.with_parts([1.0; PARTS]).matmul, {
                let mut table = own.matmul.clone();
                table.entry("default".to_owned()).or_insert(1.0);
                table
            });
            let slow = own.with_parts([2.0, 3.0, 5.0, 7.0]);
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
            for architecture in ["Hopper", "Ampere", "no such"] {
                let rate = |s: &Software| Software::rate(&s.matmul, architecture, "bf16");
                assert!(near(rate(&slow) * 2.0, rate(own)), "{}", own.id);
            }
            assert!(near(slow.elementwise_passes, own.elementwise_passes * 3.0));
            assert!(near(slow.host_us_per_kernel, own.host_us_per_kernel * 5.0));
            assert!(near(slow.host_ms_per_step, own.host_ms_per_step * 5.0));
            assert!(near(slow.collective_rate * 7.0, own.collective_rate));
            assert_eq!((&slow.id, slow.overlap), (&own.id, own.overlap));
        }
    }
}
