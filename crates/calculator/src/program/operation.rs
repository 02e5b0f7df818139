//! The words of a program: an operation, what it computes, and an exchange among ranks.

use crate::collectives::Collective;
use crate::exchanges::ProcessGroup;
use crate::operators::AttentionShape;
use crate::work::{Dimension, Family};
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{Bytes, Flop};
use railwright_step::Phase;

/// Kernels that belong together and are priced as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Operation<'a> {
    /// Of the product, else of the family.
    pub name: &'a str,
    pub family: Family,
    /// `Forward`, `BackwardInput` or `BackwardWeight`; recompute repeats forward operations.
    pub phase: Phase,
    pub kernel: Kernel,
    /// Kernels launched.
    pub launches: f64,
    /// Host time beside launches, in microseconds: what routing reads back from the device.
    pub host_us: f64,
}

/// What is computed, without a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kernel {
    /// A product of `m x k` and `k x n`.
    Product { m: f64, n: f64, k: f64, format: DataType, is_wide: bool },
    /// As many products of the same shape.
    GroupedProduct { groups: f64, m: f64, n: f64, k: f64, format: DataType },
    /// Softmax attention over whole sequences, of which context parallelism leaves a rank `1 / ranks`.
    Attention { shape: AttentionShape, ranks: f64 },
    /// A chunked scan, this many times the forward pass.
    Scan { flop: Flop, bytes: Bytes, times: f64 },
    /// A selective scan on the vector units, this many times the forward pass.
    SelectiveScan { flop: Flop, bytes: Bytes, times: f64 },
    /// A kernel that memory bounds, with its arithmetic where it has a law of its own.
    Stream { bytes: Bytes, derived: Option<Flop> },
    /// Small products that memory or arithmetic bounds.
    Roofline { bytes: Bytes, flop: Flop },
}

/// Collectives of one buffer among one process group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Exchange {
    pub dimension: Dimension,
    /// One, or the gather and the scatter of a pair.
    pub operations: [Option<Collective>; 2],
    pub process_group: ProcessGroup,
    /// Of one collective, by nccl-tests' convention.
    pub bytes: Bytes,
    /// What may hide it.
    pub overlap: Overlap,
    pub turns: [Option<Turn>; 2],
}

/// How often an exchange is made in a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Turn {
    pub phase: Phase,
    /// Of each operation; a half is half of an exchange.
    pub count: f64,
    /// Kernels launched in all.
    pub launches: f64,
    /// Launches that a host waits with, of tensor parallelism.
    pub stalls: f64,
}

/// What hides an exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Overlap {
    /// Kernels that work on its pieces; a share stays exposed, 1 where nothing overlaps.
    Exposed(f64),
    /// A share of the attention of the same phase.
    BehindAttention(f64),
}

impl Exchange {
    /// The collectives of it.
    pub(crate) fn operations(&self) -> impl Iterator<Item = Collective> + '_ {
        self.operations.iter().flatten().copied()
    }

    /// The phases in which it is made.
    pub(crate) fn turns(&self) -> impl Iterator<Item = Turn> + '_ {
        self.turns.iter().flatten().copied()
    }
}

impl<'a> Operation<'a> {
    /// Without host time of its own.
    pub(crate) const fn new(family: Family, phase: Phase, kernel: Kernel, launches: f64) -> Self {
        Self { name: family.label(), family, phase, kernel, launches, host_us: 0.0 }
    }

    /// The same under a name of its own.
    pub(crate) const fn named(self, name: &'a str) -> Self {
        Self { name, ..self }
    }
}

impl Turn {
    /// As many launches as one call of each turn.
    pub(crate) const fn once(phase: Phase, count: f64) -> Self {
        Self { phase, count, launches: 1.0, stalls: 0.0 }
    }
}
