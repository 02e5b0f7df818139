//! DeepSeek V2 to V3.2 and their kin (kimi K2, GLM 5): latent attention, dense layers first, then experts;
//! and V4.

use super::common::{Common, Defaults, Source, decoder, intermediate};
use super::experts::{DenseFirst, with_shared};
use crate::model::build::{
    CompressedShape, ExtraMatrix, FeedForwardShape, IndexerShape, LatentShape, MixerShape, assemble, matrix,
    vector,
};
use crate::model::fields::{Fields, missing};
use crate::model::{Cut, Model, Module, bounds};
use crate::problem::Problem;

// The common head width is unused with latent attention, so hidden over heads need not be whole.
const LATENT: Defaults = Defaults { head_dim: Some(128), ..Defaults::LLAMA };

pub(super) fn read(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &LATENT)?;
    let mixer = MixerShape::Latent(latent(source, &common)?);
    let dense_first = DenseFirst::read(fields, 0)?;
    let (mut dense, mut experts) = (FeedForwardShape::None, FeedForwardShape::None);
    if (0..common.layers).any(|index| !dense_first.has(index)) {
        experts = FeedForwardShape::Experts(with_shared(fields, &common)?);
    }
    if (0..common.layers).any(|index| dense_first.has(index)) {
        dense = FeedForwardShape::Dense(common.gated(intermediate(fields)?));
    }
    assemble(common.frame(source), common.layers, |index| {
        let is_dense = dense_first.has(index);
        let mut block = decoder(common.attention(), if is_dense { dense.clone() } else { experts.clone() });
        block.mixer = mixer.clone();
        block.name = if is_dense { "dense" } else { "moe" };
        Ok(block)
    })
}

/// Latent attention by the usual names.
pub(super) fn latent(source: &Source<'_>, common: &Common) -> Result<LatentShape, Problem> {
    let fields = &source.fields;
    let width = |name: &'static str| fields.required(&[name], bounds::HEAD_DIM);
    let sparse = matches!(source.family, "deepseek_v32" | "glm_moe_dsa");
    Ok(LatentShape {
        heads: common.heads,
        q_lora_rank: fields.count(&["q_lora_rank"], bounds::WIDTH_OR_ZERO)?.filter(|&rank| rank > 0),
        kv_lora_rank: fields.required(&["kv_lora_rank"], bounds::HIDDEN)?,
        nope: width("qk_nope_head_dim")?,
        rope: width("qk_rope_head_dim")?,
        value: width("v_head_dim")?,
        bias: fields.flag(&["attention_bias"])?.unwrap_or(false),
        indexer: if sparse { Some(indexer(fields, source.family)?) } else { None },
    })
}

/// Index of sparse attention; missing keys have the class's defaults.
fn indexer(fields: &Fields<'_>, family: &str) -> Result<IndexerShape, Problem> {
    let (heads, top_k) = match family {
        "glm_moe_dsa" => (32, 2048),
        "deepseek_v4" => (64, 512),
        _ => (64, 2048),
    };
    Ok(IndexerShape {
        heads: fields.count(&["index_n_heads"], bounds::HEADS)?.unwrap_or(heads),
        head_dim: fields.count(&["index_head_dim"], bounds::HEAD_DIM)?.unwrap_or(128),
        top_k: fields.count(&["index_topk"], bounds::POSITIONS)?.unwrap_or(top_k),
    })
}

/// DeepSeek V4: compressed attention, several residual streams (hyper-connections), experts on every layer.
pub(super) fn v4(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults { head_dim: Some(512), ..Defaults::LLAMA })?;
    let hidden = common.hidden;
    let rates = compress_rates(fields, common.layers)?;
    let experts = FeedForwardShape::Experts(with_shared(fields, &common)?);
    let index = indexer(fields, source.family)?;
    let attention = CompressedShape {
        heads: common.heads,
        head_dim: common.head_dim,
        q_lora_rank: fields.required(&["q_lora_rank"], bounds::HIDDEN)?,
        output_groups: fields.required(&["o_groups"], bounds::HEADS)?,
        output_rank: fields.required(&["o_lora_rank"], bounds::HIDDEN)?,
        window: fields.count(&["sliding_window"], bounds::POSITIONS)?.unwrap_or(128),
        compress_rate: 0,
        indexer: None,
    };
    if !common.heads.is_multiple_of(attention.output_groups) {
        let message =
            format!("{} output groups do not divide {} heads", attention.output_groups, common.heads);
        return Err(fields.locate(Problem::new(message), "o_groups"));
    }
    let streams = fields.count(&["hc_mult"], bounds::HEADS)?.unwrap_or(4);
    let mixes = (2 + streams) * streams;
    let mut frame = common.frame(source);
    frame.notes.push(
        "attention to compressed past entries is modelled by its window and index only: layers without an \
         index also attend to one entry per 128 tokens"
            .to_owned(),
    );
    frame.extra = vec![
        matrix("hc_head.fn", Module::Embedding, (streams, streams * hidden), Cut::Replicated, "hc_head"),
        vector("hc_head.base", Module::Embedding, streams, Cut::Replicated),
        vector("hc_head.scale", Module::Embedding, 1, Cut::Replicated),
    ];
    assemble(frame, common.layers, |layer| {
        let compress_rate = rates.get(layer as usize).copied().unwrap_or(0);
        // The finer compression has too many entries for full attention, so an index selects some.
        let indexer = (1..=16).contains(&compress_rate).then(|| index.clone());
        let mut block = decoder(common.attention(), experts.clone());
        block.name = match (compress_rate, &indexer) {
            (0, _) => "sliding",
            (_, Some(_)) => "compressed_sparse",
            (_, None) => "heavily_compressed",
        };
        block.mixer = MixerShape::Compressed(CompressedShape { compress_rate, indexer, ..attention.clone() });
        let mix =
            |name| ExtraMatrix { name, label: "hyper_connection", rows: mixes, columns: streams * hidden };
        block.extra_matrices = vec![mix("attn_hc.fn"), mix("ffn_hc.fn")];
        block.extra_vectors = vec![("attn_hc.base", mixes), ("attn_hc.scale", 3)];
        block.extra_vectors.extend([("ffn_hc.base", mixes), ("ffn_hc.scale", 3)]);
        Ok(block)
    })
}

/// Tokens per compressed entry of each layer. The list may continue for the prediction modules.
fn compress_rates(fields: &Fields<'_>, layers: u64) -> Result<Vec<u64>, Problem> {
    let rates = fields.counts("compress_ratios", bounds::SMALL)?;
    let rates = rates.ok_or_else(|| missing(&["compress_ratios"]))?;
    if (rates.len() as u64) < layers {
        let problem = Problem::new(format!("{} entries for {layers} layers", rates.len()));
        return Err(fields.locate(problem, "compress_ratios"));
    }
    Ok(rates)
}
