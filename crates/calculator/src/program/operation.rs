//! Types of a program: an operation, its kernel, and an exchange among ranks.

use crate::collectives::Collective;
use crate::exchanges::ProcessGroup;
use crate::operators::AttentionShape;
use crate::work::{Dimension, Family};
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{Bytes, Flop};
use railwright_step::Phase;

/// Kernels that are priced as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Operation<'a> {
    /// Name of the GEMM, otherwise of the family.
    pub name: &'a str,
    pub family: Family,
    /// `Forward`, `BackwardInput` or `BackwardWeight`; recompute repeats forward operations.
    pub phase: Phase,
    pub kernel: Kernel,
    /// Number of kernel launches.
    pub launches: f64,
    /// Host time in addition to launches, in microseconds: values that routing reads back from the device.
    pub host_us: f64,
}

/// Kernel with its shape, without a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kernel {
    /// A GEMM of `m x k` and `k x n`.
    Product { m: f64, n: f64, k: f64, format: DataType, is_wide: bool },
    /// `groups` GEMMs of the same shape.
    GroupedProduct { groups: f64, m: f64, n: f64, k: f64, format: DataType },
    /// Softmax attention over whole sequences, of which context parallelism leaves `1 / ranks` on a rank.
    Attention { shape: AttentionShape, ranks: f64 },
    /// A chunked scan, with its time as a multiple of the forward pass.
    Scan { flop: Flop, bytes: Bytes, times: f64 },
    /// A selective scan on the vector units, with its time as a multiple of the forward pass.
    SelectiveScan { flop: Flop, bytes: Bytes, times: f64 },
    /// A memory-bound kernel, with its arithmetic if it has a separate model.
    Stream { bytes: Bytes, derived: Option<Flop> },
    /// Small GEMMs bound by memory or arithmetic.
    Roofline { bytes: Bytes, flop: Flop },
}

/// Collectives of one buffer among one process group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Exchange {
    pub dimension: Dimension,
    /// One collective, or the gather and the scatter of a pair.
    pub operations: [Option<Collective>; 2],
    pub process_group: ProcessGroup,
    /// Bytes of one collective, by nccl-tests' convention.
    pub bytes: Bytes,
    /// Compute that may hide it.
    pub overlap: Overlap,
    pub turns: [Option<Turn>; 2],
}

/// Number of exchanges in a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Turn {
    pub phase: Phase,
    /// Count of each operation; 0.5 is half of an exchange.
    pub count: f64,
    /// Total number of kernel launches.
    pub launches: f64,
    /// Launches of tensor parallelism during which the host waits.
    pub stalls: f64,
}

/// Overlap of an exchange with compute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Overlap {
    /// Overlap with kernels on its pieces. The value is the exposed share, 1 without overlap.
    Exposed(f64),
    /// Overlap with a share of the attention of the same phase.
    BehindAttention(f64),
}

impl Exchange {
    /// The collectives of the exchange.
    pub(crate) fn operations(&self) -> impl Iterator<Item = Collective> + '_ {
        self.operations.iter().flatten().copied()
    }

    /// The phases of the exchange.
    pub(crate) fn turns(&self) -> impl Iterator<Item = Turn> + '_ {
        self.turns.iter().flatten().copied()
    }
}

impl<'a> Operation<'a> {
    /// An operation without additional host time.
    pub(crate) const fn new(family: Family, phase: Phase, kernel: Kernel, launches: f64) -> Self {
        Self { name: family.label(), family, phase, kernel, launches, host_us: 0.0 }
    }

    /// The same operation under a different name.
    pub(crate) const fn named(self, name: &'a str) -> Self {
        Self { name, ..self }
    }
}

impl Turn {
    /// A turn with one launch per call.
    pub(crate) const fn once(phase: Phase, count: f64) -> Self {
        Self { phase, count, launches: 1.0, stalls: 0.0 }
    }
}
