//! Weights of mixers with a recurrent state: gated delta net, KDA, Mamba 2.

use super::{matrix, vector};
use crate::model::{Cut, LinearAttention, Mixer, Module, StateSpace, Weight};

/// Output gate and state decay of a delta net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateStyle {
    /// Qwen 3 next: a full-width output gate, one decay and one step per value head.
    Scalar,
    /// Kimi delta attention: low-rank output gate and low-rank decay per channel.
    LowRank,
}

/// A gated delta net.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeltaShape {
    pub(crate) key_heads: u64,
    pub(crate) value_heads: u64,
    pub(crate) key_head_dim: u64,
    pub(crate) value_head_dim: u64,
    pub(crate) conv_kernel: u64,
    pub(crate) gate: GateStyle,
}

impl DeltaShape {
    pub(crate) fn mixer(&self) -> Mixer {
        Mixer::Linear(LinearAttention {
            key_heads: self.key_heads,
            value_heads: self.value_heads,
            key_head_dim: self.key_head_dim,
            value_head_dim: self.value_head_dim,
            conv_kernel: self.conv_kernel,
        })
    }

    pub(crate) fn weights(&self, hidden: u64) -> Vec<Weight> {
        let key = self.key_heads * self.key_head_dim;
        let value = self.value_heads * self.value_head_dim;
        let (input, core) = (Module::AttentionInput, Module::AttentionCore);
        let into =
            |name: &str, rows: u64, label: &str| matrix(name, input, (rows, hidden), Cut::Column, label);
        let mut weights = vec![
            into("in_proj_q", key, "qkv"),
            into("in_proj_k", key, "qkv"),
            into("in_proj_v", value, "qkv"),
        ];
        match self.gate {
            GateStyle::Scalar => {
                weights.push(into("in_proj_z", value, "qkv"));
                weights.push(into("in_proj_b", self.value_heads, "ba"));
                weights.push(into("in_proj_a", self.value_heads, "ba"));
                weights.push(vector("dt_bias", core, self.value_heads, Cut::Column));
            }
            GateStyle::LowRank => {
                let rank = self.value_head_dim;
                for (down, up, rows) in [("f_a_proj", "f_b_proj", key), ("g_a_proj", "g_b_proj", value)] {
                    weights.push(matrix(down, input, (rank, hidden), Cut::Replicated, "gate_a"));
                    weights.push(matrix(up, input, (rows, rank), Cut::Column, up));
                }
                weights.push(into("b_proj", self.value_heads, "beta"));
                weights.push(vector("dt_bias", core, key, Cut::Column));
            }
        }
        // A depthwise convolution has one short filter per channel and no GEMM.
        weights.push(vector("conv1d", core, (2 * key + value) * self.conv_kernel, Cut::Column));
        weights.push(vector("A_log", core, self.value_heads, Cut::Column));
        weights.push(vector("norm", core, self.value_head_dim, Cut::Replicated));
        weights.push(matrix(
            "out_proj",
            Module::AttentionOutput,
            (hidden, value),
            Cut::Row,
            "attention_output",
        ));
        weights
    }
}

/// A Mamba 2 mixer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StateSpaceShape {
    pub(crate) heads: u64,
    pub(crate) head_dim: u64,
    pub(crate) state_size: u64,
    pub(crate) groups: u64,
    pub(crate) conv_kernel: u64,
    pub(crate) conv_bias: bool,
    pub(crate) projection_bias: bool,
    /// True for a gated norm before the output projection.
    pub(crate) norm: bool,
}

impl StateSpaceShape {
    pub(crate) fn mixer(&self) -> Mixer {
        Mixer::StateSpace(StateSpace {
            heads: self.heads,
            head_dim: self.head_dim,
            state_size: self.state_size,
            groups: self.groups,
            conv_kernel: self.conv_kernel,
        })
    }

    pub(crate) fn weights(&self, hidden: u64) -> Vec<Weight> {
        let inner = self.heads * self.head_dim;
        let convolved = inner + 2 * self.groups * self.state_size;
        let (input, core) = (Module::AttentionInput, Module::AttentionCore);
        let projected = inner + convolved + self.heads;
        let mut weights = vec![matrix("in_proj", input, (projected, hidden), Cut::Column, "in_proj")];
        if self.projection_bias {
            weights.push(vector("in_proj.bias", input, projected, Cut::Column));
        }
        weights.push(vector("conv1d", core, convolved * self.conv_kernel, Cut::Column));
        if self.conv_bias {
            weights.push(vector("conv1d.bias", core, convolved, Cut::Column));
        }
        for name in ["A_log", "D", "dt_bias"] {
            weights.push(vector(name, core, self.heads, Cut::Column));
        }
        if self.norm {
            weights.push(vector("norm", core, inner, Cut::Column));
        }
        let output = Module::AttentionOutput;
        weights.push(matrix("out_proj", output, (hidden, inner), Cut::Row, "attention_output"));
        if self.projection_bias {
            weights.push(vector("out_proj.bias", output, hidden, Cut::Replicated));
        }
        weights
    }
}
