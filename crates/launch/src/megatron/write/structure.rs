//! Family of Megatron-LM that a model belongs to, if any: GPT, hybrid by a pattern of letters, gated delta
//! nets, sparse attention.
//!
//! Responsible for: flags of the model's structure, and the reason if Megatron-LM (August 2026) has no such
//! model. Never writes a similar model instead.

use super::Group;
use super::choices::has;
use super::weights::has_biases;
use railwright_spec::model::{
    FeedForward, Layer, LinearAttention, Mixer, Model, Position, Span, StateSpace, Weight,
};
use railwright_spec::plan::Plan;

/// A family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Structure {
    /// Attention and a feed-forward in every layer: `pretrain_gpt.py`.
    Gpt,
    /// One module per layer, one letter each: `pretrain_hybrid.py`.
    Hybrid(String),
    /// Gated delta nets, with full attention at an interval of layers.
    DeltaNet(u64),
    /// Latent attention to keys selected by a learned index.
    Sparse,
}

impl Structure {
    /// The family of a model, or the reason why there is none.
    pub(super) fn of(model: &Model, plan: &Plan) -> Result<Self, String> {
        let any = |find: &dyn Fn(&Layer) -> bool| {
            model.layers.iter().filter_map(|kind| model.layer_kinds.get(*kind)).any(find)
        };
        if model.position == Position::Alibi {
            return Err("it has no ALiBi positions".to_owned());
        }
        if model.position == Position::Learned && model.max_positions < plan.sequence_length {
            return Err(format!(
                "its learned positions end at {}, and sequences have {} tokens",
                model.max_positions, plan.sequence_length
            ));
        }
        let biased_router = any(&|layer| layer.weights.iter().any(|weight| weight.name == "router.bias"));
        if biased_router && !has_biases(model) {
            return Err("its routers have biases if all matrices have them".to_owned());
        }
        if any(&|layer| layer.parallel_residual) {
            return Err("it has no parallel attention and feed-forward layers".to_owned());
        }
        let span = |layer: &Layer| match &layer.mixer {
            Mixer::Attention(attention) => Some(attention.span),
            _ => None,
        };
        if any(&|layer| span(layer) == Some(Span::Bidirectional)) {
            return Err("its GPT attends to earlier tokens only".to_owned());
        }
        // Within one chunk, attention is causal.
        if any(&|layer| matches!(span(layer), Some(Span::Chunk(n)) if n < plan.sequence_length)) {
            return Err(format!(
                "it has no attention within chunks, and {} tokens are more than one",
                plan.sequence_length
            ));
        }
        if any(
            &|layer| matches!(&layer.mixer, Mixer::Attention(attention) if attention.sparse_top_k.is_some()),
        ) {
            return Err("its sparse attention is only for latent attention".to_owned());
        }
        let sparse = |mixer: &Mixer| matches!(mixer, Mixer::Latent(latent) if latent.sparse_top_k.is_some());
        if has(model, |mixer, _| sparse(mixer)) {
            return if any(&|layer| !sparse(&layer.mixer)) {
                Err("its sparse attention is for all layers or none".to_owned())
            } else {
                Ok(Self::Sparse)
            };
        }
        if any(&|layer| layer.mixer == Mixer::None || layer.feed_forward == FeedForward::None) {
            return pattern(model).map(Self::Hybrid);
        }
        if has(model, |mixer, _| matches!(mixer, Mixer::StateSpace(_))) {
            return Err("its Mamba layers have no feed-forward".to_owned());
        }
        if has(model, |mixer, _| matches!(mixer, Mixer::Linear(_))) {
            let ranks = plan.tensor_parallel * plan.context_parallel;
            let fits = linear(model).is_none_or(|linear| linear.key_heads.is_multiple_of(ranks));
            return if fits {
                period(model).map(Self::DeltaNet)
            } else {
                Err(format!(
                    "the key heads of its delta nets are not divisible by {ranks} ranks (tensor x context)"
                ))
            };
        }
        Ok(Self::Gpt)
    }

    /// Script that starts the training.
    pub(super) fn entry(&self) -> &'static str {
        match self {
            Self::Hybrid(_) => "pretrain_hybrid.py",
            _ => "pretrain_gpt.py",
        }
    }
}

/// A letter a layer.
fn pattern(model: &Model) -> Result<String, String> {
    if model.multi_token_prediction.is_some() {
        return Err("layers of multi-token-prediction modules in hybrid models are unknown".to_owned());
    }
    let letter = |kind: &usize| {
        let layer = model.layer_kinds.get(*kind)?;
        match (&layer.mixer, &layer.feed_forward) {
            (Mixer::StateSpace(_), FeedForward::None) => Some('M'),
            (Mixer::Attention(_), FeedForward::None) => Some('*'),
            (Mixer::None, FeedForward::Dense(_)) => Some('-'),
            (Mixer::None, FeedForward::MixtureOfExperts(_)) => Some('E'),
            _ => None,
        }
    };
    let letters: Option<String> = model.layers.iter().map(letter).collect();
    letters.ok_or_else(|| {
        "its hybrid models have one module per layer: Mamba, attention, MLP or experts".to_owned()
    })
}

/// The n of "every n-th layer has full attention".
fn period(model: &Model) -> Result<u64, String> {
    let refused = "its gated delta nets require full attention at a regular interval of layers";
    let kinds: Option<Vec<bool>> = (0..model.layers.len())
        .map(|index| match model.layer(index).mixer {
            Mixer::Linear(_) => Some(false),
            Mixer::Attention(_) => Some(true),
            _ => None,
        })
        .collect();
    let kinds = kinds.ok_or(refused)?;
    let every = kinds.iter().position(|is_full| *is_full).ok_or(refused)? + 1;
    let fits = kinds.iter().enumerate().all(|(index, is_full)| *is_full == (index + 1).is_multiple_of(every));
    if fits { Ok(every as u64) } else { Err(refused.to_owned()) }
}

/// The flags of a family beyond those that all models share. `per_chunk` are the layers of each chunk of the
/// pipeline.
pub(super) fn flags(structure: &Structure, model: &Model, per_chunk: &[u64], group: &mut Group) {
    match structure {
        Structure::Gpt => {}
        Structure::Hybrid(letters) => {
            group.value("--hybrid-layer-pattern", format!("'{}'", divided(letters, per_chunk)));
            group.value("--spec", "megatron.core.models.hybrid.hybrid_layer_specs hybrid_stack_spec");
            if let Some(space) = state_space(model) {
                group.value("--mamba-num-heads", space.heads);
                group.value("--mamba-head-dim", space.head_dim);
                group.value("--mamba-state-dim", space.state_size);
                group.value("--mamba-num-groups", space.groups);
            }
        }
        Structure::DeltaNet(every) => {
            // The name that every release supports.
            group.value("--experimental-attention-variant", "gated_delta_net");
            group.value("--linear-attention-freq", every);
            if let Some(linear) = linear(model) {
                group.value("--linear-conv-kernel-dim", linear.conv_kernel);
                group.value("--linear-key-head-dim", linear.key_head_dim);
                group.value("--linear-value-head-dim", linear.value_head_dim);
                group.value("--linear-num-key-heads", linear.key_heads);
                group.value("--linear-num-value-heads", linear.value_heads);
            }
            group.flag_if(gates_output(model), "--attention-output-gate");
        }
        Structure::Sparse => {
            group.value("--experimental-attention-variant", "dsa");
            group.flag("--no-rope-fusion");
            let heads = rows(model, "indexer.weights_proj");
            if let Some(heads) = heads {
                group.value("--dsa-indexer-n-heads", heads);
            }
            if let Some(width) = rows(model, "indexer.wk") {
                group.value("--dsa-indexer-head-dim", width);
            }
            let top = model.layer_kinds.iter().find_map(|layer| match &layer.mixer {
                Mixer::Latent(latent) => latent.sparse_top_k,
                _ => None,
            });
            if let Some(top) = top {
                group.value("--dsa-indexer-topk", top);
            }
        }
    }
}

/// The letters with `|` between chunks.
fn divided(letters: &str, per_chunk: &[u64]) -> String {
    let mut left = letters.chars();
    let parts: Vec<String> = per_chunk
        .iter()
        .map(|count| left.by_ref().take(usize::try_from(*count).unwrap_or(0)).collect())
        .collect();
    parts.join("|")
}

fn state_space(model: &Model) -> Option<&StateSpace> {
    model.layer_kinds.iter().find_map(|layer| match &layer.mixer {
        Mixer::StateSpace(space) => Some(space),
        _ => None,
    })
}

fn linear(model: &Model) -> Option<&LinearAttention> {
    model.layer_kinds.iter().find_map(|layer| match &layer.mixer {
        Mixer::Linear(linear) => Some(linear),
        _ => None,
    })
}

/// Tests whether queries are projected at twice the width, for a gate on attention's output.
fn gates_output(model: &Model) -> bool {
    model.layer_kinds.iter().any(|layer| match &layer.mixer {
        Mixer::Attention(attention) => layer
            .weights
            .iter()
            .any(|weight| weight.name == "q_proj" && weight.rows > attention.heads * attention.head_dim),
        _ => false,
    })
}

/// Rows of the first weight of a name.
pub(super) fn rows(model: &Model, name: &str) -> Option<u64> {
    let of = |weight: &Weight| (weight.name == name).then_some(weight.rows);
    model.layer_kinds.iter().find_map(|layer| layer.weights.iter().find_map(of))
}
