//! Matrices in four bits: each GEMM first restores its matrix.
//!
//! Responsible for: the traffic of these kernels on one rank. Excludes the memory of a restored matrix, which
//! is that of the largest one.

use super::products::{Product, family, joined};
use super::{Kernel, Operation};
use crate::costing::Costing;
use crate::work::Family;
use railwright_spec::model::{Layer, Weight};
use railwright_spec::plan::NF4_BYTES;
use railwright_spec::quantity::Bytes;
use railwright_step::Phase;

/// Visits the kernels that restore the matrices of a layer, forward and for the gradients of inputs. None if
/// no matrix is in four bits.
///
/// A kernel reads a matrix and writes it in the format of activations: `bytes = n k (0.5625 + a)`.
/// (bitsandbytes, `MatMul4Bit`: a dequantization in front of a GEMM, in both passes.)
pub(super) fn visit(costing: &Costing<'_>, layer: &Layer, visit: &mut impl FnMut(Operation<'_>)) {
    let plan = costing.plan;
    if !plan.has_nf4_weights() {
        return;
    }
    let (routed, dense): (Vec<&Weight>, Vec<&Weight>) = layer
        .weights
        .iter()
        .filter(|weight| plan.holds_in_nf4(weight))
        .partition(|weight| weight.is_routed());
    let mut one = |product: &Product<'_>, family: Family, copies: f64| {
        let elements = product.rows * product.columns * copies;
        let kernel = Kernel::Stream {
            bytes: Bytes::new(elements * (NF4_BYTES + costing.activation_bytes)),
            derived: None,
        };
        for phase in [Phase::Forward, Phase::BackwardInput] {
            visit(Operation::new(family, phase, kernel, copies).named("restore"));
        }
    };
    for product in joined(dense, plan.tensor_parallel as f64) {
        one(&product, family(product.module), 1.0);
    }
    let experts = routed.first().map_or(0, |weight| weight.copies);
    let local = (experts as f64 / plan.expert_parallel as f64).max(1.0);
    for product in joined(routed, plan.expert_tensor_parallel as f64) {
        one(&product, Family::Experts, local);
    }
}
