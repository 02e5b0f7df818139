//! Output formats of `size`.

use railwright_answers::SizeAnswer;
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::quantity::{Dollars, Seconds};
use railwright_spec::{Portable as _, human};
use railwright_tuner::size::{Row, Stop};
use std::fmt::Write as _;

/// A printable result.
pub struct Answered(pub SizeAnswer);

impl std::ops::Deref for Answered {
    type Target = SizeAnswer;

    fn deref(&self) -> &SizeAnswer {
        &self.0
    }
}

impl Answer for Answered {
    const KIND: &'static str = "size";

    type Json<'a> = &'a SizeAnswer;

    fn json(&self) -> &SizeAnswer {
        &self.0
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        if !self.is_complete {
            document.paragraph(Cell::new(
                "stopped early: not all cluster sizes were tried, so none is recommended",
                Tone::Doubtful,
            ));
        }
        self.verdict(&mut document);
        document.spans(vec![Cell::new(self.title.as_str(), Tone::Strong)]);
        document.chosen(&self.chosen);
        if !self.sized.rows.is_empty() {
            let remark = if self.growing_batch {
                "with a global batch that scales with the devices"
            } else if self.own_batches {
                "with nearly the same global batch"
            } else {
                "with the same global batch"
            };
            let layouts = if self.kept.is_empty() {
                "best layout of each".to_owned()
            } else {
                format!("best layout of each with {}", self.kept)
            };
            document.heading_with("cluster sizes", format!("{layouts}, {remark}"));
            document.table(self.table());
            self.remarks(&mut document);
        }
        if let Some(command) = &self.command {
            document.next_step(format!("`{command}`"));
        } else if self.sized.verdict.is_no {
            document.next_step("try other sizes with `--gpus`, a later `--deadline` or a larger `--budget`");
        } else if self.sized.rows.is_empty() {
            document.next_step("`railwright search` lists changes that make a size fit, such as `--gpus`");
        } else if self.goal().is_empty() {
            document.next_step("`--deadline TIME` or `--budget DOLLARS` selects a size");
        }
        document
    }

    /// A row for each number of devices, in base units.
    fn csv(&self) -> String {
        let header = [
            "cluster",
            "devices",
            "machines",
            "step_time_s",
            "mfu",
            "efficiency",
            "marginal_efficiency",
            "days",
            "rent_dollars",
            "dollars_per_day_saved",
            "days_saved_per_device",
            "in_time",
            "in_budget",
            "chosen",
            "layout",
            "availability",
        ];
        let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let rows = self.sized.rows.iter().zip(&self.layouts).enumerate().map(|(index, (row, layout))| {
            vec![
                self.machine(row).to_owned(),
                row.devices.to_string(),
                row.machines.to_string(),
                row.step_time.get().to_string(),
                text(row.mfu),
                row.efficiency.to_string(),
                text(row.marginal_efficiency),
                (row.bill.calendar.get() / DAY).to_string(),
                text(row.bill.rent.map(Dollars::get)),
                text(row.dollars_per_day_saved.map(Dollars::get)),
                text(row.days_saved_per_device),
                row.in_time.to_string(),
                row.in_budget.to_string(),
                (self.sized.verdict.chosen == Some(index)).to_string(),
                layout.clone(),
                row.bill.availability.to_string(),
            ]
        });
        railwright_report::csv_lines(&header.map(str::to_owned), rows.collect())
    }
}

impl Answered {
    fn machine(&self, row: &Row) -> &str {
        self.sized.machines.get(row.machine).map_or("", |machine| machine.name.as_str())
    }

    fn goal(&self) -> String {
        let goal = &self.sized.goal;
        let deadline = goal.deadline.map(|deadline| format!("within {}", days(deadline)));
        let budget = goal.budget.map(|budget| format!("within {}", human::dollars(budget)));
        [deadline, budget].into_iter().flatten().collect::<Vec<_>>().join(" and ")
    }

    fn verdict(&self, document: &mut Document) {
        let verdict = &self.sized.verdict;
        let goal = self.goal();
        if let Some(row) = verdict.chosen.and_then(|index| self.sized.rows.get(index)) {
            let text = format!(
                ": {} {} take {}{}",
                human::whole(row.devices),
                row.accelerator,
                days(row.bill.calendar),
                row.bill.rent.map_or_else(String::new, |rent| format!(", for {}", human::dollars(rent)))
            );
            let why = match (self.sized.goal.deadline, self.sized.goal.budget) {
                (Some(_), _) => "the cheapest size expected to meet the deadline",
                _ => "the fastest size within the budget",
            };
            document.spans(vec![Cell::new(goal, Tone::Good), text.into()]);
            document.paragraph(format!(
                "{} machines of {}, 90% interval {} to {} days; {why}",
                human::whole(row.machines),
                self.machine(row),
                plain_days(row.bill.calendar * (row.step_time_interval.low / row.step_time)),
                plain_days(row.bill.calendar * (row.step_time_interval.high / row.step_time)),
            ));
        } else if verdict.is_no {
            document.spans(vec![Cell::new(format!("not {goal}"), Tone::Bad), self.nearest().into()]);
        } else if self.sized.rows.is_empty() && self.is_complete {
            let reason = self
                .sized
                .impossible
                .first()
                .map_or("no cluster size was tried", |none| none.reason.as_str());
            document.spans(vec![
                Cell::new("no cluster size can train this model", Tone::Bad),
                format!(": {reason}").into(),
            ]);
        } else if let Some(stop) = self.sized.verdict.stops.first() {
            document.verdict(self.limit(stop));
        }
    }

    fn nearest(&self) -> String {
        let Some(miss) = self.sized.verdict.nearest else {
            let reason = self
                .sized
                .impossible
                .first()
                .map_or("no cluster size was tried", |none| none.reason.as_str());
            return format!(": no cluster size can train the model: {reason}");
        };
        let Some(row) = self.sized.rows.get(miss.row) else { return String::new() };
        let mut text = format!(
            "; nearest: {} {} take {}",
            human::whole(row.devices),
            row.accelerator,
            days(row.bill.calendar)
        );
        if let Some(rent) = row.bill.rent {
            // Writing to a String cannot fail.
            let _ = write!(text, " and {}", human::dollars(rent));
        }
        let late = (miss.late > Seconds::ZERO).then(|| format!("{} late", days(miss.late)));
        let over = (miss.over_budget > Dollars::ZERO)
            .then(|| format!("{} over the budget", human::dollars(miss.over_budget)));
        let by: Vec<String> = [late, over].into_iter().flatten().collect();
        format!("{text}: {}", by.join(" and "))
    }

    fn table(&self) -> Table {
        let several = self.sized.machines.len() > 1;
        let has_goal = self.sized.goal.deadline.is_some() || self.sized.goal.budget.is_some();
        let mut columns = vec![
            Column::numbers("GPUs"),
            Column::numbers("machines").expendable(9),
            Column::numbers("step time"),
            Column::numbers("MFU").expendable(7),
            Column::numbers("efficiency").expendable(3),
            Column::numbers("marginal").expendable(5),
            Column::numbers("days"),
            Column::numbers("rent"),
            Column::numbers("$/day saved").expendable(2),
            Column::numbers("days/GPU").expendable(8),
            // All flags of a script would hide the figures; the next step has those of the chosen size.
            Column::prose("layout")
                .expendable(if self.layouts.iter().any(|flags| flags.len() > 60) { 10 } else { 1 })
                .below(),
        ];
        if has_goal {
            columns.insert(8, Column::words("goal"));
        }
        // The share of the days falls with the number of GPUs.
        let has_failures = self.sized.rows.iter().any(|row| row.bill.failures.is_some());
        if has_failures {
            columns.insert(6, Column::numbers("goodput").expendable(4));
        }
        if several {
            columns.insert(0, Column::words("cluster"));
        }
        let rows = self.sized.rows.iter().zip(&self.layouts).enumerate().map(|(index, (row, layout))| {
            let is_chosen = self.sized.verdict.chosen == Some(index);
            let mut cells = vec![
                Cell::whole(row.devices),
                Cell::whole(row.machines),
                Cell::number(human::seconds(row.step_time), row.step_time.get()),
                share(row.mfu),
                share(Some(row.efficiency)),
                share(row.marginal_efficiency),
                Cell::number(plain_days(row.bill.calendar), row.bill.calendar.get() / DAY),
                row.bill.rent.map_or_else(|| "".into(), Cell::dollars),
                row.dollars_per_day_saved.map_or_else(|| "".into(), Cell::dollars),
                row.days_saved_per_device
                    .map_or_else(|| "".into(), |days| Cell::number(human::count(round(days)), days)),
                Cell::new(layout.as_str(), Tone::Faint),
            ];
            if has_goal {
                cells.insert(8, met(row, is_chosen));
            }
            if has_failures {
                cells.insert(6, share(Some(row.bill.availability)));
            }
            if several {
                cells.insert(0, Cell::new(self.machine(row), Tone::Name));
            }
            if is_chosen {
                cells = cells.into_iter().map(|cell| cell.toned(Tone::Strong)).collect();
            }
            cells
        });
        Table { rows: rows.collect(), columns }
    }

    fn remarks(&self, document: &mut Document) {
        let worth = human::percent(self.sized.goal.worth);
        let is_verdict = usize::from(self.goal().is_empty());
        for stop in self.sized.verdict.stops.iter().skip(is_verdict) {
            document.paragraph(self.limit(stop));
        }
        if self.sized.verdict.stops.iter().any(|stop| stop.is_reached) {
            document.paragraph(format!("beyond an efficient size, marginal efficiency is below {worth}"));
        }
        let wasted = self.wasted();
        if !wasted.is_empty() {
            document.paragraph(format!("not faster than a smaller size: {wasted}"));
        }
        document.paragraph(Cell::new(
            format!(
                "efficiency: throughput per GPU, relative to the smallest cluster. marginal: the same for the GPUs added since the next smaller \
                 efficient size ({}); at least {worth} counts as efficient (--worth). $/day saved: rent of the added GPUs per day saved",
                self.hull()
            ),
            Tone::Faint,
        ));
        if let Some(row) = self.sized.rows.iter().find(|row| row.bill.rent.is_none()) {
            let text =
                format!("no rent: {} has no price; set it with --price-per-device-hour", row.accelerator);
            document.paragraph(Cell::new(text, Tone::Doubtful));
        }
        let tokens = human::count((self.global_batch * self.sequence_length) as f64);
        let batch = if self.own_batches && !self.growing_batch {
            format!(
                "the global batch is {tokens} tokens or the nearest divisible size, because no single batch is divisible for all sizes"
            )
        } else if self.growing_batch {
            format!(
                "the global batch scales with the number of GPUs, from {tokens} tokens; lower sample efficiency above the critical batch size is not modelled"
            )
        } else {
            format!(
                "the global batch is {tokens} tokens at all sizes, because it affects convergence; --growing-batch scales it with the number of GPUs"
            )
        };
        document.paragraph(Cell::new(batch, Tone::Faint));
        if !self.sized.impossible.is_empty() {
            let numbers: Vec<String> =
                self.sized.impossible.iter().take(8).map(|none| human::whole(none.devices)).collect();
            let first = &self.sized.impossible[0].reason;
            document.paragraph(Cell::new(
                format!("not possible: {} GPUs ({first})", numbers.join(", ")),
                Tone::Faint,
            ));
        }
    }

    /// The sizes that others are compared with.
    fn hull(&self) -> String {
        let sizes: std::collections::BTreeSet<u64> =
            self.sized.rows.iter().filter(|row| row.on_hull).map(|row| row.devices).collect();
        sizes.into_iter().map(human::whole).collect::<Vec<_>>().join(", ")
    }

    /// Sizes that take as long as a smaller one of the same machines.
    fn wasted(&self) -> String {
        let several = self.sized.machines.len() > 1;
        let wasted: Vec<&Row> = self.sized.rows.iter().filter(|row| row.is_wasted).collect();
        let named = |row: &&Row| {
            let machine = if several { format!(" GPUs of {}", self.machine(row)) } else { String::new() };
            format!("{}{machine}", human::whole(row.devices))
        };
        let list = wasted.iter().map(named).collect::<Vec<_>>().join(", ");
        if several || wasted.is_empty() { list } else { format!("{list} GPUs") }
    }

    /// The largest efficient size of one kind of machine.
    fn limit(&self, stop: &Stop) -> String {
        let Some(row) = self.sized.rows.get(stop.row) else { return String::new() };
        let at = format!("{} GPUs of {}", human::whole(row.devices), self.machine(row));
        if stop.is_reached {
            format!("scaling is efficient up to {at}")
        } else {
            format!("scaling is still efficient at {at} (largest size tried)")
        }
    }
}

const DAY: f64 = 86_400.0;

fn days(time: Seconds) -> String {
    format!("{} days", plain_days(time))
}

/// Days with a decimal if it is significant.
fn plain_days(time: Seconds) -> String {
    let days = time.get() / DAY;
    if days < 0.095 {
        format!("{days:.3}")
    } else if days < 99.95 {
        format!("{days:.1}")
    } else {
        human::count(days.round())
    }
}

/// Three significant digits.
fn round(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let scale = 10f64.portable_powf(2.0 - x.abs().portable_log10().floor());
    (x * scale).round() / scale
}

fn share(share: Option<f64>) -> Cell {
    share.map_or_else(|| "".into(), Cell::percent)
}

fn met(row: &Row, is_chosen: bool) -> Cell {
    match (row.in_time, row.in_budget) {
        (true, true) if is_chosen => Cell::new("chosen", Tone::Good),
        (true, true) => Cell::new("met", Tone::Good),
        (false, true) => Cell::new("late", Tone::Bad),
        (true, false) => Cell::new("over budget", Tone::Bad),
        (false, false) => Cell::new("late, over budget", Tone::Bad),
    }
}
