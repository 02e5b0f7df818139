//! Shapes and formats of operators, in the notation of recorders and kernels.
//!
//! Responsible for: m, n and k of `[[4096, 5120], [5120, 1024]]`; formats by kernel name. Dimensions are not
//! guessed.

use railwright_spec::precision::DataType;

/// Maximum number of lists read from `[[8, 128], [], [128, 64]]`, one per tensor.
const MOST: usize = 32;

/// Shapes of an operator's inputs; empty lists for scalars and absent ones.
pub(crate) fn lists(text: &str) -> Vec<Vec<u64>> {
    let mut all = Vec::new();
    let Some(inside) = text.trim().strip_prefix('[') else { return all };
    let mut rest = inside;
    while let Some(open) = rest.find('[') {
        let Some(close) = rest[open..].find(']') else { break };
        let one = &rest[open + 1..open + close];
        all.push(one.split(',').filter_map(|part| part.trim().parse().ok()).collect());
        rest = &rest[open + close + 1..];
        if all.len() >= MOST {
            break;
        }
    }
    all
}

/// Batch size, rows, columns and contracted dimension of a GEMM operator.
pub(crate) fn product(operator: &str, shapes: &[Vec<u64>]) -> Option<[u64; 4]> {
    let base = operator.rsplit("::").next().unwrap_or_default();
    let base = base.trim_end_matches("_out").trim_end_matches(".out");
    let skip = match base {
        "addmm" | "baddbmm" | "_addmm_activation" => 1,
        _ => 0,
    };
    let (a, b) = (shapes.get(skip)?, shapes.get(skip + 1)?);
    match (base, a.as_slice(), b.as_slice()) {
        ("mm" | "addmm" | "_scaled_mm" | "_int_mm" | "_addmm_activation" | "matmul", &[m, k], &[k2, n])
            if k == k2 =>
        {
            Some([1, m, n, k])
        }
        ("bmm" | "baddbmm" | "matmul", &[batch, m, k], &[b2, k2, n]) if k == k2 && batch == b2 => {
            Some([batch, m, n, k])
        }
        ("linear", [rows @ .., k], &[n, k2]) if *k == k2 => Some([1, rows.iter().product(), n, k2]),
        _ => None,
    }
    .filter(|sides| sides.iter().all(|side| *side > 0))
}

/// Batch, queries, keys, heads, key-value heads and head width of a fused attention operator, and whether it
/// is a backward pass.
pub(crate) fn attention(operator: &str, shapes: &[Vec<u64>]) -> Option<([u64; 6], bool)> {
    let base = operator.rsplit("::").next().unwrap_or_default();
    let backward = base.contains("backward") || base.contains("bwd");
    let skip = usize::from(backward && shapes.len() > 3);
    let [query, key, value] = [shapes.get(skip)?, shapes.get(skip + 1)?, shapes.get(skip + 2)?];
    if key != value && key.len() != value.len() {
        return None;
    }
    let (&[b, q1, q2, d], &[_, k1, k2, kd]) = (query.as_slice(), key.as_slice()) else { return None };
    if d != kd {
        return None;
    }
    // PyTorch's own operators, including those for cuDNN, have heads before positions; the kernel libraries
    // have them after positions.
    let heads_first = base.contains("scaled_dot_product") || base.contains("cudnn_attention");
    let (queries, heads, keys, kv_heads) = if heads_first { (q2, q1, k2, k1) } else { (q1, q2, k1, k2) };
    let all = [b, queries, keys, heads, kv_heads, d];
    all.iter().all(|side| *side > 0).then_some((all, backward))
}

/// Format of a GEMM's inputs from the name of its kernel; `None` if the name lacks it.
///
/// cuBLAS: `sgemm`, `h16816gemm`, `s1688gemm` (TF32), `bf16`; `nvjet_` and a letter for each of inputs,
/// output (`t` bf16, `h` fp16, `q`, `r` fp8, `s` fp32); Tensile: the types after the layout, `_BBS_`,
/// `_HHS_`, `_SB_`.
pub(crate) fn format(kernel: &str) -> Option<DataType> {
    let lower = kernel.to_ascii_lowercase();
    if let Some(letters) = lower
        .strip_prefix("nvjet_")
        .map(|rest| rest.trim_start_matches("sm100_").trim_start_matches("sm103_"))
    {
        return match letters.chars().next()? {
            't' => Some(DataType::Bf16),
            'h' => Some(DataType::Fp16),
            'q' | 'r' => Some(DataType::Fp8),
            's' => Some(DataType::Tf32),
            _ => None,
        };
    }
    if lower.starts_with("cijk_") {
        let types = kernel.split('_').nth(3)?;
        return match types.chars().next()? {
            'B' if types.starts_with("BBS") || types.starts_with("BS") || types.starts_with("BBH") => {
                Some(DataType::Bf16)
            }
            'H' => Some(DataType::Fp16),
            'S' if kernel.contains("_XF32") => Some(DataType::Tf32),
            'S' => Some(DataType::Fp32),
            'F' => Some(DataType::Fp8),
            _ => None,
        };
    }
    let has = |word: &str| lower.contains(word);
    // `s1688gemm` multiplies TF32, or the 16-bit format before it.
    let of_half = has("fp16_s1688gemm") || has("_f16_s1688gemm");
    if has("e4m3") || has("e5m2") || has("fp8") {
        Some(DataType::Fp8)
    } else if has("bf16") || has("bfloat16") {
        Some(DataType::Bf16)
    } else if has("tf32") || has("s1688gemm") && !of_half {
        Some(DataType::Tf32)
    } else if has("fp16")
        || has("f16")
        || has("hgemm")
        || has("h16816")
        || has("h884")
        || has("h1688")
        || has("_half")
    {
        Some(DataType::Fp16)
    } else if has("sgemm")
        || has("f32")
        || has("fp32")
        || has("gemmsn_")
        || has("gemv2t_kernel_val<int, int, float")
    {
        Some(DataType::Fp32)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_become_products() {
        let of = |operator, text| product(operator, &lists(text));
        assert_eq!(of("aten::mm", "[[32768, 768], [768, 3072], [32768, 3072]]"), Some([1, 32768, 3072, 768]));
        assert_eq!(of("aten::addmm", "[[512], [141, 512], [512, 256], [], []]"), Some([1, 141, 256, 512]));
        assert_eq!(of("aten::_scaled_mm", "[[64, 768], [768, 128], [], []]"), Some([1, 64, 128, 768]));
        assert_eq!(
            of("aten::baddbmm", "[[16, 64, 64], [16, 64, 3], [16, 3, 64], [], []]"),
            Some([16, 64, 64, 3])
        );
        assert_eq!(of("aten::linear", "[[8, 128, 64], [256, 64], [256]]"), Some([1, 1024, 256, 64]));
        assert_eq!(of("aten::mm", "[[4, 5], [6, 7]]"), None);
        assert_eq!(of("aten::mm", "[[4, 0], [0, 7]]"), None);
        assert_eq!(of("aten::conv2d", "[[1, 3, 224, 224], [64, 3, 7, 7]]"), None);
        assert_eq!(of("aten::mm", "[[[["), None);
    }

    #[test]
    fn shapes_become_attention() {
        let of = |operator, text| attention(operator, &lists(text));
        let flash = "[[8, 4096, 16, 128], [8, 4096, 4, 128], [8, 4096, 4, 128], [], []]";
        assert_eq!(of("aten::_flash_attention_forward", flash), Some(([8, 4096, 4096, 16, 4, 128], false)));
        let heads_first = "[[8, 16, 4096, 128], [8, 4, 4096, 128], [8, 4, 4096, 128], []]";
        assert_eq!(
            of("aten::_scaled_dot_product_flash_attention", heads_first),
            Some(([8, 4096, 4096, 16, 4, 128], false))
        );
        let backward = "[[1, 64, 2, 32], [1, 64, 2, 32], [1, 64, 2, 32], [1, 64, 2, 32], []]";
        assert_eq!(of("aten::_flash_attention_backward", backward), Some(([1, 64, 64, 2, 2, 32], true)));
        assert_eq!(of("flash_attn_3::fwd", "[[32768, 6, 128], [32768, 6, 128], [32768, 6, 128]]"), None);
    }

    #[test]
    fn kernels_give_their_format() {
        for (kernel, wanted) in [
            ("nvjet_tst_192x192_64x3_2x1_v_bz_coopB_NNN", Some(DataType::Bf16)),
            ("nvjet_qqtst_192x192_128x4_2x1_v_bz_coopB_TNN", Some(DataType::Fp8)),
            ("nvjet_rqsss_144x128_128x6_1x2_h_bz_coopA_algo2_TNN", Some(DataType::Fp8)),
            ("volta_sgemm_128x32_nn", Some(DataType::Fp32)),
            ("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", Some(DataType::Fp16)),
            (
                "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4>(Params)",
                Some(DataType::Tf32),
            ),
            ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64", Some(DataType::Bf16)),
            ("ampere_sgemm_128x128_tn", Some(DataType::Fp32)),
            ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64", Some(DataType::Bf16)),
            ("void at::native::elementwise_kernel<128, 2>()", None),
        ] {
            assert_eq!(format(kernel), wanted, "{kernel}");
        }
    }
}
