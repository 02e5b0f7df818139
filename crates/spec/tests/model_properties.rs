//! Properties of all dimensions and all texts: no panic, totals equal the sum of parts, active never above
//! total.

use proptest::prelude::*;
use railwright_spec::model::{
    Dimensions, Mixer, Model, Position, Span, Style, Usage, Weight, by_name, catalogue, from_dimensions,
    from_hugging_face,
};

fn parts(model: &Model) -> u64 {
    let outside = model.embedding.iter().chain(&model.final_norm).chain(&model.head);
    let inside = model.layers.iter().flat_map(|&kind| &model.layer_kinds[kind].weights);
    let own: u64 = outside.chain(inside).map(|weight| weight.rows * weight.columns * weight.copies).sum();
    own + model.towers.iter().map(|tower| parts(&tower.stack)).sum::<u64>()
}

fn check(model: &Model) {
    let count = model.parameters();
    assert_eq!(count.total, parts(model), "{}", model.name);
    assert!(count.active <= count.total);
    assert!(count.active_without_embedding <= count.active);
    assert!(count.routed_experts <= count.total);
    // Diffusion transformers have no vocabulary.
    assert_eq!(count.word_embedding > 0, model.vocabulary > 0);
    assert_eq!(count.head == 0, model.tied_embeddings || model.vocabulary == 0);
    assert!(model.layers.iter().all(|&kind| kind < model.layer_kinds.len()));
    // Equal layers share one value.
    for (index, kind) in model.layer_kinds.iter().enumerate() {
        assert!(!model.layer_kinds[..index].contains(kind), "{}: kind {index} twice", model.name);
        // Weights with one label run as one GEMM, so all have the same input.
        for weight in &kind.weights {
            let Usage::Matmul { fused, .. } = &weight.usage else { continue };
            let same = |w: &&Weight| matches!(&w.usage, Usage::Matmul { fused: other, .. } if other == fused);
            for other in kind.weights.iter().filter(same) {
                assert_eq!(
                    (other.columns, other.copies, other.module, other.positions()),
                    (weight.columns, weight.copies, weight.module, weight.positions()),
                    "{}: {fused}",
                    model.name
                );
            }
        }
        assert!(kind.weights.iter().all(|w| w.rows > 0 && w.columns > 0 && w.copies > 0), "{kind:?}");
    }
}

#[test]
fn every_catalogue_model_is_the_sum_of_its_parts() {
    assert!(catalogue().len() >= 105);
    for entry in catalogue() {
        check(&by_name(entry.name).expect(entry.name));
    }
}

fn small() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![150 => Just(None), 100 => (1u64..6).prop_map(Some), 3 => Just(Some(0)), 1 => any::<u64>().prop_map(Some)]
}

prop_compose! {
    fn dimensions()(
        layers in prop_oneof![50 => 0u64..40, 1 => any::<u64>()],
        heads in prop_oneof![50 => 0u64..20, 1 => any::<u64>()],
        head_width in 0u64..20,
        optional in proptest::collection::vec(small(), 20),
        flags in proptest::collection::vec(proptest::option::of(any::<bool>()), 6),
        style in proptest::option::of(prop_oneof![Just(Style::Gpt), Just(Style::Llama)]),
        position in proptest::option::of(prop_oneof![Just(Position::Learned), Just(Position::Rotary), Just(Position::None)]),
        // Fields of experts or latent attention are rejected without the others, so they are mostly generated together.
        latent in prop_oneof![4 => Just(true), 1 => Just(false)],
        experts in proptest::option::of(0u64..9),
    ) -> Dimensions {
        let for_experts = |value: Option<u64>| value.filter(|_| experts.is_some());
        let for_latent = |value: Option<u64>| value.filter(|_| latent == optional[11].is_some());
        Dimensions {
            layers,
            heads,
            hidden: heads.wrapping_mul(head_width),
            style,
            position,
            experts,
            kv_heads: optional[0], head_dim: optional[1], ffn: optional[2], vocab: optional[3],
            top_k: for_experts(optional[4]), moe_ffn: for_experts(optional[5]), shared_ffn: for_experts(optional[6]), first_dense_layers: optional[7],
            moe_every: optional[8], max_positions: optional[9], q_lora_rank: for_latent(optional[10]),
            kv_lora_rank: optional[11], qk_nope_head_dim: for_latent(optional[12]), qk_rope_head_dim: for_latent(optional[13]),
            v_head_dim: for_latent(optional[14]), window: optional[15], full_attention_every: optional[16], mtp: optional[17],
            gated_mlp: flags[0], tied: flags[1], biases: flags[2], qkv_bias: flags[3], qk_norm: flags[4],
            bidirectional: flags[5].unwrap_or(false),
            ..Dimensions::default()
        }
    }
}

/// A catalogue file with one value replaced.
fn damaged() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just("\"x\"".to_owned()),
        Just("1e300".to_owned()),
        Just("-1".to_owned()),
        (0u64..200).prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|f| f.to_string()),
    ];
    (0..catalogue().len(), any::<prop::sample::Index>(), value).prop_map(|(model, key, value)| {
        let name = catalogue()[model].name;
        let path = format!("{}/../../catalog/models/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("a catalogue file");
        let mut config: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&text).expect("JSON");
        let keys: Vec<String> = config.keys().filter(|key| *key != "_catalogue").cloned().collect();
        config.remove("_catalogue");
        let marker = "@@value@@";
        config.insert(keys[key.index(keys.len())].clone(), serde_json::Value::String(marker.to_owned()));
        serde_json::to_string_pretty(&config).expect("text").replace(&format!("\"{marker}\""), &value)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_dimensions_make_a_sound_model_or_a_problem(dimensions in dimensions()) {
        match from_dimensions(dimensions.clone()) {
            Ok(model) => {
                check(&model);
                prop_assert_eq!(model.num_layers(), dimensions.layers);
            }
            Err(problem) => prop_assert!(!problem.message.is_empty()),
        }
    }

    #[test]
    fn a_damaged_config_makes_a_sound_model_or_a_problem(text in damaged()) {
        if let Ok(model) = from_hugging_face(&text, "damaged") {
            check(&model);
        }
    }

    #[test]
    fn any_text_is_survived(text in "\\PC{0,200}") {
        let _ = from_hugging_face(&text, "x");
        let _ = by_name(&text);
    }

    #[test]
    fn a_config_cut_anywhere_is_a_problem(cut in any::<prop::sample::Index>()) {
        let text = include_str!("fixtures/config/llama4-multimodal.json").trim_end();
        let cut = cut.index(text.len());
        prop_assert!(from_hugging_face(&text[..cut], "x").is_err());
    }
}

fn plain(layers: u64, hidden: u64, heads: u64) -> Dimensions {
    Dimensions { layers, hidden, heads, ..Dimensions::default() }
}

#[test]
fn gpt_3_from_bare_dimensions() {
    let dimensions = Dimensions { gated_mlp: Some(false), ..plain(96, 12_288, 96) };
    let model = from_dimensions(dimensions).expect("a model");
    assert_eq!(model.parameters().total, by_name("gpt3").expect("gpt3").parameters().total);
    assert_eq!(model.position, Position::Learned);
}

#[test]
fn llama_2_70b_and_deepseek_v3_from_dimensions() {
    let llama =
        Dimensions { kv_heads: Some(8), ffn: Some(28_672), vocab: Some(32_000), ..plain(80, 8192, 64) };
    assert_eq!(from_dimensions(llama).expect("a model").parameters().total, 68_976_648_192);
    let deepseek = Dimensions {
        ffn: Some(18_432),
        vocab: Some(129_280),
        experts: Some(256),
        top_k: Some(8),
        moe_ffn: Some(2048),
        shared_ffn: Some(2048),
        first_dense_layers: Some(3),
        q_lora_rank: Some(1536),
        kv_lora_rank: Some(512),
        mtp: Some(1),
        ..plain(61, 7168, 128)
    };
    let model = from_dimensions(deepseek).expect("a model");
    assert_eq!(model.parameters().total, 671_026_404_352);
    assert_eq!(model.parameters().multi_token_prediction, 11_610_067_968);
    assert!(matches!(&model.layer(0).mixer, Mixer::Latent(latent) if latent.v_head_dim == 128));
}

#[test]
fn windows_and_encoders_from_dimensions() {
    let windowed = Dimensions { window: Some(128), full_attention_every: Some(2), ..plain(2, 64, 4) };
    let spans: Vec<Span> = from_dimensions(windowed)
        .expect("a model")
        .layer_kinds
        .iter()
        .filter_map(|layer| match &layer.mixer {
            Mixer::Attention(attention) => Some(attention.span),
            _ => None,
        })
        .collect();
    assert_eq!(spans, [Span::Window(128), Span::Causal]);
}

#[test]
fn contradictory_dimensions_are_reported() {
    for (dimensions, part) in [
        (plain(0, 64, 4), "0 is not a whole number"),
        (plain(2, 65, 4), "not a multiple of 4 heads"),
        (Dimensions { kv_heads: Some(3), ..plain(2, 64, 4) }, "do not divide"),
        (
            Dimensions { experts: Some(4), top_k: Some(5), ..plain(2, 64, 4) },
            "5 active experts per token are not possible with 4 experts",
        ),
        (Dimensions { top_k: Some(5), ..plain(2, 64, 4) }, "the model has none"),
        (
            Dimensions { experts: Some(4), first_dense_layers: Some(2), ..plain(2, 64, 4) },
            "none of the 2 layers",
        ),
        (Dimensions { v_head_dim: Some(5), ..plain(2, 64, 4) }, "`kv_lora_rank` is missing"),
        (plain(100_001, 64, 4), "from 1 to 10000"),
    ] {
        let problem = from_dimensions(dimensions).expect_err(part);
        assert!(problem.message.contains(part), "{problem}");
    }
}

#[test]
fn an_unknown_dimension_is_refused() {
    let text = r#"{"layers": 2, "hidden": 64, "heads": 4, "hiden": 3}"#;
    let error = serde_json::from_str::<Dimensions>(text).expect_err("an error").to_string();
    assert!(error.contains("hiden"), "{error}");
}
