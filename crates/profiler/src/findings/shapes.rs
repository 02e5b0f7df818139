//! Matrix products of shapes that tensor cores do not like.
//!
//! Responsible for: products whose dimensions are no multiples of 8, by the operator that launched them. Refuses products without recorded shapes.

use super::{Context, Inference, Rule, percent};
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
fn awkward(shapes: &str, is_convolution: bool) -> bool {
    let is_awkward = |d: u64| d > 1 && !d.is_multiple_of(MULTIPLE);
    if is_convolution {
        return inputs(shapes)
            .filter(|input| input.len() >= 4)
            .any(|input| input[1] > 4 && is_awkward(input[1]));
    }
    dimensions(shapes).into_iter().any(is_awkward)
}

impl Rule for Shapes {
    fn id(&self) -> &'static str {
        "matrix-shapes"
    }

    fn title(&self) -> &'static str {
        "GEMMs with unaligned shapes"
    }

    fn text(&self) -> &'static str {
        "Tensor cores load GEMM operands in units of 16 bytes (8 values of 16 bits). Reported if GEMMs with \
         other dimensions take 2 % of the step. Cost: 20 % of their time, the lower end of vendor reports for \
         unaligned operands. Requires `record_shapes=True`.\n\n\
         Remedies: pad vocabulary (`--make-vocab-size-divisible-by`), heads and hidden sizes to multiples of \
         64 x TP."
    }

    fn inference(&self) -> Inference {
        Inference::Silent
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let mut times: BTreeMap<String, i64> = BTreeMap::new();
        let (from, to) = context.windows.span();
        for view in context.views {
            // The operator with shapes that is open on a launch's thread: rows come by start, so the last one that began and has not ended.
            let host = &view.trace.host;
            let mut open: BTreeMap<u32, (i64, u32, bool)> = BTreeMap::new();
            let mut shape_of: Vec<(u32, bool)> = vec![(NONE, false); host.len()];
            for (at, row) in host.iter().enumerate() {
                let name = view.trace.names.get(row.name);
                if let Some(shapes) = row.shapes.filter(|_| contracts(name)) {
                    open.insert(row.thread, (row.end, shapes.0, name.contains("conv")));
                } else if row.kind == HostKind::Runtime
                    && let Some(&(end, shapes, is_convolution)) = open.get(&row.thread)
                    && row.start < end
                {
                    shape_of[at] = (shapes, is_convolution);
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
                let known = shape_of.get(launch as usize).filter(|(shapes, _)| *shapes != NONE);
                let Some(&(shapes, is_convolution)) = known else { continue };
                let text = view.trace.names.get(crate::NameId(shapes));
                if awkward(text, is_convolution) {
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
        assert!(awkward("[[4096, 5001], [5001, 1024]]", false));
        assert!(!awkward("[[4096, 5120], [5120, 1024], [1024], []]", false));
        assert!(!awkward("[[1, 4096], [4096, 1]]", false));
        // Convolutions: heights and kernels are as they are.
        assert!(!awkward("[[32, 256, 14, 14], [1024, 256, 1, 1], [], [], [], [], [], [], []]", true));
        assert!(!awkward("[[32, 3, 224, 224], [64, 3, 7, 7], [], []]", true));
        assert!(awkward("[[32, 250, 14, 14], [1024, 250, 3, 3], [], []]", true));
        // A backward pass to a weight: the first dimensions of gradient and input agree as in a batch of products.
        assert!(!awkward("[[32, 256, 14, 14], [32, 256, 14, 14], [], []]", true));
        // Batches of products: attention's of 4 by 12 heads.
        assert!(awkward("[[4, 12, 3137, 64], [4, 12, 64, 3137]]", false));
    }
}
