//! Purpose of a kernel, from its name: an editable table (`crates/profiler/data/kernels.toml`).
//!
//! Responsible for: patterns of names and the operator family of each row. A name is looked up once per
//! trace, not once per event. Excludes communication: [`crate::communication`] has its own table, which is
//! checked first.

mod pattern;

use crate::memo::Memo;
pub(crate) use pattern::Pattern;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_step::OperatorFamily;
use serde::Deserialize;
use std::sync::OnceLock;

/// The table that ships with the program.
const SHIPPED: &str = include_str!("../data/kernels.toml");

/// Families that a table may contain.
const FAMILIES: [OperatorFamily; 10] = [
    OperatorFamily::MatrixProduct,
    OperatorFamily::Attention,
    OperatorFamily::Norm,
    OperatorFamily::Elementwise,
    OperatorFamily::Embedding,
    OperatorFamily::Routing,
    OperatorFamily::Loss,
    OperatorFamily::Optimizer,
    OperatorFamily::Copy,
    OperatorFamily::Other,
];

/// Tests whether a kernel multiplies groups of tokens by experts: its work depends on the routing.
pub(crate) fn is_grouped(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["grouped", "moe", "expert", "m_grouped", "gmm_"].iter().any(|word| name.contains(word))
        && !name.contains("groupednorm")
        && !name.contains("group_norm")
}

/// Operator families by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelTable {
    rows: Vec<(Pattern, OperatorFamily)>,
    known: Memo<OperatorFamily>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    row: Vec<WrittenRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRow {
    family: String,
    patterns: Vec<String>,
}

impl KernelTable {
    /// The shipped table, read once: names of one rank are known for all others. A test checks that it can be
    /// read.
    pub fn shipped() -> &'static Self {
        static TABLE: OnceLock<KernelTable> = OnceLock::new();
        TABLE.get_or_init(|| Self::parse(SHIPPED).unwrap_or_default())
    }

    /// Reads a table.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let written: Written = toml::from_str(text).map_err(|error| {
            let problem = Problem::new(error.message().trim().to_owned());
            let problem = match error.span() {
                Some(span) => problem.at_offset(text, span.start),
                None => problem,
            };
            problem.hint(
                "a table has rows of `[[row]]` with `family` and `patterns`; see \
                crates/profiler/data/kernels.toml",
            )
        })?;
        let mut rows = Vec::new();
        for row in written.row {
            let family =
                FAMILIES.into_iter().find(|family| family.name() == row.family).ok_or_else(|| {
                    let names = FAMILIES.map(OperatorFamily::name);
                    let all = format!("families are {}", names.join(", "));
                    Problem::new(format!("`{}` is not an operator family", row.family)).hint(did_you_mean(
                        &row.family,
                        names,
                        &all,
                    ))
                })?;
            for text in row.patterns {
                let pattern = Pattern::parse(&text).ok_or_else(|| {
                    Problem::new(format!("the pattern `{text}` matches every name"))
                        .hint("use the part of a name that identifies the family")
                })?;
                rows.push((pattern, family));
            }
        }
        Ok(Self { rows, known: Memo::default() })
    }

    /// Combines this table with another one, which is checked later.
    #[must_use]
    pub fn before(mut self, later: &Self) -> Self {
        self.rows.extend(later.rows.iter().cloned());
        self.known = Memo::default();
        self
    }

    /// Family of a name; [`OperatorFamily::Other`] if no row fits.
    pub fn family(&self, name: &str) -> OperatorFamily {
        self.known.get(name, || {
            let name = name.to_ascii_lowercase();
            self.rows
                .iter()
                .find(|(pattern, _)| pattern.fits(&name))
                .map_or(OperatorFamily::Other, |(_, family)| *family)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use OperatorFamily::*;

    #[test]
    fn names_of_real_traces_find_their_family() {
        let table = KernelTable::shipped();
        assert!(table.rows.len() > 100);
        assert!(std::ptr::eq(table, KernelTable::shipped()), "read again for every rank");
        for (name, family) in [
            ("nvjet_tst_192x192_64x3_2x1_v_bz_coopB_NNN", MatrixProduct),
            ("volta_sgemm_128x32_nn", MatrixProduct),
            ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64", MatrixProduct),
            ("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_tn_align1>(...)", MatrixProduct),
            ("void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int)", MatrixProduct),
            (
                "void splitKreduce_kernel<float, float, float, float, true>(cublasSplitKParams<float>)",
                MatrixProduct,
            ),
            ("triton_mm_24", MatrixProduct),
            (
                "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnBwdSm90<...",
                Attention,
            ),
            ("fmha_cutlassF_bf16_aligned_64x64_rf_sm80", Attention),
            (
                "void (anonymous namespace)::softmax_warp_forward<float, float, float, 9, false, true>",
                Attention,
            ),
            ("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>", Norm),
            ("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 128, true, 1, true>", Norm),
            ("triton_red_fused__fused_rms_norm__fused_rms_norm_backward_mul_neg_sum_view_3", Norm),
            ("triton_per_fused__flash_attn_backward__unsafe_view_mul_sigmoid_sigmoid", Elementwise),
            ("triton_poi_fused__scaled_mm__to_copy_clone_div_lift_fresh_permute_0", Elementwise),
            ("triton_red_fused__log_softmax_div_mul_prepare_softmax_online_sigmoid_view_31", Loss),
            ("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int>", Copy),
            ("void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float>", Optimizer),
            ("void multi_tensor_apply_kernel<TensorListMetadata<2>, CopyFunctor<int, long, 2, 1, 1>>", Copy),
            (
                "void multi_tensor_apply_kernel<TensorListMetadata<2>, UnaryOpFunctor<long>, at::native::Copy<long>>",
                Copy,
            ),
            ("XXT_kernel", Optimizer),
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
                Elementwise,
            ),
            ("void split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel", Embedding),
            ("void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>", Routing),
            ("aten::addmm", MatrixProduct),
            ("_ZN12_GLOBAL__N_1fused_moe_kernel_gptq_awq", MatrixProduct),
            (
                "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x8x512u2_s6_et128x8_m128x8x32_cga1x1x1_16dp256b_TN_transOut_swiGlu",
                MatrixProduct,
            ),
            ("void vllm::moe::topkGatingSoftmax<8, 128, 4, 16>(float const*)", Routing),
            ("per_channel_cast_and_transpose_kernel", Elementwise),
            ("void vllm::scaled_fp8_quant_kernel<c10::BFloat16>", Elementwise),
            ("input_convert_reduce_fusion.13", Elementwise),
            ("loop_convert_fusion.2", Elementwise),
            ("loop_slice_fusion.7", Copy),
            ("cublas-gemm.2.0", MatrixProduct),
            ("gemm_fusion_dot.4", MatrixProduct),
            ("custom-call.219.0", Other),
            ("something of the user", Other),
        ] {
            assert_eq!(table.family(name), family, "{name}");
        }
    }

    #[test]
    fn a_table_of_the_user_comes_first_and_mistakes_are_reported() {
        let mine =
            KernelTable::parse("[[row]]\nfamily = \"routing\"\npatterns = [\"^my_\", \"gemm_router\"]\n")
                .unwrap();
        let both = mine.before(KernelTable::shipped());
        assert_eq!(both.family("My_gemm"), Routing);
        assert_eq!(both.family("not_my_gemm"), MatrixProduct);
        let problem = KernelTable::parse("[[row]]\nfamily = \"atention\"\npatterns = [\"x\"]").unwrap_err();
        assert_eq!(problem.message, "`atention` is not an operator family");
        assert_eq!(problem.hint.as_deref(), Some("did you mean `attention`?"));
        assert!(KernelTable::parse("[[row]]\nfamily = \"norm\"\npatterns = [\"^*$\"]").is_err());
        assert_eq!(KernelTable::parse("[[row]]\nfamily = ").unwrap_err().place.unwrap().line, Some(2));
    }
}
