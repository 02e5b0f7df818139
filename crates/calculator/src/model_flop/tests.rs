//! FLOP counts compared with published ones, and formulas for visible keys compared with counting.

use super::*;
use railwright_spec::model::{
    Attention, Convolution, FeedForward, LatentAttention, LinearAttention, SelectiveScan, StateSpace, by_name,
};
use railwright_spec::plan::LoraTarget;

fn model(name: &str) -> Model {
    by_name(name).expect("in the catalogue")
}

fn near(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() < share, "{value} is not {expected}");
}

#[test]
fn llama_3_405b_at_8k_is_6n_and_attention() {
    // Llama 3 paper, table 4: 430 TFLOP/s per GPU at 8,192 GPUs; per token 6 x 403.7e9 (without input
    // embedding) + 12 x 126 x 16384 x 8192.
    let model = model("llama-3.1-405b");
    let n = model.parameters().active_without_embedding as f64;
    let full = per_token(&model, 8192, Convention::FullAttention).get();
    let expected = 6.0 * n + 12.0 * 126.0 * 16384.0 * 8192.0;
    near(full, expected, 1e-4);
    let causal = per_token(&model, 8192, Convention::CausalAttention).get();
    assert!((full - causal - 6.0 * 126.0 * 16384.0 * 8192.0).abs() / full < 1e-9);
}

#[test]
fn gpt_3_is_as_narayanan_counts_it() {
    // Narayanan et al. 2021 (arXiv 2104.04473), equation 3: 96 B s l h^2 (1 + s/(6h) + V/(16 l h)) with a
    // second forward pass. Without it the layers count 72 instead of 96, and the head, which is not
    // recomputed, 6 B s h V as before.
    let (l, h, s, v) = (96.0, 12288.0, 2048.0, model("gpt3-175b").vocabulary as f64);
    let expected = 72.0 * l * h * h * (1.0 + s / (6.0 * h)) + 6.0 * h * v;
    near(per_token(&model("gpt3-175b"), 2048, Convention::FullAttention).get(), expected, 1e-9);
}

#[test]
fn costs_per_token_that_deepseek_published() {
    // "Insights into DeepSeek-V3" (arXiv 2505.09343), table 2: GFLOP of training per token at 4,096 tokens.
    // Their counts exclude the prediction of further tokens.
    for (name, published, share) in [
        ("deepseek-v2-236b", 155.0, 0.005),
        ("deepseek-v3-671b", 250.0, 0.005),
        ("llama-3.1-405b", 2448.0, 0.015),
    ] {
        let mut model = model(name);
        model.multi_token_prediction = None;
        near(per_token(&model, 4096, Convention::CausalAttention).get() / 1e9, published, share);
    }
}

#[test]
fn a_prediction_module_runs_its_layer_its_projection_and_the_head() {
    // DeepSeek-V3 (arXiv 2412.19437), section 2.2: a projection of 2h x h, a block, and the shared head.
    let mut with = model("deepseek-v3-671b");
    let (h, v) = (7168.0, 129280.0);
    let kind = with.multi_token_prediction.as_ref().expect("it predicts further").layer_kind;
    let block = forward(&with.layer_kinds[kind], 4096, 4096.0, Convention::CausalAttention);
    let one = 3.0 * (2.0 * 2.0 * h * h + block + 2.0 * h * v);
    let mut without = with.clone();
    without.multi_token_prediction = None;
    let cost = |model: &Model| per_token(model, 4096, Convention::CausalAttention).get();
    near(cost(&with) - cost(&without), one, 1e-9);
    with.multi_token_prediction.as_mut().expect("as above").depth = 2;
    near(cost(&with) - cost(&without), 2.0 * one, 1e-9);
}

#[test]
fn a_token_uses_the_experts_that_it_is_routed_to() {
    // Mixtral of Experts (arXiv 2401.04088): 47B parameters, 13B of them active; two of eight experts.
    let mixtral = model("mixtral-8x7b");
    let all = per_token(&mixtral, 1, Convention::CausalAttention).get();
    near(all / 6.0, 12.88e9 - 32000.0 * 4096.0, 1e-3);
    // Without a number of experts, the share is 1.
    let mut none = mixtral.clone();
    for layer in &mut none.layer_kinds {
        if let FeedForward::MixtureOfExperts(moe) = &mut layer.feed_forward {
            moe.experts = 0;
        }
    }
    near(per_token(&none, 1, Convention::CausalAttention).get() / 6.0, 46.70e9 - 32000.0 * 4096.0, 1e-3);
}

/// The mean number of keys visible to a query, by counting.
fn counted(sequence: u64, sees: impl Fn(u64, u64) -> bool) -> f64 {
    let seen = (0..sequence).map(|query| (0..=query).filter(|&key| sees(query, key)).count() as f64);
    seen.sum::<f64>() / sequence as f64
}

fn attention(span: Span, sparse_top_k: Option<u64>) -> Mixer {
    let (heads, kv_heads, head_dim, value_dim) = (3, 1, 5, 7);
    let (qk_norm, index, compress_rate) = (false, [0; 2], 0);
    let of =
        Attention { heads, kv_heads, head_dim, value_dim, span, qk_norm, sparse_top_k, index, compress_rate };
    Mixer::Attention(of)
}

#[test]
fn queries_see_the_keys_that_a_count_finds() {
    const S: u64 = 2048;
    let keys = |span, top| {
        // Two GEMMs of every query head, 5 and 7 wide, two operations per element.
        mixer(&attention(span, top), S as f64, Convention::CausalAttention) / (2.0 * 3.0 * (5.0 + 7.0))
    };
    near(keys(Span::Causal, None), counted(S, |_, _| true), 1e-3);
    near(keys(Span::Window(256), None), counted(S, |query, key| query - key < 256), 5e-3);
    near(keys(Span::Window(1536), None), counted(S, |query, key| query - key < 1536), 1e-3);
    near(keys(Span::Window(99_999), None), counted(S, |_, _| true), 1e-3);
    near(keys(Span::Chunk(256), None), counted(S, |query, key| query / 256 == key / 256), 5e-3);
    near(keys(Span::Chunk(99_999), None), counted(S, |_, _| true), 1e-3);
    // An index keeps some of the visible keys.
    near(keys(Span::Causal, Some(256)), counted(S, |query, key| query - key < 256), 5e-3);
    near(keys(Span::Window(512), Some(256)), counted(S, |query, key| query - key < 256), 5e-3);
    assert_eq!((keys(Span::Bidirectional, None), keys(Span::Memory(0), None)), (2048.0, 2048.0));
    assert_eq!(keys(Span::Memory(77), None), 77.0);
    let full = |span| mixer(&attention(span, None), S as f64, Convention::FullAttention) / 72.0;
    assert_eq!((full(Span::Causal), full(Span::Window(256)), full(Span::Chunk(512))), (2048.0, 256.0, 512.0));
}

#[test]
fn mixers_count_their_elements() {
    let count = |of: &Mixer| mixer(of, 1000.0, Convention::FullAttention);
    // DeepSeek-V3: 128 heads, queries and keys 128 + 64 wide, values 128.
    let latent = Mixer::Latent(LatentAttention {
        heads: 128,
        q_lora_rank: Some(1536),
        kv_lora_rank: 512,
        qk_nope_head_dim: 128,
        qk_rope_head_dim: 64,
        v_head_dim: 128,
        sparse_top_k: None,
        index: [0; 2],
    });
    assert_eq!(count(&latent), 2.0 * 128.0 * 320.0 * 1000.0);
    // Two multiply-adds per element of state, for update and read-out (Dao and Gu 2024, arXiv 2405.21060,
    // section 6).
    let linear = Mixer::Linear(LinearAttention {
        key_heads: 16,
        value_heads: 32,
        key_head_dim: 128,
        value_head_dim: 64,
        conv_kernel: 4,
    });
    assert_eq!(count(&linear), 4.0 * 262_144.0);
    let space =
        Mixer::StateSpace(StateSpace { heads: 24, head_dim: 64, state_size: 128, groups: 1, conv_kernel: 4 });
    assert_eq!(count(&space), 4.0 * 196_608.0);
    let scan = Mixer::Selective(SelectiveScan { inner: 5120, state_size: 16, conv_kernel: 4 });
    assert_eq!(count(&scan), 4.0 * 81_920.0);
    let convolution = Mixer::Convolution(Convolution { width: 2048, taps: 3 });
    assert_eq!(count(&convolution), 2.0 * 6144.0);
    let both = Mixer::Several { mixers: vec![linear, convolution] };
    assert_eq!(count(&both), 4.0 * 262_144.0 + 2.0 * 6144.0);
    assert_eq!((count(&Mixer::None), count(&Mixer::Unpriced { name: "new".to_owned() })), (0.0, 0.0));
}

#[test]
fn frozen_matrices_have_no_gradient_of_their_own() {
    let model = railwright_spec::model::by_name("llama-2-7b").expect("known");
    let cluster = railwright_spec::cluster::by_name("dgx-h100", 8).expect("known");
    let mut plan = Plan::default_for(&model, &cluster).expect("possible");
    let full = of_plan(&model, &plan, Convention::CausalAttention).get();
    assert_eq!(full, per_token(&model, plan.sequence_length, Convention::CausalAttention).get());
    plan.optimizer = railwright_spec::plan::Optimizer::Lora;
    plan.lora = Some(Lora {
        rank: 8,
        targets: ["q_proj", "v_proj"].map(|n| LoraTarget::by_name(n).expect(n)).into(),
    });
    let lora = of_plan(&model, &plan, Convention::CausalAttention).get();
    // 6,607,077,376 weights in matrices, head included (6,738,415,616 without the embedding's 131,072,000 and
    // 65 norms of 4,096), lose two of six; PEFT counts 4,194,304 trainable.
    assert_eq!(full - lora, 2.0 * 6_607_077_376.0 - 6.0 * 4_194_304.0);
}

/// Packed documents of 512 tokens need the arithmetic of sequences of 512 tokens; frameworks' full square
/// stays that of the sequence.
#[test]
fn packed_documents_count_their_own_attention() {
    let model = railwright_spec::model::by_name("llama-3-8b").expect("known");
    let cluster = railwright_spec::cluster::by_name("dgx-h100", 8).expect("known");
    let mut plan = Plan::default_for(&model, &cluster).expect("possible");
    (plan.sequence_length, plan.document_length) = (8192, Some(512));
    let of = |convention| of_plan(&model, &plan, convention).get();
    near(of(Convention::CausalAttention), per_token(&model, 512, Convention::CausalAttention).get(), 1e-12);
    near(of(Convention::FullAttention), per_token(&model, 8192, Convention::FullAttention).get(), 1e-12);
}
