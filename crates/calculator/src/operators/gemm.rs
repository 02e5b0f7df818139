//! Time of GEMMs.
//!
//! Responsible for: the model of a GEMM and of a group of equal GEMMs. Excludes casts of narrow inputs and
//! launch overhead.
//!
//! The model counts output tiles: a GEMM is divided into tiles of 256x128 down to 64x64, and each
//! multiprocessor computes one tile at a time. The last wave may be partly empty. Kernels also split the
//! inner dimension (split-k) if that fills waves. A tuned library selects the fastest of those choices:
//!
//! t = floor + ((C^4 + M^4))^(1/4)
//!
//! C = min over tiles a x b and splits s of max(1, w ceil(v) + (1-w) v) / s * 2 a b (k + k0 + (s-1) ks) / (r
//! e P / U), seconds
//!
//! with v = s ceil(m/a) ceil(n/b) / U waves; U multiprocessors; P the peak in FLOP/s; e the share that large
//! tiles reach; r <= 1 the relative rate of smaller tiles; k0 the filling and draining of a tile in elements
//! of k; ks the cost of one more split; w the strictness of wave quantization; M = bytes / (h B), seconds,
//! with B the memory bandwidth. Grouped GEMMs in one call: C / g for the work, and sqrt(work^2 + (groups
//! c)^2) with c the cost to issue a group. Constants are fitted per accelerator and number format; see
//! `catalog/operators/gemm.csv` for residuals.

use super::catalogue::{self, Row};
use super::cost::{Cost, Pass, Source};
use railwright_spec::cluster::{Accelerator, accelerator_by_name};
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{Bytes, Flop, Seconds};

/// Tile rows, tile columns, index of the relative rate.
const TILES: [(f64, f64, usize); 6] = [
    (256.0, 128.0, 0),
    (128.0, 256.0, 0),
    (128.0, 128.0, 1),
    (128.0, 64.0, 2),
    (64.0, 128.0, 2),
    (64.0, 64.0, 3),
];

/// Default number of multiprocessors (that of B200).
pub(super) const UNKNOWN_UNITS: f64 = 148.0;

/// Numbers of splits of the inner dimension.
const SPLITS: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0];

/// Model of GEMMs in one number format on one accelerator.
#[derive(Clone, Copy, Debug)]
pub(super) struct GemmLaw {
    /// Multiprocessors.
    units: f64,
    /// Seconds per element of k for one wave of 64x64 outputs, at each of the four relative rates.
    seconds_per_area: [f64; 4],
    k_start: f64,
    split_k: f64,
    wave: f64,
    floor: f64,
    seconds_per_byte: f64,
    element: f64,
    data_gradient: f64,
    weight_gradient: f64,
    grouped: f64,
    per_group: f64,
    peak: f64,
    bandwidth: f64,
    source: Source,
    /// Higher share of the peak than that of the related part, because of more power for it; 1 without.
    pub(super) relief: f64,
    /// True if matrix units do the arithmetic. Otherwise elements are loaded one by one, and alignment has
    /// no cost.
    has_matrix_units: bool,
    /// Factor of time of a single GEMM with rows off the memory grid.
    unaligned: f64,
}

/// The constants of the model, as in a row.
struct Constants {
    efficiency: f64,
    k_start: f64,
    floor: f64,
    hbm: f64,
    wave: f64,
    rates: [f64; 4],
    split_k: f64,
    data_gradient: f64,
    weight_gradient: f64,
    grouped: f64,
    per_group: f64,
}

impl Constants {
    /// Constants for an accelerator without measurements of its architecture: the middle of the fitted ones.
    const COMMON: Self = Self {
        efficiency: 0.72,
        k_start: 150.0,
        floor: 3e-6,
        hbm: 0.8,
        wave: 0.5,
        rates: [1.0, 0.9, 0.7, 0.55],
        split_k: 1500.0,
        data_gradient: 1.0,
        weight_gradient: 1.04,
        grouped: 0.85,
        per_group: 5e-6,
    };

    fn of(row: Row) -> Self {
        let common = Self::COMMON;
        Self {
            efficiency: row.number(3, common.efficiency),
            k_start: row.number(4, common.k_start),
            floor: row.number(5, 3.0) * 1e-6,
            hbm: row.number(6, common.hbm),
            wave: row.number(7, common.wave),
            rates: [1.0, row.number(8, 0.9), row.number(9, 0.7), row.number(10, 0.55)],
            split_k: row.number(11, common.split_k),
            data_gradient: row.number(12, common.data_gradient),
            weight_gradient: row.number(13, common.weight_gradient),
            grouped: row.number(14, common.grouped),
            per_group: row.number(15, 5.0) * 1e-6,
        }
    }

    /// Constants from the best rate of a sweep of shapes; a typical large shape reaches about 0.92 of that.
    fn from_ceiling(accelerator: &Accelerator) -> Self {
        let peak = accelerator.peak_rate(DataType::Bf16);
        match (accelerator.measured_matmul, peak) {
            (Some(ceiling), Some(peak)) if peak.get() > 0.0 => {
                Self { efficiency: (0.92 * (ceiling / peak)).clamp(0.05, 0.95), ..Self::COMMON }
            }
            _ => Self::COMMON,
        }
    }
}

/// Number of waves above which split-k is not tried: the last wave is a few per cent of the whole.
const SPLIT_BELOW: f64 = 16.0;

/// Rounds a positive number up: [`f64::ceil`] is a library call on baseline processors. Adding and
/// subtracting 2^52 rounds to an integer in two instructions that also work on vectors.
fn ceil(x: f64) -> f64 {
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    let rounded = (x + WHOLE) - WHOLE;
    if rounded < x { rounded + 1.0 } else { rounded }
}

/// The variants of the table for a number format, best first.
fn variants(data_type: DataType) -> &'static [&'static str] {
    match data_type {
        DataType::Fp32 | DataType::Tf32 | DataType::Fp16 | DataType::Bf16 => &["bf16"],
        DataType::Fp8 | DataType::Mxfp8 | DataType::Int8 => &["fp8", "bf16"],
        DataType::Nvfp4 => &["nvfp4", "fp8", "bf16"],
    }
}

/// The formats in which GEMMs in `data_type` may run, best first: one without hardware runs in the next wider
/// one.
fn chain(data_type: DataType) -> &'static [DataType] {
    match data_type {
        DataType::Nvfp4 => &[DataType::Nvfp4, DataType::Fp8, DataType::Bf16],
        DataType::Fp8 | DataType::Mxfp8 => &[DataType::Fp8, DataType::Bf16],
        DataType::Int8 => &[DataType::Int8, DataType::Bf16],
        DataType::Tf32 => &[DataType::Tf32, DataType::Fp32],
        DataType::Fp32 => &[DataType::Fp32, DataType::Tf32],
        DataType::Fp16 | DataType::Bf16 => &[DataType::Bf16, DataType::Fp32],
    }
}

/// Tests whether GEMMs in `data_type` require whole 16 bytes of each row. Matrix units of narrow formats and
/// of TF32 do: their operands are moved in vectors of 16 bytes (cuBLAS, "Tensor Core Usage"; CUTLASS'
/// `DefaultGemmConfiguration` for `OpClassTensorOp` has 128 bits). GEMMs in fp32 do not: on NVIDIA they run
/// on the ordinary units, whose kernels take single elements (CUTLASS' for `OpClassSimt`: `kAlignmentA =
/// kAlignmentB = 1`), and AMD's matrix instructions in fp32 take one element a lane.
fn has_matrix_units(accelerator: &Accelerator, data_type: DataType) -> bool {
    let runs_in = chain(data_type).iter().find(|t| accelerator.peak_rate(**t).is_some());
    runs_in.copied().unwrap_or(data_type) != DataType::Fp32
}

/// Peak of GEMMs in `data_type`, in FLOP/s.
fn peak(accelerator: &Accelerator, data_type: DataType) -> f64 {
    let found = chain(data_type)
        .iter()
        .find_map(|t| accelerator.peak_rate(*t))
        .or_else(|| accelerator.peak.values().next().copied());
    found.map_or(1e12, |rate| rate.get().max(1.0))
}

/// Scale of the start of a tile. Filling a tile's pipeline, draining it and adding splits are latencies of
/// memory and registers: they take time, not arithmetic. The constants count them as elements of k at the
/// rate of the format of the fit. If the model of matrix units is used for a wider format (`P` against `P'`),
/// the same seconds are fewer elements: `k0' = k0 min(1, P / P')`. Measured on V100: fp32 GEMMs of 12 to 1024
/// take 3 to 9 us. The fp32 peak is a seventh of the matrix units'.
fn start_scale(data_type: DataType, peak: f64, fitted: f64) -> f64 {
    match data_type {
        DataType::Fp32 | DataType::Tf32 => (peak / fitted.max(1.0)).min(1.0),
        _ => 1.0,
    }
}

/// The largest power of two of bytes to which all rows of `dimension` elements are aligned.
fn row_alignment(dimension: f64, element: f64) -> u32 {
    // Scales of block formats are stored separately: 1.03 bytes per element are rows of 1 byte per element.
    let whole = if element >= 1.0 { element.floor() } else { 0.5 };
    1 << ((dimension * whole) as u64).trailing_zeros().min(7)
}

/// FLOP/s of library kernels for rows off the memory grid: loads of single elements and the matrix
/// instructions of 2018, independent of the part. Measured on H100 (2048 to 8192 tokens x 768 inputs x 50257
/// outputs, three passes, mean of times): 122e12 to 131e12, a fifth to a sixth of the rate with 50304 outputs
/// (`catalog/operators/measured.csv`); A100 loses half of its 284e12.
const UNALIGNED_RATE: f64 = 142e12;

/// Minimum factor for rows off the grid: padding 50257 outputs to 50304 saves a quarter of a small model's
/// step on A100, whose GEMMs with them are about a third.
const UNALIGNED_LEAST: f64 = 2.0;

/// Columns of the narrowest tile.
const NARROWEST_TILE: f64 = 64.0;

/// Factor of time of GEMMs in a format with rows off the grid: `max(2, e P / 142e12)` in 16 bits.
fn unaligned_factor(data_type: DataType, peak: f64, efficiency: f64) -> f64 {
    match data_type {
        DataType::Bf16 | DataType::Fp16 => (peak * efficiency / UNALIGNED_RATE).max(UNALIGNED_LEAST),
        _ => UNALIGNED_LEAST,
    }
}

/// Factor of time of a single GEMM on matrix units for a contiguous dimension that starts rows off the memory
/// grid. Rows that are not multiples of 16 bytes cannot be loaded whole. From 16 bytes on the loss is small:
/// in published sweeps of step times, 8192 tokens x 14400 inputs x 1800 outputs lose no more than a few per
/// cent against 1728 outputs.
fn misalignment(dimension: f64, element: f64, unaligned: f64) -> f64 {
    match row_alignment(dimension, element) {
        // Rows not divisible by even pairs of elements. A side narrower than any tile has separate kernels.
        0..=2 if dimension >= NARROWEST_TILE => unaligned,
        0..16 => UNALIGNED_LEAST,
        16 => 1.05,
        32 => 1.02,
        _ => 1.0,
    }
}

/// The same factor for batches of GEMMs, where libraries have no path to matrix units below 16 bytes. A100
/// ran the GEMMs of unfused attention with head widths 108 and 150 at 10 to 11 TFLOP/s, a twelfth of the
/// usual. The rates are from published step times with 96 and 128 heads of one hidden size.
fn batched_misalignment(dimension: f64, element: f64) -> f64 {
    if row_alignment(dimension, element) < 16 { 12.0 } else { 1.0 }
}

/// Share of the peak that GEMMs reach if only the matrix units limit them.
const CEILING: f64 = 0.95;

/// Column of the number of measurements.
const MEASURED: usize = 16;

/// Minimum ratio of watts per FLOP/s to those of the related part for a higher efficiency.
const POWER_MARGIN: f64 = 1.5;

/// The efficiency of a part that uses another part's model.
///
/// Large parts run GEMMs at the power limit: the share of the peak `P` that they sustain depends on the watts
/// `W` available. A part with more watts per FLOP/s than the related part sustains proportionally more of its
/// peak, up to the limit of the units: `e' = min(0.95, e max(1, r / 1.5))` with `r = (W'/P') / (W/P)`. The
/// power of a board feeds more than its matrix units, so a smaller difference has no effect; a part with
/// fewer watts keeps the related part's share. Evidence: GeForce RTX 4090 (165 TFLOP/s, 450 W) trains at 0.97
/// of its peak where the law of L40S (362 TFLOP/s, 350 W) has 0.64.
///
/// The same relief applies to the sustained over the burst rate of a software generation, which the power
/// limit causes: `s' = min(1, s max(1, r / 1.5))`, see [`GemmLaw::relief`].
fn relief(own: &Accelerator, relative: Option<&Accelerator>, data_type: DataType) -> f64 {
    let watts = |accelerator: &Accelerator| Some(accelerator.power?.get() / peak(accelerator, data_type));
    // The power of `Hopper+Grace` includes the processor.
    let relief = relative
        .filter(|_| !own.architecture.contains('+'))
        .and_then(|relative| Some(watts(own)? / watts(relative)?.max(1e-30)));
    (relief.unwrap_or(1.0) / POWER_MARGIN).max(1.0)
}

/// Share of the memory bandwidth for GEMMs of a part that uses another part's model.
///
/// A multiprocessor keeps a bounded number of bytes in flight. By Little's law it moves a bounded number of
/// bytes per second, independent of the memory's rate. With `b = B / U` bytes per second for each of `U`
/// multiprocessors, a part with less bandwidth for each than the related part gets a larger share: `h' =
/// max(h, min(0.85, h b / b'))`. The upper limit is that of long element-wise kernels. A part with more keeps
/// the share. Evidence: the fitted shares fall with GB/s per multiprocessor, 0.99 at 19 (A100), 0.87 at 25
/// (H100), 0.81 at 36 (H200), 0.68 at 54 (B200).
fn fed(share: f64, own: &Accelerator, relative: Option<&Accelerator>) -> f64 {
    let per_unit = |accelerator: &Accelerator| {
        let units = accelerator.compute_units.filter(|units| *units > 0)?;
        Some(accelerator.memory_bandwidth.get() / f64::from(units))
    };
    let ratio = relative.and_then(|relative| Some(per_unit(relative)? / per_unit(own)?));
    let ratio = ratio.filter(|ratio| ratio.is_finite()).unwrap_or(1.0);
    // A TPU's few cores have separate memory engines.
    let ratio = if own.architecture.starts_with("TPU") { 1.0 } else { ratio };
    share.max((share * ratio).min(super::memory::SHARE))
}

impl GemmLaw {
    pub(super) fn new(accelerator: &Accelerator, data_type: DataType) -> Self {
        let found = variants(data_type).iter().find_map(|v| catalogue::find(catalogue::GEMM, accelerator, v));
        let (constants, relief, source) = found.map_or_else(
            || (Constants::from_ceiling(accelerator), 1.0, Source::Roofline),
            |(row, source)| {
                // A row without measurements of the accelerator is derived from another one.
                let source = if row.number(MEASURED, 0.0) > 0.0 { source } else { Source::Derived };
                let relative = (source == Source::Derived)
                    .then(|| accelerator_by_name(row.accelerator()).ok())
                    .flatten();
                let own = Constants::of(row);
                let relief = relief(accelerator, relative.as_ref(), data_type);
                let efficiency = (own.efficiency * relief).min(CEILING).max(own.efficiency);
                let hbm = fed(own.hbm, accelerator, relative.as_ref());
                (Constants { efficiency, hbm, ..own }, relief, source)
            },
        );
        let peak = peak(accelerator, data_type);
        let fitted = self::peak(accelerator, DataType::Bf16);
        let units = accelerator.compute_units.map_or(UNKNOWN_UNITS, |units| f64::from(units.max(1)));
        let bandwidth = accelerator.memory_bandwidth.get().max(1.0);
        Self {
            units,
            seconds_per_area: constants.rates.map(|rate| 2.0 * units / (peak * constants.efficiency * rate)),
            k_start: constants.k_start * start_scale(data_type, peak, fitted),
            split_k: constants.split_k * start_scale(data_type, peak, fitted),
            wave: constants.wave,
            floor: constants.floor,
            seconds_per_byte: 1.0 / (constants.hbm * bandwidth),
            element: data_type.bytes(),
            data_gradient: constants.data_gradient,
            weight_gradient: constants.weight_gradient,
            grouped: constants.grouped,
            per_group: constants.per_group,
            peak,
            bandwidth,
            source,
            relief,
            has_matrix_units: has_matrix_units(accelerator, data_type),
            // Measured on Hopper; the minimum elsewhere, without measurements.
            unaligned: if accelerator.architecture.starts_with("Hopper") {
                unaligned_factor(data_type, peak, constants.efficiency)
            } else {
                UNALIGNED_LEAST
            },
        }
    }

    /// The larger of the costs of two contiguous dimensions by `factor`; 1 without matrix units.
    fn aligned(&self, factor: impl Fn(f64, f64) -> f64, dimensions: [f64; 2]) -> f64 {
        if !self.has_matrix_units {
            return 1.0;
        }
        dimensions.into_iter().map(|dimension| factor(dimension, self.element)).fold(1.0, f64::max)
    }

    /// Seconds of arithmetic of `groups` GEMMs of m x k by k x n: C of the module's equation.
    fn arithmetic(&self, groups: f64, m: f64, n: f64, k: f64) -> f64 {
        let per_unit = groups / self.units;
        let mut best = f64::INFINITY;
        for (rows, columns, rate) in TILES {
            let waves = per_unit * ceil(m / rows) * ceil(n / columns);
            let tile = rows * columns * self.seconds_per_area[rate];
            let splits = if waves < SPLIT_BELOW { &SPLITS[..] } else { &SPLITS[..1] };
            for split in splits {
                let cut = waves * split;
                let filled = (self.wave * ceil(cut) + (1.0 - self.wave) * cut).max(1.0) / split;
                let time = filled * tile * (k + self.k_start + (split - 1.0) * self.split_k);
                best = if time < best { time } else { best };
            }
        }
        best
    }

    /// One GEMM of a linear layer, or `groups` of them in one kernel; see [`super::Device::gemm`].
    pub(super) fn cost(&self, groups: f64, m: f64, n: f64, k: f64, pass: Pass, accumulate: bool) -> Cost {
        if !(groups > 0.0 && m > 0.0 && n > 0.0 && k > 0.0) {
            return Cost { source: self.source, ..Cost::ZERO };
        }
        let (inputs, output, arithmetic, factor) = match pass {
            Pass::Forward => (m * k + n * k, 2.0 * m * n, self.arithmetic(groups, m, n, k), 1.0),
            Pass::DataGradient => {
                (m * n + n * k, 2.0 * m * k, self.arithmetic(groups, m, k, n), self.data_gradient)
            }
            Pass::WeightGradient => {
                let element = if accumulate { 8.0 } else { 2.0 };
                (m * k + m * n, element * n * k, self.arithmetic(groups, n, k, m), self.weight_gradient)
            }
        };
        let bytes = groups * (inputs * self.element + output);
        let flop = 2.0 * groups * m * n * k;
        let aligned =
            self.aligned(|dimension, element| misalignment(dimension, element, self.unaligned), [n, k]);
        let arithmetic = arithmetic * factor * aligned;
        if groups > 1.0 {
            let work = self.overlap(arithmetic / self.grouped, bytes);
            let issue = groups * self.per_group;
            return self.bounded(flop, bytes, (work * work + issue * issue).sqrt());
        }
        self.bounded(flop, bytes, self.overlap(arithmetic, bytes))
    }

    /// `batch` independent GEMMs in one kernel, with every operand read once.
    pub(super) fn batched(&self, batch: f64, m: f64, n: f64, k: f64) -> Cost {
        if !(batch > 0.0 && m > 0.0 && n > 0.0 && k > 0.0) {
            return Cost { source: self.source, ..Cost::ZERO };
        }
        // The next operator reads activations, never narrower than 16 bits.
        let bytes = batch * ((m * k + n * k) * self.element + self.element.max(2.0) * m * n);
        let aligned = self.aligned(batched_misalignment, [n, k]);
        let arithmetic = self.arithmetic(batch, m, n, k) * aligned;
        self.bounded(2.0 * batch * m * n * k, bytes, self.overlap(arithmetic, bytes))
    }

    /// Smooth maximum of concurrent arithmetic and memory traffic: (C^4 + M^4)^(1/4), seconds.
    fn overlap(&self, arithmetic: f64, bytes: f64) -> f64 {
        let moving = bytes * self.seconds_per_byte;
        let (arithmetic, moving) = (arithmetic * arithmetic, moving * moving);
        (arithmetic * arithmetic + moving * moving).sqrt().sqrt()
    }

    /// Adds the kernel's floor, and limits the time by the data sheet's roofline.
    fn bounded(&self, flop: f64, bytes: f64, seconds: f64) -> Cost {
        let roofline = (flop / self.peak).max(bytes / self.bandwidth);
        let time = (self.floor + seconds).max(roofline);
        Cost {
            time: Seconds::new(time),
            flop: Flop::new(flop),
            bytes: Bytes::new(bytes),
            source: self.source,
        }
    }

    /// Multiplies the minimum time of a kernel and of a group.
    pub(super) fn scale_floors(&mut self, factor: f64) {
        self.floor *= factor;
        self.per_group *= factor;
    }

    /// Share of the data sheet's peak that large GEMMs reach.
    pub(super) fn efficiency(&self) -> f64 {
        2.0 * self.units / (self.peak * self.seconds_per_area[0])
    }

    /// The rate of the data sheet, FLOP/s.
    pub(super) fn peak(&self) -> f64 {
        self.peak
    }
}
