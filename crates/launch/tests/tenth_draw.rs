//! Causes of silent errors in an unseen draw of public launch files (tenth, November 2026), each with a text
//! of its own.

use crate::folder;
use railwright_launch::{Launch, RemarkKind, detect, read};

fn launch(text: &str) -> Launch {
    match read(text, "run.sh") {
        Some(Ok(launch)) => launch,
        other => panic!("{other:?}, {:?}", detect(text)),
    }
}

fn is_open(launch: &Launch, key: &str) -> bool {
    launch.open.iter().any(|open| open.key == key)
}

/// A blank that a template or its user fills in is not the default of its flag.
#[test]
fn blanks_are_open_and_never_the_default() {
    let rest = "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 \
        --global-batch-size 256 --bf16";
    for blank in ["$TP", "${TP}", "<TP>", "{tp}", "{{ tp }}", "TENSOR_PARALLEL", "???"] {
        for head in [
            "torchrun --nproc_per_node 8 pretrain_gpt.py",
            "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_gpt.py",
        ] {
            let text = format!("{head} {rest} --tensor-model-parallel-size {blank}\n");
            let read = launch(&text);
            assert!(is_open(&read, "plan.tensor_parallel"), "{text}: {:?}", read.open);
            folder::check(&read, &[("plan.tensor_parallel", "open")]);
            assert_eq!(read.remarks_of(RemarkKind::Invalid).count(), 0, "{text}");
        }
    }
    let bare = format!(
        "pretrain_gpt.py {rest} --tensor-model-parallel-size=${{TP}}, --pipeline-model-parallel-size=4\n"
    );
    folder::check(&launch(&bare), &[("plan.tensor_parallel", "open"), ("plan.pipeline_parallel", "4")]);
}

/// MaxText stores weights, moments and gradients in formats of their own.
#[test]
fn formats_of_stored_numbers_have_an_effect() {
    let text = |more: &str| {
        format!(
            "python3 -m MaxText.train base.yml model_name=llama3-8b per_device_batch_size=4 max_target_length=4096 \
             ici_fsdp_parallelism=64 {more}\n"
        )
    };
    let plain = launch(&text("mu_dtype=float32 weight_dtype=float32"));
    folder::check(&plain, &[("plan.precision.moments", "open"), ("plan.precision.gradients", "open")]);
    assert_eq!(plain.remarks_of(RemarkKind::NotModelled).count(), 0, "{:?}", plain.remarks);
    let short = launch(&text("weight_dtype=bfloat16"));
    for key in ["parameters", "gradients", "moments"] {
        folder::check(&short, &[(&format!("plan.precision.{key}"), "\"bf16\"")]);
    }
    folder::check(&short, &[("plan.precision.master", "\"none\"")]);
    let mixed = launch(&text("grad_dtype=bfloat16 mu_dtype=bfloat16"));
    folder::check(&mixed, &[("plan.precision.gradients", "\"bf16\""), ("plan.precision.moments", "open")]);
    let listed = mixed.remarks_of(RemarkKind::NotModelled).any(|remark| remark.source.contains("mu_dtype"));
    assert!(listed, "{:?}", mixed.remarks);
}

/// 1 and 0 are switches of an unknown program's formats.
#[test]
fn numbers_switch_a_format() {
    let text = "torchrun --nproc_per_node 8 train_own.py --bf16 1 --fp16 0 --max_seq_len 2048 --tp_size 2 \
        --per_device_batch_size 1 --learning_rate 1e-4\n";
    folder::check(&launch(text), &[("plan.precision.preset", "\"bf16\""), ("plan.tensor_parallel", "2")]);
}

/// A container starts a program with a file of settings next to the manifest.
#[test]
fn a_container_starts_a_trainer_with_its_file() {
    const FILES: &[(&str, &str)] = &[(
        "config/sft.yaml",
        "base_model: meta-llama/Llama-3.1-8B\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\nsequence_len: 4096\n\
         datasets:\n  - path: a/b\n    type: alpaca\nbf16: true\n",
    )];
    let text = "apiVersion: batch/v1\nkind: Job\nspec:\n  template:\n    spec:\n      containers:\n      - name: a\n        image: b\n        \
        command: [\"accelerate\", \"launch\", \"--num_processes\", \"8\"]\n        args: [\"-m\", \"axolotl.cli.train\", \"config/sft.yaml\"]\n";
    let read = folder::read(text, "job.yaml", FILES);
    folder::check(
        &read,
        &[
            ("cluster.devices", "8"),
            ("plan.micro_batch", "2"),
            ("plan.micro_batches", "4"),
            ("plan.sequence_length", "4096"),
        ],
    );
}

/// Losses in chunks never hold all logits.
#[test]
fn losses_in_chunks_are_features_of_the_software() {
    let trl = "model_name_or_path: Qwen/Qwen3-8B\ndataset_name: a/b\nper_device_train_batch_size: 1\nmax_length: 8192\nbf16: true\n\
        loss_type: chunked_nll\n";
    folder::check(&launch(trl), &[("plan.software", "\"transformers-2026+chunked-loss\"")]);
    let other = trl.replace("chunked_nll", "[sigmoid, bco_pair]");
    folder::check(&launch(&other), &[("plan.software", "\"transformers-2026\"")]);
    let axolotl = "base_model: Qwen/Qwen3-8B\nmicro_batch_size: 1\nsequence_len: 4096\nbf16: true\nplugins:\n  \
        - axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin\n";
    folder::check(&launch(axolotl), &[("plan.software", "\"transformers-2026+fused-loss\"")]);
    let off = format!("{axolotl}cut_cross_entropy: false\n");
    folder::check(&launch(&off), &[("plan.software", "\"transformers-2026\"")]);
}

/// slime's flag for sequences and MindSpeed's for schedules are not ignored.
#[test]
fn flags_of_programs_on_megatron_have_their_meaning() {
    let flags = "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 8192 --max-position-embeddings 8192 \
        --micro-batch-size 1 --global-batch-size 64 --bf16 --context-parallel-size 2 --pipeline-model-parallel-size 2";
    let slime = format!(
        "#!/bin/bash\npython3 train.py --actor-num-nodes 4 --actor-num-gpus-per-node 8 --rollout-batch-size 8 \
         --allgather-cp {flags}\n"
    );
    folder::check(&launch(&slime), &[("plan.context_kind", "\"all_gather\"")]);
    let speed = format!(
        "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_gpt.py {flags} --schedules-method dualpipev\n"
    );
    let read = launch(&speed);
    let listed =
        read.remarks_of(RemarkKind::NotModelled).any(|remark| remark.source.contains("--schedules-method"));
    assert!(listed, "{:?}", read.remarks);
}
