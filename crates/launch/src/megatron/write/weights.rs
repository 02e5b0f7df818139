//! Weights of a model by their names.

use railwright_spec::model::{Model, Weight};

/// Tests whether matrices other than queries, keys and values have biases.
pub(super) fn has_biases(model: &Model) -> bool {
    has(model, &["o_proj.bias", "down_proj.bias", "fc_out.bias", "c_proj.bias", "dense.bias"])
}

/// Tests whether some weight has one of these names.
pub(super) fn has(model: &Model, names: &[&str]) -> bool {
    let named = |weight: &Weight| names.iter().any(|name| weight.name.ends_with(name));
    model.layer_kinds.iter().any(|layer| layer.weights.iter().any(named))
}
