//! Number formats of NeMo Automodel: weights of the checkpoint, copies and moments of the optimizer.

use crate::RemarkKind;
use crate::fields::Fields;
use railwright_spec::plan::{Master, PrecisionPreset};
use railwright_spec::precision::DataType;

/// Weights are kept in the format of the checkpoint, mostly bfloat16, without 32-bit copies, unless
/// `torch_dtype` is float32; gradients are reduced in float32 (`FSDP2Config.mp_policy`).
pub(super) fn read(fields: &mut Fields<'_>) {
    let path = "model.torch_dtype";
    let word = fields.word(path).map(|word| word.to_ascii_lowercase());
    let is_wide = word.as_deref().is_some_and(|word| word.contains("float32") || word.contains("fp32"));
    let reduce = "distributed.mp_policy.reduce_dtype";
    let narrow = fields.word(reduce).is_some_and(|word| word.contains("bfloat16") || word.contains("bf16"));
    fields.default("plan.precision.preset", &PrecisionPreset::Bf16, "FSDP 2 computes in bfloat16 by default");
    let format = if narrow { DataType::Bf16 } else { DataType::Fp32 };
    if fields.document.get(reduce).is_some() {
        fields.set("plan.precision.gradient_reduce", &format, reduce);
    } else {
        fields.default(
            "plan.precision.gradient_reduce",
            &format,
            "gradients are reduced in float32 by default",
        );
    }
    let fp8 = ["fp8.enabled", "fp8.enable"].into_iter().find(|path| fields.flag(path) == Some(true));
    if let Some(path) = fp8 {
        fields.set("plan.precision.compute", &DataType::Fp8, path);
    }
    // 32-bit weights, gathered in 16 bits, as of torchtitan.
    if is_wide {
        return;
    }
    let why = "weights have the format of the checkpoint, assumed bfloat16";
    for key in ["plan.precision.parameters", "plan.precision.gradients"] {
        fields.default(key, &DataType::Bf16, why);
    }
    // Transformer Engine's optimizer has copies and moments of its own.
    let moments = fields.word("optimizer.exp_avg_dtype").filter(|word| word.contains("bfloat16"));
    let copies = fields.flag("optimizer.master_weights") == Some(true);
    let is_fused = fields
        .document
        .get("optimizer._target_")
        .is_some_and(|entry| entry.data.plain().contains("transformer_engine"));
    if copies {
        fields.set("plan.precision.master", &Master(Some(DataType::Fp32)), "optimizer.master_weights");
        if fields.flag("optimizer.store_param_remainders") == Some(true) {
            let message = "copies are estimated in 32 bits instead of 16, an upper bound on memory";
            fields.remark(RemarkKind::NotModelled, "optimizer.store_param_remainders", message);
        }
    } else {
        fields.default("plan.precision.master", &Master(None), why);
    }
    match moments {
        Some(_) => fields.set("plan.precision.moments", &DataType::Bf16, "optimizer.exp_avg_dtype"),
        None if is_fused => {
            fields.default("plan.precision.moments", &DataType::Fp32, "Transformer Engine's optimizer");
        }
        None => fields.default(
            "plan.precision.moments",
            &DataType::Bf16,
            "PyTorch's optimizers follow the weights",
        ),
    }
}
