//! The work of one rank by kind, so that every total can be split again.

use railwright_spec::quantity::{Bytes, Flop, Seconds};
use serde::Serialize;

/// A family of operators: the finest line of a time breakdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Lookup in the word embedding, and scatter of gradients into it.
    Embedding,
    /// Norms.
    Norm,
    /// Projections into the mixer.
    AttentionInput,
    /// Softmax attention, or the scan of a linear mixer.
    AttentionCore,
    /// The projection out of the mixer.
    AttentionOutput,
    /// The matrices of dense MLPs and shared experts.
    Mlp,
    /// Activations between the matrices of an MLP.
    Activation,
    /// Router and permutation.
    Router,
    /// Routed experts' matrices.
    Experts,
    /// Residual additions, dropout, rotary embedding, casts.
    Residual,
    /// The head's GEMM.
    Head,
    /// Softmax and cross entropy.
    Loss,
}

impl Family {
    /// All families, in the order of the forward pass.
    pub const ALL: [Self; 12] = [
        Self::Embedding,
        Self::Norm,
        Self::AttentionInput,
        Self::AttentionCore,
        Self::AttentionOutput,
        Self::Mlp,
        Self::Activation,
        Self::Router,
        Self::Experts,
        Self::Residual,
        Self::Head,
        Self::Loss,
    ];

    /// Title for display.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::Norm => "norms",
            Self::AttentionInput => "attention input projections",
            Self::AttentionCore => "attention",
            Self::AttentionOutput => "attention output projection",
            Self::Mlp => "MLP matrices",
            Self::Activation => "activations",
            Self::Router => "router and permutation",
            Self::Experts => "experts",
            Self::Residual => "residual, dropout, rotary, casts",
            Self::Head => "head",
            Self::Loss => "loss",
        }
    }
}

/// A parallel dimension with communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Tensor parallel.
    Tensor,
    /// Context parallel.
    Context,
    /// Expert parallel.
    Expert,
    /// Sharded parameters gathered during the pass (ZeRO-3, FSDP).
    Shard,
    /// Activations and parameters transferred to host memory and back (offload).
    Host,
}

impl Dimension {
    /// All dimensions.
    pub const ALL: [Self; 5] = [Self::Tensor, Self::Context, Self::Expert, Self::Shard, Self::Host];

    /// The dimension of a step that contains it.
    pub(crate) const fn of_step(self) -> railwright_step::Dimension {
        match self {
            Self::Tensor => railwright_step::Dimension::Tensor,
            Self::Context => railwright_step::Dimension::Context,
            Self::Expert => railwright_step::Dimension::Expert,
            Self::Shard => railwright_step::Dimension::Data,
            Self::Host => railwright_step::Dimension::Other,
        }
    }
}

/// Compute and exposed communication of a piece of a step on one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Work {
    /// Device time by operator family.
    pub compute: [Seconds; Family::ALL.len()],
    /// Time of exposed communication, by dimension.
    pub exposed: [Seconds; Dimension::ALL.len()],
    /// Time of all communication, hidden and exposed, by dimension.
    pub communication: [Seconds; Dimension::ALL.len()],
    /// Number of kernel launches.
    pub launches: f64,
    /// Host time other than launches: routing waits for data from the device.
    pub host: Seconds,
    /// The part of it in loops over local experts, which start when the counts of tokens have arrived.
    pub looped: Seconds,
    /// Number of tensor-parallel collectives among them.
    pub tensor_collectives: f64,
    /// Arithmetic.
    pub flop: Flop,
    /// Memory traffic.
    pub bytes: Bytes,
    /// The compute time by evidence, in the order of [`crate::operators::Source`].
    pub founded: [Seconds; 5],
}

impl Work {
    /// Device time of all compute.
    pub fn compute_time(&self) -> Seconds {
        self.compute.iter().copied().sum()
    }

    /// Time of exposed communication.
    pub fn exposed_time(&self) -> Seconds {
        self.exposed.iter().copied().sum()
    }

    /// Device time, including exposed communication.
    pub fn time(&self) -> Seconds {
        self.compute_time() + self.exposed_time()
    }

    /// Adds compute of a family.
    pub fn add_compute(&mut self, family: Family, cost: crate::operators::Cost, rate: f64, launches: f64) {
        let time = cost.time / rate;
        self.compute[family as usize] += time;
        self.founded[cost.source as usize] += time;
        self.flop += cost.flop;
        self.bytes += cost.bytes;
        self.launches += launches;
    }

    /// Adds communication with its exposed share.
    pub fn add_communication(&mut self, dimension: Dimension, time: Seconds, exposed_share: f64) {
        self.communication[dimension as usize] += time;
        self.exposed[dimension as usize] += time * exposed_share;
        if time > Seconds::ZERO {
            self.launches += 1.0;
        }
    }

    /// Takes the overlap of a dimension's communication away.
    pub const fn expose(&mut self, dimension: Dimension) {
        self.exposed[dimension as usize] = self.communication[dimension as usize];
    }

    /// The work multiplied by `times`.
    #[must_use]
    pub fn scaled(&self, times: f64) -> Self {
        let mut result = *self;
        for value in result
            .compute
            .iter_mut()
            .chain(&mut result.exposed)
            .chain(&mut result.communication)
            .chain(&mut result.founded)
        {
            *value = *value * times;
        }
        result.launches *= times;
        result.host = result.host * times;
        result.looped = result.looped * times;
        result.tensor_collectives *= times;
        result.flop = result.flop * times;
        result.bytes = result.bytes * times;
        result
    }
}

impl std::ops::SubAssign<&Work> for Work {
    fn sub_assign(&mut self, other: &Self) {
        *self += &other.scaled(-1.0);
    }
}

impl std::ops::AddAssign<&Work> for Work {
    fn add_assign(&mut self, other: &Self) {
        for (a, b) in self.compute.iter_mut().zip(&other.compute) {
            *a += *b;
        }
        for (a, b) in self.exposed.iter_mut().zip(&other.exposed) {
            *a += *b;
        }
        for (a, b) in self.communication.iter_mut().zip(&other.communication) {
            *a += *b;
        }
        for (a, b) in self.founded.iter_mut().zip(&other.founded) {
            *a += *b;
        }
        self.launches += other.launches;
        self.host += other.host;
        self.looped += other.looped;
        self.tensor_collectives += other.tensor_collectives;
        self.flop += other.flop;
        self.bytes += other.bytes;
    }
}
