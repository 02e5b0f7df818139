//! Properties that vary by layer: windows, chunks, linear attention.

use crate::model::fields::Fields;
use crate::model::{Span, bounds};
use crate::problem::Problem;

/// One Boolean per layer.
pub(super) struct PerLayer(Vec<bool>);

impl PerLayer {
    pub(super) fn at(&self, index: u64) -> bool {
        self.0.get(index as usize).copied().unwrap_or(false)
    }
}

/// Layers with a window or chunks: by `layer_types` if the file sets it, else by the family's rule.
pub(super) fn sliding_layers(
    fields: &Fields<'_>,
    layers: u64,
    rule: impl Fn(u64) -> bool,
) -> Result<PerLayer, Problem> {
    per_layer(fields, layers, &["sliding_attention", "chunked_attention"], rule)
}

/// Layers with linear attention: by `layer_types` if the file sets it, else by the family's rule.
pub(super) fn linear_layers(
    fields: &Fields<'_>,
    layers: u64,
    rule: impl Fn(u64) -> bool,
) -> Result<PerLayer, Problem> {
    per_layer(fields, layers, &["linear_attention"], rule)
}

fn per_layer(
    fields: &Fields<'_>,
    layers: u64,
    names: &[&str],
    rule: impl Fn(u64) -> bool,
) -> Result<PerLayer, Problem> {
    let Some(types) = fields.strings("layer_types")? else {
        return Ok(PerLayer((0..layers).map(rule).collect()));
    };
    if types.len() as u64 != layers {
        let problem = Problem::new(format!("{} entries for {layers} layers", types.len()));
        return Err(fields.locate(problem, "layer_types"));
    }
    let of = |name: &&str| match *name {
        name if names.contains(&name) => Ok(true),
        "full_attention" | "attention" => Ok(false),
        other => {
            let shown: String = other.chars().take(40).collect();
            let known = format!("this family has full_attention, {}", names.join(", "));
            Err(fields
                .locate(Problem::new(format!("unknown layer type `{shown}`")).hint(known), "layer_types"))
        }
    };
    types.iter().map(of).collect::<Result<_, _>>().map(PerLayer)
}

/// The file's `sliding_window` as the span of every layer.
pub(super) fn window(fields: &Fields<'_>) -> Result<Span, Problem> {
    let window = fields.count(&["sliding_window"], bounds::POSITIONS)?;
    Ok(window.filter(|&w| w > 0).map_or(Span::Causal, Span::Window))
}
