//! Overlap of scripts without its switches.

use super::{example, value};
use crate::Format;

/// A script without switches of overlap has that of the framework's arguments, as the catalogue of software
/// describes them.
#[test]
fn silent_overlap_is_that_of_the_arguments() {
    let text = "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 \
                --num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 --vocab-size 32000 --bf16 --swiglu \
                --tensor-model-parallel-size 2 --sequence-parallel --micro-batch-size 1 --global-batch-size 64";
    let launch = example(text, Format::MegatronCommand);
    let core = railwright_spec::software::by_id("megatron-core-2025").expect("known");
    let arguments = core.overlap_of_arguments.expect("recipes differ from them");
    for (key, own) in [
        ("plan.overlap.gradient_reduce", arguments.gradient_reduce),
        ("plan.overlap.parameter_gather", arguments.parameter_gather),
        ("plan.overlap.tensor", arguments.tensor),
        ("plan.overlap.expert", arguments.expert),
    ] {
        assert_eq!(value(&launch, key), own.to_string(), "{key}");
    }
}
