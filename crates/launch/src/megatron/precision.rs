//! Number formats, as Megatron's flags choose them.
//!
//! Responsible for: Megatron's rules (fp32 by default; bf16 accumulates in fp32 unless reduced in bf16).
//! Excludes formats of individual layers.

use super::filler::Filler;
use crate::{Format, RemarkKind};
use railwright_spec::plan::{Master, PrecisionPreset};
use railwright_spec::precision::DataType;

/// Reads every format.
pub(crate) fn read(f: &mut Filler<'_>) {
    let (sixteen, base) = if f.arguments.is_on("bf16") {
        (Some(DataType::Bf16), "bf16")
    } else if f.arguments.is_on("fp16") {
        (Some(DataType::Fp16), "fp16")
    } else {
        (None, "bf16")
    };
    if f.arguments.is_on("bf16") && f.arguments.is_on("fp16") {
        f.remark(RemarkKind::Conflict, "fp16", "combined with `--bf16`, which Megatron rejects; using bf16");
    }
    let preset = match sixteen {
        Some(DataType::Fp16) => PrecisionPreset::Fp16,
        Some(_) => PrecisionPreset::Bf16,
        None => PrecisionPreset::Fp32,
    };
    f.set("plan.precision.preset", &preset, base);
    if let Some((narrow, field)) = narrow(f) {
        f.set("plan.precision.compute", &narrow, field);
    }
    if f.arguments.is_on("fp8_param_gather") {
        f.set("plan.precision.parameters", &DataType::Fp8, "fp8_param_gather");
    }
    if let Some(sixteen) = sixteen {
        gradients(f, sixteen);
    }
    states(f);
}

fn narrow(f: &Filler<'_>) -> Option<(DataType, &'static str)> {
    if f.arguments.get("fp4").is_some() {
        return Some((DataType::Nvfp4, "fp4"));
    }
    let field = ["fp8", "fp8_e4m3", "fp8_hybrid"].into_iter().find(|name| match *name {
        "fp8" => f.arguments.get(name).is_some(),
        _ => f.arguments.is_on(name),
    })?;
    match f.arguments.word("fp8_recipe").map(|word| word.rsplit('.').next().unwrap_or(word)) {
        Some("mxfp8") => Some((DataType::Mxfp8, "fp8_recipe")),
        _ => Some((DataType::Fp8, field)),
    }
}

/// A format after a flag, `torch.bfloat16` or `bf16`.
fn format(f: &Filler<'_>, name: &str) -> Option<DataType> {
    let word = f.arguments.word(name)?;
    DataType::from_name(word.rsplit('.').next().unwrap_or(word))
}

fn gradients(f: &mut Filler<'_>, sixteen: DataType) {
    const WIDE: &str = "accumulate_allreduce_grads_in_fp32";
    let main = format(f, "main_grads_dtype").filter(|main| *main != DataType::Fp32);
    // `validate_args` and `validate_yaml` accumulate bf16 in fp32, also with `False` in a configuration
    // (Megatron-LM 2021 to 2026, `megatron/training/arguments.py`, `yaml_arguments.py`). A dump is
    // printed later, and contains the result.
    let is_result = f.draft.format() == Format::MegatronLog;
    let given = f.arguments.switch(WIDE).filter(|wide| *wide || is_result || sixteen != DataType::Bf16);
    let is_wide = given.unwrap_or(sixteen == DataType::Bf16 && main.is_none());
    let (gradients, field) = match main {
        _ if f.arguments.is_on("grad_reduce_in_bf16") => (DataType::Bf16, "grad_reduce_in_bf16"),
        _ if is_wide => (DataType::Fp32, WIDE),
        Some(main) => (main, "main_grads_dtype"),
        None => (sixteen, WIDE),
    };
    f.set("plan.precision.gradients", &gradients, field);
    f.set("plan.precision.gradient_reduce", &gradients, field);
}

/// Master weights and moments, which only the precision-aware optimizer keeps in formats other than fp32.
fn states(f: &mut Filler<'_>) {
    if !f.arguments.is_on("use_precision_aware_optimizer") {
        return;
    }
    if let Some(master) = format(f, "main_params_dtype").filter(|master| *master != DataType::Fp32) {
        f.set("plan.precision.master", &Master(Some(master)), "main_params_dtype");
    }
    let first = format(f, "exp_avg_dtype").unwrap_or(DataType::Fp32);
    let second = format(f, "exp_avg_sq_dtype").unwrap_or(DataType::Fp32);
    f.set("plan.precision.moments", &first, "exp_avg_dtype");
    if first != second {
        let message = format!("the second moment is assumed to be in {first}, like the first");
        f.remark(RemarkKind::NotModelled, "exp_avg_sq_dtype", message);
    }
}
