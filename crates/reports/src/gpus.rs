//! `gpus`: accelerators, their data and its sources.

use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::cluster::Accelerator;
use railwright_spec::human;
use railwright_spec::precision::DataType;
use railwright_spec::quantity::{BytesPerSecond, FlopPerSecond};
use serde::Serialize;

/// Accelerators of the catalogue.
pub struct Gpus(pub Vec<Accelerator>);

/// One accelerator.
pub struct Gpu(pub Accelerator);

fn rate(rate: Option<FlopPerSecond>) -> Cell {
    rate.map_or_else(Cell::default, |rate| Cell::number(human::flop_rate(rate), rate.get()))
}

fn bandwidth(rate: Option<BytesPerSecond>) -> Cell {
    rate.map_or_else(Cell::default, |rate| Cell::number(human::bandwidth(rate), rate.get()))
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AcceleratorsField<'a> {
    accelerators: &'a [Accelerator],
}

impl Answer for Gpus {
    const KIND: &'static str = "accelerators";

    type Json<'a> = AcceleratorsField<'a>;

    fn json(&self) -> AcceleratorsField<'_> {
        AcceleratorsField { accelerators: &self.0 }
    }

    fn document(&self, _: Terminal) -> Document {
        let columns = vec![
            Column::words("accelerator"),
            Column::numbers("memory"),
            Column::numbers("bandwidth").expendable(2),
            Column::numbers("dense bf16").expendable(1),
            Column::numbers("dense fp8").expendable(4),
            Column::numbers("scale-up").expendable(5),
            Column::numbers("power").expendable(6),
            Column::numbers("$/h").expendable(3),
            Column::numbers("year").expendable(7),
        ];
        let rows = self.0.iter().map(|a| {
            vec![
                Cell::new(a.id.as_str(), Tone::Name),
                Cell::number(human::bytes(a.memory), a.memory.get()),
                bandwidth(Some(a.memory_bandwidth)),
                rate(a.peak_rate(DataType::Bf16)),
                rate(a.peak_rate(DataType::Fp8)),
                bandwidth(Some(a.scale_up_bandwidth).filter(|b| b.get() > 0.0)),
                a.power.map_or_else(Cell::default, |p| Cell::number(human::watts(p), p.get())),
                a.price.as_ref().map_or_else(Cell::default, |p| Cell::dollars(p.typical)),
                Cell::number(a.year.to_string(), f64::from(a.year)),
            ]
        });
        let mut document = Document::default();
        document.table(Table { columns, rows: rows.collect() });
        document
    }
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AcceleratorField<'a> {
    accelerator: &'a Accelerator,
}

impl Answer for Gpu {
    const KIND: &'static str = "accelerator";

    type Json<'a> = AcceleratorField<'a>;

    fn json(&self) -> AcceleratorField<'_> {
        AcceleratorField { accelerator: &self.0 }
    }

    fn document(&self, _: Terminal) -> Document {
        let a = &self.0;
        let mut document = Document::default();
        document
            .heading_with(a.id.clone(), format!("{} {}, {}, {}", a.vendor, a.name, a.architecture, a.year));
        let price = a.price.as_ref().map_or_else(String::new, |p| {
            let range = match (p.low, p.high) {
                (Some(low), Some(high)) => format!(", {} to {}", human::dollars(low), human::dollars(high)),
                _ => String::new(),
            };
            format!("{}{range} ({})", human::dollars(p.typical), p.source)
        });
        let units = a.compute_units.map(|n| n.to_string()).unwrap_or_default();
        document.pairs(vec![
            ("memory", format!("{}, as reported by the device", human::bytes(a.memory)).into()),
            ("memory bandwidth", human::bandwidth(a.memory_bandwidth).into()),
            ("compute units", units.into()),
            ("scale-up link", a.scale_up_link.as_str().into()),
            ("scale-up bandwidth", bandwidth(Some(a.scale_up_bandwidth).filter(|b| b.get() > 0.0))),
            ("typical scale-up domain", human::whole(a.scale_up_domain).into()),
            ("typical network per device", bandwidth(a.network_bandwidth)),
            ("host link", bandwidth(a.host_bandwidth)),
            ("power", a.power.map(human::watts).unwrap_or_default().into()),
            ("price per hour", price.into()),
            ("driver name", a.device_name_patterns.join(", ").into()),
            ("source", a.source.as_str().into()),
            ("notes", a.notes.as_str().into()),
        ]);
        document.heading_with(
            "GEMM rates",
            "dense peak by number format (bandwidths above are decimal, one direction)",
        );
        let mut rows: Vec<Vec<Cell>> =
            a.peak.iter().map(|(format, peak)| vec![format.name().into(), rate(Some(*peak))]).collect();
        if let Some(measured) = a.measured_matmul {
            rows.push(vec!["bf16, best measured".into(), rate(Some(measured))]);
        }
        document.table(Table { columns: vec![Column::words("format"), Column::numbers("peak")], rows });
        document.next_step(format!("`railwright estimate MODEL --cluster {}` estimates a run on it", a.id));
        document
    }
}
