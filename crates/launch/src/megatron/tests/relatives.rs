//! Megatron-LM's relatives: flags and defaults of their own.

use super::values;

#[test]
fn relatives_have_flags_and_defaults_of_their_own() {
    let base = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \
                --seq-length 2048 --micro-batch-size 8 --global-batch-size 512 --vocab-size 50257";
    let read = |flags: &str| {
        crate::read(&format!("{base} {flags}\n"), "run.sh").expect("recognised").expect("sound")
    };
    // Megatron-DeepSpeed: one expert for a token, experts in every second layer, capacity 1.
    let moe = ["model.experts", "model.top_k", "model.moe_every", "plan.expert_capacity"];
    let one = read("--deepspeed --fp16 --num-experts 128 --moe-expert-parallel-size 8");
    assert_eq!(values(&one, &moe), ["128", "1", "2", "1.0"]);
    let source =
        read("--deepspeed --fp16 --num-experts 128 --topk 2 --expert-interval 1 --normalization rmsnorm");
    assert_eq!(
        values(&source, &["model.top_k", "model.moe_every", "model.norm"]),
        ["2", "1", "\"rms_norm\""]
    );
    // One number per layer is never read as a single number.
    let pyramid = read("--deepspeed --fp16 --num-experts 64 64 128");
    assert!(pyramid.open.iter().any(|open| open.key == "model.experts"), "{:?}", pyramid.open);
    assert_eq!(values(&pyramid, &["model.experts"]), ["-"]);
    // MindSpeed-LLM.
    let mind = read(
        "--bf16 --num-experts 64 --moe-router-topk 6 --moe-intermediate-size 1408 --n-shared-experts 2 \
         --first-k-dense-replace 1 --moe-layer-freq 1 --context-parallel-size 2 --context-parallel-algo ulysses_cp_algo",
    );
    assert_eq!(
        values(
            &mind,
            &[
                "model.moe_ffn",
                "model.shared_ffn",
                "model.first_dense_layers",
                "plan.context_kind",
                "plan.software"
            ]
        ),
        ["1408", "2816", "1", "\"ulysses\"", "-"]
    );
    let adapter = read("--bf16 --lora-r 16 --lora-alpha 32 --lora-target-modules linear_qkv linear_proj");
    assert_eq!(values(&adapter, &["plan.optimizer", "plan.lora_rank"]), ["\"lora\"", "16"]);
    let shorter = read(
        "--bf16 --pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 6 --noop-layers 22,23",
    );
    assert_eq!(
        values(&shorter, &["model.layers", "plan.layers_per_stage", "plan.virtual_stages"]),
        ["22", "[6, 6, 6, 4]", "2"]
    );
    let listed = read("--bf16 --pipeline-model-parallel-size 2 --num-layer-list 11,13");
    assert_eq!(values(&listed, &["model.layers", "plan.layers_per_stage"]), ["24", "[11, 13]"]);
    for (flags, key) in [
        ("--num-layers-per-virtual-pipeline-stage 5 --noop-layers 22,23", "model.layers"),
        ("--num-layer-list 11,12", "plan.layers_per_stage"),
    ] {
        let open = read(&format!("--bf16 --pipeline-model-parallel-size 2 {flags}"));
        assert!(open.open.iter().any(|open| open.key == key), "{flags}: {:?}", open.open);
        assert_eq!(values(&open, &[key]), ["-"], "{flags}");
    }
}

/// What a form of the model cannot express is reported in each form, not only in the ordinary one.
#[test]
fn latent_experts_are_reported_in_every_form_without_them() {
    let base = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 2048 --ffn-hidden-size 8192 \
                --num-attention-heads 16 --seq-length 4096 --max-position-embeddings 4096 --micro-batch-size 1 \
                --global-batch-size 64 --bf16 --vocab-size 32000 --num-experts 64 --moe-router-topk 4 \
                --moe-ffn-hidden-size 1024 --swiglu --normalization RMSNorm";
    let dsa = "--experimental-attention-variant dsa --multi-latent-attention --kv-lora-rank 512 --q-lora-rank 1536 \
               --qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim 128 --dsa-indexer-n-heads 64 \
               --dsa-indexer-head-dim 128 --dsa-indexer-topk 2048";
    let delta = "--experimental-attention-variant gated_delta_net --linear-attention-freq 4 --linear-conv-kernel-dim 4 \
                 --linear-key-head-dim 128 --linear-value-head-dim 128 --linear-num-key-heads 16 \
                 --linear-num-value-heads 32 --group-query-attention --num-query-groups 2";
    for form in ["", dsa, delta] {
        let reported = |latent: &str| {
            let text = format!("{base} {form} {latent}\n");
            let launch = crate::read(&text, "run.sh").expect("recognised").expect("sound");
            let is_it = |remark: &crate::Remark| remark.source.contains("moe-latent-size");
            launch.remarks.iter().any(|r| is_it(r) && r.kind == crate::RemarkKind::NotModelled)
        };
        assert!(reported("--moe-latent-size 512") && !reported(""), "{form}");
    }
}
