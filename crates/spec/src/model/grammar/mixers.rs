//! Token mixers by the names of a description: softmax attention of every kind, state spaces, linear
//! attention, convolution.
//!
//! Responsible for: the names of each kind of mixer, and the weights common to the kind. Weights of a single
//! family are in its description. Independent of families.

use super::stack::Stack;
use crate::model::bounds;
use crate::model::build::{
    AttentionShape, DeltaShape, GateStyle, IndexerShape, LatentShape, QkNorm, StateSpaceShape, matrix, vector,
};
use crate::model::{Convolution, Cut, LinearAttention, Mixer, Module, SelectiveScan, Span, Weight};
use crate::problem::Problem;

type Made = Result<(Mixer, Vec<Weight>), Problem>;

/// Mixer of a name.
pub(super) fn mixer(stack: &Stack<'_>, name: &str, hidden: u64) -> Made {
    match name {
        "attention" => {
            let shape = attention(stack, false)?;
            Ok((shape.mixer(), shape.weights(hidden)))
        }
        "cross" => {
            let shape = attention(stack, true)?;
            let mut weights = shape.weights(hidden);
            for weight in &mut weights {
                weight.name.insert_str(0, "cross.");
            }
            Ok((shape.mixer(), weights))
        }
        "latent" => latent(stack, hidden),
        "mamba" => mamba(stack, hidden),
        "selective" => selective(stack, hidden),
        "recurrent" => {
            let inner = stack.count("recurrent_width", bounds::HIDDEN)?;
            let conv_kernel = stack.count("conv_kernel", bounds::SMALL)?;
            Ok((Mixer::Selective(SelectiveScan { inner, state_size: 1, conv_kernel }), Vec::new()))
        }
        "delta" => delta(stack, hidden),
        "linear" => Ok((Mixer::Linear(linear(stack)?), Vec::new())),
        "convolution" => convolution(stack, hidden),
        other => Ok((Mixer::Unpriced { name: other.to_owned() }, Vec::new())),
    }
}

/// Softmax attention; with `crosses`, to the tokens of another stack.
fn attention(stack: &Stack<'_>, crosses: bool) -> Result<AttentionShape, Problem> {
    let heads = stack.count(if crosses { "cross_heads" } else { "heads" }, bounds::HEADS)?;
    let kv_heads = stack.count(if crosses { "cross_kv_heads" } else { "kv_heads" }, bounds::HEADS)?;
    if !heads.is_multiple_of(kv_heads) {
        let problem = Problem::new(format!("{kv_heads} key-value heads do not divide {heads} query heads"));
        return Err(problem.at_key("num_key_value_heads"));
    }
    let norm = stack.norm("qk_norm_kind")?;
    let qk_norm = match stack.text(if crosses { "cross_qk_norm" } else { "qk_norm" })?.as_str() {
        "head" => QkNorm::PerHead(norm),
        "full" => QkNorm::Full(norm),
        "bare" => QkNorm::Unweighted,
        _ => QkNorm::None,
    };
    let window = stack.optional("window", bounds::POSITIONS)?.filter(|&n| n > 0);
    let chunk = stack.optional("chunk", bounds::POSITIONS)?.filter(|&n| n > 0);
    let span = match (window, chunk) {
        _ if crosses => Span::Memory(stack.optional("memory_tokens", bounds::POSITIONS)?.unwrap_or(0)),
        (Some(n), _) => Span::Window(n),
        (None, Some(n)) => Span::Chunk(n),
        (None, None) if stack.flag("bidirectional")? => Span::Bidirectional,
        (None, None) => Span::Causal,
    };
    let qkv_bias = stack.flag("qkv_bias")?;
    Ok(AttentionShape {
        heads,
        kv_heads,
        head_dim: stack.count(if crosses { "cross_head_dim" } else { "head_dim" }, bounds::HEAD_DIM)?,
        value_dim: stack.optional("value_dim", bounds::HEAD_DIM)?,
        span,
        qkv_bias,
        key_bias: stack.flag("key_bias")?,
        output_bias: stack.flag("output_bias")?,
        qk_norm,
        sinks: stack.flag("sinks")? && !crosses,
        output_gate: stack.flag("output_gate")? && !crosses,
        keys_are_values: stack.flag("keys_are_values")?,
        reuses_keys: stack.flag("reuses_keys")?,
        sparse_top_k: stack.optional("sparse_top_k", bounds::POSITIONS)?.filter(|&n| n > 0),
        input_width: Some(stack.count("attention_input", bounds::HIDDEN)?),
        memory_width: if crosses { Some(stack.count("memory_width", bounds::HIDDEN)?) } else { None },
    })
}

fn latent(stack: &Stack<'_>, hidden: u64) -> Made {
    let index_heads = stack.optional("index_heads", bounds::SMALL)?.unwrap_or(0);
    let indexer = if index_heads > 0 {
        Some(IndexerShape {
            heads: index_heads,
            head_dim: stack.count("index_head_dim", bounds::HEAD_DIM)?,
            top_k: stack.count("index_top_k", bounds::POSITIONS)?,
        })
    } else {
        None
    };
    let shape = LatentShape {
        heads: stack.count("heads", bounds::HEADS)?,
        q_lora_rank: stack.optional("q_rank", bounds::WIDTH_OR_ZERO)?.filter(|&rank| rank > 0),
        kv_lora_rank: stack.count("kv_rank", bounds::HIDDEN)?,
        nope: stack.count("nope", bounds::HEAD_DIM)?,
        rope: stack.count("rope", bounds::WIDTH_OR_ZERO)?,
        value: stack.count("latent_value", bounds::HEAD_DIM)?,
        bias: stack.flag("latent_bias")?,
        indexer,
    };
    Ok((shape.mixer(), shape.weights(hidden)))
}

fn mamba(stack: &Stack<'_>, hidden: u64) -> Made {
    let heads = stack.count("ssm_heads", bounds::HEADS)?;
    let groups = stack.count("ssm_groups", bounds::HEADS)?;
    if !heads.is_multiple_of(groups) {
        return Err(
            Problem::new(format!("{groups} groups do not divide {heads} Mamba heads")).at_key("n_groups")
        );
    }
    let shape = StateSpaceShape {
        heads,
        groups,
        head_dim: stack.count("ssm_head_dim", bounds::HEAD_DIM)?,
        state_size: stack.count("ssm_state", bounds::HEAD_DIM)?,
        conv_kernel: stack.count("conv_kernel", bounds::SMALL)?,
        conv_bias: stack.flag("ssm_conv_bias")?,
        projection_bias: stack.flag("ssm_bias")?,
        norm: stack.flag("ssm_norm")?,
    };
    Ok((shape.mixer(), shape.weights(hidden)))
}

/// Mamba 1 (Gu and Dao 2023, section 3): a state of `inner x state` without heads; steps come from a low-rank
/// projection.
fn selective(stack: &Stack<'_>, hidden: u64) -> Made {
    let inner = stack.count("ssm_inner", bounds::HIDDEN)?;
    let state = stack.count("ssm_state", bounds::HEAD_DIM)?;
    let rank = stack.count("ssm_rank", bounds::HIDDEN)?;
    let conv_kernel = stack.count("conv_kernel", bounds::SMALL)?;
    let (input, core, output) = (Module::AttentionInput, Module::AttentionCore, Module::AttentionOutput);
    let mut weights = vec![
        matrix("in_proj", input, (2 * inner, hidden), Cut::Column, "in_proj"),
        vector("conv1d", core, inner * conv_kernel, Cut::Column),
        matrix("x_proj", input, (rank + 2 * state, inner), Cut::Row, "x_proj"),
        matrix("dt_proj", input, (inner, rank), Cut::Column, "dt_proj"),
        vector("dt_proj.bias", core, inner, Cut::Column),
        vector("A_log", core, inner * state, Cut::Column),
        vector("D", core, inner, Cut::Column),
        matrix("out_proj", output, (hidden, inner), Cut::Row, "attention_output"),
    ];
    if stack.flag("ssm_conv_bias")? {
        weights.push(vector("conv1d.bias", core, inner, Cut::Column));
    }
    if stack.flag("ssm_bias")? {
        weights.push(vector("in_proj.bias", input, 2 * inner, Cut::Column));
        weights.push(vector("out_proj.bias", output, hidden, Cut::Replicated));
    }
    Ok((Mixer::Selective(SelectiveScan { inner, state_size: state, conv_kernel }), weights))
}

fn linear(stack: &Stack<'_>) -> Result<LinearAttention, Problem> {
    Ok(LinearAttention {
        key_heads: stack.count("linear_key_heads", bounds::HEADS)?,
        value_heads: stack.count("linear_value_heads", bounds::HEADS)?,
        key_head_dim: stack.count("linear_key_dim", bounds::HEAD_DIM)?,
        value_head_dim: stack.count("linear_value_dim", bounds::HEAD_DIM)?,
        conv_kernel: stack.count("conv_kernel", bounds::SMALL)?,
    })
}

fn delta(stack: &Stack<'_>, hidden: u64) -> Made {
    let linear = linear(stack)?;
    let shape = DeltaShape {
        key_heads: linear.key_heads,
        value_heads: linear.value_heads,
        key_head_dim: linear.key_head_dim,
        value_head_dim: linear.value_head_dim,
        conv_kernel: linear.conv_kernel,
        gate: if stack.flag("low_rank_gates")? { GateStyle::LowRank } else { GateStyle::Scalar },
    };
    Ok((shape.mixer(), shape.weights(hidden)))
}

/// A gated short convolution (LFM2): a projection to two gates and a value, a depthwise convolution, a
/// projection back.
fn convolution(stack: &Stack<'_>, hidden: u64) -> Made {
    let width = stack.count("conv_width", bounds::HIDDEN)?;
    let taps = stack.count("conv_kernel", bounds::SMALL)?;
    let (input, core, output) = (Module::AttentionInput, Module::AttentionCore, Module::AttentionOutput);
    let mut weights = vec![
        matrix("in_proj", input, (3 * width, hidden), Cut::Column, "in_proj"),
        vector("conv", core, width * taps, Cut::Column),
        matrix("out_proj", output, (hidden, width), Cut::Row, "attention_output"),
    ];
    if stack.flag("conv_bias")? {
        weights.push(vector("in_proj.bias", input, 3 * width, Cut::Column));
        weights.push(vector("conv.bias", core, width, Cut::Column));
        weights.push(vector("out_proj.bias", output, hidden, Cut::Replicated));
    }
    Ok((Mixer::Convolution(Convolution { width, taps }), weights))
}
