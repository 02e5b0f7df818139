//! Scores of attention that is not fused, by the recorded shapes.
//!
//! Responsible for: products and softmax operators on the same matrix of queries and keys. Excludes softmax
//! operators of routers, losses and samplers: no product writes their input and reads their output.

use crate::samples::lists;
use crate::trace::NONE;
use crate::view::View;
use crate::{NameId, inputs};
use std::collections::BTreeSet;

/// Sizes of score matrices: rows and columns.
#[derive(Debug, Default)]
pub(super) struct Scores(BTreeSet<(u64, u64)>);

/// Rows, columns and contracted dimension of a GEMM, without its leading dimensions.
pub(super) fn sides(operator: &str, shapes: &[Vec<u64>]) -> Option<[u64; 3]> {
    let base = operator.rsplit("::").next().unwrap_or_default().trim_end_matches("_out");
    let skip = usize::from(matches!(base, "addmm" | "baddbmm" | "_addmm_activation"));
    let (a, b) = (shapes.get(skip)?.as_slice(), shapes.get(skip + 1)?.as_slice());
    let ([.., m, k], [.., second, last]) = (a, b) else { return None };
    if base == "linear" {
        return (k == last).then_some([*m, *second, *k]);
    }
    (k == second).then_some([*m, *last, *k])
}

/// Tests whether an operator is a softmax, by its name. Losses use the logarithm.
fn is_softmax(operator: &str) -> bool {
    operator.contains("softmax") && !operator.contains("log_softmax") && !operator.contains("logsoftmax")
}

/// Rows and columns of the input of a softmax with a batch or heads.
fn of_softmax(shapes: &[Vec<u64>]) -> Option<(u64, u64)> {
    match shapes.first()?.as_slice() {
        [_, .., rows, columns] => Some((*rows, *columns)),
        _ => None,
    }
}

impl Scores {
    /// Scores of all ranks. A softmax counts if a product has its sizes as the output and another one has
    /// them as an input.
    pub(super) fn new(views: &[&View<'_>]) -> Self {
        let mut operators: BTreeSet<(&str, &str)> = BTreeSet::new();
        if !views.iter().any(|view| view.trace.names.iter().any(is_softmax)) {
            return Self::default();
        }
        for view in views {
            let (host, names) = (&view.trace.host, &view.trace.names);
            let rows = host.names().iter().zip(host.shapes()).filter(|(_, shapes)| **shapes != NONE);
            let pairs: BTreeSet<(u32, u32)> = rows.map(|(name, shapes)| (name.0, *shapes)).collect();
            let texts = |(name, shapes)| (names.get(NameId(name)), names.get(NameId(shapes)));
            operators.extend(pairs.into_iter().map(texts));
        }
        let (mut softmax, mut written, mut read) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (operator, text) in operators {
            let shapes = lists(inputs::shapes(text));
            if is_softmax(operator) {
                softmax.extend(of_softmax(&shapes));
            } else if let Some([m, n, k]) = sides(operator, &shapes) {
                written.insert((m, n));
                read.insert((m, k));
            }
        }
        Self(softmax.into_iter().filter(|pair| written.contains(pair) && read.contains(pair)).collect())
    }

    /// Tests whether an operator with these recorded shapes works on scores: the softmax, or a product that
    /// writes or reads them.
    pub(super) fn has(&self, operator: &str, text: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let shapes = lists(inputs::shapes(text));
        if is_softmax(operator) {
            return of_softmax(&shapes).is_some_and(|pair| self.0.contains(&pair));
        }
        let batched = shapes.iter().any(|shape| shape.len() >= 3);
        let Some([m, n, k]) = sides(operator, &shapes).filter(|_| batched) else { return false };
        // Forward: Q K^T, P V. Backward: dO V^T, dS K, dS^T Q, P^T dO.
        [(m, n), (m, k), (k, m)].iter().any(|pair| self.0.contains(pair))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_written_and_read_by_products() {
        let scores = Scores(BTreeSet::from([(3137, 3137)]));
        let has = |operator: &str, shapes: &str| scores.has(operator, shapes);
        assert!(has("aten::_softmax", "[[8, 12, 3137, 3137], [], []]"));
        assert!(has("aten::bmm", "[[96, 3137, 64], [96, 64, 3137]]"));
        assert!(has("aten::bmm", "[[96, 3137, 3137], [96, 3137, 64]]"));
        assert!(!has("aten::bmm", "[[96, 512, 64], [96, 64, 512]]"));
        assert!(!has("aten::mm", "[[3137, 64], [64, 3137]]"));
        assert!(!has("aten::_softmax", "[[3137, 3137], [], []]"));
        assert!(!has("aten::_log_softmax", "[[8, 12, 3137, 3137], [], []]"));
        assert!(!Scores::default().has("aten::bmm", "[[96, 3137, 64], [96, 64, 3137]]"));
    }
}
