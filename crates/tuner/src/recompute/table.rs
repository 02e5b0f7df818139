//! Memory of each module of a layer, with the saving and cost of its recompute.
//!
//! Responsible for: the table behind the selection, in readable form. Does not select.

use super::policies::has;
use railwright_calculator::choices::{Choices, Part};
use railwright_spec::model::Model;
use railwright_spec::plan::{Recompute, RecomputeModule};
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;

/// One kind of layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerTable {
    /// Index of the kind in the model.
    pub kind: usize,
    /// The first layer of the kind, from 0.
    pub first: usize,
    /// Number of layers of the kind.
    pub layers: u64,
    /// Memory of one layer for one micro-batch without recompute.
    pub kept: Bytes,
    /// Time of its forward and backward passes for one micro-batch without recompute.
    pub time: Seconds,
    /// Saving and cost of recompute, for each module and last for the whole layer.
    pub rows: Vec<ModuleRow>,
}

/// One module of it, or the whole layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModuleRow {
    /// Policy, as in plans.
    pub policy: String,
    /// Memory saved for one micro-batch.
    pub saved: Bytes,
    /// Share of the layer's kept memory (0 to 1).
    pub share: f64,
    /// Additional time of one micro-batch.
    pub cost: Seconds,
    /// Share of the layer's time.
    pub cost_share: f64,
    /// Seconds per GiB: the lowest is recomputed first. `None` without a saving.
    pub seconds_per_gib: Option<f64>,
}

/// The tables of all kinds of layers; indices of `policies` are those of the choices' treatments.
pub(super) fn tables(model: &Model, choices: &Choices<'_>) -> Vec<LayerTable> {
    let is_single = |policy: &Recompute, kind: usize| match policy {
        Recompute::Full { .. } => true,
        Recompute::Selective { modules, .. } => {
            let own: Vec<RecomputeModule> =
                modules.iter().copied().filter(|&m| has(&model.layer_kinds[kind], m)).collect();
            // `mlp` and `moe` are combined if a model has both: each layer has one of them.
            own.len() == 1 && modules.len() - own.len() <= usize::from(is_block(own[0]))
        }
        Recompute::None => false,
    };
    (0..model.layer_kinds.len())
        .map(|kind| {
            let kept = choices.saved(kind, 0);
            let of = |treatment| {
                // The middle of the pipeline: no embedding, no head.
                let with = Part { kind, treatment, count: 1 };
                choices.time(1, 3, &[with], treatment)
            };
            let time = of(0).total();
            let mut rows: Vec<ModuleRow> = choices
                .treatments()
                .iter()
                .enumerate()
                .filter(|(_, t)| t.offload == 0.0 && is_single(&t.recompute, kind))
                .map(|(treatment, t)| {
                    let saved = kept - choices.saved(kind, treatment);
                    let cost = of(treatment).total() - time;
                    ModuleRow {
                        policy: super::policies::on_layer(&t.recompute, &model.layer_kinds[kind]).short(),
                        saved,
                        share: if kept > Bytes::ZERO { saved / kept } else { 0.0 },
                        cost,
                        cost_share: if time > Seconds::ZERO { cost / time } else { 0.0 },
                        seconds_per_gib: (saved > Bytes::ZERO).then(|| cost.get() / saved.gib()),
                    }
                })
                .collect();
            rows.dedup_by(|a, b| a.policy == b.policy);
            LayerTable {
                kind,
                first: model.layers.iter().position(|&k| k == kind).unwrap_or(0),
                layers: model.layers.iter().filter(|&&k| k == kind).count() as u64,
                kept,
                time,
                rows,
            }
        })
        .filter(|table| table.layers > 0)
        .collect()
}

fn is_block(module: RecomputeModule) -> bool {
    matches!(module, RecomputeModule::Mlp | RecomputeModule::Moe)
}
