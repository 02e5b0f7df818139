//! The model of the rail-only paper (Wang, Ghobadi, Shakeri, Zhang, Hasani, arXiv 2307.12169): iteration
//! time, traffic, forwarding, cost.
//!
//! Responsible for: its closed forms, and the table that compares every number of the paper with the
//! reproduced one ([`targets`]). The equations are missing in the available copies of version 1; they are
//! derived from its text and reproduce its numbers (numbers of equations are those of
//! `docs/concepts/rail-only.md`). Excludes pipelines, latency and overlap, as the paper does.
//!
//! Its assumptions: data parallel and tensor (here: model) parallel only; model-parallel groups are inside a
//! scale-up domain; every collective is a direct exchange at full bandwidth; nothing overlaps.

pub mod cost;
mod figure;
pub mod figures;
pub mod forwarding;
pub mod page;
pub mod report;
mod schemes;
pub mod targets;

pub mod time;
pub mod traffic;

use railwright_spec::quantity::{Bytes, BytesPerSecond, FlopPerSecond};
use serde::Serialize;

/// Dimensions of a model, as far as the paper uses them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Model {
    /// Its name.
    pub name: &'static str,
    /// Parameters, P.
    pub parameters: f64,
    /// Layers, l.
    pub layers: f64,
    /// Hidden size, h.
    pub hidden: f64,
}

/// GPT-3 and OPT-175B are the same model here; they differ in the batch.
pub const GPT3: Model = Model { name: "GPT3", parameters: 175e9, layers: 96.0, hidden: 12288.0 };
/// OPT-175B.
pub const OPT3: Model = Model { name: "OPT3-175B", ..GPT3 };
/// PaLM 540B.
pub const PALM: Model = Model { name: "PaLM 540B", parameters: 540e9, layers: 118.0, hidden: 18432.0 };

/// All parameters of the model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parameters {
    /// Trained model.
    pub model: Model,
    /// Tokens of an iteration, tau.
    pub tokens: f64,
    /// Accelerators, N.
    pub devices: f64,
    /// Accelerators of a scale-up domain, K.
    pub domain: f64,
    /// Bandwidth of an accelerator inside its domain in one direction, B_F.
    pub scale_up: BytesPerSecond,
    /// Bandwidth of its network interface in one direction, B_S.
    pub network: BytesPerSecond,
    /// Arithmetic of an accelerator, C.
    pub compute: FlopPerSecond,
    /// Bytes of a communicated element, e.
    pub element: Bytes,
    /// All-reduces of a layer, forward and backward: 4 in the plain model.
    pub all_reduces: f64,
    /// The size of the model-parallel group as a multiple of its optimum: 1 in the plain model.
    pub model_parallel_factor: f64,
}

impl Parameters {
    /// Parameters that reproduce version 1: 989.4 TFLOP/s (from its 117 days), 7.68 Tb/s and 400 Gb/s, 4
    /// bytes per element.
    pub const fn paper(model: Model, tokens: f64, devices: f64, domain: f64) -> Self {
        Self {
            model,
            tokens,
            devices,
            domain,
            scale_up: BytesPerSecond::new(960e9),
            network: BytesPerSecond::new(50e9),
            compute: FlopPerSecond::new(989.4e12),
            element: Bytes::new(4.0),
            all_reduces: 4.0,
            model_parallel_factor: 1.0,
        }
    }

    /// Domains, D = N / K.
    pub fn domains(&self) -> f64 {
        self.devices / self.domain
    }
}
