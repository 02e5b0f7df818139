//! Element-wise work and norms limited by memory bandwidth.
//!
//! Responsible for: a large share of memory-bound kernels. A usual share is not a finding.

use super::host_work::is_view;
use super::remedies::{is_pytorch, of_xla};
use super::words::percent;
use super::{Context, Inference, Rule};
use crate::kernels::KernelTable;
use crate::profile::{Explained, Finding, Subject};
use crate::waterfall::Label;
use railwright_step::OperatorFamily;

pub(super) struct BoundByMemory;

/// Share of the step in fused transformers: norms, activations and residuals of a compiled model take a sixth
/// (MegaScale and torchtitan report 10% to 20%).
const USUAL: f64 = 0.20;

impl Rule for BoundByMemory {
    fn id(&self) -> &'static str {
        "memory-bound"
    }

    fn title(&self) -> &'static str {
        "Large share of time in element-wise kernels"
    }

    fn text(&self) -> &'static str {
        "Norms, activations, residuals, and casts are limited by memory bandwidth. Fused \
         implementations spend up to 20% of the step in them. Threshold: 25%. Cost: the time above 20%. \
         Pooling, sorting and histograms are not counted.\n\n\
         Remedies: torch.compile, fused norms, rotary embeddings, activations and cross-entropy (Transformer \
         Engine, Liger), fewer casts."
    }

    fn inference(&self) -> Inference {
        Inference::Advice(
            "fuse norms, activations, rotary embeddings and quantization with their neighbours (the server's compiled or custom kernels)",
        )
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let fits = |label: Label| label == Label::MemoryBound;
        // Parameters are initialized once, before the first step. Fusion affects neither them nor values that
        // the host reads nor embedding tables, whose kernels contain the whole lookup or update.
        // Without a device's records, copies of the host may go to one. Views move no data.
        let table = KernelTable::shipped();
        let is_host = context.from_host();
        let is_other = |name: &str| {
            is_not_fused(name)
                || is_lookup(name)
                || is_pooling(name)
                || is_ordering(name)
                || is_host && (is_copy(name) || is_view(name))
                || table.family(name) == OperatorFamily::Embedding
        };
        let other = context.times_under(fits).filter(|(name, _)| is_other(name));
        let other = other.map(|(_, time)| time).sum::<i64>() as f64 / context.samples();
        let all = context.mean(Label::MemoryBound) - other;
        if context.share(all) < 0.25 || context.has_launches_alone() {
            return Vec::new();
        }
        // Fusion needs a neighbour.
        let calls = context.uses().filter(|(part, name)| fits(part.label) && !is_other(name));
        if calls.map(|(part, _)| part.count).sum::<u64>() < 2 {
            return Vec::new();
        }
        // Names of compiler-generated kernels.
        let are_mostly = |made: fn(&str) -> bool| {
            let by_it = context.times_under(fits).filter(|(name, _)| made(name)).map(|(_, time)| time);
            by_it.sum::<i64>() as f64 / context.samples() > 0.5 * all
        };
        let fused: Vec<(&str, i64)> = context.times_under(fits).filter(|(name, _)| !is_other(name)).collect();
        let cost = all - USUAL * context.step();
        vec![Finding {
            id: self.id().to_owned(),
            message: "element-wise kernels and norms above 20% of the step".to_owned(),
            cost: Some(cost),
            savings: context.savings(&fused, cost / all.max(1.0)),
            explained: Explained::Whole,
            subject: Subject::of_kernels(Context::leading(context.times_under(fits).filter(|(name, _)| !is_other(name)))),
            evidence: [format!("these kernels take {} of the step", percent(context.share(all)))]
                .into_iter()
                .chain(context.costliest(context.times_under(fits).filter(|(name, _)| !is_other(name)), 4))
                .collect(),
            advice: if are_mostly(is_fusion_of_xla) || of_xla(context.views) {
                "XLA has already fused these kernels: remove casts, transposes and recomputed values from the function; split functions fuse less than one under `jax.jit`"
            } else if are_mostly(|name| name.starts_with("triton_")) {
                "these kernels are already compiled: remove graph breaks and casts between them, and use hand-fused norms, activations and cross-entropy for the largest"
            } else if !is_pytorch(context.views) {
                "fuse them with their neighbours, so that intermediate results are neither written nor read again"
            } else {
                "fuse them: torch.compile, or fused norms, activations, rotary embeddings and cross-entropy"
            }
            .to_owned(),
            ..Finding::default()
        }]
    }
}

/// Tests whether XLA named a kernel, as in `input_convert_reduce_fusion.13`.
fn is_fusion_of_xla(name: &str) -> bool {
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '_'));
    name.split_once("_fusion").is_some_and(|(_, number)| is_number(number))
}

/// Tests whether a host operator draws random numbers or reads a value: neither can be fused.
fn is_not_fused(name: &str) -> bool {
    const NONE: [&str; 9] = [
        "bernoulli",
        "is_nonzero",
        "item",
        "_local_scalar_dense",
        "log_normal_",
        "multinomial",
        "normal_",
        "trunc_normal_",
        "uniform_",
    ];
    // rand, randn, randint, randperm, rand_like, random_, ...
    name.strip_prefix("aten::").is_some_and(|name| name.starts_with("rand") || NONE.contains(&name))
}

/// Tests whether a kernel reads or writes rows of a table by index: fusion leaves these rows to be read, as
/// in embeddings.
fn is_lookup(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["gather_kernel", "indexselect", "index_select", "index_elementwise_kernel", "scatter_gather"]
        .iter()
        .any(|word| name.contains(word))
}

/// Tests whether an operator or a kernel pools over windows: neighbours cannot contain it, and on hosts its
/// comparisons take more time than its memory.
fn is_pooling(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["max_pool", "avg_pool", "maxpool", "avgpool", "pooling_fw", "pooling_bw"]
        .iter()
        .any(|word| name.contains(word))
}

/// Tests whether an operator or a kernel orders or counts values: each result depends on all of them, so
/// neighbours cannot contain it.
fn is_ordering(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.into_iter().any(|word| matches!(word, "sort" | "argsort" | "topk" | "msort"))
        || ["radixsort", "mergesort", "bitonicsort", "bincount", "histogram", "histc"]
            .iter()
            .any(|part| name.contains(part))
}

/// Tests whether a row of the host is a copy, which may be one between host and device.
fn is_copy(name: &str) -> bool {
    matches!(name, "aten::to" | "aten::_to_copy" | "aten::copy_")
        || name.to_ascii_lowercase().contains("memcpy")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_xla_differ_from_others() {
        assert!(is_fusion_of_xla("input_convert_reduce_fusion.13") && is_fusion_of_xla("loop_add_fusion"));
        assert!(!is_fusion_of_xla("triton_poi_fused_cat_clone_3") && !is_fusion_of_xla("my_fusion_kernel"));
    }

    #[test]
    fn lookups_are_no_element_wise_work() {
        for name in [
            "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long)",
            "void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long, unsigned int>(int)",
            "void at::native::index_elementwise_kernel<128, 4>(long)",
        ] {
            assert!(is_lookup(name), "{name}");
        }
        assert!(!is_lookup("triton_poi_fused_add_mul_3") && !is_lookup("ncclDevKernel_AllGather_RING_LL"));
    }

    #[test]
    fn pooling_is_no_element_wise_work() {
        for name in [
            "aten::max_pool2d",
            "aten::adaptive_avg_pool2d",
            "void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int)",
            "void cudnn::pooling_fw_4d_kernel<float>(int)",
        ] {
            assert!(is_pooling(name), "{name}");
        }
        assert!(!is_pooling("aten::batch_norm") && !is_pooling("memory_pool_copy"));
    }

    #[test]
    fn sorting_is_no_element_wise_work() {
        for name in [
            "modified_insertion_sort(float *, int, int *, int)",
            "void at::native::bitonicSortKVInPlace<2, -1, 16, 16, float>(int)",
            "void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<Policy>(int)",
            "aten::sort",
            "aten::topk",
            "aten::bincount",
            "void at::native::kernelHistogram1D<float, long, long, 1, 2, -1>(int)",
        ] {
            assert!(is_ordering(name), "{name}");
        }
        assert!(!is_ordering("sorted_norm_kernel") && !is_ordering("aten::mul"));
    }

    #[test]
    fn random_numbers_and_copies_of_the_host_cannot_be_fused() {
        assert!(
            ["aten::rand", "aten::randn_like", "aten::normal_", "aten::item"].into_iter().all(is_not_fused)
        );
        assert!(!["aten::square", "aten::add", "normal_kernel", "randomize"].into_iter().any(is_not_fused));
        assert!(["aten::to", "[MEMCPY] DtoH", "Memcpy HtoD (Pageable -> Device)"].into_iter().all(is_copy));
        assert!(!["aten::contiguous", "aten::add"].into_iter().any(is_copy));
    }
}
