//! `memory-snapshot`: contents of a device's memory at its peak, from a PyTorch memory snapshot or the
//! `[memory]` events of a trace.

use railwright_calculator::memory::{Kind, StageReport};
use railwright_profiler::snapshot::{self, DeviceReport, Group, SnapshotReport, Use};
use railwright_report::document::{Bar, Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::quantity::Bytes;
use serde::Serialize;

/// A snapshot with the prediction for the same run.
pub struct Shown {
    /// Name of the file.
    pub title: String,
    /// Contents of the snapshot.
    pub report: SnapshotReport,
    /// Prediction for the same run.
    pub predicted: Option<Predicted>,
    /// Number of allocation sites in the table.
    pub top: usize,
}

/// One kind of memory, measured and predicted.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Row {
    /// Purpose, as named in the snapshot.
    kind: &'static str,
    measured_bytes: u64,
    predicted_bytes: f64,
}

/// The calculator's prediction for the stage.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Predicted {
    stage: usize,
    rows: Vec<Row>,
    allocated_bytes: f64,
    reserved_bytes: f64,
}

/// Kinds of the calculator in a kind of the snapshot.
fn holds(of: Use, kind: Kind) -> bool {
    match of {
        Use::Parameters => matches!(kind, Kind::Parameters | Kind::NarrowWeights),
        Use::Optimizer => {
            matches!(kind, Kind::MasterWeights | Kind::OptimizerMoments | Kind::OptimizerTemporaries)
        }
        Use::Backward => matches!(kind, Kind::Gradients | Kind::WorkingSet),
        Use::Activations => matches!(kind, Kind::Activations | Kind::Logits),
        Use::Communication => kind == Kind::CommunicationBuffers,
        Use::Workspace => kind == Kind::Workspace,
        Use::Other | Use::Unknown => false,
    }
}

/// Predicted and measured memory of a stage.
pub fn compared(stage: &StageReport, device: Option<&DeviceReport>) -> Predicted {
    let kinds = [
        Use::Parameters,
        Use::Optimizer,
        Use::Backward,
        Use::Activations,
        Use::Communication,
        Use::Workspace,
        Use::Other,
        Use::Unknown,
    ];
    let row = |of: Use| {
        let measured = device.and_then(|device| device.kinds.iter().find(|group| group.kind == Some(of)));
        let items = stage.items.iter().filter(|item| holds(of, item.kind));
        Row {
            kind: of.name(),
            measured_bytes: measured.map_or(0, |group| group.bytes),
            predicted_bytes: items.map(|item| item.bytes.get()).sum(),
        }
    };
    Predicted {
        stage: stage.stage,
        rows: kinds
            .map(row)
            .into_iter()
            .filter(|r| r.measured_bytes > 0 || r.predicted_bytes > 0.0)
            .collect(),
        allocated_bytes: stage.allocated.get(),
        reserved_bytes: stage.reserved.get(),
    }
}

fn size(bytes: u64) -> String {
    human::bytes(Bytes::new(bytes as f64))
}

fn cell(bytes: u64) -> Cell {
    Cell::number(size(bytes), bytes as f64)
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / (whole as f64).max(1.0)
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SnapshotFields<'a> {
    #[serde(flatten)]
    report: &'a SnapshotReport,
    title: &'a str,
    /// Predicted memory of the same run; absent without a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted: Option<&'a Predicted>,
}

impl Answer for Shown {
    const KIND: &'static str = "memory_snapshot";

    type Json<'a> = SnapshotFields<'a>;

    fn json(&self) -> SnapshotFields<'_> {
        SnapshotFields { report: &self.report, title: &self.title, predicted: self.predicted.as_ref() }
    }

    fn document(&self, terminal: Terminal) -> Document {
        let mut document = Document::default();
        let peaks = self.report.devices.iter().max_by_key(|device| device.peak_allocated_bytes);
        if let Some((device, most)) = peaks.and_then(|device| Some((device, device.kinds.first()?))) {
            let part = human::percent(share(most.bytes, device.peak_allocated_bytes));
            document.verdict(format!(
                "peak {}; largest: {}, {part}",
                size(device.peak_allocated_bytes),
                most.name
            ));
        }
        for device in &self.report.devices {
            self.head(device, &mut document);
            kinds(device, &mut document);
            self.places(device, &mut document, terminal);
            modules(device, &mut document, terminal);
            allocator(device, &mut document);
            leaks(device, &mut document, terminal);
        }
        if let Some(predicted) = &self.predicted {
            prediction(predicted, &mut document);
        }
        document.next_step("`railwright memory` predicts the peak of a run and the effect of other settings");
        document
    }
}

impl Shown {
    fn head(&self, device: &DeviceReport, document: &mut Document) {
        let what = if device.has_history { "peak" } else { "final state without history" };
        let when = match device.peak {
            Some(point) => match point.time_us {
                Some(time) => format!(" after {:.3} s", time as f64 * 1e-6),
                None => format!(" at event {}", human::whole(point.event as u64)),
            },
            None => String::new(),
        };
        document.spans(vec![
            Cell::new(self.title.clone(), Tone::Strong),
            format!(
                ": device {}, {what} {}{when}, reserved {}, {} events",
                device.device,
                size(device.peak_allocated_bytes),
                size(device.peak_reserved_bytes),
                human::whole(device.events as u64)
            )
            .into(),
        ]);
    }

    fn places(&self, device: &DeviceReport, document: &mut Document, terminal: Terminal) {
        if device.places.is_empty() || self.top == 0 {
            return;
        }
        let shown = self.top.min(device.places.len());
        let remark =
            format!("{shown} of {}; site: innermost frame outside the framework", device.places.len());
        document.heading_with("by allocation site", remark);
        let columns = vec![
            Column::numbers("memory"),
            Column::numbers("share"),
            Column::numbers("blocks"),
            Column::words("kind"),
            Column::words("site"),
        ];
        let row = |group: &Group| {
            vec![
                cell(group.bytes),
                Cell::percent(share(group.bytes, device.peak_allocated_bytes)),
                Cell::whole(group.blocks),
                Cell::from(group.kind.map_or("", Use::name)),
                name(&group.name, terminal),
            ]
        };
        document.table(Table { columns, rows: device.places.iter().take(shown).map(row).collect() });
    }
}

fn name(text: &str, terminal: Terminal) -> Cell {
    let room = terminal.width.saturating_sub(56).clamp(20, 90);
    Cell { text: crate::profile::cut(text, room, terminal), tone: Tone::Plain, raw: Some(text.to_owned()) }
}

fn kinds(device: &DeviceReport, document: &mut Document) {
    document.heading_with("memory by kind", "requested bytes at the peak, by stack of the allocation");
    let bar = |group: &Group| Bar {
        depth: 1,
        label: group.name.clone(),
        value: size(group.bytes),
        share: share(group.bytes, device.peak_allocated_bytes),
        tone: Tone::Plain,
    };
    document.blocks.push(Block::Bars(device.kinds.iter().map(bar).collect()));
}

fn modules(device: &DeviceReport, document: &mut Document, terminal: Terminal) {
    const MOST: usize = 8;
    if device.modules.is_empty() {
        return;
    }
    document.heading_with("by module", "module: innermost forward pass on the stack");
    let columns = vec![Column::numbers("memory"), Column::numbers("blocks"), Column::words("module")];
    let row = |group: &Group| vec![cell(group.bytes), Cell::whole(group.blocks), name(&group.name, terminal)];
    document.table(Table { columns, rows: device.modules.iter().take(MOST).map(row).collect() });
}

fn allocator(device: &DeviceReport, document: &mut Document) {
    document.heading_with("allocator", "at the end of the snapshot");
    let of = |part: u64| {
        format!("{} ({} of reserved)", size(part), human::percent(share(part, device.reserved_bytes)))
    };
    let mut pairs = vec![
        ("allocated", Cell::from(size(device.allocated_bytes))),
        ("reserved", Cell::from(size(device.reserved_bytes))),
    ];
    if let Some(fragmented) = device.fragmented_bytes {
        pairs.push((
            "fragmented",
            Cell::from(format!("{}, in segments that contain tensors", of(fragmented))),
        ));
    }
    if let Some(cached) = device.cached_bytes {
        pairs.push(("cached", Cell::from(format!("{}, in free segments", of(cached)))));
        pairs.push(("largest free block", Cell::from(size(device.largest_free_bytes))));
    }
    if device.has_history {
        pairs.push((
            "driver calls",
            Cell::from(format!(
                "{} allocated, {} freed, {}",
                human::several(device.segment_allocs, "segment"),
                device.segment_frees,
                human::several(device.cache_flushes, "cache flush")
            )),
        ));
    }
    if let Some((wanted, free)) = device.first_failure {
        let free = free.map_or_else(String::new, |free| format!(" with {} free on the device", size(free)));
        pairs.push((
            "out of memory",
            Cell::from(format!(
                "{}, first for {}{free}",
                human::several(device.out_of_memory, "time"),
                size(wanted)
            )),
        ));
    }
    document.pairs(pairs);
}

fn leaks(device: &DeviceReport, document: &mut Document, terminal: Terminal) {
    if device.leaks.is_empty() {
        return;
    }
    document.heading_with("growth", "blocks that were allocated during the whole history and not freed");
    let columns = vec![
        Column::numbers("memory"),
        Column::numbers("blocks"),
        Column::numbers("growth per second"),
        Column::words("site"),
    ];
    let row = |leak: &snapshot::Leak| {
        vec![
            cell(leak.bytes),
            Cell::whole(leak.blocks),
            leak.bytes_per_s
                .map_or(Cell::from(""), |rate| Cell::number(human::bytes(Bytes::new(rate)), rate)),
            name(&leak.place, terminal),
        ]
    };
    document.table(Table { columns, rows: device.leaks.iter().map(row).collect() });
}

fn prediction(predicted: &Predicted, document: &mut Document) {
    document.heading_with("measured and predicted", format!("stage {} of the run", predicted.stage));
    let columns = vec![Column::words("kind"), Column::numbers("measured"), Column::numbers("predicted")];
    let row = |row: &Row| {
        let predicted = human::bytes(Bytes::new(row.predicted_bytes));
        vec![Cell::from(row.kind), cell(row.measured_bytes), Cell::number(predicted, row.predicted_bytes)]
    };
    let all = Row {
        kind: "all",
        measured_bytes: predicted.rows.iter().map(|row| row.measured_bytes).sum(),
        predicted_bytes: predicted.allocated_bytes,
    };
    document.table(Table { columns, rows: predicted.rows.iter().chain([&all]).map(row).collect() });
}
