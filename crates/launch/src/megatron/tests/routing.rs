//! How evenly a router loads its experts.

use super::values;

#[test]
fn routing_is_read_from_its_flags() {
    let base = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \
                --seq-length 2048 --micro-batch-size 8 --global-batch-size 512 --vocab-size 50257 --num-experts 64 \
                --moe-router-topk 6 --expert-model-parallel-size 8";
    for (flags, imbalance) in [
        ("", "-"),
        ("--moe-router-force-load-balancing", "1.0"),
        ("--moe-router-load-balancing-type aux_loss --moe-aux-loss-coeff 1e-3", "1.5"),
        ("--moe-router-load-balancing-type seq_aux_loss --moe-router-enable-expert-bias", "1.04"),
        ("--moe-router-load-balancing-type sinkhorn", "-"),
        ("--moe-router-load-balancing-type aux_loss --moe-expert-capacity-factor 1.25", "-"),
    ] {
        let launch = crate::read(&format!("{base} {flags}\n"), "run.sh").expect("recognised").expect("sound");
        assert_eq!(values(&launch, &["plan.expert_imbalance"]), [imbalance], "{flags}");
    }
}
