//! Matrix products of shapes that tensor cores do not like.
//!
//! Responsible for: products whose dimensions are no multiples of 8, by the operator that launched them. Refuses products without recorded shapes.

use super::{Context, Rule, percent};
use crate::profile::Finding;
use crate::roofline::{contracts, tidy};
use crate::trace::{HostKind, NONE};
use railwright_step::OperatorFamily;
use std::collections::BTreeMap;

pub(super) struct Shapes;

/// Elements of 2 bytes that a tensor core loads at once: dimensions should be multiples.
const MULTIPLE: u64 = 8;
/// What a product of such a shape loses, as a share: alignment of 16 bytes against none on A100 and H100 (measured by vendors between 1.2 and 4 times; the lower end is taken).
const LOSS: f64 = 0.2;

/// The dimensions in `[[4096, 5001], [5001, 1024]]`.
fn dimensions(shapes: &str) -> Vec<u64> {
    shapes.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

/// The dimensions of each input.
fn inputs(shapes: &str) -> impl Iterator<Item = Vec<u64>> {
    shapes.split('[').map(dimensions).filter(|input| !input.is_empty())
}

/// Whether a product of these inputs has an awkward dimension. A dimension of 1 is no product's, it is a vector's. Of a convolution the channels are what tensor
/// cores load (NVIDIA, "Convolutional Layers User's Guide": channels in multiples of 8); heights, widths and the kernel's size are not, and pictures have 3 or 4 channels.
fn awkward(shapes: &str) -> bool {
    let is_awkward = |d: u64| d > 1 && !d.is_multiple_of(MULTIPLE);
    if inputs(shapes).any(|input| input.len() >= 4 && is_convolution(shapes)) {
        return inputs(shapes)
            .filter(|input| input.len() >= 4)
            .any(|input| input[1] > 4 && is_awkward(input[1]));
    }
    dimensions(shapes).into_iter().any(is_awkward)
}

/// Whether inputs are those of a convolution: two of equal rank, four or five, which do not agree in their first dimensions as batches of products do.
fn is_convolution(shapes: &str) -> bool {
    let large: Vec<Vec<u64>> = inputs(shapes).filter(|input| matches!(input.len(), 4 | 5)).collect();
    large.windows(2).any(|pair| {
        let batches = pair[0].len() - 2;
        pair[0].len() == pair[1].len() && pair[0].get(..batches) != pair[1].get(..batches)
    })
}

impl Rule for Shapes {
    fn id(&self) -> &'static str {
        "matrix-shapes"
    }

    fn title(&self) -> &'static str {
        "GEMMs with unaligned shapes"
    }

    fn text(&self) -> &'static str {
        "Products with a dimension that is no multiple of 8 (16 bytes of a two-byte format) cannot be loaded whole by tensor cores. Reported when such GEMMs take 2 % of the step; the cost is a fifth of \
         their time, the lower end of what vendors report for unaligned operands. Needs `record_shapes=True`.\n\n\
         What helps: pad the vocabulary (`--make-vocab-size-divisible-by`), heads and hidden sizes to multiples of 64 times the tensor parallel degree."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let mut times: BTreeMap<String, i64> = BTreeMap::new();
        let (from, to) = context.windows.span();
        for view in context.views {
            // The operator with shapes that is open on a launch's thread: rows come by start, so the last one that began and has not ended.
            let host = &view.trace.host;
            let mut open: BTreeMap<u32, (i64, u32)> = BTreeMap::new();
            let mut shape_of: Vec<u32> = vec![NONE; host.len()];
            for (at, row) in host.iter().enumerate() {
                if let Some(shapes) = row.shapes.filter(|_| contracts(view.trace.names.get(row.name))) {
                    open.insert(row.thread, (row.end, shapes.0));
                } else if row.kind == HostKind::Runtime
                    && let Some(&(end, shapes)) = open.get(&row.thread)
                    && row.start < end
                {
                    shape_of[at] = shapes;
                }
            }
            for (at, row) in view.gpu.iter().enumerate() {
                let launch = view.launch[at];
                if view.family[at] != OperatorFamily::MatrixProduct
                    || launch == NONE
                    || row.start < from
                    || row.start >= to
                {
                    continue;
                }
                let Some(&shapes) = shape_of.get(launch as usize).filter(|s| **s != NONE) else { continue };
                let text = view.trace.names.get(crate::NameId(shapes));
                if awkward(text) {
                    *times.entry(tidy(text)).or_default() += row.duration();
                }
            }
        }
        let all = times.values().sum::<i64>() as f64 / context.samples();
        if context.share(all) < 0.02 {
            return Vec::new();
        }
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("GEMMs with unaligned shapes take {} of the step", percent(context.share(all))),
            cost: Some(all * LOSS),
            evidence: context.dearest(times.iter().map(|(shapes, time)| (shapes.as_str(), *time)), 3),
            advice: "pad these dimensions to a multiple of 64".to_owned(),
            ..Finding::default()
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read_as_recorders_write_them() {
        assert!(awkward("[[4096, 5001], [5001, 1024]]"));
        assert!(!awkward("[[4096, 5120], [5120, 1024], [1024], []]"));
        assert!(!awkward("[[1, 4096], [4096, 1]]"));
        // Convolutions: heights and kernels are as they are.
        assert!(!awkward("[[32, 256, 14, 14], [1024, 256, 1, 1], [], [], [], [], [], [], []]"));
        assert!(!awkward("[[32, 3, 224, 224], [64, 3, 7, 7], [], []]"));
        assert!(awkward("[[32, 250, 14, 14], [1024, 250, 3, 3], [], []]"));
        // Batches of products: attention's of 4 by 12 heads.
        assert!(awkward("[[4, 12, 3137, 64], [4, 12, 64, 3137]]"));
    }
}
