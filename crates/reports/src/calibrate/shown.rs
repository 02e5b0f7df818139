//! Contents of a calibration.

use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::calibration::{Calibration, Evidence, Regime};
use railwright_spec::quantity::Bytes;
use railwright_spec::software::{PARTS, Part};
use railwright_spec::{Portable as _, human};
use serde::Serialize;

/// A calibration without measurements.
pub struct Shown {
    /// Constants of a file.
    pub calibration: Calibration,
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CalibrationFields<'a> {
    file: &'a str,
    calibration: &'a Calibration,
}

impl Answer for Shown {
    const KIND: &'static str = "calibration_file";

    type Json<'a> = CalibrationFields<'a>;

    fn json(&self) -> CalibrationFields<'_> {
        CalibrationFields { file: &self.calibration.file, calibration: &self.calibration }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let with = match self.calibration.software.as_str() {
            "" => String::new(),
            id => format!(", sustained with {id}"),
        };
        let over = match self.calibration.link.as_str() {
            "" => String::new(),
            link => format!(", collectives over {link}"),
        };
        document.spans(vec![
            Cell::new(self.calibration.file.clone(), Tone::Strong),
            format!(": {}{with}{over}", self.calibration.accelerator).into(),
        ]);
        figures(&mut document, &self.calibration);
        document.next_step("`railwright estimate --calibration FILE` applies a calibration to a run");
        document
    }
}

/// Every constant with its evidence.
pub(super) fn figures(document: &mut Document, calibration: &Calibration) {
    if calibration.is_empty() {
        document.heading_with("fitted constants", "none; the defaults are kept");
        return;
    }
    document.heading_with("fitted constants", "rate: ratio of modelled to measured time");
    let columns = vec![
        Column::words("constant"),
        Column::words("measured").expendable(2),
        Column::prose("value"),
        Column::numbers("samples"),
        Column::numbers("spread").expendable(4),
        Column::numbers("+/-").expendable(5),
        Column::numbers("error before").expendable(1),
        Column::numbers("error after").expendable(1),
        Column::words("from").expendable(3),
    ];
    let row = |name: String, regime: Regime, value: String, evidence: &Evidence| {
        let measured = match regime {
            Regime::Burst => "alone",
            Regime::Sustained => "in the run",
        };
        vec![
            Cell::new(name, Tone::Strong),
            measured.into(),
            value.into(),
            Cell::whole(evidence.samples),
            Cell::percent(evidence.spread),
            if evidence.uncertainty > 0.0 { Cell::percent(evidence.uncertainty) } else { Cell::default() },
            Cell::percent(evidence.error_before),
            Cell::percent(evidence.error_after),
            evidence.from.as_str().into(),
        ]
    };
    let mut rows = Vec::new();
    for rate in &calibration.rates {
        let value = match rate.points.as_slice() {
            [(_, one)] => format!("rate {one:.3}"),
            [(_, first), .., (_, last)] => {
                format!("rate {first:.3} to {last:.3} in {} points", rate.points.len())
            }
            [] => String::new(),
        };
        rows.push(row(rate.operators.name(), rate.regime, value, &rate.evidence));
    }
    for law in &calibration.collectives {
        let value = format!(
            "{} us + bus at {} GB/s + {} ns/sqrt(B), {} to {}",
            law.base_us,
            law.bandwidth_gb,
            law.ramp_ns,
            human::bytes_decimal(Bytes::new(law.from_bytes)),
            human::bytes_decimal(Bytes::new(law.to_bytes))
        );
        rows.push(row(format!("{} x{}", law.operation.name(), law.ranks), law.regime, value, &law.evidence));
    }
    if let Some(rate) = &calibration.collective_rate {
        rows.push(row(
            "collectives in the run".to_owned(),
            Regime::Sustained,
            format!("rate {:.3}", rate.rate),
            &rate.evidence,
        ));
    }
    if let Some(network) = &calibration.network {
        let range = |from: u64, to: u64, what: &str| match (from, to) {
            (_, 0) => String::new(),
            (from, to) if from == to => format!(", {to} {what}"),
            (from, to) => format!(", {from} to {to} {what}"),
        };
        let value = format!(
            "rings {} and all-to-all {} of the NICs, latencies x{}{}{}, {} to {}",
            human::percent(network.ring_share),
            human::percent(network.spread_share),
            network.latency,
            range(network.from_domains, network.to_domains, "domains"),
            range(network.from_ranks, network.to_ranks, "ranks"),
            human::bytes_decimal(Bytes::new(network.from_bytes)),
            human::bytes_decimal(Bytes::new(network.to_bytes))
        );
        rows.push(row("network".to_owned(), Regime::Burst, value, &network.evidence));
    }
    if let Some(host) = &calibration.host {
        let value = format!(
            "{} us per kernel, {} us per micro-batch, {} ms per step",
            host.us_per_kernel, host.us_per_micro_batch, host.ms_per_step
        );
        rows.push(row("host".to_owned(), Regime::Sustained, value, &host.evidence));
    }
    if let Some(steps) = &calibration.steps {
        let value = |factors: &[f64; PARTS], covariance: &[[f64; PARTS]; PARTS]| {
            let parts = Part::ALL.iter().zip(factors).enumerate().map(|(at, (part, factor))| {
                let spread = covariance[at][at].max(0.0).sqrt();
                format!(
                    "{} x {factor:.2} ({:.2} to {:.2})",
                    part.title(),
                    factor * (-spread).portable_exp(),
                    factor * spread.portable_exp()
                )
            });
            parts.collect::<Vec<_>>().join(", ")
        };
        for own in &steps.own {
            let name = format!("step times, {} in {}", own.model, own.format.name());
            let text = value(&own.factors, &own.covariance);
            rows.push(row(name, Regime::Sustained, text, &steps.evidence));
        }
        let text = value(&steps.factors, &steps.covariance);
        let name = if steps.own.is_empty() { "step times" } else { "step times of other models" };
        rows.push(row(name.to_owned(), Regime::Sustained, text, &steps.evidence));
    }
    document.table(Table { columns, rows });
}
