//! Software generations of scripts: inferred, kept by a comment, and written.

use super::{example, value};
use crate::megatron::FlagsWriter;
use crate::{Format, Writer, testing};

/// Flags that every later version has date a script only together with flags that it lost.
#[test]
fn kept_flags_of_2022_alone_date_nothing() {
    let script = |flags: &str| {
        let text = format!(
            "torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 8 --num-layers 32 --hidden-size 4096 \
             --num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 --global-batch-size 128 {flags}"
        );
        value(&example(&text, Format::MegatronCommand), "plan.software")
    };
    assert_eq!(script("--sequence-parallel --recompute-granularity selective"), "-");
    assert_eq!(script("--checkpoint-activations"), "\"megatron-lm-2021\"");
    assert_eq!(script("--checkpoint-activations --sequence-parallel"), "\"megatron-lm-2022\"");
    assert_eq!(script("--sequence-parallel --recompute-modules core_attn"), "\"megatron-core-2025\"");
}

/// A comment below the interpreter's line keeps the generation, in scripts and in files of flags.
#[test]
fn a_comment_keeps_the_generation() {
    let script = include_str!("../../../../../examples/launch/gpt3_175b_2022.sh");
    let kept = crate::annotation::with_software(script, "megatron-core-2024");
    assert!(
        kept.starts_with("#! /bin/bash\n# railwright: plan.software = \"megatron-core-2024\"\n#"),
        "{kept}"
    );
    assert_eq!(value(&example(&kept, Format::MegatronScript), "plan.software"), "\"megatron-core-2024\"");
    let flags = "MODEL_ARGS:\n  --num-layers: 32\n  --hidden-size: 4096\n  --num-attention-heads: 32\n  --seq-length: 4096\n  \
                 --micro-batch-size: 1\n  --global-batch-size: 128\n  --recompute-modules: core_attn\n";
    let launch = example(flags, Format::MegatronArgsYaml);
    assert_eq!(value(&launch, "plan.software"), "\"megatron-core-2025\"");
    let launch =
        example(&crate::annotation::with_software(flags, "megatron-core-2024"), Format::MegatronArgsYaml);
    assert_eq!(value(&launch, "plan.software"), "\"megatron-core-2024\"");
}

/// A plan priced with another framework's software is a run of Megatron-LM's own, and listed as such.
#[test]
fn scripts_claim_only_generations_of_megatron() {
    for (preset, foreign, native) in [
        ("dgx-h100", "torchtitan-2025", "megatron-core-2025"),
        ("tpu-v5p-pod", "maxtext-tpu", "megatron-core-2025"),
        ("gb200-nvl72", "torchtitan-2025", "megatron-core-2026-06"),
        ("dgx-h100", "megatron-core-2024", "megatron-core-2024"),
    ] {
        let run = testing::resolved(&[
            "model.name=llama-3-8b".to_owned(),
            format!("cluster.preset={preset}"),
            "cluster.devices=64".to_owned(),
            "plan.tensor_parallel=1".to_owned(),
            "plan.pipeline_parallel=1".to_owned(),
            format!("plan.software={foreign}"),
        ])
        .expect("a run");
        for writer in [&FlagsWriter as &dyn Writer, &crate::nemo::BridgeWriter] {
            let written = writer.write(&run);
            let text = &written.files[0].text;
            assert!(text.contains(&format!("# railwright: plan.software = \"{native}\"")), "{text}");
            let is_listed = written.not_expressed.iter().any(|lost| lost.key == "plan.software");
            assert_eq!(is_listed, foreign != native, "{:?}", written.not_expressed);
        }
    }
}
