//! `hang`: ranks missing from collectives, from flight records.

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input::jobs::Wanted;
use crate::input::traces;
use crate::printer::document::{Cell, Column, Document, Table, Tone};
use crate::printer::{Answer, Printer, Terminal};
use railwright_profiler::hang::{Hang, Root, RootCause, State, hang, lost_rank};
use railwright_profiler::job::Family;
use railwright_profiler::monitors::xpu_timer::{self, Metrics};
use railwright_profiler::readers::{Keep, Recording};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use serde::Serialize;

/// Frames of a stack that are shown; `--json` has all.
const FRAMES: usize = 6;

/// Dumps, with monitor data of the same job.
const WANTED: Wanted = Wanted::one("hang", &[&[Family::Flight, Family::Monitors]]);

pub(crate) struct Verdict {
    hang: Option<Hang>,
    metrics: Option<Metrics>,
}

/// Evaluates dumps. The outcome is `No` if something hangs, or may hang because dumps are missing.
pub(crate) fn run(arguments: &args::records::Hang, printer: &Printer) -> Result<Outcome, Failure> {
    let loaded = traces::load(&arguments.paths, WANTED, Keep::default(), printer)?;
    super::print_remarks(&loaded, printer);
    let (mut records, mut gauges, mut damaged, mut others) = (Vec::new(), Vec::new(), 0, 0);
    for recording in loaded.recordings {
        match recording {
            Recording::Flight(record) => records.push(*record),
            Recording::Metrics { gauges: more, damaged: bad } => {
                gauges.extend(more);
                damaged += bad;
            }
            _ => others += 1,
        }
    }
    if records.is_empty() && gauges.is_empty() {
        let problem = Problem::new("these files contain no flight records");
        let hint = "set TORCH_FR_BUFFER_SIZE=2000 (older: TORCH_NCCL_TRACE_BUFFER_SIZE) and TORCH_NCCL_DUMP_ON_TIMEOUT=1 to write dumps";
        return Err(problem.hint(hint).into());
    }
    if others > 0 {
        printer.note(&format!("skipped files of other formats: {others}"));
    }
    let files = loaded.problems.iter().filter_map(|problem| Some(problem.place.as_deref()?.file.as_str()));
    let lost: Vec<u32> = files.filter_map(|file| lost_rank(file, &records)).collect();
    let answer = Verdict {
        hang: (!records.is_empty()).then(|| hang(&records, &lost)),
        metrics: (!gauges.is_empty()).then(|| xpu_timer::judge(&gauges, damaged)),
    };
    if let Some(hang) = &answer.hang {
        printer.warnings(&hang.warnings);
    }
    // Missing dumps cannot exclude a hang.
    let hangs = answer.hang.as_ref().is_some_and(|h| h.hangs() != Some(false))
        || answer.metrics.as_ref().is_some_and(|m| m.ranks.iter().any(|r| r.hangs));
    printer.answer(&answer, &arguments.output)?;
    Ok(if hangs { Outcome::No } else { Outcome::Yes })
}

fn ranks(list: &[u32]) -> String {
    human::ranges(list)
}

fn sentence(root: &Root) -> String {
    let who = human::ranks(&root.ranks);
    let one = |list: &[u32]| list.len() == 1;
    match root.cause {
        RootCause::OutsideOfCollectives => {
            format!("{who} is in no collective: its host is stuck or busy with other work")
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

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct HangFields<'a> {
    /// True if the job hangs; `None` if the records do not show it.
    hangs: Option<bool>,
    /// Result from flight records.
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
        Some(true) => document.spans(vec![Cell::new("hang detected", Tone::Bad), format!(", {from}").into()]),
    }
    of_damaged(hang, document);
    if hang.stuck.is_empty() {
        return;
    }
    for root in &hang.roots {
        document.spans(vec!["\u{2022} ".into(), Cell::new(sentence(root), Tone::Strong)]);
        let mut pairs: Vec<(&str, Cell)> = Vec::new();
        if !root.victims.is_empty() {
            pairs.push(("blocked", human::ranks(&root.victims).into()));
        }
        if let Some(stuck) = hang.stuck.get(root.stuck) {
            let place = format!("{} {} of {}", stuck.operation, stuck.sequence, stuck.group.name);
            pairs.push(("missed collective", place.into()));
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
