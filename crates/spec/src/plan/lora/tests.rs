//! Adapter parameters against figures of PEFT and MLPerf, and names of targets.

use super::*;
use crate::cluster;
use crate::model::by_name;
use crate::plan::PlanSpec;
use proptest::prelude::*;

fn lora(rank: u64, targets: &[&str]) -> Lora {
    let targets = targets.iter().map(|name| LoraTarget::by_name(name).expect(name)).collect();
    Lora { rank, targets }
}

fn parameters(model: &str, rank: u64, targets: &[&str]) -> u64 {
    lora(rank, targets).parameters(&by_name(model).expect(model))
}

#[test]
fn parameters_are_those_that_peft_prints() {
    // `print_trainable_parameters` of PEFT: Llama 2 7B with rank 8 on queries and values, and Llama 3 8B with
    // rank 16 on all linear layers.
    assert_eq!(parameters("llama-2-7b", 8, &["q_proj", "v_proj"]), 4_194_304);
    assert_eq!(parameters("llama-3-8b", 16, &["all-linear"]), 41_943_040);
    let named = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
    assert_eq!(parameters("llama-3-8b", 16, &named), 41_943_040);
}

#[test]
fn fused_targets_share_their_first_matrix() {
    // MLPerf's Llama 2 70B benchmark, rank 16 on `qkv_proj` and `o_proj`: 44.6 million, 80 x 16 x (8192 +
    // 10240 + 8192 + 8192).
    for names in [["qkv_proj", "o_proj"], ["linear_qkv", "linear_proj"]] {
        assert_eq!(parameters("llama-2-70b", 16, &names), 44_564_480);
    }
    let apart = parameters("llama-2-70b", 16, &["q_proj", "k_proj", "v_proj", "o_proj"]);
    assert_eq!(apart - 44_564_480, 80 * 16 * 2 * 8192);
    // Gate and up of Llama 3 8B: one input of 4,096 and two outputs of 14,336.
    assert_eq!(parameters("llama-3-8b", 1, &["linear_fc1"]), 32 * (4096 + 2 * 14336));
    // A fused name covers its parts.
    assert_eq!(
        parameters("llama-3-8b", 8, &["linear_qkv", "q_proj"]),
        parameters("llama-3-8b", 8, &["linear_qkv"])
    );
}

#[test]
fn every_routed_expert_has_adapters_of_its_own() {
    // Qwen3 30B A3B: 48 layers of 128 experts, 2,048 x 768 each way.
    let experts = 48 * 128 * 3 * 16 * (2048 + 768);
    assert_eq!(parameters("qwen3-30b-a3b", 16, &["experts"]), experts);
    assert_eq!(parameters("qwen3-30b-a3b", 16, &["gate_proj", "up_proj", "down_proj"]), experts);
}

#[test]
fn tensor_parallelism_cuts_both_matrices() {
    let model = by_name("llama-3-8b").expect("known");
    let adapters = lora(16, &["all-linear"]).adapters(model.layer(0));
    assert_eq!(adapters.len(), 7);
    for adapter in adapters {
        assert!(matches!(adapter.a.cut, Cut::Column | Cut::Row), "{adapter:?}");
        assert!(matches!(adapter.b.cut, Cut::Column | Cut::Heads(8)), "{adapter:?}");
    }
}

#[test]
fn names_of_both_worlds_are_read_and_one_is_written() {
    for (name, written) in [
        ("linear_proj", "o_proj"),
        ("linear_fc2", "down_proj"),
        ("qkv_proj", "linear_qkv"),
        ("all", "all-linear"),
    ] {
        assert_eq!(LoraTarget::by_name(name).expect(name).name(), written);
    }
    let typo = LoraTarget::by_name("q_porj").expect_err("a typo");
    assert_eq!(typo.hint.as_deref(), Some("did you mean `q_proj`?"));
    assert!(LoraTargets::read(&Value::List(Vec::new())).is_err());
    assert!(LoraTargets::read(&Value::Text("q_proj".into())).is_err());
}

#[test]
fn keys_of_adapters_need_lora() {
    let model = by_name("llama-3-8b").expect("known");
    let cluster = cluster::by_name("dgx-h100", 8).expect("known");
    let implied = PlanSpec { tensor_parallel: Some(1), lora_rank: Some(8), ..PlanSpec::default() };
    let spec = PlanSpec { optimizer: Some(Optimizer::Adam), ..implied.clone() };
    let identifiers = |plan: &Plan| {
        let found = crate::plan::warnings(&model, &cluster, plan);
        found.into_iter().map(|w| w.id).filter(|id| id.starts_with("lora")).collect::<Vec<_>>()
    };
    let plan = spec.resolve(&model, &cluster).expect("all weights");
    assert_eq!((plan.adapters(), identifiers(&plan)), (None, vec!["lora-without-optimizer".to_owned()]));
    let spec = PlanSpec { optimizer: Some(Optimizer::Lora), ..spec };
    let mut plan = spec.resolve(&model, &cluster).expect("LoRA");
    assert_eq!(plan.adapters(), Some(Lora { rank: 8, ..Lora::default() }));
    // A rank without an optimizer implies LoRA.
    assert_eq!(implied.resolve(&model, &cluster).expect("LoRA"), plan);
    assert!(identifiers(&plan).is_empty());
    assert_eq!(PlanSpec::from_plan(&plan).resolve(&model, &cluster).expect("again"), plan);
    // One target of two is missing, then all of them.
    plan.lora = Some(lora(8, &["q_proj", "experts"]));
    assert_eq!(identifiers(&plan), ["lora-target-missing"]);
    plan.lora = Some(lora(8, &["experts"]));
    let problems = crate::plan::validate(&model, &cluster, &plan);
    assert_eq!(
        problems[0].to_string(),
        "`plan.lora_targets`: llama-3-8b has no `experts`, so nothing would be trained"
    );
}

proptest! {
    /// An adapter has `rank (in + out)` parameters for any target.
    #[test]
    fn parameters_have_a_closed_form(rank in 1_u64..512, chosen in 1_u32..128) {
        let names = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
        let sides = [8192, 5120, 5120, 8192, 18432, 18432, 18432_u64];
        let targets: Vec<&str> = (0..7).filter(|i| chosen >> i & 1 == 1).map(|i| names[i]).collect();
        let sum: u64 = (0..7).filter(|i| chosen >> i & 1 == 1).map(|i| sides[i]).sum();
        prop_assert_eq!(parameters("llama-3-8b", rank, &targets), 32 * rank * sum);
    }
}
