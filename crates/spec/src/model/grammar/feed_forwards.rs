//! The feed-forward module by the names of a description: a dense MLP, or routed experts with their parallel
//! modules.

use super::stack::Stack;
use crate::model::bounds;
use crate::model::build::{DenseShape, ExpertsShape, FeedForwardShape, SharedGate, SharedShape};
use crate::problem::Problem;

/// Feed-forward of the current layer of the stack.
pub(super) fn feed_forward(stack: &Stack<'_>, name: &str) -> Result<FeedForwardShape, Problem> {
    match name {
        "mlp" => {
            let width = stack.count("width", bounds::WIDTH)?;
            Ok(FeedForwardShape::Dense(dense(stack, width, stack.flag("mlp_bias")?)?))
        }
        "moe" => Ok(FeedForwardShape::Experts(experts(stack)?)),
        "none" => Ok(FeedForwardShape::None),
        other => {
            Err(Problem::new(format!("unknown feed-forward `{other}`")).hint("use one of mlp, moe, none"))
        }
    }
}

fn dense(stack: &Stack<'_>, width: u64, bias: bool) -> Result<DenseShape, Problem> {
    Ok(DenseShape { width, gated: stack.flag("gated")?, activation: stack.activation()?, bias })
}

fn experts(stack: &Stack<'_>) -> Result<ExpertsShape, Problem> {
    let experts = stack.count("experts", bounds::EXPERTS)?;
    let top_k = stack.count("top_k", bounds::SMALL)?;
    if top_k == 0 || top_k > experts {
        let problem =
            Problem::new(format!("{top_k} active experts per token are not possible with {experts} experts"));
        return Err(problem.at_key("num_experts_per_tok"));
    }
    let routing_groups = stack.optional("routing_groups", bounds::SMALL)?.unwrap_or(1).max(1);
    let top_k_groups = stack.optional("top_k_groups", bounds::SMALL)?.unwrap_or(1).clamp(1, routing_groups);
    let shared = stack.optional("shared_width", bounds::WIDTH_OR_ZERO)?.unwrap_or(0);
    let gate = if stack.flag("shared_gate")? { SharedGate::Sigmoid } else { SharedGate::None };
    let shared_mlp = dense(stack, shared, stack.flag("shared_bias")?)?;
    Ok(ExpertsShape {
        experts,
        top_k,
        expert: dense(stack, stack.count("expert_width", bounds::WIDTH)?, stack.flag("expert_bias")?)?,
        router_bias: stack.flag("router_bias")?,
        router_width: Some(stack.count("router_width", bounds::HIDDEN)?),
        latent: stack.optional("expert_latent", bounds::WIDTH_OR_ZERO)?.filter(|&n| n > 0),
        shared: (shared > 0).then_some(SharedShape { mlp: shared_mlp, gate }),
        routing_groups,
        top_k_groups,
        router_vectors: Vec::new(),
    })
}
