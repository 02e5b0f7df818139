//! Predictions of measured operators and collectives on one cluster with one software generation.

use crate::collectives::Collective;
use crate::costing::{Machine, power_limit};
use crate::operators::{AttentionKernel, AttentionShape, Cost, Pass};
use crate::software::{self, Software};
use railwright_spec::calibration::{AttentionSample, CollectiveSample, ProductPass, ProductSample, Regime};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Span;
use railwright_spec::plan::{self, Group};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Bytes;

/// Predictions on one cluster with one software generation.
pub(super) struct Predictor<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) machine: Machine,
    pub(super) software: Software,
    pub(super) power: f64,
}

impl<'a> Predictor<'a> {
    pub(super) fn new(cluster: &'a Cluster, software: &str) -> Result<Self, Problem> {
        let machine = Machine::new(cluster);
        let software = machine.software_of_others(software::by_id(software)?).clone();
        Ok(Self { cluster, power: power_limit(cluster), machine, software })
    }

    /// Sustained over burst rate of GEMMs within runs.
    pub(super) fn product_rate(&self, format: DataType) -> f64 {
        if self.machine.device.includes_sustained_gemm_rate(format) {
            return 1.0;
        }
        Software::rate(&self.software.matmul, &self.machine.architecture, format.name()) * self.power
    }

    /// Sustained over burst rate of attention within runs.
    pub(super) fn attention_rate(&self, pass: Pass) -> f64 {
        if self.machine.device.sustains_attention(pass) {
            return 1.0;
        }
        let architecture = &self.machine.architecture;
        self.software.attention_rate(architecture, self.software.attention_kernel(architecture)) * self.power
    }

    /// Cost of a GEMM under the model of its linear layer's pass.
    pub(super) fn product(&self, sample: &ProductSample) -> Cost {
        let [m, n, k] = [sample.m, sample.n, sample.k].map(|side| side as f64);
        let device = &self.machine.device;
        match sample.pass {
            ProductPass::Forward => device.gemm(m, n, k, sample.format, Pass::Forward),
            // m x n over k is dX of a layer of n inputs and k outputs.
            ProductPass::DataGradient => device.gemm(m, k, n, sample.format, Pass::DataGradient),
            // m x n over k is dW over k tokens. The cost is independent of the side that is the layer's
            // input.
            ProductPass::WeightGradient => device.gemm(k, m, n, sample.format, Pass::WeightGradient),
        }
    }

    /// Cost of attention under the model.
    pub(super) fn attention(&self, sample: &AttentionSample, is_causal: bool) -> Cost {
        let shape = AttentionShape {
            batch: sample.batch as f64,
            query_length: sample.queries as f64,
            key_length: sample.keys as f64,
            heads: sample.heads as f64,
            kv_heads: sample.kv_heads as f64,
            head_dim: sample.head_dim as f64,
            value_dim: sample.head_dim as f64,
            span: if is_causal { Span::Causal } else { Span::Bidirectional },
        };
        let kernel = match self.software.attention_kernel(&self.machine.architecture) {
            plan::AttentionKernel::Flash3 if self.machine.architecture.starts_with("Hopper") => {
                AttentionKernel::Flash3
            }
            plan::AttentionKernel::Flash3 => AttentionKernel::CuDnn,
            plan::AttentionKernel::Flash1 => AttentionKernel::Flash1,
            _ => AttentionKernel::Flash2,
        };
        self.machine.device.attention(&shape, kernel, pass_of(sample))
    }

    /// Time of an isolated collective, in seconds.
    pub(super) fn collective(&self, sample: &CollectiveSample) -> f64 {
        let group = group(self.cluster, sample);
        self.machine.fabric.time(sample.operation, Bytes::new(sample.bytes), &group, 1.0).time.get()
    }
}

pub(super) fn pass_of(sample: &AttentionSample) -> Pass {
    if sample.backward { Pass::DataGradient } else { Pass::Forward }
}

/// Placement of the ranks of a measured collective: over as many domains as it has hosts, otherwise over the
/// minimum number.
pub(super) fn group(cluster: &Cluster, sample: &CollectiveSample) -> Group {
    let domain = cluster.scale_up.domain_size.max(1);
    let per_domain = match sample.hosts {
        // A domain may span hosts, as a rack of one domain does.
        Some(hosts) if domain <= cluster.devices_per_node.max(1) => {
            (sample.ranks / hosts.max(1)).clamp(1, domain)
        }
        _ => domain,
    };
    let per_domain = per_domain.min(sample.ranks).max(1);
    Group { ranks: sample.ranks, per_domain, least: per_domain, stride: 1 }
}

/// Tests whether a measured collective stayed on the links inside a domain. Without a scale-up link, the
/// node's bus counts.
pub(super) fn is_local(cluster: &Cluster, sample: &CollectiveSample) -> bool {
    let on_bus = cluster.scale_up.domain_size <= 1
        && sample.ranks <= cluster.devices_per_node
        && sample.hosts.is_none_or(|hosts| hosts <= 1);
    on_bus || group(cluster, sample).is_inside_domain()
}

pub(super) fn regime(alone: bool) -> Regime {
    if alone { Regime::Burst } else { Regime::Sustained }
}

/// A collective within a run, as a query to the calculator.
pub(super) fn like(operation: Collective, ranks: u64, bytes: f64) -> CollectiveSample {
    CollectiveSample {
        operation,
        ranks,
        hosts: None,
        bytes,
        alone: false,
        is_bound: false,
        times: Vec::new(),
    }
}
