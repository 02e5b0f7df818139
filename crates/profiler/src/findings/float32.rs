//! GEMMs and attention in float32.
//!
//! Responsible for: both without tensor cores, or at the rate of TF32, by the names of kernels. Excludes
//! GEMMs of unknown format.

use super::remedies::is_forward;
use super::words::{percent, top};
use super::{Context, Rule};
use crate::causes::Trials;
use crate::profile::{Explained, Finding, Subject};
use crate::samples::format;
use railwright_spec::cluster::accelerator_by_name;
use railwright_spec::precision::DataType;
use railwright_step::OperatorFamily;
use std::collections::BTreeMap;

pub(super) struct Float32;

fn is_float32(name: &str) -> bool {
    // `cublasGemm` of templates contains the word for GEMMs in float32.
    let name = name.to_ascii_lowercase().replace("cublasgemm", "");
    // Convolutions of cuDNN: `scudnn`, and engines with the type of their elements as the first argument of
    // the template.
    let engines =
        ["dgrad_engine<float", "wgrad_alg0_engine<float", "wgrad_engine<float", "fprop_engine<float"];
    [
        "sgemm",
        "scudnn",
        "cutlassf_f32",
        "cutlassb_f32",
        "f32f32_f32f32",
        "gemm_f32f32",
        "_tf32",
        "tf32tf32",
        "s1688gemm",
        "simt_s",
    ]
    .iter()
    .chain(&engines)
    .any(|word| name.contains(word))
        && !matches!(format(&name), Some(DataType::Bf16 | DataType::Fp16 | DataType::Fp8))
}

/// Tests whether a kernel is PyTorch's memory-efficient attention.
fn is_attention(name: &str) -> bool {
    name.contains("fmha_cutlass")
}

/// Tests whether a kernel multiplies in TF32. `s1688gemm` is TF32 unless a 16-bit format precedes it.
fn is_tf32(name: &str) -> bool {
    format(name) == Some(DataType::Tf32)
}

/// Tests whether a kernel targets a generation without bf16 and TF32: names in NVIDIA's libraries begin with
/// the generation.
fn is_older(name: &str) -> bool {
    ["maxwell_", "volta_", "turing_"].iter().any(|start| name.to_ascii_lowercase().starts_with(start))
}

/// Tests whether a kernel targets a generation with bf16 and TF32.
fn is_newer(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["ampere_", "sm80", "sm86", "sm89", "sm90", "sm100", "cutlass_80", "nvjet", "tf32", "bf16"]
        .iter()
        .any(|word| name.contains(word))
}

/// Alternative formats of the chip. The chip is from the catalogue; otherwise it is inferred from the
/// generation of the kernels.
fn advice(context: &Context<'_>, wide: &[(&str, i64)]) -> &'static str {
    let time = |fits: &dyn Fn(&str) -> bool| -> i64 {
        wide.iter().filter(|(name, _)| fits(name)).map(|(_, time)| *time).sum()
    };
    let names = context.job.members.iter().flat_map(|member| &member.trace.identity.devices);
    let mut known = names.filter_map(|device| accelerator_by_name(&device.name).ok());
    let lacks = match known.next().map(|accelerator| accelerator.peak) {
        Some(peak) => !peak.contains_key(&DataType::Bf16) && peak.contains_key(&DataType::Fp16),
        // Libraries keep kernels of older generations for newer chips, so they are evidence only without any
        // kernel of a newer one.
        None => time(&is_older) > 0 && !context.kernels().any(|(_, name)| is_newer(name)),
    };
    if lacks && is_forward(context.views) {
        "run float32 GEMMs in fp16: the device has no bf16 and no TF32"
    } else if lacks {
        "run float32 GEMMs in fp16 with loss scaling: the device has no bf16 and no TF32"
    } else if 2 * time(&is_tf32) > time(&|_| true) {
        "run float32 GEMMs in bf16; they already use TF32"
    } else {
        "run float32 GEMMs in bf16, or at least allow TF32"
    }
}

/// Times of kernels without those of trial runs: later steps do not have them.
fn without_trials<'a>(context: &Context<'a>, times: Vec<(&'a str, i64)>) -> Vec<(&'a str, i64)> {
    let mut tried: BTreeMap<&str, i64> = BTreeMap::new();
    let (from, to) = context.windows.span();
    for view in context.views.iter().filter(|view| !view.from_host) {
        let trials = Trials::new(view);
        for (row, &launch) in view.gpu.iter().zip(&view.launch) {
            if (from..to).contains(&row.start) && trials.has(launch) {
                *tried.entry(view.trace.names.get(row.name)).or_default() += row.duration();
            }
        }
    }
    let left = |(name, time): (&'a str, i64)| (name, time - tried.get(name).copied().unwrap_or(0));
    top(times.into_iter(), usize::MAX).into_iter().map(left).filter(|(_, time)| *time > 0).collect()
}

impl Rule for Float32 {
    fn id(&self) -> &'static str {
        "float32-products"
    }

    fn title(&self) -> &'static str {
        "GEMMs in float32"
    }

    fn text(&self) -> &'static str {
        "GEMMs and attention with float32 or TF32 in their names. Reported if they take 2% of the step. Cost: half of \
         their time. 16-bit formats have at least twice the rate of TF32, and 8 to 16 times that of float32 \
         without tensor cores. Trial runs of convolution algorithms are not counted.\n\n\
         Remedies: autocast for the remaining modules (often routers, heads, losses and rotary embeddings), \
         unless they need float32."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let multiplies = |family| matches!(family, OperatorFamily::MatrixProduct | OperatorFamily::Attention);
        let (wide, most) = context.arithmetic(|family, name| multiplies(family) && is_float32(name));
        if context.share(most) < 0.02 {
            return Vec::new();
        }
        let wide = without_trials(context, wide);
        let all = wide.iter().map(|(_, time)| time).sum::<i64>() as f64 / context.samples();
        if context.share(all) < 0.02 {
            return Vec::new();
        }
        let attends = wide.iter().any(|(name, _)| is_attention(name));
        let what = if attends { "GEMMs and attention" } else { "GEMMs" };
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("{what} run in float32"),
            cost: Some(all / 2.0),
            savings: context.savings(&wide, 0.5),
            explained: Explained::Whole,
            subject: Subject::of_kernels(Context::leading(wide.iter().copied())),
            advice: advice(context, &wide).to_owned(),
            evidence: [format!(
                "float32 {what} take {} of the step; half of that is counted as the cost",
                percent(context.share(all))
            )]
            .into_iter()
            .chain(context.costliest(wide, 3))
            .collect(),
            ..Finding::default()
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_the_format_and_of_the_generation() {
        let tf32 = "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align4>(Params)";
        assert!(is_float32(tf32) && is_tf32(tf32) && !is_older(tf32));
        assert!(is_float32("volta_sgemm_64x64_nt") && !is_tf32("volta_sgemm_64x64_nt"));
        for convolution in [
            "volta_scudnn_128x64_relu_interior_nn_v1",
            "void cudnn::cnn::wgrad_alg0_engine<float, 512, 6, 5, 3, 3, 3, false, 512>(int, int, int)",
            "void cudnn::detail::dgrad_engine<float, 128, 6, 7, 3, 3, 5, false>(int, int, int)",
        ] {
            assert!(is_float32(convolution) && !is_newer(convolution), "{convolution}");
        }
        for half in [
            "ampere_fp16_s1688gemm_fp16_128x128_ldg8_f2f_stages_32x1_tn",
            "void gemmSN_NN_kernel<float, 128, 2, 4, 8, 4, 4, false, cublasGemvTensorStridedBatched<__half const> >(cublasGemmSmallNParams)",
            "sm80_xmma_gemm_bf16f32_bf16f32_f32_tn_n_tilesize64x64x64_stage4",
        ] {
            assert!(!is_float32(half), "{half}");
        }
        let attention =
            "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>)";
        assert!(is_float32(attention) && is_attention(attention));
        assert!(!is_float32(
            "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(AttentionKernel<cutlass::bfloat16_t>)"
        ));
        assert!(is_newer("ampere_sgemm_128x128_tn") && !is_newer("volta_sgemm_64x64_nt"));
        assert!(is_older("volta_sgemm_64x64_nt") && !is_older("ampere_sgemm_128x128_tn"));
    }
}
