//! Inputs of a layer's GEMMs kept for its backward pass, and the intermediates of adapters.
//!
//! Responsible for: the effect of frozen weights. Excludes widths of inputs, and recompute.
//!
//! A GEMM's input is kept only for its weight's gradient. A frozen weight has none, so its input is kept only
//! if an adapter reads it: `A`'s gradient needs it (Hu 2021, section 4.1; PyTorch's autograd saves an input
//! if the weight requires a gradient).

use railwright_spec::model::{Layer, Module, Weight};
use railwright_spec::plan::{Adapter, Lora, Plan};

/// The saved inputs of one layer.
pub(super) struct Inputs<'a> {
    layer: &'a Layer,
    lora: Option<Lora>,
    adapters: Vec<Adapter>,
    trained: f64,
    adapted: f64,
}

impl<'a> Inputs<'a> {
    /// `trained` is the bytes per element for trained weights, `adapted` for adapters.
    pub(super) fn new(layer: &'a Layer, plan: &Plan, [trained, adapted]: [f64; 2]) -> Self {
        let lora = plan.adapters();
        let adapters = lora.as_ref().map(|lora| lora.adapters(layer)).unwrap_or_default();
        Self { layer, lora, adapters, trained, adapted }
    }

    /// Bytes per element of the saved input of some weights: in the GEMMs' format if they are trained, in the
    /// activations' if adapters read it, otherwise none.
    pub(super) fn bytes(&self, reads: impl Fn(&Weight) -> bool) -> f64 {
        let Some(lora) = &self.lora else { return self.trained };
        let is_adapted = self.layer.weights.iter().any(|w| reads(w) && lora.target(w).is_some());
        if is_adapted { self.adapted } else { 0.0 }
    }

    /// Bytes per element of the saved input of a module's weights.
    pub(super) fn of(&self, module: Module) -> f64 {
        self.bytes(|w| w.module == module)
    }

    /// Bytes per element of the saved input of attention's projections from the hidden width, and of a
    /// parallel MLP that reads the same tensor.
    pub(super) fn attention(&self) -> f64 {
        let beside = |w: &Weight| self.layer.parallel_residual && w.module == Module::Mlp && !is_down(w);
        self.bytes(|w| w.module == Module::AttentionInput && !is_up_projection(w) || beside(w))
    }

    /// Bytes per element of the saved input of the up-projections of latent attention.
    pub(super) fn latent(&self) -> f64 {
        self.bytes(|w| w.module == Module::AttentionInput && is_up_projection(w))
    }

    /// Bytes per element of the saved inputs of an MLP's matrices: of its first ones, and of its last one.
    pub(super) fn mlp(&self, module: Module) -> [f64; 2] {
        [self.bytes(|w| w.module == module && !is_down(w)), self.bytes(|w| w.module == module && is_down(w))]
    }

    /// Elements per token of `A`'s output, which `B`'s gradient needs: the rank of every adapter of a module.
    pub(super) fn ranks(&self, module: Module) -> f64 {
        self.adapters
            .iter()
            .filter(|adapter| adapter.a.module == module)
            .map(|adapter| adapter.a.rows as f64)
            .sum()
    }
}

fn is_down(weight: &Weight) -> bool {
    weight.name.ends_with("down_proj")
}

/// Tests for up-projections of latent attention, by their weight names in Hugging Face's models.
fn is_up_projection(weight: &Weight) -> bool {
    weight.name.ends_with("_b_proj")
}
