//! Causes of silent errors, of missing settings and of poor messages in an unseen draw of public launch
//! files (twenty-second, November 2026), each with a text of its own.

use crate::folder;
use crate::remarks;
use folder::Folder as Own;
use railwright_launch::{Context, Launch, RemarkKind, read_with};
use remarks::has;

/// A script of Megatron with `words` before its flags, and `flags` after those of a small model.
fn megatron(before: &str, flags: &str) -> String {
    format!(
        "#!/bin/bash\n{before} --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 \
         --max-position-embeddings 1024 --vocab-size 32000 --micro-batch-size 1 --global-batch-size 8 --bf16 {flags}\n"
    )
}

fn is_open(read: &Launch, key: &str) -> bool {
    read.open.iter().any(|open| open.key == key)
}

/// A script that starts a program with one configuration after the other has several runs.
#[test]
fn loops_over_configurations_are_reported() {
    let text = "#!/bin/bash\nfor length in 2048 4096; do\n  for kind in a b; do\n    python train.py --config conf_${length}_${kind}.yaml\n  done\ndone\n";
    let settings = "model_name: llama-3-8b\nmax_seq_len: 2048\nmicro_batch_size: 2\nmixed_precision: bf16\nlearning_rate: 1e-4\n";
    let settings: &'static str = settings;
    let files: &'static [(&'static str, &'static str)] =
        Box::leak(Box::new([("conf_2048_a.yaml", settings)]));
    let read = folder::read(text, "run.sh", files);
    folder::check(&read, &[("plan.sequence_length", "2048"), ("plan.micro_batch", "2")]);
    for (what, iterations) in [("for length", 2), ("for kind", 2)] {
        let message = format!("the first of {iterations} iterations is used");
        let found = read.remarks.iter().any(|remark| remark.source == what && remark.message == message);
        assert!(found, "{what}: {:?}", read.remarks);
    }
}

/// A comment or an empty line ends a continued command: what follows is not its argument.
#[test]
fn arguments_after_a_comment_are_reported() {
    let before = "#!/bin/bash\nCUDA_VISIBLE_DEVICES=0 llamafactory-cli train \\\n --stage sft \\\n --model_name_or_path Qwen/Qwen3-8B \\\n \
        --finetuning_type full --cutoff_len 2048 \\\n";
    let cut = " # --learning_rate 1e-4 \\\n --per_device_train_batch_size 4 \\\n --bf16 true\n";
    let read = folder::read(&format!("{before}{cut}"), "run.sh", &[]);
    let why = "a comment or an empty line ends the command above it";
    assert!(has(&read, RemarkKind::Unresolved, why), "{:?}", read.remarks);
    assert_ne!(folder::value(&read, "plan.micro_batch"), "4");
    let whole = folder::read(&format!("{before} --per_device_train_batch_size 4 \n"), "run.sh", &[]);
    assert!(!has(&whole, RemarkKind::Unresolved, why), "{:?}", whole.remarks);
    let overrides = "#!/bin/bash\npython3 -m MaxText.train MaxText/configs/base.yml model_name=llama2-7b \\\n per_device_batch_size=2 \\\n \
        # steps=10 \\\n dtype=bfloat16 \\\n weight_dtype=bfloat16\n";
    let read = folder::read(overrides, "run.sh", &[]);
    assert!(has(&read, RemarkKind::Unresolved, why), "{:?}", read.remarks);
}

/// The class of gradients in an override of another file: its precision replaces this one's.
#[test]
fn reduced_gradients_of_an_override() {
    let of = |value: &str| {
        let text = format!(
            "model:\n  seq_length: 4096\ntrain:\n  train_iters: 20\n  global_batch_size: 8\n  micro_batch_size: 1\nddp:\n  \
             grad_reduce_in_fp32: {value}\n"
        );
        folder::read(&text, "override.yaml", &[])
    };
    let keys = ["plan.precision.gradients", "plan.precision.gradient_reduce"];
    assert_eq!(keys.map(|key| folder::value(&of("true"), key)), ["\"fp32\""; 2]);
    let off = of("false");
    assert_eq!(keys.map(|key| folder::value(&off, key)), ["open"; 2]);
    assert!(has(&off, RemarkKind::Unresolved, "grad_reduce_in_fp32"), "{:?}", off.remarks);
}

/// The model of a reward trainer is its critic.
#[test]
fn rl2_trains_a_critic_as_reward_model() {
    let text = "torchrun --nproc_per_node=4 -m RL2.trainer.rm data.path=a data.max_length=2048 \
        critic.model_name=meta-llama/Llama-3.1-8B-Instruct critic.max_length_per_device=8192\n";
    let read = folder::read(text, "rm.sh", &[]);
    folder::check(&read, &[("model.name", "\"llama-3-8b\""), ("plan.micro_batch", "4")]);
    assert!(!has(&read, RemarkKind::NotModelled, "further trained model"), "{:?}", read.remarks);
    let ppo = "torchrun --nproc_per_node=4 -m RL2.trainer.ppo actor.model_name=Qwen/Qwen2.5-7B \
        critic.model_name=Qwen/Qwen2.5-7B\n";
    let read = folder::read(ppo, "ppo.sh", &[]);
    assert!(has(&read, RemarkKind::NotModelled, "further trained model"), "{:?}", read.remarks);
}

/// InternEvo's configurations of Hugging Face models have no dimensions.
#[test]
fn models_of_internevo_in_another_file() {
    let of = |kind: &str| {
        let text = format!(
            "model_type = \"{kind}\"\ndata = dict(\n    seq_len=2048,\n    micro_num=4,\n    micro_bsz=2,\n)\n\
             hybrid_zero_optimizer = dict(\n    overlap_sync_grad=True,\n)\nmodel = dict(\n    checkpoint=True,\n    \
             dtype=\"torch.bfloat16\",\n)\nparallel = dict(\n    zero1=dict(size=-1),\n    tensor=dict(size=1, mode=\"mtp\"),\n)\n"
        );
        folder::read(&text, "config.py", &[])
    };
    let unknown = of("huggingface_own_7b");
    assert!(is_open(&unknown, "model.name"), "{:?}", unknown.open);
    assert_eq!(folder::value(&unknown, "model.tied"), "open");
    folder::check(&of("huggingface_llama_2_7b"), &[("model.name", "\"llama-2-7b\"")]);
}

/// A fork of NeMo-RL has further kinds of workers.
#[test]
fn workers_that_nemo_rl_lacks_are_named() {
    let text = "policy:\n  model_name: Qwen/Qwen3-4B\n  train_global_batch_size: 64\n  train_micro_batch_size: 2\n  \
        max_total_sequence_length: 1024\n  precision: bfloat16\n  dtensor_cfg:\n    enabled: false\n  own_cfg:\n    enabled: true\n    \
        tensor_parallel_size: 2\ncluster:\n  gpus_per_node: 8\n  num_nodes: 1\n";
    let read = folder::read(text, "run.yaml", &[]);
    assert!(is_open(&read, "plan.tensor_parallel"), "{:?}", read.open);
    assert!(has(&read, RemarkKind::Unresolved, "selects `own_cfg`"), "{:?}", read.remarks);
}

/// Processes of ms-swift with several devices each are not replicas on one device.
#[test]
fn processes_of_ms_swift_share_the_visible_devices() {
    let of = |processes: u64| {
        let text = format!(
            "CUDA_VISIBLE_DEVICES=0,1,2,3 \\\nNPROC_PER_NODE={processes} \\\nswift sft --model Qwen/Qwen3-8B --train_type lora \\\n \
             --per_device_train_batch_size 2 --max_length 2048 --torch_dtype bfloat16\n"
        );
        folder::read(&text, "run.sh", &[])
    };
    folder::check(&of(4), &[("cluster.devices", "4")]);
    let shared = of(2);
    assert!(is_open(&shared, "cluster.devices"), "{:?}", shared.open);
    assert!(
        has(&shared, RemarkKind::Unresolved, "4 visible devices for 2 processes"),
        "{:?}",
        shared.remarks
    );
}

/// A program on TRL may have a switch of its own for adapters.
#[test]
fn switches_of_programs_on_trl_train_adapters() {
    let of = |switch: &str| {
        let text = format!(
            "model_name_or_path: Qwen/Qwen3-8B\n{switch}lora_r: 16\nlora_alpha: 32\ntarget_modules: all-linear\noptim: adamw_torch\n\
             learning_rate: 5.0e-6\nbeta: 0.01\nper_device_train_batch_size: 1\nmax_length: 4096\nbf16: true\noutput_dir: ./outputs\n"
        );
        folder::read(&text, "dpo.yaml", &[])
    };
    let own = of("peft_enabled: true\n");
    folder::check(&own, &[("plan.optimizer", "\"lora\""), ("plan.lora_rank", "16")]);
    assert!(has(&own, RemarkKind::Assumed, "not a key of TRL"), "{:?}", own.remarks);
    folder::check(&of("use_peft: false\n"), &[("plan.optimizer", "\"adam\"")]);
}

/// PyTorch's variable counts the ranks of a job, unless a launcher starts others.
#[test]
fn ranks_beside_an_unknown_launcher_are_an_assumption() {
    let of = |before: &str| folder::read(&megatron(before, ""), "run.sh", &[]);
    let variables = "export RANK=0 WORLD_SIZE=4\n";
    let own = of(&format!("{variables}own_launcher --gpus 8 python pretrain_gpt.py"));
    folder::check(&own, &[("cluster.devices", "4")]);
    assert!(has(&own, RemarkKind::Assumed, "`own_launcher` may start other ranks"), "{:?}", own.remarks);
    let bare = of(&format!("{variables}python pretrain_gpt.py"));
    folder::check(&bare, &[("cluster.devices", "4")]);
    assert!(!has(&bare, RemarkKind::Assumed, "may start other ranks"), "{:?}", bare.remarks);
}

/// Parts of a family that no flag sets are in the program's code.
#[test]
fn a_program_of_a_family_has_no_default_for_parts_without_flags() {
    let of = |flags: &str| {
        let text = megatron("torchrun --nproc_per_node 8 pretrain_llama.py", flags);
        let read = folder::read(&text, "run.sh", &[]);
        ["model.gated_mlp", "model.norm", "model.position", "model.tied"].map(|key| folder::value(&read, key))
    };
    assert_eq!(of("--swiglu"), ["true", "open", "open", "open"]);
    let whole = "--swiglu --normalization RMSNorm --use-rotary-position-embeddings";
    assert_eq!(of(whole), ["true", "\"rms_norm\"", "\"rotary\"", "true"]);
}

/// Megatron reads one entry of the list for each layer.
#[test]
fn windows_of_gpt_oss_have_an_entry_for_each_layer() {
    let of = |list: &str| {
        let flags = format!(
            "--num-experts 8 --moe-router-topk 4 --moe-ffn-hidden-size 512 --quick-geglu --softmax-type learnable --normalization RMSNorm \
             --position-embedding-type rope --activation-func-clamp-value 7.0 --window-size 127,0 --window-attn-skip-freq {list}"
        );
        folder::read(&megatron("torchrun --nproc_per_node 8 pretrain_gpt.py", &flags), "run.sh", &[])
    };
    assert!(!is_open(&of("'([1,0]*12)'"), "model.name"));
    let short = of("'([1,0]*6)'");
    assert!(is_open(&short, "model.name"), "{:?}", short.open);
    assert!(has(&short, RemarkKind::Unresolved, "12 entries for 24 layers"), "{:?}", short.remarks);
    let long = of("'([1,0]*18)'");
    assert!(!is_open(&long, "model.name"), "{:?}", long.open);
    assert!(has(&long, RemarkKind::Assumed, "36 entries for 24 layers"), "{:?}", long.remarks);
}

/// A configuration made by `envsubst` has the values that the command inherits.
#[test]
fn values_of_a_template_are_those_of_its_time() {
    let script = "#!/bin/bash\nexport MODEL=Qwen/Qwen3-8B SEQ=4096\nMBS=2\nenvsubst < run.tmpl > run.yaml\nexport SEQ=8192\naxolotl train run.yaml\n";
    let template: &'static str = "base_model: ${MODEL}\nsequence_len: $SEQ\nmicro_batch_size: 1\ngradient_accumulation_steps: 4\nbf16: true\n";
    let files: &'static [(&'static str, &'static str)] = Box::leak(Box::new([("run.tmpl", template)]));
    let read = folder::read(script, "run.sh", files);
    folder::check(&read, &[("model.name", "\"qwen3-8b\""), ("plan.sequence_length", "4096")]);
    assert!(!has(&read, RemarkKind::Unknown, "`SEQ`"), "{:?}", read.remarks);
    // What the script does not export is no value of the template.
    let own: &'static str = Box::leak(template.replace("size: 1", "size: $MBS").into_boxed_str());
    let files: &'static [(&'static str, &'static str)] = Box::leak(Box::new([("run.tmpl", own)]));
    let files = Own(files);
    let context = Context { files: Some(&files), ..Context::default() };
    let problems = read_with(script, "run.sh", &context).expect("a launch file").expect_err("no value");
    assert!(problems.iter().any(|problem| problem.to_string().contains("$MBS")), "{problems:?}");
}
