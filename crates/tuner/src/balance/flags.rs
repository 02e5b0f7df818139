//! Framework flags of a layer assignment.
//!
//! Responsible for: Megatron-LM and torchtitan settings for layers per virtual stage and the selected
//! recompute. Excludes other parts of a launch file.

use crate::recompute;
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, module_parts};

pub use crate::recompute::Flags;

/// The settings of both frameworks for a layer assignment.
pub fn flags(layers: &[u64], plan: &Plan) -> Vec<Flags> {
    let of = |framework, lines| Flags { framework, lines, cannot: Vec::new() };
    vec![of("Megatron-LM", megatron(layers, plan)), of("torchtitan", torchtitan(layers))]
}

/// The settings including the plan's recompute, and those that are not expressible.
pub fn flags_with_recompute(model: &Model, layers: &[u64], plan: &Plan) -> Vec<Flags> {
    let mut list = flags(layers, plan);
    for flags in &mut list {
        let more = recompute::flags(model, plan).into_iter().find(|more| more.framework == flags.framework);
        if let Some(more) = more {
            flags.lines.extend(more.lines);
            flags.cannot.extend(more.cannot);
        }
    }
    list
}

fn megatron(layers: &[u64], plan: &Plan) -> Vec<String> {
    let is_plain = layers.len() == plan.pipeline_parallel as usize;
    match layers {
        _ if layers.windows(2).all(|pair| pair[0] == pair[1]) => vec!["# even: no flag".to_owned()],
        [first, middle @ .., last] if is_plain && middle.windows(2).all(|pair| pair[0] == pair[1]) => vec![
            format!("--decoder-first-pipeline-num-layers {first}"),
            format!("--decoder-last-pipeline-num-layers {last}"),
        ],
        _ => vec![format!("--pipeline-model-parallel-layout \"{}\"", layout(layers))],
    }
}

/// Virtual stages between bars, a `t` per layer, `E` the embedding, `L` the loss; repetitions as `t*8`.
fn layout(layers: &[u64]) -> String {
    let last = layers.len().saturating_sub(1);
    let stage = |(index, &n): (usize, &u64)| {
        let embedding = if index == 0 { "E" } else { "" };
        let loss = if index == last { "L" } else { "" };
        let decoder = match n {
            0 => String::new(),
            1 => "t".to_owned(),
            n => format!("t*{n}"),
        };
        let parts: Vec<&str> = [embedding, &decoder, loss].into_iter().filter(|p| !p.is_empty()).collect();
        parts.join(",")
    };
    layers.iter().enumerate().map(stage).collect::<Vec<_>>().join("|")
}

fn torchtitan(layers: &[u64]) -> Vec<String> {
    let parts = module_parts(layers, "output");
    vec!["[parallelism]".to_owned(), format!("module_fqns_per_model_part = {parts}")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_that_differ_have_flags_and_the_rest_a_layout() {
        assert_eq!(layout(&[1, 3, 3, 0]), "E,t|t*3|t*3|L");
        assert_eq!(
            torchtitan(&[1, 2, 0]),
            [
                "[parallelism]",
                "module_fqns_per_model_part = [[\"tok_embeddings\", \"layers.0\"], [\"layers.1\", \"layers.2\"], \
                 [\"norm\", \"output\"]]"
            ]
        );
    }
}
