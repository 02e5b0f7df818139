//! Reading `config.json`: real layouts (multimodal, old spellings, class defaults), and messages for invalid
//! input.

use railwright_spec::model::{
    Attention, FeedForward, Layer, Mixer, Model, Position, Span, by_name, catalogue, families,
    from_hugging_face,
};
use railwright_spec::problem::Problem;
use serde_json::{Value, json};

fn read(text: &str) -> Model {
    from_hugging_face(text, "test").expect("a model")
}

/// A small llama with changes; `null` removes a key.
fn llama_with(changes: &Value) -> Result<Model, Problem> {
    let mut config = json!({
        "model_type": "llama", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 8,
        "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100
    });
    for (key, value) in changes.as_object().expect("an object") {
        config[key] = value.clone();
    }
    from_hugging_face(&serde_json::to_string_pretty(&config).expect("text"), "test")
}

fn problem_with(changes: &Value) -> Problem {
    llama_with(changes).expect_err("a problem")
}

fn attention(layer: &Layer) -> &Attention {
    match &layer.mixer {
        Mixer::Attention(attention) => attention,
        other => panic!("softmax attention expected, found {other:?}"),
    }
}

fn spans(model: &Model) -> Vec<Span> {
    (0..model.layers.len()).map(|index| attention(model.layer(index)).span).collect()
}

#[test]
fn old_and_new_spellings_make_one_model() {
    let old = read(include_str!("fixtures/config/gpt2-minimal.json"));
    let mut catalogue = by_name("gpt2").expect("gpt2");
    catalogue.name = "test".to_owned();
    assert_eq!(old, catalogue);
}

#[test]
fn falcon_of_the_old_architecture_has_one_key_value_head_whatever_the_file_holds() {
    let model = read(include_str!("fixtures/config/falcon-7b-old.json"));
    assert_eq!(model.parameters().total, 6_921_720_704);
    assert_eq!(attention(model.layer(0)).kv_heads, 1);
    assert_eq!(model.layer(0).norms, 1);
    assert!(model.layer(0).parallel_residual);
}

#[test]
fn multimodal_files_give_the_language_model_and_list_what_was_skipped() {
    let model = read(include_str!("fixtures/config/llama4-multimodal.json"));
    assert_eq!(model.parameters().total, 400_711_848_960);
    assert!(model.notes.iter().any(|note| note.contains("vision_config")), "{:?}", model.notes);
}

#[test]
fn gemma_3_files_rely_on_class_defaults_and_the_reader_reports_it() {
    let model = read(include_str!("fixtures/config/gemma3-multimodal.json"));
    // The text tower of the 4B model with the padded vocabulary of 262,208 rows.
    assert_eq!(model.parameters().total, 3_880_263_168);
    assert!(model.notes.iter().any(|note| note.contains("num_attention_heads")), "{:?}", model.notes);
    // The same file without nesting must set its heads.
    let text = r#"{"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34, "intermediate_size": 1}"#;
    assert!(from_hugging_face(text, "x").expect_err("a problem").message.contains("num_attention_heads"));
}

#[test]
fn kimi_linear_counts_near_its_name() {
    let model = read(include_str!("fixtures/config/kimi-linear-48b.json"));
    let count = model.parameters();
    // Published as 48B with 3B active (model card), without exact counts.
    assert!((47.5e9..49.5e9).contains(&(count.total as f64)), "{count:?}");
    assert!((2.5e9..3.6e9).contains(&(count.active_without_embedding as f64)), "{count:?}");
    let latent =
        model.layers.iter().filter(|&&k| matches!(model.layer_kinds[k].mixer, Mixer::Latent(_))).count();
    assert_eq!((latent, model.position), (7, Position::None));
}

#[test]
fn models_beside_the_table_count_as_published() {
    let total = |name: &str| by_name(name).expect(name).parameters().total;
    // Model card of MPT-7B: 6.7B; the exact figure is that of its weight files.
    assert_eq!(total("mpt-7b"), 6_649_286_656);
    // Nemotron-4 reports: 15B has 3.1B of embeddings and 12.5B others; 340B has 9.4B and 331.6B.
    for (name, embeddings, others) in [("nemotron-4-15b", 3.1e9, 12.5e9), ("nemotron-4-340b", 9.4e9, 331.6e9)]
    {
        let count = by_name(name).expect(name).parameters();
        let ours = (count.word_embedding + count.head) as f64;
        assert!((ours / embeddings - 1.0).abs() < 0.02, "{name}: {ours}");
        assert!(((count.total as f64 - ours) / others - 1.0).abs() < 0.005, "{name}: {count:?}");
    }
    // Named 120B with 12B active; experts project tokens down to 1,024.
    let count = by_name("nemotron-3-super").expect("super").parameters();
    assert!((118e9..125e9).contains(&(count.total as f64)), "{count:?}");
    assert!((11.5e9..13.5e9).contains(&(count.active as f64)), "{count:?}");
    let width =
        |name: &str| by_name(name).expect(name).layer_kinds.iter().find_map(Layer::expert_input_width);
    assert_eq!(width("nemotron-3-super"), Some(1024));
    assert_eq!((width("mixtral-8x7b"), width("llama-2-7b")), (Some(4096), None));
}

#[test]
fn further_families_count_as_their_weight_files_do() {
    // Exact counts of the published weight files, recalled; each agrees with an independent computation by
    // hand.
    for (config, total) in [
        (
            json!({"model_type": "starcoder2", "num_hidden_layers": 32, "hidden_size": 4608, "num_attention_heads": 36,
                "num_key_value_heads": 4, "intermediate_size": 18432, "vocab_size": 49152, "sliding_window": 4096}),
            7_173_923_840_u64,
        ),
        (
            json!({"model_type": "cohere", "num_hidden_layers": 40, "hidden_size": 8192, "num_attention_heads": 64,
                "intermediate_size": 22528, "vocab_size": 256_000}),
            34_980_831_232,
        ),
        (
            json!({"model_type": "phimoe", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
                "num_key_value_heads": 8, "intermediate_size": 6400, "vocab_size": 32064, "attention_bias": true,
                "lm_head_bias": true, "num_local_experts": 16, "num_experts_per_tok": 2}),
            41_873_153_344,
        ),
        (
            json!({"model_type": "glm4", "num_hidden_layers": 40, "hidden_size": 4096, "num_attention_heads": 32,
                "num_key_value_heads": 2, "intermediate_size": 13696, "vocab_size": 151_552, "attention_bias": true}),
            9_400_279_040,
        ),
        (
            json!({"model_type": "seed_oss", "num_hidden_layers": 64, "hidden_size": 5120, "num_attention_heads": 80,
                "num_key_value_heads": 8, "intermediate_size": 27648, "vocab_size": 155_136}),
            36_151_104_512,
        ),
    ] {
        assert_eq!(read(&config.to_string()).parameters().total, total, "{config}");
    }
}

#[test]
fn windows_follow_each_familys_pattern() {
    let gemma = spans(&by_name("gemma-3-27b").expect("gemma"));
    assert_eq!(gemma.iter().filter(|&&s| s == Span::Causal).count(), 10);
    assert_eq!((gemma[4], gemma[5]), (Span::Window(1024), Span::Causal));
    let second = spans(&by_name("gemma-2-9b").expect("gemma"));
    assert_eq!((second[0], second[1]), (Span::Window(4096), Span::Causal));
    let oss = spans(&by_name("gpt-oss-20b").expect("gpt-oss"));
    assert_eq!((oss[0], oss[1]), (Span::Window(128), Span::Causal));
    let llama = spans(&by_name("llama-4-scout").expect("llama 4"));
    assert_eq!((llama[2], llama[3]), (Span::Chunk(8192), Span::Causal));
    assert_eq!(llama.iter().filter(|&&s| s == Span::Causal).count(), 12);
    let olmo = spans(&by_name("olmo-3-32b").expect("olmo"));
    assert_eq!(olmo.iter().filter(|&&s| s == Span::Causal).count(), 16);
    let mistral = spans(&by_name("mistral-7b-v0.1").expect("mistral"));
    assert!(mistral.iter().all(|&s| s == Span::Window(4096)));
    // Qwen 2.5 files have a window that `use_sliding_window` disables.
    assert!(spans(&by_name("qwen2.5-7b").expect("qwen")).iter().all(|&s| s == Span::Causal));
}

#[test]
fn layer_types_overrule_the_pattern() {
    let text = json!({
        "model_type": "gpt_oss", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 2,
        "intermediate_size": 8, "vocab_size": 10, "num_local_experts": 4, "num_experts_per_tok": 2,
        "layer_types": ["full_attention", "sliding_attention"]
    });
    assert_eq!(spans(&read(&text.to_string())), [Span::Causal, Span::Window(128)]);
    let mut short = text;
    short["layer_types"] = json!(["full_attention"]);
    let problem = from_hugging_face(&short.to_string(), "x").expect_err("a problem");
    assert!(problem.message.contains("1 entries for 2 layers"), "{problem}");
}

#[test]
fn hybrids_have_the_mixers_that_they_run() {
    let count = |name: &str, wanted: fn(&Mixer) -> bool| {
        let model = by_name(name).expect(name);
        model.layers.iter().filter(|&&kind| wanted(&model.layer_kinds[kind].mixer)).count()
    };
    assert_eq!(count("qwen3-next-80b-a3b", |m| matches!(m, Mixer::Linear(_))), 36);
    assert_eq!(count("nemotron-h-56b", |m| matches!(m, Mixer::StateSpace(_))), 54);
    assert_eq!(count("nemotron-h-56b", |m| matches!(m, Mixer::Attention(_))), 10);
    assert_eq!(count("nemotron-3-nano-30b-a3b", |m| matches!(m, Mixer::None)), 23);
    let nano = by_name("nemotron-3-nano").expect("nano");
    let experts =
        |&&kind: &&usize| matches!(nano.layer_kinds[kind].feed_forward, FeedForward::MixtureOfExperts(_));
    assert_eq!(nano.layers.iter().filter(experts).count(), 23);
    assert!(nano.layer_kinds.iter().all(|layer| layer.norms == 1));
    let deepseek = by_name("deepseek-v3.2").expect("v3.2");
    assert!(matches!(&deepseek.layer(0).mixer, Mixer::Latent(latent) if latent.sparse_top_k == Some(2048)));
    assert_eq!(deepseek.layer_kinds.len(), 2);
}

#[test]
fn gemma_4_layers_that_reuse_keys_have_no_projections_for_them() {
    let config = |shared: u64| {
        let text = json!({
            "model_type": "gemma4_text", "num_hidden_layers": 12, "hidden_size": 64, "num_attention_heads": 4,
            "num_key_value_heads": 1, "head_dim": 16, "global_head_dim": 32, "intermediate_size": 128,
            "vocab_size": 100, "num_kv_shared_layers": shared
        });
        read(&text.to_string()).parameters().total
    };
    // One layer less of keys and values at the global width of 32 (a global layer is last), and of the key
    // norm.
    assert_eq!(config(0) - config(1), 2 * 64 * 32 + 32);
}

#[test]
fn names_are_found_in_the_spellings_that_people_use() {
    for (spelling, name) in [
        ("meta-llama/Llama-3.1-405B", "llama-3.1-405b"),
        ("llama3.1-405b", "llama-3.1-405b"),
        ("LLAMA_3.1_405B-Instruct", "llama-3.1-405b"),
        ("deepseek-ai/DeepSeek-V3", "deepseek-v3-671b"),
        ("gpt3", "gpt3-175b"),
        ("Qwen/Qwen3-30B-A3B", "qwen3-30b-a3b"),
        ("mistralai/Mixtral-8x7B-v0.1", "mixtral-8x7b"),
    ] {
        assert_eq!(by_name(spelling).expect(spelling).name, name);
    }
}

/// Punctuation is ignored, except for the point of a size.
#[test]
fn sizes_with_a_point_are_other_sizes() {
    for (spelling, name) in [
        ("facebook/opt-13b", "opt-13b"),
        ("facebook/opt-1.3b", "opt-1.3b"),
        ("opt_1_3b", "opt-1.3b"),
        ("qwen2_5_1_5b_instruct", "qwen2.5-1.5b"),
        ("llama3_1_8b", "llama-3-8b"),
        ("TinyLlama1.1B", "tinyllama-1.1b"),
    ] {
        assert_eq!(by_name(spelling).expect(spelling).name, name, "{spelling}");
    }
    assert!(by_name("pythia-14b").is_err(), "not pythia-1.4b");
    assert!(by_name("llama-3-7.0b").is_err(), "not llama-3-70b");
}

#[test]
fn every_name_and_alias_finds_its_own_model() {
    for entry in catalogue() {
        assert!(!entry.source.is_empty(), "{} has no source", entry.name);
        for name in std::iter::once(entry.name).chain(entry.aliases.iter().map(String::as_str)) {
            assert_eq!(by_name(name).expect(name).name, entry.name, "{name}");
        }
    }
}

#[test]
fn every_catalogue_file_is_embedded() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/models");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .collect();
    files.sort();
    let mut listed: Vec<String> = catalogue().iter().map(|entry| entry.name.to_owned()).collect();
    listed.sort();
    assert_eq!(files, listed);
}

#[test]
fn a_mistyped_name_gets_the_nearest() {
    let problem = by_name("lama-3.1-405b").expect_err("a problem");
    assert!(problem.hint.as_deref().is_some_and(|hint| hint.contains("`llama-3.1-405b`")), "{problem:?}");
    for name in ["", "/", "zzzzzz", "ÄÖÜ", &"x".repeat(100_000)] {
        let problem = by_name(name).expect_err("a problem");
        assert!(problem.message.len() < 200 && problem.hint.is_some(), "{problem:?}");
    }
}

#[test]
fn text_that_is_no_config_is_named() {
    for (text, part) in [
        ("", "empty"),
        ("  \n\t", "empty"),
        (include_str!("fixtures/config/page.html"), "web page"),
        (include_str!("fixtures/config/deepspeed.json"), "DeepSpeed"),
        ("[1, 2]", "a config.json contains one object, but this is another JSON value"),
        ("42", "a config.json contains one object, but this is another JSON value"),
        ("{}", "`model_type` is missing"),
        (r#"{"model_type": 3}"#, "expected a string, found the number 3"),
        (r#"{"model_type": "llama", "text_config": 7}"#, "expected an object, found the number 7"),
        (r#"{"model_type": "llama", "hidden_size": nan}"#, "not valid JSON"),
        (
            r#"{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": Infinity}"#,
            "expected a number, found Infinity",
        ),
    ] {
        let problem = from_hugging_face(text, "x").expect_err(text);
        assert!(problem.message.contains(part), "{text}: {problem}");
    }
}

#[test]
fn a_cut_file_is_reported_with_line_and_column() {
    let problem =
        from_hugging_face(include_str!("fixtures/config/truncated.json"), "x").expect_err("a problem");
    let place = problem.place.clone().expect("a place");
    assert!(problem.message.contains("truncated"), "{problem}");
    assert_eq!((place.line, place.text.as_deref()), (Some(4), Some("  \"num_hidden_la")));
}

#[test]
fn depth_bombs_end_as_a_problem() {
    for bomb in ["[".repeat(1_000_000), "{\"a\":".repeat(1_000_000)] {
        let problem = from_hugging_face(&bomb, "x").expect_err("a problem");
        assert!(problem.message.contains("recursion limit"), "{problem}");
    }
    let huge = format!("{{\"model_type\": \"llama\", \"x\": \"{}\"}}", "y".repeat(9 << 20));
    assert!(from_hugging_face(&huge, "x").expect_err("a problem").message.contains("8 MiB"));
}

#[test]
fn an_unknown_type_gets_the_nearest_and_its_line() {
    let problem =
        from_hugging_face(include_str!("fixtures/config/unknown-type.json"), "x").expect_err("a problem");
    assert!(problem.hint.as_deref().is_some_and(|hint| hint.contains("`llama`")), "{problem:?}");
    assert_eq!(problem.place.expect("a place").line, Some(2));
    let problem = from_hugging_face(r#"{"model_type": "zzz"}"#, "x").expect_err("a problem");
    let hint = problem.hint.expect("a hint");
    assert!(families().all(|family| hint.contains(family)), "{hint}");
}

#[test]
fn dimensions_that_are_missing_wrong_or_contradictory() {
    for (changes, part, key) in [
        (json!({"hidden_size": null}), "`hidden_size` is missing", None),
        (json!({"num_hidden_layers": null}), "`num_hidden_layers` is missing", None),
        (json!({"intermediate_size": null}), "`intermediate_size` is missing", None),
        (
            json!({"num_attention_heads": 7, "num_key_value_heads": 7}),
            "not a multiple of 7 heads",
            Some("num_attention_heads"),
        ),
        (json!({"num_key_value_heads": 3}), "3 key-value heads do not divide 8", Some("num_key_value_heads")),
        (json!({"num_key_value_heads": 0}), "0 is not a whole number from 1", Some("num_key_value_heads")),
        (json!({"hidden_size": 0}), "0 is not a whole number from 1", Some("hidden_size")),
        (json!({"hidden_size": -5}), "-5 is not a whole number", Some("hidden_size")),
        (json!({"hidden_size": 64.5}), "64.5 is not a whole number", Some("hidden_size")),
        (json!({"hidden_size": "64"}), "expected a number, found the string \"64\"", Some("hidden_size")),
        (
            json!({"num_hidden_layers": 1e30}),
            "is not a whole number from 1 to 10000",
            Some("num_hidden_layers"),
        ),
        (
            json!({"num_hidden_layers": 100_001}),
            "is not a whole number from 1 to 10000",
            Some("num_hidden_layers"),
        ),
        (json!({"vocab_size": 1_000_000_000_000_u64}), "is not a whole number", Some("vocab_size")),
        (json!({"attention_bias": "yes"}), "expected true or false", Some("attention_bias")),
        (json!({"hidden_act": "tahn"}), "unknown activation `tahn`", Some("hidden_act")),
        (json!({"n_layer": 5}), "`num_hidden_layers` is 4, but its alias `n_layer`", Some("n_layer")),
        (
            json!({"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 5}),
            "5 active experts per token are not possible with 4 experts",
            Some("num_experts_per_tok"),
        ),
        (json!({"model_type": "mixtral", "num_local_experts": 4}), "`num_experts_per_tok` is missing", None),
        (
            json!({"model_type": "mixtral", "num_local_experts": 0, "num_experts_per_tok": 0}),
            "0 active experts per token are not possible with 0 experts",
            Some("num_experts_per_tok"),
        ),
        (json!({"model_type": "deepseek_v3"}), "`kv_lora_rank` is missing", None),
        (json!({"model_type": "nemotron_h"}), "`hybrid_override_pattern` is missing", None),
        (
            json!({"model_type": "nemotron_h", "hybrid_override_pattern": "M*X-"}),
            "unknown layer `X`",
            Some("hybrid_override_pattern"),
        ),
        (
            json!({"model_type": "nemotron_h", "hybrid_override_pattern": "M*"}),
            "2 entries for 4 layers",
            Some("hybrid_override_pattern"),
        ),
    ] {
        let problem = problem_with(&changes);
        assert!(problem.message.contains(part), "{changes}: {problem}");
        if let Some(key) = key {
            let place = problem.place.clone().expect("a place");
            assert_eq!(place.key.as_deref(), Some(key), "{changes}");
            if key != "num_attention_heads" {
                assert!(place.text.as_deref().is_some_and(|line| line.contains(key)), "{changes}: {place:?}");
            }
        }
    }
}

#[test]
fn numbers_inside_each_bound_but_absurd_together_are_reported() {
    let problem = problem_with(&json!({
        "num_hidden_layers": 10_000, "hidden_size": 1_000_000, "intermediate_size": 10_000_000
    }));
    assert!(problem.message.contains("parameters"), "{problem}");
}

#[test]
fn unknown_keys_and_whole_floats_are_fine() {
    let plain = llama_with(&json!({})).expect("a model");
    let decorated =
        llama_with(&json!({"hidden_size": 64.0, "pretraining_tp": 1, "auto_map": {"x": [1, {}]}}));
    assert_eq!(plain, decorated.expect("a model"));
    let marked = format!("\u{feff}{}", include_str!("fixtures/config/gpt2-minimal.json"));
    assert_eq!(read(&marked).parameters().total, 124_439_808);
}
