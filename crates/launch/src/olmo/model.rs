//! Models of OLMo-core's builders (`TransformerConfig.olmo2_7B`).
//!
//! Responsible for: the dimensions of each builder (OLMo-core 2.3, `nn/transformer/config.py`) and the
//! vocabularies of its tokenizers. A builder with further arguments, or one whose result the script changes,
//! leaves the model open.

use crate::RemarkKind;
use crate::fields::Fields;
use railwright_spec::model::Style;

/// Builders whose model is in the catalogue, with the padded vocabulary of OLMo's tokenizer.
const CATALOGUE: &[(&str, &str)] = &[
    ("olmo2_7B", "olmo-2-1124-7b"),
    ("olmo2_13B", "olmo-2-1124-13b"),
    ("olmo2_32B", "olmo-2-0325-32b"),
    ("olmo3_7B", "olmo-3-7b"),
    ("olmo3_32B", "olmo-3-32b"),
];

/// A dense model of a builder.
struct Dense {
    builder: &'static str,
    /// Width, layers, heads and key-value heads.
    sizes: [u64; 4],
    /// Factor of the intermediate size in tenths, and its multiple.
    intermediate: [u64; 2],
    /// True for norms of queries and keys.
    norms: bool,
}

const fn dense(builder: &'static str, sizes: [u64; 4], intermediate: [u64; 2], norms: bool) -> Dense {
    Dense { builder, sizes, intermediate, norms }
}

/// Dense builders.
const DENSE: &[Dense] = &[
    dense("olmo2_14M", [128, 4, 8, 8], [10, 256], true),
    dense("olmo2_30M", [256, 4, 8, 8], [10, 256], true),
    dense("olmo2_60M", [384, 8, 8, 8], [15, 256], true),
    dense("olmo2_100M", [512, 12, 8, 8], [15, 256], true),
    dense("olmo2_190M", [768, 12, 12, 12], [15, 256], true),
    dense("olmo2_370M", [1024, 16, 16, 16], [15, 256], true),
    dense("olmo2_600M", [1344, 16, 16, 16], [15, 256], true),
    dense("olmo2_760M", [1536, 16, 16, 16], [15, 256], true),
    dense("olmo2_1B", [2048, 18, 16, 16], [15, 256], true),
    dense("olmo2_1B_v2", [2048, 16, 16, 16], [15, 256], true),
    dense("olmo2_3B", [3328, 16, 16, 16], [15, 256], true),
    dense("olmo2_7B", [4096, 32, 32, 32], [10, 256], true),
    dense("olmo2_13B", [5120, 40, 40, 40], [10, 256], true),
    dense("llama2_271M", [1024, 16, 8, 8], [10, 256], false),
    dense("llama2_1B", [2048, 18, 16, 16], [10, 256], false),
    dense("llama2_7B", [4096, 32, 32, 32], [10, 256], false),
    dense("llama2_13B", [5120, 40, 40, 40], [10, 256], false),
    dense("llama3_1B", [2048, 16, 32, 8], [15, 256], false),
    dense("llama3_8B", [4096, 32, 32, 8], [13, 1024], false),
];

/// Tokenizers with the size of their vocabulary.
const TOKENIZERS: &[(&str, u64)] = &[
    ("dolma2", 100_278),
    ("dolma2_sigdig", 100_278),
    ("gpt_neox_olmo_dolma_v1_5", 50_280),
    ("gpt2", 50_257),
];

/// Arguments and fields that change neither dimensions nor parameters.
const SAME: &[&str] = &[
    "vocab_size",
    "attn_backend",
    "use_flash",
    "fused_ops",
    "rope_theta",
    "init_seed",
    "init_method",
    "lm_head",
    "_target_",
    "_args_",
];

pub(super) fn read(fields: &mut Fields<'_>) {
    let path = "model._target_";
    if fields.draft.is_open("model.name") {
        return;
    }
    let Some(target) = fields.word(path) else { return };
    let mut parts = target.split('.').skip_while(|part| *part != "TransformerConfig").skip(1);
    let (builder, methods) = (parts.next().unwrap_or_default().to_owned(), parts.collect::<Vec<_>>());
    let changed = fields.document.entries.iter().find_map(|entry| {
        let field = entry.path.strip_prefix("model.")?.split('.').next()?;
        (!SAME.contains(&field)).then(|| entry.path.clone())
    });
    let is_other = methods.iter().any(|method| *method != "with_rope_scaling");
    if let Some(changed) = changed.or_else(|| is_other.then(|| path.to_owned())) {
        return open(fields, &changed, "it changes the model of the builder");
    }
    let Some(vocabulary) = vocabulary(fields) else {
        return open(fields, "model.vocab_size", "its tokenizer is not known");
    };
    let is_of_olmo = (100_278..=100_352).contains(&vocabulary);
    if let Some((_, name)) = CATALOGUE.iter().find(|(known, _)| *known == builder && is_of_olmo) {
        fields.set("model.name", &(*name).to_owned(), path);
        fields.default("plan.vocabulary_multiple", &1_u64, "the model has OLMo's padded vocabulary");
        return;
    }
    let Some(dense) = DENSE.iter().find(|dense| dense.builder == builder) else {
        return open(fields, path, "this builder is not known");
    };
    let ([hidden, layers, heads, groups], [tenths, multiple]) = (dense.sizes, dense.intermediate);
    for (key, n) in [
        ("model.hidden", hidden),
        ("model.layers", layers),
        ("model.heads", heads),
        ("model.kv_heads", groups),
        ("model.ffn", intermediate(hidden, tenths, multiple)),
    ] {
        fields.set(key, &n, path);
    }
    fields.set("model.style", &Style::Llama, path);
    fields.set("model.qk_norm", &dense.norms, path);
    fields.set("model.vocab", &vocabulary, "model.vocab_size._target_");
    fields.default("plan.vocabulary_multiple", &128_u64, "`padded_vocab_size` pads to a multiple of 128");
}

/// Intermediate size: `8/3 d`, times a factor, each rounded down, then up to a multiple (`llama_like`).
fn intermediate(hidden: u64, tenths: u64, multiple: u64) -> u64 {
    (8 * hidden / 3 * tenths / 10).div_ceil(multiple) * multiple
}

/// Rows of the vocabulary: a number, or that of a tokenizer. Builders get OLMo's tokenizer from outside the
/// script.
fn vocabulary(fields: &mut Fields<'_>) -> Option<u64> {
    let path = "model.vocab_size";
    if let Some(n) = fields.document.has(path).then(|| fields.count(path)).flatten() {
        return Some(n);
    }
    let mut shown = |path: &str| fields.word(path);
    let target = shown("model.vocab_size._target_").or_else(|| shown("dataset.tokenizer._target_"))?;
    let known = TOKENIZERS.iter().find(|(name, _)| target.split('.').any(|part| part == *name));
    if let Some((_, rows)) = known {
        return Some(*rows);
    }
    // The receiver is a parameter of the builder, so nothing precedes the method.
    (target.trim_start_matches('.') == "padded_vocab_size").then(|| {
        let message = "the tokenizer is that of OLMo-core's own scripts: dolma2, 100278 rows";
        fields.remark(RemarkKind::Assumed, "model.vocab_size._target_", message);
        TOKENIZERS[0].1
    })
}

fn open(fields: &mut Fields<'_>, path: &str, why: &str) {
    let (source, line) = fields.source(path);
    fields.draft.leave_open("model.name", &source, line, why);
    fields.remark(
        RemarkKind::Unresolved,
        path,
        format!("{why}, so the model is unknown: pass its config.json"),
    );
}

#[cfg(test)]
mod tests {
    use super::intermediate;

    #[test]
    fn intermediate_sizes_are_those_of_the_published_models() {
        // OLMo 2 7B and 13B (config.json: 11,008 and 13,824), OLMo 2 1B v2 (8,192), Llama 3 8B (14,336).
        assert_eq!(intermediate(4096, 10, 256), 11_008);
        assert_eq!(intermediate(5120, 10, 256), 13_824);
        assert_eq!(intermediate(2048, 15, 256), 8192);
        assert_eq!(intermediate(4096, 13, 1024), 14_336);
    }
}
