//! Diffusion transformers against their parameter counts in diffusers, and against published sizes.
//!
//! `data/diffusion.jsonl` is the output of `data/diffusion.py`, independent of this program.

use railwright_spec::model::{Mixer, Model, Span, Usage, from_hugging_face};
use serde_json::Value;

fn rows() -> Vec<(String, u64)> {
    let text = include_str!("data/diffusion.jsonl");
    text.lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).expect("a row");
            (row["config"].to_string(), row["parameters"].as_u64().expect("a count"))
        })
        .collect()
}

fn model(class: &str) -> Model {
    let (config, _) = rows().into_iter().find(|(config, _)| config.contains(class)).expect("a row");
    from_hugging_face(&config, class).expect("a model")
}

#[test]
fn every_class_to_the_digit() {
    let mut wrong = Vec::new();
    for (config, theirs) in rows() {
        match from_hugging_face(&config, "model") {
            Ok(model) if model.parameters().total == theirs => {}
            Ok(model) => {
                let off = i128::from(model.parameters().total) - i128::from(theirs);
                wrong.push(format!("off by {off}: {config}"));
            }
            Err(problem) => wrong.push(format!("{problem}: {config}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// "12 billion parameters" (the card of FLUX.1 dev) and 14B and 1.3B (the names of Wan 2.1), by the same
/// readers.
#[test]
fn published_sizes() {
    let total = |class: &str| model(class).parameters().total as f64;
    assert!((total("FluxTransformer2DModel") / 12e9 - 1.0).abs() < 0.02);
    assert!((total("WanTransformer3DModel") / 14e9 - 1.0).abs() < 0.03);
}

/// A position runs one of the two sets of weights of a double block, and modulation runs once per sample: the
/// arithmetic per position is that of plain blocks (`12 h^2` multiply-adds), not of all weights (`36 h^2`).
#[test]
fn arithmetic_is_that_of_one_set_of_weights() {
    let flux = model("FluxTransformer2DModel");
    let h = flux.hidden_size;
    for &kind in &flux.layers {
        let each = flux.layer_kinds[kind].weights.iter().filter_map(|weight| match weight.usage {
            Usage::Matmul { positions: None, .. } => Some(weight.parameters()),
            _ => None,
        });
        assert_eq!(each.sum::<u64>(), 12 * h * h);
    }
}

/// The prompt's keys and values are multiplied on the prompt's positions.
#[test]
fn cross_attention_reads_the_prompt() {
    let wan = model("WanTransformer3DModel");
    let layer = &wan.layer_kinds[0];
    let spans: Vec<Span> = layer
        .mixer
        .each()
        .iter()
        .filter_map(|mixer| if let Mixer::Attention(attention) = mixer { Some(attention.span) } else { None })
        .collect();
    assert_eq!(spans, [Span::Bidirectional, Span::Memory(512)]);
    for weight in &layer.weights {
        let is_prompt = ["cross.k_proj", "cross.v_proj"].contains(&weight.name.as_str());
        assert_eq!(weight.positions(), is_prompt.then_some(512), "{}", weight.name);
    }
}

#[test]
fn a_pipeline_or_another_class_is_refused() {
    for class in ["UNet2DConditionModel", "FluxPipeline"] {
        let problem = from_hugging_face(&format!(r#"{{"_class_name": "{class}", "in_channels": 4}}"#), "x");
        assert!(problem.is_err_and(|problem| problem.message.contains(class)));
    }
}
