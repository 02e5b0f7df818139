//! Matrix products in float32.
//!
//! Responsible for: products that do not use tensor cores, or use them at the rate of TF32, by the names of kernels. Refuses products of unknown format.

use super::{Context, Rule, percent};
use crate::profile::Finding;
use railwright_spec::cluster::accelerator_by_name;
use railwright_spec::precision::DataType;
use railwright_step::OperatorFamily;

pub(super) struct Float32;

fn is_float32(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["sgemm", "f32f32_f32f32", "gemm_f32f32", "_tf32", "tf32tf32", "s1688gemm", "simt_s"]
        .iter()
        .any(|word| name.contains(word))
        && !name.contains("bf16")
        && !name.contains("f16f16")
}

/// What the chip offers instead.
fn advice(context: &Context<'_>) -> &'static str {
    let names = context.job.members.iter().flat_map(|member| &member.trace.identity.devices);
    let mut known = names.filter_map(|device| accelerator_by_name(&device.name).ok());
    match known.next().map(|accelerator| accelerator.peak) {
        Some(peak) if !peak.contains_key(&DataType::Bf16) && peak.contains_key(&DataType::Fp16) => {
            "run them in fp16 with loss scaling: this chip has no bf16 and no TF32"
        }
        _ => "run them in bf16, or at least allow TF32",
    }
}

impl Rule for Float32 {
    fn id(&self) -> &'static str {
        "float32-products"
    }

    fn title(&self) -> &'static str {
        "GEMMs in float32"
    }

    fn text(&self) -> &'static str {
        "Kernels with float32 or TF32 in their name. Reported if they take 2 % of the step. Cost: half of \
         their time. 16-bit formats have at least twice the rate of TF32, and 8 to 16 times that of float32 \
         without tensor cores.\n\n\
         Remedies: autocast for the remaining modules (often routers, heads, losses and rotary embeddings), \
         unless they need float32."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let (wide, all) = context
            .arithmetic(|kernel, name| kernel.family == OperatorFamily::MatrixProduct && is_float32(name));
        if context.share(all) < 0.02 {
            return Vec::new();
        }
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("float32 GEMMs take {} of the step", percent(context.share(all))),
            cost: Some(all / 2.0),
            evidence: context.dearest(wide, 3),
            advice: advice(context).to_owned(),
            ..Finding::default()
        }]
    }
}
