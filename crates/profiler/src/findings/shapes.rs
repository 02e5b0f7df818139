//! GEMM shapes that are inefficient on tensor cores.
//!
//! Responsible for: GEMMs whose contiguous dimensions are not multiples of 16 bytes, by the operator that
//! launched them. Excludes GEMMs without recorded shapes, dimensions that may not be contiguous, and scores
//! of attention: fused attention has none.

use super::scores::{Scores, sides};
use super::words::percent;
use super::{Context, Inference, Rule};
use crate::certainty::Certainty;
use crate::inputs;
use crate::profile::{Explained, Finding};
use crate::roofline::{Kind, contracts, tidy};
use crate::samples::lists;
use crate::trace::{HostKind, NONE};
use railwright_spec::precision::DataType;
use railwright_step::OperatorFamily;
use std::collections::BTreeMap;

pub(super) struct Shapes;

/// Bytes per load of a tensor core.
const LOADED: u64 = 16;
/// Share of the time (0 to 1) lost by such a shape: 16-byte alignment compared with none on A100 and H100.
/// Vendors measured factors between 1.2 and 4; this is the lower end.
const LOSS: f64 = 0.2;

/// Elements per load; 2-byte elements if the format was not recorded.
fn multiple(text: &str) -> u64 {
    match inputs::element(text) {
        Some(DataType::Fp32) => LOADED / 4,
        Some(DataType::Fp8) => LOADED,
        _ => LOADED / 2,
    }
}

/// Tests whether a GEMM kernel loads only one or two elements at once, by its name (CUTLASS, cuBLAS): its
/// operands are not aligned. Kernels without tensor cores (`simt`) load single elements for every shape.
fn loads_little(kernel: &str) -> bool {
    let ends =
        |word: &str| kernel.split(word).skip(1).any(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    kernel.contains("gemm") && !kernel.contains("_simt_") && ["align1", "align2"].into_iter().any(ends)
}

/// Tests whether a GEMM kernel does not use tensor cores, by its name (cuBLAS, CUTLASS): it computes in
/// float32 for every shape, so alignment does not matter.
fn is_simt(kernel: &str) -> bool {
    kernel.contains("_simt_") || kernel.contains("_sgemm_") && !kernel.contains("tensorop")
}

/// Tests whether a GEMM with these inputs has a misaligned dimension. A dimension of 1 belongs to a vector,
/// not to a GEMM. The output's columns are contiguous. One dimension of each input is, so an input counts
/// only if both of its dimensions are misaligned. In a convolution, tensor cores load channels (NVIDIA,
/// "Convolutional Layers User's Guide": channels in multiples of 8). Heights, widths and the kernel size do
/// not count, and images have 3 or 4 channels.
fn awkward(operator: &str, text: &str) -> bool {
    let multiple = multiple(text);
    let is_awkward = |d: u64| d > 1 && !d.is_multiple_of(multiple);
    let shapes = lists(inputs::shapes(text));
    if operator.contains("conv") {
        let mut channels = shapes.iter().filter(|input| input.len() >= 4).filter_map(|input| input.get(1));
        return channels.any(|&channels| channels > 4 && is_awkward(channels));
    }
    let Some([m, n, k]) = sides(operator, &shapes) else { return false };
    is_awkward(n) || is_awkward(m) && is_awkward(k)
}

/// Tests whether all dimensions of a GEMM are multiples of a load.
fn is_aligned(operator: &str, text: &str) -> bool {
    let multiple = multiple(text);
    let sides = sides(operator, &lists(inputs::shapes(text)));
    sides.is_some_and(|sides| sides.into_iter().all(|side| side.is_multiple_of(multiple)))
}

impl Rule for Shapes {
    fn id(&self) -> &'static str {
        "matrix-shapes"
    }

    fn title(&self) -> &'static str {
        "GEMMs with unaligned shapes"
    }

    fn text(&self) -> &'static str {
        "Tensor cores load GEMM operands in units of 16 bytes (8 values of 16 bits). Reported if GEMMs with \
         other contiguous dimensions take 2% of the step: the columns of the output, or both dimensions of \
         an input. Rows alone (a number of tokens) need no alignment, and scores of unfused attention are not counted. Kernels for 1 or 2 elements per load \
         (`align1`, `align2` in the name) count as well. Cost: 20% of their time, the lower end \
         of vendor reports for unaligned operands, or the saving at 70% of the roofline if it is known and \
         larger. Other kernels require `record_shapes=True`.\n\n\
         Remedies: pad vocabulary (`--make-vocab-size-divisible-by`), heads and hidden sizes to multiples of \
         64 x TP."
    }

    fn inference(&self) -> Inference {
        Inference::Silent
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let mut times: BTreeMap<String, i64> = BTreeMap::new();
        let mut kernels: BTreeMap<&str, i64> = BTreeMap::new();
        let (from, to) = context.windows.span();
        let scores = Scores::new(context.views);
        for view in context.views {
            // The open operator with shapes on a launch's thread. Rows are in order of start, so it is the
            // last one that has begun and not ended.
            let host = &view.trace.host;
            let mut open: BTreeMap<u32, (i64, u32)> = BTreeMap::new();
            let mut operator_of: Vec<u32> = vec![NONE; host.len()];
            for (at, row) in host.iter().enumerate() {
                let name = view.trace.names.get(row.name);
                if row.shapes.is_some() && contracts(name) {
                    open.insert(row.thread, (row.end, at as u32));
                } else if row.kind == HostKind::Runtime
                    && let Some(&(end, operator)) = open.get(&row.thread)
                    && row.start < end
                {
                    operator_of[at] = operator;
                }
            }
            for (at, row) in view.gpu.iter().enumerate() {
                let launch = view.launch[at];
                if view.family[at] != OperatorFamily::MatrixProduct
                    || launch == NONE
                    || row.start < from
                    || row.start >= to
                {
                    continue;
                }
                let kernel = view.trace.names.get(row.name);
                if is_simt(kernel) {
                    continue;
                }
                let operator = operator_of.get(launch as usize).and_then(|&at| host.get(at as usize));
                let operator = operator.and_then(|row| Some((view.trace.names.get(row.name), row.shapes?)));
                let shapes = operator.map(|of| view.trace.names.get(of.1));
                if operator.zip(shapes).is_some_and(|((name, _), text)| scores.has(name, text)) {
                    continue;
                }
                let convolves = operator.is_some_and(|of| of.0.contains("conv"));
                let by_shapes = operator.zip(shapes).is_some_and(|((name, _), text)| awkward(name, text));
                // Aligned sizes with an unaligned kernel: strides or addresses are the cause, and padding
                // does not help.
                let aligned = operator.zip(shapes).is_some_and(|((name, _), text)| is_aligned(name, text));
                if by_shapes || loads_little(kernel) && !convolves && !aligned {
                    let key = shapes.map_or_else(|| kernel.to_owned(), tidy);
                    *times.entry(key).or_default() += row.duration();
                    *kernels.entry(kernel).or_default() += row.duration();
                }
            }
        }
        let all = times.values().sum::<i64>() as f64 / context.samples();
        if context.share(all) < 0.02 {
            return Vec::new();
        }
        // Where the roofline is known, it shows a larger saving.
        let rows = context.roofline.map_or(&[][..], |roofline| &roofline.rows);
        let of_roofline = |shapes: &str| {
            let alike = rows.iter().filter(|row| row.shapes == shapes && row.kind == Kind::Product);
            alike.map(|row| row.saving_ns).sum::<f64>()
        };
        let savings = times.iter().map(|(shapes, time)| {
            let least = LOSS * *time as f64 / context.samples();
            least.max(of_roofline(shapes).min(*time as f64 / context.samples()))
        });
        let cost: f64 = savings.sum();
        let kernels: Vec<(&str, i64)> = kernels.into_iter().collect();
        vec![Finding {
            id: self.id().to_owned(),
            message: "shapes of GEMMs are unaligned".to_owned(),
            cost: Some(cost),
            certainty: (cost > 1.01 * LOSS * all).then_some(Certainty::AtMost),
            savings: context.savings(&kernels, cost / all.max(1.0)),
            explained: Explained::Whole,
            evidence: [format!("these GEMMs take {} of the step", percent(context.share(all)))]
                .into_iter()
                .chain(context.costliest(times.iter().map(|(shapes, time)| (shapes.as_str(), *time)), 3))
                .collect(),
            advice: "pad GEMM dimensions to a multiple of 64".to_owned(),
            ..Finding::default()
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contiguous_dimensions_are_those_that_count() {
        assert!(awkward("aten::mm", "[[4096, 5120], [5120, 1001]]"));
        assert!(awkward("aten::mm", "[[4097, 4097], [4097, 4097]]"));
        assert!(!awkward("aten::addmm", "[[1024], [4096, 5120], [5120, 1024], [], []]"));
        assert!(!awkward("aten::mm", "[[1, 4096], [4096, 1]]"));
        // A number of tokens: rows of the input and of the output, or contracted for a weight gradient.
        assert!(!awkward("aten::addmm", "[[768], [788, 768], [768, 768], [], []]"));
        assert!(!awkward("aten::mm", "[[768, 788], [788, 3072]]"));
        assert!(!awkward("aten::linear", "[[4, 197, 768], [3072, 768], [3072]]"));
        // 20 values of 32 bits are 80 bytes, of 16 bits 40.
        assert!(!awkward("aten::bmm", "[[2048, 606, 160], [2048, 160, 20]];type=float"));
        assert!(awkward("aten::bmm", "[[2048, 606, 160], [2048, 160, 20]];type=c10::BFloat16"));
        // Batched GEMMs: attention with 4 by 12 heads.
        assert!(awkward("aten::matmul", "[[4, 12, 3137, 64], [4, 12, 64, 3137]]"));
        assert!(!awkward("aten::einsum", "[[], [5, 7]]"));
    }

    #[test]
    fn kernels_name_their_alignment() {
        assert!(loads_little("cutlass_80_tensorop_s1688gemm_256x64_16x4_tn_align1"));
        assert!(loads_little(
            "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_nn_align2>(Params)"
        ));
        assert!(!loads_little("cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align16"));
        assert!(!loads_little("cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align4"));
        assert!(!loads_little("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nt_align1>(Params)"));
    }

    #[test]
    fn kernels_without_tensor_cores_need_no_alignment() {
        assert!(is_simt("ampere_sgemm_32x128_tn") && is_simt("cutlass_80_simt_sgemm_128x64_8x5_nt_align1"));
        assert!(!is_simt("cutlass_80_tensorop_s1688gemm_256x64_16x4_tn_align1"));
        assert!(!is_simt("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn"));
    }

    #[test]
    fn convolutions_are_judged_by_their_channels() {
        let of = |shapes: &str| awkward("aten::cudnn_convolution", shapes);
        assert!(!of(
            "[[32, 256, 14, 14], [1024, 256, 1, 1], [], [], [], [], [], [], []];stride=1,1;padding=3,3"
        ));
        assert!(!of("[[32, 3, 224, 224], [64, 3, 7, 7], [], []]"));
        assert!(of("[[32, 250, 14, 14], [1024, 250, 3, 3], [], []]"));
        // A weight gradient: the first dimensions of gradient and input agree, as in a batched GEMM.
        assert!(!of("[[32, 256, 14, 14], [32, 256, 14, 14], [], []]"));
    }
}
