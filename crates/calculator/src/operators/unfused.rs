//! Attention that writes its scores to memory.
//!
//! Responsible for: its composition of batched GEMMs and passes over the score matrix. Masks save no work:
//! the full square is computed and masked, as in those kernels.

use super::attention::AttentionShape;
use super::cost::{Cost, Pass};
use railwright_spec::precision::DataType;
use railwright_spec::quantity::Bytes;

/// Bytes per score moved by kernels between the two GEMMs.
///
/// With 16 bits. Forward, fused scale-mask-softmax: read 2, write 2. Separate: scale and mask read and write
/// 2 each, then softmax in 32 bits with casts around it (read 2 write 4, read 4 write 4, read 4 write 2): 28.
/// Dropout: read 2, write 2 and a 1-byte mask. Backward of softmax reads probabilities and their gradient and
/// writes one: 6 fused, 24 separate; of dropout 5. With 32 bits no cast is needed: forward fused 4 + 4;
/// separate three kernels of 4 + 4 each; backward 3 x 4 fused, 2 x 4 more for each of scale and mask if
/// separate; dropout 4 + 4 + 1.
fn bytes_per_score(fused_softmax: bool, dropout: bool, format: DataType, pass: Pass) -> [f64; 2] {
    if format.bytes() > 2.0 {
        let softmax = match (pass, fused_softmax) {
            (Pass::Forward, true) => 8.0,
            (Pass::Forward, false) => 24.0,
            (_, true) => 12.0,
            (_, false) => 28.0,
        };
        return [softmax, if dropout { 9.0 } else { 0.0 }];
    }
    let softmax = match (pass, fused_softmax) {
        (Pass::Forward, true) => 4.0,
        (Pass::Forward, false) => 28.0,
        (_, true) => 6.0,
        (_, false) => 24.0,
    };
    [softmax, if dropout { 5.0 } else { 0.0 }]
}

/// Cost of the GEMM of all heads of m, n, k.
type Product<'a> = &'a dyn Fn(f64, f64, f64) -> Cost;
/// Cost of a kernel that moves bytes.
type Stream<'a> = &'a dyn Fn(Bytes) -> Cost;

/// Forward: S = Q K', softmax, dropout, O = P V. Backward: dP = dO V', dV = P' dO, softmax, dQ = dS K, dK =
/// dS' Q.
pub(super) fn cost(
    (product, stream): (Product<'_>, Stream<'_>),
    shape: &AttentionShape,
    (fused_softmax, dropout): (bool, bool),
    format: DataType,
    pass: Pass,
) -> Cost {
    let heads = shape.batch * shape.heads;
    let (queries, keys) = (shape.query_length, shape.key_length);
    let scores = product(queries, keys, shape.head_dim);
    let mixed = product(queries, shape.value_dim, keys);
    let products = match pass {
        Pass::Forward => scores + mixed,
        _ => {
            product(queries, keys, shape.value_dim)
                + product(keys, shape.value_dim, queries)
                + product(queries, shape.head_dim, keys)
                + product(keys, shape.head_dim, queries)
        }
    };
    let passes = bytes_per_score(fused_softmax, dropout, format, pass);
    passes.into_iter().fold(products, |sum, bytes| sum + stream(Bytes::new(heads * queries * keys * bytes)))
}
