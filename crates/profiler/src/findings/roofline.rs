//! Operators far from the roofline of their accelerator.
//!
//! Responsible for: savings of operators with recorded shapes at a share of the roofline that others reach. Excludes operators without
//! shapes, and kernels too short to reach it.

use super::{Context, EXPLAINED, Rule, percent, short, time};
use crate::certainty::Certainty;
use crate::profile::{Explained, Finding};
use crate::roofline::{Bound, Kind, RooflineRow};

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
            message: format!(
                "operators far below the roofline cost {} of the step",
                percent(context.share(lost))
            ),
            cost: Some(lost),
            explained: Explained::Part(explained + if together.is_some() { rest } else { 0.0 }),
            certainty: (2.0 * bounded > lost).then_some(Certainty::AtMost),
            evidence: shown.iter().map(line).chain(together).collect(),
            advice: advice(shown.first().map(|row| row.kind)).to_owned(),
            ..Finding::default()
        }]
    }
}

/// Advice for operators of a kind.
fn advice(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::Product) => {
            "use aligned dimensions, larger batches, or a lower-precision format for these GEMMs"
        }
        Some(Kind::Attention) => {
            "try another attention backend for this head width and format (FlashAttention-3, cuDNN, AITER)"
        }
        Some(Kind::Convolution) => "try `channels_last`, `cudnn.benchmark` and a lower-precision format",
        Some(Kind::Experts) => {
            "tune the kernel for these sizes (tile table of the library), and route more tokens to each expert"
        }
        _ => "make inputs contiguous, and fuse these operators with their neighbours (`torch.compile`)",
    }
}
