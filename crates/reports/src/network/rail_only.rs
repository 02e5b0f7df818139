//! `network rail-only`: the paper's claims, tables and figures.

use railwright_network::rail_only::page::{digits, page};
use railwright_network::rail_only::report::RailOnlyReport;
use railwright_network::rail_only::targets::{Kind, Status, Target};
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;

/// Claims of the paper with own results.
pub struct Paper(pub RailOnlyReport);

fn with_unit(value: f64, unit: &str) -> Cell {
    let text = match unit {
        "%" => format!("{}%", digits(value)),
        "x" => format!("{}x", digits(value)),
        "$M" => format!("${}M", digits(value)),
        unit => format!("{} {unit}", digits(value)),
    };
    Cell::number(text, value)
}

fn status(target: &Target) -> Cell {
    match target.status {
        Status::Reproduced if target.claim.kind == Kind::Statement => Cell::new("holds", Tone::Good),
        Status::Reproduced => Cell::new("reproduced", Tone::Good),
        Status::ByConstruction => Cell::new("by construction", Tone::Faint),
        Status::Variant => Cell::new("with a variant", Tone::Doubtful),
        Status::NotReproduced => Cell::new("not reproduced", Tone::Bad),
        Status::NotAttempted => Cell::new("not attempted", Tone::Faint),
    }
}

fn paper(target: &Target) -> Cell {
    let claim = &target.claim;
    let Some(value) = claim.paper else { return Cell::default() };
    let bound = match claim.kind {
        Kind::Above => "> ",
        Kind::Below => "< ",
        _ => "",
    };
    let cell = with_unit(value, &claim.unit);
    Cell { text: format!("{bound}{}", cell.text), ..cell }
}

fn error(target: &Target) -> Cell {
    let is_value = matches!(target.claim.kind, Kind::Value | Kind::Construction);
    let Some(error) = target.error.filter(|_| is_value) else { return Cell::default() };
    let text = if target.claim.unit == "%" {
        format!("{error:+.2} points")
    } else {
        format!("{:+.2}%", error * 100.0)
    };
    Cell::number(text, error)
}

fn targets(report: &RailOnlyReport) -> Table {
    let columns = vec![
        Column::words("id").expendable(5),
        Column::prose("claim of the paper"),
        Column::numbers("paper"),
        Column::numbers("computed"),
        Column::numbers("with variants").expendable(4),
        Column::numbers("error"),
        Column::words("status"),
        Column::prose("reason").expendable(6),
    ];
    let rows = report.targets.iter().map(|target| {
        let unit = target.claim.unit.as_str();
        let varied = target.variants.iter().filter(|_| target.claim.variant.is_some());
        let variants: Vec<String> = varied.map(|value| with_unit(*value, unit).text).collect();
        vec![
            Cell::new(target.claim.id.as_str(), Tone::Name),
            target.claim.claim.as_str().into(),
            paper(target),
            target.here.map_or_else(Cell::default, |here| with_unit(here, unit)),
            variants.join(", ").into(),
            error(target),
            status(target),
            target.claim.reason.as_str().into(),
        ]
    });
    Table { columns, rows: rows.collect() }
}

/// Reasons of claims that are not simply reproduced. They are listed separately, because most terminals are
/// too narrow for them in the table.
fn reasons(report: &RailOnlyReport) -> Vec<Cell> {
    let open = report.targets.iter().filter(|t| t.status != Status::Reproduced && !t.claim.reason.is_empty());
    open.map(|target| Cell::from(format!("{}: {}", target.claim.claim, target.claim.reason))).collect()
}

impl Answer for Paper {
    const KIND: &'static str = "rail_only";

    type Json<'a> = &'a RailOnlyReport;

    fn json(&self) -> &RailOnlyReport {
        &self.0
    }

    fn page(&self) -> Option<String> {
        Some(page(&self.0))
    }

    fn document(&self, _: Terminal) -> Document {
        let Self(report) = self;
        let mut document = Document::default();
        let reproduced = report.targets.iter().filter(|target| target.status == Status::Reproduced).count();
        document
            .verdict(format!("{reproduced} of {} claims reproduced without a variant", report.targets.len()));
        document
            .heading_with("claims", "of \"rail-only networks\" (arXiv 2307.12169), and the computed values");
        document.table(targets(report));
        document.paragraph(Cell::new(
            "variants: model-parallel groups of twice the optimum, six all-reduces per layer, or domains of 64 for forwarding. Errors are those of the model without variants. By construction: unit prices or powers were derived from the claim.",
            Tone::Faint,
        ));
        document.blocks.push(Block::Bullets(reasons(report)));
        document.details(|details| {
            workloads(report, details);
            sweeps(report, details);
            money(report, details);
        });
        document
    }
}

fn workloads(report: &RailOnlyReport, document: &mut Document) {
    document.heading_with(
        "iteration by term",
        "32,768 devices, domains of 256 at 7.68 Tb/s, network interfaces at 400 Gb/s",
    );
    let columns = vec![
        Column::words("workload"),
        Column::numbers("N_M"),
        Column::numbers("compute").unit("s").expendable(4),
        Column::numbers("model parallel").unit("s").expendable(3),
        Column::numbers("data in domain").unit("s").expendable(3),
        Column::numbers("data on rails").unit("s").expendable(3),
        Column::numbers("rail-only").unit("s"),
        Column::numbers("ideal").unit("s"),
        Column::numbers("pairs without traffic").unit("share").expendable(2),
        Column::numbers("bytes in domain").unit("share").expendable(1),
    ];
    let rows = report.workloads.iter().map(|row| {
        let it = &row.rail_only;
        vec![
            row.workload.into(),
            Cell::number(format!("{:.2}", row.optimum), row.optimum),
            Cell::seconds(it.compute),
            Cell::seconds(it.model_parallel_time),
            Cell::seconds(it.data_in_domain),
            Cell::seconds(it.data_on_rails),
            Cell::seconds(row.total),
            Cell::seconds(row.ideal),
            Cell::percent(row.silent_pairs),
            Cell::percent(row.bytes_in_domain),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
    let apart =
        report.workloads.iter().map(|r| (r.optimum_by_search / r.optimum - 1.0).abs()).fold(0.0, f64::max);
    document.paragraph(Cell::new(
        format!(
            "N_M, the optimal model-parallel size, is computed in closed form; a numerical search agrees \
             within {apart:.0e}. The full and the trimmed Clos have the same time as rail-only, as these models have no traffic between rails."
        ),
        Tone::Faint,
    ));
}

fn sweeps(report: &RailOnlyReport, document: &mut Document) {
    document.heading_with("domain sweep", "iteration time by accelerators per scale-up domain");
    let sizes: Vec<u64> = report.domain_sweep.first().map(|row| row.domains.clone()).unwrap_or_default();
    let head = |first: &str, second: &str| {
        let mut columns = vec![Column::words(first), Column::numbers(second)];
        columns.extend(sizes.iter().map(|size| Column::numbers(&size.to_string())));
        columns
    };
    let mut columns = head("workload", "GPUs");
    columns.push(Column::numbers("ideal").unit("s"));
    let rows = report.domain_sweep.iter().map(|row| {
        let mut cells = vec![row.workload.into(), Cell::whole(row.devices)];
        cells.extend(row.times.iter().map(|time| time.map_or_else(Cell::default, Cell::seconds)));
        cells.push(Cell::seconds(row.ideal));
        cells
    });
    document.table(Table { columns, rows: rows.collect() });
    document.heading_with("batch sweep", "PaLM 540B on 32,768 devices relative to the ideal network");
    let rows = report.batch_sweep.iter().map(|row| {
        let mut cells = vec!["PaLM 540B".into(), Cell::whole(row.sequences)];
        cells.extend(row.relative.iter().map(|&share| Cell::percent(share)));
        cells
    });
    document.table(Table { columns: head("workload", "sequences"), rows: rows.collect() });
    document
        .heading_with("forwarded all-to-all", "added time of the two phases without overlap, 32,768 devices");
    let columns = vec![
        Column::numbers("domain"),
        Column::numbers("network"),
        Column::numbers("scale-up"),
        Column::numbers("overhead").unit("share"),
    ];
    let rows = report.forwarding.iter().map(|row| {
        let rate = |r| Cell::from(human::bandwidth(r));
        vec![Cell::whole(row.domain), rate(row.network), rate(row.scale_up), Cell::percent(row.overhead)]
    });
    document.table(Table { columns, rows: rows.collect() });
}

fn money(report: &RailOnlyReport, document: &mut Document) {
    document.heading_with(
        "switches and transceivers",
        "domains of 256; savings by the price ratio of switch port to transceiver",
    );
    let mut columns = vec![
        Column::numbers("GPUs"),
        Column::numbers("radix"),
        Column::numbers("Clos switches"),
        Column::numbers("transceivers").expendable(2),
        Column::numbers("rail-only switches"),
        Column::numbers("transceivers").expendable(1),
    ];
    // A narrow terminal shows every other ratio.
    columns.extend(report.price_ratios.iter().enumerate().map(|(index, ratio)| {
        let column = Column::numbers(&format!("{ratio:.2}"));
        if index % 2 == 1 { column.expendable(3) } else { column }
    }));
    let rows = report.costs.iter().map(|row| {
        let mut cells = vec![
            Cell::whole(row.devices),
            Cell::whole(row.radix),
            Cell::whole(row.clos.switches),
            Cell::whole(row.clos.transceivers),
            Cell::whole(row.rail_only.switches),
            Cell::whole(row.rail_only.transceivers),
        ];
        cells.extend(row.savings.iter().map(|&share| Cell::percent(share)));
        cells
    });
    document.table(Table { columns, rows: rows.collect() });
}
