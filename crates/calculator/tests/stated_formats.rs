//! Number formats that the notes of a measured run state.

use railwright_calculator::validation::cases;
use railwright_spec::plan::Precision;
use railwright_spec::precision::DataType;

/// Formats of one run with these notes.
fn formats(notes: &str) -> Precision {
    let text = format!(
        "model_name,gpu,n_gpus,gpus_per_node,dtype,dp,tp,pp,micro_batch,global_batch_seqs,seq_len,measured_step_time_s,framework,notes\n\
         llama-3-8b,H100-80G-SXM,8,8,bf16,8,1,1,1,64,4096,10.0,Megatron-Bridge/Megatron-Core,{notes}\n"
    );
    let (_, case) = cases(&text, "runs.csv").expect("a table").into_iter().next().expect("a row");
    case.expect("predictable").plan.precision
}

/// Recipes with a precision-aware optimizer keep gradients and moments in 16 bits, but master weights in
/// fp32.
#[test]
fn gradients_and_moments_of_sixteen_bits_keep_their_master_weights() {
    let plain = formats("none");
    let stated = formats("bf16 gradients and moments (the recipe)");
    assert_eq!((stated.gradients, stated.moments), (DataType::Bf16, DataType::Bf16));
    assert_eq!(stated.gradient_reduce, DataType::Bf16);
    assert_eq!((plain.moments, stated.master), (DataType::Fp32, plain.master));
    assert!(plain.master.is_some());
}
