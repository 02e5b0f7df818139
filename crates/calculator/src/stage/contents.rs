//! Contents of a virtual stage, piece by piece, for views with layers.
//!
//! Responsible for: the pieces in the order of a forward pass and the cost of each. A test compares their sum
//! with the stage's cost. Does not price: layers use the prices of stages.

use super::{LayerPrices, embedding, head, head_parameters};
use crate::costing::Costing;
use crate::layer::LayerCost;
use crate::local::local_parameters;
use crate::sharding;

/// A piece of a virtual stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The word embedding.
    Embedding,
    /// A layer of the model, or a layer of multi-token prediction after them, by its place and kind.
    Layer { index: usize, kind: usize },
    /// The head of a multi-token prediction, which shares its weights with the model's.
    PredictionHead,
    /// Final norm, head and loss.
    Head,
}

/// The pieces of a virtual stage of `split`, with the cost of each for a micro-batch.
pub(crate) fn contents(
    costing: &Costing<'_>,
    prices: &LayerPrices,
    split: &[u64],
    chunk: usize,
) -> Vec<(Piece, LayerCost)> {
    let model = costing.model;
    let mut pieces = Vec::new();
    if chunk == 0 {
        let mut own = LayerCost::default();
        // No compute precedes the embedding, so its gather cannot overlap.
        sharding::gather(costing, local_parameters(&model.embedding, costing.plan), &mut own);
        embedding(costing, &mut own);
        pieces.push((Piece::Embedding, own));
    }
    let start: usize = split[..chunk].iter().map(|layers| *layers as usize).sum();
    let end = (start + split[chunk] as usize).min(model.layers.len());
    for (place, &kind) in model.layers.get(start..end).unwrap_or_default().iter().enumerate() {
        pieces.push((Piece::Layer { index: start + place, kind }, prices.of(chunk, place, kind)));
    }
    if chunk + 1 == split.len() {
        if let Some(prediction) = &model.multi_token_prediction {
            for depth in 0..prediction.depth as usize {
                let (index, kind) = (model.layers.len() + depth, prediction.layer_kind);
                pieces.push((Piece::Layer { index, kind }, prices.beside(kind)));
                let mut own = LayerCost::default();
                head(costing, &mut own);
                pieces.push((Piece::PredictionHead, own));
            }
        }
        let mut own = LayerCost::default();
        head(costing, &mut own);
        sharding::gather(costing, head_parameters(costing), &mut own);
        pieces.push((Piece::Head, own));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costing::Machine;
    use crate::evaluate::evaluate;
    use crate::work::Work;
    use railwright_spec::cluster;
    use railwright_spec::model::by_name;
    use railwright_spec::plan::{PlanSpec, Recompute, Sharding};

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
    }

    fn alike(a: &Work, b: &Work) -> bool {
        let times = |work: &Work| -> Vec<f64> {
            let times = work.compute.iter().chain(&work.exposed).chain(&work.communication);
            times
                .map(|time| time.get())
                .chain([work.launches, work.host.get(), work.looped.get(), work.flop.get()])
                .collect()
        };
        times(a).into_iter().zip(times(b)).all(|(a, b)| near(a, b))
    }

    #[test]
    fn the_pieces_of_a_stage_add_up_to_it() {
        for (name, devices, expert, zero_stage, layers) in [
            ("llama-3-8b", 64, 1, 3, Some(3)),
            ("llama-3-70b", 512, 1, 1, None),
            ("mixtral-8x7b", 64, 8, 1, Some(2)),
            ("deepseek-v3", 512, 32, 1, None),
        ] {
            let model = by_name(name).expect("in the catalogue");
            let cluster = cluster::by_name("dgx-h100", devices).expect("a preset");
            let spec = PlanSpec {
                pipeline_parallel: Some(4),
                expert_parallel: Some(expert),
                uneven_stages: Some(true),
                recompute: Some(Recompute::Full { layers }),
                offload_activations: Some(0.25),
                sharding: Some(Sharding { zero_stage, group: None, reshard_after_forward: true }),
                ..PlanSpec::default()
            };
            let plan = spec.resolve(&model, &cluster).expect("resolves");
            let machine = Machine::new(&cluster);
            let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
            let chunks = evaluate(&costing).expect("possible").chunks;
            let split: Vec<u64> = chunks.iter().map(|chunk| chunk.layers).collect();
            let prices = LayerPrices::new(&costing, &split);
            for (index, chunk) in chunks.iter().enumerate() {
                let mut sum = LayerCost::default();
                for (_, cost) in contents(&costing, &prices, &split, index) {
                    sum.add(&cost, 1.0);
                }
                let parts = |cost: &LayerCost| {
                    [cost.forward, cost.backward_input, cost.backward_weight, cost.recompute]
                };
                for (own, all) in parts(&sum).iter().zip(parts(&chunk.cost)) {
                    assert!(alike(own, &all), "{name}, virtual stage {index}: {own:?} and {all:?}");
                }
            }
        }
    }
}
