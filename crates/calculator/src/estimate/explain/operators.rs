//! The GEMMs and the attention of the most frequent layer, shape by shape.

use super::calibrated;
use super::explanation::{Explanation, explanation, given, measure};
use crate::costing::Costing;
use crate::operators::{Pass, Source};
use crate::program::products;
use railwright_spec::model::Module;
use railwright_spec::precision::DataType;

fn source(costing: &Costing<'_>, source: Source, data_type: DataType) -> String {
    let words = match source {
        Source::Calibrated => {
            return calibrated::products(costing, data_type);
        }
        Source::Measured => "model of this accelerator, corrected by measurements near this shape",
        Source::Fitted => "model fitted to measurements on this accelerator",
        Source::Derived => "model of another accelerator, scaled by data sheets",
        Source::Roofline => "data-sheet rates at a typical efficiency",
    };
    words.to_owned()
}

/// Each dense GEMM of one layer, forward, on one rank.
pub(super) fn products(costing: &Costing<'_>) -> Vec<Explanation> {
    let model = costing.model;
    let count = |kind: usize| model.layers.iter().filter(|&&k| k == kind).count();
    let Some(kind) = (0..model.layer_kinds.len()).max_by_key(|&k| count(k)) else { return Vec::new() };
    let layer = &model.layer_kinds[kind];
    let software = format!("catalog/software.toml, `{}`", costing.software.id);
    products::products(layer, costing.plan.tensor_parallel as f64)
        .iter()
        .map(|product| {
            let router = product.module == Module::Router;
            let (data_type, rate) = if router {
                (costing.plan.precision.wide_products(), costing.wide_matmul_rate)
            } else {
                (costing.compute_type(), costing.matmul_rate)
            };
            let tokens = product.tokens(costing);
            let cost =
                costing.machine.device.gemm(tokens, product.rows, product.columns, data_type, Pass::Forward);
            let time = cost.time / rate;
            explanation(
                &format!("operator.{}", product.label),
                &format!("GEMM `{}`, forward, one layer and micro-batch", product.label),
                (time.get(), "s"),
                "2 x tokens x outputs x inputs / burst_rate / sustained",
                vec![
                    given("tokens", tokens, "micro-batch x sequence / context parallel"),
                    given("outputs", product.rows, "weight rows on one rank"),
                    given("inputs", product.columns, "weight columns on one rank"),
                    measure(
                        "burst_rate",
                        cost.flop.get() / cost.time.get(),
                        "FLOP/s",
                        &source(costing, cost.source, data_type),
                    ),
                    given(
                        "sustained",
                        rate,
                        if costing.machine.device.includes_sustained_gemm_rate(data_type) {
                            "measured within runs: included in the burst rate"
                        } else {
                            &software
                        },
                    ),
                ],
                if cost.source == Source::Calibrated {
                    "catalog/operators/gemm.csv at the calibration's rate"
                } else {
                    "catalog/operators/gemm.csv; sustained: share of the burst rate kept in long runs"
                },
            )
        })
        .collect()
}
