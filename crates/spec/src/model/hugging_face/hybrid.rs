//! Further hybrids: nemotron H (alternating Mamba 2, attention and MLP layers) and kimi linear (KDA and
//! latent attention).

use super::common::{Common, Defaults, Source, decoder, intermediate};
use super::deepseek::latent;
use super::experts::{DenseFirst, routed, with_shared};
use crate::model::build::{
    Block, DeltaShape, DenseShape, FeedForwardShape, GateStyle, MixerShape, SharedGate, SharedShape,
    StateSpaceShape, assemble,
};
use crate::model::fields::missing;
use crate::model::{Activation, Model, Position, bounds};
use crate::problem::Problem;

/// Nemotron H: one character per layer: M is Mamba 2, * attention, - an MLP, E experts.
pub(super) fn nemotron_h(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let defaults = Defaults { activation: Activation::SquaredRelu, head_dim: Some(128), ..Defaults::LLAMA };
    let common = Common::read(source, &defaults)?;
    let pattern = pattern(source, common.layers)?;
    let has = |kind: char| pattern.contains(&kind);
    let bias = fields.flag(&["mlp_bias"])?.unwrap_or(false);
    let mlp = |width: u64| DenseShape { width, gated: false, activation: common.activation, bias };
    let state_space = if has('M') { MixerShape::StateSpace(mamba(source)?) } else { MixerShape::None };
    let dense =
        if has('-') { FeedForwardShape::Dense(mlp(intermediate(fields)?)) } else { FeedForwardShape::None };
    let experts = if has('E') {
        let width = fields.required(&["moe_intermediate_size"], bounds::WIDTH)?;
        let count = fields.count(&["n_shared_experts"], bounds::SMALL)?.unwrap_or(1);
        let shared = fields.count(&["moe_shared_expert_intermediate_size"], bounds::WIDTH_OR_ZERO)?;
        let shared = count * shared.unwrap_or(0);
        let shared = (shared > 0).then(|| SharedShape { mlp: mlp(shared), gate: SharedGate::None });
        let mut experts = routed(fields, mlp(width), shared)?;
        experts.latent =
            fields.count(&["moe_latent_size"], bounds::WIDTH_OR_ZERO)?.filter(|&latent| latent > 0);
        FeedForwardShape::Experts(experts)
    } else {
        FeedForwardShape::None
    };
    let attention_bias = fields.flag(&["attention_bias"])?.unwrap_or(false);
    let mut attention = common.attention();
    (attention.qkv_bias, attention.output_bias) = (attention_bias, attention_bias);
    let mut frame = common.frame(source);
    frame.position = Position::None;
    if frame.prediction_depth > 0 {
        frame.notes.push(
            "a multi-token-prediction module is counted as one layer of the last kind, but modules of this family have two"
                .to_owned(),
        );
    }
    assemble(frame, common.layers, |index| {
        let kind = pattern.get(index as usize).copied().unwrap_or('M');
        let mut block = decoder(attention.clone(), FeedForwardShape::None);
        block.norms = &["norm"];
        (block.name, block.mixer, block.feed_forward) = match kind {
            '*' => ("attention", block.mixer, FeedForwardShape::None),
            '-' => ("mlp", MixerShape::None, dense.clone()),
            'E' => ("moe", MixerShape::None, experts.clone()),
            _ => ("mamba", state_space.clone(), FeedForwardShape::None),
        };
        Ok(block)
    })
}

/// Layer pattern, or the list of names in newer files.
fn pattern(source: &Source<'_>, layers: u64) -> Result<Vec<char>, Problem> {
    let fields = &source.fields;
    let (key, pattern): (_, Vec<char>) = if let Some(names) = fields.strings("layers_block_type")? {
        let kinds = names.iter().map(|name| match *name {
            "mamba" => Ok('M'),
            "attention" => Ok('*'),
            "mlp" => Ok('-'),
            "moe" => Ok('E'),
            _ => Err(fields.locate(
                Problem::new(format!("unknown layer type `{}`", name.chars().take(40).collect::<String>()))
                    .hint("use one of mamba, attention, mlp, moe"),
                "layers_block_type",
            )),
        });
        ("layers_block_type", kinds.collect::<Result<_, _>>()?)
    } else {
        let key = "hybrid_override_pattern";
        let pattern = fields.string(&[key])?.ok_or_else(|| missing(&[key, "layers_block_type"]))?;
        // `|` separates pipeline stages in some files.
        (key, pattern.chars().filter(|kind| *kind != '|').collect())
    };
    if let Some(kind) = pattern.iter().find(|kind| !"M*-E".contains(**kind)) {
        let problem = Problem::new(format!("unknown layer `{kind}`"));
        return Err(fields.locate(problem.hint("use M (Mamba 2), * (attention), - (MLP), E (experts)"), key));
    }
    if pattern.len() as u64 != layers {
        let problem = Problem::new(format!("{} entries for {layers} layers", pattern.len()));
        return Err(fields.locate(problem, key));
    }
    Ok(pattern)
}

fn mamba(source: &Source<'_>) -> Result<StateSpaceShape, Problem> {
    let fields = &source.fields;
    let heads = fields.required(&["mamba_num_heads"], bounds::HEADS)?;
    let groups = fields.count(&["n_groups", "mamba_n_groups"], bounds::HEADS)?.unwrap_or(8);
    if !heads.is_multiple_of(groups) {
        let problem = Problem::new(format!("{groups} groups do not divide {heads} Mamba heads"));
        return Err(fields.locate(problem, "n_groups"));
    }
    Ok(StateSpaceShape {
        heads,
        groups,
        head_dim: fields.required(&["mamba_head_dim"], bounds::HEAD_DIM)?,
        state_size: fields.count(&["ssm_state_size", "mamba_state_dim"], bounds::HEAD_DIM)?.unwrap_or(128),
        conv_kernel: fields.count(&["conv_kernel", "mamba_d_conv"], bounds::HEADS)?.unwrap_or(4),
        conv_bias: fields.flag(&["use_conv_bias"])?.unwrap_or(true),
        norm: true,
        projection_bias: fields.flag(&["mamba_proj_bias"])?.unwrap_or(false),
    })
}

/// Kimi linear: Kimi delta attention, with latent attention without rotation on the layers of
/// `full_attn_layers`.
pub(super) fn kimi_linear(source: &Source<'_>) -> Result<Model, Problem> {
    let fields = &source.fields;
    let common = Common::read(source, &Defaults { head_dim: Some(128), ..Defaults::LLAMA })?;
    let latent = MixerShape::Latent(latent(source, &common)?);
    let linear = fields.object("linear_attn_config")?.ok_or_else(|| missing(&["linear_attn_config"]))?;
    let heads = linear.required(&["num_heads"], bounds::HEADS)?;
    let head_dim = linear.required(&["head_dim"], bounds::HEAD_DIM)?;
    let delta = MixerShape::Delta(DeltaShape {
        key_heads: heads,
        value_heads: heads,
        key_head_dim: head_dim,
        value_head_dim: head_dim,
        conv_kernel: linear.count(&["short_conv_kernel_size"], bounds::HEADS)?.unwrap_or(4),
        gate: GateStyle::LowRank,
    });
    // Layers are counted from 1.
    let full = linear.counts("full_attn_layers", bounds::SMALL)?;
    let full = full.ok_or_else(|| missing(&["full_attn_layers"]))?;
    let dense_first = DenseFirst::read(fields, 0)?;
    let experts = FeedForwardShape::Experts(with_shared(fields, &common)?);
    let dense = FeedForwardShape::Dense(common.gated(intermediate(fields)?));
    let mut frame = common.frame(source);
    frame.position = Position::None;
    assemble(frame, common.layers, |index| {
        let is_dense = dense_first.has(index);
        let mut block: Block =
            decoder(common.attention(), if is_dense { dense.clone() } else { experts.clone() });
        let is_full = full.contains(&(index + 1));
        block.mixer = if is_full { latent.clone() } else { delta.clone() };
        block.name = if is_full { "full" } else { "linear" };
        Ok(block)
    })
}
