//! The price of one operation and of one exchange of a layer's program.
//!
//! Responsible for: the model and the software generation's rate of each kernel. Excludes the contents of a
//! layer.

use crate::collectives::Collective;
use crate::costing::Costing;
use crate::operators::{AttentionKernel, AttentionShape, Cost, Device, Pass, Source};
use crate::program::{Exchange, Kernel, Operation, Overlap};
use crate::work::{Dimension, Family, Work};
use railwright_spec::plan::Group;
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{Bytes, Flop, Seconds};
use railwright_step::Phase;

/// Cost of an operation at the burst rate, and the sustained over the burst rate.
pub(super) fn operation(costing: &Costing<'_>, operation: &Operation<'_>) -> (Cost, f64) {
    let device = &costing.machine.device;
    let pass = match operation.phase {
        Phase::BackwardInput => Pass::DataGradient,
        Phase::BackwardWeight => Pass::WeightGradient,
        _ => Pass::Forward,
    };
    match operation.kernel {
        Kernel::Product { m, n, k, format, is_wide } => {
            let rate = if is_wide { costing.wide_matmul_rate } else { costing.matmul_rate };
            (costing.gemm(m, n, k, format, pass), rate)
        }
        Kernel::GroupedProduct { groups, m, n, k, format } => {
            let rate = costing.matmul_rate * costing.expert_rate;
            (costing.grouped_gemm([groups, m, n, k], format, pass), rate)
        }
        Kernel::Attention { shape, ranks } => {
            // The whole sequence's kernel determines the rate; the rank executes its share of the work.
            let cost = device.attention_in(&shape, costing.attention_kernel, pass, costing.attention_width);
            let share =
                Cost { time: cost.time / ranks, flop: cost.flop / ranks, bytes: cost.bytes / ranks, ..cost };
            (share, costing.attention_rate * special_rate(costing, &shape))
        }
        Kernel::Scan { flop, bytes, times } => (scan(device, flop, bytes).times(times), costing.matmul_rate),
        Kernel::SelectiveScan { flop, bytes, times } => (selective(device, flop, bytes).times(times), 1.0),
        Kernel::Stream { bytes, derived } => {
            let cost = device.memory_bound(bytes);
            let own = |flop| Cost { flop, source: Source::Derived, ..cost };
            (derived.map_or(cost, own), 1.0)
        }
        Kernel::Roofline { bytes, flop } => (roofline(costing, bytes, flop), 1.0),
    }
}

/// Widest head of FlashAttention's kernels up to version 3, and of cuDNN's for training.
const WIDEST_FLASH: f64 = 256.0;

/// Rate of attention that no kernel of FlashAttention computes relative to the others: heads wider than
/// [`WIDEST_FLASH`], and the scores of a learned index, which have no values. Unfused attention has GEMMs.
fn special_rate(costing: &Costing<'_>, shape: &AttentionShape) -> f64 {
    let is_special = shape.head_dim > WIDEST_FLASH || shape.value_dim <= 0.0;
    let is_unfused = matches!(costing.attention_kernel, AttentionKernel::Unfused { .. });
    if is_special && !is_unfused { costing.software.wide_attention_rate } else { 1.0 }
}

/// Time of this arithmetic at the rate of a large GEMM: square, of a side that tiles and waves divide. A
/// square of the arithmetic's own side would have dimensions that no kernel has, and their penalties.
fn large(device: &Device, flop: Flop) -> Seconds {
    const SIDE: f64 = 8192.0;
    device.gemm(SIDE, SIDE, SIDE, DataType::Bf16, Pass::Forward).time * (flop.get() / (2.0 * SIDE.powi(3)))
}

/// Seconds of a chunked scan's GEMMs over those of a large GEMM of the same arithmetic: they are of chunk
/// width, a few hundred, and run in Triton kernels (Dao and Gu 2024, section 6). A round number near the
/// minimum of the median error of 36 published runs of hybrid models by three publishers (5 gives 8.8%, 8
/// 7.1%, 10 6.1%, 11 5.5%).
const SCAN_RATIO: f64 = 10.0;

/// Cost of a chunked scan: GEMMs of chunk width and element-wise kernels after them, `t = SCAN_RATIO t(large
/// GEMM) + t(bytes)`.
fn scan(device: &Device, flop: Flop, bytes: Bytes) -> Cost {
    let time = large(device, flop) * SCAN_RATIO + device.memory_bound(bytes).time;
    Cost { time, flop, bytes, source: Source::Derived }
}

/// Rate of the matrix units over that of the vector units in bf16: A100 312 against 19.5 TFLOP/s, H100 989
/// against 67.
const VECTOR_RATIO: f64 = 16.0;

/// Cost of a selective scan. It has no GEMM, so the vector units or the memory limit it: `max(flop / vector
/// rate, bytes / bandwidth)`.
fn selective(device: &Device, flop: Flop, bytes: Bytes) -> Cost {
    let time = (large(device, flop) * VECTOR_RATIO).max(device.memory_bound(bytes).time);
    Cost { time, flop, bytes, source: Source::Derived }
}

/// Cost of small GEMMs with this traffic and arithmetic: the longer of both (Williams 2009, the roofline).
fn roofline(costing: &Costing<'_>, bytes: Bytes, flop: Flop) -> Cost {
    let traffic = costing.machine.device.memory_bound(bytes);
    let peak = costing.cluster.accelerator.peak_rate(costing.plan.precision.wide_products());
    let arithmetic = peak.map_or(traffic.time, |peak| flop / peak);
    Cost { time: traffic.time.max(arithmetic), flop, ..traffic }
}

/// Rate of an all-to-all of experts over the network within a step relative to alone, with equal messages
/// that start at once: messages differ by the routing of a micro-batch, and every rank waits for the last
/// one. From half of the draws and the fitted runs together, which agree on 0.7 to 0.9.
const SPANNING_EXCHANGE: f64 = 0.8;

/// One exchange, all of its collectives, at the sustained rate: `sum of (t(bytes) + wait) / rate`.
pub(super) fn time(costing: &Costing<'_>, exchange: &Exchange) -> Seconds {
    let (fabric, group) = (&costing.machine.fabric, exchange.process_group.group(&costing.layout));
    let is_spanning = exchange.dimension == Dimension::Expert && !group.is_inside_domain();
    let mut time = Seconds::ZERO;
    for operation in exchange.operations() {
        time += match operation {
            Collective::SendReceive => fabric.send(exchange.bytes, &group, 1.0).time,
            Collective::AllToAll if is_spanning => {
                fabric.time(operation, exchange.bytes, &group, 1.0).time / SPANNING_EXCHANGE
            }
            operation => {
                fabric.time(operation, exchange.bytes, &group, 1.0).time
                    + wait(costing, exchange, operation, &group)
            }
        };
    }
    time / costing.software.collective_rate
}

/// Wait of a tensor-parallel collective across domains for proxy threads, in seconds: `passes x ranks x wait
/// x spread`, with one pass of the ring's steps for a gather or a scatter and two for an all-reduce.
///
/// Ring steps are sequential (NCCL's ring, n - 1 steps a pass), so the device idles and nothing hides the
/// wait. Measured: times of one size of message and of eight times that size differ only by the bytes, with
/// the same constant in both.
fn wait(costing: &Costing<'_>, exchange: &Exchange, operation: Collective, group: &Group) -> Seconds {
    if exchange.dimension != Dimension::Tensor || group.is_inside_domain() {
        return Seconds::ZERO;
    }
    let passes = if operation == Collective::AllReduce { 2.0 } else { 1.0 };
    let each = costing.software.spanning_collective_stall_us;
    Seconds::from_micros(passes * group.ranks as f64 * each * spread(group))
}

/// Exposed share of communication of this duration, given the operators of its phase. Each second that
/// attention hides slows it by `slowdown` seconds, as any hidden collective: both use the same compute units.
pub(super) fn exposed(exchange: &Exchange, work: &Work, time: Seconds, slowdown: f64) -> f64 {
    match exchange.overlap {
        Overlap::Exposed(share) => share,
        Overlap::BehindAttention(part) if time > Seconds::ZERO => {
            let cover = work.compute[Family::AttentionCore as usize] * part;
            let open = ((time - cover).max(Seconds::ZERO) / time).clamp(0.0, 1.0);
            open + (1.0 - open) * slowdown
        }
        Overlap::BehindAttention(_) => 0.0,
    }
}

/// Growth of the wait for proxies with the nodes of a collective's group: each additional node adds an
/// eighth.
pub(crate) fn spread(group: &Group) -> f64 {
    1.0 + (group.domains() - 1) as f64 / 8.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchanges::ProcessGroup;
    use railwright_spec::cluster::accelerator_by_name;

    /// A scan's chunks are independent, so its time is proportional to its tokens.
    #[test]
    fn scans_are_proportional_to_their_arithmetic() {
        let device = Device::new(&accelerator_by_name("h100").expect("in the catalogue"));
        let time = |tokens: f64| {
            let (flop, bytes) = (Flop::new(3e8 * tokens), Bytes::new(4e4 * tokens));
            (scan(&device, flop, bytes).time.get(), selective(&device, flop, bytes).time.get())
        };
        let (one, selective_one) = time(4096.0);
        for times in 2..=8 {
            let (more, selective_more) = time(4096.0 * f64::from(times));
            let growth = more / one / f64::from(times);
            assert!((0.8..=1.0 + 1e-9).contains(&growth), "{times}: {growth}");
            let growth = selective_more / selective_one / f64::from(times);
            assert!((0.8..=1.0 + 1e-9).contains(&growth), "{times}: {growth}");
        }
    }

    /// Arithmetic of one GEMM of this side takes the time of that GEMM, and any other its share.
    #[test]
    fn arithmetic_has_the_rate_of_a_large_product() {
        let device = Device::new(&accelerator_by_name("h100").expect("in the catalogue"));
        let product = device.gemm(8192.0, 8192.0, 8192.0, DataType::Bf16, Pass::Forward);
        let time = |flop: f64| large(&device, Flop::new(flop)).get() / product.time.get();
        assert!((time(2.0 * 8192.0_f64.powi(3)) - 1.0).abs() < 1e-12);
        assert!((time(2.0 * 8192.0_f64.powi(3) / 7.0) * 7.0 - 1.0).abs() < 1e-12);
        // H100 SXM: 989 TFLOP/s dense, of which a large GEMM reaches most.
        let rate = product.flop.get() / product.time.get();
        assert!((0.6e15..0.989e15).contains(&rate), "{rate:e}");
    }

    /// Half of the attention of 4 s hides 2 s; a quarter of what it hides comes back as slower attention.
    #[test]
    fn attention_hides_its_share_and_no_more() {
        let mut work = Work::default();
        work.compute[Family::AttentionCore as usize] = Seconds::new(4.0);
        let exchange = |overlap| Exchange {
            dimension: Dimension::Context,
            operations: [Some(Collective::AllGather), None],
            process_group: ProcessGroup::Context,
            bytes: Bytes::new(1.0),
            overlap,
            turns: [None, None],
        };
        for (time, expected) in [(3.0, 1.0 / 3.0), (8.0, 0.75), (2.0, 0.0), (1.0, 0.0), (0.0, 0.0)] {
            let found = |slowdown| {
                exposed(&exchange(Overlap::BehindAttention(0.5)), &work, Seconds::new(time), slowdown)
            };
            assert!((found(0.0) - expected).abs() < 1e-12, "{time}: {}", found(0.0));
            let slowed = if time > 0.0 { expected + (1.0 - expected) / 4.0 } else { 0.0 };
            assert!((found(0.25) - slowed).abs() < 1e-12, "{time}: {}", found(0.25));
        }
        assert_eq!(exposed(&exchange(Overlap::Exposed(0.3)), &work, Seconds::new(1.0), 0.25), 0.3);
    }
}
