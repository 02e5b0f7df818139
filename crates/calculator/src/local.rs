//! Parameters of some weights on one rank.
//!
//! Responsible for: their division by model parallelism, and their training state: with LoRA the model's
//! weights are frozen and their adapters are trained. Excludes sharding over data-parallel ranks.

use railwright_spec::model::{Cut, Layer, Weight};
use railwright_spec::plan::{Optimizer, Plan};

/// Parameters of some weights on one rank: dense and routed, trained and frozen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LocalParameters {
    /// Trained dense parameters, sharded by tensor parallelism only.
    pub dense: f64,
    /// Trained parameters of routed experts, sharded by expert and expert-tensor parallelism.
    pub routed: f64,
    /// Frozen dense parameters: they have neither gradients nor optimizer states.
    pub frozen_dense: f64,
    /// Frozen parameters of routed experts.
    pub frozen_routed: f64,
    /// Frozen dense parameters in four bits, not part of `frozen_dense`.
    pub nf4_dense: f64,
    /// Frozen parameters of routed experts in four bits.
    pub nf4_routed: f64,
}

impl LocalParameters {
    /// Sum of all parameters.
    pub fn total(self) -> f64 {
        self.trained() + self.frozen_dense + self.frozen_routed + self.nf4_dense + self.nf4_routed
    }

    /// Sum of the trained parameters.
    pub fn trained(self) -> f64 {
        self.dense + self.routed
    }

    /// All parameters, dense and routed, as if they were trained.
    #[must_use]
    pub const fn whole(self) -> Self {
        Self {
            dense: self.dense + self.frozen_dense + self.nf4_dense,
            routed: self.routed + self.frozen_routed + self.nf4_routed,
            frozen_dense: 0.0,
            frozen_routed: 0.0,
            nf4_dense: 0.0,
            nf4_routed: 0.0,
        }
    }

    /// Adds others, multiplied by `times`.
    pub fn add(&mut self, other: Self, times: f64) {
        self.dense += other.dense * times;
        self.routed += other.routed * times;
        self.frozen_dense += other.frozen_dense * times;
        self.frozen_routed += other.frozen_routed * times;
        self.nf4_dense += other.nf4_dense * times;
        self.nf4_routed += other.nf4_routed * times;
    }
}

/// Parameters of a layer on one rank: its weights, and the adapters of frozen ones.
pub fn layer_parameters(layer: &Layer, plan: &Plan) -> LocalParameters {
    let mut local = local_parameters(&layer.weights, plan);
    if let Some(lora) = plan.adapters() {
        let adapters = lora.adapters(layer);
        local.add(counted(adapters.iter().flat_map(|adapter| [&adapter.a, &adapter.b]), plan), 1.0);
    }
    local
}

/// Parameters of some of the model's weights on one rank. They are frozen if adapters are trained.
pub fn local_parameters<'a>(weights: impl IntoIterator<Item = &'a Weight>, plan: &Plan) -> LocalParameters {
    if plan.optimizer != Optimizer::Lora {
        return counted(weights, plan);
    }
    let (in_nf4, others): (Vec<&Weight>, Vec<&Weight>) =
        weights.into_iter().partition(|weight| plan.holds_in_nf4(weight));
    let (in_nf4, others) = (counted(in_nf4, plan), counted(others, plan));
    LocalParameters {
        frozen_dense: others.dense,
        frozen_routed: others.routed,
        nf4_dense: in_nf4.dense,
        nf4_routed: in_nf4.routed,
        ..LocalParameters::default()
    }
}

fn counted<'a>(weights: impl IntoIterator<Item = &'a Weight>, plan: &Plan) -> LocalParameters {
    let tp = plan.tensor_parallel as f64;
    let mut local = LocalParameters::default();
    for weight in weights {
        let all = weight.parameters() as f64;
        let cut = |ranks: f64| match weight.cut {
            Cut::Replicated => all,
            Cut::Column | Cut::Row | Cut::Vocabulary => all / ranks,
            Cut::Heads(parts) => all / ranks.min(parts as f64),
        };
        if weight.is_routed() {
            local.routed += cut(plan.expert_tensor_parallel as f64) / plan.expert_parallel as f64;
        } else {
            local.dense += cut(tp);
        }
    }
    local
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::plan::{Lora, LoraTarget};
    use railwright_spec::{cluster, model};

    #[test]
    fn adapters_are_what_lora_trains() {
        let model = model::by_name("llama-2-70b").expect("known");
        let cluster = cluster::by_name("dgx-h100", 8).expect("known");
        let mut plan = Plan::default_for(&model, &cluster).expect("possible");
        (plan.tensor_parallel, plan.optimizer) = (4, Optimizer::Lora);
        plan.lora = Some(Lora { rank: 16, targets: [LoraTarget::FusedQkv, LoraTarget::Output].into() });
        let local = layer_parameters(model.layer(0), &plan);
        // MLPerf's benchmark: 16 x (8192 + 10240 + 8192 + 8192) per layer, a quarter of it on each rank.
        assert_eq!((local.dense, local.routed), (16.0 * 34_816.0 / 4.0, 0.0));
        plan.optimizer = Optimizer::Adam;
        let all = layer_parameters(model.layer(0), &plan);
        assert_eq!((all.frozen_dense, all.dense), (0.0, local.frozen_dense));
    }
}
