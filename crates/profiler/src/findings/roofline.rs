//! Operators far from the roofline of their accelerator.
//!
//! Responsible for: savings of operators with recorded shapes at a share of the roofline that others reach.
//! Excludes operators without shapes, and kernels too short to reach it.

use super::context::EXPLAINED;
use super::scores::Scores;
use super::words::{percent, short, time};
use super::{Context, Rule};
use crate::certainty::Certainty;
use crate::profile::{Explained, Finding};
use crate::roofline::{Bound, Kind, RooflineRow};
use railwright_spec::precision::DataType;

pub(super) struct BelowRoofline;

/// Maximum number of listed operators.
const MOST: usize = 5;

impl Rule for BelowRoofline {
    fn id(&self) -> &'static str {
        "below-roofline"
    }

    fn title(&self) -> &'static str {
        "Operators are far below the roofline"
    }

    fn text(&self) -> &'static str {
        "FLOP and bytes of operators follow from their recorded shapes (`record_shapes=True`); the roofline \
         time is the larger of FLOPs / peak in the format of the kernel and bytes / memory bandwidth. \
         Reported if operators at 70% of the roofline (the peak is at most the measured GEMM rate of the \
         accelerator: `railwright gpus`) save 3% of the step. Cost: that saving. Kernels \
         shorter than 10 us are excluded, because their launch dominates. A causal mask halves the FLOP of \
         attention and is not recorded, so attention may be farther from its roofline than shown. The routing of tokens is \
         not recorded either: if a call is faster than reading the weights of all experts, the saving is a bound.\n\n\
         Remedies: for GEMMs other formats, aligned dimensions and larger batches; for convolutions \
         `channels_last` and other algorithms (`cudnn.benchmark`); for memory-bound operators contiguous \
         tensors and fusion (`torch.compile`)."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let Some(roofline) = context.roofline else { return Vec::new() };
        let lost = roofline.saving_ns;
        if context.share(lost) < 0.03 {
            return Vec::new();
        }
        let saving: Vec<&RooflineRow> = roofline.rows.iter().filter(|row| row.saving_ns > 0.0).collect();
        let (shown, others) = saving.split_at(saving.len().min(MOST));
        let explained: f64 = shown.iter().map(|row| row.saving_ns).sum();
        let rest: f64 = others.iter().map(|row| row.saving_ns).sum();
        // With many small savings, their sum is the evidence.
        let together = (explained < EXPLAINED * lost && rest > 0.0)
            .then(|| format!("{} other operators: save {} per step", others.len(), time(rest)));
        let bounded: f64 = roofline.rows.iter().filter(|row| row.bounded).map(|row| row.saving_ns).sum();
        let line = |row: &&RooflineRow| {
            let reached = match row.bound {
                Bound::Compute => format!("{:.1} TFLOP/s", row.flop_per_s * 1e-12),
                Bound::Memory => format!("{:.0} GB/s", row.bytes_per_s * 1e-9),
            };
            let (from, most) = if row.bounded { ("at least ", "up to ") } else { ("", "") };
            format!(
                "{} {}: {reached}, {from}{} of the roofline, saves {most}{} per step",
                row.operator,
                short(&row.shapes),
                percent(row.share_of_roofline),
                time(row.saving_ns)
            )
        };
        vec![Finding {
            id: self.id().to_owned(),
            message: "operators run far below the roofline".to_owned(),
            cost: Some(lost),
            explained: Explained::Part(explained + if together.is_some() { rest } else { 0.0 }),
            certainty: (2.0 * bounded > lost).then_some(Certainty::AtMost),
            savings: (saving.iter()).filter_map(|row| Some((row.kernel.clone()?, row.saving_ns))).collect(),
            evidence: shown.iter().map(line).chain(together).collect(),
            advice: advice(shown, &Scores::new(context.views)),
            ..Finding::default()
        }]
    }
}

/// Minimum share of the listed savings of a kind with advice.
const ADVISED: f64 = 0.2;

/// Minimum multiple of the sides of an aligned GEMM, and the minimum operations of a large one.
const ALIGNED: u64 = 64;
const LARGE: f64 = 1e11;

/// Minimum multiple of the sides in a load of tensor cores, in elements of 16 bits (16 bytes).
const LOADED: u64 = 8;

/// Advice for the kinds of operators with most of the savings, largest first.
fn advice(rows: &[&RooflineRow], scores: &Scores) -> String {
    let all: f64 = rows.iter().map(|row| row.saving_ns).sum();
    let mut sums: Vec<(&'static str, f64)> = Vec::new();
    for row in rows {
        let remedy = remedy(row, scores);
        match sums.iter_mut().find(|sum| sum.0 == remedy) {
            Some(sum) => sum.1 += row.saving_ns,
            None => sums.push((remedy, row.saving_ns)),
        }
    }
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    let kept = sums.iter().enumerate().filter(|(at, sum)| *at == 0 || sum.1 >= ADVISED * all);
    kept.map(|sum| sum.1.0).collect::<Vec<_>>().join("; ")
}

/// Advice for an operator, by its kind, shapes and format.
fn remedy(row: &RooflineRow, scores: &Scores) -> &'static str {
    match row.kind {
        _ if scores.has(&row.operator, &row.shapes) => {
            "use fused attention: it neither writes nor reads the scores of these operators"
        }
        Kind::Product if is_large(row) => {
            "these GEMMs are large and aligned: compare with the measured GEMM rate (`railwright gpus`), try other algorithms \
             (cuBLASLt, `max-autotune`) or a lower-precision format, and check clocks and power"
        }
        // Units without tensor cores load single elements.
        Kind::Product if row.data_type == DataType::Fp32 || have_multiple(row, LOADED) => {
            "use larger batches or a lower-precision format for these GEMMs, or another algorithm (cuBLASLt, `max-autotune`)"
        }
        Kind::Product => {
            "use aligned dimensions, larger batches, or a lower-precision format for these GEMMs"
        }
        Kind::Attention if row.data_type == DataType::Fp32 => {
            "run attention in bf16 or fp16: flash attention accepts no float32"
        }
        Kind::Attention => {
            "try another attention backend for this head width and format (FlashAttention, cuDNN, on AMD AITER)"
        }
        Kind::Convolution if matches!(row.data_type, DataType::Fp32 | DataType::Tf32) => {
            "try `channels_last`, `cudnn.benchmark` and a lower-precision format"
        }
        Kind::Convolution => "try `channels_last` and `cudnn.benchmark`",
        Kind::Experts => {
            "tune the kernel for these sizes (tile table of the library), and route more tokens to each expert"
        }
        _ => "make inputs contiguous, and fuse these operators with their neighbours (`torch.compile`)",
    }
}

/// Tests whether the sides of all matrices of a GEMM are multiples of a number.
fn have_multiple(row: &RooflineRow, multiple: u64) -> bool {
    let inputs = crate::samples::lists(&row.shapes);
    let is_aligned = |side: &u64| side.is_multiple_of(multiple);
    let sides = || inputs.iter().filter(|sides| sides.len() > 1).flat_map(|sides| sides.iter().rev().take(2));
    sides().count() > 0 && sides().all(is_aligned)
}

/// Tests whether a GEMM is too large for its sides to limit it.
fn is_large(row: &RooflineRow) -> bool {
    row.flop >= LARGE && have_multiple(row, ALIGNED)
}
