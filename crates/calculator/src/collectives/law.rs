//! Link model inside a scale-up domain: three constants per link generation, operation and rank count.

use super::Collective;

/// `t = base + f b / bandwidth + ramp sqrt(b)` with `b` the buffer in bytes and `f` of [`bus_factor`];
/// seconds.
///
/// The square root represents filling the pipeline while the library changes from latency to bandwidth
/// protocols. Median error 2 to 9% on A100, H100, H200, MI300X and Blackwell from 1 KB to 17 GB
/// (`catalog/collectives/domain.csv` has each).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Law {
    /// Time of the smallest message, in seconds.
    pub(super) base: f64,
    /// Seconds per byte on the wire.
    pub(super) per_byte: f64,
    /// Seconds per square root of a byte.
    pub(super) ramp: f64,
    /// True if the switch reduces, so that every rank sends and receives its buffer once.
    pub(super) in_switch: bool,
}

impl Law {
    /// The part that grows with bytes, given bytes on the wire and bytes of the buffer.
    pub(super) fn growing(&self, wire: f64, buffer: f64) -> f64 {
        wire * self.per_byte + self.ramp * buffer.sqrt()
    }

    /// Bytes that each rank sends.
    pub(super) fn wire(&self, op: Collective, bytes: f64, ranks: f64) -> f64 {
        if self.in_switch { bytes } else { bus_factor(op, ranks) * bytes }
    }
}

/// Bytes that each rank sends over bytes of the buffer, the factor of the bus bandwidth of nccl-tests
/// (<https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md>): `busbw = S / t x factor`. It is `2 (n - 1)/n` for an
/// all-reduce, `(n - 1)/n` for all-gather, reduce-scatter and all-to-all, and 1 for broadcast and
/// send-receive.
pub fn bus_factor(op: Collective, ranks: f64) -> f64 {
    let others = (ranks - 1.0) / ranks;
    match op {
        Collective::AllReduce => 2.0 * others,
        Collective::AllGather
        | Collective::ReduceScatter
        | Collective::AllToAll
        | Collective::ExpertDispatch { .. } => others,
        Collective::Broadcast | Collective::SendReceive => 1.0,
    }
}
