//! Training without 32-bit copies: LitGPT's `bf16-true`, LLaMA-Factory's `pure_bf16`, verl's `model_dtype`.
//!
//! Responsible for: the formats of weights, gradients and moments of such a run. Reads no configuration.

use crate::fields::Fields;
use railwright_spec::plan::Master;
use railwright_spec::precision::DataType;

/// Weights, gradients and moments in the format of computation: PyTorch's optimizers keep moments in the
/// format of their parameters.
pub(crate) fn pure(fields: &mut Fields<'_>, path: &str, format: DataType, reduce: DataType) {
    for key in ["plan.precision.parameters", "plan.precision.gradients", "plan.precision.moments"] {
        fields.set(key, &format, path);
    }
    fields.set("plan.precision.gradient_reduce", &reduce, path);
    fields.set("plan.precision.master", &Master(None), path);
}
