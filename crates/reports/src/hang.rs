//! `hang`: ranks missing from collectives, from flight-recorder dumps.

use railwright_profiler::hang::{Hang, Root, RootCause, State, Stuck};
use railwright_profiler::monitors::xpu_timer::Metrics;
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use serde::Serialize;

/// Frames of a stack that are shown; `--json` has all.
const FRAMES: usize = 6;

/// The cause of a hang, from flight-recorder dumps or metrics.
pub struct Verdict {
    /// Evaluated flight-recorder dumps.
    pub hang: Option<Hang>,
    /// Evaluated metrics of monitors.
    pub metrics: Option<Metrics>,
}

fn ranks(list: &[u32]) -> String {
    human::ranges(list)
}

/// A collective: its operation, number and group.
fn named(stuck: &Stuck) -> String {
    format!("{} {} of {}", stuck.operation, stuck.sequence, stuck.group.name)
}

/// The cause, with the collective that the ranks have not entered.
fn sentence(root: &Root, stuck: Option<&Stuck>) -> String {
    let who = human::ranks(&root.ranks);
    let one = |list: &[u32]| list.len() == 1;
    match root.cause {
        RootCause::OutsideOfCollectives => {
            let (has, hosts) =
                if one(&root.ranks) { ("has", "its host is") } else { ("have", "their hosts are") };
            let missed = stuck.map_or_else(|| "a collective".to_owned(), named);
            format!("{who} {has} not entered {missed}: {hosts} stuck or busy with other work")
        }
        RootCause::DifferentCall => {
            format!("{who} called a different collective, or with different sizes")
        }
        RootCause::NoDump => match &root.ranks[..] {
            [one] => {
                format!("the dump of rank {one} is missing or damaged: it may block the others")
            }
            many => format!(
                "the dumps of ranks {} are missing or damaged: one of them may block the others",
                ranks(many)
            ),
        },
        RootCause::MembersUnknown => {
            let wait = |list: &[u32]| if one(list) { "waits" } else { "wait" };
            let idle = if root.ranks.is_empty() {
                String::new()
            } else {
                format!("; {who} {} for no other rank", wait(&root.ranks))
            };
            format!(
                "{} {} in a group whose ranks are not listed in the dumps: the missing rank is unknown{idle}",
                human::ranks(&root.victims),
                wait(&root.victims)
            )
        }
        RootCause::Circle => {
            format!("{who} wait for each other in a cycle: collectives are called in different orders")
        }
        RootCause::Transfer => {
            let are = if one(&root.ranks) { "is" } else { "are all" };
            format!(
                "{who} {are} in the collective, but it does not complete: faulty link, device or kernel, or the dump was written too early"
            )
        }
    }
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HangFields<'a> {
    /// True if the job hangs; `None` if the records do not show it.
    hangs: Option<bool>,
    /// Result from flight-recorder dumps.
    hang: Option<&'a Hang>,
    /// Result from xpu_timer.
    metrics: Option<&'a Metrics>,
}

impl Answer for Verdict {
    const KIND: &'static str = "hang";

    type Json<'a> = HangFields<'a>;

    fn json(&self) -> HangFields<'_> {
        let hangs = self.hang.as_ref().map(Hang::hangs);
        HangFields {
            hangs: hangs.unwrap_or(self.metrics.as_ref().map(|m| m.all_hang)),
            hang: self.hang.as_ref(),
            metrics: self.metrics.as_ref(),
        }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        if let Some(hang) = &self.hang {
            of_records(hang, &mut document);
        }
        if let Some(metrics) = &self.metrics {
            of_metrics(metrics, &mut document);
        }
        match self.hang.as_ref().map(Hang::hangs) {
            Some(Some(true)) => document
                .next_step("inspect the log and the stack of the listed ranks (`py-spy dump --pid PID`)"),
            Some(None) => document.next_step("collect the dumps of all ranks"),
            Some(Some(false)) | None => {}
        }
        document
    }
}

/// Reasons why a hang cannot be excluded: dumps that are missing, damaged, or may be missing.
fn doubts(hang: &Hang) -> Vec<String> {
    let mut doubts = Vec::new();
    let count = |count: usize| if count == 1 { "1 dump is".to_owned() } else { format!("{count} dumps are") };
    if !hang.without_dump.is_empty() {
        doubts.push(format!(
            "{} missing ({})",
            count(hang.without_dump.len()),
            human::ranks(&hang.without_dump)
        ));
    }
    if !hang.damaged.is_empty() {
        let of: Vec<u32> = hang.damaged.iter().map(|dump| dump.rank).collect();
        doubts.push(format!("{} damaged ({})", count(of.len()), human::ranks(&of)));
    }
    if !hang.world_size_listed {
        doubts.push("no dump records the world size".to_owned());
    }
    if let Some(group) = hang.incomplete_groups.first() {
        let more = match hang.incomplete_groups.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        doubts.push(format!(
            "{} was used only by {}{more}: dumps of its other ranks may be missing",
            group.name,
            human::ranks(&group.ranks)
        ));
    }
    doubts
}

/// Entries read from damaged dumps, and the place of the damage.
fn of_damaged(hang: &Hang, document: &mut Document) {
    for dump in &hang.damaged {
        let entries =
            if dump.entries == 1 { "1 entry".to_owned() } else { format!("{} entries", dump.entries) };
        let lost = match (dump.cut_at, dump.unreadable) {
            (Some(at), 0) => format!("is truncated at byte {at} after {entries}"),
            (Some(at), bad) => {
                format!("is truncated at byte {at} after {entries}, and {bad} more could not be read")
            }
            (None, bad) => format!("is damaged: {entries} were read, {bad} could not be"),
        };
        let message = format!(
            "the dump of rank {} {lost}: later collectives are unknown, so the verdict is uncertain",
            dump.rank
        );
        document.paragraph(Cell::new(message, Tone::Doubtful));
    }
}

fn of_records(hang: &Hang, document: &mut Document) {
    let from = format!("from {}", hang.extent());
    let of_root = |root: &Root| sentence(root, hang.stuck.get(root.stuck));
    match hang.hangs() {
        None => {
            document.spans(vec![
                Cell::new("no hang in these dumps", Tone::Doubtful),
                format!(", {from}; the dumps cannot exclude a hang of the job: {}", doubts(hang).join(", "))
                    .into(),
            ]);
        }
        Some(false) if !hang.world_size_listed => {
            let count = hang.ranks.len();
            document.spans(vec![
                Cell::new(format!("no hang in the available dumps ({count})"), Tone::Good),
                "; the dumps do not record the world size".into(),
            ]);
        }
        Some(false) => {
            document.spans(vec![
                Cell::new("no hang", Tone::Good),
                format!(", {from}: every collective that was entered has ended").into(),
            ]);
        }
        Some(true) => {
            let cause = match &hang.roots[..] {
                [only] => of_root(only),
                several => format!("{} causes", several.len()),
            };
            let detected = Cell::new("hang detected", Tone::Bad);
            document.spans(if hang.roots.is_empty() {
                vec![detected, format!(", {from}").into()]
            } else {
                vec![detected, ": ".into(), Cell::new(cause, Tone::Strong), format!("; {from}").into()]
            });
        }
    }
    of_damaged(hang, document);
    if hang.stuck.is_empty() {
        return;
    }
    for root in &hang.roots {
        if hang.roots.len() > 1 {
            document.spans(vec!["\u{2022} ".into(), Cell::new(of_root(root), Tone::Strong)]);
        }
        let mut pairs: Vec<(&str, Cell)> = Vec::new();
        if !root.victims.is_empty() {
            pairs.push(("blocked", human::ranks(&root.victims).into()));
        }
        if let Some(stuck) = hang.stuck.get(root.stuck) {
            pairs.push(("missed collective", named(stuck).into()));
        }
        if let (Some(operation), Some(group)) = (&root.last_operation, &root.last_group) {
            pairs.push(("last collective", format!("{operation} of {group}").into()));
        }
        for (at, frame) in root.last_frames.iter().take(FRAMES).enumerate() {
            let called = if at == 0 { "called from" } else { "" };
            pairs.push((called, format!("{} ({}:{})", frame.name, frame.file, frame.line).into()));
        }
        document.pairs(pairs);
    }
    document.heading("stuck collectives");
    let columns = vec![
        Column::words("group"),
        Column::numbers("number"),
        Column::words("operation"),
        Column::words("state"),
        Column::words("waiting ranks"),
        Column::words("missing ranks"),
        Column::words("no dump").expendable(1),
    ];
    let rows = hang.stuck.iter().map(|stuck| {
        let state = match stuck.state {
            State::NotEntered => "not all entered",
            State::Mismatched => "different calls",
            State::PartlyFinished => "not all completed",
            State::NoneFinished => "none completed",
        };
        vec![
            stuck.group.name.as_str().into(),
            Cell::whole(stuck.sequence),
            stuck.operation.as_str().into(),
            state.into(),
            ranks(&stuck.waiting).into(),
            ranks(&stuck.missing).into(),
            ranks(&stuck.unknown).into(),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
    let calls: Vec<Vec<Cell>> = hang
        .stuck
        .iter()
        .flat_map(|s| {
            s.calls.iter().map(|(rank, call)| {
                vec![s.group.name.as_str().into(), Cell::whole(u64::from(*rank)), call.as_str().into()]
            })
        })
        .collect();
    if !calls.is_empty() {
        document.heading("last call of each rank");
        let columns = vec![Column::words("group"), Column::numbers("rank"), Column::prose("call")];
        document.table(Table { columns, rows: calls });
    }
}

fn of_metrics(metrics: &Metrics, document: &mut Document) {
    let hanging: Vec<u32> = metrics.ranks.iter().filter(|r| r.hangs).map(|r| r.rank).collect();
    let message = match (metrics.all_hang, hanging.is_empty()) {
        (true, _) => Cell::new("all ranks are flagged as hanging", Tone::Bad),
        (_, false) => {
            let are = if hanging.len() == 1 { "is" } else { "are" };
            Cell::new(format!("{} {are} flagged as hanging", human::ranks(&hanging)), Tone::Bad)
        }
        _ => Cell::new("no hang: XPUTimer flags no rank", Tone::Good),
    };
    document.paragraph(message);
    document.heading("metrics");
    let speed = |value: Option<f64>| value.map_or_else(Cell::default, |v| Cell::number(format!("{v:.3}"), v));
    let columns = vec![
        Column::numbers("rank"),
        Column::words("hangs"),
        Column::numbers("GEMMs vs. median"),
        Column::numbers("communication vs. median"),
        Column::numbers("queued"),
    ];
    let rows = metrics.ranks.iter().map(|rank| {
        vec![
            Cell::whole(u64::from(rank.rank)),
            if rank.hangs { "yes" } else { "no" }.into(),
            speed(rank.matrix_product_speed),
            speed(rank.communication_speed),
            rank.queued.map_or_else(Cell::default, |q| Cell::number(human::count(q), q)),
        ]
    });
    document.table(Table { columns, rows: rows.collect() });
}
