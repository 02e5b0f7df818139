//! What is written is read back, whole; and what each carrier of a launch says.

use super::FlagsWriter;
use crate::{Writer, testing};
use proptest::prelude::*;

/// What Megatron-LM has a word for: nothing of it may be lost.
const EXPRESSIBLE: &[&str] = &[
    "plan.schedule=1f1b",
    "plan.sharding=zero1",
    "plan.precision.preset=bf16",
    "plan.precision.gradient_reduce=fp32",
    "plan.overlap.pipeline=false",
    "plan.overlap.parameter_gather=false",
    "plan.overlap.tensor=false",
    "plan.recompute=selective:core_attention,mlp",
    "plan.sequence_parallel=true",
    "plan.uneven_stages=false",
];

/// Keys that may be lost at all.
const MAY_BE_LOST: &[&str] = &[
    "plan.schedule",
    "plan.overlap.pipeline",
    "plan.overlap.parameter_gather",
    "plan.overlap.gradient_reduce",
    "plan.overlap.tensor",
    "plan.sharding",
    "plan.recompute",
    "plan.precision.gradients",
    "plan.precision.gradient_reduce",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back(run in testing::run(testing::MODELS, &[])) {
        prop_assert_eq!(testing::round_trip(&FlagsWriter, &run), Ok(()));
        for lost in FlagsWriter.write(&run).not_expressed {
            prop_assert!(MAY_BE_LOST.contains(&lost.key.as_str()), "{:?}", lost);
        }
    }

    #[test]
    fn nothing_is_lost_that_megatron_has(run in testing::run(testing::MODELS, EXPRESSIBLE)) {
        prop_assert_eq!(testing::round_trip(&FlagsWriter, &run), Ok(()));
        let lost: Vec<_> = FlagsWriter.write(&run).not_expressed;
        prop_assert!(lost.is_empty(), "{:?}", lost);
    }
}
